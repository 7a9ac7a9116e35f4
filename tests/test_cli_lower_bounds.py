"""aomultirl lower-bounds as a person uses it."""

import json
import os
from functools import partial

import pytest

from aomultirl.cli import run
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.lower_bounds import coin, laboratory
from aomultirl.reports import lower_bounds

TINY = coin.Sizes(biases=(0.25, 0.15), rows=(12, 24), batches=2, games=20, repetitions=10)


def tiny_coin(quick, seed, executor):
    return coin.measure_with(TINY, seed, executor)


def test_help_has_an_example(capsys):
    assert run(["lower-bounds", "--help"]) == 0
    assert "Example: aomultirl lower-bounds --quick --out" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "-1"], "seed must be at least 0, not -1"),
        (["--workers", "0"], "workers must be at least 1, not 0"),
        (["--seed", "many"], "'many'"),
        (["--out", "FILE"], "which is a file, not a folder"),
        (["--out", "FOREIGN"], "holds 'notes.txt' and is not a folder of this laboratory; name another folder"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_measured(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.setattr(laboratory, "measure_all", lambda *_: pytest.fail("measured"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("mine")
    (tmp_path / "FOREIGN").mkdir()
    (tmp_path / "FOREIGN" / "notes.txt").write_text("mine too")
    assert run(["lower-bounds", "--quick", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["FILE", "FOREIGN", "notes.txt"]


def test_groups_are_gathered_in_their_order_and_progress_never_goes_back():
    told = []
    parts = [(tiny_coin, 3), (partial(tiny_coin), 1)]
    found = laboratory.gather(parts, True, 5, InProcess(), lambda now, total: told.append((now, total)))
    alone = coin.measure_with(TINY, 5, InProcess())
    assert found.claims == alone.claims * 2
    assert found.figures == alone.figures * 2
    assert {total for _, total in told} == {100}
    percents = [now for now, _ in told]
    assert percents == sorted(percents)
    assert {75, 100} <= set(percents)
    assert percents[-1] == 100


def test_what_the_coin_game_finds_is_written_down(tmp_path):
    found = coin.measure_with(TINY, 0, InProcess())
    lower_bounds.write(found, tmp_path, quick=True, seed=0)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["claim"] for claim in claims] == [claim.claim for claim in found.claims]
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"coin_lambda", "coin_rows", "coin_lemma"}


def spent():
    """Seconds of CPU until now, with those of processes that have ended."""
    return sum(os.times()[:4])


@pytest.mark.long
def test_the_quick_laboratory_takes_two_minutes_of_cpu_whoever_does_the_work(tmp_path, capfd):
    assert run(["lower-bounds", "--quick", "--workers", "2", "--out", str(tmp_path / "two")]) == 0
    capfd.readouterr()
    begin = spent()
    assert run(["lower-bounds", "--quick", "--workers", "1", "--out", str(tmp_path / "one")]) == 0
    assert spent() - begin < 120
    claims = json.loads((tmp_path / "one" / "claims.json").read_text())
    assert json.loads((tmp_path / "two" / "claims.json").read_text()) == claims
    holding = sum(claim["holds"] for claim in claims)
    assert f"{holding} of {len(claims)} claims hold" in capfd.readouterr().out
    assert {"claim", "place", "predicted", "measured", "low", "high", "holds"} <= set(claims[0])
    named = {claim["figure"] for claim in claims} - {""}
    assert named <= {path.stem for path in (tmp_path / "one" / "figures").glob("*.png")}

"""aomultirl lower-bounds as a person uses it."""

import json
import os
import re
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import Exactly, computed
from aomultirl.cli import run
from aomultirl.engine import announcing
from aomultirl.experiments.executors import InProcess
from aomultirl.laboratory import assumptions, clustering, coin, groups, minimax, regret_slopes, told_tasks
from aomultirl.laboratory.findings import Findings
from aomultirl.reports import lower_bounds
from stated.reading import COUNT

DOCS = Path(__file__).parents[1] / "docs" / "lower_bounds.md"
TINY = coin.CoinSizes(biases=(0.25, 0.15), rows=(12, 24), batches=2, games=20, repetitions=10, multiples=(1, 4))


tiny_coin = partial(coin.measure, sizes=TINY)


def made_up(quick, seed, executor):
    claim = Claim("water is wet", "Section 3", Exactly(1.0), computed(1.0), figure="water")
    return Findings([claim], [Chart("water", "Water", "time", "wetness", [Series("water", [1, 10], [1, 1])])])


def test_help_has_an_example(capsys):
    assert run(["lower-bounds", "--help"]) == 0
    assert "Example: aomultirl lower-bounds --quick --out" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "-1"], "seed must be at least 0, not -1"),
        (["--workers", "0"], "workers must be at least 1, not 0"),
        (["--seed", "many"], "'many'"),
        (["--only", "coins"], "only must be one of 'coin', 'clustering', 'minimax', 'regret_slopes', 'told_tasks'"),
        (["--only", "coin", "--only", "dice"], "not 'dice'"),
        (["--out", "FILE"], "which is a file, not a folder"),
        (["--out", "FOREIGN"], "holds 'notes.txt' and is not a folder of this laboratory; name another folder"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_measured(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.setattr(groups, "measure_all", lambda *_, **__: pytest.fail("measured"))
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


def stems(folder):
    return {path.stem for path in (folder / "figures").iterdir()}


def test_groups_are_gathered_in_their_order_and_progress_never_goes_back():
    told = []
    parts = [(tiny_coin, 3), (partial(tiny_coin), 1)]
    found = groups.gather(parts, True, 5, InProcess(), lambda now, total: told.append((now, total)))
    alone = tiny_coin(True, 5, InProcess())
    assert found.claims == alone.claims * 2
    assert found.figures == alone.figures * 2
    assert {total for _, total in told} == {100}
    percents = [now for now, _ in told]
    assert percents == sorted(percents)
    assert {75, 100} <= set(percents)
    assert percents[-1] == 100


def test_groups_are_chosen_once_each_and_in_their_order():
    assert groups.chosen() == list(groups.GROUPS)
    assert groups.chosen(["minimax", "coin", "minimax"]) == ["coin", "minimax"]


def test_only_the_groups_that_are_named_are_measured_and_nothing_else_is_left(capsys, monkeypatch, tmp_path):
    for group in (clustering, regret_slopes, told_tasks, assumptions):
        monkeypatch.setattr(group, "measure", lambda *_: pytest.fail("measured"))
    monkeypatch.setattr(coin, "measure", tiny_coin)
    monkeypatch.setattr(minimax, "measure", made_up)
    words = ["lower-bounds", "--quick", "--workers", "1", "--seed", "3", "--out", str(tmp_path)]
    alone = tiny_coin(True, 3, InProcess())
    coins = {figure.name for figure in alone.figures}

    assert run([*words, "--only", "minimax", "--only", "coin"]) == 0
    assert stems(tmp_path) == {*coins, "water"}
    assert json.loads((tmp_path / "lower_bounds.json").read_text())["groups"] == ["coin", "minimax"]
    assert len(json.loads((tmp_path / "claims.json").read_text())) == len(alone.claims) + 1
    capsys.readouterr()
    assert run([*words, "--only", "coin"]) == 2
    assert "which holds minimax as well, and a run of only coin does not replace that" in capsys.readouterr().err

    tmp_path = tmp_path / "coin"
    assert run([*words, "--only", "coin", "--out", str(tmp_path)]) == 0
    assert stems(tmp_path) == coins
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert claims == [claim.as_json() for claim in alone.claims]
    assert json.loads((tmp_path / "lower_bounds.json").read_text())["groups"] == ["coin"]
    page = (tmp_path / "report.html").read_text()
    assert "aomultirl lower-bounds --quick --only coin --seed 3 --out NEW" in page
    assert "quick sizes · only coin · seed 3" in page
    holding = sum(claim["holds"] for claim in claims)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{holding} of {len(claims)} claims hold")
    assert re.search(r", measured in \d+ s; report\.html, claims\.json and figures/ are in ", last)


def test_a_report_on_all_groups_does_not_say_only(tmp_path):
    lower_bounds.write(made_up(True, 0, InProcess()), tmp_path, quick=True, seed=0, only=groups.GROUPS)
    assert json.loads((tmp_path / "lower_bounds.json").read_text())["groups"] == list(groups.GROUPS)
    page = (tmp_path / "report.html").read_text()
    assert "aomultirl lower-bounds --quick --seed 0 --out NEW" in page
    assert "quick sizes · seed 0" in page


@pytest.mark.parametrize(("group", "takes"), [("coin", "half a minute"), ("minimax", "some minutes")])
def test_compiling_is_announced_with_how_long_it_takes(capsys, monkeypatch, tmp_path, group, takes):
    def compiling(*_, **__):
        announcing.announce()
        return made_up(True, 0, None)

    monkeypatch.setattr(announcing, "_here", announcing.Announcer())
    monkeypatch.delenv(announcing.QUIET)
    monkeypatch.setattr(groups, "measure_all", compiling)
    assert run(["lower-bounds", "--workers", "1", "--only", group, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err.startswith(f"aomultirl: compiling, once, {takes}")


def test_what_the_coin_game_finds_is_written_down(tmp_path):
    found = tiny_coin(True, 0, InProcess())
    lower_bounds.write(found, tmp_path, quick=True, seed=0)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["claim"] for claim in claims] == [claim.claim for claim in found.claims]
    assert stems(tmp_path) == {"coin_lambda", "coin_rows", "coin_lemma", "coin_corollary"}


def spent():
    """Seconds of CPU until now, with those of processes that have ended."""
    return sum(os.times()[:4])


def said_of_the_verdicts(claims):
    """What docs/lower_bounds.md says of a quick run in which no claim fails."""
    found = Counter(claim["verdict"] for claim in claims)
    unsure, out_of_reach = (COUNT[found[verdict]] for verdict in ("open", "out of reach"))
    held = f"{len(claims)} claims: {found['holds']} hold, none fails"
    return f"(`aomultirl lower-bounds --quick`, seed 0) makes {held}, {unsure} are open and {out_of_reach} out of reach"


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
    assert len(claims) <= 60
    assert not [claim["claim"] for claim in claims if claim["verdict"] == "fails"]
    assert said_of_the_verdicts(claims) in " ".join(DOCS.read_text(encoding="utf-8").split())
    page = (tmp_path / "one" / "report.html").read_text()
    assert page.partition('<ol class="opening">')[2].partition("</ol>")[0].count("<li>") == 5
    named = {claim["figure"] for claim in claims} - {""}
    assert named <= {path.stem for path in (tmp_path / "one" / "figures").glob("*.png")}


def test_every_group_has_randomness_of_its_own():
    keys = [group.KEY for group in (coin, clustering, minimax, regret_slopes, told_tasks, assumptions)]
    assert len(set(keys)) == 6

"""Commands with numbers and names that nobody means: status 2, one short line, within two seconds."""

import time

import pytest

from aomultirl.cli import run

LONG = "x" * 300
HUGE = "9" * 12
QUICK = "episodes = 4\n[[worlds]]\nname = 'gridworld'\n[[agents]]\nname = 'Random'\nhorizon = 5\n"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What the commands below compile, if nobody has done it before them."""
    assert run(["inspect", "gridworld"]) == 0


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(QUICK)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("inspect gridworld size=1000000", "size is 1000000: making four worlds of 1000000**2 states takes 3 PB of "),
        (f"inspect random_models states={HUGE}", f"states is {HUGE}: making 4 worlds with 4 actions and 5 successors "),
        (f"inspect two_jao_tree states={HUGE}", f"states is {HUGE}: making "),
        (f"inspect gridworld --episodes {'9' * 30}", f"episodes must be below 2**63, not {'9' * 30}"),
        ("inspect gridworld --failure 1e-320", "samples_needed is beyond what numbers can hold with "),
        (f"inspect gridworld size={'9' * 5000}", "size must be a whole number, not inf"),
        (f"inspect {LONG}", "there is no world 'xxx"),
        (f"watch gridworld size={HUGE}", f"size is {HUGE}: making four worlds of "),
        (f"watch gridworld --episode {HUGE}", "episode must be at most 2,000, not 999,999,999,999: all episodes "),
        (f"watch gridworld --seed {'9' * 500}", "seed must be below 2**1024, not 10**500 or so"),
        (f"bounds --episodes {'9' * 400}", "episodes must be below 2**63, not 10**400 or so"),
        ("bounds --separation 1e-200", "samples_needed is beyond what numbers can hold with 16, 3, 1e-200, 200, 0.03"),
        (f"bounds --models {'9' * 18}", f"models must be at most 3037000499, not {'9' * 18}"),
        (f"reproduce --episodes {HUGE}", f"episodes is {HUGE}: a run of so many episodes takes 800 TB of memory, and "),
        (f"reproduce --runs {HUGE}", f"runs must be at most 100000, not {HUGE}"),
        (f"reproduce --out {LONG}", "out is 'xxx"),
        ("reproduce --workers 1000000", "workers must be at most 1024, not 1000000"),
        (f"lower-bounds --seed {'9' * 400}", "seed must be below 2**1024, not 10**400 or so"),
        (f"lower-bounds --out {LONG}", "out is 'xxx"),
        ("lower-bounds --workers 1000000", "workers must be at most 1024, not 1000000"),
        (f"run quick.toml --out {LONG}", "out is 'xxx"),
        ("run quick.toml --workers 1000000", "workers must be at most 1024, not 1000000"),
        ("run /dev/zero", "'/dev/zero' is a pipe, a socket or a device, not a file"),
        (f"run {LONG}", "the specification is 'xxx"),
        (f"compare --suite reward --runs {HUGE}", f"runs must be at most 1000, not {HUGE}"),
        (f"bench --sweep --cells {HUGE}", f"cells must be at most 1000000, not {HUGE}"),
    ],
)
def test_it_is_refused_at_once(capsys, tmp_path, words, said):
    begin = time.process_time()
    assert run(words.split()) == 2
    assert time.process_time() - begin < 2.0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"aomultirl: {said}")
    assert err.count("\n") == 1
    assert len(err) <= 520
    assert [path.name for path in tmp_path.iterdir()] == ["quick.toml"]


@pytest.mark.parametrize(
    "words", [["run", "quick.toml", "--out", "a\0b"], ["run", "a\0b"], ["reproduce", "--out", "\0"]]
)
def test_no_path_holds_nul(capsys, words):
    assert run(words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "nul" in err.lower()

"""aomultirl live as a person uses it."""

import signal
import subprocess
import sys
import time

import pytest

from aomultirl.cli import live as live_command
from aomultirl.cli import run
from folders import cells, contents, keep
from living import asked, small_cells, told

SPECIFICATION = """
episodes = 4
runs = 2
worlds = [{name = "gridworld", size = 3, edges = "stay"}]
agents = [{name = "Recall", failure = 0.1, horizon = 30}]
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SPECIFICATION)
    return path


def test_it_can_end_with_the_run(small, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(live_command, "LAST_LOOK", 0.0)
    results = keep(tmp_path / "results", small_cells()).folder
    before = contents(tmp_path)
    for place, options in ((small, ["--run", "1"]), (results, ["--world", "GRID"])):
        assert run(["live", str(place), "--until-done", "--speed", "1e9", *options]) == 0
        out, _ = capfd.readouterr()
        assert out.count("\n") == 1
        assert out.startswith("http://127.0.0.1:")
        assert out.endswith("/ shows it; Ctrl-C ends it\n")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no file or folder 'nowhere'"),
        (["small.toml", "--speed", "0"], "speed must be above 0, not 0"),
        (["small.toml", "--run", "2"], "run must be between 0 and 1, not 2"),
        (["small.toml", "--agent", "cece"], "agent is 'cece', which is in none of Recall"),
        (["small.toml", "--world", "lake"], "world is 'lake', which is in none of gridworld, size=3, edges=stay"),
        (["small.toml", "--port", "99999"], "port must be between 0 and 65535, not 99999"),
        (["bad.toml"], "'bad.toml' is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 3)"),
        (["others"], "no agent here recognises worlds, as Recall does: there are Random, Optimal"),
        (["."], "'.' is not a folder of results: it holds 'bad.toml', but no 'experiment.json'; name another folder"),
    ],
)
def test_bad_input_is_one_sentence(small, tmp_path, capfd, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text("a b")
    keep(tmp_path / "others", cells(runs=1))
    assert run(["live", *words]) == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", f"aomultirl: {message}\n")


@pytest.mark.parametrize(
    ("way", "status", "words"), [(signal.SIGINT, 0, "\n"), (signal.SIGTERM, 143, "aomultirl: terminated\n")]
)
def test_ctrl_c_is_its_proper_end(small, way, status, words):
    """In the middle of a run, while a page asks; nothing is left behind."""
    command = [sys.executable, "-m", "aomultirl", "live", str(small), "--speed", "0.01"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=small.parent, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        address = process.stdout.readline().split()[0]
        end = time.monotonic() + 60.0
        while told(address)["now"] is None:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert asked(address)[0] == 200
        process.send_signal(way)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, err.replace("compiling, about 15 s, once\n", "")) == (status, "", words)
    assert [path.name for path in small.parent.iterdir()] == ["small.toml"]

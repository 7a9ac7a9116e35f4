import subprocess
import sys

import pytest

from aomultirl.cli import run


def refused(capsys, *words):
    """The one line that a refused command prints."""
    assert run(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("aomultirl: ")
    return err.removeprefix("aomultirl: ").strip()


@pytest.mark.parametrize("command", [[], ["new"], ["list"], ["inspect"], ["bench"], ["bounds"], ["watch"], ["live"]])
def test_help_has_an_example(capsys, command):
    assert run([*command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert not command or f"aomultirl {command[0]}" in " ".join(out.split())
    assert not command or "Example:" in out or "Examples:" in out


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("aomultirl 0.")


def test_list_names_the_suites(capsys):
    assert run(["list", "suites"]) == 0
    said = capsys.readouterr().out
    assert "aomultirl compare --suite identify" in said
    assert "The share of the optimal reward" in said
    assert run(["list", "suites", "reward"]) == 0
    assert "reward, suite" in capsys.readouterr().out
    assert run(["list", "suites", "rewards"]) == 2
    assert "did you mean 'reward'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "watch"])
def test_commands_that_take_worlds_alone_promise_no_more_of_plug_ins(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run([command, "--help"]) == 0
    assert "A module with worlds of others" in " ".join(capsys.readouterr().out.split())
    assert run(["list", "--help"]) == 0
    assert "A module with worlds, streams, agents, learners or explorers of others" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_plug_in_is_named_without_its_ending(capsys):
    said = refused(capsys, "list", "--plugin", "no_such_plugin.py")
    assert said.endswith("leave out the '.py': a plug-in is named as in an import, 'no_such_plugin'")


def test_inspect_with_a_figure(capsys, tmp_path):
    path = tmp_path / "grids.svg"
    assert run(["inspect", "gridworld", "size=3", "edges=stay", "--figure", str(path)]) == 0
    out = capsys.readouterr().out
    assert "gridworld size=3 edges=stay" in out
    assert "states S" in out
    assert path.read_text().startswith("<?xml")


def test_bounds(capsys):
    assert run(["bounds"]) == 0
    out = capsys.readouterr().out
    for words in ("610,848", "vacuous", "E23"):
        assert words in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bounds", "--failure", "2"], "failure must be below 1, not 2"),
        (["inspect", "gridword"], "there is no world 'gridword'; did you mean 'gridworld'?"),
        (["inspect", "gridworld", "size=2"], "size must be at least 3, not 2"),
        (["inspect", "gridworld", "--episodes", "0"], "episodes must be at least 1, not 0"),
        (["inspect", "jao", "--figure", "a.png"], "only grid worlds with the four moves can be drawn"),
        (["inspect", "random_models", "rng=abc"], "rng must be a whole number, not 'abc'"),
        (["inspect", "random_models", "rng=-1"], "rng must be at least 0, not -1"),
        (
            ["inspect", "gridworld", "--figure", "a.doc"],
            "'a.doc' does not end in a format for figures: .png, .svg, .pdf",
        ),
        (["inspect", "from_gymnasium"], "world 'from_gymnasium' needs envs=..."),
    ],
)
def test_bad_input_is_one_sentence(capsys, words, message):
    assert refused(capsys, *words) == message


def test_no_memory_and_failures_are_one_sentence_too(capsys, monkeypatch):
    for error, message in ((MemoryError(), "there is not enough memory for this"), (RuntimeError("odd"), "odd")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr("aomultirl.worlds.catalogue.make", fail)
        assert refused(capsys, "inspect", "gridworld") == message


def test_bad_option_values_are_named(capsys):
    line = refused(capsys, "inspect", "gridworld", "--episodes", "many")
    assert "--episodes" in line
    assert "'many'" in line
    assert "dance" in refused(capsys, "dance")
    assert "--eps" in refused(capsys, "inspect", "gridworld", "--eps=3")


def test_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "aomultirl", "inspect", "nowhere"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("aomultirl: there is no world 'nowhere'")


def test_watch_tells_what_happened_where_there_is_no_terminal(capsys):
    assert run(["watch", "gridworld", "edges=stay", "--episode", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert "AOMultiRL, episode 3, in m4 (which it is not told)" in out
    assert "numbers for watching" in out
    assert "like nothing before, a new cluster: right, m4 is new" in out


def test_watch_writes_an_animation(capsys, tmp_path):
    path = tmp_path / "episode.gif"
    assert run(["watch", "random_models", "states=6", "--agent", "optimal", "--episode", "0", "--gif", str(path)]) == 0
    assert path.read_bytes().startswith(b"GIF89a")
    assert f"animation written to {path}" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gridword"], "there is no world 'gridword'; did you mean 'gridworld'?"),
        (["gridworld", "sise=4"], "world 'gridworld' has no parameter 'sise'; did you mean 'size'?"),
        (["gridworld", "--episode", "-1"], "episode must be at least 0, not -1"),
        (["gridworld", "--seed", "-1"], "seed must be at least 0, not -1"),
        (["gridworld", "--speed", "0"], "speed must be above 0, not 0"),
        (["gridworld", "--gif", "a.png"], "'a.png' does not end in .gif"),
        (["gridworld", "--gif", "missing/a.gif"], "there is no folder 'missing' to write 'a.gif' in"),
    ],
)
def test_watch_refuses_bad_input_before_anything_is_computed(capsys, monkeypatch, words, message):
    monkeypatch.setattr("aomultirl.analysis.recorder.record", lambda *_, **__: pytest.fail("computed"))
    assert refused(capsys, "watch", *words) == message


def test_watch_names_the_agents(capsys):
    line = refused(capsys, "watch", "gridworld", "--agent", "two-stages")
    assert line.endswith("not 'two-stages'; did you mean 'two-stage'?")
    assert "'one-episode', 'pooled', 'oracle', 'optimal', 'random'" in line

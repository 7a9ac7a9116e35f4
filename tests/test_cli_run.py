"""aomultirl run, status, compare and report as a person uses them."""

import json

import pytest

from aomultirl.cli import run
from aomultirl.experiments import cells as cells_module
from sweeps import results

TINY = """
episodes = 4
runs = 2

[[worlds]]
name = "gridworld"

[[agents]]
name = "Random"
horizon = [20, 30]
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def said(capfd):
    told = capfd.readouterr()
    return " ".join(told.out.split()), told.err


def test_run_then_look_at_it(tiny, tmp_path, capfd):
    out = tmp_path / "out"
    assert run(["run", str(tiny), "--out", str(out)]) == 0
    err = said(capfd)[1]
    assert "4 cells, 0 of them done before, 4 to compute" in err
    assert f"4 of 4 cells are in {out}, 0 of them from before" in err
    assert (out / "specification.toml").read_text() == TINY
    before = results(out)
    assert run(["run", str(tiny), "--out", str(out)]) == 0
    assert "4 of them from before" in said(capfd)[1]
    assert results(out) == before
    assert run(["status", str(out)]) == 0
    assert said(capfd)[0].startswith("tiny: 4 of 4 cells done, 0 failed, 0 to compute")
    assert run(["compare", str(out)]) == 0
    assert "Random, horizon=30" in said(capfd)[0]
    assert run(["compare", str(out), "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)["problems"]) == 1
    assert run(["report", str(out)]) == 0
    assert (out / "report.html").exists()


def test_without_out_results_go_to_a_folder_of_the_experiments_name(tiny, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run(["run", str(tiny)]) == 0
    assert len(results(tmp_path / "results" / "tiny")) == 4


def test_a_dry_run_touches_nothing(tiny, tmp_path, capfd):
    assert run(["run", str(tiny), "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    out = said(capfd)[0]
    assert out.startswith("tiny: 2 configurations, 4 cells")
    assert "Random, horizon=20 Random, horizon=30" in out
    assert out.endswith("world gridworld, stream uniform, 4 episodes, 2 runs of each, seed 0.")
    assert not (tmp_path / "out").exists()


def test_more_runs_are_the_same_experiment(tiny, tmp_path, capfd):
    out = tmp_path / "out"
    run(["run", str(tiny), "--out", str(out)])
    tiny.write_text(TINY.replace("runs = 2", "runs = 3"))
    assert run(["run", str(tiny), "--out", str(out)]) == 0
    assert "6 of 6 cells" in capfd.readouterr().err
    tiny.write_text(TINY.replace("episodes = 4", "episodes = 5"))
    assert run(["run", str(tiny), "--out", str(out)]) == 2
    assert "holds results that are not of this experiment: 6, such as run " in capfd.readouterr().err
    assert len(results(out)) == 6


def test_failed_cells_end_the_command_with_1_and_a_summary(tiny, tmp_path, capfd, monkeypatch):
    class Failing(cells_module.SimulatedRun):
        def step(self):
            if self.agent.horizon == 30:
                raise RuntimeError("the hardware\nbroke")
            super().step()

    monkeypatch.setattr(cells_module, "SimulatedRun", Failing)
    out = tmp_path / "out"
    assert run(["run", str(tiny), "--out", str(out)]) == 1
    err = capfd.readouterr().err
    assert err.count("RuntimeError: the hardware broke") == 4  # when it happens, and in the summary
    assert "2 of 4 cells are in" in err
    assert "2 failed; their manifests say why, and the same command tries again" in err
    monkeypatch.undo()
    assert run(["run", str(tiny), "--out", str(out)]) == 0


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (TINY.replace("runs = 2", "runs = -2"), [], "runs"),
        (TINY.replace("runs", "rnus"), [], "runs"),
        (TINY.replace("gridworld", "gridwold"), [], "'gridworld'"),
        (TINY.replace("[20, 30]", "[]"), [], "agents[0].horizon"),
        (TINY.replace("[20, 30]", '"long"'), [], "horizon"),
        ("episodes = 1\nruns ? 2", [], "line 2"),
        (TINY, ["--workers", "0"], "workers must be at least 1, not 0"),
        (TINY, ["--ray", "nowhere"], "ray must be local, auto or HOST:PORT, not 'nowhere'"),
        (TINY, ["--ray", "host:6379", "--workers", "2"], "workers is 2, but the cluster 'host:6379' knows its own"),
        (TINY, ["--checkpoint", "0"], "checkpoint must be above 0, not 0"),
    ],
)
def test_bad_input_gets_one_line_before_anything_runs(tmp_path, capfd, text, options, words):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert run(["run", str(path), "--out", str(tmp_path / "out"), *options]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert words in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["compare"], "compare takes folders of results, or --suite with one of identify, reward"),
        (["compare", "x", "--suite", "reward"], "compare takes folders of results, or --suite"),
        (["compare", "x", "--runs", "3"], "runs is 3, but folders are read as they are"),
        (["compare", "--suite", "reward", "--json"], "--json goes with folders"),
        (["compare", "nowhere"], "nowhere"),
        (["run", "nowhere.toml"], "there is no file 'nowhere.toml'"),
    ],
)
def test_what_does_not_go_together_is_refused(capfd, words, sentence):
    assert run(words) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert sentence in err

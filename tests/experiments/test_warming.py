"""`aomultirl warm`: everybody plays once, and whoever plays again compiles nothing."""

import pytest

from aomultirl import plugins
from aomultirl.cli import run
from aomultirl.experiments import warming
from aomultirl.experiments.executors import InProcess

ELSEWHERE = {"OneEpisodeLearner", "OracleLearner", "OneEpisodeUCBVI", "PooledUCBVI", "OracleUCBVI", "UCRL2"}
"""Agents that are others with a learner of their own: OneEpisode, Pooled and Told."""


def test_everybody_plays():
    cases = [case for place in warming.PLACES for case in place.cases()]
    assert {case.agent["name"] for case in cases} == set(plugins.makers("agent")) - ELSEWHERE
    for kind in ("learner", "explorer"):
        told = [case.agent["parameters"].get(kind) for case in cases]
        assert {part["name"] for part in told if part} == set(plugins.makers(kind))
    names = [job.name for job in warming.jobs()]
    assert len(names) == len(set(names))
    assert {
        "Recall in lives",
        "Recall in lives, step by step",
        "Recall in a grid, step by step",
        "geometry of doors",
        "logs",
    } <= set(names)


def test_who_plays_again_compiles_nothing():
    jobs = warming.jobs(["random in", "logs"])
    assert len(jobs) > 3
    for _ in range(2):
        found = list(warming.warm(InProcess(), jobs))
        assert [warmed.error for warmed in found] == [None] * len(jobs)
    assert sum(warmed.kernels for warmed in found) == 0


def test_a_job_that_fails_is_named_and_stops_no_other(monkeypatch, capsys):
    def fail():
        raise RuntimeError("no memory")

    jobs = [warming.Job("first", fail), warming.Job("second", lambda: None)]
    monkeypatch.setattr(warming, "jobs", lambda only: jobs)
    assert run(["warm", "--workers", "1"]) == 1
    out, err = capsys.readouterr()
    assert "nothing was left to compile" in out
    assert "failed: first: RuntimeError: no memory" in err
    assert "second" not in err


def test_nobody_of_that_name_is_refused(capsys):
    assert run(["warm", "--only", "nobody"]) == 2
    assert capsys.readouterr().err.startswith("aomultirl: only is 'nobody', which names nobody")


@pytest.mark.parametrize("word", ["recall", "GOSPRL"])
def test_words_choose(word):
    assert all(word.lower() in job.name.lower() for job in warming.jobs([word]))

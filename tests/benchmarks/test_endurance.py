"""The long run is the run of everybody else, without its history."""

import json

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.benchmarks import endurance
from aomultirl.cli import run

EPISODES, HORIZON = 120, 60


def test_it_counts_what_the_history_of_the_same_run_has():
    agent = ao.agents.Recall(endurance.FAILURE, horizon=HORIZON)
    history = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), EPISODES, record=())
    first, second, last = endurance.run(EPISODES, HORIZON)
    assert (first.episodes, second.episodes, last.episodes) == (1, 100, EPISODES)
    for look in (first, second, last):
        part = slice(look.episodes)
        assert look.placed == (history["cluster"][part] >= 0).sum()
        assert look.wrong == history["misclustered"][part].sum()
        sure = history["sure"][part] >= 0.99
        assert look.sure == sure.sum()
        names, tasks = history["taken_for"][part][sure], history["task"][part][sure]
        right = sum(np.bincount(tasks[names == name]).max() for name in set(names.tolist()))
        assert look.mistaken == sure.sum() - right
    assert last.worlds == len(agent.worlds)
    assert last.clusters == agent.clusters
    assert last.mistaken > 0  # so that counting none of them would be noticed


def test_its_past_is_forgotten():
    past = endurance._Forgotten()
    past.length = 7
    assert len(past) == 7
    with pytest.raises(LookupError):
        past[0]


def look(episodes, megabytes):
    return endurance.Look(episodes, megabytes, 1.0, 0, 0, 0, 0, 0, 0)


def test_memory_is_flat_where_the_last_nine_tenths_of_the_run_hardly_add_to_it():
    looks = [look(1, 200.0), look(100, 300.0), look(316, 301.0), look(1000, 314.0)]
    assert endurance.verdict(looks) == "Memory is flat: 300 MB after 100 episodes, 314 MB after 1,000."
    looks[-1] = look(1000, 316.0)
    assert endurance.verdict(looks).startswith("Memory is not flat: ")
    assert endurance.verdict([look(1, 200.0)]) == "Memory is flat: 200 MB after 1 episodes, 200 MB after 1."


def test_the_command_prints_a_line_for_each_look(capfd):
    assert run(["bench", "--endurance", "4", "--horizon", "10"]) == 0
    title, heading, first, last, verdict = capfd.readouterr().out.splitlines()
    assert title == "Recall on the paper's grid, H = 10, one run"
    assert heading.split()[:2] == ["episodes", "MB"]
    assert [first.split()[0], last.split()[0]] == ["1", "4"]
    assert len(first) == len(heading)
    assert verdict.startswith("Memory is")
    assert run(["bench", "--endurance", "4", "--horizon", "10", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["horizon"] == 10
    assert [one["episodes"] for one in told["looks"]] == [1, 4]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["--endurance", "0"], "endurance must be at least 1, not 0"),
        (["--endurance", "5", "--horizon", "0"], "horizon must be at least 1, not 0"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(words, refusal, capfd):
    assert run(["bench", *words]) == 2
    assert capfd.readouterr().err == f"aomultirl: {refusal}\n"


@pytest.mark.long
def test_memory_is_flat_over_twenty_thousand_episodes():
    looks = list(endurance.run(20_000, 50))
    assert endurance.verdict(looks).startswith("Memory is flat")
    assert looks[-1].wrong == 0
    assert looks[-1].microseconds < 1.5 * looks[1].microseconds

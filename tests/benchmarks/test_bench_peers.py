"""The timing beside rlberry-scool; what needs that package runs in its own environment, ``make test-rlberry``."""

import pytest

import aomultirl as ao
import bench_peers
from bench_peers import Comparison, by_turns, compare, our_episodes, our_planning


def test_a_target_is_missed_below_it():
    assert not Comparison("planning", 0.001, 0.5, 500.0).missed
    assert Comparison("planning", 0.001, 0.499, 500.0).missed
    assert not Comparison("an episode", 0.001, 0.002).missed


def test_a_line_says_both_times_their_ratio_and_what_came_of_the_target():
    assert Comparison("planning", 0.0001, 0.09, 500.0).row.split() == (
        ["planning", "0.1000", "ms", "90.00", "ms", "900", "x", "target", "500:", "reached"]
    )
    assert Comparison("planning", 0.0001, 0.009, 500.0).row.endswith("missed")
    assert Comparison("an episode", 0.001, 0.3).row.endswith("300 x")


def test_contenders_take_turns_and_the_best_counts(monkeypatch):
    clock, calls = iter([0.0, 8.0, 8.0, 11.0, 11.0, 15.0, 15.0, 20.0]), []
    monkeypatch.setattr(bench_peers.time, "process_time", lambda: next(clock))
    ours, theirs = by_turns(lambda: calls.append("ours"), lambda: calls.append("theirs"), 2, turns=2)
    assert (ours, theirs) == (2.0, 3.0)
    assert calls == ["ours", "ours", "theirs"] * 2


def test_our_planning_plans_and_our_episodes_are_run():
    world = ao.worlds.gridworld()[0]
    assert our_planning(world)().table.plan.shape == (200 * 16,)
    assert len(our_episodes(world)()["learning_steps"]) == bench_peers.EPISODES


def test_a_bonus_with_which_nothing_is_planned_is_refused(monkeypatch):
    monkeypatch.setattr(bench_peers, "SCALE", 1.0)
    with pytest.raises(RuntimeError, match="so nothing is planned"):
        our_planning(ao.worlds.gridworld()[0])


@pytest.mark.filterwarnings("default")
def test_both_find_the_same_values_and_we_are_faster():
    pytest.importorskip("rlberry_scool")
    planning, episode = compare(turns=1)
    assert planning.ratio > 50.0
    assert episode.ratio > 20.0

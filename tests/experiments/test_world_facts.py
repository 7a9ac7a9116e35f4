import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments.specification import specification_of, world_facts

AOMULTIRL = {"name": "AOMultiRL", "failure": 0.03, "learning_horizon": 9}
SEQUENTIAL = {"name": "SequentialAOMultiRL", "failure": 0.03, "horizon": 500}


def told(world, agent):
    """The agent's parameters in the first cell."""
    described = {"episodes": 5, "worlds": [{"name": world} if isinstance(world, str) else world], "agents": [agent]}
    return specification_of(described).cells()[0].agent["parameters"]


def test_what_is_needed_and_not_given_comes_from_the_worlds():
    assert told("jao", AOMULTIRL) == {
        "failure": 0.03,
        "learning_horizon": 9,
        "models": 5,
        "separation": 0.099999,
        "hitting_time": 10.0,
    }


def test_what_is_given_stays():
    given = {**AOMULTIRL, "models": 9, "separation": 0.05, "hitting_time": 77.0}
    assert told("jao", given) == {name: value for name, value in given.items() if name != "name"}


def test_what_is_not_needed_must_be_asked_for():
    assert "separation" not in told("gridworld", SEQUENTIAL)
    asked = {**SEQUENTIAL, "separation": "world", "models": "world", "distinguishing_set": "world"}
    found = told("gridworld", asked)
    assert (found["separation"], found["models"]) == (1.299999, 4)
    assert ao.worlds.gridworld().is_distinguishing(found["distinguishing_set"], 1.299999)
    assert len(found["distinguishing_set"]) == 3


def test_the_separation_that_is_told_is_strictly_kept_by_the_worlds():
    for separation in np.linspace(0.05, 1.95, 20):
        world = {"name": "random_models", "states": 8, "separation": float(separation)}
        found = told(world, {**SEQUENTIAL, "separation": "world"})["separation"]
        exact = ao.worlds.random_models(8, separation=float(separation)).separation()
        assert exact - 2e-6 < found < exact


def test_a_hitting_time_is_a_bound_and_short_to_write():
    found = told({"name": "gridworld", "size": 3}, AOMULTIRL)["hitting_time"]
    exact = max(world.hitting_time() for world in ao.worlds.gridworld(3))
    assert exact <= found < exact + 0.0011
    assert found == round(found, 3)


def test_a_distinguishing_set_is_one_at_the_level_that_the_agent_tests_at():
    models = ao.worlds.gridworld()
    for parameters, level in (({"separation": 0.1}, 0.1), ({"separation": 1.2, "level": 0.7}, 0.7)):
        agent = {**AOMULTIRL, "hitting_time": 7, "distinguishing_set": "world", **parameters}
        found = told("gridworld", agent)["distinguishing_set"]
        assert [tuple(pair) for pair in found] == models.distinguishing_set(level)


def test_without_need_no_hitting_time_is_looked_for(monkeypatch):
    monkeypatch.setattr(ao.MDP, "hitting_time", lambda *_: pytest.fail("nobody needs it"))
    found = told("two_jao", {**AOMULTIRL, "clustering_horizon": 50})
    assert found["hitting_time"] is None
    told("jao", {**AOMULTIRL, "hitting_time": 10})
    told("jao", SEQUENTIAL)


def test_facts_are_found_once_for_each_world(monkeypatch):
    times = []
    exact = ao.MDP.hitting_time
    monkeypatch.setattr(ao.MDP, "hitting_time", lambda *args: times.append(1) or exact(*args))
    agent = {**AOMULTIRL, "failure": [0.01, 0.02, 0.03]}
    worlds = [{"name": "jao", "actions": [2, 3]}]
    specification_of({"episodes": [5, 6], "runs": 3, "worlds": worlds, "agents": [agent]})
    assert len(times) == 2 + 3


def test_a_hitting_time_that_takes_too_long_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(world_facts, "SECONDS", 0.0)
    with pytest.raises(
        ValueError, match=r"needs hitting_time, and worlds\[0\] \(gridworld\) has none: it was not found"
    ):
        told({"name": "gridworld", "size": 10}, AOMULTIRL)


def test_bandits_say_their_means():
    means = [[0.9, 0.1], [0.25, 0.5]]
    bandits = {"name": "bandits", "means": means}
    assert told(bandits, {"name": "MUCB", "horizon": 9}) == {"horizon": 9, "means": means}
    assert told(bandits, {"name": "TUCB", "horizon": 9}) == {"horizon": 9, "models": 2}
    with pytest.raises(
        ValueError, match=r"needs means, and worlds\[0\] \(gridworld\) has none: its worlds are no bandits"
    ):
        told("gridworld", {"name": "MUCB", "horizon": 9})
    with pytest.raises(ValueError, match=r"n_states is 16, but TUCB is for bandits"):
        told("gridworld", {"name": "TUCB", "horizon": 99})


def test_weights_are_checked_against_the_number_of_worlds():
    assert told("gridworld", {"name": "MultiModel", "horizon": 9, "weights": [1, 2, 3, 4]})["weights"] == [1, 2, 3, 4]
    with pytest.raises(
        ValueError, match=r"agents\[0\]\.weights must have shape \(4,\), one for every world, not \(2,\)"
    ):
        told("gridworld", {"name": "MultiModel", "horizon": 9, "weights": [1, 2]})


def test_agents_that_plan_for_the_worlds_are_checked_without_planning(monkeypatch):
    monkeypatch.setattr(ao.agents.Optimal, "episode", lambda *_: pytest.fail("nothing runs"))
    assert told({"name": "random_models", "states": 20_000}, {"name": "Optimal", "horizon": 5_000}) == {
        "horizon": 5_000
    }
    with pytest.raises(ValueError, match=r"agents\[0\]\.horizon must be at least 1, not 0"):
        told("gridworld", {"name": "Optimal", "horizon": 0})

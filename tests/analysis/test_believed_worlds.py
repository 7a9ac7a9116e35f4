"""What an agent believed in a run."""

from collections import Counter

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.analysis.believed_worlds import believed_worlds, has_beliefs
from aomultirl.experiments.history import History


def made(taken_for, task, sure, **about):
    history = ao.run(ao.agents.Random(1), ao.worlds.jao(), ao.streams.uniform(), len(task))
    columns = {"taken_for": np.array(taken_for), "task": np.array(task), "sure": np.array(sure, np.float64)}
    return History({**history.columns, **columns}, {**history.about, **about})


def test_by_hand():
    shared = {"transitions": 0.9, "ends": 0.8, "rewards": 0.5}
    found = believed_worlds(
        made(
            [0, 0, 0, 7, 7, 2],
            [0, 1, 1, 0, 0, 1],
            [0.9, 0.99, 1.0, 0.5, 1.0, 0.0],
            findings={"worlds": 4, "shared": shared, "unresolved": 5},
            agent={"name": "Recall", "parameters": {"rewards": "unknown"}},
        )
    )
    assert (found.episodes, found.names, found.met) == (6, 3, 2)
    assert found.together == 2 + 2 + 1
    assert found.sure == pytest.approx(4.39 / 6)
    assert found.doubted == 3
    assert (found.worlds, found.unresolved) == (4, 5)
    assert found.shared == shared


def test_rewards_that_are_known_are_not_shared_by_belief():
    told = {"findings": {"shared": {"transitions": 0.9, "ends": 0.8, "rewards": 0.5}}}
    found = believed_worlds(made([0], [0], [1.0], agent={"name": "Recall", "parameters": {"rewards": "known"}}, **told))
    assert found.shared == {"transitions": 0.9, "ends": 0.8}
    assert found.worlds is None


def test_only_episodes_that_count_and_were_taken_for_something():
    history = made([3, 3, -1, 1], [0, 1, 1, 1], [1.0, 0.2, np.nan, 1.0])
    assert believed_worlds(history).episodes == 3
    later = believed_worlds(history, before=1)
    assert (later.episodes, later.names, later.doubted, later.together) == (2, 2, 1, 2)
    assert believed_worlds(made([3, -1], [0, 0], [1.0, np.nan]), before=1) is None
    assert has_beliefs(history)


def test_where_nobody_knows_the_worlds():
    found = believed_worlds(made([0, 1], [-1, -1], [1.0, 1.0]))
    assert (found.met, found.together) == (None, None)


def test_an_agent_without_beliefs():
    history = ao.run(ao.agents.Random(1), ao.worlds.jao(), ao.streams.uniform(), 3)
    assert believed_worlds(history) is None
    assert not has_beliefs(history)


@pytest.mark.parametrize(
    "findings",
    [
        None,
        {"worlds": "4", "shared": [0.5], "unresolved": -1},
        {"worlds": True, "shared": {"ends": "all", "transitions": float("nan")}},
    ],
)
def test_what_strangers_say_they_found(findings):
    found = believed_worlds(made([0], [0], [1.0], findings=findings))
    assert (found.worlds, found.shared, found.unresolved) == (None, {}, None)


def test_of_a_run():
    models, agent = ao.worlds.gridworld(), ao.agents.Recall(0.03, 300)
    history = ao.run(agent, models, ao.streams.uniform(), 30, seed=1)
    found = believed_worlds(history)
    pairs = Counter(zip(history["taken_for"].tolist(), history["task"].tolist(), strict=True))
    most = Counter()
    for (name, _), times in pairs.items():
        most[name] = max(most[name], times)
    assert found.together == most.total()
    assert found.doubted == sum(sure < 0.99 for sure in history["sure"])
    assert found.worlds == len(agent.worlds)
    assert found.unresolved == agent.findings()["unresolved"]
    assert sorted(found.shared) == ["ends", "transitions"]

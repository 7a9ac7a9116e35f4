import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams


def session(agent):
    agent.begin(Setting(6, 3, ao.worlds.random_models(6, 3, 1, 3).rewards, 4))
    stream = streams(0, 1)[0]
    return Session(agent.episode(2, stream), 6, 3, 2, stream)


def test_a_person_can_play():
    game = session(ao.agents.Random(3))
    actions = []
    for successor in (1, 5, 0):
        assert not game.over
        action = game.act()
        assert game.act() == action
        actions.append(action)
        game.observe(successor, 0.5)
    assert game.over
    assert game.state == 0
    assert all(0 <= action < 3 for action in actions)
    assert game.ran[0].outcome == (3, 0, 1.5, False, False)
    assert game.report.evaluation_horizon == 3


def test_observing_and_acting_in_one_call():
    game = session(ao.agents.Random(2))
    game.act()
    assert game.observe_and_act(4, 0.0) in range(3)
    assert game.observe_and_act(4, 0.0) is None


def test_misuse():
    game = session(ao.agents.Random(2))
    with pytest.raises(ValueError, match="observe comes after act"):
        game.observe(1, 0.0)
    game.act()
    with pytest.raises(ValueError, match="successor must be between 0 and 5, not 6"):
        game.observe(6, 0.0)
    with pytest.raises(ValueError, match="reward must be finite, not nan"):
        game.observe(1, float("nan"))
    game.stop()
    assert game.over
    with pytest.raises(ValueError, match="the episode is over"):
        game.act()


def test_learned_rewards_must_lie_in_the_unit_interval():
    agent = ao.agents.PooledUCBVI(0.1, 5, rewards="unknown")
    game = session(agent)
    game.act()
    with pytest.raises(ValueError, match=r"reward is 50, outside \[0, 1\]: rewards that are learned must be scaled"):
        game.observe(1, 50.0)


def test_a_start_that_is_no_state():
    agent = ao.agents.Random(5)
    agent.begin(Setting(6, 3, None, 4))
    with pytest.raises(ValueError, match="start must be between 0 and 5, not 77"):
        Session(agent.episode(77, streams(0, 1)[0]), 6, 3, 77, streams(0, 1)[0])


def test_giving_up_leaves_no_trace():
    agent = ao.agents.AOMultiRL(2, 1.0, 5, 0.1, samples=2, clustering_horizon=9, learning_horizon=3)
    game = session(agent)
    for _ in range(11):
        game.act()
        game.observe(1, 0.0)
    game.close()
    assert agent.clusters == []

"""Episodes by hand: what is refused, what is counted, and what an agent that has met environments takes."""

import gc
from copy import deepcopy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import aomultirl as ao
from aomultirl.agents import saving

SIZES = {"n_states": 4, "n_actions": 2}


def random_agent():
    return ao.agents.Random(5)


class Shown(gym.Env):
    """Two states, shown as a dictionary; action "7" stays and costs, action "8" ends."""

    observation_space = spaces.Dict({"x": spaces.Discrete(2)})
    action_space = spaces.Discrete(2, start=7)
    cost = -1.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"x": 0}, {}

    def step(self, action):
        assert self.action_space.contains(action)
        return {"x": 1}, self.cost, bool(action == 8), False, {}


@pytest.mark.parametrize("wrong", [np.full((5, 3), 0.5), np.full(10, 0.5), np.full((2, 5), 0.5), 0.5])
def test_rewards_of_another_shape_are_refused_before_the_agent_begins(wrong):
    agent = ao.agents.OneEpisodeLearner(20)
    with pytest.raises(ValueError, match=r"rewards must have shape \(5, 2\), not \("):
        agent.play(0, n_states=5, n_actions=2, rewards=wrong)
    assert "setting" not in vars(agent)


@pytest.mark.parametrize("wrong", [{"start": 9}, {"seed": -1}, {"episodes": 0}])
def test_an_agent_that_is_refused_has_not_begun(wrong):
    agent = random_agent()
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        agent.play(**{"start": 0, **SIZES, **wrong})
    assert "setting" not in vars(agent)


def test_rewards_of_later_games_are_those_of_the_first():
    agent, rewards = random_agent(), np.full((4, 2), 0.5)
    agent.play(0, **SIZES, rewards=rewards).stop()
    agent.play(0, rewards=rewards).stop()
    with pytest.raises(ValueError, match=r"rewards\[0, 0\] is another than the agent began with"):
        agent.play(0, rewards=rewards / 2)
    other = random_agent()
    other.play(0, **SIZES).stop()
    with pytest.raises(ValueError, match="rewards is given, but the agent began without being told them"):
        other.play(0, rewards=rewards)


def test_a_game_is_counted_once():
    agent = random_agent()
    game = agent.play(0, **SIZES)
    game.act()
    game.observe(1, 0.5, terminated=True)
    game.stop()
    game.stop()
    game.give_up()
    assert (game.over, agent.completed) == (True, 1)
    game = agent.play(0)
    game.give_up()
    game.stop()
    assert (game.over, game.report, agent.completed) == (True, None, 1)


def test_one_game_at_a_time():
    agent = random_agent()
    game = agent.play(0, **SIZES)
    words = r"agent is in the middle of a game: finish it, or give it up with game.give_up\(\)"
    for other in (
        lambda: agent.play(0),
        lambda: ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 1),
        lambda: ao.interact(agent, Shown(), 1, reward_range=(-1, 0)),
    ):
        with pytest.raises(ValueError, match=words):
            other()
    assert agent.setting.n_states == 4
    deepcopy(agent).play(0).stop()  # a copy is another agent
    game.give_up()
    agent.play(0).stop()
    assert agent.completed == 1


@pytest.mark.parametrize("circle", [False, True])
def test_a_game_that_nobody_holds_is_given_up(circle):
    agent = random_agent()
    game = agent.play(0, **SIZES)
    gc.disable()
    try:
        if circle:
            game.itself = game
        del game
        agent.play(0).stop()
    finally:
        gc.enable()
    assert agent.completed == 1


@pytest.mark.parametrize("loaded", [False, True])
def test_games_take_what_the_environments_show(loaded):
    agent = ao.agents.Recall(0.05, 5, rewards="unknown")
    ao.interact(agent, Shown(), 2, reward_range=(-1, 0))
    if loaded:
        agent = saving.from_bytes(saving.to_bytes(agent))[0]
    game = agent.play({"x": 0})
    assert game.act() in (7, 8)
    for wrong, words in (
        ({"state": {"x": 9}}, r"state\['x'\] must be between 0 and 1, not 9"),
        ({"state": 1}, "state is 1, not a dictionary of x"),
        ({"reward": -2.0}, r"reward is -2, outside \[-1, 0\]"),
    ):
        with pytest.raises(ValueError, match=words):
            game.observe(**{"state": {"x": 1}, "reward": -1.0, **wrong})
    game.observe({"x": 1}, np.array(-1.0), terminated=True)
    assert (game.over, game.reward, agent.completed) == (True, -1.0, 3)
    with pytest.raises(ValueError, match="start is 0, not a dictionary of x"):
        agent.play(0)


def test_a_range_that_is_learned_widens_after_a_game_that_is_not_given_up():
    agent, env = ao.agents.Recall(0.05, 5, rewards="unknown"), Shown()
    env.cost = 0.0
    ao.interact(agent, env, 1, reward_range="learn")
    for end in ("give_up", "stop"):
        game = agent.play({"x": 0})
        game.act()
        game.observe({"x": 1}, 3.0)
        assert agent.interface.scale.most == 1.0
        if end == "give_up":
            game.give_up()
            assert agent.interface.scale.high == 1.0
    with pytest.warns(UserWarning, match=r"rewards of episode 1 left \[0, 1\]: the range is \[0, 3\] from now on"):
        game.stop()
    assert (game.reward, agent.interface.scale.high) == (3.0, 3.0)


def test_an_observation_that_is_none_is_called_what_the_argument_is():
    game = random_agent().play(0, **SIZES)
    with pytest.raises(ValueError, match="observe comes after act"):
        game.observe(0, 0.0)
    game.act()
    with pytest.raises(ValueError, match=r"^state must be between 0 and 3, not 9"):
        game.observe(9, 0.0)
    game.observe(1, np.array(0.5))
    assert game.reward == 0.5

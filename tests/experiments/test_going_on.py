"""Agents that go on with environments: from where, with which arguments, and what a failure leaves of their memory."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import aomultirl as ao
from aomultirl.agents import saving


class Line(gym.Env):
    """States 0 to 3 in turn, whatever the action; the last one ends.  ``fails``: where it raises."""

    observation_space = spaces.Discrete(4)
    action_space = spaces.Discrete(2)

    def __init__(self, reward=0.5, fails=""):
        self.reward, self.fails = reward, fails

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        assert self.fails != "reset"
        self.state = 0
        return 0, {}

    def step(self, action):
        if self.fails == "Ctrl-C":
            raise KeyboardInterrupt
        assert self.fails != "step"
        self.state += 1
        return self.state, self.reward, self.state == 3, False, {}


def recall():
    return ao.agents.Recall(0.05, 5, rewards="unknown")


def run_line(agent, episodes=2):
    world = ao.MDP(np.eye(4)[[[1, 1], [2, 2], [3, 3], [3, 3]]], np.full((4, 2), 0.5))
    return ao.run(agent, ao.ModelSet([world]), ao.streams.uniform(), episodes)


def play_line(agent):
    agent.play(0, n_states=4, n_actions=2).stop()


@pytest.mark.parametrize("before", [run_line, play_line])
def test_an_agent_that_met_no_environment_goes_on_with_one(before):
    agent = recall()
    before(agent)
    completed = agent.completed
    for wrong, words in (
        ({"states": 4}, "states is given, but the agent remembers the 4 states by their numbers"),
        ({"reward_range": (0, 9)}, r"reward_range is \(0, 9\), but the agent remembers rewards of \(0, 1\)"),
    ):
        with pytest.raises(ValueError, match=words):
            ao.interact(agent, Line(), 2, resume=True, **wrong)
    history = ao.interact(agent, Line(), 2, resume=True)
    assert history["episode"].tolist() == [completed, completed + 1]


def test_a_run_in_the_simulator_meets_no_environment():
    agent = recall()
    ao.interact(agent, Line(-0.5), 1, reward_range=(-1, 0))
    run_line(agent)
    assert agent.interface is None
    agent.play(0).stop()


def test_a_range_may_be_learned_from_now_on():
    agent = recall()
    ao.interact(agent, Line(), 1)
    with pytest.warns(UserWarning, match=r"left \[0, 1\]: the range is \[0, 5\] from now on"):
        ao.interact(agent, Line(5.0), 1, resume=True, reward_range="learn")
    ao.interact(agent, Line(5.0), 1, resume=True)  # not given: it stays as it was
    assert agent.interface.scale.learned
    ao.interact(agent, Line(5.0), 1, resume=True, reward_range=(0, 5))
    with pytest.raises(ValueError, match=r"is 6, outside \[0, 5\]"):
        ao.interact(agent, Line(6.0), 1, resume=True)


@pytest.mark.parametrize(("first", "then"), [((0, 10), (0, 1)), ((0, 5), (2, 5)), (None, (0, 10))])
def test_another_range_is_refused(first, then):
    agent = recall()
    ao.interact(agent, Line(), 1, reward_range=first)
    with pytest.raises(ValueError, match=r"reward_range is \(\d+, \d+\), but the agent remembers rewards of \("):
        ao.interact(agent, Line(), 1, resume=True, reward_range=then)
    ao.interact(agent, Line(), 1, resume=True, reward_range=first or (0, 1))


def test_another_number_of_states_is_refused():
    agent = recall()
    ao.interact(agent, Line(), 1, states=5)
    for wrong in (50, 4, "grow"):
        with pytest.raises(ValueError, match=r"states is [\d,]+, but the agent began with room for 5 states"):
            ao.interact(agent, Line(), 1, resume=True, states=wrong)
    ao.interact(agent, Line(), 1, resume=True, states=5)
    assert agent.completed == 2


def test_other_known_rewards_are_refused():
    agent, rewards = ao.agents.Random(5), np.full((4, 2), -0.5)
    ao.interact(agent, Line(-0.5), 1, rewards=rewards, reward_range=(-1, 0))
    ao.interact(agent, Line(-0.5), 1, rewards=rewards, resume=True)
    rewards[2, 1] = 0.0
    with pytest.raises(ValueError, match=r"rewards\[2, 1\] is another than the agent began with"):
        ao.interact(agent, Line(-0.5), 1, rewards=rewards, resume=True)
    assert agent.completed == 2


@pytest.mark.parametrize("fails", ["reset", "step", "Ctrl-C"])
def test_an_agent_forgets_only_when_an_episode_of_the_new_run_is_over(fails):
    agent = recall()
    ao.interact(agent, Line(), 1, reward_range=(0, 2))
    before = saving.to_bytes(agent)
    with pytest.raises(KeyboardInterrupt if fails == "Ctrl-C" else RuntimeError):
        ao.interact(agent, Line(fails=fails), 3, forget=True)
    assert saving.to_bytes(agent) == before
    with pytest.raises(ValueError, match="agent remembers 1 episode: give resume=True"):
        ao.interact(agent, Line(), 1)
    with pytest.raises(RuntimeError, match="episode 1 raised"):
        ao.interact(agent, lambda k: Line(fails="step" if k else ""), 3, forget=True)
    assert (agent.completed, agent.interface.scale.high) == (1, 1.0)

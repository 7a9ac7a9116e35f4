import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.worlds.environment import WorldEnv

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[5], rest=0.25) for world in MODELS)


class SlowQLearning:
    """Q-learning from the formulas of the module, one step at a time."""

    def __init__(self, learner, greatest, rest):
        self.learner, self.rest = learner, rest
        self.q = np.full((6, 3), learner.optimism * max(0.0, greatest - rest))
        self.updates = np.zeros((6, 3), int)
        self.rewards, self.ended = [], False

    def base(self):
        if self.ended:
            return self.rest
        return max(self.rest, sum(self.rewards) / len(self.rewards)) if self.rewards else self.rest

    def observe(self, s, a, s2, reward, ended):
        far = 1.0 - self.learner.discount
        if ended and not self.ended:
            self.q[self.updates > 0] += (self.base() - self.rest) / far
            self.ended = True
        self.rewards.append(reward)
        ahead = (self.rest - self.base()) / far if ended else self.q[s2].max()
        self.updates[s, a] += 1
        rate = max(1.0 / self.updates[s, a], self.learner.rate)
        self.q[s, a] += rate * (reward - self.base() + self.learner.discount * ahead - self.q[s, a])


@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
@pytest.mark.parametrize("told", ["known", "unknown"])
def test_values_and_choices_are_those_of_a_slow_twin(models, told):
    learner = ao.learning.QLearning(epsilon=0.0, optimism=1.5, rate=0.2, discount=0.9)
    agent = ao.agents.Pooled(learner, 60, rewards=told)
    agent.begin(Setting(6, 3, models.rewards, 5, rest=models.rest))
    slow = SlowQLearning(learner, models.rewards.max() if told == "known" else 1.0, models.rest)
    steps = 0
    for k in range(5):
        source, own = streams(k, 2)
        env = WorldEnv(models[0], k % 3, source, True)
        session = Session(agent.episode(k % 3, own), 6, 3, int(env.reset()[0]), own)
        while not session.over:
            state, action = session.state, session.act()
            assert slow.q[state, action] == pytest.approx(slow.q[state].max())
            successor, reward, ended, *_ = env.step(action)
            slow.observe(state, action, successor, reward, ended)
            session.observe(successor, reward, ended)
            steps += 1
    known = agent.kept.known[0]
    assert known.own["q"].reshape(6, 3) == pytest.approx(slow.q)
    assert known.own["updates"].reshape(6, 3).tolist() == slow.updates.tolist()
    assert known.own["so_far"] == pytest.approx([steps, sum(slow.rewards), len(known.counts.ends) and 5])
    assert (steps < 300) == (models is ENDING)


def test_golden_update():
    """One pair, worked out by hand: 0 + 1 (1 - 1 + 0.5 * 0), then with the mean of 1 and 0 as the base."""
    agent = ao.agents.Pooled(ao.learning.QLearning(optimism=0.0, rate=0.5, discount=0.5), 2)
    agent.begin(Setting(1, 1, np.ones((1, 1)), 1))
    session = Session(agent.episode(0, streams(0, 1)[0]), 1, 1, 0, streams(0, 1)[0])
    for reward in (1.0, 0.0):
        session.act()
        session.observe(0, reward)
    assert agent.kept.known[0].own["q"].tolist() == [-0.25]  # 0 + 0.5 (0 - 0.5 + 0.5 * 0 - 0)


def test_epsilon_is_the_share_of_random_actions():
    """After the first visits of a state with a reward for its first action alone; 4 standard deviations."""
    rewards = np.array([[1.0, 0.0]])
    world = ao.ModelSet([ao.MDP(np.ones((1, 2, 1)), rewards)])
    agent = ao.agents.Pooled(ao.learning.QLearning(epsilon=0.3, optimism=0.0), 20_000)
    history = ao.run(agent, world, ao.streams.uniform(), 1, seed=4)
    assert history["learning_reward"][0] / 20_000 == pytest.approx(0.85, abs=4 * np.sqrt(0.15 * 0.85 / 20_000))


def test_wider_rewards_bring_the_values_to_their_range():
    agent = ao.agents.Pooled(ao.learning.QLearning(), 200, rewards="unknown")
    ao.run(agent, MODELS, ao.streams.uniform(), 3, seed=1)
    own = {name: array.copy() for name, array in agent.kept.known[0].own.items()}
    agent.rescale_rewards(0.1, 0.5, 0.5)
    now = agent.kept.known[0].own
    assert now["q"] == pytest.approx(0.1 * own["q"])
    assert now["so_far"] == pytest.approx([600.0, 0.1 * own["so_far"][1] + 300.0, 0.0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 1.5}, "epsilon must be"),
        ({"optimism": -1.0}, "optimism must be at least 0"),
        ({"rate": 2.0}, "rate must be"),
        ({"discount": 1.0}, "discount must be"),
    ],
)
def test_bad_parameters_get_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        ao.agents.Pooled(ao.learning.QLearning(**wrong), 20).begin(Setting(6, 3, MODELS.rewards, 5))

import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.learning.ucb_q_learning import QLearningUCBB, QLearningUCBH, bernstein_beta
from aomultirl.setting import Setting
from by_hand import play

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)


class SlowUcbQ:
    """Q as a sum with the weights of all visits, a_t^i = a_i prod_{j > i} (1 - a_j), from a list of targets."""

    def __init__(self, horizon, iota, c, by_bernstein, rest):
        self.horizon, self.iota, self.c, self.by_bernstein, self.rest = horizon, iota, c, by_bernstein, rest
        self.targets, self.ahead = {}, {}

    def rate(self, t):
        return (self.horizon + 1.0) / (self.horizon + t)

    def q(self, h, s, a):
        total, left = 0.0, 1.0
        for t, target in reversed(list(enumerate(self.targets.get((h, s, a), []), 1))):
            total += left * self.rate(t) * target
            left *= 1.0 - self.rate(t)
        return total + left * self.horizon

    def value(self, h, s):
        return min(self.horizon, max(self.q(h, s, a) for a in range(3))) if h < self.horizon else 0.0

    def beta(self, seen, t):
        h, varied = self.horizon, float(np.var(seen[:t]))
        first = math.sqrt(h / t * (varied + h) * self.iota) + math.sqrt(h**7 * 15) * self.iota / t
        return min(self.c * first, self.c * math.sqrt(h**3 * self.iota / t))

    def observe(self, h, step):
        key, ahead = (h, step.state, step.action), self.value(h + 1, step.successor)
        if step.ended:
            ahead = self.rest * (self.horizon - 1 - h)
        seen = self.ahead.setdefault(key, [])
        seen.append(ahead)
        t = len(seen)
        bonus = self.c * math.sqrt(self.horizon**3 * self.iota / t)
        if self.by_bernstein:
            bonus = self.beta(seen, t) / 2.0
            if t > 1:
                bonus = self.beta(seen, t) - (1.0 - self.rate(t)) * self.beta(seen, t - 1)
                bonus /= 2.0 * self.rate(t)
        self.targets.setdefault(key, []).append(step.reward + ahead + bonus)


@pytest.mark.parametrize("kind", [QLearningUCBH, QLearningUCBB])
@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_values_and_choices_are_those_of_a_slow_twin(kind, models):
    agent = ao.agents.Pooled(kind(0.05), 6, failure=0.3, rewards="unknown")
    agent.begin(Setting(5, 3, models.rewards, 60, rest=models.rest))
    iota = math.log(15 * 60 * 6 / 0.1)
    slow = SlowUcbQ(6, iota, 0.05, kind is QLearningUCBB, models.rest)
    for k in range(60):
        before = agent.kept.known[0].own["q"].copy() if k else np.full((6, 15), 6.0)
        for h, step in enumerate(play(agent, models[0], k % 4, k)):
            values = before[h].reshape(5, 3)[step.state]
            assert values[step.action] == values.max()
            slow.observe(h, step)
        q = agent.kept.known[0].own["q"].reshape(6, 5, 3)
        assert q == pytest.approx(np.array([[[slow.q(h, s, a) for a in range(3)] for s in range(5)] for h in range(6)]))


def test_weights_of_the_visits_are_those_of_the_paper():
    """With the twin's rates, which the kernel was compared with: identities of the paper, and their golden values."""
    slow = SlowUcbQ(3, 1.0, 1.0, False, 0.0)

    def weights(t):
        left, out = 1.0, []
        for i in range(t, 0, -1):
            out.append(left * slow.rate(i))
            left *= 1.0 - slow.rate(i)
        return np.array(out[::-1])

    assert weights(50).sum() == pytest.approx(1.0)
    assert (weights(50) / np.sqrt(np.arange(1, 51))).sum() == pytest.approx(0.161459, abs=1e-6)
    assert weights(50).max() <= 2 * 3 / 50
    assert sum(weights(t)[3] for t in range(4, 4000)) == pytest.approx(1.33333, abs=1e-4)


def test_the_bonus_by_bernstein_is_never_above_that_by_hoeffding():
    for t in (1, 10, 10**4, 10**9):
        low = bernstein_beta(10, 15, t, 0.0, 0.0, 5.0, 1.0)
        assert low <= math.sqrt(10**3 * 5.0 / t)
        assert low <= bernstein_beta(10, 15, t, 5.0 * t, 50.0 * t, 5.0, 1.0)
    assert low < 0.4 * math.sqrt(10**3 * 5.0 / t)


@pytest.mark.parametrize("kind", [QLearningUCBH, QLearningUCBB])
def test_regret_of_one_world_falls(kind):
    agent = ao.agents.Pooled(kind(0.02), 8, failure=0.1)
    history = ao.run(agent, ao.ModelSet([MODELS[0]]), ao.streams.uniform(), 4000, seed=3, record=())
    best = MODELS[0].first_values(8)[history["start"]]
    lost = best - history.reward
    assert lost[-500:].mean() < 0.5 * lost[:500].mean()


def test_wider_rewards_bring_the_values_to_their_range():
    agent = ao.agents.Pooled(QLearningUCBB(0.05), 4, failure=0.1, rewards="unknown")
    ao.run(agent, MODELS, ao.streams.uniform(), 6, seed=1)
    own = {name: array.copy() for name, array in agent.kept.known[0].own.items()}
    agent.rescale_rewards(0.1, 0.5, 0.5)
    now, left = agent.kept.known[0].own, np.array([[4.0], [3.0], [2.0], [1.0]])
    assert now["q"] == pytest.approx(0.1 * own["q"] + 0.5 * left)
    seen, more = own["visits"] > 0, 0.5 * (left - 1.0)
    mean = own["moments"][0][seen] / own["visits"][seen]
    varied = own["moments"][1][seen] / own["visits"][seen] - mean**2
    moved = now["moments"][0][seen] / own["visits"][seen]
    assert moved == pytest.approx(0.1 * mean + np.broadcast_to(more, seen.shape)[seen])
    assert now["moments"][1][seen] / own["visits"][seen] - moved**2 == pytest.approx(0.01 * varied, abs=1e-9)


def test_bad_parameters_and_sizes_get_one_sentence():
    for kind in (QLearningUCBH, QLearningUCBB):
        with pytest.raises(ValueError, match="bonus_scale must be at least 0"):
            ao.agents.Pooled(kind(-0.5), 20, failure=0.1).begin(Setting(5, 3, MODELS.rewards, 5))

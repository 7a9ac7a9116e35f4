import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.planning import Transitions
from aomultirl.engine.random import streams
from aomultirl.learning.base import Share
from aomultirl.learning.euler import EULER, EulerLearning, StrongEuler, Widths, plan_between
from aomultirl.learning.ucbvi import estimate
from aomultirl.setting import Setting
from learning.test_ucbvi import table_of

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)


def slow_bounds(learner, counts, rewards, sums, plan, share, scale):
    """(Q, Up, Low) as the module has them, from counts (S, A, S); ``sums`` None where rewards are known.

    The plan, (H, S), says which of the best actions is taken where there are several.
    """
    n_states, n_actions, horizon = *counts.shape[:2], len(plan)
    q = np.zeros((horizon, n_states, n_actions))
    up, low = np.zeros((horizon + 1, n_states)), np.zeros((horizon + 1, n_states))
    p_1 = share.failure / 3.0
    for h in reversed(range(horizon)):
        for s in range(n_states):
            lows = []
            for a in range(n_actions):
                n = int(counts[s, a].sum())
                if n == 0:
                    q[h, s, a] = horizon - h
                    lows.append(0.0)
                    continue
                p, fewer = counts[s, a] / n, max(1, n - 1)
                d = math.sqrt(float(p @ (up[h + 1] - low[h + 1]) ** 2))
                if isinstance(learner, StrongEuler):
                    c = math.log(10.0 * (n_states * n_actions * horizon) ** 2 * n * share.models / p_1)
                    known, e = 8.0 * horizon * c / (3.0 * fewer), 8.0 * n_states * horizon * c / (3.0 * fewer)
                else:
                    t = share.episodes * share.steps
                    c = math.log(4.0 * n_states * n_actions * t * share.models / (p_1 / 7.0))
                    known = horizon * c / (3.0 * fewer)
                    e = (4.0 * horizon * c / 3.0 + horizon * math.sqrt(2.0 * c)) / n
                e += math.sqrt(2.0 * c / n) * d

                def b(values, p=p, c=c, n=n, known=known):
                    variance = float(p @ (values - p @ values) ** 2)
                    return math.sqrt(2.0 * variance * c / n) + known

                high = least = rewards[s, a]
                if sums is not None:
                    mean = sums[s, a] / n
                    width = math.sqrt(2.0 * c * mean * (1.0 - mean) / n) + 7.0 * c / (3.0 * fewer)
                    width = scale * (min(1.0, width) if isinstance(learner, StrongEuler) else width)
                    high, least = min(1.0, mean + width), max(0.0, mean - width)
                q[h, s, a] = min(horizon - h, high + float(p @ up[h + 1]) + scale * (b(up[h + 1]) + e))
                lows.append(max(0.0, least + float(p @ low[h + 1]) - scale * (b(low[h + 1]) + e)))
            action = plan[h, s]
            assert q[h, s, action] == pytest.approx(q[h, s].max())
            up[h, s], low[h, s] = q[h, s, action], lows[action]
    return q, up, low


@pytest.mark.parametrize("kind", [EULER, StrongEuler])
@pytest.mark.parametrize("told", ["known", "unknown"])
def test_bounds_are_those_of_a_slow_twin(kind, told):
    rng = np.random.default_rng(5)
    for trial in range(30):
        n_states, n_actions, horizon = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
        counts = rng.integers(0, 10 ** rng.integers(1, 7), (n_states, n_actions, n_states))
        counts[rng.random((n_states, n_actions)) < 0.2] = 0
        rewards, share, scale = rng.random((n_states, n_actions)), Share(0.3, 50, 2, horizon), 0.03
        sums = rewards * counts.sum(axis=2) if told == "unknown" else None
        setting = Setting(n_states, n_actions, rewards if sums is None else None, 50)
        learning, learned = EulerLearning(setting, kind(scale), horizon, share), estimate(n_states, table_of(counts))
        widths = learning.widths(learned, np.empty(0) if sums is None else sums.reshape(-1))
        plan, ends = np.zeros((horizon, n_states), np.int32), (learned.going_on, 0.0)
        q, up, low = plan_between(learned.transitions, widths, *ends, scale, streams(trial, 1)[0], plan)
        slow_q, slow_up, slow_low = slow_bounds(kind(), counts, rewards, sums, plan, share, scale)
        assert q.reshape(slow_q.shape) == pytest.approx(slow_q)
        assert up == pytest.approx(slow_up)
        assert low == pytest.approx(slow_low)


def test_golden_bounds():
    """n = 100, H = 3, c = 5, P = (.9, .1), Up = (1.2, 2), Low = (.5, 1), r = .5 known: Q 2.433862, Low .424598.

    The last step makes Up and Low what they are: there one pair of each state pays between Low and Up, for certain.
    """
    linear = EULER().linear(np.array([100]), 2, 3, np.array([5.0]))
    assert linear[0] == pytest.approx(3 * 5 / (3 * 99) + (4 * 5 + 3 * math.sqrt(10.0)) / 100)
    starts = np.array([0, 2, 4])
    world = Transitions(starts, np.array([0, 1, 0, 1], np.int32), np.array([0.9, 0.1, 0.9, 0.1]), np.empty((0, 0)))

    def bounds(high, low, linear):
        widths = Widths(high, low, np.full(2, 5.0), linear, np.full(2, 100))
        return plan_between(world, widths, np.ones(2), 0.0, 1.0, streams(0, 1)[0], np.zeros((2, 2), np.int32))

    # at the last of two steps Q = r + linear up to 1, so Up and Low are scaled to below 1; widths scale with them
    tenth = np.full(2, linear[0] / 10.0)
    q, up, low = bounds(np.array([0.12, 0.2]) - tenth, np.array([0.05, 0.1]) + tenth, tenth)
    assert up[1] == pytest.approx([0.12, 0.2])
    assert low[1] == pytest.approx([0.05, 0.1])
    above = q[0, 0] - (0.12 - tenth[0])
    assert 10.0 * above == pytest.approx(1.28 + 0.126400 + 0.527462, abs=1e-5)
    below = low[0, 0] - (0.05 + tenth[0])
    assert 10.0 * below == pytest.approx(0.424598 - 0.5, abs=1e-5)


@pytest.mark.parametrize("kind", [EULER, StrongEuler])
def test_the_optimum_is_between_the_bounds(kind):
    """After runs with the faithful widths, in each of 10; and the surplus of StrongEuler is never negative."""
    world, horizon = ao.ModelSet([MODELS[0]]), 6
    rows = world[0].transitions
    best = np.zeros((horizon + 1, 5))
    for h in reversed(range(horizon)):
        best[h] = (world.rewards + rows @ best[h + 1]).max(axis=1)
    for seed in range(10):
        agent = ao.agents.Pooled(kind(), horizon, failure=0.1)
        ao.run(agent, world, ao.streams.uniform(), 300, seed=seed, record=())
        known, learning = agent.kept.known[0], agent.learning
        learned = estimate(5, known.counts)
        widths, plan = learning.widths(learned, known.sums), np.zeros((horizon, 5), np.int32)
        q, up, low = plan_between(learned.transitions, widths, learned.going_on, 0.0, 1.0, streams(seed, 1)[0], plan)
        assert (up >= best - 1e-9).all()
        assert (low <= best + 1e-9).all()
        worth = np.zeros((horizon + 1, 5))
        for h in reversed(range(horizon)):
            chosen = (np.arange(5), plan[h])
            worth[h] = world.rewards[chosen] + rows[chosen] @ worth[h + 1]
        assert (low <= worth + 1e-9).all()
        for h in range(horizon):
            surplus = q[h].reshape(5, 3) - np.minimum(horizon - h, world.rewards + rows @ up[h + 1])
            assert surplus.min() >= -1e-9


def test_bad_parameters_get_one_sentence():
    for kind in (EULER, StrongEuler):
        with pytest.raises(ValueError, match="bonus_scale must be at least 0"):
            ao.agents.Pooled(kind(-0.5), 20, failure=0.1).begin(Setting(5, 3, MODELS.rewards, 5))

import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.learning.azar import plan_monotone
from aomultirl.learning.base import Share
from aomultirl.learning.ucbvi import estimate
from aomultirl.setting import Setting
from by_hand import play
from learning.test_ucbvi import GOLDEN_COUNTS, GOLDEN_L, GOLDEN_REWARDS, table_of

MODELS = ao.worlds.random_models(5, 3, 2, 3, 1.0, 4)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[4], rest=0.25) for world in MODELS)


def slow_plan(counts, rewards, before, logarithm, scale, occupied, going_on, rest):
    """Q and V as the module has them, from counts (S, A, S), one sum after the other; ``occupied`` None: Hoeffding."""
    horizon, n_states, n_actions = len(before), *rewards.shape
    q, values = np.zeros((horizon, n_states, n_actions)), np.zeros((horizon + 1, n_states))
    for h in reversed(range(horizon)):
        for s in range(n_states):
            for a in range(n_actions):
                n = int(counts[s, a].sum())
                if n == 0:
                    q[h, s, a] = min(before[h, s, a], horizon)
                    continue
                p, v = counts[s, a] / n, values[h + 1]
                bonus = 7.0 * horizon * logarithm / math.sqrt(n)
                if occupied is not None:
                    variance = float(p @ (v - p @ v) ** 2)
                    bonus = math.sqrt(8.0 * logarithm * variance / n) + 14.0 * horizon * logarithm / (3.0 * n)
                    if h < horizon - 1:
                        most = 100.0**2 * horizon**3 * n_states**2 * n_actions * logarithm**2
                        each = [min(most / m, horizon**2) if m else horizon**2 for m in occupied[h + 1].tolist()]
                        bonus += math.sqrt(8.0 / n * float(p @ np.array(each, float)))
                q[h, s, a] = min(before[h, s, a], horizon, rewards[s, a] + float(p @ v) + scale * bonus)
        ended = rest * (horizon - h)
        values[h] = going_on * q[h].max(axis=1) + (1.0 - going_on) * ended
    return q, values


def planned(counts, rewards, before, logarithm, scale, occupied, rest=0.0):
    learned = estimate(len(rewards), table_of(counts))
    q, plan = before.reshape(len(before), -1).copy(), np.zeros((len(before), len(rewards)), np.int32)
    given = np.empty((0, 0), np.int64) if occupied is None else occupied
    flat = np.ascontiguousarray(rewards).reshape(-1)
    values = plan_monotone(
        learned.transitions,
        flat,
        learned.visits.reshape(-1),
        learned.going_on,
        rest,
        logarithm,
        scale,
        given,
        streams(1, 1)[0],
        q,
        plan,
    )
    return q.reshape(before.shape), values, plan


@pytest.mark.parametrize("by_bernstein", [False, True])
def test_values_are_those_of_a_slow_twin(by_bernstein):
    rng = np.random.default_rng(8)
    for _ in range(40):
        n_states, n_actions, horizon = rng.integers(1, 5), rng.integers(1, 4), rng.integers(1, 6)
        counts = rng.integers(0, 10 ** rng.integers(1, 7), (n_states, n_actions, n_states))
        counts[rng.random((n_states, n_actions)) < 0.2] = 0
        rewards = rng.random((n_states, n_actions))
        before = rng.uniform(0.5, 1.5, (horizon, n_states, n_actions)) * horizon
        occupied = rng.integers(0, 10**9, (horizon, n_states)) * (rng.random((horizon, n_states)) < 0.8)
        given = occupied if by_bernstein else None
        told = counts, rewards, before, 5.0, 0.02, given
        q, values, plan = planned(*told)
        slow_q, slow_values = slow_plan(*told, np.ones(n_states), 0.0)
        assert q == pytest.approx(slow_q)
        assert values == pytest.approx(slow_values)
        taken = np.take_along_axis(q, plan[:, :, None].astype(int), axis=2)[:, :, 0]
        assert taken == pytest.approx(q.max(axis=2))


def test_golden_tables():
    """Those of the paper's UCBVI, whose numbers hold with M = 1, before any episode."""
    q, _, _ = planned(GOLDEN_COUNTS, GOLDEN_REWARDS, np.full((3, 2, 2), 3.0), GOLDEN_L, 1.0, None)
    assert q[0] == pytest.approx(np.array([[2.760962, 3], [3, 3]]), abs=1e-6)
    assert q[1] == pytest.approx(np.array([[1.136927, 2.413449], [3, 3]]), abs=1e-6)
    assert q[2] == pytest.approx(np.array([[0.288858, 0.608966], [1.36538, 3]]), abs=1e-6)


def test_golden_bonus_by_bernstein():
    """n = 1e6, P = (.9, .1), V = (1, 2), N' = (5e9, 2e10), H = 3: the three terms add up to 0.00311636."""
    counts = np.zeros((2, 2, 2), np.int64)
    counts[0, 0] = [900_000, 100_000]
    counts[:, 1], counts[1, 0] = [0, 10**15], [0, 10**15]  # known for certain, so that V is what rewards make it
    occupied = np.array([[0, 0], [0, 0], [5_000_000_000, 20_000_000_000]])
    rewards = np.zeros((2, 2))
    before = np.full((3, 2, 2), 3.0)
    before[2, 0], before[2, 1] = [1.0, 0.0], [2.0, 0.0]
    rewards[:, 0] = 3.0  # so that the clip decides V at the last step: 1 and 2
    q, values, _ = planned(counts, rewards, before, math.log(6000), 1.0, occupied)
    assert values[2].tolist() == [1.0, 2.0]
    rewards[0, 0] = 0.0
    before[2, 0] = [1.0, 1.0]
    rewards[0, 1] = 3.0
    q, values, _ = planned(counts, rewards, before, math.log(6000), 1.0, occupied)
    assert values[2].tolist() == [1.0, 2.0]
    assert q[1, 0, 0] - 1.1 == pytest.approx(0.0025027 + 0.00012179 + 0.00049187, abs=1e-7)


@pytest.mark.parametrize("learner", [ao.learning.UCBVICH(0.01), ao.learning.UCBVIBF(0.01)], ids=repr)
@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_values_never_rise(learner, models):
    agent = ao.agents.Pooled(learner, 12, failure=0.1)
    agent.begin(Setting(5, 3, models.rewards, 30, rest=models.rest))
    before = np.full((12, 15), 12.0)
    for k in range(30):
        play(agent, models[k % 2], k % 4, k)
        q = agent.kept.known[0].own["q"]
        assert (q <= before).all()
        before = q.copy()
    assert (before < 12.0).any()


def test_states_are_counted_by_the_step_at_which_they_were_met():
    agent = ao.agents.Pooled(ao.learning.UCBVIBF(0.01), 12, failure=0.1)
    ao.run(agent, ENDING, ao.streams.round_robin(start=[0, 1, 2] * 10), 30, seed=3)
    known = agent.kept.known[0]
    occupied, counts = known.own["occupied"], known.counts
    assert occupied[0].tolist() == [10, 10, 10, 0, 0]
    assert occupied.sum(axis=0).tolist() == np.asarray(estimate(5, counts).visits.sum(axis=1)).tolist()


def test_optimism_holds_in_runs_with_the_faithful_bonus():
    """Q is above the optimum everywhere, in each of 20 runs; p_1 = 0.1 / 3 would allow one to fail."""
    world = ao.ModelSet([MODELS[0]])
    best = slow_plan(np.zeros((5, 3, 5), int), world.rewards, np.zeros((6, 5, 3)), 1, 1, None, np.ones(5), 0.0)[0]
    for h in reversed(range(6)):
        ahead = np.zeros(5) if h == 5 else best[h + 1].max(axis=1)
        best[h] = world.rewards + world[0].transitions @ ahead
    for learner in (ao.learning.UCBVICH(), ao.learning.UCBVIBF(), ao.learning.UCBVICH(0.2)):
        for seed in range(20):
            agent = ao.agents.Pooled(learner, 6, failure=0.1)
            ao.run(agent, world, ao.streams.uniform(), 400, seed=seed, record=())
            assert (agent.kept.known[0].own["q"].reshape(6, 5, 3) >= best - 1e-9).all()


def test_wider_rewards_bring_the_values_to_their_range():
    agent = ao.agents.Pooled(ao.learning.UCBVICH(0.01), 4, failure=0.1, rewards="unknown")
    ao.run(agent, MODELS, ao.streams.uniform(), 3, seed=1)
    before = agent.kept.known[0].own["q"].copy()
    agent.rescale_rewards(0.1, 0.5, 0.5)
    left = np.array([[4.0], [3.0], [2.0], [1.0]])
    assert agent.kept.known[0].own["q"] == pytest.approx(0.1 * before + 0.5 * left)


def test_bad_parameters_and_sizes_get_one_sentence():
    with pytest.raises(ValueError, match="bonus_scale must be at least 0"):
        ao.learning.UCBVIBF(-1.0).begin(Setting(5, 3, None, 1), 10, Share(0.1, 1, 1, 10))
    with pytest.raises(ValueError, match=r"a table for every step and 15 pairs takes .* make horizon smaller"):
        ao.learning.UCBVIBF().begin(Setting(5, 3, None, 1), 10**14, Share(0.1, 1, 1, 10))

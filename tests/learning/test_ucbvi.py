import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.engine.counts import CountTable, find, insert
from aomultirl.engine.random import streams
from aomultirl.learning.ucbvi import UCBVI, Estimate, UCBVILearning, _plan, estimate
from aomultirl.setting import Setting
from aomultirl.theory.bounds import bonus_for

GOLDEN_L = math.log(6000)
GOLDEN_COUNTS = np.array([[[360_000, 40_000], [45_000, 45_000]], [[50_000, 200_000], [0, 0]]])
GOLDEN_REWARDS = np.array([[0.0, 0.0], [1.0, 1.0]])


def ucbvi(logarithm, bonus="paper", bonus_scale=1.0, cap="horizon"):
    """The learner in a run with this L; the sizes of the world come with the estimate."""
    return UCBVILearning(Setting(1, 1, None, 1), UCBVI(bonus, bonus_scale, cap), logarithm)


def put(table, pair, successor, visits):
    if insert(table.record, pair, successor):
        table.make_room()
    slot = find(table.record.heads, table.record.slots, np.uint64(pair), np.uint64(successor))
    table.record.slots[slot + np.uint64(1)] = visits


def table_of(counts):
    """The table that holds these counts, (S, A, S)."""
    counts = np.asarray(counts)
    flat = counts.reshape(-1, counts.shape[-1])
    table = CountTable(len(flat))
    for pair, successor in np.argwhere(flat).tolist():
        put(table, pair, successor, flat[pair, successor])
    return table


def dense(learned):
    """The empirical transitions, (S, A, S)."""
    n_states, n_actions = learned.visits.shape
    out = np.zeros((n_states * n_actions, n_states))
    starts, states, probs, _ = learned.transitions
    out[np.repeat(np.arange(len(out)), np.diff(starts)), states] = probs
    return out.reshape(n_states, n_actions, n_states)


def slow_q(counts, rewards, horizon, bonus, caps):
    """Q as ALGORITHMS has it, (H, S, A), one addition after the other; ``bonus`` maps n to b(n), None is greedy."""
    n_states, n_actions = rewards.shape
    q = np.zeros((horizon, n_states, n_actions))
    following = [0.0] * n_states
    for h in reversed(range(horizon)):
        for s in range(n_states):
            for a in range(n_actions):
                n = int(counts[s, a].sum())
                expected = 0.0
                for successor in range(n_states):
                    if counts[s, a, successor] > 0:
                        expected += int(counts[s, a, successor]) / n * following[successor]
                if bonus is None:
                    q[h, s, a] = rewards[s, a] + expected
                elif n == 0:
                    q[h, s, a] = caps[h]
                else:
                    q[h, s, a] = min(caps[h], rewards[s, a] + bonus(n) + expected)
        following = [float(row.max()) for row in q[h]]
    return q


def assert_plan_takes_the_best(plan, q):
    """The unique best action; A where all are tied; one of the tied otherwise."""
    assert plan.dtype == np.int32
    assert plan.shape == q.shape[:2]
    n_actions = q.shape[2]
    for h, s in np.ndindex(plan.shape):
        tied = np.flatnonzero(q[h, s] == q[h, s].max()).tolist()
        if len(tied) == n_actions > 1:
            assert plan[h, s] == n_actions
        else:
            assert plan[h, s] in tied


@st.composite
def samples(draw):
    """(counts (S, A, S), rewards (S, A)): small numbers, so that ties happen; some pairs never visited."""
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = draw(st.sampled_from([1, 3, 1000]))
    counts = rng.integers(0, most, (n_states, n_actions, n_states), endpoint=True)
    counts[rng.random((n_states, n_actions)) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = 0
    rewards = rng.integers(0, 2, (n_states, n_actions), endpoint=True) / 2
    return counts, rewards


@pytest.mark.parametrize(
    ("cap", "q", "plan"),
    [
        (
            "horizon",
            [[[2.760962, 3], [3, 3]], [[1.136927, 2.413449], [3, 3]], [[0.288858, 0.608966], [1.36538, 3]]],
            [[1, 2], [1, 2], [1, 1]],
        ),
        (
            "remaining",
            [[[1.760962, 2.315691], [3, 3]], [[0.936927, 1.413449], [2, 2]], [[0.288858, 0.608966], [1, 1]]],
            [[1, 2], [1, 2], [1, 2]],
        ),
    ],
)
def test_golden_tables(cap, q, plan):
    learner, learned = ucbvi(GOLDEN_L, cap=cap), estimate(2, table_of(GOLDEN_COUNTS))
    assert learned.visits.tolist() == [[400_000, 90_000], [250_000, 0]]
    gains = GOLDEN_REWARDS + 7 * 3 * GOLDEN_L / np.sqrt([[400_000, 90_000], [250_000, 1]])
    gains[1, 1] = np.inf
    values, chosen = np.zeros((4, 2)), np.zeros((3, 2), np.int32)
    ends = learned.going_on, 0.0
    _plan(learned.transitions, gains.reshape(-1), learner.caps(3), *ends, streams(0, 1)[0], values, chosen)
    assert values[:3] == pytest.approx(np.max(q, axis=2), abs=5e-7)
    assert (values[3] == 0).all()
    found = np.minimum(learner.caps(3)[:, None, None], gains + (dense(learned) @ values[1:].T).transpose(2, 0, 1))
    assert found == pytest.approx(np.array(q), abs=5e-7)
    assert chosen.tolist() == plan
    assert learner.optimistic(learned, GOLDEN_REWARDS, 3, streams(0, 1)[0]).tolist() == plan


@pytest.mark.parametrize("cap", ["horizon", "remaining"])
def test_slow_twin_gives_the_golden_tables_too(cap):
    learner = ucbvi(GOLDEN_L, cap=cap)
    q = slow_q(GOLDEN_COUNTS, GOLDEN_REWARDS, 3, lambda n: 7 * 3 * GOLDEN_L / math.sqrt(n), learner.caps(3))
    first = [[2.760962, 3], [3, 3]] if cap == "horizon" else [[1.760962, 2.315691], [3, 3]]
    assert q[0] == pytest.approx(np.array(first), abs=5e-7)


@settings(deadline=None, max_examples=100)
@given(
    samples(),
    st.integers(1, 6),
    st.sampled_from(["paper", "released"]),
    st.sampled_from(["horizon", "remaining"]),
    st.sampled_from([0.0, 0.001, 0.01, 0.1, 1.0]),
    st.integers(0, 10**6),
)
def test_optimistic_equals_slow_twin(sample, horizon, bonus, cap, scale, seed):
    counts, rewards = sample
    learner = ucbvi(5.0, bonus, scale, cap)
    caps = [float(horizon if cap == "horizon" else horizon - h) for h in range(horizon)]
    assert learner.caps(horizon).tolist() == caps
    q = slow_q(counts, rewards, horizon, lambda n: scale * bonus_for(np.array(n), horizon, 5.0, bonus), caps)
    before = rewards.copy()
    plan = learner.optimistic(estimate(len(rewards), table_of(counts)), rewards, horizon, streams(seed, 1)[0])
    assert np.array_equal(rewards, before)
    if plan.ndim == 1:
        plan = np.tile(plan, (horizon, 1))
    assert_plan_takes_the_best(plan, q)


@settings(deadline=None, max_examples=80)
@given(samples(), st.integers(0, 6), st.integers(0, 10**6))
def test_greedy_equals_slow_twin(sample, horizon, seed):
    counts, rewards = sample
    learned = estimate(len(rewards), table_of(counts))
    plan = ucbvi(5.0).greedy(learned, rewards, horizon, streams(seed, 1)[0])
    assert_plan_takes_the_best(plan, slow_q(counts, rewards, horizon, None, None))


def test_greedy_takes_unvisited_pairs_to_lead_nowhere():
    """Action 0 earns 0.4 a step for ever; action 1 earns 0.9 once, and what follows is not known."""
    counts = np.array([[[5], [0]]])
    rewards = np.array([[0.4, 0.9]])
    plan = ucbvi(5.0).greedy(estimate(1, table_of(counts)), rewards, 5, streams(0, 1)[0])
    assert plan[:, 0].tolist() == [0, 0, 0, 0, 1]


@settings(deadline=None, max_examples=80)
@given(
    samples(), st.integers(1, 5), st.sampled_from(["horizon", "remaining"]), st.floats(0.0, 8.0), st.integers(0, 10**6)
)
def test_planning_nothing_equals_planning_everything(sample, horizon, cap, scale, seed):
    counts, rewards = sample
    n_states, n_actions = rewards.shape
    learner, learned = ucbvi(1.0, cap=cap, bonus_scale=scale), estimate(n_states, table_of(counts))
    plan = learner.optimistic(learned, rewards, horizon, streams(seed, 1)[0])
    extra = bonus_for(np.maximum(learned.visits, 1), horizon, 1.0, "paper")
    gains = np.where(learned.visits > 0, rewards + scale * extra, np.inf)
    full = learner._planned(learned, gains, learner.caps(horizon), streams(seed, 1)[0])
    if gains.min() >= horizon:
        assert plan.tolist() == [n_actions if n_actions > 1 else 0] * n_states
        assert (full == plan).all()
    else:
        assert np.array_equal(plan, full)


BONUSES = {
    "paper": lambda n, horizon, log: 7.0 * horizon * log / math.sqrt(n),
    "released": lambda n, horizon, log: horizon * math.sqrt(2.0 * horizon * log / n) + 2.0 * horizon * log / (3.0 * n),
}


@pytest.mark.parametrize("bonus", ["paper", "released"])
@pytest.mark.parametrize("visits", [(1, 2), (4, 100), (50, 51), (1000, 10**9)])
@pytest.mark.parametrize("horizon", [1, 3])
def test_bonus_makes_up_for_so_much_reward_and_no_more(bonus, visits, horizon):
    """One state, two actions: the less visited one is taken as long as the other earns less than the bonuses differ."""
    few, many = (BONUSES[bonus](n, horizon, 2.0) for n in visits)
    scale = 0.5 / few
    learned = estimate(1, table_of(np.array(visits).reshape(1, 2, 1)))
    for excess, action in ((-1e-9, 0), (1e-9, 1)):
        rewards = np.array([[0.0, scale * (few - many) + excess]])
        plan = ucbvi(2.0, bonus, scale).optimistic(learned, rewards, horizon, streams(0, 1)[0])
        assert plan[horizon - 1].tolist() == [action]


@pytest.mark.parametrize(("bonus", "most"), [("paper", 24_490), ("released", 8_972)])
def test_the_papers_experiment_acts_at_random_up_to_so_many_visits_a_pair(bonus, most):
    """S = 16, A = 4, K = 200, H = 200, M = 4, p_1 = 0.01: the bonus is below H only for n > 49 L^2.

    The first term of the released bonus is below H for n > 8,943, both together for n > 8,972.
    """
    log = math.log(5 * 16 * 4 * 200 * 200 * 4 / 0.01)
    rewards, stream = np.zeros((16, 4)), streams(0, 1)[0]
    assert BONUSES[bonus](most, 200, log) >= 200.0 > BONUSES[bonus](most + 1, 200, log)

    def plan_after(n):
        counts = np.zeros((16, 4, 16), np.int64)
        counts[..., 0] = n
        return ucbvi(log, bonus).optimistic(estimate(16, table_of(counts)), rewards, 200, stream)

    assert plan_after(most).tolist() == [4] * 16
    assert plan_after(most + 1).shape == (200, 16)


def test_no_steps_no_plan():
    learned, rewards = estimate(2, table_of(GOLDEN_COUNTS)), GOLDEN_REWARDS
    assert ucbvi(1.0).optimistic(learned, rewards, 0, streams(0, 1)[0]).shape == (2,)
    assert ucbvi(1.0).greedy(learned, rewards, 0, streams(0, 1)[0]).shape == (0, 2)


@pytest.mark.parametrize("kind", ["greedy", "optimistic"])
def test_partial_ties_are_broken_uniformly_and_each_on_its_own(kind):
    """Chi-square of each choice and of neighbours together; the seed is fixed, the false-alarm rate 0.1 % each."""
    n_states, horizon = 3000, 4
    rewards = np.tile([1.0, 1.0, 0.0, 1.0], (n_states, 1))
    table = CountTable(n_states * 4)
    if kind == "optimistic":  # the last step only: before it, all actions reach the cap
        for s in range(n_states):
            put(table, 4 * s + 2, 0, 10**6)
    learned = estimate(n_states, table)
    plan = getattr(ucbvi(1.0, bonus_scale=0.01), kind)(learned, rewards, horizon, streams(5, 1)[0])
    assert plan.shape == (horizon, n_states)
    chosen = plan if kind == "greedy" else plan[horizon - 1 :]
    assert stats.chisquare(np.bincount(chosen.reshape(-1), minlength=4)[[0, 1, 3]]).pvalue > 1e-3
    assert (chosen != 2).all()
    together = np.bincount((4 * chosen[:, :-1] + chosen[:, 1:]).reshape(-1), minlength=16).reshape(4, 4)
    assert stats.chi2_contingency(together[np.ix_([0, 1, 3], [0, 1, 3])]).pvalue > 1e-3


def test_same_stream_same_plan():
    learned, rewards = estimate(40, table_of(np.zeros((40, 3, 40), int))), np.tile([1.0, 1.0, 0.0], (40, 1))
    plans = [ucbvi(1.0).greedy(learned, rewards, 5, streams(seed, 1)[0]) for seed in (1, 1, 2)]
    assert np.array_equal(plans[0], plans[1])
    assert not np.array_equal(plans[0], plans[2])


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 10**6))
def test_estimate_is_of_all_tables_together(n_states, n_actions, n_tables, unvisited, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n_tables, n_states, n_actions, n_states))
    counts[:, rng.random((n_states, n_actions)) < unvisited] = 0
    tables = [table_of(one) for one in counts]
    before = [tuple(part.tolist() for part in table.to_lists()) for table in tables]
    learned = estimate(n_states, *tables)
    total = counts.sum(axis=0)
    assert isinstance(learned, Estimate)
    assert learned.visits.tolist() == total.sum(axis=2).tolist()
    assert np.array_equal(dense(learned), total / np.maximum(total.sum(axis=2, keepdims=True), 1))
    assert [tuple(part.tolist() for part in table.to_lists()) for table in tables] == before


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_unknown_rewards_are_their_means_and_hoeffdings_radius(scale):
    """min{1, mean + scale sqrt(L / (2 n))} at L = 3; n = 1 where nobody has been."""
    learner = UCBVILearning(Setting(1, 4, None, 1), UCBVI(bonus_scale=scale), 3.0)
    learned = estimate(1, table_of([[[50], [200], [1], [0]]]))
    upper = learner.upper_rewards(learned, np.array([10.0, 120.0, 0.5, 0.0]))
    wanted = [0.2 + scale * math.sqrt(0.03), 0.6 + scale * math.sqrt(0.0075), 1.0, min(1.0, scale * math.sqrt(1.5))]
    assert upper.tolist() == [pytest.approx(wanted)]


def test_estimate_of_one_state_and_one_action():
    assert estimate(1, table_of([[[0]]])).visits.tolist() == [[0]]
    learned = estimate(1, table_of([[[7]]]), table_of([[[2]]]))
    assert (learned.visits.tolist(), dense(learned).tolist()) == ([[9]], [[[1.0]]])
    for learner in (ucbvi(1.0), ucbvi(1.0, bonus_scale=0.0)):
        plan = learner.optimistic(learned, np.array([[0.5]]), 3, streams(0, 1)[0])
        assert (plan == 0).all()

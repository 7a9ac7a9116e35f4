"""Worlds are drawn from the posterior that the module states, and planned in as dense value iteration would.

Statistical tests have fixed seeds, and bounds of five standard errors.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.learning.posterior import DrawnWorld, coin_flips, draw_world, earlier, plan_in

NOBODY = np.zeros((3, 0))
KNOWN = np.zeros(0)
"""In place of rewards that were watched, and of their sums, where they are known."""
DRAWS = 4000


def table_of(visits, ends=()):
    table = CountTable(visits.shape[0] * visits.shape[1])
    for s, a, s2 in np.argwhere(visits).tolist():
        table.count(s * visits.shape[1] + a, s2, int(visits[s, a, s2]))
    for state, times in dict(ends).items():
        table.end(state, times)
    return table


def dense(world, n_states):
    rows = np.zeros((len(world.starts) - 1, n_states))
    for pair in range(len(rows)):
        for i in range(world.starts[pair], world.starts[pair + 1]):
            rows[pair, world.states[i]] += world.probs[i]
    return rows


def drawn(before, now, rewards, prior=0.7, reward_prior=0.5, sums=KNOWN, watched=NOBODY, ends=(), seed=0):
    """Many worlds from what was seen before and now: visits (S, A, S) each."""
    stream = streams(seed, 1)[0]
    n_states = len(before)
    earned = np.zeros(len(sums))
    old = earlier(table_of(before, ends), n_states, earned, np.zeros((3, len(sums))))
    record = table_of(now).record
    return [draw_world(old, record, rewards, sums, watched, prior, reward_prior, stream) for _ in range(DRAWS)]


def test_rows_have_the_means_and_variances_of_the_dirichlet_posterior():
    before, now = np.zeros((3, 1, 3), int), np.zeros((3, 1, 3), int)
    before[0, 0] = [4, 0, 2]
    now[0, 0], now[1, 0] = [1, 0, 0], [0, 3, 0]
    rows = np.array([dense(world, 3) for world in drawn(before, now, np.ones(3))])
    assert rows.sum(axis=2) == pytest.approx(1.0)
    for row, seen in ((0, [5, 0, 2]), (1, [0, 3, 0]), (2, [0, 0, 0])):
        alpha = np.array(seen) + 0.7 / 3
        unseen = np.array(seen) == 0
        # The remainder goes to one state drawn from all, so that its mean is spread over all of them.
        shares = stats.beta(alpha, alpha.sum() - alpha)
        mean = np.where(unseen, 0.0, shares.mean()) + shares.mean()[unseen].sum() / 3
        error = 5 * rows[:, row].std(axis=0) / np.sqrt(DRAWS) + 1e-9
        assert (np.abs(rows[:, row].mean(axis=0) - mean) < error).all()
    share = rows[:, 1, 1]
    pure = share[(rows[:, 1] > 0).sum(axis=1) == 2]  # the remainder went elsewhere
    assert stats.kstest(pure, stats.beta(3 + 0.7 / 3, 1.4 / 3).cdf).pvalue > 1e-4


def test_a_row_costs_one_number_more_than_its_successors():
    before = np.zeros((5, 2, 5), int)
    before[0, 0] = [1, 1, 0, 0, 0]
    before[1, 0] = 1
    world = drawn(before, np.zeros((5, 2, 5), int), np.ones(10))[0]
    assert np.diff(world.starts).tolist() == [3, 1, 5, 1, 1, 1, 1, 1, 1, 1]
    assert world.visits.tolist() == [2, 0, 5, 0, 0, 0, 0, 0, 0, 0]


def test_ends_are_drawn_once_there_are_any():
    visits = np.zeros((3, 1, 3), int)
    visits[0, 0] = [6, 0, 0]
    nothing = np.zeros_like(visits)
    assert all((world.going_on == 1.0).all() for world in drawn(visits, nothing, np.ones(3))[:50])
    going = np.array([world.going_on for world in drawn(visits, nothing, np.ones(3), ends={0: 2, 1: 3})])
    for state, (went_on, ended) in enumerate([(6, 2), (0, 3), (0, 0)]):
        assert stats.kstest(going[:, state], stats.beta(0.35 + went_on, 0.35 + ended).cdf).pvalue > 1e-4


def test_unknown_rewards_are_coins_that_count_more_where_they_vary_less():
    visits = np.zeros((2, 1, 2), int)
    visits[0, 0] = [0, 8]
    sums, same = np.array([2.0, 0.0]), np.array([[8.0, 0.0], [2.0, 0.0], [0.5, 0.0]])
    coins = np.array(
        [w.rewards for w in drawn(np.zeros_like(visits), visits, np.empty(0), sums=sums, watched=np.zeros((3, 2)))]
    )
    assert stats.kstest(coins[:, 0], stats.beta(0.25 + 2, 0.25 + 6).cdf).pvalue > 1e-4
    assert stats.kstest(coins[:, 1], stats.beta(0.25, 0.25).cdf).pvalue > 1e-4
    known = np.array([w.rewards for w in drawn(np.zeros_like(visits), visits, np.empty(0), sums=sums, watched=same)])
    assert stats.kstest(known[:, 0], stats.beta(0.25 + 18, 0.25 + 54).cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("watched", "flips"),
    [((0.0, 0.0, 0.0), 8.0), ((8.0, 2.0, 2.0), 8.0), ((8.0, 2.0, 0.5), 72.0), ((8.0, 0.0, 0.0), 72.0)],
)
def test_golden_flips(watched, flips):
    """Eight rewards of mean 1/4: not watched, coins, always 1/4, and always the same; variances 3/16, 3/16, 0 and 0."""
    assert coin_flips(8.0, 0.25, *watched) == pytest.approx(flips)
    assert coin_flips(8.0, 0.0, *watched) == 8.0


@st.composite
def drawn_worlds(draw):
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = rng.integers(1, n_states + 1, n_states * n_actions)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    states = np.concatenate([rng.permutation(n_states)[:length] for length in lengths]).astype(np.int32)
    probs = np.concatenate([rng.dirichlet(np.ones(length)) for length in lengths])
    going_on = np.where(rng.random(n_states) < 0.4, rng.random(n_states), 1.0)
    rewards = rng.random(n_states * n_actions)
    return DrawnWorld(starts, states, probs, rewards, going_on, np.zeros(n_states * n_actions, np.int64))


@settings(deadline=None, max_examples=60)
@given(drawn_worlds(), st.floats(0.0, 1.0))
def test_plans_are_those_of_dense_value_iteration(world, rest):
    n_states, discount = len(world.going_on), 0.9
    model, rewards = dense(world, n_states).reshape(n_states, -1, n_states), world.rewards.reshape(n_states, -1)
    values = np.zeros(n_states)
    for _ in range(400):
        q = rewards + discount * model @ values
        values = world.going_on * q.max(axis=1) + (1 - world.going_on) * rest / (1 - discount)
    found = np.zeros(n_states)
    plan = plan_in(world, rest, discount, 400, found)
    assert found == pytest.approx(values, abs=2e-3)
    assert q[np.arange(n_states), plan] == pytest.approx(q.max(axis=1), abs=2e-3)

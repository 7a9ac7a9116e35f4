import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from aomultirl.learning.row_likelihoods import (
    BORROWED,
    END,
    HALF,
    LEAST_END_SPREAD,
    LEAST_SHARED,
    LEAST_SPREAD,
    MOST_SHARED,
    MOST_SPREAD,
    REWARD,
    ROUNDS,
    STILL,
    TRANSITION,
    fit_sharing,
    fit_spreads,
    ln_joint,
    ln_mixture,
    ln_ml,
    ln_ml_of_sum,
    probability_shared,
    weigh_rows,
)
from counted_worlds import several_worlds, slow_alpha, slow_ln_ml, slow_row_joint, slow_rows

rows_of_counts = st.lists(st.integers(0, 9), min_size=1, max_size=5)
spreads = st.floats(0.05, 50.0)


def padded(counts, around=2):
    """A row in the middle of others that are not asked for."""
    return np.concatenate((np.full(around, 7.0), np.asarray(counts, float), np.full(around, 3.0)))


@settings(deadline=None)
@given(rows_of_counts, spreads)
def test_ln_ml_is_the_dirichlet_marginal_likelihood(counts, theta):
    alpha = np.full(len(counts), theta / len(counts))
    found = ln_ml(padded(counts), padded(alpha), theta, 2, 2 + len(counts))
    assert found == pytest.approx(slow_ln_ml(counts, alpha), abs=1e-9)


@settings(deadline=None)
@given(rows_of_counts, spreads, st.randoms(use_true_random=False))
def test_ln_ml_is_the_product_of_what_each_visit_was_predicted_with_in_any_order(counts, theta, random):
    alpha = np.full(len(counts), theta / len(counts))
    visits = [p for p, times in enumerate(counts) for _ in range(times)]
    random.shuffle(visits)
    total, seen = 0.0, np.zeros(len(counts))
    for place in visits:
        total += math.log((seen[place] + alpha[place]) / (seen.sum() + theta))
        seen[place] += 1
    assert ln_ml(np.asarray(counts, float), alpha, theta, 0, len(counts)) == pytest.approx(total, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0.0, 9.0)), min_size=1, max_size=5), spreads)
def test_ln_ml_of_a_sum(both, theta):
    one, two = np.array(both, float).T
    alpha = np.full(len(one), theta / len(one))
    found = ln_ml_of_sum(padded(one), padded(two), padded(alpha), theta, 2, 2 + len(one))
    assert found == pytest.approx(slow_ln_ml(one + two, alpha), abs=1e-9)


def test_the_likelihoods_of_all_rows_of_so_many_visits_sum_to_one():
    """Three outcomes, four visits, with the number of orders that each row has."""
    alpha, total = np.array([0.2, 0.2, 0.2]), 0.0
    for counts in itertools.product(range(5), repeat=3):
        if sum(counts) == 4:
            orders = math.factorial(4) / math.prod(map(math.factorial, counts))
            total += orders * math.exp(ln_ml(np.array(counts, float), alpha, 0.6, 0, 3))
    assert total == pytest.approx(1.0)


@settings(deadline=None)
@given(st.floats(0.02, 0.98), st.floats(-900.0, 0.0), st.floats(-900.0, 0.0))
def test_mixtures_of_likelihoods_too_small_for_floats(rho, together, apart):
    slow = np.logaddexp(math.log(rho) + together, math.log1p(-rho) + apart)
    assert ln_mixture(rho, together, apart) == pytest.approx(slow, abs=1e-9)
    sigma = math.exp(math.log(rho) + together - slow)
    assert probability_shared(rho, together, apart) == pytest.approx(sigma, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_rows_are_weighed_as_by_brute_force(case):
    """ln ML of each world's rows and of all together, sigma, and the joint likelihood, on random worlds."""
    rows, layout = case.rows, case.rows.layout
    own, together = np.full((rows.count, len(rows.theta)), np.nan), np.full(len(rows.theta), np.nan)
    weigh_rows(layout.first, rows.counts, rows.pooled, rows.theta, rows.alpha, own, together)
    dense = [slow_rows(layout, world) for world in case.worlds]
    joint = 0.0
    for x in range(len(layout.kinds)):
        alpha, counts = slow_alpha(rows, x), [world[x] for world in dense]
        assert own[:, x] == pytest.approx([slow_ln_ml(row, alpha) for row in counts], abs=1e-8)
        assert together[x] == pytest.approx(slow_ln_ml(np.sum(counts, axis=0), alpha), abs=1e-8)
        j, sigma = slow_row_joint(rows, x, counts)
        joint += j
        shared = probability_shared(rows.shared[layout.kinds[x]], together[x], own[:, x].sum())
        assert shared == pytest.approx(sigma, abs=1e-8)
    sizes = case.rng.integers(1, 9, rows.count).astype(float)
    joint += sum(math.log(math.factorial(int(size) - 1)) for size in sizes)
    assert ln_joint(layout.kinds, own, together, rows.shared, sizes) == pytest.approx(joint, abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1), st.data())
def test_an_episode_has_the_likelihood_of_the_module_docstring(case, data):
    """exp of the difference of two J is sigma ML(D + e) / ML(D) + (1 - sigma) ML(d + e) / ML(d), row by row."""
    rows, layout = case.rows, case.rows.layout
    episode, w = slow_rows(layout, case.episode()), data.draw(st.integers(0, len(case.worlds)))
    for x in range(len(layout.kinds)):
        alpha = slow_alpha(rows, x)
        counts = [slow_rows(layout, world)[x] for world in case.worlds] + [np.zeros(len(alpha))]
        without, sigma = slow_row_joint(rows, x, counts)
        pooled = np.sum(counts, axis=0)
        alike = math.exp(slow_ln_ml(pooled + episode[x], alpha) - slow_ln_ml(pooled, alpha))
        own = math.exp(slow_ln_ml(counts[w] + episode[x], alpha) - slow_ln_ml(counts[w], alpha))
        counts[w] = counts[w] + episode[x]
        assert slow_row_joint(rows, x, counts)[0] - without == pytest.approx(
            math.log(sigma * alike + (1.0 - sigma) * own), abs=1e-8
        )


def drawn_rows(rng, n_rows, kind, share, visits=60, width=4, worlds=3, concentration=1.0):
    """(first, kinds, counts): rows of some worlds, of which about ``share`` are the same in all."""
    counts = np.zeros((worlds, n_rows, width))
    for x in range(n_rows):
        probs = rng.dirichlet(np.full(width, concentration), worlds)
        if rng.random() < share:
            probs[:] = probs[0]
        for w in range(worlds):
            counts[w, x] = rng.multinomial(visits, probs[w])
    return np.arange(n_rows + 1) * width, np.full(n_rows, kind, np.int8), counts.reshape(worlds, -1)


def weighed(first, kinds, counts):
    """(own, together) with theta = 2."""
    pooled, theta = counts.sum(axis=0), np.full(len(kinds), 2.0)
    alpha = np.repeat(np.where(kinds == REWARD, HALF, theta / np.diff(first)), np.diff(first))
    own, together = np.zeros((len(counts), len(kinds))), np.zeros(len(kinds))
    weigh_rows(first, counts, pooled, theta, alpha, own, together)
    return own, together


@pytest.mark.parametrize("kind", [TRANSITION, END, REWARD])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_how_many_rows_worlds_share_is_found(kind, share):
    """300 rows.  The true share of the sample is within 5 standard deviations of ``share``: false alarm below 1e-6.

    What the rows themselves leave in doubt adds less than 0.05, and 0.1 with two outcomes, which are more often alike.
    """
    width = 4 if kind == TRANSITION else 2
    first, kinds, counts = drawn_rows(np.random.default_rng(1), 300, kind, share, width=width, visits=200)
    shared = np.full(3, 0.5)
    fit_sharing(first, kinds, counts, *weighed(first, kinds, counts), shared)
    doubt = 0.05 if kind == TRANSITION else 0.1
    assert abs(shared[kind] - share) < 5.0 * math.sqrt(share * (1.0 - share) / 300) + doubt
    assert LEAST_SHARED <= shared[kind] <= MOST_SHARED
    others = [other for other in range(3) if other != kind]
    assert shared[others].tolist() == [0.5, 0.5], "of other kinds nothing was seen"


def test_rows_that_one_world_knows_say_nothing_about_sharing():
    first, kinds, counts = drawn_rows(np.random.default_rng(2), 40, TRANSITION, 0.0)
    counts[1:] = 0.0
    shared = np.array([0.3, 0.4, 0.5])
    fit_sharing(first, kinds, counts, *weighed(first, kinds, counts), shared)
    assert shared.tolist() == [0.5, 0.5, 0.5]


@settings(deadline=None, max_examples=30)
@given(several_worlds(least=2))
def test_sharing_is_found_by_expectation_and_maximisation(case):
    rows, layout = case.rows, case.rows.layout
    shared, slow = np.full(3, 0.5), np.full(3, 0.5)
    fit_sharing(layout.first, layout.kinds, rows.counts, rows.own, rows.together, shared)
    dense = [slow_rows(layout, world) for world in case.worlds]
    known = [sum(world[x].sum() > 0 for world in dense) >= 2 for x in range(len(layout.kinds))]
    for kind in range(3):
        of_kind = [x for x in range(len(layout.kinds)) if layout.kinds[x] == kind and known[x]]
        for _ in range(ROUNDS):
            old, before = slow[kind], slow[kind] / (1.0 - slow[kind])
            odds = [before * math.exp(rows.together[x] - rows.own[:, x].sum()) for x in of_kind]
            mean = (0.5 + sum(one / (1.0 + one) for one in odds)) / (1.0 + len(odds))
            slow[kind] = min(max(mean, 0.02), 0.98)
            if abs(slow[kind] - old) < STILL:
                break
    assert shared == pytest.approx(slow, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(several_worlds(least=1))
def test_spreads_solve_their_equations(case):
    """sum u = sum theta ln(1 + n / theta), over all rows, then for each with BORROWED visits as in the average row."""
    layout, theta = case.rows.layout, np.ones(len(case.rows.theta))
    fit_spreads(layout.first, layout.kinds, case.rows.counts, case.rows.pooled, theta)
    dense = [slow_rows(layout, world) for world in case.worlds]

    def root(excess):
        low, high = LEAST_SPREAD, MOST_SPREAD
        return low if excess(low) >= 0.0 else high if excess(high) <= 0.0 else brentq(excess, low, high)

    def expected(t, n):
        return t * math.log1p(n / t)

    for kind in (TRANSITION, END):
        of_kind = np.flatnonzero(layout.kinds == kind)
        seen = [world[x] for world in dense for x in of_kind if world[x].sum() > 0]
        found = sum((row > 0).sum() for row in seen)
        average = root(lambda t, seen=seen, found=found: sum(expected(t, row.sum()) for row in seen) - found)
        for x in of_kind:
            slow = max(average if seen else 1.0, LEAST_END_SPREAD)
            if kind == TRANSITION:
                pool, base = sum(world[x] for world in dense), average if seen else 1.0
                n, wanted = pool.sum(), (pool > 0).sum() + expected(base, BORROWED)
                slow = root(lambda t, n=n, wanted=wanted: expected(t, n) + expected(t, BORROWED) - wanted)
            assert theta[x] == pytest.approx(slow, rel=0.02)
    assert (theta[layout.kinds == REWARD] == 1.0).all()


def test_rows_that_always_lead_to_one_state_are_less_spread_than_others():
    """Three rows of 100 visits: one successor, three, and thirty; a fourth that nobody has visited is average."""
    width = 31
    counts = np.zeros((1, 4 * width))
    counts[0, 0] = 100
    counts[0, width : width + 3] = 40, 40, 20
    counts[0, 2 * width : 2 * width + 30] = 100 / 30
    theta = np.ones(4)
    fit_spreads(np.arange(5) * width, np.zeros(4, np.int8), counts, counts[0], theta)
    assert LEAST_SPREAD <= theta[0] < 0.5 < theta[1] < 2.0 < 8.0 < theta[2] < 40.0
    assert theta[1] < theta[3] < theta[2]


def test_no_row_is_so_surely_shared_that_nothing_could_show_the_contrary():
    """A row that three worlds have shown alike for ever: another outcome must still speak for another world."""
    assert probability_shared(0.98, 0.0, -5000.0) < 1.0
    assert ln_mixture(probability_shared(0.98, 0.0, -5000.0), -1068.0, -35.0) > -70.0

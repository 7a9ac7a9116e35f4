import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import betaln, gammaln

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.knowledge import knowledge
from aomultirl.learning import shared_rows as module
from aomultirl.learning.shared_rows import (
    ALPHA,
    BORROWED,
    ENOUGH,
    GUESS,
    LEAST_SPREAD,
    MOST_SHARED,
    MOST_SPREAD,
    REST,
    ROUNDS,
    THETA,
    share_rewards,
    share_rows,
)


@st.composite
def memories(draw, least=0):
    """Visits of C worlds, (C, S * A, S): some rows shared by design, some unvisited."""
    n_states, n_pairs = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    count = draw(st.integers(least, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(n_states, 0.5), (2, n_pairs))
    which = rng.integers(0, 2, (count, n_pairs))
    visits = rng.integers(0, draw(st.sampled_from([4, 40])), (count, n_pairs))
    seen = [[rng.multinomial(visits[c, p], rows[which[c, p], p]) for p in range(n_pairs)] for c in range(count)]
    return np.array(seen, np.int64).reshape(count, n_pairs, n_states)


def known_of(memory):
    _, n_pairs, n_states = memory.shape
    tables = []
    for seen in memory:
        tables.append(CountTable(n_pairs))
        for pair, s in np.argwhere(seen).tolist():
            tables[-1].count(pair, s, int(seen[pair, s]))
    return knowledge(tables, n_pairs, n_states)


def solved(excess):
    """The theta in its range where an increasing function is zero."""
    if excess(LEAST_SPREAD) >= 0.0:
        return LEAST_SPREAD
    return MOST_SPREAD if excess(MOST_SPREAD) <= 0.0 else brentq(excess, LEAST_SPREAD, MOST_SPREAD, xtol=1e-12)


def ln_ml(d, alpha, theta):
    """ln of the Dirichlet marginal likelihood of a row; the rest of theta is for what no world has shown."""
    return (gammaln(d + alpha) - gammaln(alpha)).sum() + gammaln(theta) - gammaln(d.sum() + theta)


def slow_spreads(memory):
    """theta of all rows together, and prior (3, S * A), from the equations of the module."""
    n_pairs = memory.shape[1]
    visits = memory.sum(axis=2)
    theta = solved(lambda t: sum(t * math.log1p(n / t) for n in visits.flat) - (memory > 0).sum())
    prior = np.zeros((3, n_pairs))
    for pair in range(n_pairs):
        shown, total = (memory[:, pair].sum(axis=0) > 0), visits[:, pair].sum()
        wanted = shown.sum() + theta * math.log1p(BORROWED / theta)
        own = solved(lambda t, n=total, w=wanted: t * (math.log1p(n / t) + math.log1p(BORROWED / t)) - w)
        rest = own * own / (total + own)
        prior[:, pair] = (own - rest) / max(1, shown.sum()), rest, own
    return theta, prior


def pairs_of_worlds(count):
    return [(w, j) for w in range(count) for j in range(w)]


@settings(deadline=None, max_examples=200)
@given(memories(least=1))
def test_spreads_are_the_roots(memory):
    """To the last bisection: 12 and 10 of ln(10,000)."""
    found, (theta, prior) = share_rows(known_of(memory)), slow_spreads(memory)
    assert math.log(found.spread / theta) == pytest.approx(0.0, abs=9.3 / 2**12)
    wide = 9.3 / 2**10 + 0.01  # the average theta that a row borrows from is off by its own last bisection
    assert np.log(found.prior[THETA] / prior[2]) == pytest.approx(np.zeros(len(prior[2])), abs=wide)
    shown = np.maximum(1, (memory.sum(axis=0) > 0).sum(axis=1))
    assert np.allclose(found.prior[ALPHA] * shown + found.prior[REST], found.prior[THETA])
    assert np.allclose(found.prior[REST], found.prior[THETA] ** 2 / (memory.sum(axis=(0, 2)) + found.prior[THETA]))


@settings(deadline=None, max_examples=200)
@given(memories(least=2), st.floats(0.1, 50.0))
def test_the_bayes_factor_is_that_of_marginal_likelihoods(memory, theta):
    for pair in range(memory.shape[1]):
        shown = memory[:, pair].sum(axis=0) > 0
        alpha = 0.9 * theta / max(1, shown.sum())
        one, other = memory[0, pair][shown], memory[1, pair][shown]
        slow = ln_ml(one + other, alpha, theta) - ln_ml(one, alpha, theta) - ln_ml(other, alpha, theta)
        fast = module._ln_same(np.append(one, 0), np.append(other, 0), one.sum(), other.sum(), theta, alpha)
        assert fast == pytest.approx(slow, abs=1e-8)


def slow_rho(ln_b, visits):
    """rho by expectation and maximisation, from ln B of the rows of every two worlds."""
    rho = 0.5
    for _ in range(ROUNDS):
        chances = [0.5]
        for w, j in pairs_of_worlds(len(visits)):
            for pair in range(visits.shape[1]):
                if min(visits[w, pair], visits[j, pair]) >= ENOUGH:
                    odds = rho * math.exp(ln_b[w, j, pair])
                    chances.append(odds / (1.0 - rho + odds))
        rho = min(sum(chances) / len(chances), MOST_SHARED)
    return rho


def slow_worth(rho, ln_b, visits, w, pair):
    """How many visits of each other world's row count for world w."""
    others = [j for j in range(len(visits)) if j != w and visits[j, pair] > 0]
    guess = min(rho / (1.0 - rho), GUESS) / max(1, len(others))
    return {j: min(visits[j, pair], guess * math.exp(min(ln_b[w, j, pair], 30.0))) for j in others}


@settings(deadline=None, max_examples=200)
@given(memories(least=1))
def test_rewards_are_shared_as_rows_of_two_outcomes(memory):
    """The first successor earns, the others do not, so whole rewards are rows of two outcomes; and parts of rewards."""
    count, n_pairs, n_states = memory.shape
    visits, parts = memory.sum(axis=2), np.linspace(1.0, 0.0, n_states) if n_states > 1 else np.array([0.25])
    sums = memory @ parts
    found = share_rewards(sums, visits)
    ln_b = np.zeros((count + 1, count + 1, n_pairs))
    ml = lambda earned, n: betaln(earned + 0.5, n - earned + 0.5) - betaln(0.5, 0.5)  # noqa: E731
    for w, j in pairs_of_worlds(count):
        both = (visits[w] > 0) & (visits[j] > 0)
        together = ml(sums[w] + sums[j], visits[w] + visits[j])
        ln_b[w, j] = ln_b[j, w] = both * (together - ml(sums[w], visits[w]) - ml(sums[j], visits[j]))
    rho = slow_rho(ln_b, visits)
    assert found.shared == pytest.approx(rho)
    for w in range(count + 1):
        for pair in range(n_pairs):
            worths = slow_worth(rho, ln_b, visits, w, pair)
            mass = sum(worths.values()) + (visits[w, pair] if w < count else 0)
            earned = sum(worth * sums[j, pair] / visits[j, pair] for j, worth in worths.items())
            assert found.mass[w, pair] == pytest.approx(mass)
            assert found.sums[w, pair] == pytest.approx(earned + (sums[w, pair] if w < count else 0.0))


@settings(deadline=None, max_examples=200)
@given(memories(least=1))
def test_rows_are_shared_by_their_odds(memory):
    """rho by expectation and maximisation, and what each world's counts are worth to another, in plain loops."""
    count, n_pairs, _ = memory.shape
    visits, known = memory.sum(axis=2), known_of(memory)
    found = share_rows(known)
    ln_b = np.zeros((count + 1, count + 1, n_pairs))
    for w, j in pairs_of_worlds(count):
        for pair in range(n_pairs):
            if visits[w, pair] > 0 and visits[j, pair] > 0:
                shown = memory[:, pair].sum(axis=0) > 0
                one, other = memory[w, pair][shown], memory[j, pair][shown]
                alpha, _, theta = found.prior[:, pair]
                same = ln_ml(one + other, alpha, theta) - ln_ml(one, alpha, theta) - ln_ml(other, alpha, theta)
                ln_b[w, j, pair] = ln_b[j, w, pair] = same
    rho = slow_rho(ln_b, visits)
    assert found.shared == pytest.approx(rho)

    for w in range(count + 1):
        for pair in range(n_pairs):
            row = memory[w, pair].astype(float) if w < count else np.zeros(memory.shape[2])
            for j, worth in slow_worth(rho, ln_b, visits, w, pair).items():
                if worth > 0.01:
                    row += worth * memory[j, pair] / visits[j, pair]
            first, last = known.starts[pair], known.starts[pair + 1] - 1
            assert np.allclose(found.seen[w, first:last], row[known.states[first:last]])
            assert found.seen[w, last] == 0.0
            assert found.mass[w, pair] == pytest.approx(row.sum())


@settings(deadline=None)
@given(memories(least=1))
def test_own_counts_stay_and_guesses_are_worth_little(memory):
    found, visits = share_rows(known_of(memory)), memory.sum(axis=2)
    assert (found.mass[:-1] >= visits - 1e-9).all()
    assert (found.mass <= visits.sum(axis=0) + 1e-9).all()
    assert (found.mass[-1] <= GUESS + 1e-9).all()
    unknown = visits == 0
    assert (found.mass[:-1][unknown] <= GUESS + 1e-9).all()


def test_worlds_that_share_a_row_learn_from_each_other_and_others_do_not():
    memory = np.zeros((2, 20, 4), np.int64)
    memory[:, :10] = [300, 100, 0, 0]
    memory[0, 10:], memory[1, 10:] = [300, 100, 0, 0], [0, 100, 300, 0]
    found = share_rows(known_of(memory))
    assert (found.mass[:2, :10] > 430.0).all()  # a well-tested guess: B = 45
    assert found.mass[:2, 10:] == pytest.approx(np.full((2, 10), 400.0))
    assert found.shared == pytest.approx(0.5, abs=0.05)


def test_worlds_that_share_nothing_are_soon_taken_for_such():
    memory = np.zeros((2, 40, 4), np.int64)
    memory[0], memory[1] = [300, 100, 0, 0], [0, 100, 300, 0]
    found = share_rows(known_of(memory))
    assert found.shared < 0.02
    assert (found.mass[-1] < 0.02).all()


def test_nobody_knows_anything():
    found = share_rows(known_of(np.zeros((0, 6, 3), np.int64)))
    assert found.seen.shape == (1, 6)
    assert not found.mass.any()
    assert (found.prior == 1.0).all()

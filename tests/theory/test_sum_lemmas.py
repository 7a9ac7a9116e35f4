"""The paper's lemmas about sums over visits, as properties (Appendices F and I; errata E11, E13).

Z_0, and Z_k = Z_{k-1} + z_k with 0 <= z_k <= H: visits of a pair before episode k and in it, from the first episode on
that began with H of them.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

ROOT = math.sqrt(2) + 1
ROUNDING = 1e-9


def before(start, visits):
    """Z_0, ..., Z_{n-1}."""
    return start + np.concatenate(([0], np.cumsum(visits)[:-1]))


@st.composite
def sequences(draw, whole=False, external=False):
    """(H, Z_0, z): Z_0 >= H, or 1 <= Z_0 <= 2H - 1 where external samples are added."""
    number = st.integers if whole else st.floats
    horizon = draw(number(1, 50))
    start = draw(number(1, 2 * horizon - 1) if external else number(horizon, 10 * horizon))
    visits = draw(st.lists(number(0, horizon), min_size=1, max_size=30))
    return horizon, start, np.array(visits)


@given(sequences())
def test_the_sum_over_roots(sequence):
    _, start, visits = sequence
    total = (visits / np.sqrt(before(start, visits))).sum()
    assert total <= ROOT * math.sqrt(start + visits.sum()) + ROUNDING


def test_the_sum_over_roots_needs_a_start_of_a_whole_episode():
    assert 100 / math.sqrt(1) > 4 * ROOT * math.sqrt(101)


@given(sequences(whole=True))
def test_the_harmonic_sum(sequence):
    """For whole numbers, not all of them zero."""
    _, start, visits = sequence
    assume(visits.any())
    total, gained = (visits / before(start, visits)).sum(), int(visits.sum())
    harmonic = sum(1 / j for j in range(1, gained + 1))
    assert total <= harmonic + ROUNDING
    assert harmonic <= math.log(gained) + 1 + ROUNDING


@given(sequences())
def test_the_harmonic_sum_without_restrictions(sequence):
    """For any numbers: 1 + ln of the growth, which the use in the paper needs no more than."""
    _, start, visits = sequence
    total = (visits / before(start, visits)).sum()
    assert total <= 1 + math.log((start + visits.sum()) / start) + ROUNDING


def test_the_harmonic_sum_as_printed_fails_for_fractions_and_for_no_visits():
    """ "Any sequence of numbers": half a visit has an empty harmonic sum; none has ln 0 on the right."""
    start, visits = 1.0, 0.5
    assert visits / start > sum(1 / j for j in range(1, int(visits) + 1))
    with np.errstate(divide="ignore"):
        assert np.log(0.0) + 1 < 0.0


@st.composite
def runs(draw):
    """(H, visits): every episode spreads H visits over the pairs, (K, pairs)."""
    episodes, pairs, horizon = draw(st.integers(1, 25)), draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = rng.dirichlet(np.full(pairs, draw(st.sampled_from([0.2, 1.0]))), episodes)
    return horizon, rng.multinomial(horizon, shares)


@given(runs())
def test_sums_over_all_pairs_and_episodes(run):
    """The terms (b) and (c) of UCBVI-CH, for every way to spread visits."""
    horizon, visits = run
    episodes, pairs = visits.shape
    earlier = np.cumsum(visits, axis=0) - visits
    typical = earlier >= horizon
    seen = np.maximum(earlier, 1)
    roots = (visits * typical / np.sqrt(seen)).sum()
    shares = (visits * typical / seen).sum()
    assert roots <= ROOT * math.sqrt(pairs * episodes * horizon) + ROUNDING
    assert shares <= pairs * math.log(episodes * horizon) + pairs + ROUNDING


# -- external samples -------------------------------------------------------------------------------------


@given(sequences(external=True), st.integers(0, 60))
def test_every_term_shrinks_with_external_samples(sequence, extra):
    """And the factor falls with the episodes, so that of the first one serves for all (E11: no root at f(1))."""
    horizon, start, visits = sequence
    k, seen = np.arange(1, len(visits) + 1), before(start, visits)
    factor = ((k + 1) * horizon - 1) / (k * extra + (k + 1) * horizon - 1)
    assert (visits / (k * extra + seen) <= factor * visits / seen + ROUNDING).all()
    assert (visits / np.sqrt(k * extra + seen) <= np.sqrt(factor) * visits / np.sqrt(seen) + ROUNDING).all()
    assert (np.diff(factor) <= ROUNDING).all()
    assert factor[0] == pytest.approx((2 * horizon - 1) / (extra + 2 * horizon - 1))


@given(sequences(external=True), st.integers(1, 60))
def test_the_sums_shrink_as_repaired(sequence, extra):
    """E11: the right-most sum is that without external samples."""
    horizon, start, visits = sequence
    k, seen = np.arange(1, len(visits) + 1), before(start, visits)
    less = (2 * horizon - 1) / (extra + 2 * horizon - 1)
    shared, single = (visits / np.sqrt(k * extra + seen)).sum(), (visits / np.sqrt(seen)).sum()
    assert shared <= math.sqrt(less) * single + ROUNDING
    assert (visits / (k * extra + seen)).sum() <= less * (visits / seen).sum() + ROUNDING


@given(runs(), st.integers(0, 60))
def test_sums_over_all_pairs_shrink_with_external_samples(run, extra):
    """The same terms where every pair has N more samples before each episode, typical without them."""
    horizon, visits = run
    episodes, pairs = visits.shape
    earlier = np.cumsum(visits, axis=0) - visits
    typical = earlier >= horizon
    seen = np.maximum(earlier, 1) + extra * np.arange(1, episodes + 1)[:, None]
    less = (2 * horizon - 1) / (extra + 2 * horizon - 1)
    roots = (visits * typical / np.sqrt(seen)).sum()
    shares = (visits * typical / seen).sum()
    assert roots <= math.sqrt(less) * ROOT * math.sqrt(pairs * episodes * horizon) + ROUNDING
    assert shares <= less * (pairs * math.log(episodes * horizon) + pairs) + ROUNDING


def test_the_sums_do_not_shrink_as_printed():
    """E11: the chain of the corollary ends below both of its other sums where that too has external samples."""
    horizon, extra, visits = 5, 3, np.array([5, 5, 5])
    k, seen = np.arange(1, 4), before(9, visits)
    shared, single = visits / np.sqrt(k * extra + seen), visits / np.sqrt(seen)
    factors = np.sqrt(((k + 1) * horizon - 1) / (k * extra + (k + 1) * horizon - 1))
    left, middle = shared.sum(), (factors * single).sum()
    printed, repaired = math.sqrt(9 / 12) * shared.sum(), math.sqrt(9 / 12) * single.sum()
    assert [left, middle, printed, repaired] == pytest.approx([3.50632, 3.50632, 3.03656, 3.59405], abs=1e-5)
    assert printed < min(left, middle)
    assert repaired > max(left, middle)


@given(runs(), st.integers(0, 20))
def test_episodes_with_a_rare_pair_are_few_where_external_samples_count(run, extra):
    """E13: at most S A H / (N + 1), if what makes a pair rare is less than H samples of both kinds."""
    horizon, visits = run
    episodes, pairs = visits.shape
    earlier = np.cumsum(visits, axis=0) - visits
    rare = (visits > 0) & (earlier + np.arange(1, episodes + 1)[:, None] * extra < horizon)
    assert rare.any(axis=1).sum() <= pairs * horizon / (extra + 1)


def test_episodes_with_a_rare_pair_are_many_where_external_samples_do_not_count():
    """E13: the printed indicator looks at the visits alone; one visit an episode makes H rare ones, whatever N is."""
    horizon, extra, visits = 10, 4, np.ones(30, int)
    earlier = np.cumsum(visits) - visits
    assert (earlier < horizon).sum() == horizon > horizon / (extra + 1)

"""The paper's lemmas about sums over visits, as properties (Appendices F and I; errata E11, E13, E31, E32).

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


@given(sequences(external=True), st.integers(0, 60), st.floats(1e-6, 1.0))
def test_every_term_shrinks_with_external_samples(sequence, extra, less):
    """And the factor falls with the episodes, so that of the first one serves for all (E11: no root at f(1)).

    For every Z_0 above 0 and at most 2H - 1, not only from 1 on (E32).
    """
    horizon, start, visits = sequence
    start = start * less
    k, seen = np.arange(1, len(visits) + 1), before(start, visits)
    factor = ((k + 1) * horizon - 1) / (k * extra + (k + 1) * horizon - 1)
    assert (visits / (k * extra + seen) <= factor * visits / seen + ROUNDING).all()
    assert (visits / np.sqrt(k * extra + seen) <= np.sqrt(factor) * visits / np.sqrt(seen) + ROUNDING).all()
    assert (np.diff(factor) <= ROUNDING).all()
    assert factor[0] == pytest.approx((2 * horizon - 1) / (extra + 2 * horizon - 1))


def test_a_start_of_nothing_leaves_terms_that_are_not_defined():
    """E32: Lemma 38 asks for no more than Z_0 <= 2H - 1; at 0 its right side is 0 / 0, below that a root of less."""
    for start, visits in ((0.0, 0.0), (-0.5, 1.0)):
        with np.errstate(invalid="ignore"):
            assert np.isnan(np.float64(visits) / np.sqrt(np.float64(start)))
        assert 1 * 1 + start > 0  # the left side is, with N = 1 in the first episode


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
    """The same terms where every pair has N more samples before each episode, and the indicator is the printed one.

    Visits alone make an episode typical here, as in Lemma 40 and Corollary 42; ln(K H) is below L_N.
    """
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


def together(visits, extra):
    """N_i(s, a) + i N: the samples of both kinds before each episode, (K, pairs)."""
    return np.cumsum(visits, axis=0) - visits + np.arange(1, len(visits) + 1)[:, None] * extra


def shares_of_the_repaired_bounds(horizon, visits, extra):
    """What episodes with a rare pair, (b) and (c) are of their bounds, with one indicator throughout (E13).

    A pair is rare where N_i + i N < H.  With ``less = (2H - 1) / (N + 2H - 1)`` and the least L_N, that of p = 1, the
    bounds are::

        S A H / (N + 1)        sqrt(less) (sqrt(2) + 1) sqrt(S A K H)        less (S A L_N + S A)
    """
    episodes, pairs = visits.shape
    samples = together(visits, extra)
    rare, typical = (visits > 0) & (samples < horizon), samples >= horizon
    less = (2 * horizon - 1) / (extra + 2 * horizon - 1)
    log = math.log(5 * pairs * episodes * (horizon + extra))
    seen = np.maximum(samples, 1)
    return (
        rare.any(axis=1).sum() / (pairs * horizon / (extra + 1)),
        (visits * typical / np.sqrt(seen)).sum() / (math.sqrt(less) * ROOT * math.sqrt(pairs * episodes * horizon)),
        (visits * typical / seen).sum() / (less * (pairs * log + pairs)),
    )


@given(runs(), st.integers(0, 60))
def test_one_indicator_that_counts_external_samples_serves_the_whole_proof(run, extra):
    """E13: few episodes have a rare pair, and (b) and (c) are as small as printed, all with N_i + i N >= H.

    Lemmas 31 and 33 ask for Z_0 >= H, which visits alone need not reach now.  For N = 0 they do; for N >= 1 a proof
    without these lemmas, for one pair, with n visits before episode i, v <= H in it, W = n + i N >= H, c for ``less``:

    (b) c W >= n, as in Lemma 38, and 2 c W >= n + v, the next test; so v / sqrt(W) = (sqrt(n + v) - sqrt(n)) times
    (sqrt(n + v) + sqrt(n)) / sqrt(W), and that is at most sqrt(c) (sqrt(2) + 1).  The differences add up to the root of
    all visits.

    (c) W grows by N + v, of which v is at most the share H / (N + H) <= c.  The sum of growth / W is at most
    ln(W_end / W_begin) + (largest growth) / W_begin <= ln(2 (K + 1)) + 2, as W_end <= (K + 1) (N + H) and
    W_begin >= max(N, H).  From K = 2 on that is at most L_N + 1; for K = 1 the sum is v / N <= H / N <= 2 c.
    """
    assert max(shares_of_the_repaired_bounds(*run, extra)) <= 1.0


@given(st.integers(1, 60), st.integers(1, 40), st.integers(1, 200), st.floats(0, 1), st.floats(0, 1))
def test_the_step_of_the_proof_with_one_indicator(horizon, episode, extra, part, share):
    """c W >= n and 2 c W >= n + v, wherever n <= (i - 1) H, v <= H and W = n + i N >= H."""
    earlier, visits = part * (episode - 1) * horizon, share * horizon
    samples = earlier + episode * extra
    assume(samples >= horizon)
    less = (2 * horizon - 1) / (extra + 2 * horizon - 1)
    assert less * samples >= earlier - ROUNDING
    assert 2 * less * samples >= earlier + visits - ROUNDING


def test_how_near_the_repaired_bounds_are():
    """E13: 0.78 and 0.79 are the worst of (b) and (c) in 25 episodes: one pair, one step, one external sample.

    60,000 cases drawn like these, with up to 25 episodes, 4 pairs, H of 12 and N of 60, had the same worst one.
    """
    worst = shares_of_the_repaired_bounds(1, np.ones((25, 1), int), 1)
    assert [round(share, 2) for share in worst] == [0.0, 0.78, 0.79]
    rng = np.random.default_rng(0)
    for _ in range(1000):
        episodes, pairs, horizon, extra = (int(rng.integers(1, most + 1)) for most in (25, 4, 12, 60))
        visits = rng.multinomial(horizon, rng.dirichlet(np.full(pairs, rng.choice([0.2, 1.0])), episodes))
        _, roots, shares = shares_of_the_repaired_bounds(horizon, visits, extra)
        assert roots <= worst[1]
        assert shares <= worst[2]


def test_with_one_indicator_the_harmonic_sum_needs_the_logarithm_of_the_theorem():
    """The ln(K H) that the proof of Lemma 34 has on the way to L does not bound (c): H = K = N = 1 gives 1, not 1/2."""
    visits = np.ones((1, 1), int)
    assert (visits / together(visits, 1)).sum() == 1.0 > 1 / 2 * (math.log(1 * 1) + 1)
    assert shares_of_the_repaired_bounds(1, visits, 1)[2] < 0.7


def test_episodes_with_a_rare_pair_are_many_where_external_samples_do_not_count():
    """E13: the printed indicator looks at the visits alone; one visit an episode makes H rare ones, whatever N is."""
    horizon, extra, visits = 10, 4, np.ones(30, int)
    earlier = np.cumsum(visits) - visits
    assert (earlier < horizon).sum() == horizon > horizon / (extra + 1)
    assert shares_of_the_repaired_bounds(horizon, visits[:, None], extra)[0] <= 1.0

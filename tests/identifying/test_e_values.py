import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.identifying.e_values import (
    LN_MOST,
    LN_SPARE,
    PATIENCE,
    SPARE,
    TRUST,
    Demand,
    Hits,
    certificate,
    gammas,
    interval_radius,
    ln_best,
    ln_best_apart,
    ln_half,
    ln_kt,
    ln_likelihood,
    ln_trusting,
    ln_whole,
    lower_bound,
)

TABLES = gammas(32)
"""So short that sizes beyond the tables are met too."""
AMPLE = gammas(1024)
NEVER = 1e9
"""A level at which no confidence bound says anything."""


@st.composite
def hits(draw, most=60):
    """(hits, visits)."""
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


gaps = st.sampled_from([0.05, 0.2, 0.35, 0.5, 0.65, 0.95])
shares = st.floats(0.0, 1.0)


def slow_kt(b, n):
    """KT as the product of its predictions, hits first."""
    value = Fraction(1)
    for i in range(n):
        value *= Fraction(2 * min(i, b) + 1, 2 * i + 2) if i < b else Fraction(2 * (i - b) + 1, 2 * i + 2)
    return value


def slow_likelihood(y, b, n):
    return Fraction(y) ** b * (1 - Fraction(y)) ** (n - b)


def ln_likelihoods(ys, b, n):
    """ln L_y(b, n) at an array of y."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (b * np.log(ys) if b else 0.0) + ((n - b) * np.log1p(-ys) if n > b else 0.0) + 0.0 * ys


def kl(p, q):
    if (p > 0 and q <= 0) or (p < 1 and q >= 1):
        return math.inf
    return (p * math.log(p / q) if p > 0 else 0.0) + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def slow_lower_bound(share, radius):
    """By bisection."""
    low, high = 0.0, share
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if kl(share, middle) <= radius else (middle, high)
    return high


@settings(deadline=None)
@given(st.integers(0, 100))
def test_gammas(n):
    assert ln_half(TABLES.half, n) == pytest.approx(math.lgamma(n + 0.5), abs=1e-11)
    assert ln_whole(TABLES.whole, n) == pytest.approx(math.lgamma(n + 1.0), abs=1e-11)


@settings(deadline=None)
@given(hits())
def test_kt_is_the_product_of_its_predictions(sample):
    assert ln_kt(TABLES, *sample) == pytest.approx(math.log(slow_kt(*sample)), abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_kt_is_a_distribution_of_sequences(n):
    total = sum(math.comb(n, b) * math.exp(ln_kt(TABLES, b, n)) for b in range(n + 1))
    assert total == pytest.approx(1.0)


@settings(deadline=None)
@given(shares, hits())
def test_likelihood(y, sample):
    slow = slow_likelihood(y, *sample)
    value = ln_likelihood(y, *sample)
    if slow == 0:
        assert value == -math.inf
    else:
        exact = math.log(slow.numerator) - math.log(slow.denominator)
        assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(hits(), shares)
def test_best_is_the_largest_likelihood(sample, y):
    b, n = sample
    assert ln_best(b, n) == pytest.approx(ln_likelihood(b / n, b, n), abs=1e-10)
    assert ln_likelihood(y, b, n) <= ln_best(b, n) + 1e-10


@settings(deadline=None, max_examples=300)
@given(shares, st.floats(1e-6, 20.0))
def test_lower_bound_never_passes_the_root(share, radius):
    root, got = slow_lower_bound(share, radius), lower_bound(share, radius)
    assert 0.0 <= got <= min(share, root + 1e-9)
    # Four steps of Newton's method leave little.
    assert got >= root - 2e-3


@settings(deadline=None)
@given(st.floats(0.02, 1.0), st.floats(0.02, 1.0))
def test_lower_bound_inverts_kl(one, other):
    share, y = max(one, other), min(one, other)
    radius = kl(share, y)
    if share - y > 1e-3 and math.isfinite(radius):
        assert lower_bound(share, radius) == pytest.approx(y, abs=2e-3)
        assert lower_bound(share, radius) <= y + 1e-9


def test_lower_bound_at_the_ends():
    assert lower_bound(0.0, 0.3) == 0.0
    assert lower_bound(1.0, 0.3) == pytest.approx(math.exp(-0.3))
    assert lower_bound(0.4, 1e4) == 0.0


@settings(deadline=None)
@given(hits(), st.floats(0.0, 20.0))
def test_interval_radius(sample, level):
    """The y that it admits are those at which KT / L_y has not reached exp(level)."""
    d, m = sample
    radius = interval_radius(TABLES, d, m, level)
    assert radius >= 0.0
    for y in np.linspace(0.0, 1.0, 41):
        reached = ln_kt(TABLES, d, m) - ln_likelihood(y, d, m)
        if abs(reached - level) > 1e-9:
            assert (kl(d / m, y) <= radius) == (reached < level)


@pytest.mark.parametrize("y", [0.0, 0.03, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.5, 1.5, 3.0])
def test_intervals_hold_at_all_times(y, level):
    """Exactly, over all paths of 300 visits: the chance that y is ever left out is at most exp(-level)."""
    inside = np.array([1.0])
    for m in range(1, 301):
        grown = np.zeros(m + 1)
        grown[1:] += y * inside
        grown[:-1] += (1.0 - y) * inside
        for d in np.flatnonzero(grown):
            if kl(d / m, y) > interval_radius(AMPLE, int(d), m, level):
                grown[d] = 0.0
        inside = grown
    left = 1.0 - inside.sum()
    assert left <= math.exp(-level) + 1e-9
    # The test can fail: most of what is allowed is used, where there is chance at all.
    assert left > 0.1 * math.exp(-level) or y in (0.0, 0.03)


@settings(deadline=None, max_examples=120)
@given(hits(), hits(300), gaps)
def test_best_apart_against_a_grid(here, before, h):
    b, n = here
    d, m = before
    got = ln_best_apart(b, n, d, m, h)
    ys = np.concatenate([np.linspace(0.0, 1.0 - h, 4001), np.geomspace(1e-9, 1.0 - h, 300)])
    ys = np.minimum(np.concatenate([ys, np.clip(1.0 - h - ys, 0.0, None)]), 1.0 - h)
    xs = np.maximum(np.minimum(ys + h, 1.0), b / n)  # the best x for each y
    grid = (ln_likelihoods(xs, b, n) + ln_likelihoods(ys, d, m)).max()
    assert got >= grid - 1e-9
    assert got <= grid + 1e-2
    assert ln_best_apart(b, n, d, m, 1.1) == -math.inf


def slow_trusting(b, n, d, m, h, pool):
    """The infimum over a fine grid of y, each with its worst x."""
    own, joint = ln_kt(TABLES, d, m), ln_kt(TABLES, b + d, n + m)
    ys = np.concatenate([np.linspace(0.0, 1.0 - h, 4001), np.geomspace(1e-9, 1.0 - h, 300)])
    ys = np.minimum(ys, 1.0 - h)
    trusts = np.maximum(math.log(TRUST), math.log((1.0 - TRUST) / pool) + own - ln_likelihoods(ys, d, m))
    xs = np.maximum(np.minimum(ys + h, 1.0), b / n)
    return (trusts + joint - own - ln_likelihoods(xs, b, n)).min()


@settings(deadline=None, max_examples=120)
@given(hits(), hits(300), gaps, st.sampled_from([1.0, 4.0, 200.0]))
def test_trusting_is_never_above_the_infimum(here, before, h, pool):
    b, n = here
    d, m = before
    own, joint = ln_kt(TABLES, d, m), ln_kt(TABLES, b + d, n + m)
    got = ln_trusting(Hits(b, n, d, m), h, pool, own, ln_best(d, m), joint)
    brute = slow_trusting(b, n, d, m, h, pool)
    assert got <= brute + 1e-3
    if brute > 0.0:  # where it is of any use, nothing is lost
        assert got >= brute - 2e-2


@settings(deadline=None, max_examples=120)
@given(hits(150), hits(300), gaps, st.sampled_from([1.0, 4.0, 200.0]), st.floats(1.0, 20.0), st.floats(0.0, 20.0))
def test_certificate_is_never_above_its_definition(here, before, h, pool, level, enough):
    b, n = here
    d, m = before
    got = certificate(TABLES, Hits(b, n, d, m), Demand(h, level, pool, enough))
    root = slow_lower_bound(d / m, interval_radius(TABLES, d, m, level))
    if root + h > 1.0 + 1e-6:
        return  # no world is left that differs so much
    first = slow_trusting(b, n, d, m, h, pool) + LN_MOST
    x = max(min(root + h, 1.0), b / n)
    second = ln_kt(TABLES, b + d, n + m) - ln_kt(TABLES, d, m) - ln_likelihood(x, b, n) + LN_SPARE
    assert got <= np.logaddexp(first, second) + 2e-3
    if max(first, second) == first and first > 0.0:
        assert got >= first - 2e-2
    if second >= enough + 1e-2 > first and n * h * h > PATIENCE and b <= x * n:
        assert got >= second - 1e-2


def test_certificate_is_infinite_where_no_world_differs():
    assert certificate(TABLES, Hits(9, 9, 200, 200), Demand(0.5, 5.0, 1.0, 3.0)) == math.inf
    assert certificate(TABLES, Hits(9, 9, 200, 200), Demand(0.5, NEVER, 1.0, 3.0)) < math.inf


def best_stopping(values, x):
    """The largest mean at any stopping time of at most n visits with chance x; values[n][b], no look at n = 0."""
    reached = np.asarray(values[-1])
    for row in reversed(values[1:-1]):
        reached = np.maximum(row, x * reached[1:] + (1.0 - x) * reached[:-1])
    return x * reached[1] + (1.0 - x) * reached[0]


def certificates(n, d, m, h, pool, e):
    return [[e(b, k, d, m, h, pool) for b in range(k + 1)] for k in range(n + 1)]


def ours(b, n, d, m, h, pool):
    """e_A without the event that the confidence bound holds."""
    return math.exp(certificate(AMPLE, Hits(b, n, d, m), Demand(h, NEVER, pool, NEVER))) if n else 1.0


def nominal(b, n, d, m, h, pool):
    """The Bayes factor that takes the cluster's share for the truth."""
    x = min(1.0, d / m + h)
    joint = ln_kt(AMPLE, b + d, n + m) - ln_kt(AMPLE, d, m)
    return math.exp(joint - ln_likelihood(max(x, b / n), b, n)) if n else 1.0


def worst_mean(e, y, h, least, most, n):
    """Mean of e_A if x = y + h, an adversary stops the cluster at any time in [least, most], then this episode."""
    worth = None
    for m in range(most, least - 1, -1):
        row = np.array([best_stopping(certificates(n, d, m, h, 1.0, e), y + h) for d in range(m + 1)])
        worth = row if worth is None else np.maximum(row, y * worth[1:] + (1.0 - y) * worth[:-1])
    chances = np.array([math.comb(least, d) * y**d * (1.0 - y) ** (least - d) for d in range(least + 1)])
    return float(chances @ worth)


@pytest.mark.parametrize(("h", "y"), [(0.65, 0.05), (0.65, 0.3), (0.35, 0.3), (0.35, 0.6), (0.5, 0.25)])
def test_certificate_has_a_mean_of_at_most_one_however_both_samples_are_stopped(h, y):
    """Exactly, by backward induction over both; nominal Bayes factors with young clusters are above 1."""
    assert worst_mean(ours, y, h, 8, 14, 8) <= 1.0
    assert worst_mean(nominal, y, h, 8, 14, 8) > 1.2


@pytest.mark.parametrize(("h", "y"), [(0.65, 0.15), (0.35, 0.3)])
@pytest.mark.parametrize("pool", [2, 6])
def test_certificate_pays_for_an_adversary_who_chooses_a_world_by_the_cluster(h, y, pool):
    """Exactly: ``pool`` worlds differ at a pair each, of m visits; the one with the largest mean is shown."""

    def mean(e):
        m = 12
        worth = np.array([best_stopping(certificates(8, d, m, h, float(pool), e), y + h) for d in range(m + 1)])
        chances = np.array([math.comb(m, d) * y**d * (1.0 - y) ** (m - d) for d in range(m + 1)])
        order = np.argsort(worth)
        below = np.cumsum(chances[order]) ** pool
        return float(np.diff(below, prepend=0.0) @ worth[order])

    assert mean(ours) <= 1.0
    assert mean(nominal) > 1.5


@pytest.mark.parametrize("y", [0.1, 0.4])
def test_spare_certificate_has_a_mean_of_at_most_one_where_the_bound_holds(y):
    """The second term alone, over SPARE: y0 is at most y, so it is at most BB / L_{y + h}."""
    h, m, level = 0.5, 15, 2.0
    for d in range(m + 1):
        bound = lower_bound(d / m, interval_radius(AMPLE, d, m, level))
        if bound <= y:

            def second(b, n, d, m, h, pool, x=bound + h):
                if n == 0 or b > x * n:
                    return 1.0 - (n > 0)
                return math.exp(ln_kt(AMPLE, b + d, n + m) - ln_kt(AMPLE, d, m) - ln_likelihood(x, b, n))

            assert best_stopping(certificates(20, d, m, h, 1.0, second), y + h) <= 1.0 + 1e-9
    assert math.exp(LN_SPARE) == pytest.approx(SPARE)

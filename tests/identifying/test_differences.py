import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.identifying.differences import FEW, differs
from aomultirl.identifying.e_values import (
    gammas,
    interval_radius,
    ln_best,
    ln_kt,
    ln_likelihood,
    lower_bound,
)
from aomultirl.identifying.knowledge import TwoRows
from aomultirl.identifying.sequential import event_weights

GAMMAS = gammas(1024)
WEIGHTS = event_weights(10)


def differ(here, seen, level, bound):
    """The kernel; here and seen with the novel place last."""
    here, seen = np.array(here, np.int64), np.array(seen, np.int64)
    return differs(GAMMAS, TwoRows(here, int(here.sum()), seen, int(seen.sum())), level, bound, WEIGHTS)


def ln_conditional(b, n, d, m, level):
    """KT(b) / sup over the interval of L(b)."""
    radius = interval_radius(GAMMAS, d, m, level)
    low, high = lower_bound(d / m, radius), 1.0 - lower_bound(1.0 - d / m, radius)
    return ln_kt(GAMMAS, b, n) - ln_likelihood(min(max(b / n, low), high), b, n)


def ln_joint(b, n, d, m):
    return ln_kt(GAMMAS, b, n) + ln_kt(GAMMAS, d, m) - ln_best(b + d, n + m)


def slow_differs(here, seen, level, bound):
    """(some event's evidence exceeds its bound, by how much it does or fails to)."""
    n, m, k = sum(here), sum(seen), len(here) - 1
    if n == 0 or m == 0:
        return False, math.inf
    if k <= FEW:
        events = [[i for i in range(k) if mask >> i & 1] for mask in range(1, 1 << k)]
    else:
        events = [[i for i in range(k) if sign * (here[i] * m - seen[i] * n) > 0] for sign in (1, -1)]
    most = -math.inf
    for event in filter(None, events):
        b, d, weight = sum(here[i] for i in event), sum(seen[i] for i in event), WEIGHTS[len(event)]
        family = k * math.log(2.0) if k <= FEW else weight
        most = max(most, ln_conditional(b, n, d, m, level + weight) - family, ln_joint(b, n, d, m) - weight)
    return most >= bound, abs(most - bound)


@st.composite
def pairs_of_rows(draw, most=8):
    """(here, seen), sampled from two worlds that may be one; the last place is novel."""
    k = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = rng.dirichlet(np.full(k, draw(st.sampled_from([0.3, 1.0]))))
    q = np.append(p, 0.0)
    if draw(st.booleans()):
        q = rng.dirichlet(np.full(k + 1, 0.3))
    return rng.multinomial(draw(st.integers(0, 80)), q).tolist(), [*rng.multinomial(draw(st.integers(0, 80)), p), 0]


@settings(deadline=None, max_examples=120)
@given(pairs_of_rows(), st.floats(0.0, 8.0), st.floats(0.0, 8.0))
def test_equals_brute_force_over_all_events(rows, level, bound):
    slow, margin = slow_differs(*rows, level, bound)
    if margin > 1e-6:
        assert differ(*rows, level, bound) == slow


def test_nothing_differs_without_samples():
    assert not differ([0, 0, 0], [5, 5, 0], 1.0, 0.0)
    assert not differ([5, 5, 0], [0, 0, 0], 1.0, 0.0)


def test_a_novel_successor_differs_from_what_was_always_seen():
    assert differ([0, 0, 30], [30, 30, 0], 3.0, 5.0)
    assert not differ([15, 15, 0], [30, 30, 0], 3.0, 5.0)


def best_stopping(values, y):
    """The largest mean at any stopping time; values[n][b]."""
    reached = np.asarray(values[-1])
    for row in reversed(values[:-1]):
        reached = np.maximum(row, y * reached[1:] + (1.0 - y) * reached[:-1])
    return float(reached[0])


@pytest.mark.parametrize("y", [0.05, 0.3, 0.5])
def test_both_have_a_mean_of_at_most_one_however_the_samples_are_stopped(y):
    """Exactly, by backward induction; the cluster's share in place of its interval is above 1."""
    m, n, level = 10, 14, 2.0
    chances = [math.comb(m, d) * y**d * (1.0 - y) ** (m - d) for d in range(m + 1)]

    def mean(e):
        means = []
        for d in range(m + 1):
            values = [[math.exp(e(b, k, d, m)) if k else 0.0 for b in range(k + 1)] for k in range(n + 1)]
            means.append(best_stopping(values, y))
        return float(np.dot(chances, means))

    def conditional(b, k, d, m):
        radius = interval_radius(GAMMAS, d, m, level)
        holds = lower_bound(d / m, radius) <= y <= 1.0 - lower_bound(1.0 - d / m, radius)
        return ln_conditional(b, k, d, m, level) if holds else -math.inf

    def nominal(b, k, d, m):
        return min(ln_kt(GAMMAS, b, k) - ln_likelihood(d / m, b, k), 50.0)

    assert mean(conditional) <= 1.0
    assert mean(ln_joint) <= 1.0
    assert mean(nominal) > 1.5


def alarms(runs, k, differing, rng):
    """Runs in which the same world, or for comparison the broken test, ever differs.

    The cluster stops when it looks odd, and the explorer goes on as long as it likes.
    """
    found = 0
    for _ in range(runs):
        p = rng.dirichlet(np.full(k, 0.5))
        seen = np.zeros(k + 1, np.int64)
        odd = rng.permutation(k)[: (k + 1) // 2]
        for state in rng.choice(k, 40, p=p):
            seen[state] += 1
            if seen.sum() >= 10 and seen[odd].sum() / seen.sum() - p[odd].sum() > 0.15:
                break
        here = np.zeros(k + 1, np.int64)
        for state in rng.choice(k, 60, p=p):
            here[state if seen[state] else k] += 1
            if differing(here, seen):
                found += 1
                break
    return found


@pytest.mark.parametrize("k", [4, *(pytest.param(k, marks=pytest.mark.long) for k in (5, 7))])
def test_false_alarms(k):
    """At most exp(-bound) for each kind and exp(-level) for the interval, together 0.3; false-alarm rate 0.1 %.

    The broken test, which trusts the cluster's shares, has more.
    """
    runs, share = 300, 0.1
    level = bound = -math.log(share)
    rng = np.random.default_rng(k)

    def ours(here, seen):
        return differs(GAMMAS, TwoRows(here, int(here.sum()), seen, int(seen.sum())), level, bound, WEIGHTS)

    def nominal(here, seen):
        n, m = here.sum(), seen.sum()
        smooth = (seen + 0.5) / (m + 0.5 * len(seen))
        blend = math.lgamma(0.5 * len(here)) - math.lgamma(n + 0.5 * len(here))
        blend += sum(math.lgamma(b + 0.5) - math.lgamma(0.5) for b in here)
        return blend - float(here @ np.log(smooth)) >= bound

    most = stats.binom.isf(1e-3, runs, 3.0 * share)
    assert alarms(runs, k, ours, rng) <= most
    assert alarms(runs, k, nominal, rng) > stats.binom.isf(1e-3, runs, share)

import math
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aomultirl.identifying.bets import LOSE, RATE, THETA, WIN, find_bet, find_bets, ln_wealth, ratio
from aomultirl.identifying.e_values import gammas, interval_radius, lower_bound
from aomultirl.identifying.knowledge import Knowledge, TwoRows
from aomultirl.identifying.sequential import event_weights

GAMMAS = gammas(1024)
WEIGHTS = event_weights(8)


def found(mine, rival, level):
    """(theta, ln of both factors, growth) of the kernel, for counts without the novel place."""
    out = np.full(4, np.nan)
    mine, rival = np.append(mine, 0).astype(np.int64), np.append(rival, 0).astype(np.int64)
    find_bet(GAMMAS, TwoRows(rival, int(rival.sum()), mine, int(mine.sum())), level, WEIGHTS, out)
    return out


def upper_bound(hits, n, level):
    return 1.0 - lower_bound(1.0 - hits / n, interval_radius(GAMMAS, hits, n, level))


def slow_bets(mine, rival, level, events):
    """{event: (q, u, rate)} for all events where q exceeds u."""
    n, m = sum(mine), sum(rival)
    bets = {}
    for event in events:
        hits, hits_rival = sum(mine[i] for i in event), sum(rival[i] for i in event)
        q, u = (hits_rival + 0.5) / (m + 1.0), upper_bound(hits, n, level + WEIGHTS[len(event)])
        if q > u:
            bets[event] = q, u, q * math.log(q / u) + (1.0 - q) * math.log((1.0 - q) / (1.0 - u))
    return bets


def threshold_events(mine, rival):
    """All successors at least so much likelier, for every ratio above 1; {event: ratio}."""
    ratios = [ratio(r, sum(rival), d, sum(mine)) for d, r in zip(mine, rival, strict=True)]
    return {tuple(i for i, r in enumerate(ratios) if r >= theta): theta for theta in ratios if theta > 1.0}


rows = st.integers(1, 5).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 40) | st.integers(0, 4000), min_size=k, max_size=k).filter(any)] * 2)
)
levels = st.floats(0.0, 8.0)


def test_ratio():
    assert ratio(0, 9, 0, 9) == -1.0
    assert ratio(0, 9, 3, 9) == 0.0
    assert ratio(3, 9, 0, 9) == math.inf
    assert ratio(3, 6, 2, 8) == 2.0


@settings(deadline=None, max_examples=120)
@given(rows, levels)
def test_finds_the_best_threshold_event(counts, level):
    mine, rival = counts
    events = threshold_events(mine, rival)
    bets = slow_bets(mine, rival, level, events)
    out = found(mine, rival, level)
    if not bets:
        assert out[RATE] == 0.0
        return
    best = max(bets, key=lambda event: bets[event][2])
    assert out[RATE] == pytest.approx(bets[best][2])
    chosen = next(event for event, theta in events.items() if theta == out[THETA])
    q, u, _ = bets[chosen]
    assert out[WIN] == pytest.approx(math.log(q / u))
    assert out[LOSE] == pytest.approx(math.log((1.0 - q) / (1.0 - u)))


@settings(deadline=None, max_examples=100)
@given(rows, st.floats(0.0, 3.0))
def test_no_bet_grows_faster_than_the_best_of_all_events(counts, level):
    mine, rival = counts
    k = len(mine)
    events = chain.from_iterable(combinations(range(k), size) for size in range(1, k + 1))
    bets = slow_bets(mine, rival, level, events)
    best = max((rate for _, _, rate in bets.values()), default=0.0)
    assert found(mine, rival, level)[RATE] <= best + 1e-12


@pytest.mark.parametrize(("mine", "rival"), [([0, 0], [5, 5]), ([5, 5], [0, 0]), ([7, 3], [7, 3])])
def test_no_bet_without_samples_or_differences(mine, rival):
    assert found(mine, rival, 1.0)[RATE] == 0.0


@settings(deadline=None)
@given(rows, levels, st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6))
def test_a_visit_in_the_clusters_world_has_a_mean_of_at_most_one(counts, level, chances):
    """For every world of the cluster with P_c(A) <= u: that is all that the confidence bound must give."""
    mine, rival = counts
    out = found(mine, rival, level)
    if out[RATE] > 0.0:
        p = np.array(chances[: len(mine)]) / sum(chances[: len(mine)])
        event = next(e for e, theta in threshold_events(mine, rival).items() if theta == out[THETA])
        u = upper_bound(sum(mine[i] for i in event), sum(mine), level + WEIGHTS[len(event)])
        for inside in {min(p[list(event)].sum(), u), u, 0.0}:
            assert inside * math.exp(out[WIN]) + (1.0 - inside) * math.exp(out[LOSE]) <= 1.0 + 1e-9


def test_bets_hold_on_random_worlds_and_nominal_ones_do_not():
    """Cluster and rival sampled anew 2,000 times, 12 to 60 visits; all exact but the draws of the clusters.

    The bound of a cluster fails with a chance of at most exp(-3), so the false-alarm rate is at most 0.1 %.  Taking the
    share d / n for u, visits have means above 1.
    """
    rng = np.random.default_rng(0)
    failed, nominal, total = 0, 0, 0
    for _ in range(2000):
        p, other = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        mine, rival = rng.multinomial(rng.integers(12, 61), p), rng.multinomial(40, other)
        out = found(mine, rival, 3.0)
        if out[RATE] > 0.0:
            total += 1
            theta = out[THETA]
            inside = [ratio(r, 40, d, mine.sum()) >= theta for d, r in zip(mine, rival, strict=True)]
            chance, q = p[inside].sum(), (rival[inside].sum() + 0.5) / 41.0
            failed += chance * math.exp(out[WIN]) + (1.0 - chance) * math.exp(out[LOSE]) > 1.0 + 1e-12
            share = (mine[inside].sum() + 0.5) / (mine.sum() + 1.0)
            nominal += chance * q / share + (1.0 - chance) * (1.0 - q) / (1.0 - share) > 1.0 + 1e-12
    assert total > 600
    assert failed <= stats.binom.isf(1e-3, 2000, math.exp(-3.0))
    assert nominal > 0.3 * total


def test_all_bets_of_a_pair():
    rng = np.random.default_rng(1)
    starts = np.array([0, 3, 8], np.int64)
    seen = rng.multinomial(60, rng.dirichlet(np.ones(8)), 3).astype(np.int64)
    seen[:, starts[1:] - 1] = 0
    visits = np.add.reduceat(seen, starts[:-1], axis=1)
    known = Knowledge(starts, np.zeros(8, np.int32), seen, visits)
    intervals, bets = np.array([1.0, 2.0, 3.0]), np.full((3, 3, 2, 4), 7.0)
    for pair, (first, last) in enumerate(pairwise(starts)):
        find_bets(GAMMAS, known, intervals, WEIGHTS, bets, pair)
        for c in range(3):
            assert (bets[c, c, pair] == 7.0).all()
            for rival in {0, 1, 2} - {c}:
                slow = found(seen[c, first : last - 1], seen[rival, first : last - 1], intervals[c])
                assert bets[c, rival, pair, RATE] == slow[RATE]
                if slow[RATE] > 0.0:
                    assert bets[c, rival, pair].tolist() == slow.tolist()


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(-5.0, 5.0))
def test_wealth_is_the_mean_over_rivals(seed, count, least):
    wealth = np.random.default_rng(seed).normal(0.0, 4.0, (count, count))
    for c in range(count):
        others = [math.exp(wealth[c, rival]) for rival in range(count) if rival != c]
        slow = math.log(sum(others) / len(others)) if others else -math.inf
        assert ln_wealth(wealth, c, -math.inf) == pytest.approx(slow)
        bounded = ln_wealth(wealth, c, least)
        assert bounded >= slow - 1e-12
        assert (bounded >= least) == (slow >= least) or abs(slow - least) < 1e-12

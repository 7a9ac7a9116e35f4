"""What is believed of the rows of each known world, when worlds may share rows.

Hidden worlds are often alike in most places.  With d_w and d_j the counts of one row in two worlds, the Bayes factor of
"the same distribution" against "two of their own" is

    B = ML(d_w + d_j) / (ML(d_w) ML(d_j)),     ML(d) = prod_i G(d_i + alpha_i) / G(alpha_i) * G(theta) / G(n + theta).

theta says how spread a row is.  It is learned from the numbers u of successors seen in n visits: sum u = sum theta
ln(1 + n / theta), first over all rows of all worlds, and then for each row alone, in all worlds together, with
BORROWED visits as in the average row.  Of a row's theta, the share theta / (N + theta) is for successors that no
world has shown in the N visits of all of them, and the rest is for those that one has, alike.

How often rows are shared at all, rho, is learned from the rows that two worlds know well, by a few rounds of
expectation and maximisation; so worlds that share nothing are soon taken for such.  With sigma = rho B / (1 - rho +
rho B) the counts of j are worth up to sigma / (1 - sigma) visits of the row of w: a guess is worth little, a
well-tested one all.  A world that nobody has met has no counts of its own.  An untested
guess, B = 1, is worth GUESS visits at most, all worlds together.  All this serves to act, never to prove.

Rewards that are not known are shared in the same way, each pair's being a row of two outcomes: of a reward r in [0, 1]
the part r is counted as earned and the part 1 - r as not, with alpha = HALF for either.  Of all rewards with the same
mean those that are 0 or 1 vary most, so evidence that is reckoned in this way errs towards too little.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import Knowledge

ALPHA, REST, THETA = range(3)
"""Rows of the prior."""
ROUNDS = 4
"""Rounds of expectation and maximisation for rho; more hardly move it."""
ENOUGH = 3
"""Visits of a row in both worlds for it to say anything about sharing."""
MOST_SHARED = 0.95
"""rho is at most this, so that no amount of shared rows makes a new one impossible."""
LEAST_SPREAD, MOST_SPREAD = 0.1, 1000.0
"""Where theta is looked for."""
BORROWED = 4.0
"""Visits as in the average row that every row's own theta borrows."""
HALF = 0.5
"""Alpha of a reward that is earned, and of one that is not: the prior of Jeffreys."""
GUESS = 1.0
"""Visits that a guess is worth at most, all worlds together: a new world must be looked at where it matters."""


class SharedRows(NamedTuple):
    """What is believed of the rows of C known worlds, and of a new one, which is the last.

    seen
        (C + 1, places), counts with those that are thought to be shared.
    mass
        (C + 1, S * A), their sums by pair.
    prior
        (3, S * A), ALPHA of a successor that some world has shown, of the REST together, and THETA.
    spread
        the theta of the average row.
    shared
        rho, how often two worlds share a row.
    """

    seen: NDArray[np.float64]
    mass: NDArray[np.float64]
    prior: NDArray[np.float64]
    spread: float
    shared: float


class SharedRewards(NamedTuple):
    """What is believed of the rewards of C known worlds, and of a new one, which is the last.

    sums
        (C + 1, S * A), rewards added up, with those that are thought to be shared.
    mass
        (C + 1, S * A), the visits that earned them.
    shared
        rho, how often the rewards of a pair are the same in two worlds.
    """

    sums: NDArray[np.float64]
    mass: NDArray[np.float64]
    shared: float


@kernel
def _spread(known: Knowledge) -> float:
    """The theta of the average row, by bisection of its logarithm."""
    seen, visits = known.seen, known.visits
    found = 0
    for c in range(len(seen)):
        for i in range(seen.shape[1]):
            found += seen[c, i] > 0
    low, high, spent = math.log(LEAST_SPREAD), math.log(MOST_SPREAD), 0
    for _ in range(12):
        theta = math.exp(0.5 * (low + high))
        expected = 0.0
        for c in range(len(visits)):
            for pair in range(visits.shape[1]):
                spent = serve_signals(spent, 16)
                if visits[c, pair] > 0:
                    expected += theta * math.log1p(visits[c, pair] / theta)
        if expected < found:
            low = math.log(theta)
        else:
            high = math.log(theta)
    return math.exp(0.5 * (low + high))


@kernel
def _spread_of(visits: int, distinct: int, average: float) -> float:
    """theta of one row."""
    wanted = distinct + average * math.log1p(BORROWED / average)
    low, high = math.log(LEAST_SPREAD), math.log(MOST_SPREAD)
    for _ in range(10):
        theta = math.exp(0.5 * (low + high))
        if theta * (math.log1p(visits / theta) + math.log1p(BORROWED / theta)) < wanted:
            low = math.log(theta)
        else:
            high = math.log(theta)
    return math.exp(0.5 * (low + high))


@kernel
def _ln_same(one: NDArray[np.int64], other: NDArray[np.int64], n: int, m: int, theta: float, alpha: float) -> float:
    """ln B of two rows."""
    total = math.lgamma(n + theta) + math.lgamma(m + theta) - math.lgamma(n + m + theta) - math.lgamma(theta)
    own = math.lgamma(alpha)
    for i in range(len(one)):
        if one[i] > 0 and other[i] > 0:
            x = math.lgamma(one[i] + other[i] + alpha)
            total += x - math.lgamma(one[i] + alpha) - math.lgamma(other[i] + alpha) + own
    return total


@kernel
def _how_often(factors: NDArray[np.float64], visits: NDArray[np.int64]) -> float:
    """rho, from ln B of the rows of every two worlds, (C, C, S * A)."""
    count, n_pairs = visits.shape
    shared, spent = 0.5, 0
    for _ in range(ROUNDS):
        same, looked = 0.5, 1.0
        for w in range(count):
            for j in range(w):
                for pair in range(n_pairs):
                    spent = serve_signals(spent, 16)
                    if min(visits[w, pair], visits[j, pair]) >= ENOUGH:
                        looked += 1.0
                        same += 1.0 / (1.0 + (1.0 - shared) / shared * math.exp(-factors[w, j, pair]))
        shared = min(same / looked, MOST_SHARED)
    return shared


@kernel
def _others(visits: NDArray[np.int64], world: int, pair: int) -> int:
    """How many other worlds have shown a pair."""
    others = 0
    for j in range(len(visits)):
        others += j != world and visits[j, pair] > 0
    return others


@kernel
def _scale(odds: float, factor: float, visits: int) -> float:
    """Which part of the visits of another world counts, by the odds that a row is shared and ln B of the two rows."""
    return min(1.0, odds * math.exp(min(factor, 30.0)) / visits)


@kernel
def ln_earned(earned: float, visits: float) -> float:
    """ln ML of rewards that add up to ``earned`` in so many visits, but for a constant."""
    return math.lgamma(earned + HALF) + math.lgamma(max(visits - earned, 0.0) + HALF) - math.lgamma(visits + 2.0 * HALF)


@kernel
def _share_rewards(sums: NDArray[np.float64], visits: NDArray[np.int64], rows: SharedRewards) -> float:
    """Fill in ``rows`` from the sums and visits of C worlds, (C, S * A); rho."""
    count, n_pairs = visits.shape
    factors, nothing, spent = np.zeros((count, count, n_pairs)), ln_earned(0.0, 0.0), 0
    for w in range(count):
        for j in range(w):
            for pair in range(n_pairs):
                n, m = visits[w, pair], visits[j, pair]
                if n > 0 and m > 0:
                    spent = serve_signals(spent, 256)
                    apart = ln_earned(sums[w, pair], n) + ln_earned(sums[j, pair], m) - nothing
                    together = ln_earned(sums[w, pair] + sums[j, pair], n + m)
                    factors[w, j, pair] = factors[j, w, pair] = together - apart
    shared = _how_often(factors, visits)
    odds = min(shared / (1.0 - shared), GUESS)
    for w in range(count + 1):
        for pair in range(n_pairs):
            spent = serve_signals(spent, 16 * count)
            if w < count:
                rows.sums[w, pair], rows.mass[w, pair] = sums[w, pair], visits[w, pair]
            others = _others(visits, w, pair)
            for j in range(count):
                m = visits[j, pair]
                if j != w and m > 0:
                    scale = _scale(odds / others, factors[w, j, pair] if w < count else 0.0, m)
                    rows.sums[w, pair] += scale * sums[j, pair]
                    rows.mass[w, pair] += scale * m
    return shared


@kernel
def _share(known: Knowledge, rows: SharedRows) -> float:
    """Fill in ``rows``, whose average theta is known; rho."""
    starts, seen, visits = known.starts, known.seen, known.visits
    out, mass, prior = rows.seen, rows.mass, rows.prior
    count, n_pairs = visits.shape
    factors = np.zeros((count, count, n_pairs))
    spent = 0
    for pair in range(n_pairs):
        spent = serve_signals(spent, 512)
        distinct, visited = starts[pair + 1] - starts[pair] - 1, visits[:, pair].sum()
        own = _spread_of(int(visited), distinct, rows.spread)
        prior[THETA, pair] = own
        prior[REST, pair] = own * own / (visited + own)
        prior[ALPHA, pair] = (own - prior[REST, pair]) / max(1, distinct)
    for w in range(count):
        for j in range(w):
            for pair in range(n_pairs):
                n, m = visits[w, pair], visits[j, pair]
                if n > 0 and m > 0:
                    a, b = starts[pair], starts[pair + 1]
                    spent = serve_signals(spent, 64 * (b - a))
                    factors[w, j, pair] = factors[j, w, pair] = _ln_same(
                        seen[w, a:b], seen[j, a:b], n, m, prior[THETA, pair], prior[ALPHA, pair]
                    )
    shared = _how_often(factors, visits)
    odds = min(shared / (1.0 - shared), GUESS)
    for w in range(count + 1):
        for pair in range(n_pairs):
            a, b = starts[pair], starts[pair + 1]
            spent = serve_signals(spent, count * (16 + b - a))
            if w < count:
                for i in range(a, b):
                    out[w, i] = seen[w, i]
                mass[w, pair] = visits[w, pair]
            others = _others(visits, w, pair)
            for j in range(count):
                m = visits[j, pair]
                if j != w and m > 0:
                    scale = _scale(odds / others, factors[w, j, pair] if w < count else 0.0, m)
                    if scale * m > 0.01:
                        for i in range(a, b):
                            out[w, i] += scale * seen[j, i]
                        mass[w, pair] += scale * m
    return shared


def share_rows(known: Knowledge) -> SharedRows:
    """What is believed of C worlds and of one more."""
    count, places = known.seen.shape
    seen, mass = np.zeros((count + 1, places)), np.zeros((count + 1, known.visits.shape[1]))
    prior = np.ones((3, known.visits.shape[1]))
    if count == 0:
        return SharedRows(seen, mass, prior, spread=1.0, shared=0.5)
    rows = SharedRows(seen, mass, prior, spread=_spread(known), shared=0.5)
    return rows._replace(shared=_share(known, rows))


def share_rewards(sums: NDArray[np.float64], visits: NDArray[np.int64]) -> SharedRewards:
    """What is believed of the rewards of C worlds and of one more, from their sums and visits, (C, S * A)."""
    count, n_pairs = visits.shape
    rows = SharedRewards(np.zeros((count + 1, n_pairs)), np.zeros((count + 1, n_pairs)), 0.5)
    return rows if count == 0 else rows._replace(shared=_share_rewards(sums, visits, rows))


def no_rewards() -> SharedRewards:
    """In place of shared rewards where they are known."""
    return SharedRewards(np.zeros((0, 0)), np.zeros((0, 0)), 0.5)

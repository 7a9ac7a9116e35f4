"""How likely the counts of rows are, when worlds may share rows.

A *row* says what follows a pair: its successors.  Whether a state ends the episode is a row too, with the outcomes
"goes on" and "ends", as if it were one more action; and so is what a pair earns where rewards are not known, with V
levels as outcomes: the rewards that occur where they are few, and otherwise the parts "earned" and "not earned" of
rewards in [0, 1] (:mod:`.reward_levels`).

With d the counts of a row, the Dirichlet marginal likelihood is

    ML(d) = prod_i G(d_i + alpha_i) / G(alpha_i) * G(theta) / G(n + theta),

where theta says how spread the row is.  For transitions it is learned from the numbers u of successors seen in n
visits, sum u = sum theta ln(1 + n / theta), first over all rows of all worlds, then for each row alone, in all worlds
together, with BORROWED visits as in the average row.  Any of the U successors that the actions of a state have shown in
some world may follow, and one that none has; but of a wide row that has shown much, u outcomes, most of the others are
held to be impossible, since it would show something new in a visit with probability exp(-u / theta) only:

    alpha = theta / (U' + 1),      U' = max{u + (U - u) exp(-u / theta), min{U, LEAST_REACH}},

for each that the row itself has shown, and the rest for all others together.  (U' = u, those alone that the row has
shown, holds rows with a hundred successors to be far more alike within an episode than they are: it found evidence of
770 nats that two samples of 25,000 steps of one population of patients were of two.  U' = U takes rows that differ for
the same: of those that lie 1 apart in l1 between two populations and were seen some sixty times in each of three, 41 %
looked different; so do 91 % this way, and 5 % of those that are the same.)  For ends theta is learned over all of them
together.  For rewards it is V / 2, with alpha = 1 / 2 for each.

A row is thought to be shared by all worlds with probability rho, one rho for each kind of row, and otherwise each world
has its own.  With d_w the counts of world w and D those of all worlds,

    J = ln( rho ML(D) + (1 - rho) prod_w ML(d_w) ),     sigma = rho ML(D) / exp(J),

so an episode's counts e have the likelihood sigma ML(D + e) / ML(D) + (1 - sigma) ML(d_w + e) / ML(d_w) in world w, and
the same with d = 0 in a world that nobody has met.  rho is learned from the rows that two worlds know.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.log_gamma import ln_gamma

TRANSITION, END, REWARD = range(3)
"""Kinds of rows."""
GOES_ON, ENDS = range(2)
"""Places of a row of ends, from its first."""
EARNED, UNEARNED = range(2)
"""Places of a row of rewards with two levels, from its first; of more, EARNED is that of the highest, 1."""
LEAST_SPREAD, MOST_SPREAD = 0.1, 1000.0
"""Where theta is looked for."""
LEAST_END_SPREAD = 0.2
"""theta of ends is at least this: a state that has ended no episode may still end the next."""
BORROWED = 4.0
"""Visits as in the average row that every row's own theta borrows."""
OFTEN = 64
"""Visits up to which rows with the same numbers of visits and outcomes have theta worked out once."""
LEAST_REACH = 32
"""Successors of a state that may follow however much the row has shown, if there are so many."""
HALF = 0.5
"""alpha of every level of rewards: the prior of Jeffreys."""
ROUNDS, STILL = 60, 1e-3
"""Rounds of expectation and maximisation for rho, at most; it has been found when a round moves it by less."""
LEAST_SHARED, MOST_SHARED = 0.02, 0.98
"""Where rho is looked for, so that no amount of data makes the other case impossible."""
MOST_CERTAIN = 1.0 - 1e-12
"""sigma is at most this, so that a row that came otherwise can still be of another world."""
FEW = 4
"""New visits up to which a logarithm is taken for each, which is quicker than two of the gamma function."""
NONE_LEFT = 1e-9
"""Counts below this are what subtracting fractions leaves of none."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@borrowing
def ln_rising(start: float, times: float) -> float:
    """ln of start (start + 1) ... (start + times - 1), of whole or broken times."""
    if times > FEW or times != int(times):
        return math.lgamma(start + times) - math.lgamma(start)
    total = 0.0
    for i in range(int(times)):
        total += math.log(start + i)
    return total


@borrowing
def ln_ml(counts: Floats, alpha: Floats, theta: float, first: int, last: int) -> float:
    """ln ML of the counts at the places from ``first`` up to ``last``."""
    total, n = 0.0, 0.0
    for p in range(first, last):
        if counts[p] > 0.0:
            total += ln_gamma(counts[p] + alpha[p]) - ln_gamma(alpha[p])
            n += counts[p]
    return total + ln_gamma(theta) - ln_gamma(n + theta) if n > 0.0 else 0.0


@borrowing
def ln_ml_of_sum(counts: Floats, more: Floats, alpha: Floats, theta: float, first: int, last: int) -> float:
    """ln ML of two rows added up."""
    total, n = 0.0, 0.0
    for p in range(first, last):
        both = counts[p] + more[p]
        if both > 0.0:
            total += ln_gamma(both + alpha[p]) - ln_gamma(alpha[p])
            n += both
    return total + ln_gamma(theta) - ln_gamma(n + theta) if n > 0.0 else 0.0


@borrowing
def ln_mixture(share: float, one: float, other: float) -> float:
    """ln(share exp(one) + (1 - share) exp(other))."""
    if one >= other:
        return one + math.log(share + (1.0 - share) * math.exp(other - one))
    return other + math.log(share * math.exp(one - other) + (1.0 - share))


@borrowing
def probability_shared(rho: float, together: float, apart: float) -> float:
    """sigma, from ln ML of all counts together and the sum of ln ML of each world's."""
    return min(MOST_CERTAIN, 1.0 / (1.0 + (1.0 - rho) / rho * math.exp(min(700.0, apart - together))))


@kernel
def sharing_of_rows(kinds: NDArray[np.int8], shared: Floats, together: Floats, own: Floats) -> Floats:
    """sigma of every row, (R,)."""
    out = np.empty(len(kinds))
    for x in range(len(kinds)):
        apart = 0.0
        for w in range(len(own)):
            apart += own[w, x]
        out[x] = probability_shared(shared[kinds[x]], together[x], apart)
    return out


@borrowing
def _average_spread(visits: Floats, found: float) -> float:
    """The theta with which rows of so many visits show ``found`` outcomes in all, by bisection of its logarithm."""
    low, high, spent = math.log(LEAST_SPREAD), math.log(MOST_SPREAD), 0
    for _ in range(14):
        theta, expected = math.exp(0.5 * (low + high)), 0.0
        spent = serve_signals(spent, 16 * len(visits))
        for n in visits:
            expected += theta * math.log1p(n / theta)
        if expected < found:
            low = math.log(theta)
        else:
            high = math.log(theta)
    return math.exp(0.5 * (low + high))


@borrowing
def _own_spread(visits: float, distinct: float, average: float) -> float:
    """theta of one row."""
    wanted = distinct + average * math.log1p(BORROWED / average)
    low, high = math.log(LEAST_SPREAD), math.log(MOST_SPREAD)
    for _ in range(12):
        theta = math.exp(0.5 * (low + high))
        if theta * (math.log1p(visits / theta) + math.log1p(BORROWED / theta)) < wanted:
            low = math.log(theta)
        else:
            high = math.log(theta)
    return math.exp(0.5 * (low + high))


@kernel
def fit_spreads(first: Integers, kinds: NDArray[np.int8], counts: Floats, pooled: Floats, theta: Floats) -> None:
    """theta of every row, (R,), from the counts (W, P) of the worlds; that of rewards stays as it is."""
    n_rows, count, spent = len(kinds), len(counts), 0
    visits, known = (
        np.empty(n_rows * count),
        np.zeros((OFTEN, OFTEN)),
    )  # theta of rows with few visits, once it is known
    for kind in (TRANSITION, END):
        found, rows = 0.0, 0
        for x in range(n_rows):
            if kinds[x] == kind:
                spent = serve_signals(spent, count * (first[x + 1] - first[x]))
                for w in range(count):
                    n, distinct = 0.0, 0
                    for p in range(first[x], first[x + 1]):
                        n += counts[w, p]
                        distinct += counts[w, p] > 0.0
                    if n > 0.0:
                        visits[rows] = n
                        rows += 1
                        found += distinct
        average = _average_spread(visits[:rows], found) if rows > 0 else 1.0
        for x in range(n_rows):
            if kinds[x] == kind:
                n, distinct = 0.0, 0
                for p in range(first[x], first[x + 1]):
                    n += pooled[p]
                    distinct += pooled[p] > 0.0
                if kind == END:
                    theta[x] = max(average, LEAST_END_SPREAD)
                elif n >= OFTEN or distinct >= OFTEN or n != int(n):
                    theta[x] = _own_spread(n, distinct, average)
                else:
                    if known[int(n), distinct] == 0.0:
                        known[int(n), distinct] = _own_spread(n, distinct, average)
                    theta[x] = known[int(n), distinct]


@kernel
def fit_sharing(
    first: Integers, kinds: NDArray[np.int8], counts: Floats, own: Floats, together: Floats, shared: Floats
) -> None:
    """rho of every kind, (3,), from the rows that at least two worlds know."""
    count, spent = len(counts), 0
    known, apart = np.zeros(len(kinds), np.int64), np.zeros(len(kinds))
    for x in range(len(kinds)):
        spent = serve_signals(spent, count * (first[x + 1] - first[x]))
        for w in range(count):
            n = 0.0
            for p in range(first[x], first[x + 1]):
                n += counts[w, p]
            known[x] += n > 0.0
            apart[x] += own[w, x]
    for kind in range(3):
        for _ in range(ROUNDS):
            same, looked = 0.5, 1.0
            spent = serve_signals(spent, 16 * len(kinds))
            for x in range(len(kinds)):
                if kinds[x] == kind and known[x] >= 2:
                    looked += 1.0
                    same += probability_shared(shared[kind], together[x], apart[x])
            before = shared[kind]
            shared[kind] = min(max(same / looked, LEAST_SHARED), MOST_SHARED)
            if abs(shared[kind] - before) < STILL:
                break


@borrowing
def weigh_rows(
    first: Integers, counts: Floats, pooled: Floats, theta: Floats, alpha: Floats, own: Floats, together: Floats
) -> None:
    """ln ML of every row: of each world, (W, R), and of all of them together, (R,)."""
    spent = 0
    for x in range(len(theta)):
        spent = serve_signals(spent, 64 * len(counts) * (first[x + 1] - first[x]))
        together[x] = ln_ml(pooled, alpha, theta[x], first[x], first[x + 1])
        for w in range(len(counts)):
            own[w, x] = ln_ml(counts[w], alpha, theta[x], first[x], first[x + 1])


@borrowing
def ln_joint(kinds: NDArray[np.int8], own: Floats, together: Floats, shared: Floats, sizes: Floats) -> float:
    """sum of J over rows, and of ln G(size) over worlds: a Chinese restaurant with so many episodes at each table."""
    total = 0.0
    for x in range(len(kinds)):
        apart = 0.0
        for w in range(len(own)):
            apart += own[w, x]
        total += ln_mixture(shared[kinds[x]], together[x], apart)
    for size in sizes:
        total += math.lgamma(size)
    return total

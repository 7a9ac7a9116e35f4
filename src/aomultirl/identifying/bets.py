"""Bets against a cluster for another one: which of two known worlds is this?

Given the past, an event A of successors at each pair where c' and c disagree, q the predictive probability of A after
c', u the upper confidence bound of P_c(A) with u < q.  A visit multiplies the wealth by q / u if A happens, else by
(1 - q) / (1 - u).  If the world is that of c, P_c(A) <= u, and the factor has a mean of at most 1, whatever was done
before; so the wealth is an e-process (:mod:`.e_values`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.e_values import Gammas, interval_radius, lower_bound
from aomultirl.identifying.knowledge import Knowledge, TwoRows

THETA, WIN, LOSE, RATE = range(4)
"""Cells of a bet, see :func:`find_bet`."""


@borrowing
def ratio(d_rival: int, n_rival: int, d: int, n: int) -> float:
    """How much likelier the rival thinks a successor; -1 where neither has seen it."""
    if d_rival == 0:
        return 0.0 if d > 0 else -1.0
    return (d_rival * n) / (d * n_rival) if d > 0 else np.inf


@borrowing
def find_bet(
    gammas: Gammas, rows: TwoRows, level: float, events: NDArray[np.float64], bet: NDArray[np.float64]
) -> None:
    """The event at which the rival's predictions win fastest: all successors at least so much likelier.

    rows: of the rival that is bet on, as ``here``, and of the cluster that is bet against.  bet: THETA, the smallest
    ratio in the event, WIN and LOSE, the ln of both factors, and RATE, the growth a visit, or 0 where there is no bet.
    """
    rival, n_rival, mine, n = rows.here, rows.n, rows.seen, rows.m
    bet[RATE] = 0.0
    if n == 0 or n_rival == 0:
        return
    spent = 0
    for i in range(len(mine) - 1):
        spent = serve_signals(spent, 4 * len(mine))
        theta = ratio(rival[i], n_rival, mine[i], n)
        if theta <= 1.0:
            continue
        hits = hits_rival = size = 0
        for j in range(len(mine) - 1):
            if ratio(rival[j], n_rival, mine[j], n) >= theta:
                hits += mine[j]
                hits_rival += rival[j]
                size += 1
        q = (hits_rival + 0.5) / (n_rival + 1.0)
        lead = q - hits / n
        if lead <= 0.0 or lead * lead * n <= (level + events[size]) * q * (1.0 - q):
            # kl(share, q) is at most lead^2 / (q (1 - q)), and the radius at least the level over n: q is not above u.
            continue
        radius = interval_radius(gammas, hits, n, level + events[size])
        u = 1.0 - lower_bound(1.0 - hits / n, radius)
        if q > u:
            win, lose = math.log(q / u), math.log((1.0 - q) / (1.0 - u))
            rate = q * win + (1.0 - q) * lose
            if rate > bet[RATE]:
                bet[THETA], bet[WIN], bet[LOSE], bet[RATE] = theta, win, lose, rate


@borrowing
def find_bets(
    gammas: Gammas,
    known: Knowledge,
    intervals: NDArray[np.float64],
    events: NDArray[np.float64],
    bets: NDArray[np.float64],
    pair: int,
) -> None:
    """All bets at a pair.  intervals: (C,), levels of the confidence intervals; bets: (C, C, S * A, 4), against for."""
    seen, visits = known.seen, known.visits
    first, last = known.starts[pair], known.starts[pair + 1]
    spent = 0
    for c in range(len(seen)):
        for rival in range(len(seen)):
            spent = serve_signals(spent, 64 * (last - first))
            if rival != c:
                rows = TwoRows(seen[rival, first:last], visits[rival, pair], seen[c, first:last], visits[c, pair])
                find_bet(gammas, rows, intervals[c], events, bets[c, rival, pair])


@borrowing
def ln_wealth(wealth: NDArray[np.float64], c: int, least: float) -> float:
    """ln of the mean over rivals of the wealth against c; only a bound from above where it is below ``least``."""
    count = len(wealth)
    if count < 2:
        return -np.inf
    most = -np.inf
    for rival in range(count):
        if rival != c:
            most = max(most, wealth[c, rival])
    if most < least:
        return most
    total = 0.0
    for rival in range(count):
        if rival != c:
            total += math.exp(wealth[c, rival] - most)
    return most + math.log(total / (count - 1))

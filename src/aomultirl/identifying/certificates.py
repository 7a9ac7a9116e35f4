"""Certificates that a cluster agrees with this world at a pair, for every event of successors.

If the world differs from c, it does so by P(A*) - P_c(A*) >= h at some pair and event, and accepting c needs that one
certificate (:func:`.e_values.certificate`) to be false: there is no union over pairs or events.  Successors that c
never saw are counted together: they belong to every A that matters where e_A falls in b, which is where d / m < h, and
elsewhere all their parts are looked at.  So 2^k events remain for the k successors that c has seen.  For more than MOST
of them the events are bounded by a curve: sorted by b_i / d_i, no event with d hits before can have more than the
curve's b hits now.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.identifying.e_values import (
    Demand,
    Gammas,
    Hits,
    certificate,
    interval_radius,
    ln_kt,
    ln_likelihood,
    lower_bound,
)
from aomultirl.identifying.knowledge import TwoRows

MOST = 6
"""Successors whose 2^k events are looked at one by one."""
MOST_NOVEL = 16
"""Visits to successors that a cluster has never seen, beyond which its likely events are not certified."""


@borrowing
def certify_pair(
    gammas: Gammas, rows: TwoRows, before: NDArray[np.int64], demand: Demand, done: np.uint64
) -> tuple[bool, np.uint64]:
    """(every event of the pair is certified, the bits of those that are).

    rows: of this episode and of the cluster; n counts the visits since the certificates began.  before: the part of
    ``here`` that came earlier.
    """
    here, n, seen, m = rows.here, rows.n, rows.seen, rows.m
    if n == 0 or m == 0:
        return False, done
    size, novel = 0, 0
    for i in range(len(here)):
        if seen[i] > 0:
            size += 1
        else:
            novel += here[i] - before[i]
    if size > MOST:
        return _certify_curve(gammas, rows, before, demand, novel), done
    every = True
    for mask in range(1 << size):
        if done >> np.uint64(mask) & np.uint64(1):
            continue
        b = d = bit = 0
        for i in range(len(here)):
            if seen[i] > 0:
                if mask >> bit & 1:
                    b += here[i] - before[i]
                    d += seen[i]
                bit += 1
        low = b + novel if d + 0.5 <= demand.gap * m else b  # e_A falls in b where d / m < h; elsewhere look at all
        least = np.inf if b + novel - low <= MOST_NOVEL else -np.inf
        for hits in range(low, min(b + novel, low + MOST_NOVEL) + 1):
            least = min(least, certificate(gammas, Hits(hits, n, d, m), demand))
        if least >= demand.enough:
            done |= np.uint64(1) << np.uint64(mask)
        else:
            every = False
    return every, done


@kernel
def _certify_curve(gammas: Gammas, rows: TwoRows, before: NDArray[np.int64], demand: Demand, novel: int) -> bool:
    """Every event is certified, looking only at the curve that bounds them.

    An event with d hits before has at most B(d) hits now, B concave with the vertices of the successors sorted by
    b_i / d_i.  Between two points of the curve BB(b | d) is smallest at one of them (it rises, then falls in d), and
    y0(d) at the first.
    """
    here, n, seen, m = rows.here, rows.n, rows.seen, rows.m
    ratios = np.full(len(here), -1.0)
    for i in range(len(here)):
        if seen[i] > 0:
            ratios[i] = (here[i] - before[i]) / seen[i]
    order = np.argsort(-ratios)
    step = max(1, m // 64)
    b = float(novel)
    d = 0
    low = 0
    if not _piece(gammas, b, n, 0, 0, m, demand):
        return False
    for i in order:
        if seen[i] == 0:
            continue
        end = d + seen[i]
        while d < end:
            following = min(end, d + step)
            b += ratios[i] * (following - d)
            d = following
            if d - low >= step or d == m:
                if not _piece(gammas, b, n, low, d, m, demand):
                    return False
                low = d
    return True


@borrowing
def _piece(gammas: Gammas, most: float, n: int, low: int, high: int, m: int, demand: Demand) -> bool:
    """Every event with low <= d <= high and at most ``most`` hits now is certified."""
    b = min(n, math.floor(most + 1e-9))
    y0 = lower_bound(low / m, interval_radius(gammas, low, m, demand.level)) if low > 0 else 0.0
    x = y0 + demand.gap
    if x > 1.0:
        return True
    if (high + 0.5) / m > x or b > x * n:
        return False
    ends = min(
        ln_kt(gammas, b + low, n + m) - ln_kt(gammas, low, m),
        ln_kt(gammas, b + high, n + m) - ln_kt(gammas, high, m),
    )
    return bool(ends - ln_likelihood(x, b, n) >= demand.enough)

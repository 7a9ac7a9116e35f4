"""Differences from a cluster: this is a world that nobody knows.

For any event A of a pair, with b and d its hits in this episode and in the cluster::

    KT(b) / sup over the confidence interval of P_c(A) of L(b),        KT(b) KT(d) / L_hat(b + d).

Under "the world is that of c" both have a mean of at most 1 at every time (:mod:`.e_values`).  A union over pairs and
events pays for looking at all of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing
from aomultirl.identifying.e_values import Gammas, Hits, interval_radius, ln_best, ln_kt, ln_likelihood, lower_bound
from aomultirl.identifying.knowledge import TwoRows

FEW = 5
"""Successors for which differences look at every event, not only at those that the data suggest."""


@borrowing
def _differs(gammas: Gammas, hits: Hits, level: float, conditional: float, joint: float) -> bool:
    """One event's evidence against P(A) = P_c(A) exceeds a bound: ``conditional`` given d, ``joint`` with d."""
    b, n, d, m = hits.b, hits.n, hits.d, hits.m
    apart = b / n - d / m
    spread = d / m * (1.0 - d / m)
    if n * apart * apart < min(conditional, joint) * spread:  # n kl(b / n, d / m) is less, and no test can exceed it
        return False
    kt = ln_kt(gammas, b, n)
    if kt + ln_kt(gammas, d, m) - ln_best(b + d, n + m) >= joint:
        return True
    if spread > 0.0 and kt - ln_likelihood(d / m, b, n) < conditional:
        return False
    radius = interval_radius(gammas, d, m, level)
    y = 1.0 - lower_bound(1.0 - d / m, radius) if apart > 0.0 else lower_bound(d / m, radius)
    if (apart > 0.0) == (b < y * n):  # the interval reaches what was seen
        return False
    return bool(kt - ln_likelihood(y, b, n) >= conditional)


@borrowing
def differs(gammas: Gammas, rows: TwoRows, level: float, bound: float, events: NDArray[np.float64]) -> bool:
    """Some event of a pair shows that this is not the cluster's world.

    rows: of this episode and of the cluster.  bound: ln(2 K |pairs| / (p_R (1 - w))), half for either kind.
    Few successors: all events, those that hold the novel place as the complements of those that do not.  Many: the
    event of all successors that are likelier here, and of all that are less likely, by the prior weight of its size.
    """
    here, n, seen, m = rows.here, rows.n, rows.seen, rows.m
    if n == 0 or m == 0:
        return False
    k = len(here) - 1
    if k <= FEW:
        family = math.log(float(1 << k))
        for mask in range(1, 1 << k):
            b = d = size = 0
            for i in range(k):
                if mask >> i & 1:
                    b += here[i]
                    d += seen[i]
                    size += 1
            weight = events[size]
            if _differs(gammas, Hits(b, n, d, m), level + weight, bound + family, bound + weight):
                return True
        return False
    for sign in range(2):
        b = d = size = 0
        for i in range(k):
            lead = here[i] * m - seen[i] * n
            if (lead > 0 and sign == 0) or (lead < 0 and sign == 1):
                b += here[i]
                d += seen[i]
                size += 1
        weight = events[size]
        if size > 0 and _differs(gammas, Hits(b, n, d, m), level + weight, bound + weight, bound + weight):
            return True
    return False

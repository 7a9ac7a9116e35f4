"""Numbers that test a hypothesis at any time: e-values of binomial counts, in logarithms.

An e-process has mean at most 1 under its null at every stopping time, so it exceeds 1/p with probability at most p
(Ville), however the data were gathered.  Here the data are ``b`` hits of an event in ``n`` visits of a pair in this
episode, and ``d`` hits in ``m`` visits in the episodes of a cluster; x and y are the event's probabilities in this
world and in the cluster's.

    L_y(b, n) = y^b (1 - y)^(n - b)                      the likelihood, L_hat its maximum over y
    KT(b, n)  = B(b + 1/2, n - b + 1/2) / pi             the mixture of all L_y under Beta(1/2, 1/2)
    BB(b, n | d, m) = KT(b + d, n + m) / KT(d, m)        the predictive probability of b after d
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing

LN_PI = math.log(math.pi)
TRUST = 0.9
"""The share of the certificates' wealth that trusts the cluster's counts."""
LN_TRUST = math.log(TRUST)
SPARE = 0.05
"""The share that goes by a confidence bound of the cluster's probability instead."""
LN_SPARE, LN_MOST = math.log(SPARE), math.log(1.0 - SPARE)
PATIENCE = 10.0
"""Visits, times h^2, before the spare certificate is looked at: it hardly wins earlier."""


class Gammas(NamedTuple):
    """Tables of the logarithms of the gamma function, for n below some size.

    half
        half[n] = ln Gamma(n + 1/2).
    whole
        whole[n] = ln Gamma(n + 1).
    """

    half: NDArray[np.float64]
    whole: NDArray[np.float64]


class Hits(NamedTuple):
    """How often an event of a pair happened, in two places.

    b, n
        hits in this episode, and visits.
    d, m
        hits in the episodes of a cluster, and visits.
    """

    b: int
    n: int
    d: int
    m: int


class Demand(NamedTuple):
    """What a certificate must show.

    gap
        h: that the event is less than h likelier here than in the cluster's world.
    level
        -ln of the failure probability of the bounds on the cluster's own probabilities.
    pool
        of how many worlds an adversary may choose the cluster's.
    enough
        ln of the evidence that is asked for.
    """

    gap: float
    level: float
    pool: float
    enough: float


def gammas(size: int = 1 << 14) -> Gammas:
    """Tables of the logarithms of the gamma function."""
    from scipy.special import gammaln

    n = np.arange(size, dtype=np.float64)
    return Gammas(gammaln(n + 0.5), gammaln(n + 1.0))


@borrowing
def ln_half(half: NDArray[np.float64], n: int) -> float:
    """ln Gamma(n + 1/2)."""
    return half[np.uint64(n)] if n < len(half) else math.lgamma(n + 0.5)


@borrowing
def ln_whole(whole: NDArray[np.float64], n: int) -> float:
    """ln Gamma(n + 1)."""
    return whole[np.uint64(n)] if n < len(whole) else math.lgamma(n + 1.0)


@borrowing
def ln_kt(gammas: Gammas, b: int, n: int) -> float:
    """ln KT(b, n)."""
    return ln_half(gammas.half, b) + ln_half(gammas.half, n - b) - ln_whole(gammas.whole, n) - LN_PI


@borrowing
def ln_likelihood(y: float, b: int, n: int) -> float:
    """ln L_y(b, n), with 0 ln 0 = 0."""
    total = 0.0
    if b > 0:
        total += b * math.log(y) if y > 0.0 else -np.inf
    if n > b:
        total += (n - b) * math.log1p(-y) if y < 1.0 else -np.inf
    return total


@borrowing
def ln_best(b: int, n: int) -> float:
    """ln L_hat(b, n)."""
    if b == 0 or b == n:
        return 0.0
    return b * math.log(b / n) + (n - b) * math.log((n - b) / n)


@borrowing
def lower_bound(share: float, radius: float) -> float:
    """The smallest y with kl(share, y) <= radius, or a little less: Newton's method in ln y from below.

    kl is convex and falling in ln y below ``share``, so the iterates rise to the root and never pass it.
    """
    if share <= 0.0:
        return 0.0
    rest = 1.0 - share
    inner = rest * math.log(rest) if rest > 0.0 else 0.0
    own = share * math.log(share) + inner
    low = share * math.exp((inner - radius) / share)
    low = max(low, share - math.sqrt(0.5 * radius), share - math.sqrt(2.0 * share * radius))
    if low < 1e-290:
        return 0.0
    z = math.log(low)
    for _ in range(4):
        y = math.exp(z)
        excess = own - share * z - rest * math.log1p(-y) - radius if rest > 0.0 else own - share * z - radius
        slope = -share + rest * y / (1.0 - y) if rest > 0.0 else -share
        if excess <= 1e-12 or slope >= -1e-14:
            break
        z -= excess / slope
    return min(math.exp(z), share)


@borrowing
def interval_radius(gammas: Gammas, d: int, m: int, level: float) -> float:
    """kl(d / m, y) exceeds this at some m with probability at most exp(-level): (level + ln[L_hat / KT]) / m."""
    return (level + ln_best(d, m) - ln_kt(gammas, d, m)) / m


@borrowing
def ln_best_apart(b: int, n: int, d: int, m: int, h: float) -> float:
    """ln of the largest L_x(b, n) L_y(d, m) with x >= y + h, from above by at most 1e-6; -inf if there is none."""
    if h > 1.0:
        return -np.inf
    if b * m - d * n >= h * n * m:
        return ln_best(b, n) + ln_best(d, m)
    low, high = 0.0, 1.0 - h
    if d == 0 and b / h - (n - b) / (1.0 - h) - m <= 0.0:
        return ln_likelihood(h, b, n)
    if b == n and n - (m - d) / h + d / (1.0 - h) >= 0.0:
        return ln_likelihood(high, d, m)
    y = min(max((b - h * n + d) / (n + m), 0.02 * high), 0.98 * high)
    for _ in range(60):
        x = y + h
        slope = -(n - b) / (1.0 - x) - (m - d) / (1.0 - y)
        curve = -(n - b) / (1.0 - x) ** 2 - (m - d) / (1.0 - y) ** 2
        if b > 0:
            slope += b / x
            curve -= b / x**2
        if d > 0:
            slope += d / y
            curve -= d / y**2
        if slope > 0.0:
            low = y
        else:
            high = y
        if abs(slope) * (high - low) < 1e-7:
            break
        newton = y - slope / curve
        y = newton if low < newton < high else 0.5 * (low + high)
    return ln_likelihood(y + h, b, n) + ln_likelihood(y, d, m) + 1e-6


@borrowing
def certificate(gammas: Gammas, hits: Hits, demand: Demand) -> float:
    """ln e_A, the evidence against x >= y + h (equal worlds have x = y); no more is worked out than ``enough``.

    e_A = (1 - SPARE) inf over y and x >= y + h of  W_y(d) BB(b, n | d, m) / L_x(b, n)
          + SPARE BB(b, n | d, m) / sup_{x >= y0 + h} L_x(b, n),
    W_y(d) = max{TRUST, (1 - TRUST) / pool * KT(d, m) / L_y(d, m)}.

    Given d, BB / L_x has mean 1 at the true x.  W_y(d) has mean at most 1 at the true y, even if an adversary who saw d
    chooses among ``pool`` worlds, each with an event of its own: a y that d contradicts need not be feared more than
    d contradicts it.  Below y1, where both parts of W are equal, the second one counts, and L_y(d) L_{y+h}(b) must be
    maximised; mostly its maximum is at y1 itself.  The other term, y0 a time-uniform lower confidence bound of y at
    exp(-level), is for clusters so young that many more visits in this episode could not convince the first.
    """
    b, n, d, m = hits.b, hits.n, hits.d, hits.m
    h, level = demand.gap, demand.level
    own = ln_kt(gammas, d, m)
    best = ln_best(d, m)
    if d > (1.0 - h) * m and lower_bound(d / m, (level + best - own) / m) + h > 1.0:
        return np.inf
    joint = ln_kt(gammas, b + d, n + m)
    value = ln_trusting(hits, h, demand.pool, own, best, joint) + LN_MOST
    if value < demand.enough and n * h * h > PATIENCE:
        x = lower_bound(d / m, (level + best - own) / m) + h
        if x > 1.0:
            return np.inf
        if b <= x * n:
            value = max(value, joint - own - ln_likelihood(x, b, n) + LN_SPARE)
    return value


@borrowing
def ln_trusting(hits: Hits, h: float, pool: float, own: float, best: float, joint: float) -> float:
    """The first term of :func:`certificate`; own = ln KT(d, m), best = ln L_hat(d, m), joint = ln KT(b + d, n + m)."""
    b, n, d, m = hits.b, hits.n, hits.d, hits.m
    part = math.log((1.0 - TRUST) / pool)
    y1 = lower_bound(d / m, (LN_TRUST - part + best - own) / m) if d > 0 else 0.0
    x = y1 + h
    if x < 1.0:
        if b > x * n:
            return -np.inf
        if y1 == 0.0 or b / x - (n - b) / (1.0 - x) + d / y1 - (m - d) / (1.0 - y1) >= 0.0:
            return joint - own + LN_TRUST - ln_likelihood(x, b, n)
    return joint + part - ln_best_apart(b, n, d, m, h)

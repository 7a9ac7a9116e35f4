"""How far samples stray: Weissman's inequality (Appendix D), and exact intervals for a share of successes."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from aomultirl import checks


@checks.representable
def weissman_tail(radius: float, *, samples: int, states: int) -> float:
    """At most so probable is an empirical distribution of N samples further than ``radius`` from the true one, in l1.

    ::

        Pr( ||P - P_N||_1 >= eps ) <= min{ 1, (2^S - 2) exp(-N eps^2 / 2) }

    Parameters
    ----------
    radius
        eps, above 0.
    samples
        N.
    states
        S, the size of the support.

    Examples
    --------
    >>> round(weissman_tail(0.5, samples=40, states=3), 4)
    0.0404
    """
    exponent = checks.integer("samples", samples, least=1) * checks.real("radius", radius, above=0.0) ** 2 / 2.0
    return min(1.0, math.exp(min(0.0, _events(states) - exponent)))


@checks.representable
def weissman_radius(failure: float, *, samples: int, states: int) -> float:
    """The radius that an empirical distribution exceeds with probability at most ``failure``, by the same inequality.

    ::

        eps = sqrt( (2 / N) ln( (2^S - 2) / p ) ),    at most 2

    Examples
    --------
    >>> round(weissman_radius(0.05, samples=1000, states=16), 4)
    0.1678
    """
    spent = _events(states) - math.log(checks.real("failure", failure, above=0.0, below=1.0))
    return min(2.0, math.sqrt(max(0.0, 2.0 * spent / checks.integer("samples", samples, least=1))))


@checks.representable
def weissman_samples(radius: float, *, failure: float, states: int) -> int:
    """So many samples keep an empirical distribution within ``radius`` of the true one, also when more are added.

    ::

        N = ceil( (2 / eps^2) (S ln 2 + ln(1 / p)) ),    Pr( ||P - P_n||_1 >= eps for some n >= N ) <= p

    So the number of samples may depend on what they showed, as long as it is N at least.  The share of an event among
    the first n samples is a martingale in reversed time, n from infinity to N; so Doob's inequality gives the bound for
    all n >= N at once that Hoeffding's gives for N, and 2^S events make Weissman's.

    Examples
    --------
    >>> weissman_samples(0.25, failure=0.1 / 1200, states=3)
    368
    """
    support = checks.integer("states", states, least=1)
    spent = support * math.log(2.0) - math.log(checks.real("failure", failure, above=0.0, below=1.0))
    return math.ceil(2.0 / checks.real("radius", radius, above=0.0) ** 2 * spent)


def _events(states: int) -> float:
    """ln(2^S - 2), -inf for a single state."""
    support = checks.integer("states", states, least=1)
    return support * math.log(2.0) + math.log1p(-(2.0 ** (1 - support))) if support > 1 else -math.inf


@checks.representable
def binomial_interval(
    successes: ArrayLike, trials: int, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(low, high): the exact interval (Clopper, Pearson) for a probability, given successes in independent trials.

    It contains the truth with probability at least ``level``; both ends have the shape of ``successes``.

    Examples
    --------
    >>> low, high = binomial_interval(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    total = checks.integer("trials", trials, least=1)
    seen = checks.finite_array("successes", successes)
    if ((seen < 0) | (seen > total)).any():
        raise ValueError(f"successes must be between 0 and trials = {total}")
    tail = (1.0 - checks.real("level", level, above=0.0, below=1.0)) / 2.0
    low = np.where(seen > 0, betaincinv(np.maximum(seen, 1.0), total - seen + 1.0, tail), 0.0)
    high = np.where(seen < total, betaincinv(seen + 1.0, np.maximum(total - seen, 1.0), 1.0 - tail), 1.0)
    return np.asarray(low), np.asarray(high)

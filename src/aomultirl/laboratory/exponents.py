"""Exponents: the slope of a straight line through logarithms, with an interval."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]


class Fit(NamedTuple):
    """log y = intercept + slope log x, and the 95 % interval of the slope."""

    slope: float
    low: float
    high: float
    intercept: float

    def __call__(self, x: float) -> float:
        """The fitted value at x."""
        return float(np.exp(self.intercept + self.slope * np.log(x)))


def line_through(x: Sequence[float], samples: Sequence[Floats]) -> Fit:
    """The exponent of the mean of ``samples[i]`` as a function of ``x[i]``, with an interval for few runs.

    The logarithm of a mean over n runs is off by the mean's standard error over the mean; the slope adds these up, and
    Student's quantile with Welch's degrees of freedom makes the interval.  With three runs a bootstrap's is too short.
    Single values are taken to be exact.  Where a mean is not positive there is no exponent: nan, it may be anything.

    Examples
    --------
    >>> round(line_through([1.0, 4.0], [np.array([2.0, 2.0]), np.array([4.0, 4.0])]).slope, 9)
    0.5
    """
    logs, means = np.log(np.asarray(x, float)), np.array([values.mean() for values in samples])
    if len(np.unique(logs)) < 2:
        raise ValueError(f"a slope needs two different x, not x = {list(x)}")
    if not np.all(means > 0.0):
        return Fit(math.nan, -math.inf, math.inf, math.nan)
    weights = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    slope = float(weights @ np.log(means))
    spread = np.array([values.var(ddof=1) / len(values) if len(values) > 1 else 0.0 for values in samples])
    parts = spread * (weights / means) ** 2
    width = 0.0
    if parts.sum() > 0.0:
        freedom = parts.sum() ** 2 / np.sum(parts**2 / [max(1, len(values) - 1) for values in samples])
        width = float(stdtrit(freedom, 0.975) * math.sqrt(parts.sum()))
    return Fit(slope, slope - width, slope + width, float(np.log(means).mean() - slope * logs.mean()))

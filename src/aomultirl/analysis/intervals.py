"""Means over runs with bootstrap intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES, SEED = 2000, 20230


class Interval(NamedTuple):
    """mean, and the percentile bootstrap interval around it; low and high are nan for a single run."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def over_runs(values: ArrayLike, level: float = 0.95) -> Interval:
    """Mean over the first axis, the runs, with an interval for each entry of the rest.

    The same resamples serve all entries, and their seed is fixed: the same data give the same band.

    Examples
    --------
    >>> over_runs([[1.0], [2.0], [3.0]]).mean
    array([2.])
    """
    data = np.asarray(values, np.float64)
    mean = data.mean(axis=0)
    if len(data) < 2:
        return Interval(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    chosen = np.random.default_rng(SEED).integers(len(data), size=(RESAMPLES, len(data)))
    weights = np.apply_along_axis(np.bincount, 1, chosen, minlength=len(data)) / len(data)
    means = np.tensordot(weights, data, axes=1)
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return Interval(mean, low, high)

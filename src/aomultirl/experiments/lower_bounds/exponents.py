"""Exponents fitted to measurements: the slope of a straight line through logarithms, with a bootstrap interval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 2000


class Fit(NamedTuple):
    """log y = intercept + slope log x, and the 95 % interval of the slope."""

    slope: float
    low: float
    high: float
    intercept: float

    def __call__(self, x: float) -> float:
        """The fitted value at x."""
        return float(np.exp(self.intercept + self.slope * np.log(x)))


def fit(x: Sequence[float], samples: Sequence[Floats], seed: int = 0) -> Fit:
    """The exponent of the mean of ``samples[i]`` as a function of ``x[i]``; the runs of each point are resampled.

    Parameters
    ----------
    x
        at least two different positive numbers.
    samples
        for each x what was measured in every run; their means must be positive.

    Examples
    --------
    >>> round(fit([1, 2, 4], [np.array([y]) for y in (3.0, 12.0, 48.0)]).slope, 9)
    2.0
    """
    logs = np.log(np.asarray(x, float))
    means = np.array([np.mean(values) for values in samples])
    if len(np.unique(logs)) < 2 or not np.all(means > 0):
        raise ValueError(
            f"a slope needs two different x and positive means, not x = {list(x)} and y = {means.tolist()}"
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    drawn = np.stack(
        [values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1) for values in samples]
    )
    with np.errstate(divide="ignore"):
        slopes = _slopes(logs, np.log(drawn))
    slope = float(_slopes(logs, np.log(means)[:, None])[0])
    low, high = np.nanquantile(slopes, [0.025, 0.975])
    return Fit(slope, float(low), float(high), float(np.log(means).mean() - slope * logs.mean()))


def _slopes(logs: Floats, values: Floats) -> Floats:
    """Least squares for every column of ``values``, (points, fits)."""
    centred = logs - logs.mean()
    return np.asarray(centred @ values / (centred @ centred))

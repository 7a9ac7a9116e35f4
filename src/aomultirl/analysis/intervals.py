"""Means over runs with bootstrap intervals."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl.analysis.phrases import number

RESAMPLES, SEED = 2000, 20230
"""Bootstrap samples, and the seed that chooses them."""
ROUNDING = 1e-9
"""An interval that is relatively so narrow is a point."""
AT_ONCE = 1_000
"""Samples that are bootstrapped together."""


class Interval(NamedTuple):
    """Means over runs.

    mean: of each entry, of any shape.
    low, high: the ends of the percentile bootstrap intervals around the means; nan for a single run.
    """

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


class Span(NamedTuple):
    """The mean of one number over runs.

    mean: nan where there are no runs.
    low, high: the ends of its 95 % bootstrap interval; nan for a single run.
    """

    mean: float
    low: float
    high: float


UNKNOWN = Span(math.nan, math.nan, math.nan)
"""What was not measured."""


def in_words(mean: float, low: float, high: float, write: Callable[[float], str] = number) -> tuple[str, str]:
    """A mean and its interval; the interval is empty where it says nothing, and all is where the mean is unknown.

    Examples
    --------
    >>> in_words(2.0, 1.5, 2.5), in_words(2.0, math.nan, math.nan), in_words(math.nan, math.nan, math.nan)
    (('2', '1.5 to 2.5'), ('2', ''), ('', ''))
    """
    if not math.isfinite(mean):
        return "", ""
    ends = write(float(low)), write(float(high))
    return write(float(mean)), "" if not math.isfinite(low) or ends[0] == ends[1] else " to ".join(ends)


def spans(samples: Sequence[NDArray[np.float64]]) -> list[Span]:
    """The spans of many samples, one number a run; samples of one size are bootstrapped together."""
    measured = [UNKNOWN] * len(samples)
    sizes: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        if len(sample):
            sizes.setdefault(len(sample), []).append(place)
    for places in sizes.values():
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            table = over_runs(np.stack([samples[place] for place in some], axis=1))
            for place, mean, low, high in zip(some, *(column.tolist() for column in table), strict=True):
                is_point = high - low < ROUNDING * max(1.0, abs(mean))
                measured[place] = Span(mean, mean, mean) if is_point else Span(mean, low, high)
    return measured

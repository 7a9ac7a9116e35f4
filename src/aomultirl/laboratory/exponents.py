"""A sweep over one size: means with intervals, the straight line through their logarithms, and the series of a chart.

The slope of the line is the exponent with which what was measured grows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from aomultirl.analysis.charts import Series, Subject
from aomultirl.analysis.rules import Measurement
from aomultirl.theory import binomial_interval

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

    @property
    def exponent(self) -> Measurement:
        """The slope as it is measured."""
        return Measurement(self.slope, self.low, self.high)

    def __str__(self) -> str:
        return f"slope {self.slope:.2f} ({self.low:.2f} to {self.high:.2f})"


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


def slope_of(x: Sequence[float], y: Iterable[float]) -> Fit:
    """The exponent of what was computed, y as a function of x."""
    return line_through(x, [np.array([value]) for value in y])


def mean_of(runs: Floats) -> Measurement:
    """The mean of at least two runs, with Student's interval.

    Examples
    --------
    >>> mean_of(np.array([1.0, 1.0, 1.0])).value
    1.0
    """
    mean, width = runs.mean(), stdtrit(len(runs) - 1, 0.975) * runs.std(ddof=1) / math.sqrt(len(runs))
    return Measurement(float(mean), float(mean - width), float(mean + width))


def rate(hits: NDArray[np.bool_]) -> Measurement:
    """How often something happened, with Clopper and Pearson's interval.

    Examples
    --------
    >>> rate(np.array([True, True, False, True])).value
    0.75
    """
    low, high = binomial_interval(int(hits.sum()), len(hits))
    return Measurement(float(hits.mean()), float(low), float(high))


def summed(regrets: Floats) -> tuple[list[float], list[Floats]]:
    """Five numbers of episodes over a decade, and the regret of so many in every run; ``regrets`` is (runs, K).

    The sums of a run rise and fall together, which the interval of a slope through them does not know: of independent
    episodes it holds the slope in 93 to 94 of 100 cases, not 95.
    """
    last = regrets.shape[1]
    ends = np.unique(np.geomspace(max(1, last // 10), last, 5).round().astype(int))
    sums = np.cumsum(regrets, axis=1)
    return ends.astype(float).tolist(), [sums[:, end - 1] for end in ends]


def worst_of(rows: Iterable[Sequence[Floats]]) -> list[Floats]:
    """At each place the samples of the row whose mean is the largest there."""
    return [max(samples, key=lambda runs: float(np.mean(runs))) for samples in zip(*rows, strict=True)]


def intervals(label: str, x: Sequence[float], measurements: Iterable[Measurement]) -> Series:
    """Points of a chart with their intervals."""
    shown = list(measurements)
    return Series(label, x, [one.value for one in shown], [one.low for one in shown], [one.high for one in shown])


def points(label: str, x: Sequence[float], samples: Sequence[Floats]) -> Series:
    """Points of a chart: means over runs, with intervals."""
    return intervals(label, x, map(mean_of, samples))


def fitted(label: str, x: Sequence[float], line: Fit) -> Series:
    """The line of a chart that was fitted to the points of this label, from end to end, its slope in the legend."""
    ends = [min(x), max(x)]
    return fit_of(label, str(line), ends, [line(end) for end in ends])


def fit_of(label: str, words: str, x: Sequence[float], y: Iterable[float]) -> Series:
    """What was fitted to the points of this label, with words that the legend has behind it."""
    return Series(f"{label}: {words}", x, list(y), kind="fit", subject=Subject(label))


def theory(label: str, x: Sequence[float], y: Iterable[float]) -> Series:
    """A curve of the paper."""
    return Series(label, x, list(y), kind="theory")


def level(label: str, x: Iterable[float], value: float) -> Series:
    """What the paper says to be the same from end to end of x."""
    places = list(x)
    return Series(label, [min(places), max(places)], [value, value], kind="theory")


def diagonal(label: str, x: Iterable[float], factor: float = 1.0) -> Series:
    """A straight line of the paper from end to end of x, ``factor`` times x."""
    places = list(x)
    ends = [min(places), max(places)]
    return theory(label, ends, [factor * end for end in ends])


def fits(
    x: Mapping[str, Sequence[float]], samples: Mapping[str, Sequence[Floats]]
) -> tuple[dict[str, Fit], list[Series]]:
    """For each name the line fitted to its samples; and its points and the line as a chart has them."""
    lines = {name: line_through(x[name], samples[name]) for name in samples}
    series = []
    for name, line in lines.items():
        series.append(points(name, x[name], samples[name]))
        if math.isfinite(line.slope):
            series.append(fitted(name, x[name], line))
    return lines, series


def slopes(lines: Mapping[str, Fit]) -> dict[str, Measurement]:
    """The exponents of lines, by the name of whose they are."""
    return {name: line.exponent for name, line in lines.items()}

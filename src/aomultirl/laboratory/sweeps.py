"""A sweep over one size: points with intervals, the line fitted to them, and what they say of an exponent."""

import math
import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from aomultirl.laboratory.exponents import Fit, line_through
from aomultirl.laboratory.findings import Claim, Series, Subject

Floats = NDArray[np.float64]
WIDEST = 0.5
"""The 95 % interval of an exponent may be no wider: one half is what tells a root from a straight line."""
TOO_WIDE = "the interval is too wide to tell"
NEARLY = "chance may have done it, as the interval meets the band"


class Mean(NamedTuple):
    """A mean over runs, and its 95 % interval (Student)."""

    mean: float
    low: float
    high: float


class Expected(NamedTuple):
    """What is claimed of an exponent, and by how much it may be missed.

    claim, place
        as in :class:`Claim`.
    least, most
        the band in which the slope must lie, with an interval of at most WIDEST; -inf for a bound from above.
    why
        the reason of the band.
    """

    claim: str
    place: str
    predicted: float
    least: float
    most: float
    why: str

    @property
    def rule(self) -> str:
        """In words."""
        if self.least == -math.inf:
            return f"the whole 95 % interval of the slope is at most {self.most:g}: {self.why}"
        band = f"[{self.least:g}, {self.most:g}]"
        return f"the slope lies in {band}, its 95 % interval at most {WIDEST:g} wide: {self.why}"

    def holds(self, line: Fit) -> bool:
        """Whether the slope lies in the band, and is known well enough; all of the interval for a bound from above."""
        if self.least == -math.inf:
            return line.high <= self.most
        return is_narrow(line) and self.least <= line.slope <= self.most

    def fails(self, line: Fit) -> bool:
        """Whether the whole interval lies outside of the band; an exponent may neither hold nor fail."""
        return line.low > self.most or line.high < self.least


def is_narrow(line: Fit) -> bool:
    """Whether the slope is known well enough to be judged."""
    return line.high - line.low <= WIDEST


def mean_of(runs: Floats) -> Mean:
    """Of at least two runs.

    Examples
    --------
    >>> mean_of(np.array([1.0, 1.0, 1.0]))
    Mean(mean=1.0, low=1.0, high=1.0)
    """
    mean, width = runs.mean(), stdtrit(len(runs) - 1, 0.975) * runs.std(ddof=1) / math.sqrt(len(runs))
    return Mean(float(mean), float(mean - width), float(mean + width))


def exponent(expected: Expected, lines: Mapping[str, Fit], figure: str, reason: str = "") -> Claim:
    """The claim on one exponent or several, of which the one is given that is farthest from what is predicted.

    Parameters
    ----------
    lines
        by the name of whose exponent it is.
    reason
        why it does not hold, or what else there is to say; all slopes come after it.
    """
    name, line = max(lines.items(), key=lambda item: abs(item[1].slope - expected.predicted))
    slopes = ", ".join(f"{who} {one.slope:.2f} ({one.low:.2f} to {one.high:.2f})" for who, one in lines.items())
    whose = f"the farthest is {name}; {slopes}" if len(lines) > 1 else ""
    holds, fails = all(map(expected.holds, lines.values())), any(map(expected.fails, lines.values()))
    near = expected.least > -math.inf and all(map(is_narrow, lines.values()))
    doubt = "" if holds or fails else (NEARLY if near else TOO_WIDE)
    return Claim(
        expected.claim,
        expected.place,
        expected.predicted,
        line.slope,
        line.low,
        line.high,
        holds,
        expected.rule,
        "; ".join(filter(None, [doubt, reason, whose])),
        figure,
        "=" if expected.least > -math.inf else "<=",
        undecided=bool(doubt),
    )


def bounded(claim: Claim) -> Claim:
    """The claim on a bound: it holds if all of the interval lies on its side, fails if none of it, and else is open."""
    inside = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[claim.relation]
    ends = [bool(inside(end, claim.predicted)) for end in (claim.low, claim.high)]
    return claim._replace(holds=all(ends), undecided=any(ends) and not all(ends))


def measured(label: str, x: Sequence[float], samples: Sequence[Floats]) -> Series:
    """Means over runs, with intervals."""
    means, low, high = zip(*map(mean_of, samples), strict=True)
    return Series(label, x, means, low, high)


def fitted(label: str, x: Sequence[float], line: Fit) -> Series:
    """The line, from end to end, its slope in the label."""
    ends = [min(x), max(x)]
    slope = f"{label}: slope {line.slope:.2f} ({line.low:.2f} to {line.high:.2f})"
    return Series(slope, ends, [line(end) for end in ends], kind="fit", subject=Subject(label))


def summed(regrets: Floats, parts: int = 5) -> tuple[list[float], list[Floats]]:
    """Numbers of episodes over a decade, and the regret of so many in every run; ``regrets`` is (runs, K).

    The sums of a run rise and fall together, which the interval of a slope through them does not know: of independent
    episodes it holds the slope in 93 to 94 of 100 cases, not 95.
    """
    last = regrets.shape[1]
    ends = np.unique(np.geomspace(max(1, last // 10), last, parts).round().astype(int))
    sums = np.cumsum(regrets, axis=1)
    return ends.astype(float).tolist(), [sums[:, end - 1] for end in ends]


def lines_and_series(
    x: Mapping[str, Sequence[float]], samples: Mapping[str, Sequence[Floats]]
) -> tuple[dict[str, Fit], list[Series]]:
    """For each name its fitted line, its points and the line to draw."""
    lines = {name: line_through(x[name], samples[name]) for name in samples}
    series = []
    for name, line in lines.items():
        series.append(measured(name, x[name], samples[name]))
        if math.isfinite(line.slope):
            series.append(fitted(name, x[name], line))
    return lines, series

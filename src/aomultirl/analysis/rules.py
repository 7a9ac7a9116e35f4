"""Rules: what is predicted, and how what was measured is judged by it.

A rule is a small record.  It holds what is predicted, judges what was measured, and makes the words that tell people
how it judges; so nobody sets a verdict by hand, and no words can say something else than what is done.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from aomultirl.analysis.phrases import number
from aomultirl.analysis.reach import Reach

Relation = Literal["=", "~", "<", "<=", ">", ">=", "between"]
COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
RELATIONS = {"=": "", "~": "about", "<": "below", "<=": "at most", ">": "above", ">=": "at least", "between": "from"}
"""How what was measured should stand to what is predicted, in words."""
WIDEST = 0.5
"""The 95 % interval of an exponent may be no wider: one half is what tells a root from a straight line."""
SURELY = 1.7
"""How many times wider than one of 95 % an interval of 99.9 % is, roughly, for estimates that are nearly normal."""
TOO_WIDE = "the interval is too wide to tell"
NEARLY = "chance may have done it, as the interval meets the band"
ACROSS = "the interval lies on both sides of the bound"
NOTHING = "there is no measurement"
INCOMPLETE = "at some places that belong to it nothing could be measured"


class Measurement(NamedTuple):
    """A number that was measured.

    value
        the number; NaN where there is none.
    low, high
        the ends of its 95 % interval: the value itself where it was computed, infinite where there is no end.
    missing
        at how many places that belong to it nothing could be measured; then nobody can tell.
    """

    value: float
    low: float
    high: float
    missing: int = 0


UNMEASURED = Measurement(math.nan, -math.inf, math.inf)


def exact(value: float) -> Measurement:
    """A number that was computed or counted.

    Examples
    --------
    >>> exact(2)
    Measurement(value=2.0, low=2.0, high=2.0, missing=0)
    """
    return Measurement(float(value), float(value), float(value))


def computed(value: float) -> dict[str, Measurement]:
    """What was measured for a claim on one number that was computed or counted."""
    return {"": exact(value)}


@dataclass(frozen=True)
class Rule:
    """What all rules have.

    predicted
        a number: an exponent, a bound, a rate, a value.
    why
        the reason of the rule's numbers, in words.
    reach
        how long an experiment must be for the rule to judge it; None where any is long enough.
    """

    predicted: float
    why: str = ""
    reach: Reach | None = field(default=None, kw_only=True)

    @property
    def relation(self) -> Relation:
        """How what was measured should stand to what is predicted."""
        return "="

    @property
    def upper(self) -> float | None:
        """The larger end of what is predicted, where that is a range; ``predicted`` is then the smaller one."""
        return None

    @property
    def expected(self) -> str:
        """What is predicted, with its relation, in words."""
        upper = None if self.upper is None else f"to {number(self.upper)}"
        return " ".join(filter(None, [RELATIONS[self.relation], number(self.predicted), upper]))

    @property
    def words(self) -> str:
        """How the rule judges, for people."""
        reach = f"only if {self.reach.needed:,} {self.reach.what} were run" if self.reach else ""
        return ": ".join(filter(None, [", ".join(filter(None, [self._judges(), reach])), self.why]))

    @property
    def out_of_reach(self) -> bool:
        """Whether the experiment was too short for what is claimed to show itself."""
        return self.reach is not None and self.reach.is_short

    def judge(self, estimate: Measurement) -> bool | None:
        """Whether the estimate is as it must be; None where nobody can tell."""
        if self.out_of_reach or estimate.missing or math.isnan(estimate.value):
            return None
        return self._is_so(estimate)

    def doubt(self, estimates: Sequence[Measurement]) -> str:
        """Why a claim is open, of the estimates that leave it open."""
        if any(estimate.missing for estimate in estimates):
            return INCOMPLETE
        return NOTHING if all(math.isnan(estimate.value) for estimate in estimates) else self._doubt(estimates)

    def _doubt(self, estimates: Sequence[Measurement]) -> str:
        """Why estimates of which there is a number leave a claim open."""
        return ACROSS

    def factor(self, estimate: Measurement) -> float:
        """How many times larger or smaller than predicted the estimate is, at least 1; 1 where that says nothing."""
        return 1.0

    def worst(self, estimates: Mapping[str, Measurement]) -> str:
        """The name of the estimate that is farthest from what is predicted, the first of several."""
        return max(estimates, key=lambda name: abs(estimates[name].value - self.predicted))

    def whose(self, estimates: Mapping[str, Measurement], worst: str) -> str:
        """Which of several estimates is the worst, in words."""
        return f"the {self._extreme} of {len(estimates)}: {worst}"

    @property
    def _extreme(self) -> str:
        """What the worst of several estimates is called."""
        return {"<": "largest", "<=": "largest", ">": "least", ">=": "least"}.get(self.relation, "farthest")

    def _is_so(self, estimate: Measurement) -> bool | None:
        raise NotImplementedError

    def _judges(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Exponent(Rule):
    """An exponent lies in a band.

    least, most
        the band in which the slope must lie, with an interval of at most WIDEST; least is -inf for a bound from above,
        most is inf for one from below, and of these the whole interval must be on the right side.
    upper
        the larger of two exponents, ``predicted`` being the smaller, where the slope must lie between those of a lower
        and of an upper bound; None where one is predicted.
    """

    least: float = -math.inf
    most: float = math.inf
    upper: float | None = None

    @classmethod
    def near(cls, predicted: float, tolerance: float, why: str) -> "Exponent":
        """A band of ``tolerance`` either way."""
        return cls(predicted, why, predicted - tolerance, predicted + tolerance)

    @classmethod
    def between(cls, lower: float, upper: float, tolerance: float, why: str) -> "Exponent":
        """A band from ``tolerance`` below the smaller of two exponents to ``tolerance`` above the larger."""
        return cls(lower, why, lower - tolerance, upper + tolerance, upper)

    @property
    def relation(self) -> Relation:
        if self.least == -math.inf:
            return "<="
        if self.most == math.inf:
            return ">="
        return "=" if self.upper is None else "between"

    def _judges(self) -> str:
        if self.least == -math.inf:
            return f"the whole 95 % interval of the slope is at most {self.most:.4g}"
        if self.most == math.inf:
            return f"the whole 95 % interval of the slope is at least {self.least:.4g}"
        return f"the slope lies in [{self.least:.4g}, {self.most:.4g}], its 95 % interval at most {WIDEST:g} wide"

    def _is_so(self, estimate: Measurement) -> bool | None:
        if estimate.low > self.most or estimate.high < self.least:
            return False
        if self.least == -math.inf:
            return estimate.high <= self.most or None
        if self.most == math.inf:
            return estimate.low >= self.least or None
        return (_is_narrow(estimate) and self.least <= estimate.value <= self.most) or None

    def _doubt(self, estimates: Sequence[Measurement]) -> str:
        two_sided = -math.inf < self.least and self.most < math.inf
        return NEARLY if two_sided and all(map(_is_narrow, estimates)) else TOO_WIDE

    def worst(self, estimates: Mapping[str, Measurement]) -> str:
        return max(estimates, key=lambda name: self._excess(estimates[name]))

    def _excess(self, estimate: Measurement) -> tuple[float, float]:
        """How far the slope is from what is predicted, on the side that counts, and the end of its interval there."""
        if self.least == -math.inf:
            return estimate.value, estimate.high
        if self.most == math.inf:
            return -estimate.value, -estimate.low
        upper = self.predicted if self.upper is None else self.upper
        return max(self.predicted - estimate.value, estimate.value - upper), estimate.high - estimate.low

    def whose(self, estimates: Mapping[str, Measurement], worst: str) -> str:
        slopes = ", ".join(
            f"{name} {one.value:.2f} ({one.low:.2f} to {one.high:.2f})" for name, one in estimates.items()
        )
        return f"the {self._extreme} is {worst}; {slopes}"


def _is_narrow(estimate: Measurement) -> bool:
    return estimate.high - estimate.low <= WIDEST


@dataclass(frozen=True)
class Bounded(Rule):
    """A number lies on one side of a bound.

    side
        which side.
    by
        "interval": the whole interval must, and fails if none of it does; "estimate": the number must, whatever its
        interval; "computed": the same, as there is none.
    """

    side: Literal["<", "<=", ">", ">="] = "<="
    by: Literal["interval", "estimate", "computed"] = "interval"

    @property
    def relation(self) -> Relation:
        return self.side

    def _judges(self) -> str:
        what = {"interval": "the whole 95 % interval is", "estimate": "the estimate is", "computed": "computed;"}[
            self.by
        ]
        return f"{what} {RELATIONS[self.side]} {number(self.predicted)}"

    def _is_so(self, estimate: Measurement) -> bool | None:
        ends = (estimate.low, estimate.high) if self.by == "interval" else (estimate.value,)
        inside = [bool(COMPARED[self.side](end, self.predicted)) for end in ends]
        return all(inside) if all(inside) == any(inside) else None

    def factor(self, estimate: Measurement) -> float:
        ratio = estimate.value / self.predicted if self.predicted else math.nan
        return max(ratio, 1.0 / ratio) if 0.0 < ratio < math.inf else 1.0

    def worst(self, estimates: Mapping[str, Measurement]) -> str:
        if self.side in ("<", "<="):
            return max(estimates, key=lambda name: estimates[name].high)
        return min(estimates, key=lambda name: (estimates[name].value, estimates[name].low))


@dataclass(frozen=True)
class Exactly(Rule):
    """A number that was computed or counted is what it must be.

    rounding
        by how much floating point may miss it.
    """

    rounding: float = 0.0

    def _judges(self) -> str:
        return f"computed; equal to {number(self.predicted)}" + (f" up to {self.rounding:g}" if self.rounding else "")

    def whose(self, estimates: Mapping[str, Measurement], worst: str) -> str:
        return ", ".join(f"{name} {number(estimate.value)}" for name, estimate in estimates.items())

    def _is_so(self, estimate: Measurement) -> bool:
        return estimate.value == self.predicted or abs(estimate.value - self.predicted) <= self.rounding


@dataclass(frozen=True)
class About(Rule):
    """A number is about what the paper says.

    least, most
        what "about" is taken to mean; the interval is not asked.
    """

    least: float = -math.inf
    most: float = math.inf

    @property
    def relation(self) -> Relation:
        return "~"

    def _judges(self) -> str:
        if self.least == -math.inf:
            return f"the estimate is at most {self.most:,.6g}"
        return f"the estimate lies from {self.least:,.6g} to {self.most:,.6g}"

    def _is_so(self, estimate: Measurement) -> bool:
        return self.least <= estimate.value <= self.most


@dataclass(frozen=True)
class Rate(Rule):
    """A share is at least, or at most, what is predicted.

    It holds if the estimate is where it is claimed to be and the 95 % interval ends before a limit that a false claim
    would reach.  It fails if an interval of 99.9 % lies on the other side of what is claimed, since what is claimed may
    be only just so.  Else nobody can tell.

    reached
        what the estimate must reach: what is predicted, but for what is only just so, and then chance needs room.
    limit
        which the whole interval must leave on its other side; whether the share is at least or at most what is
        predicted, this tells.
    slack
        by how much the share may be missed.
    interval
        the kind of the interval, for people.
    """

    reached: float = math.nan
    limit: float = math.nan
    slack: float = 0.0
    interval: str = "Clopper and Pearson"

    @property
    def from_below(self) -> bool:
        """Whether the share is at least what is predicted."""
        return self.limit < self.predicted

    @property
    def relation(self) -> Relation:
        return ">=" if self.from_below else "<="

    def _judges(self) -> str:
        most, beyond = ("least", "above") if self.from_below else ("most", "below")
        interval = f"its whole 95 % interval ({self.interval}) {beyond} {self.limit:.3g}"
        return f"each is at {most} {self.reached:.3g}, {interval}"

    def _is_so(self, estimate: Measurement) -> bool | None:
        sign = 1.0 if self.from_below else -1.0
        end = estimate.high if self.from_below else estimate.low
        surely = estimate.value + SURELY * (end - estimate.value)
        if sign * (surely - self.predicted) < -self.slack:
            return False
        return (sign * (estimate.value - self.reached) >= 0.0 and self.is_narrow(estimate)) or None

    def is_narrow(self, estimate: Measurement) -> bool:
        """Whether the whole interval leaves the limit on its other side."""
        return estimate.low >= self.limit if self.from_below else estimate.high <= self.limit

    def _doubt(self, estimates: Sequence[Measurement]) -> str:
        return NEARLY if all(map(self.is_narrow, estimates)) else TOO_WIDE

    def worst(self, estimates: Mapping[str, Measurement]) -> str:
        if self.from_below:
            return min(estimates, key=lambda name: (estimates[name].value, estimates[name].low))
        return max(estimates, key=lambda name: (estimates[name].value, estimates[name].high))


@dataclass(frozen=True)
class Undecidable(Rule):
    """What is predicted is of something else than what was measured, so nothing follows."""

    def _judges(self) -> str:
        return "nothing decides"

    def _is_so(self, estimate: Measurement) -> None:
        return None

    def doubt(self, estimates: Sequence[Measurement]) -> str:
        return ""

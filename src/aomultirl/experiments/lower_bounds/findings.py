"""What an experiment of the laboratory finds: claims with a verdict, and figures of what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


class Claim(NamedTuple):
    """One claim, and whether it holds.

    claim, place
        what is claimed, in a sentence, and where in the paper.
    predicted
        an exponent or a value, in words where it is neither.
    measured, low, high
        with its 95 % interval; low = high = measured where it is computed exactly.
    holds
        judged by the rule that ``rule`` states.
    rule
        how it is judged: the tolerance of an exponent, the bound that must not be crossed.
    reason
        why it does not hold, or what else there is to say.
    figure
        the name of the figure that shows it; empty for none.
    """

    claim: str
    place: str
    predicted: float | str
    measured: float
    low: float
    high: float
    holds: bool
    rule: str
    reason: str = ""
    figure: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return self._asdict()


class Series(NamedTuple):
    """Points that belong together, with intervals where they were sampled.

    kind: "measured", "fit" for a fitted line, "theory" for a curve of the paper.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    kind: Literal["measured", "fit", "theory"] = "measured"


class Figure(NamedTuple):
    """A figure: its name (for files and anchors), what it shows in a sentence, axes and series."""

    name: str
    title: str
    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = True
    log_y: bool = True
    caption: str = ""


@dataclass
class Findings:
    """Of one experiment, or of all."""

    claims: list[Claim] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def __add__(self, other: "Findings") -> "Findings":
        return Findings(self.claims + other.claims, self.figures + other.figures)

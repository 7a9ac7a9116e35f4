"""What an experiment of the laboratory finds: claims with a verdict, and figures of what was measured."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from aomultirl.analysis.charts import Chart as Figure
from aomultirl.analysis.charts import Series, Subject

__all__ = ["Claim", "Figure", "Findings", "Relation", "Series", "Subject"]

Relation = Literal["=", "<", "<=", ">", ">="]


class Claim(NamedTuple):
    """One claim, and whether it holds.

    claim, place
        what is claimed, in a sentence, and where in the paper.
    predicted
        a number: an exponent, a value, or a bound, as ``relation`` says.
    measured, low, high
        a number, and its 95 % interval; low = high = measured where it is computed exactly.  An end that is not there
        is infinite, and what could not be measured NaN.
    holds
        judged by the rule that ``rule`` states.
    rule
        how it is judged: the tolerance of an exponent, the bound that must not be crossed.
    reason
        why it does not hold, or what else there is to say.
    figure
        the name of the figure that shows it.
    relation
        what is claimed: that ``measured`` is equal to ``predicted``, below it, at most it, above it, or at least it.
    unit
        what the numbers are multiples, shares or counts of, in words; empty for exponents and probabilities.
    undecided
        it neither holds nor fails: what was measured is too little to tell.  Then ``holds`` is False.
    """

    claim: str
    place: str
    predicted: float
    measured: float
    low: float
    high: float
    holds: bool
    rule: str
    reason: str = ""
    figure: str = ""
    relation: Relation = "="
    unit: str = ""
    undecided: bool = False

    @property
    def verdict(self) -> bool | None:
        """Whether it holds; None where that is open."""
        return None if self.undecided else self.holds

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return self._asdict()


@dataclass
class Findings:
    """Of one experiment, or of all."""

    claims: list[Claim] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def __add__(self, other: "Findings") -> "Findings":
        return Findings(self.claims + other.claims, self.figures + other.figures)

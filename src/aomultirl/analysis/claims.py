"""Claims of the paper: a statement, its place, what was measured, and the rule from which the verdict follows.

A claim holds if all that was measured does as its rule asks, fails if something does not, and else is open: too little
was measured to tell.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aomultirl.analysis.phrases import number
from aomultirl.analysis.rules import RELATIONS, Measurement, Rule


@dataclass(frozen=True)
class Claim:
    """One claim, and what became of it.

    claim, place
        what is claimed, in a sentence, and where in the paper.
    rule
        how it is judged, and what is predicted.
    estimates
        what was measured, by the name of whose it is; all of it must be as the rule asks, and the worst is shown.
    remark
        what else there is to say, in words.
    explanation
        why the claim fails, in words that are said only where it does.
    figure
        the name of the chart that shows it.
    unit
        what the numbers are multiples, shares or counts of, in words; empty for exponents and probabilities.
    group
        the name of the group of claims that it belongs to.
    """

    claim: str
    place: str
    rule: Rule
    estimates: Mapping[str, Measurement]
    remark: str = ""
    explanation: str = ""
    figure: str = ""
    unit: str = ""
    group: str = ""

    @property
    def verdict(self) -> bool | None:
        """Whether it holds; None where that is open."""
        verdicts = [self.rule.judge(estimate) for estimate in self.estimates.values()]
        if any(verdict is False for verdict in verdicts):
            return False
        return True if all(verdicts) else None

    @property
    def holds(self) -> bool:
        """Whether it holds, and that is not open."""
        return self.verdict is True

    @property
    def undecided(self) -> bool:
        """Whether it neither holds nor fails: too little was measured to tell."""
        return self.verdict is None

    @property
    def estimate(self) -> Measurement:
        """The worst of what was measured."""
        return self.estimates[self.rule.worst(self.estimates)]

    @property
    def predicted(self) -> float:
        return self.rule.predicted

    @property
    def measured(self) -> float:
        return self.estimate.value

    @property
    def low(self) -> float:
        return self.estimate.low

    @property
    def high(self) -> float:
        return self.estimate.high

    @property
    def reason(self) -> str:
        """Why it does not hold, and what else there is to say."""
        doubt = self.rule.doubt(list(self.estimates.values())) if self.undecided else ""
        explanation = self.explanation if self.verdict is False else ""
        several = len(self.estimates) > 1 and not math.isnan(self.measured)
        whose = self.rule.whose(self.estimates) if several else ""
        return "; ".join(filter(None, [doubt, explanation, whose, self.remark]))

    def as_json(self) -> dict[str, Any]:
        """As strict JSON holds it: numbers are numbers, and null where there is none, such as an infinite end."""
        return {
            "claim": self.claim,
            "place": self.place,
            "predicted": _finite(self.predicted),
            "measured": _finite(self.measured),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "holds": self.holds,
            "rule": self.rule.words,
            "reason": self.reason,
            "figure": self.figure,
            "relation": self.rule.relation,
            "unit": self.unit,
            "undecided": self.undecided,
            "group": self.group,
            "words": self._words(),
        }

    def _words(self) -> dict[str, str]:
        """What is predicted, with its relation and unit, what was measured and its interval, as people read them."""
        value = " ".join(filter(None, [RELATIONS[self.rule.relation], number(self.predicted)]))
        has_none = self.low == self.high or math.isnan(self.measured)
        return {
            "predicted": ", ".join(filter(None, [value, self.unit])),
            "measured": number(self.measured),
            "interval": "" if has_none else f"{number(self.low)} to {number(self.high)}",
        }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def summary(claims: Sequence[Claim]) -> str:
    """How many claims hold, fail and are open."""
    holding, failing, unknown = (sum(claim.verdict is one for claim in claims) for one in (True, False, None))
    words = ((failing, "fails" if failing == 1 else "fail"), (unknown, "open"))
    rest = [f"{count} {what}" for count, what in words if count]
    return f"{holding} of {len(claims)} claims hold" + "".join(f", {part}" for part in rest)

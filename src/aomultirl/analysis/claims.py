"""Claims of the paper: a statement, its place, what was measured, and the rule from which the verdict follows.

A claim holds if all that was measured does as its rule asks, fails if something does not, and else is open: too little
was measured to tell.  It is out of reach if what it says could not show itself in what was run, however it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from aomultirl.analysis.phrases import number
from aomultirl.analysis.rules import UNMEASURED, Measurement, Rule

Outcome = Literal["fails", "out of reach", "open", "holds"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""What may become of a claim; what surprises most comes first."""


class Plain(NamedTuple):
    """A claim for somebody who has not read the paper.

    statement
        what is claimed, a sentence without its full stop.
    found
        what was measured, as the rest of a sentence that may come after any outcome.
    """

    statement: str
    found: str


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
    plain
        the claim in plain words, for the sentences with which a page begins; None for most.
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
    plain: Plain | None = None

    @property
    def verdict(self) -> bool | None:
        """Whether it holds; None where that is open or out of reach, as it is where nothing was measured."""
        verdicts = [self.rule.judge(estimate) for estimate in self.estimates.values()] or [None]
        if any(verdict is False for verdict in verdicts):
            return False
        return True if all(verdicts) else None

    @property
    def holds(self) -> bool:
        """Whether it holds, and that is not open."""
        return self.verdict is True

    @property
    def undecided(self) -> bool:
        """Whether it neither holds nor fails: too little was measured to tell, or it is out of reach."""
        return self.verdict is None

    @property
    def outcome(self) -> Outcome:
        """What became of it, in a word."""
        if self.rule.out_of_reach:
            return "out of reach"
        verdict = self.verdict
        if verdict is None:
            return "open"
        return "holds" if verdict else "fails"

    @property
    def surprise(self) -> tuple[int, float]:
        """Sorts claims, the surprising first: by their outcomes, then by how far what was measured is from a bound."""
        return OUTCOMES.index(self.outcome), -self.rule.factor(self.estimate)

    @property
    def deciding(self) -> Mapping[str, Measurement]:
        """What was measured of those that have the verdict of the claim; all of it where there are none."""
        verdict = self.verdict
        found = {name: one for name, one in self.estimates.items() if self.rule.judge(one) is verdict}
        return found or self.estimates

    @property
    def worst(self) -> str:
        """The name of the worst of what decides."""
        return self.rule.worst(self.deciding)

    @property
    def estimate(self) -> Measurement:
        """The worst of what decides."""
        return self.estimates[self.worst] if self.estimates else UNMEASURED

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
        doubt = self.rule.doubt(list(self.deciding.values())) if self.outcome == "open" else ""
        if self.rule.out_of_reach:
            doubt = str(self.rule.reach)
        explanation = self.explanation if self.verdict is False else ""
        several = len(self.estimates) > 1 and not math.isnan(self.measured)
        whose = self.rule.whose(self.estimates, self.worst) if several else ""
        return "; ".join(filter(None, [doubt, explanation, whose, self.remark]))

    def as_json(self) -> dict[str, Any]:
        """As strict JSON holds it: numbers are numbers, and null where there is none, such as an infinite end."""
        return {
            "claim": self.claim,
            "place": self.place,
            "predicted": _finite(self.predicted),
            "upper": None if self.rule.upper is None else _finite(self.rule.upper),
            "measured": _finite(self.measured),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "holds": self.holds,
            "verdict": self.outcome,
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
        has_none = self.low == self.high or math.isnan(self.measured)
        return {
            "predicted": ", ".join(filter(None, [self.rule.expected, self.unit])),
            "measured": number(self.measured),
            "interval": "" if has_none else f"{number(self.low)} to {number(self.high)}",
        }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def summary(claims: Sequence[Claim]) -> str:
    """How many claims hold, fail, are open and are out of reach."""
    found = [claim.outcome for claim in claims]
    failing = found.count("fails")
    words = {
        "fails" if failing == 1 else "fail": failing,
        **{one: found.count(one) for one in ("open", "out of reach")},
    }
    rest = [f"{count} {what}" for what, count in words.items() if count]
    return f"{found.count('holds')} of {len(claims)} claims hold" + "".join(f", {part}" for part in rest)

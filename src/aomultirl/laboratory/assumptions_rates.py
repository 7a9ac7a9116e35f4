"""How sampled claims on the assumptions are judged: by the estimate and by its whole interval.

A rate holds if the estimate is where it is claimed to be and the 95 % interval ends before a limit that a claim that is
false would reach.  It fails if an interval of 99.9 % lies on the other side of what is claimed, since what is claimed
may be only just so.  Else nobody can tell.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.laboratory.assumptions_blocked import FAILURE, WORLDS
from aomultirl.laboratory.findings import Claim
from aomultirl.laboratory.sweeps import NEARLY, TOO_WIDE, Mean

EXACT, STUDENT = "Clopper and Pearson", "Student"
SURELY = 1.7
"""How many times wider than one of 95 % an interval of 99.9 % is."""
MARGIN = 0.15
"""From what is claimed to the limit, where nothing else suggests itself."""


class Required(NamedTuple):
    """What is claimed of a share.

    claimed
        it is at least this, or at most; which, ``limit`` tells.
    estimate
        what the estimate must reach: the same, but for what is only just so, and then chance needs room.
    limit
        which the whole interval must leave on its other side.
    why
        the reason of the limit.
    slack
        by how much it may be missed.
    """

    claimed: float
    estimate: float
    limit: float
    why: str
    slack: float = 0.0

    @property
    def from_below(self) -> bool:
        """Whether it is at least what is claimed."""
        return self.limit < self.claimed

    def holds(self, found: Mean) -> bool:
        """Whether the estimate and the interval are where they must be, and the interval does not say otherwise."""
        reaches = found.mean >= self.estimate if self.from_below else found.mean <= self.estimate
        return reaches and self.is_narrow(found) and not self.fails(found)

    def fails(self, found: Mean) -> bool:
        """Whether an interval of 99.9 % lies on the wrong side; it may neither hold nor fail."""
        if self.from_below:
            return found.mean + SURELY * (found.high - found.mean) < self.claimed - self.slack
        return found.mean - SURELY * (found.mean - found.low) > self.claimed + self.slack

    def is_narrow(self, found: Mean) -> bool:
        """Whether the whole interval leaves the limit on its other side."""
        return found.low >= self.limit if self.from_below else found.high <= self.limit

    def rule(self, interval: str) -> str:
        """In words."""
        most, beyond = ("least", "above") if self.from_below else ("most", "below")
        return (
            f"each is at {most} {self.estimate:.3g}, its whole 95 % interval ({interval}) {beyond} {self.limit:.3g}: "
            + self.why
        )

    def worst(self, found: Mapping[str, Mean]) -> str:
        """Whose is the farthest from what is claimed, or the most doubtful of these."""
        if self.from_below:
            return min(found, key=lambda name: (found[name].mean, found[name].low))
        return max(found, key=lambda name: (found[name].mean, found[name].high))


NAMES = Required(
    1.0 - FAILURE, 1.0 - FAILURE, 1.0 - FAILURE - MARGIN, "the interval of who is right in three of five begins below"
)
CHANCE = Required(
    1.0 / WORLDS,
    1.0 / WORLDS + MARGIN,
    2.0 / WORLDS,
    "who names by chance is above 1 / M every second time, 2 / M is no chance",
)
LOSES = Required(
    1.0 - 1.0 / WORLDS,
    1.0 - 1.0 / WORLDS - MARGIN / 3.0,
    1.0 - 1.0 / WORLDS - MARGIN,
    "who remembers one right action loses just that, up to chance; who knows every second world is far below",
    0.02,
)
GATHERS = Required(1.0 - FAILURE, 1.0 - FAILURE, 1.0 - FAILURE - MARGIN, "the lemma promises 1 - p")
FALLS_SHORT = Required(FAILURE, FAILURE, FAILURE + MARGIN, "the lemma would promise 1 - p")


def rate(hits: NDArray[np.bool_]) -> Mean:
    """How often, and its interval.

    Examples
    --------
    >>> rate(np.array([True, True, False, True])).mean
    0.75
    """
    low, high = theory.binomial_interval(int(hits.sum()), len(hits))
    return Mean(float(hits.mean()), float(low), float(high))


def judge(
    claim: str,
    place: str,
    required: Required,
    found: Mapping[str, Mean],
    figure: str,
    unit: str,
    reason: str = "",
    interval: str = EXACT,
) -> Claim:
    """The claim on one share or several, of which the worst is given.

    Parameters
    ----------
    found
        by the name of whose share it is.
    reason
        what else there is to say.
    interval
        what kind it is.
    """
    name = required.worst(found)
    holds, fails = all(map(required.holds, found.values())), any(map(required.fails, found.values()))
    doubt = "" if holds or fails else (NEARLY if all(map(required.is_narrow, found.values())) else TOO_WIDE)
    whose = f"the {'least' if required.from_below else 'most'}: {name}" if len(found) > 1 else ""
    return Claim(
        claim,
        place,
        required.claimed,
        *found[name],
        holds,
        required.rule(interval),
        "; ".join(filter(None, [doubt, whose, reason])),
        figure,
        ">=" if required.from_below else "<=",
        unit,
        bool(doubt),
    )

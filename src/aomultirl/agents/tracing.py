"""The evidence of some episodes, kept for pictures: the first of each cluster, and the last of all."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from aomultirl import checks
from aomultirl.records import Within

MOST = 8
"""Episodes that are kept."""
VERDICTS = ("new", "accepted", "abstained")


@dataclass
class Trace:
    """One episode.

    episode
        its number.
    verdict
        one of VERDICTS.
    cluster
        its number, -1 for none.
    looks
        what was seen at every look, by name, and the names of the worlds that it is about: lists of numbers, or of
        lists of numbers.
    """

    episode: Annotated[int, Within(0)]
    verdict: str
    cluster: Annotated[int, Within(-1)]
    looks: dict[str, list[Any]]

    def __post_init__(self) -> None:
        checks.choice("the verdict of a trace", self.verdict, VERDICTS)
        for name, values in self.looks.items():
            _check_numbers(values, f"{name} of a trace")

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it, what was seen beside the rest."""
        return {"episode": self.episode, "verdict": self.verdict, "cluster": self.cluster, **self.looks}


@dataclass
class Traces:
    """At most MOST episodes."""

    kept: Annotated[list[Trace], Within(most=MOST)] = field(default_factory=list)

    def keep(self, trace: Trace) -> None:
        """One more episode; it takes the place of the last one unless a cluster is new or there is room."""
        last = self.kept[-1] if self.kept else None
        if last is not None and last.verdict != "new" and (trace.verdict == "new" or len(self.kept) >= MOST):
            self.kept.pop()
        if len(self.kept) >= MOST:
            self.kept.pop(next((i for i, old in enumerate(self.kept) if old.verdict != "new"), 0))
        self.kept.append(trace)

    def as_dicts(self) -> list[dict[str, Any]]:
        """As JSON can hold them."""
        return [trace.as_dict() for trace in self.kept]


def _check_numbers(values: list[Any], place: str) -> None:
    for value in values:
        if isinstance(value, list):
            _check_numbers(value, place)
        elif type(value) not in (int, float):
            raise ValueError(f"{place} holds {checks.shown(value)}, not a number")

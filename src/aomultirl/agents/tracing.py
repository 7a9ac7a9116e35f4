"""The evidence of some episodes, kept for pictures: the first of each cluster, and the last of all."""

from typing import Any

from aomultirl import checks
from aomultirl.agents.state import Saved

MOST = 8
VERDICTS = ("new", "accepted", "abstained")


class Traces:
    """At most eight episodes, each a dict with "episode", "verdict", "cluster", "steps" and what was seen then."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    def keep(self, trace: dict[str, Any]) -> None:
        """One more episode; it takes the place of the last one unless a cluster is new or there is room."""
        last = self.kept[-1] if self.kept else None
        if last is not None and last["verdict"] != "new" and (trace["verdict"] == "new" or len(self.kept) >= MOST):
            self.kept.pop()
        if len(self.kept) >= MOST:
            self.kept.pop(next((i for i, old in enumerate(self.kept) if old["verdict"] != "new"), 0))
        self.kept.append(trace)

    def restore(self, saved: Saved) -> None:
        """Take over the list ``traces`` of ``saved``; what was seen is for pictures alone."""
        self.kept = []
        for one in saved.each("traces", most=MOST):
            head = {"episode": one.integer("episode"), "verdict": one.value("verdict")}
            if head["verdict"] not in VERDICTS:
                said = checks.shown(head["verdict"])
                raise ValueError(f"{one.place}.verdict is {said}, none of {', '.join(VERDICTS)}")
            cluster = one.integer("cluster", least=-1)
            rest = {name: _numbers(one.value(name), f"{one.place}.{name}") for name in one.unread()}
            self.kept.append({**head, "cluster": cluster, **rest})


def _numbers(values: Any, place: str) -> list[Any]:
    """Numbers, or lists of numbers, as long as there were looks."""
    if not isinstance(values, list):
        raise ValueError(f"{place} must be a list, not {checks.shown(values)}")
    for value in values:
        if isinstance(value, list):
            _numbers(value, place)
        elif type(value) not in (int, float):
            raise ValueError(f"{place} holds {checks.shown(value)}, not a number")
    return values

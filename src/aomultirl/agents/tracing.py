"""The evidence of some episodes, kept for pictures: the first of each cluster, and the last of all."""

from typing import Any

MOST = 8


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

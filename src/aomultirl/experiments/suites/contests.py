"""A place where all peers meet: worlds, a stream, and the rows that they make."""

from dataclasses import dataclass
from typing import Any

from aomultirl.experiments.suites.cases import SHARE, SuiteCase, Window
from aomultirl.experiments.suites.entrants import Contest, entrants

WHOLE = "whole run"
WINDOWS = (Window(WHOLE), Window("last quarter", last_quarter=True))
"""The two columns: what learning cost, and what it came to."""


@dataclass(frozen=True)
class Place:
    """Worlds and the stream that they come in.

    name
        the worlds, in words.
    world, stream
        {"name", "parameters"} each.
    contest
        what the agents are told.
    """

    name: str
    world: dict[str, Any]
    stream: dict[str, Any]
    contest: Contest

    def cases(self) -> list[SuiteCase]:
        """A row for everybody who fits; nobody is asked for a number."""
        return [
            SuiteCase(
                place=self.name,
                told=label,
                world=self.world,
                stream=self.stream,
                agent=described,
                episodes=self.contest.episodes,
                horizon=self.contest.horizon,
                aim=SHARE,
                windows=WINDOWS,
                asks_worlds=True,
            )
            for label, described in entrants(self.contest).items()
        ]


def stream(name: str, **parameters: Any) -> dict[str, Any]:
    """{"name", "parameters"} of a stream of ``ao.streams``."""
    return {"name": name, "parameters": parameters}

"""Tasks of an experiment, who carries them out, and what is found: claims with a verdict, and charts.

Each task has randomness of its own, so that who carries it out makes no difference.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from aomultirl.analysis.charts import Chart
from aomultirl.analysis.claims import Claim
from aomultirl.experiments.executors import Executor


class Playable(Hashable, Protocol):
    """Something to be done: plain data that can be sent to another process."""

    def play(self, seed: int) -> Any:
        """Carry the task out, and return what came of it."""
        ...


T = TypeVar("T", bound=Playable)


def carry_out(tasks: Iterable[T], key: int, seed: int, executor: Executor) -> dict[T, Any]:
    """What came of each task; a task that is there twice is carried out once.

    Parameters
    ----------
    key
        tells experiments apart that share a seed.
    """
    listed = list(dict.fromkeys(tasks))
    own = [int(np.random.SeedSequence(seed, spawn_key=(key, i)).generate_state(1)[0]) for i in range(len(listed))]
    items = [(i, task, mine) for i, (task, mine) in enumerate(zip(listed, own, strict=True))]
    results = dict(executor.map(_play, items))
    return {task: results[i] for i, task in enumerate(listed)}


def _play(item: tuple[int, Playable, int]) -> tuple[int, Any]:
    number, task, seed = item
    return number, task.play(seed)


@dataclass
class Findings:
    """What an experiment finds, or several: the claims, and the charts that show them."""

    claims: list[Claim] = field(default_factory=list)
    figures: list[Chart] = field(default_factory=list)

    def __add__(self, other: "Findings") -> "Findings":
        return Findings(self.claims + other.claims, self.figures + other.figures)

    @classmethod
    def shown(cls, chart: Chart, *claims: Claim) -> "Findings":
        """A chart, and the claims that it shows."""
        return cls([replace(claim, figure=chart.name) for claim in claims], [chart])

    def of_group(self, name: str) -> "Findings":
        """The same, the claims being of the group of this name."""
        return Findings([replace(claim, group=name) for claim in self.claims], self.figures)

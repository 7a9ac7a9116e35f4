"""Tasks of an experiment, who carries them out, and what is found: claims with a verdict, and charts.

Each task has randomness of its own, so that who carries it out makes no difference.  The constants say where in the
paper the claims stand, in the numbers of docs/paper_map.md; E4 and the like are errata listed there.
"""

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from aomultirl.analysis.charts import Chart
from aomultirl.analysis.claims import Claim
from aomultirl.experiments.executors import Executor

TOLD = "Section 1, the lower bound for a learner that is told the task"
LEMMA_5 = "Section 3, Lemma 5 (minimax lower bound; E2, E3)"
UCRL2 = "Section 3 and Appendix C, UCRL2 in every episode alone"
LEMMA_8 = "Section 3, Lemma 8 (samples to identify a world; E4)"
COROLLARY_9 = "Section 3, Corollary 9 (steps of the clustering phase; E4)"
REMARK_11 = "Section 3, Remark 11 (1 / lambda^2 cannot be improved)"
ASSUMPTION_12 = "Section 4, Assumption 12 (finite hitting time)"
LEMMA_14 = "Section 4, Lemma 14 (H0 steps of ExploreID; E7)"
THEOREM_16 = "Section 4, Theorem 16 (regret of AOMultiRL)"
LEMMA_22 = "Appendix B, Lemma 22 (lambda-separable but not by entropy; E16)"
FIGURE_4 = "Appendix C, Figure 4 (non-communicating 2-JAO worlds)"
LEMMA_23 = "Appendix C, Lemma 23 (Q x 2 coins)"
COROLLARY_24 = "Appendix C, Corollary 24 (a second column that does not help)"
TREES = "Appendix C, composites with S states and A actions (E5)"
THEOREM_37 = "Appendix H, Theorem 37 (samples of both phases; E12, E13)"
APPENDIX_G = "Appendix G, unknown hitting time (GOSPRL in place of ExploreID; E30)"


class Playable(Hashable, Protocol):
    """Something to be done: plain data that can be sent to another process."""

    def play(self, seed: int) -> Any:
        """Carry the task out, and return what came of it."""
        ...


Task = TypeVar("Task", bound=Playable)


def carry_out(tasks: Iterable[Task], key: int, seed: int, executor: Executor) -> dict[Task, Any]:
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
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="a cluster takes")  # what some tasks are about
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

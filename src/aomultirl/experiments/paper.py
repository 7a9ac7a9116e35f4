"""The paper's experiment (Section 5 and Appendix J): five agents, K = 200 episodes, ten runs, four grids.

All agents of a run meet the same tasks.  The two-stage agent first meets each world once, with H1 = 0, so its run has M
episodes more; they do not count in the metric.  Its H1 = 0, the descending scan and the clusters that are carried over
are those of the authors' code.  The learners' bonus is above its cap for as long as the experiment lasts, so all of
them act at random while they learn, and are judged by the bonus-free policy, as in the paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.completion import Observer, complete
from aomultirl.experiments.episodes import read_episodes
from aomultirl.experiments.executors import local
from aomultirl.experiments.history import History
from aomultirl.experiments.store import Store
from aomultirl.model_set import ModelSet
from aomultirl.worlds import gridworld

OPTIMAL, GIVEN, DISCOVERED, ALONE, RANDOM = (
    "Optimal",
    "AOMultiRL, set given",
    "AOMultiRL, set discovered",
    "One-episode UCBVI",
    "Random",
)
LABELS = (OPTIMAL, GIVEN, DISCOVERED, ALONE, RANDOM)
SEPARATION, HITTING_TIME, FAILURE, HORIZON = 1.3 - 1e-6, 7.0, 0.03, 200
GAMMA = ((1, 0), (8, 3), (2, 1))
WORLDS = 4
MOST_RUNS = 100_000
"""Runs of each agent; every one is a file."""


@dataclass(frozen=True)
class PaperExperiment:
    """Its size, seed and versions: edges "stay", as the authors ran it, or "third"; constants "released" or "paper"."""

    runs: int = 10
    episodes: int = 200
    seed: int = 0
    edges: str = "stay"
    constants: str = "released"

    def __post_init__(self) -> None:
        checks.integer("runs", self.runs, least=1, limit=MOST_RUNS)
        read_episodes("episodes", self.episodes)
        checks.seed("seed", self.seed)
        checks.choice("edges", self.edges, ("stay", "third"))
        checks.choice("constants", self.constants, ("released", "paper"))

    def models(self) -> ModelSet:
        """The four grids."""
        return gridworld(edges=self.edges)

    def identity(self) -> dict[str, Any]:
        """What makes it this experiment and no other; more runs are the same experiment."""
        return {"kind": "paper", **{name: value for name, value in vars(self).items() if name != "runs"}}

    def command(self) -> str:
        """What runs it on the command line."""
        return " ".join(["aomultirl reproduce", *(f"--{name} {value}" for name, value in vars(self).items())])

    def cells(self) -> list[Cell]:
        """One for each agent and run, the longest first."""
        world = {"name": "gridworld", "parameters": {"edges": self.edges}}
        cells = []
        for label in (DISCOVERED, GIVEN, ALONE, RANDOM, OPTIMAL):
            first = WORLDS if label == DISCOVERED else 0
            stream = {"name": "paper", "parameters": {"each_first": bool(first)}}
            agent = self._agents()[label]
            for number in range(self.runs):
                cells.append(Cell(world, stream, agent, self.episodes + first, self.seed, number, label))
        return cells

    def _agents(self) -> dict[str, dict[str, Any]]:
        known = {
            "models": WORLDS,
            "separation": SEPARATION,
            "hitting_time": HITTING_TIME,
            "failure": FAILURE,
            "constants": self.constants,
            "learning_horizon": HORIZON,
            "bonus": self.constants,
        }
        given = {**known, "distinguishing_set": [list(pair) for pair in GAMMA]}
        found = {**known, "first_learning_horizon": 0, "scan": "descending"}
        alone = {"failure": FAILURE, "horizon": HORIZON, "bonus": self.constants}
        return {
            OPTIMAL: {"name": "Optimal", "parameters": {"horizon": HORIZON}},
            GIVEN: {"name": "AOMultiRL", "parameters": given},
            DISCOVERED: {"name": "TwoStageAOMultiRL", "parameters": found},
            ALONE: {"name": "OneEpisodeUCBVI", "parameters": alone},
            RANDOM: {"name": "Random", "parameters": {"horizon": HORIZON}},
        }


@dataclass(frozen=True)
class Results:
    """histories, manifests: for every agent's label, one for each run, in order."""

    experiment: PaperExperiment
    histories: dict[str, list[History]] = field(default_factory=dict)
    manifests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def counted(self, label: str, column: str) -> NDArray[Any]:
        """A column over the K episodes that the metric counts, (runs, K)."""
        return np.stack([history[column][-self.experiment.episodes :] for history in self.histories[label]])

    def aper(self, label: str, column: str = "evaluation_reward") -> NDArray[np.float64]:
        """The paper's metric, the running mean of the rewards, (runs, K); sampled, or exact with "evaluation_value"."""
        rewards = self.counted(label, column)
        return np.asarray(np.cumsum(rewards, axis=1) / np.arange(1, rewards.shape[1] + 1))


def run_paper(
    experiment: PaperExperiment, store: Store, workers: int = 1, observers: Sequence[Observer] = ()
) -> Results:
    """Compute the cells that are not in the store, and read all."""
    found = complete(store, local(workers), observers)
    if found.failed:
        cell, error = found.failed[0]
        raise RuntimeError(f"run {cell.number} of {cell.label!r} failed: {error}")
    results = Results(experiment)
    for cell in sorted(store.cells, key=lambda cell: (LABELS.index(cell.label), cell.number)):
        history, manifest = store.read(cell)
        results.histories.setdefault(cell.label, []).append(history)
        results.manifests.setdefault(cell.label, []).append(manifest)
    return results

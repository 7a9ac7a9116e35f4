"""Clusters: what was seen in the episodes that are held to be the same world (Section 4.2).

The paper keeps the samples of the two phases apart: those of the clustering phases identify, those of the learning
phases are learned from.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.learning import Known, Learning, Tally
from aomultirl.learning.base import rescaled
from aomultirl.records import Within


@dataclass
class Cluster:
    """What is known of one world.

    model
        counts of the clustering phases.
    model_sums
        (S * A,), the rewards of the clustering phases; empty where they are known.
    regret
        what the learner knows from the learning phases.
    """

    model: CountTable
    model_sums: Annotated[NDArray[np.float64], Within(0.0)]
    regret: Known

    @classmethod
    def empty(cls, learning: Learning) -> "Cluster":
        """Nothing is known yet."""
        nothing = learning.nothing()
        return cls(nothing.counts, nothing.sums, learning.nothing())

    def add_model(self, explored: Tally) -> None:
        """Add the samples of a clustering phase."""
        self.model.add(explored.counts)
        if len(self.model_sums) > 0:
            self.model_sums += explored.sums

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Rewards are shown as ``times`` what they were, ``plus`` so much: bring the sums to it."""
        self.model_sums[:] = rescaled(self.model_sums, self.model, times, plus)
        self.regret.rescale_rewards(times, plus)

    def together(self, learning: Learning, fresh: Tally | None = None) -> Known:
        """The samples of both phases, and of the present episode's clustering phase, as if all were for learning.

        The learner's own arrays are those of the learning phases: only these ran its behaviours.
        """
        known = replace(learning.nothing(), own=dict(self.regret.own))
        known.counts.add(self.regret.counts)
        known.sums += self.regret.sums
        for tally in (Tally(self.model, self.model_sums), fresh):
            if tally is not None:
                known.add(tally)
        return known


@dataclass
class ClusterMemory:
    """What the agents remember that put every episode in a cluster.

    clusters
        in order of first appearance.
    shared
        what the learner knows of all worlds alike.
    """

    clusters: Annotated[list[Cluster], Within(most="episodes")] = field(default_factory=list)
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)

"""Clusters: what was seen in the episodes that are held to be the same world (Section 4.2).

The paper keeps the samples of the two phases apart: those of the clustering phases identify, those of the learning
phases are learned from.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable


@dataclass
class Cluster:
    """model, regret: counts of the clustering and of the learning phases; their rewards summed, (S * A,)."""

    n_pairs: int
    model: CountTable = field(init=False)
    regret: CountTable = field(init=False)
    model_sums: NDArray[np.float64] = field(init=False)
    regret_sums: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.model, self.regret = CountTable(self.n_pairs), CountTable(self.n_pairs)
        self.model_sums, self.regret_sums = np.zeros(self.n_pairs), np.zeros(self.n_pairs)

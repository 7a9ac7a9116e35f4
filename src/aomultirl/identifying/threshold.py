"""IdentifyCluster, Algorithm 3 of the paper: the first cluster that no pair of Gamma contradicts.

An episode belongs to cluster c if ||P_c(s, a) - P_B(s, a)||_1 <= delta for every (s, a) in Gamma, with the empirical
transitions of the cluster's clustering phases and of this episode's.  Only Gamma is tested: the authors' code compares
all pairs, also hardly visited ones, and can split clusters.  A pair that one side never visited says nothing; that
exploration failed is reported elsewhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, Counts, CountTable, find, span, visits_of
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.clusters import Cluster

U = np.uint64


@kernel
def distance(a: Counts, b: Counts, pair: int) -> float:
    """l1 distance of the empirical transitions of a pair; 0 where one side never visited it."""
    n_a, n_b = visits_of(a, pair), visits_of(b, pair)
    if n_a == 0 or n_b == 0:
        return 0.0
    total = 0.0
    for slot in range(*span(a, pair)):
        key = a.slots[2 * slot]
        if key != EMPTY:
            other = find(b.heads, b.slots, U(pair), U(key))
            share = b.slots[other + U(1)] / n_b if b.slots[other] == key else 0.0
            total += abs(a.slots[2 * slot + 1] / n_a - share)
    for slot in range(*span(b, pair)):
        key = b.slots[2 * slot]
        if key != EMPTY and a.slots[find(a.heads, a.slots, U(pair), U(key))] != key:
            total += b.slots[2 * slot + 1] / n_b
    return total


@kernel
def largest_distance(a: Counts, b: Counts, pairs: NDArray[np.int64]) -> float:
    """The largest l1 distance over these pairs."""
    largest, spent = 0.0, 0
    for pair in pairs:
        spent = serve_signals(spent, 64)
        largest = max(largest, distance(a, b, pair))
    return largest


@kernel
def _agree(a: Counts, b: Counts, pairs: NDArray[np.int64], threshold: float) -> bool:
    spent = 0
    for pair in pairs:
        spent = serve_signals(spent, 64)
        if distance(a, b, pair) > threshold:
            return False
    return True


def identify_cluster(
    explored: CountTable, clusters: Sequence[Cluster], pairs: NDArray[np.int64], threshold: float
) -> int:
    """The number of the first cluster that agrees with this episode on ``pairs`` (s * A + a), or -1."""
    for number, cluster in enumerate(clusters):
        if _agree(explored.record, cluster.model.record, pairs, threshold):
            return number
    return -1

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
from aomultirl.engine.counts import Counts, CountTable, sorted_row, visits_of
from aomultirl.engine.signals import serve_signals


@kernel
def distance(a: Counts, b: Counts, pair: int) -> float:
    """l1 distance of the empirical transitions of a pair; 0 where one side never visited it.

    It is added up in ascending order of the successors, so it does not depend on the order in which they were seen.
    """
    states_a, visits_a = sorted_row(a, pair)
    states_b, visits_b = sorted_row(b, pair)
    n_a, n_b = visits_of(a, pair), visits_of(b, pair)
    if n_a == 0 or n_b == 0:
        return 0.0
    total = 0.0
    i = j = 0
    while i < len(states_a) or j < len(states_b):
        only_a = j == len(states_b) or (i < len(states_a) and states_a[i] < states_b[j])
        only_b = i == len(states_a) or (j < len(states_b) and states_b[j] < states_a[i])
        share_a = 0.0 if only_b else visits_a[i] / n_a
        share_b = 0.0 if only_a else visits_b[j] / n_b
        total += abs(share_a - share_b)
        i += not only_b
        j += not only_a
    return total


@kernel
def largest_distance(a: Counts, b: Counts, pairs: NDArray[np.int64]) -> float:
    """The largest l1 distance over these pairs."""
    largest, spent = 0.0, 0
    for pair in pairs:
        spent = serve_signals(spent, 64)
        here = distance(a, b, pair)
        if here > largest:
            largest = here
    return largest


def identify_cluster(
    explored: CountTable, models: Sequence[CountTable], pairs: NDArray[np.int64], threshold: float
) -> int:
    """The number of the first cluster whose ``models`` agree with this episode on ``pairs`` (s * A + a), or -1."""
    for number, model in enumerate(models):
        if largest_distance(explored.record, model.record, pairs) <= threshold:
            return number
    return -1

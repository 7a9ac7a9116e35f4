"""What the explorers share: booking the pairs that have their samples."""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, visits_of


@kernel
def book(
    table: Table,
    targets: NDArray[np.bool_],
    left: NDArray[np.int64],
    needed: int,
    counts: Counts,
    state: int,
    action: int,
) -> bool:
    """Book the pair if it is a target that has its samples; True if the state has no under-sampled target left.

    left: under-sampled targets in each state, and their sum.
    """
    n_states = len(table.budget)
    pair = state * (len(targets) // n_states) + action
    if not (table.watch[state] and targets[pair] and visits_of(counts, pair) >= needed):
        return False
    left[state] -= 1
    left[n_states] -= 1
    if left[state] > 0:
        return False
    table.watch[state] = False
    return True


@kernel
def forget_ways(table: Table) -> None:
    """Every state that has nothing to sample must ask anew where to go."""
    for state in range(len(table.budget)):
        if not table.watch[state]:
            table.plan[state] = ASK

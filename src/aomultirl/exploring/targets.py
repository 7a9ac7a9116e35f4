"""What the explorers share: which pairs still need samples, and booking those that have theirs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, empty_table
from aomultirl.engine.compiling import callee
from aomultirl.engine.counts import Counts, visits_of


def open_targets(targets: NDArray[np.bool_]) -> tuple[Table, NDArray[np.bool_], NDArray[np.int64]]:
    """The first fields of an explorer's behaviour, before any visit.

    Parameters
    ----------
    targets
        (S, A), the pairs to be sampled.

    Returns
    -------
    a table that asks for everything and watches the states with a target; the targets, (S * A,); how many of them are
    under-sampled in each state, and their sum, (S + 1,).
    """
    if not targets.any():
        raise ValueError("targets is empty: there is nothing to explore")
    missing = targets.sum(axis=1)
    return (
        empty_table(len(targets))._replace(watch=missing > 0),
        np.ascontiguousarray(targets, np.bool_).reshape(-1),
        np.append(missing, missing.sum()).astype(np.int64),
    )


@callee
def book(behaviour: Any, counts: Counts, state: int, action: int) -> bool:
    """Book the pair if it is a target that has its samples; True if the state has no under-sampled target left."""
    table, targets, left = behaviour.table, behaviour.targets, behaviour.open
    n_states = len(table.budget)
    pair = state * (len(targets) // n_states) + action
    if not (table.watch[state] and targets[pair] and visits_of(counts, pair) >= behaviour.needed):
        return False
    left[state] -= 1
    left[n_states] -= 1
    if left[state] > 0:
        return False
    table.watch[state] = False
    return True


@callee
def forget_ways(table: Table) -> None:
    """Every state that has nothing to sample must ask anew where to go."""
    for state in range(len(table.budget)):
        if not table.watch[state]:
            table.plan[state] = ASK

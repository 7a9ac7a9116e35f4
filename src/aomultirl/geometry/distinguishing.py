"""Smallest sets of pairs that tell every two worlds apart (the paper's distinguishing sets).

A set of pairs is a-distinguishing when every two worlds differ by more than a at one of its members.  A
smallest one is a minimum hitting set.  Pairs that tell apart the same worlds are interchangeable, and a pair
that tells apart fewer than another is never needed, so the integer program that HiGHS solves is small even
for worlds with millions of pairs.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.successors import Successors
from aomultirl.geometry.separation import distances


def told_apart(worlds: Sequence[Successors], level: float) -> NDArray[np.bool_]:
    """Which pair (column) tells apart which two worlds (row, in the order of ``itertools.combinations``)."""
    return np.array([distances(a, b) > level for a, b in combinations(worlds, 2)], bool)


def smallest_set(table: NDArray[np.bool_], *, exact: bool = True) -> NDArray[np.int64]:
    """Columns of ``table``, ascending, that hit every row: fewest possible, or greedily chosen.

    The greedy set is at most 1 + ln(rows) times as large as a smallest one.
    """
    candidates = _undominated(table)
    patterns = table[:, candidates]
    chosen = _by_program(patterns) if exact else _greedily(patterns)
    return np.sort(candidates[chosen])


def _undominated(table: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first column of every pattern that no other pattern contains."""
    packed = np.packbits(table, axis=0)
    _, first = np.unique(packed, axis=1, return_index=True)
    first = first[np.argsort(-table[:, first].sum(axis=0), kind="stable")]
    kept: list[int] = []
    for column in first:
        pattern = table[:, column]
        if pattern.any() and not any((table[:, other] | ~pattern).all() for other in kept):
            kept.append(int(column))
    return np.array(kept, np.int64)


def _by_program(patterns: NDArray[np.bool_]) -> NDArray[np.int64]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    count = patterns.shape[1]
    answer = milp(
        np.ones(count),
        integrality=np.ones(count, np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(patterns.astype(float), 1, np.inf),
    )
    if not answer.success:
        raise RuntimeError(f"the integer program for a smallest distinguishing set was not solved: {answer.message}")
    return np.flatnonzero(answer.x > 0.5)


def _greedily(patterns: NDArray[np.bool_]) -> NDArray[np.int64]:
    chosen: list[int] = []
    open_rows = np.ones(len(patterns), bool)
    while open_rows.any():
        best = int(patterns[open_rows].sum(axis=0).argmax())
        chosen.append(best)
        open_rows &= ~patterns[:, best]
    return np.array(chosen, np.int64)

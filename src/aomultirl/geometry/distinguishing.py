"""Smallest sets of pairs that tell every two worlds apart (the paper's distinguishing sets).

A set of pairs is a-distinguishing when every two worlds differ by more than a at one of its members.  A
smallest one is a minimum hitting set.  Pairs that tell apart the same worlds are interchangeable, and a pair
that tells apart fewer than another is never needed, so the integer program that HiGHS solves is small even
for worlds with millions of pairs.  A greedy set that is as small as a simple count allows needs no program.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.successors import Successors
from aomultirl.engine.waiting import while_serving_signals
from aomultirl.geometry.separation import NOWHERE, distances

MANY_PATTERNS = 10_000
PART = 100_000
"""Columns whose patterns are sorted at once: a tenth of a second."""


def told_apart(
    worlds: Sequence[Successors], level: float, ends: Sequence[NDArray[np.bool_]] | None = None
) -> NDArray[np.bool_]:
    """Which pair (column) tells apart which two worlds (row, in the order of ``itertools.combinations``).

    ``ends`` are M masks of terminal states, as :func:`aomultirl.geometry.separation.distances` takes them; a pair of a
    state that is terminal in one of two worlds does not tell them apart.
    """
    each = list(zip(worlds, [NOWHERE] * len(worlds) if ends is None else ends, strict=True))
    return np.array([distances(a, b, mine, theirs) > level for (a, mine), (b, theirs) in combinations(each, 2)], bool)


def smallest_set(table: NDArray[np.bool_], *, exact: bool = True, time_limit: float = 60.0) -> NDArray[np.int64]:
    """Columns of ``table``, ascending, that hit every row: fewest possible, or greedily chosen.

    The greedy set is at most 1 + ln(rows) times as large as a smallest one.

    Raises
    ------
    TimeoutError
        the integer program takes longer than ``time_limit`` seconds.
    """
    candidates = _kinds(table)
    chosen = candidates[_greedily(table[:, candidates])]
    if exact and len(chosen) > _least(table[:, candidates]):
        candidates = _undominated(table, candidates)
        if len(chosen) == 3 and len(candidates) <= MANY_PATTERNS:
            two = _two(table[:, candidates])
            chosen = candidates[two] if len(two) else chosen
        else:
            chosen = candidates[_by_program(table[:, candidates], time_limit)]
    return np.sort(chosen)


def _kinds(table: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first column of every pattern, in the order of the patterns; looked for in parts, between which signals are
    served."""
    packed = np.packbits(table, axis=0)
    parts = [
        first + np.unique(packed[:, first : first + PART], axis=1, return_index=True)[1]
        for first in range(0, packed.shape[1], PART)
    ]
    candidates = np.concatenate(parts)
    return candidates[np.unique(packed[:, candidates], axis=1, return_index=True)[1]] if len(parts) > 1 else candidates


def _two(patterns: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Two columns that hit every row, or none: quicker to look for than to disprove by a program."""
    packed = np.packbits(patterns, axis=0).T
    missing = np.packbits(~patterns, axis=0).T
    for first, rest in enumerate(missing):
        seconds = np.flatnonzero(((packed & rest) == rest).all(axis=1))
        if len(seconds):
            return np.array([first, seconds[0]], np.int64)
    return np.empty(0, np.int64)


def _least(patterns: NDArray[np.bool_]) -> int:
    """No set is smaller: no column hits more rows than the best one does."""
    return -(-len(patterns) // int(patterns.sum(axis=0).max()))


def _undominated(table: NDArray[np.bool_], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The columns whose pattern no other one contains; all of them where there are too many to compare."""
    columns = columns[np.argsort(-table[:, columns].sum(axis=0), kind="stable")]
    if len(columns) > MANY_PATTERNS:
        return columns
    packed = np.packbits(table[:, columns], axis=0).T
    kept = np.empty_like(packed)
    places: list[int] = []
    for place, pattern in enumerate(packed):
        if pattern.any() and not ((kept[: len(places)] & pattern) == pattern).all(axis=1).any():
            kept[len(places)] = pattern
            places.append(place)
    return columns[places]


def _by_program(patterns: NDArray[np.bool_], time_limit: float) -> NDArray[np.int64]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    count = patterns.shape[1]
    answer = while_serving_signals(
        lambda: milp(
            np.ones(count),
            integrality=np.ones(count, np.int64),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(patterns.astype(float), 1, np.inf),
            options={"time_limit": time_limit},
        )
    )
    if not answer.success:
        raise TimeoutError(
            f"a smallest distinguishing set among {count:,} kinds of pairs was not found in {time_limit:g} s; "
            'method="greedy" finds a small one'
        )
    return np.flatnonzero(answer.x > 0.5)


def _greedily(patterns: NDArray[np.bool_]) -> NDArray[np.int64]:
    chosen: list[int] = []
    open_rows = np.ones(len(patterns), bool)
    while open_rows.any():
        best = int(patterns[open_rows].sum(axis=0).argmax())
        chosen.append(best)
        open_rows &= ~patterns[:, best]
    return np.array(chosen, np.int64)

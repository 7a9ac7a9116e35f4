"""Transition counts as a learner keeps them: hashed rows that grow with what was seen.

Each pair owns a small open-addressing table (linear probing, Fibonacci hashing), absent until the pair is
first visited and doubled when three quarters full.  All rows live in one arena.  A kernel adds transitions
with :func:`count`, and leaves its hot loop to :func:`insert` one seen for the first time; only the Python
owner, :class:`CountTable`, enlarges the arena, because a record grown behind its owner's back would dangle.

The table knows nothing of the world's support, so a learner inside the simulator sees no more than one
that talks to a real environment.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import inlined, kernel

U = np.uint64
EMPTY = -1
HASH = 0x9E3779B1


class Counts(NamedTuple):
    """heads[pair] = first slot * 64 + 32 - log2(slots);  slots[2 i] = successor, slots[2 i + 1] = its count.

    Pairs not yet seen share slot 0, which stays empty.  used[0]: slots taken, used[1]: slots of the longest row.
    """

    heads: NDArray[np.uint64]
    filled: NDArray[np.int64]
    slots: NDArray[np.int64]
    used: NDArray[np.int64]


@inlined
def count(counts: Counts, pair: np.uint64, successor: np.uint64) -> bool:
    """Count one transition; False where it was never seen before: leave the hot loop and :func:`insert` it."""
    head = counts.heads[pair]
    shift = head & U(63)
    place = ((successor * U(HASH)) & U(0xFFFFFFFF)) >> shift
    slot = U(2) * ((head >> U(6)) + place)
    key = np.int64(successor)
    while counts.slots[slot] != key:
        if counts.slots[slot] == EMPTY:
            return False
        place = (place + U(1)) & ((U(1) << (U(32) - shift)) - U(1))
        slot = U(2) * ((head >> U(6)) + place)
    counts.slots[slot + U(1)] += 1
    return True


@kernel
def insert(counts: Counts, pair: np.uint64, successor: np.uint64) -> bool:
    """Count a successor seen for the first time.  True: the arena must be enlarged before the next insertion.

    The row doubles where it would be more than three quarters full.
    """
    head = counts.heads[pair]
    first = np.int64(head >> U(6))
    width = np.int64(1) << np.int64(U(32) - (head & U(63)))
    if 4 * (counts.filled[pair] + 1) > 3 * width:
        moved = counts.used[0]
        wider = np.int64(4) if width < 2 else 2 * width
        shift = U(32)
        while U(1) << (U(32) - shift) < U(wider):
            shift -= U(1)
        counts.used[0] += wider
        counts.used[1] = max(counts.used[1], wider)
        counts.heads[pair] = U(moved) * U(64) + shift
        counts.slots[2 * moved : 2 * (moved + wider)] = EMPTY
        for slot in range(first, first + width):
            if counts.slots[2 * slot] != EMPTY:
                _place(counts, pair, counts.slots[2 * slot], counts.slots[2 * slot + 1])
    _place(counts, pair, np.int64(successor), np.int64(1))
    counts.filled[pair] += 1
    return bool(2 * (counts.used[0] + 2 * counts.used[1]) > len(counts.slots))


@inlined
def _place(counts: Counts, pair: np.uint64, key: np.int64, count: np.int64) -> None:
    head = counts.heads[pair]
    shift = head & U(63)
    mask = (U(1) << (U(32) - shift)) - U(1)
    place = ((U(key) * U(HASH)) & U(0xFFFFFFFF)) >> shift
    while counts.slots[U(2) * ((head >> U(6)) + place)] != EMPTY:
        place = (place + U(1)) & mask
    counts.slots[U(2) * ((head >> U(6)) + place)] = key
    counts.slots[U(2) * ((head >> U(6)) + place) + U(1)] = count


@kernel
def _collect(counts: Counts, starts: NDArray[np.int64], states: NDArray[np.int32], visits: NDArray[np.int64]) -> None:
    for pair in range(len(counts.heads)):
        head = counts.heads[pair]
        first = np.int64(head >> U(6))
        keys = counts.slots[2 * first : 2 * (first + (1 << np.int64(U(32) - (head & U(63))))) : 2]
        at = starts[pair]
        for i in np.argsort(keys):
            if keys[i] != EMPTY:
                states[at] = keys[i]
                visits[at] = counts.slots[2 * (first + i) + 1]
                at += 1


class CountTable:
    """Owner of the counts N(s, a, s') of one learner.

    Parameters
    ----------
    n_pairs
        S * A.
    """

    def __init__(self, n_pairs: int) -> None:
        self.record = Counts(
            heads=np.full(n_pairs, 32, np.uint64),
            filled=np.zeros(n_pairs, np.int64),
            slots=np.full(2 * (64 + 8 * n_pairs), EMPTY, np.int64),
            used=np.array([1, 4], np.int64),
        )

    def make_room(self) -> None:
        """Double the arena.  Kernels must be given the new ``record``."""
        old = self.record.slots
        slots = np.full(2 * len(old), EMPTY, np.int64)
        slots[: len(old)] = old
        self.record = self.record._replace(slots=slots)

    def to_lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """(starts, states, visits): what was seen of each pair, as successor lists with ascending states."""
        starts = np.concatenate(([0], np.cumsum(self.record.filled)))
        states = np.empty(starts[-1], np.int32)
        visits = np.empty(starts[-1], np.int64)
        _collect(self.record, starts, states, visits)
        return starts, states, visits

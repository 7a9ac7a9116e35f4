"""A count table as plain arrays, to be written down, and back.

Rows are kept as they lie in the table, because sums over a row run in that order, and so do their roundings.  What is
read back may come from anybody: kernels do not check their indices, so everything that they rely on is checked here.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import EMPTY, HASH, CountTable

MOST_VISITS = float(1 << 53)
LEAST, SHORTEST = 3, 5
"""A row has at least 2**3 slots; up to 2**5 it may be longer than its successors need, to spare it collisions."""


class Packed(NamedTuple):
    """rows: (S * A,), 64 k + shift of the hash for a row of 2**k slots, 0 for none; filled: (S * A,), successors seen.

    states, places, visits: of every transition seen, row after row: the successor, its slot in the row, how often.
    """

    rows: NDArray[np.uint16]
    filled: NDArray[np.int32]
    states: NDArray[np.int32]
    places: NDArray[np.int32]
    visits: NDArray[np.int64]


KINDS = {"rows": np.uint16, "filled": np.int32, "states": np.int32, "places": np.int32, "visits": np.int64}


def pack(table: CountTable) -> Packed:
    """What a table holds."""
    heads, filled, slots, _ = table.record
    firsts, rows = (heads >> np.uint64(12)).astype(np.int64), (heads & np.uint64(4095)).astype(np.int64)
    lengths = np.where(filled > 0, np.int64(1) << (rows >> 6), 0)
    owners, places = _each_slot(lengths)
    at = 2 * (firsts[owners] + places)
    taken = slots[at] != EMPTY
    at = at[taken]
    return Packed(
        rows.astype(np.uint16),
        filled.astype(np.int32),
        slots[at].astype(np.int32),
        places[taken].astype(np.int32),
        slots[at + 1],
    )


def unpack(packed: Packed, n_pairs: int, n_states: int) -> CountTable:
    """The table again, its rows as they lay; ValueError for anything that no table could hold."""
    for name, kind in KINDS.items():
        array = getattr(packed, name)
        if array.dtype != kind or array.ndim != 1:
            raise ValueError(f"{name} must be a list of {kind.__name__}, not {array.dtype} of shape {array.shape}")
    filled, states, places, visits = (array.astype(np.int64) for array in packed[1:])
    bits, shifts = np.divmod(packed.rows.astype(np.int64), 64)
    _need(len(bits) == len(filled) == n_pairs, f"rows and filled must have {n_pairs} entries")
    _need(bool((filled >= 0).all()), "filled holds a negative number")
    _need(len(states) == len(places) == len(visits) == filled.sum(), "states, places and visits do not fit filled")
    _check_rows(packed.rows, filled, bits, shifts)
    owners = np.repeat(np.arange(n_pairs), filled)
    _check_entries(states, visits, owners, n_states)
    lengths = np.where(filled > 0, np.int64(1) << bits, 0)
    firsts = 1 + np.cumsum(lengths) - lengths
    _check_places(states, places, owners, firsts, bits, shifts, int(lengths.sum()))

    table = CountTable(n_pairs)
    used, longest = 1 + int(lengths.sum()), max(8, int(lengths.max(initial=0)))
    while 2 * (used + 8 * longest) > len(table.record.slots):
        table.make_room()
    heads = np.where(filled > 0, firsts << 12 | packed.rows.astype(np.int64), 0).astype(np.uint64)
    slots = 2 * (firsts[owners] + places)
    table.record.heads[:], table.record.filled[:] = heads, filled
    table.record.slots[slots], table.record.slots[slots + 1] = states, visits
    table.record.used[:] = used, longest
    return table


def _each_slot(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of rows of these lengths, one after the other: the row of each slot, and its place in the row."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)


def _check_rows(
    rows: NDArray[Any], filled: NDArray[np.int64], bits: NDArray[np.int64], shifts: NDArray[np.int64]
) -> None:
    """A search in a row ends, because a quarter is empty; and no row is longer than one that grew."""
    seen = filled > 0
    _need(bool((rows[~seen] == 0).all()), "rows has slots for a pair without successors")
    size, k = filled[seen], bits[seen]
    _need(bool(((k >= LEAST) & (k <= 32) & (shifts[seen] <= 32 - k)).all()), "rows holds a row that cannot be")
    _need(bool((4 * size <= np.int64(3) << k).all()), "rows holds a row that is too full")
    _need(bool(((k <= SHORTEST) | (4 * size > np.int64(3) << (k - 1))).all()), "rows holds a row that is too long")


def _check_entries(
    states: NDArray[np.int64], visits: NDArray[np.int64], owners: NDArray[np.int64], n_states: int
) -> None:
    bad = np.flatnonzero((states < 0) | (states >= n_states))
    if len(bad):
        raise ValueError(f"states[{bad[0]}] is {states[bad[0]]}, but states are 0 to {n_states - 1}")
    bad = np.flatnonzero(visits < 1)
    if len(bad):
        raise ValueError(f"visits[{bad[0]}] is {visits[bad[0]]}, not positive")
    _need(float(visits.sum(dtype=np.float64)) <= MOST_VISITS, "visits are too many to be true")
    _need(len(np.unique(owners * n_states + states)) == len(states), "states names a successor twice")


def _check_places(
    states: NDArray[np.int64],
    places: NDArray[np.int64],
    owners: NDArray[np.int64],
    firsts: NDArray[np.int64],
    bits: NDArray[np.int64],
    shifts: NDArray[np.int64],
    slots: int,
) -> None:
    """Every successor is where a search finds it: no slot is empty from where its hash points up to its own."""
    masks = (np.int64(1) << bits[owners]) - 1
    _need(bool(((places >= 0) & (places <= masks)).all()), "places holds a slot outside its row")
    first = firsts[owners]
    at = first + places
    _need(bool((np.diff(at) > 0).all()), "places must rise in every row")
    taken = np.zeros(slots + 2, np.int64)
    taken[at + 1] = 1
    before = np.cumsum(taken)
    home = ((states * HASH) & 0xFFFFFFFF) >> shifts[owners] & masks
    passed = before[at] - before[first + home]
    passed += np.where(places < home, before[first + masks + 1] - before[first], 0)
    _need(bool((passed == (places - home) & masks).all()), "places holds a successor where nobody would find it")

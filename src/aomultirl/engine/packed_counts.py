"""A count table as plain arrays, to be written down, and back.

Successors stand in ascending order, so the same counts are the same bytes, in whatever order they were seen.  Whoever
reads remembered counts does so in that order too (:meth:`CountTable.to_lists`), so a table that was written down and
read back gives the same sums to the last bit.  What is read back may come from anybody: kernels do not check their
indices, so everything that they rely on is checked here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable, add_visits
from aomultirl.engine.signals import serve_signals

MOST_VISITS = float(1 << 53)
"""In all of a table: beyond it sums of visits are no longer exact."""


class Packed(NamedTuple):
    """What a table holds.

    filled
        (S * A,), how many successors of each pair were seen.
    states
        of every transition seen, row after row: the successor, ascending in each row.
    visits
        of every transition seen: how often.
    terminal
        the states in which episodes ended, ascending.
    ends
        how many did in each.
    """

    filled: NDArray[np.int32]
    states: NDArray[np.int32]
    visits: NDArray[np.int64]
    terminal: NDArray[np.int32]
    ends: NDArray[np.int64]


KINDS = {"filled": np.int32, "states": np.int32, "visits": np.int64, "terminal": np.int32, "ends": np.int64}


def pack_counts(table: CountTable) -> Packed:
    """What a table holds."""
    starts, states, visits = table.to_lists()
    ends = sorted(table.ends.items())
    terminal, times = (np.array([entry[i] for entry in ends], kind) for i, kind in enumerate((np.int32, np.int64)))
    return Packed(np.diff(starts).astype(np.int32), states, visits, terminal, times)


def unpack_counts(packed: Packed, n_pairs: int, n_states: int) -> CountTable:
    """The table again; ValueError for anything that no table could hold."""
    for name, kind in KINDS.items():
        array = getattr(packed, name)
        if array.dtype != kind or array.ndim != 1:
            raise ValueError(f"{name} must be a list of {kind.__name__}, not {array.dtype} of shape {array.shape}")
    filled, states, visits, terminal, ends = packed
    _need(len(filled) == n_pairs, f"filled must have {n_pairs} entries, not {len(filled)}")
    _need(bool((filled >= 0).all()), "filled holds a negative number")
    _need(len(states) == len(visits) == filled.sum(dtype=np.int64), "states and visits do not fit filled")
    _need(len(terminal) == len(ends), "terminal and ends differ in length")
    _need(bool((np.diff(terminal) > 0).all()), "terminal must rise")
    for name in ("states", "terminal"):
        array = getattr(packed, name)
        bad = np.flatnonzero((array < 0) | (array >= n_states))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}, but states are 0 to {n_states - 1}")
    for name in ("visits", "ends"):
        array = getattr(packed, name)
        bad = np.flatnonzero(array < 1)
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}, not positive")
        _need(float(array.sum(dtype=np.float64)) <= MOST_VISITS, f"{name} are too many to be true")
    owners = np.repeat(np.arange(n_pairs), filled)
    same_row = np.diff(owners) == 0
    _need(bool((np.diff(states)[same_row] > 0).all()), "states must rise in every row")
    return table_of(packed, n_pairs)


def table_of(packed: Packed, n_pairs: int) -> CountTable:
    """The table again, without looking whether any table could hold it: for what was a table a moment ago."""
    table, first, owners = CountTable(n_pairs), 0, np.repeat(np.arange(n_pairs), packed.filled)
    table.ends = dict(zip(packed.terminal.tolist(), packed.ends.tolist(), strict=True))
    while first < len(owners):
        first = _fill(table.record, owners, packed.states, packed.visits, first)
        table.make_room_if_crowded()
    return table


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)


@kernel
def _fill(
    counts: Counts, owners: NDArray[np.int64], states: NDArray[np.int32], visits: NDArray[np.int64], first: int
) -> int:
    """Add visits from ``first`` on until the arena must be enlarged; where to go on."""
    spent = 0
    for i in range(first, len(states)):
        spent = serve_signals(spent, 64)
        if add_visits(counts, owners[i], states[i], visits[i]):
            return i + 1
    return len(states)

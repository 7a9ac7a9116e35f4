"""What all clusters know of each pair, side by side, for the time of one episode.

Row ``pair`` of :class:`Knowledge` lists every successor that any cluster has seen, and one more place for all
successors that none has.  Lumping these together loses no test its validity: see :mod:`.sequential`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing
from aomultirl.engine.counts import CountTable

NOVEL = -1
"""The successor at the last place of a row: all those that no cluster has seen."""


class Knowledge(NamedTuple):
    """The rows of C clusters over the union of their successors.

    starts
        (S * A + 1,), where the places of each pair begin.
    states
        (places,), the successor at each place; the last of every row is NOVEL.
    seen
        (C, places), how often each cluster saw it.
    visits
        (C, S * A), how often each cluster visited a pair.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    seen: NDArray[np.int64]
    visits: NDArray[np.int64]


class TwoRows(NamedTuple):
    """The counts of one pair in two places, side by side; the novel successors last.

    here, n
        of this episode, or of an alternative, and their sum.
    seen, m
        of a cluster, and their sum.
    """

    here: NDArray[np.int64]
    n: int
    seen: NDArray[np.int64]
    m: int


def knowledge(clusters: Sequence[CountTable], n_pairs: int, n_states: int) -> Knowledge:
    """The rows of all clusters over the union of their successors."""
    lists = [cluster.to_lists() for cluster in clusters]
    keys = [np.repeat(np.arange(n_pairs), np.diff(starts)) * (n_states + 1) + states for starts, states, _ in lists]
    ends = np.arange(n_pairs, dtype=np.int64) * (n_states + 1) + n_states
    every = np.unique(np.concatenate([*keys, ends]))
    pairs, states = np.divmod(every, n_states + 1)
    starts = np.concatenate(([0], np.cumsum(np.bincount(pairs, minlength=n_pairs)))).astype(np.int64)
    seen = np.zeros((len(clusters), len(every)), np.int64)
    for row, key, (_, _, visits) in zip(seen, keys, lists, strict=True):
        row[np.searchsorted(every, key)] = visits
    totals = np.add.reduceat(seen, starts[:-1], axis=1) if len(clusters) else np.zeros((0, n_pairs), np.int64)
    states[states == n_states] = NOVEL
    return Knowledge(starts, states.astype(np.int32), seen, np.ascontiguousarray(totals, np.int64))


@borrowing
def place_of(starts: NDArray[np.int64], states: NDArray[np.int32], pair: int, successor: int) -> int:
    """The successor's place in the pair's row, or the last one if it is novel."""
    low, last = starts[pair], starts[pair + 1] - 1
    high = last
    while low < high:
        middle = (low + high) >> 1
        if states[middle] < successor:
            low = middle + 1
        else:
            high = middle
    return int(low) if states[low] == successor else int(last)

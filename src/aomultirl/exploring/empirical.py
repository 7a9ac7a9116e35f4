"""The transition rows that an explorer plans with, taken from the counts of its episode as successor lists.

The lists are sorted by state, so that sums over them do not depend on the order in which successors were first seen.
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, write_row


@kernel
def empirical_rows(
    counts: Counts, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What was seen of every pair of the wanted states; the lists of all other pairs are empty.

    Parameters
    ----------
    counts
        of the episode.
    wanted
        (S,), the states whose rows may be used.

    Returns
    -------
    starts (S * A + 1,), and behind each other for all pairs the successors and how often each was seen: those of a pair
    are the entries starts[pair] to starts[pair + 1].
    """
    n_pairs = len(counts.filled)
    n_actions = n_pairs // len(wanted)
    starts = np.zeros(n_pairs + 1, np.int64)
    for pair in range(n_pairs):
        starts[pair + 1] = starts[pair] + (counts.filled[pair] if wanted[pair // n_actions] else 0)
    states, visits = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    for pair in range(n_pairs):
        first, last = starts[pair], starts[pair + 1]
        if last > first:
            write_row(counts, pair, states, visits, first)
    return starts, states, visits

"""Rows of a chart for the worlds that an agent believes in: w1, w2, ..., those that most episodes were taken for."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.phrases import believed_world

MOST_ROWS = 24
"""Believed worlds that have a row of their own: those that most episodes were taken for."""
OTHERS = "others"
"""The row of all other believed worlds."""


class BelievedRows(NamedTuple):
    """The rows of the worlds that episodes were taken for.

    labels
        of the rows, from the top.
    places
        the row of every episode, (K,); what it is of episodes that were taken for none means nothing.
    """

    labels: list[str]
    places: NDArray[np.int64]


def believed_rows(names: NDArray[np.int64]) -> BelievedRows:
    """Rows for the names of the worlds that episodes were taken for, (K,), -1 for none."""
    different, counts = np.unique(names[names >= 0], return_counts=True)
    listed = np.sort(different[np.argsort(-counts, kind="stable")[:MOST_ROWS]])
    labels = [believed_world(name) for name in listed.tolist()]
    labels += [OTHERS] if len(listed) < len(different) else []
    return BelievedRows(labels, np.where(np.isin(names, listed), np.searchsorted(listed, names), len(listed)))

"""The best row within an interval for each of its entries: intervals around an estimate, cut to probabilities.

Of all p with ``|p(s') - P(s')| <= width(s')`` for every s', that of the greatest ``p . v`` has every entry at its lower
end, and fills the mass that is left into the states of the greatest v first, each up to its upper end.  Successors that
were never seen have intervals too, around 0.
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel

UNSEEN = -1.0
"""In ``room``: no successor that was seen."""


@kernel
def greatest_in_box(
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    widths: NDArray[np.float64],
    first: int,
    last: int,
    unseen: float,
    values: NDArray[np.float64],
    order: NDArray[np.int64],
    room: NDArray[np.float64],
) -> float:
    """The greatest p . values.

    Parameters
    ----------
    states, probs, widths
        of all rows; this one is from ``first`` to ``last``.
    unseen
        how probable a successor may be that the row does not have.
    order
        (S,), the states by descending value.
    room
        (S,), UNSEEN everywhere, as it is left.
    """
    total, left = 0.0, 1.0
    for i in range(first, last):
        low = max(0.0, probs[i] - widths[i])
        total += low * values[states[i]]
        left -= low
        room[states[i]] = min(1.0, probs[i] + widths[i]) - low
    for s in order:
        if left <= 0.0:
            break
        more = min(left, min(1.0, unseen) if room[s] == UNSEEN else room[s])
        total += more * values[s]
        left -= more
    for i in range(first, last):
        room[states[i]] = UNSEEN
    return total

"""How far worlds lie apart (the paper's Definition of lambda-separability).

The distance of two worlds at a pair (s, a) is ||P_i(s, a) - P_j(s, a)||_1, and the separation of a set is

    lambda = min over i < j of max over (s, a) of that distance, in [0, 2].
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.successors import Successors


@kernel
def _distances(a: Successors, b: Successors, out: NDArray[np.float64]) -> None:
    """Both lists ascend, so one walk along both finds what is shared."""
    for pair in range(len(out)):
        i, i_end = a.starts[pair], a.starts[pair + 1]
        j, j_end = b.starts[pair], b.starts[pair + 1]
        total = 0.0
        while i < i_end and j < j_end:
            if a.states[i] == b.states[j]:
                total += abs(a.probs[i] - b.probs[j])
                i += 1
                j += 1
            elif a.states[i] < b.states[j]:
                total += a.probs[i]
                i += 1
            else:
                total += b.probs[j]
                j += 1
        while i < i_end:
            total += a.probs[i]
            i += 1
        while j < j_end:
            total += b.probs[j]
            j += 1
        out[pair] = total


def distances(a: Successors, b: Successors) -> NDArray[np.float64]:
    """l1 distance of two worlds at every pair, (S * A,)."""
    out = np.empty(len(a.starts) - 1)
    _distances(a, b, out)
    return out


def separation(worlds: Sequence[Successors]) -> float:
    """The separation of a set of worlds; infinite for a single one."""
    return min(
        (float(distances(a, b).max()) for i, a in enumerate(worlds) for b in worlds[:i]),
        default=float("inf"),
    )

"""How far worlds lie apart (the paper's Definition of lambda-separability).

The distance of two worlds at a pair (s, a) is ||P_i(s, a) - P_j(s, a)||_1, and the separation of a set is

    lambda = min over i < j of max over (s, a) of that distance, in [0, 2].

Where arriving in some states ends the episode, what is seen of a pair is its successor and whether the episode ended
there, and the distance is that of the distributions of both: a successor that is terminal in one world only adds the
probabilities that it has in the two, any other their difference.  Nobody acts in a terminal state, so a pair of a state
that is terminal in either world has distance 0: what tells such worlds apart is the arrival, and that counts at the
pairs that lead there.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.successors import Successors

NOWHERE = np.zeros(0, np.bool_)
"""In place of a mask of terminal states, where there are none."""


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


def distances(
    a: Successors, b: Successors, ends_a: NDArray[np.bool_] = NOWHERE, ends_b: NDArray[np.bool_] = NOWHERE
) -> NDArray[np.float64]:
    """l1 distance of two worlds at every pair, (S * A,); 0 at the pairs of states that are terminal in either.

    Parameters
    ----------
    a, b
        the successors; those of terminal states keep themselves, as :class:`aomultirl.MDP` has them.
    ends_a, ends_b
        (S,), which states are terminal in each; empty where there are none.
    """
    out = np.empty(len(a.starts) - 1)
    if np.array_equal(ends_a, ends_b):  # whether the episode ended says no more than the successor does
        _distances(a, b, out)
        return out
    n_states = max(len(ends_a), len(ends_b))
    ends_a, ends_b = (ends if len(ends) else np.zeros(n_states, np.bool_) for ends in (ends_a, ends_b))
    _distances(_outcomes(a, ends_a), _outcomes(b, ends_b), out)
    out.reshape(n_states, -1)[ends_a | ends_b] = 0.0
    return out


def _outcomes(world: Successors, ends: NDArray[np.bool_]) -> Successors:
    """The same with 2 s' + 1 in place of a successor s' that is terminal, and 2 s' of one that is not."""
    kind = np.int32 if len(ends) < 2**30 else np.int64
    return world._replace(states=2 * world.states.astype(kind) + ends[world.states].astype(kind))


def separation(worlds: Sequence[Successors], ends: Sequence[NDArray[np.bool_]] | None = None) -> float:
    """The separation of a set of worlds; infinite for a single one.

    Parameters
    ----------
    worlds
        the successors in each of M worlds.
    ends
        M masks of terminal states as in :func:`distances`; None where there are none at all.
    """
    masks = [NOWHERE] * len(worlds) if ends is None else ends
    return min(
        (float(distances(a, worlds[j], masks[i], masks[j]).max()) for i, a in enumerate(worlds) for j in range(i)),
        default=float("inf"),
    )


def separation_everywhere(worlds: Sequence[Successors], ends: Sequence[NDArray[np.bool_]] | None = None) -> float:
    """min over i < j and over (s, a) of the distance, at the pairs of states that are terminal in neither world.

    Infinite for a single world, and where nobody acts anywhere.  Parameters as of :func:`separation`.
    """
    masks = [NOWHERE] * len(worlds) if ends is None else ends
    least = float("inf")
    for i, a in enumerate(worlds):
        for j in range(i):
            apart = distances(a, worlds[j], masks[i], masks[j])
            for mask in (masks[i], masks[j]):
                apart = np.where(np.repeat(mask, len(apart) // len(mask)), np.inf, apart) if len(mask) else apart
            least = min(least, float(apart.min()))
    return least

"""The exact planner of latent MDPs: the expectation over all histories that may follow.

A history has the weights w(m), the belief b(m) times the probability of the history in context m, and

    W(h, s, w)  =  max over a of  min{ cap_h sum_m w(m),  sum_m w(m) gain_m(s, a) + sum over s' of W(h + 1, s', w') },

w'(m) = w(m) P_m(s' | s, a), and what is left after the end where the episode ends.  A context whose gain is at its cap
is worth its cap whatever follows.  A decision looks at up to (S A)^(H - h - 1) histories: it is for tiny horizons.

The tree is walked in depth, with one row of :class:`Histories` for every step: a kernel that calls itself cannot be
kept on disk.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.candidates import Candidates
from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals

STATE, ACTION, NEXT = range(3)
"""Columns of ``place``: where the history is at a step, the action that is looked at, and its successor to look at."""
TOTAL, BEST = range(2)
"""Columns of ``worth``: what was found of the present action so far, and of the best one before."""


class Histories(NamedTuple):
    """Room for the walk through all histories, a row for every step.

    weights
        (H + 1, M), those of the present history at every step; (0, 0) where nobody plans so.
    place
        (H + 1, 3).
    worth
        (H + 1, 2).
    """

    weights: NDArray[np.float64]
    place: NDArray[np.int64]
    worth: NDArray[np.float64]


def room_for(steps: int, contexts: int) -> Histories:
    """Room for histories of so many steps; none for 0."""
    rows = steps + 1 if steps else 0
    return Histories(np.zeros((rows, contexts if steps else 0)), np.zeros((rows, 3), np.int64), np.zeros((rows, 2)))


@kernel
def _look_at(candidates: Candidates, histories: Histories, step: int, state: int, action: int) -> None:
    """Begin with an action: what it earns at once, and its first successor."""
    here, place = histories.weights[step], histories.place[step]
    n_actions = candidates.own.shape[1] // candidates.going_on.shape[1]
    pair, total = state * n_actions + action, 0.0
    for m in range(len(here)):
        if here[m] > 0.0:
            total += here[m] * min(candidates.caps[step], candidates.own[m, pair])
    place[STATE], place[ACTION], place[NEXT] = state, action, candidates.starts[0, pair]
    histories.worth[step, TOTAL] = total


@kernel
def _follow(candidates: Candidates, histories: Histories, rest: float, step: int, pair: int, i: int) -> float:
    """Fill in the weights after the successor at place ``i``; how much of the weight goes on there."""
    here, after = histories.weights[step], histories.weights[step + 1]
    length, left = len(candidates.probs) // len(here), 0.0
    after_end = rest * (len(candidates.caps) - step - 1)
    for m in range(len(here)):
        after[m] = 0.0
        if here[m] > 0.0 and candidates.own[m, pair] < candidates.caps[step]:
            reached = here[m] * candidates.probs[m * length + i]
            after[m] = reached * candidates.going_on[m, candidates.states[i]]
            histories.worth[step, TOTAL] += (reached - after[m]) * after_end
            left += after[m]
    return left


@kernel
def history_worth(
    candidates: Candidates, histories: Histories, rest: float, first: int, state: int, action: int
) -> float:
    """What an action is worth at step ``first`` in ``state``, with the weights that stand there.

    The rows of all contexts must have the same successors in the same order.
    """
    weights, place, worth = histories
    horizon, n_actions = len(candidates.caps), candidates.own.shape[1] // candidates.going_on.shape[1]
    step, spent = first, 0
    worth[step, BEST] = -np.inf
    _look_at(candidates, histories, step, state, action)
    while True:
        spent = serve_signals(spent, 8 * weights.shape[1])
        pair, i = place[step, STATE] * n_actions + place[step, ACTION], place[step, NEXT]
        if i < candidates.starts[0, pair + 1]:
            place[step, NEXT] += 1
            left = _follow(candidates, histories, rest, step, pair, i)
            if left > 0.0 and step + 1 < horizon:
                step += 1
                worth[step, BEST] = -np.inf
                _look_at(candidates, histories, step, candidates.states[i], 0)
            continue
        mass = weights[step].sum()
        found = candidates.shared[pair] * mass + min(candidates.caps[step] * mass, worth[step, TOTAL])
        worth[step, BEST] = max(worth[step, BEST], found)
        if step == first:
            return float(worth[step, BEST])
        if place[step, ACTION] + 1 < n_actions:
            _look_at(candidates, histories, step, place[step, STATE], place[step, ACTION] + 1)
        else:
            step -= 1
            worth[step, TOTAL] += worth[step + 1, BEST]

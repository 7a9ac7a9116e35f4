"""Worlds of which an episode is one: how likely each makes a step, and what actions are worth in the mean of them.

Planners and learners that hold a belief b over worlds share two things here.  How likely a step is in world w,

    max{ P_w(s' | s, a), floor }  max{ P_w(the episode ends in s', or goes on, as it did), floor },

with floors of 0 where the worlds are known; and what QMDP (Littman, Cassandra, Kaelbling 1995) maximises,

    sum over w of b(w) Q_w(h, s, a),
    Q_w(h, s, a) = min{ cap_h, gain_w(s, a) + sum_s' P_w(s' | s, a) V_w(h + 1, s') },

the worth of an action as if the world were told after this step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing


class Candidates(NamedTuple):
    """The worlds that an episode may be in.

    starts
        (M, S * A + 1), where the successors of every pair begin, in the two lists of all worlds together.
    states, probs
        the successors and their probabilities, one world after the other.
    going_on
        (M, S), how probable it is that the episode goes on after an arrival; 0 in terminal states.
    row_floors
        (M, S * A), the least that a transition of a pair counts as.
    end_floors
        (M, S), the least that going on, and ending, count as after an arrival.
    values
        (M, H + 1, S), the worth of arriving in a state with the steps that are left, whether or not it ends the
        episode; the last row is zero.
    shared
        (S * A,), what a pair earns in all worlds.
    own
        (M, S * A), what it earns in each world beside that, bonuses included; inf makes it worth its cap.
    caps
        (H,), upper bounds on what an action is worth beside what is shared.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    going_on: NDArray[np.float64]
    row_floors: NDArray[np.float64]
    end_floors: NDArray[np.float64]
    values: NDArray[np.float64]
    shared: NDArray[np.float64]
    own: NDArray[np.float64]
    caps: NDArray[np.float64]


@borrowing
def step_likelihood(candidates: Candidates, world: int, pair: int, successor: int, ended: bool) -> float:
    """How likely a step is in a world: the successor of a pair, and whether the episode ended there."""
    chance = 0.0
    for i in range(candidates.starts[world, pair], candidates.starts[world, pair + 1]):
        if candidates.states[i] == successor:
            chance = candidates.probs[i]
    goes_on = candidates.going_on[world, successor]
    outcome = 1.0 - goes_on if ended else goes_on
    row_floor, end_floor = candidates.row_floors[world, pair], candidates.end_floors[world, successor]
    return float(max(chance, row_floor) * max(outcome, end_floor))


@borrowing
def expected_q(
    candidates: Candidates, belief: NDArray[np.float64], step: int, state: int, out: NDArray[np.float64]
) -> None:
    """What every action is worth at a step in the mean of the worlds, (A,); ``belief``: (M,)."""
    n_actions = len(out)
    for action in range(n_actions):
        pair = state * n_actions + action
        total = candidates.shared[pair]
        for world in range(len(belief)):
            if belief[world] > 0.0:
                worth = candidates.own[world, pair]
                for i in range(candidates.starts[world, pair], candidates.starts[world, pair + 1]):
                    worth += candidates.probs[i] * candidates.values[world, step + 1, candidates.states[i]]
                total += belief[world] * min(candidates.caps[step], worth)
        out[action] = total

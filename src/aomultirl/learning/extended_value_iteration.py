"""Extended value iteration (Jaksch, Ortner, Auer 2010): the best world that the data allow, and the best policy in it.

Allowed is every world whose rows lie within ``radius(s, a)`` of the estimate P in l1, and whose rewards do not exceed
``rewards(s, a)``.  From u = 0, until the increase of all states is the same up to the accuracy,

    u'(s) = max_a { rewards(s, a) + max { p . u : ||p - P(s, a)||_1 <= radius(s, a) } }.

The inner maximum moves up to radius / 2 of the mass to the state of greatest u, from the successors of least u first.
With M the greatest u and p the masses left where they were it is ``M - sum_s p(s) (M - u(s))``: so all rows that may
lead anywhere, unvisited ones included, promise the very same, and ties are ties.

The optimistic gain, the greatest average reward of all allowed worlds and policies, lies between the least and the
greatest increase of the last sweep.
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals

MOST_SWEEPS = 1_000_000
"""Reached only by worlds that go round in a circle, with a radius of nothing."""


@kernel
def sort_row(
    states: NDArray[np.int32], probs: NDArray[np.float64], first: int, last: int, values: NDArray[np.float64]
) -> None:
    """The successors of a row by ascending value; from sweep to sweep their order hardly changes."""
    for i in range(first + 1, last):
        state, prob = states[i], probs[i]
        at = i
        while at > first and values[states[at - 1]] > values[state]:
            states[at], probs[at] = states[at - 1], probs[at - 1]
            at -= 1
        states[at], probs[at] = state, prob


@kernel
def greatest_mean(
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    first: int,
    last: int,
    radius: float,
    values: NDArray[np.float64],
    top: float,
) -> float:
    """max of p . values over p within ``radius`` of a sorted row; ``top``: the greatest value."""
    moved, lost = radius / 2.0, 0.0
    for i in range(first, last):
        kept = max(0.0, probs[i] - moved)
        moved = max(0.0, moved - probs[i])
        lost += kept * (top - values[states[i]])
    return top - lost


@kernel
def extended_value_iteration(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    radii: NDArray[np.float64],
    rewards: NDArray[np.float64],
    n_states: int,
    accuracy: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float, int]:
    """Iterate until the increases of a sweep span less than ``accuracy``.

    Parameters
    ----------
    starts, states, probs
        the estimate as successor lists; a row may be empty, if its radius is 2 or more.
    radii, rewards
        (S * A,).

    Returns
    -------
    values
        u before the last sweep, its least entry 0, (S,).
    q
        what every pair promised in it, (S * A,); its best actions are the policy.
    low, high
        the optimistic gain lies between them.
    sweeps
        how many it took.
    """
    states, probs = states.copy(), probs.copy()
    n_actions = len(rewards) // n_states
    values, fresh, q = np.zeros(n_states), np.zeros(n_states), np.empty(len(rewards))
    low, high, sweeps, spent = -np.inf, np.inf, 0, 0
    while high - low >= accuracy and sweeps < MOST_SWEEPS:
        values, fresh = fresh, values
        values -= values.min()
        top = values.max()
        low, high = np.inf, -np.inf
        for s in range(n_states):
            fresh[s] = -np.inf
            spent = serve_signals(spent, 4 * n_actions + 8 * (starts[(s + 1) * n_actions] - starts[s * n_actions]))
            for pair in range(s * n_actions, (s + 1) * n_actions):
                first, last = starts[pair], starts[pair + 1]
                sort_row(states, probs, first, last, values)
                q[pair] = rewards[pair] + greatest_mean(states, probs, first, last, radii[pair], values, top)
                fresh[s] = max(fresh[s], q[pair])
            low, high = min(low, fresh[s] - values[s]), max(high, fresh[s] - values[s])
        sweeps += 1
    return values, q, low, high, sweeps

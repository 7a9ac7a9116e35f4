"""The policy that is best for what was counted, as it is: no bonus, and an unvisited pair leads nowhere.

And the choice between actions that promise the same, for learners that leave it to chance.
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.signals import serve_signals


def greedy(
    counts: CountTable, rewards: NDArray[np.float64], discount: float = 0.98, sweeps: int = 200, rest: float = 0.0
) -> NDArray[np.int32]:
    """The plan that is best for these counts, the same at every step, (S,); rewards (S, A).

    Parameters
    ----------
    discount
        of the values.
    sweeps
        of value iteration; with the default numbers what is left is below 2 %.
    rest
        what each step after the end of an episode is worth.
    """
    gains = np.ascontiguousarray(rewards, np.float64)
    return np.asarray(iterate(*counts.to_lists(), gains, counts.going_on(len(gains)), rest, discount, sweeps))


@kernel
def iterate(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    visits: NDArray[np.int64],
    rewards: NDArray[np.float64],
    going_on: NDArray[np.float64],
    rest: float,
    discount: float,
    sweeps: int,
) -> NDArray[np.int32]:
    """Actions (S,) after so many sweeps of discounted value iteration; successor lists with visits, rewards (S, A).

    ``going_on``, (S,): how often the episode goes on after an arrival; each step after its end is worth ``rest``.
    """
    n_states, n_actions = rewards.shape
    values, plan, spent = np.zeros(n_states), np.zeros(n_states, np.int32), 0
    for _ in range(sweeps):
        spent = serve_signals(spent, len(starts) + len(states))
        for s in range(n_states):
            best = -np.inf
            for a in range(n_actions):
                pair = s * n_actions + a
                total, count = 0.0, 0
                for i in range(starts[pair], starts[pair + 1]):
                    total += visits[i] * values[states[i]]
                    count += visits[i]
                q = rewards[s, a] + discount * total / max(count, 1)
                if q > best:
                    best, plan[s] = q, a
            values[s] = going_on[s] * best + (1.0 - going_on[s]) * rest / (1.0 - discount)
    return plan


@kernel
def draw_best(q: NDArray[np.float64], first: int, last: int, stream: RandomStream) -> int:
    """The place, from ``first`` on, of the greatest of ``q[first:last]``; one at random where several are as great."""
    best = q[first:last].max()
    tied = 0
    for i in range(first, last):
        tied += q[i] == best
    skip = 0 if tied == 1 else draw_below(tied, stream)
    for i in range(first, last):
        if q[i] == best:
            if skip == 0:
                return i - first
            skip -= 1
    return 0

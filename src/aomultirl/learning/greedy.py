"""The policy that is best for what was counted, as it is: no bonus, and an unvisited pair leads nowhere."""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals


@kernel
def greedy(
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

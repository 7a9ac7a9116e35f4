"""The same work as one writes it in Python with NumPy or SciPy.

Each function binds its arguments and returns a function without any, so that nothing but the call is timed.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl.mdp import MDP


def with_einsum(world: MDP, horizon: int) -> Callable[[], NDArray[np.float64]]:
    """Optimal values (H + 1, S) as one writes it in NumPy, over the dense array; no actions."""
    dense, rewards = world.transitions, np.ascontiguousarray(world.rewards)

    def call() -> NDArray[np.float64]:
        values = np.zeros((horizon + 1, world.n_states))
        for h in range(horizon - 1, -1, -1):
            values[h] = (rewards + np.einsum("sat,t->sa", dense, values[h + 1])).max(axis=1)
        return values

    return call


def with_scipy(world: MDP, horizon: int) -> Callable[[], NDArray[np.float64]]:
    """Optimal values (H + 1, S) as one writes it with ``scipy.sparse`` and its fastest index type; no actions."""
    starts, states, probs = world.successors
    rewards = np.ascontiguousarray(world.rewards)
    sparse = sp.csr_array((probs, states, starts.astype(np.int32)), shape=(len(starts) - 1, world.n_states))

    def call() -> NDArray[np.float64]:
        values = np.zeros((horizon + 1, world.n_states))
        for h in range(horizon - 1, -1, -1):
            values[h] = (rewards + (sparse @ values[h + 1]).reshape(rewards.shape)).max(axis=1)
        return values

    return call


def with_a_loop(
    world: MDP, targets: NDArray[np.bool_], needed: int, start: int, steps: int, seed: int = 0
) -> Callable[[], NDArray[np.int64]]:
    """ExploreID as one writes it down from the paper, asked at every step: counts (S, A, S) after ``steps`` steps.

    Once every target has its samples all scores are zero, so it acts at random: the clustering phase up to H0.
    """
    transitions = world.transitions

    def call() -> NDArray[np.int64]:
        rng = np.random.default_rng(seed)
        counts = np.zeros((world.n_states, world.n_actions, world.n_states), np.int64)
        visits = np.zeros((world.n_states, world.n_actions), np.int64)
        state = start
        for _ in range(steps):
            missing = targets & (visits < needed)
            if missing[state].any():
                score = np.where(missing[state], visits[state], -1)
            else:
                score = counts[state] @ missing.any(axis=1) / np.maximum(visits[state], 1)
            action = rng.choice(np.flatnonzero(score == score.max()))
            successor = rng.choice(world.n_states, p=transitions[state, action])
            counts[state, action, successor] += 1
            visits[state, action] += 1
            state = successor
        return counts

    return call

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
    dense = world.transitions
    return _backwards(world, horizon, lambda values: np.einsum("sat,t->sa", dense, values))


def with_scipy(world: MDP, horizon: int) -> Callable[[], NDArray[np.float64]]:
    """Optimal values (H + 1, S) as one writes it with ``scipy.sparse`` and its fastest index type; no actions."""
    starts, states, probs = world.successors
    sparse = sp.csr_array((probs, states, starts.astype(np.int32)), shape=(len(starts) - 1, world.n_states))
    return _backwards(world, horizon, lambda values: np.asarray((sparse @ values).reshape(world.rewards.shape)))


def _backwards(
    world: MDP, horizon: int, expect: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Callable[[], NDArray[np.float64]]:
    """Backward induction; ``expect`` makes the means over successors, (S, A), of values, (S,)."""
    rewards = np.ascontiguousarray(world.rewards)

    def call() -> NDArray[np.float64]:
        values = np.zeros((horizon + 1, world.n_states))
        for h in range(horizon - 1, -1, -1):
            values[h] = (rewards + expect(values[h + 1])).max(axis=1)
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


def one_episode(
    world: MDP, targets: NDArray[np.bool_], needed: int, clustering: int, learning: int, seed: int = 0
) -> Callable[[], float]:
    """One episode of AOMultiRL as one writes it down from the paper: explore, identify, plan, learn, plan, evaluate.

    It is identified against four clusters, and learned from what its own learning phase saw.  Returns the reward of
    the evaluation.
    """
    explore = with_a_loop(world, targets, needed, int(np.argmax(world.start_distribution)), clustering, seed)
    transitions, rewards = world.transitions, np.ascontiguousarray(world.rewards)

    def plan(model: NDArray[np.float64], bonus: NDArray[np.float64]) -> NDArray[np.int64]:
        values, actions = np.zeros(world.n_states), np.zeros((learning, world.n_states), np.int64)
        for h in range(learning - 1, -1, -1):
            q = np.minimum(learning, rewards + bonus + np.einsum("sat,t->sa", model, values))
            values, actions[h] = q.max(axis=1), q.argmax(axis=1)
        return actions

    def walk(actions: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], float]:
        counts, state, total = np.zeros(transitions.shape, np.int64), int(np.argmax(world.start_distribution)), 0.0
        for h in range(learning):
            action = actions[h, state]
            successor = rng.choice(world.n_states, p=transitions[state, action])
            total += rewards[state, action]
            counts[state, action, successor] += 1
            state = successor
        return counts, total

    def call() -> float:
        rng = np.random.default_rng(seed)
        seen = explore()
        estimate = seen / np.maximum(seen.sum(axis=2, keepdims=True), 1)
        clusters = [transitions] * 4
        agree = [bool((np.abs(estimate - one).sum(axis=2)[targets] <= 0.975).all()) for one in clusters]
        assert any(agree) or clustering < 10_000
        unknown = np.full(rewards.shape, float(learning))
        learned, _ = walk(plan(np.zeros(transitions.shape), unknown), rng)
        model = learned / np.maximum(learned.sum(axis=2, keepdims=True), 1)
        return walk(plan(model, np.zeros(rewards.shape)), rng)[1]

    return call

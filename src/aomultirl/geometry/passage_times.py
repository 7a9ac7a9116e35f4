"""Expected times to a target under one policy.

By solving (I - P) v = 1 where the residual shows that this is accurate, and otherwise by an elimination that only adds,
multiplies and divides positive numbers (Grassmann, Taksar, Heyman), which is accurate however long the times are.
"""

import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.successors import Successors
from aomultirl.engine.waiting import while_serving_signals

T = TypeVar("T")
LARGEST_RESIDUAL = 1e-10
DENSE_STATES, DENSE_SHARE = 256, 0.02
SLOW_STATES = 1000
"""From here on a factorisation takes long enough for signals to be served meanwhile."""


def passage_times(world: Successors, policy: NDArray[np.int64], target: int) -> NDArray[np.float64]:
    """Expected times to ``target`` under ``policy``, which must reach it."""
    rows, columns, probs = _chain(world, policy, target)
    n_states = len(policy)
    ones = np.ones(n_states)
    ones[target] = 0.0
    solve = _solver(n_states, rows, columns, probs)
    if solve is not None:
        values = solve(ones)
        for _ in range(2):  # one round of refinement, then the check
            residual = ones + np.bincount(rows, probs * values[columns], n_states) - values
            if (values >= ones).all() and np.abs(residual).max() <= LARGEST_RESIDUAL:
                return values
            values = values + solve(residual)
    return np.asarray(eliminate(world, policy, target))


def _chain(
    world: Successors, policy: NDArray[np.int64], target: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """(rows, columns, probabilities) of the moves under ``policy`` that neither start nor end in the target."""
    n_states = len(policy)
    n_actions = (len(world.starts) - 1) // n_states
    pairs = np.arange(n_states) * n_actions + policy
    lengths = world.starts[pairs + 1] - world.starts[pairs]
    lengths[target] = 0
    rows = np.repeat(np.arange(n_states), lengths)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = world.starts[pairs[rows]] + within
    columns, probs = world.states[places], world.probs[places]
    live = columns != target
    return rows[live], columns[live], probs[live]


def _solver(
    n_states: int, rows: NDArray[np.int64], columns: NDArray[np.int32], probs: NDArray[np.float64]
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]] | None:
    """Solves (I - P) v = right-hand side; None where the factors are singular in floating point."""
    if n_states <= DENSE_STATES or len(probs) > DENSE_SHARE * n_states**2 or not _banded(rows, columns, n_states):
        dense = np.eye(n_states)
        dense[rows, columns] -= probs
        from scipy.linalg import lu_factor, lu_solve

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # singular or ill-conditioned factors show in the residual
            factors = _factorised(n_states, lambda: lu_factor(dense, check_finite=False))
        if not np.isfinite(factors[0]).all() or (np.diag(factors[0]) == 0.0).any():
            return None
        return lambda right: np.asarray(lu_solve(factors, right, check_finite=False))
    from scipy.sparse.linalg import splu

    chain = sp.csc_array((probs, (rows, columns)), shape=(n_states, n_states))
    try:
        matrix = sp.csc_matrix(sp.eye_array(n_states, format="csc") - chain)
        sparse = _factorised(n_states, lambda: splu(matrix, permc_spec="MMD_AT_PLUS_A"))
    except RuntimeError:
        return None
    return lambda right: np.asarray(sparse.solve(right))


def _factorised(n_states: int, factorise: Callable[[], T]) -> T:
    return while_serving_signals(factorise) if n_states >= SLOW_STATES else factorise()


def _banded(rows: NDArray[np.int64], columns: NDArray[np.int32], n_states: int) -> bool:
    """Most moves are short, as in a grid, so that a sparse factorisation stays sparse."""
    return len(rows) == 0 or bool(np.median(np.abs(rows - columns)) <= 4.0 * np.sqrt(n_states))


@kernel
def eliminate(world: Successors, policy: NDArray[np.int64], target: int) -> NDArray[np.float64]:
    """Expected times to ``target`` by eliminating one state after the other, without a subtraction.

    Removing state k from v_i = c_i + sum_j p_ij v_j gives p_ij += f p_kj and c_i += f c_k with
    f = p_ik / out_k, where out_k = sum over j != k of p_kj is 1 - p_kk.
    """
    n_states = len(policy)
    n_actions = (len(world.starts) - 1) // n_states
    chain = np.zeros((n_states, n_states))  # the target stands first, so that it is never removed
    for s in range(n_states):
        row = 0 if s == target else s + 1 if s < target else s
        pair = s * n_actions + policy[s]
        for i in range(world.starts[pair], world.starts[pair + 1]):
            successor = world.states[i]
            column = 0 if successor == target else successor + 1 if successor < target else successor
            chain[row, column] += world.probs[i]
    cost, out = np.empty(n_states), np.empty(n_states)
    for k in range(n_states):
        cost[k] = out[k] = 1.0
    spent = 0
    for k in range(n_states - 1, 0, -1):
        total = 0.0
        for j in range(k):
            total += chain[k, j]
        out[k] = total
        for i in range(1, k):
            spent = serve_signals(spent, k)
            if chain[i, k] > 0.0:
                f = chain[i, k] / total
                cost[i] += f * cost[k]
                for j in range(k):
                    chain[i, j] += f * chain[k, j]
    times = np.zeros(n_states)
    for k in range(1, n_states):
        total = cost[k]
        for j in range(1, k):
            total += chain[k, j] * times[j]
        times[k] = total / out[k]
    values = np.zeros(n_states)
    for s in range(n_states):
        if s != target:
            values[s] = times[s + 1 if s < target else s]
    return values

"""Successor lists: the transitions that exist, and nothing else.

Pair number ``s * A + a`` has the successors ``states[starts[pair]:starts[pair + 1]]``, ascending, with the
probabilities ``probs`` at the same places (all positive).  Memory and planning grow with the number of
transitions, not with S * A * S.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks

ROW_SUM_TOLERANCE = 1e-9


class Successors(NamedTuple):
    """starts: int64 (S*A + 1,); states: int32 (transitions,); probs: float64 (transitions,)."""

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]

    def owners(self) -> NDArray[np.int64]:
        """The pair that each transition belongs to, (transitions,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def read(transitions: Any, n_actions: int) -> Successors:
    """Successor lists from any accepted form of a transition function.

    Parameters
    ----------
    transitions
        dense (S, A, S); ``scipy.sparse`` (S*A, S); a :class:`Successors` record; or nested lists
        where ``transitions[s][a]`` is a list of (successor, probability) or a dict {successor: probability}.
    n_actions
        A, as the rewards have it.
    """
    if sp.issparse(transitions):
        return _from_sparse(transitions, n_actions)
    if isinstance(transitions, Successors):
        return _from_record(transitions, n_actions)
    if _is_nested(transitions):
        return _from_nested(transitions, n_actions)
    return _from_dense(transitions, n_actions)


def _from_dense(transitions: Any, n_actions: int) -> Successors:
    dense = checks.finite_array("transitions", transitions, lowest=0.0)
    if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or dense.size == 0:
        raise ValueError(f"transitions must have shape (S, A, S), not {dense.shape}")
    if dense.shape[1] != n_actions:
        raise ValueError(f"transitions have {dense.shape[1]} actions, rewards have {n_actions}")
    n_states = dense.shape[0]
    return _canonical(sp.csr_array(dense.reshape(n_states * n_actions, n_states)), n_actions)


def _from_sparse(transitions: Any, n_actions: int) -> Successors:
    rows, n_states = transitions.shape
    if n_states == 0 or rows != n_states * n_actions:
        raise ValueError(
            f"sparse transitions must have shape (S*A, S) with A = {n_actions} as in rewards, not {(rows, n_states)}"
        )
    return _canonical(sp.csr_array(transitions, dtype=np.float64, copy=True), n_actions)


def _from_record(record: Successors, n_actions: int) -> Successors:
    starts = np.array(record.starts, np.int64)
    states = np.array(record.states, np.int64)
    probs = np.array(record.probs, np.float64)
    n_states, rest = divmod(len(starts) - 1, n_actions)
    if starts.ndim != 1 or len(starts) < 2 or rest:
        raise ValueError(f"starts must hold S*A + 1 numbers with A = {n_actions} as in rewards, not {len(starts)}")
    if states.ndim != 1 or states.shape != probs.shape:
        raise ValueError(
            f"states and probs must be lists of one length, not of shapes {states.shape} and {probs.shape}"
        )
    if starts[0] != 0 or starts[-1] != len(states) or (np.diff(starts) < 0).any():
        raise ValueError(f"starts must rise from 0 to {len(states)}, the number of transitions")
    _check_states(states, np.repeat(np.arange(len(starts) - 1), np.diff(starts)), n_states, n_actions)
    return _canonical(sp.csr_array((probs, states, starts), shape=(len(starts) - 1, n_states)), n_actions)


def _is_nested(transitions: Any) -> bool:
    """transitions[0][0] is a dict, or a list that begins with a (successor, probability) pair."""
    try:
        row = transitions[0][0]
        return isinstance(row, Mapping) or (isinstance(row, list | tuple) and isinstance(row[0], list | tuple))
    except (TypeError, IndexError, KeyError):
        return False


def _from_nested(transitions: Any, n_actions: int) -> Successors:
    starts, states, probs = [0], [], []
    for s, actions in enumerate(transitions):
        if len(actions) != n_actions:
            raise ValueError(f"transitions[{s}] has {len(actions)} actions, rewards have {n_actions}")
        for a, row in enumerate(actions):
            for entry in row.items() if isinstance(row, Mapping) else row:
                try:
                    successor, probability = entry
                    states.append(int(successor))
                    probs.append(float(probability))
                except (TypeError, ValueError):
                    raise ValueError(f"transitions[{s}, {a}] holds {entry!r}, not (successor, probability)") from None
            starts.append(len(states))
    return _from_record(Successors(np.array(starts), np.array(states, np.int32), np.array(probs)), n_actions)


def _check_states(states: NDArray[np.int64], owners: NDArray[np.int64], n_states: int, n_actions: int) -> None:
    bad = np.flatnonzero((states < 0) | (states >= n_states))
    if len(bad):
        s, a = divmod(int(owners[bad[0]]), n_actions)
        raise ValueError(f"transitions[{s}, {a}] leads to {states[bad[0]]}, but states are 0 to {n_states - 1}")


def _canonical(matrix: Any, n_actions: int) -> Successors:
    """Check every entry and every row; sort, and drop zeros."""
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0.0)))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        s, a = divmod(row, n_actions)
        value = matrix.data[bad[0]]
        words = f"{value:g}, negative" if value < 0 else f"{value:g}"
        raise ValueError(f"transitions[{s}, {a}, {matrix.indices[bad[0]]}] is {words}")
    matrix.eliminate_zeros()
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(sums - 1.0) > ROW_SUM_TOLERANCE)
    if len(wrong):
        s, a = divmod(int(wrong[0]), n_actions)
        raise ValueError(f"transitions[{s}, {a}] sums to {sums[wrong[0]]:.12g}, not 1")
    return Successors(
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data, np.float64),
    )

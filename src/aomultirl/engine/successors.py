"""Successor lists: the transitions that exist, and nothing else.

Pair number ``s * A + a`` has the successors ``states[starts[pair]:starts[pair + 1]]``, ascending, with the
probabilities ``probs`` at the same places (all positive).  Memory and planning grow with the number of
transitions, not with S * A * S.
"""

import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl import checks, sizes

ROW_SUM_TOLERANCE, ROUGH_TOLERANCE = 1e-9, 1e-5


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

    Rows must sum to 1 within 1e-9.  Those of single-precision arrays may be off by 1e-5, and are divided by their sum.

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
        raise ValueError(f"transitions must have shape (S, A, S), not {checks.shown(dense.shape)}")
    if dense.shape[1] != n_actions:
        raise ValueError(f"transitions have {dense.shape[1]} actions, rewards have {n_actions}")
    n_states = dense.shape[0]
    rough = getattr(transitions, "dtype", None) in (np.float32, np.float16)
    return _canonical(sp.csr_array(dense.reshape(n_states * n_actions, n_states)), n_actions, rough)


def absorbed(world: Successors, states: NDArray[np.bool_]) -> Successors:
    """The same with rows that keep themselves in some of the ``states``, (S,)."""
    n_actions = (len(world.starts) - 1) // len(states)
    rows, owners = np.repeat(states, n_actions), world.owners()
    lengths = np.where(rows, 1, np.diff(world.starts))
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    kept = np.repeat(~rows, lengths)
    successors, probs = np.empty(starts[-1], np.int32), np.ones(starts[-1])
    successors[kept], probs[kept] = world.states[~rows[owners]], world.probs[~rows[owners]]
    successors[~kept] = np.flatnonzero(rows) // n_actions
    return Successors(starts, successors, probs)


def _from_sparse(transitions: Any, n_actions: int) -> Successors:
    shape = transitions.shape
    if len(shape) != 2 or shape[1] == 0 or shape[0] != shape[1] * n_actions:
        raise ValueError(f"sparse transitions must have shape (S*A, S) with A = {n_actions} as in rewards, not {shape}")
    if transitions.dtype.kind not in "bfiu":
        raise ValueError(f"transitions is not an array of real numbers: it holds {transitions.dtype.name}")
    sizes.check("transitions", f"of shape {checks.cut(str(shape))}", 8.0 * shape[0], "a list of all pairs", "it")
    matrix: Any = sp.coo_array(transitions)
    _check_probs(matrix.data, matrix.row, matrix.col, n_actions)
    return _canonical(matrix.astype(np.float64).tocsr(), n_actions, transitions.dtype == np.float32)


def _from_record(record: Successors, n_actions: int) -> Successors:
    starts, states = (_whole(name, getattr(record, name)) for name in ("starts", "states"))
    probs = checks.array_of("probs", record.probs)
    n_states, rest = divmod(len(starts) - 1, n_actions)
    if len(starts) < 2 or rest:
        raise ValueError(f"starts must hold S*A + 1 numbers with A = {n_actions} as in rewards, not {len(starts)}")
    if probs.dtype.kind not in "bfiu" or states.shape != probs.shape:
        raise ValueError(f"probs must be a list of {len(states)} numbers like states, not of shape {probs.shape}")
    if starts[0] != 0 or starts[-1] != len(states) or (np.diff(starts) < 0).any():
        raise ValueError(f"starts must rise from 0 to {len(states)}, the number of transitions")
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    _check_states(states, owners, n_states, n_actions)
    _check_probs(probs, owners, states, n_actions)
    matrix = sp.csr_array((probs.astype(np.float64), states, starts), shape=(len(starts) - 1, n_states))
    return _canonical(matrix, n_actions, probs.dtype == np.float32)


def _whole(name: str, values: Any) -> NDArray[np.int64]:
    array = checks.array_of(name, values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be a list of whole numbers, not {checks.shown(values)}")
    return array.astype(np.int64)


def _is_nested(transitions: Any) -> bool:
    """transitions[0][0] is a dict, or a list that begins with a (successor, probability) pair."""
    try:
        row = transitions[0][0]
        return isinstance(row, Mapping) or (isinstance(row, list | tuple) and isinstance(row[0], list | tuple))
    except Exception:  # whatever indexing somebody's object raises: then it is to be read as an array
        return False


def _from_nested(transitions: Any, n_actions: int) -> Successors:
    starts, states, probs = [0], [], []
    for s, place in enumerate(transitions):
        actions = transitions[place] if isinstance(transitions, Mapping) else place
        if not isinstance(actions, Collection) or len(actions) != n_actions:
            count = f"{len(actions)} actions" if isinstance(actions, Collection) else checks.shown(actions)
            raise ValueError(f"transitions[{s}] has {count}, rewards have {n_actions} actions")
        for a, where in enumerate(actions):
            row = actions[where] if isinstance(actions, Mapping) else where
            entries = row.items() if isinstance(row, Mapping) else row
            if not isinstance(entries, Iterable):
                raise ValueError(
                    f"transitions[{s}, {a}] is {checks.shown(row)}, not a list of (successor, probability)"
                )
            for entry in entries:
                try:
                    successor, probability = entry
                    state = operator.index(successor)
                    if not -checks.LARGEST <= state <= checks.LARGEST or isinstance(probability, str | bytes):
                        raise ValueError
                    states.append(state)
                    probs.append(float(probability))
                except (TypeError, ValueError, OverflowError):
                    raise ValueError(
                        f"transitions[{s}, {a}] holds {checks.shown(entry)}, not (successor, probability)"
                    ) from None
            starts.append(len(states))
    return _from_record(Successors(np.array(starts), np.array(states, np.int64), np.array(probs)), n_actions)


def _check_probs(probs: NDArray[Any], owners: NDArray[Any], states: NDArray[Any], n_actions: int) -> None:
    bad = np.flatnonzero(~(np.isfinite(probs) & (probs >= 0)))
    if len(bad):
        s, a = divmod(int(owners[bad[0]]), n_actions)
        value = probs[bad[0]]
        raise ValueError(f"transitions[{s}, {a}, {states[bad[0]]}] is {value:g}{', negative' if value < 0 else ''}")


def _check_states(states: NDArray[np.int64], owners: NDArray[np.int64], n_states: int, n_actions: int) -> None:
    bad = np.flatnonzero((states < 0) | (states >= n_states))
    if len(bad):
        s, a = divmod(int(owners[bad[0]]), n_actions)
        raise ValueError(f"transitions[{s}, {a}] leads to {states[bad[0]]}, but states are 0 to {n_states - 1}")


def _canonical(matrix: Any, n_actions: int, rough: bool) -> Successors:
    """Check the sum of every row; sort, and drop zeros."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(sums - 1.0) > (ROUGH_TOLERANCE if rough else ROW_SUM_TOLERANCE))
    if len(wrong):
        s, a = divmod(int(wrong[0]), n_actions)
        raise ValueError(f"transitions[{s}, {a}] sums to {sums[wrong[0]]:.12g}, not 1")
    probs = matrix.data / np.repeat(sums, np.diff(matrix.indptr)) if rough else matrix.data
    return Successors(
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(probs, np.float64),
    )

"""What worlds are made with and asked for, checked: starts, layouts, policies, limits of time."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks
from aomultirl.engine import successors


def read_policy(
    policy: ArrayLike, n_states: int, n_actions: int
) -> tuple[NDArray[np.int32] | NDArray[np.float64], bool]:
    """int32 (H or 1, S) or float64 (H or 1, S, A), and whether it is the same at every step."""
    try:
        table = np.asarray(policy)
    except ValueError:
        raise ValueError("policy is not an array: its rows differ in length") from None
    except Exception as error:  # whatever somebody's object raises
        raise ValueError(f"policy is not an array, but {checks.shown(policy)}: {type(error).__name__}") from None
    shape: tuple[int, ...] = (n_states,)
    if not np.issubdtype(table.dtype, np.integer):
        table = checks.finite_array("policy", table, lowest=0.0, highest=1.0 + 1e-9)
        shape = (n_states, n_actions)
    stationary = table.shape == shape
    table = table[None] if stationary else table
    if table.ndim != len(shape) + 1 or table.shape[1:] != shape or len(table) == 0:
        kind = "actions" if len(shape) == 1 else "probabilities"
        raise ValueError(f"a policy of {kind} must have shape {shape} or (H, ...), not {np.shape(policy)}")
    if len(shape) == 1:
        _check_actions(table, n_actions)
        return table.astype(np.int32), stationary
    sums = table.sum(axis=2)
    wrong = np.argwhere(np.abs(sums - 1.0) > 1e-6)
    if len(wrong):
        h, s = wrong[0]
        raise ValueError(f"policy of step {h} sums to {sums[h, s]:.9g} in state {s}, not 1")
    return table, stationary


def _check_actions(table: NDArray[Any], n_actions: int) -> None:
    wrong = np.argwhere((table < 0) | (table >= n_actions))
    if len(wrong):
        h, s = wrong[0]
        raise ValueError(f"policy of step {h} is {table[h, s]} in state {s}, but actions are 0 to {n_actions - 1}")


def read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """A view of the array that nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_layout(layout: Any, n_states: int) -> tuple[int, int] | None:
    """(rows, columns) of a grid of S cells; None where there is none."""
    if layout is None:
        return None
    try:
        rows, columns = (checks.integer("layout", size, least=1) for size in layout)
    except Exception:  # whatever somebody's object raises
        raise ValueError(f"layout is {checks.shown(layout)}, not (rows, columns)") from None
    if rows * columns != n_states:
        raise ValueError(f"layout {(rows, columns)} has {rows * columns} cells, the world has {n_states} states")
    return rows, columns


def read_seconds(limit: Any) -> float:
    """How long something may take; for ever where no limit is given."""
    if limit is None or (isinstance(limit, float) and limit == math.inf):
        return math.inf
    return checks.real("time_limit", limit)


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 state", "2 states"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def read_terminal(terminal: Any, n_states: int) -> NDArray[np.bool_]:
    """Which states are terminal, (S,); given as such a mask, or as a list of states."""
    mask = np.zeros(n_states, np.bool_)
    if terminal is not None:
        given = checks.array_of("terminal", terminal)
        if given.dtype.kind == "b" and given.shape == (n_states,):
            mask[:] = given
        elif given.ndim == 1 and (given.dtype.kind in "iu" or given.size == 0):
            for i, state in enumerate(given.tolist()):
                mask[checks.integer(f"terminal[{i}]", state, least=0, most=n_states - 1)] = True
        else:
            raise ValueError(f"terminal is {checks.shown(terminal)}, neither a mask of shape ({n_states},) nor states")
    mask.flags.writeable = False
    return mask


def read_start(start: Any, n_states: int) -> int | NDArray[np.float64]:
    """A state, or a distribution over all states, (S,)."""
    if checks.array_of("start", start).ndim == 0:
        try:
            return checks.integer("start", start, least=0, most=n_states - 1)
        except ValueError:
            words = f"neither a state (0 to {n_states - 1}) nor a distribution"
            raise ValueError(f"start is {checks.shown(start)}, {words}") from None
    chances = checks.finite_array("start", start, lowest=0.0)
    if chances.shape != (n_states,):
        raise ValueError(f"start must be a state or have shape ({n_states},), not {chances.shape}")
    if abs(chances.sum() - 1.0) > successors.ROW_SUM_TOLERANCE:
        raise ValueError(f"start sums to {chances.sum():.12g}, not 1")
    return read_only(chances)

"""Finite-horizon planning over successor lists.

Backward induction, h = H-1, ..., 0 with V_H = 0:

    Q_h(s, a) = min{ cap_h, gain(s, a) + sum_s' P(s' | s, a) V_{h+1}(s') },     V_h(s) = max_a Q_h(s, a),

where the gain is the reward, plus a bonus for an optimistic learner.  Every sum runs over the successors in
ascending order, one addition after the other, so results are the same bits on every machine and for every
layout.  Nearly dense worlds keep their transitions by column too: then one column times one value is added
to all sums at once, which is the same order of additions, and vectorises.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import inlined, kernel, wide_vectors
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.successors import Successors

U = np.uint64
PART = 2**25
"""Transitions that backward induction looks at without a look at the signals: some 20 ms."""
BLOCK = 2048
"""Pairs worked on together: their sums stay in the first-level cache."""
PIECE = 2**20
"""Entries of a table of values that are held at a time where only its first row is asked for."""
LONG, STRIDE, ROUNDING = 10_000, 100, 32 * 2.0**-52


class Transitions(NamedTuple):
    """Successor lists and, for nearly dense worlds, columns[s', pair] = P(s' | pair); (0, 0) otherwise."""

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    columns: NDArray[np.float64]


def transitions(successors: Successors, n_states: int) -> Transitions:
    """The successor lists, with columns where at least half of all transitions exist."""
    n_pairs = len(successors.starts) - 1
    if 2 * len(successors.probs) < n_pairs * n_states or n_states < 32:
        return Transitions(*successors, np.empty((0, 0)))
    columns = aligned(n_states, n_pairs)
    pairs = np.repeat(np.arange(n_pairs), np.diff(successors.starts))
    columns[successors.states, pairs] = successors.probs
    return Transitions(*successors, columns)


def aligned(rows: int, columns: int) -> NDArray[np.float64]:
    """Zeros that start at a cache line: misaligned vector loads cost a third of the speed."""
    raw = np.zeros(rows * columns + 8)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + rows * columns].reshape(rows, columns)


@inlined
def expect_row(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    values: NDArray[np.float64],
    pair: np.uint64,
) -> float:
    """sum_s' P(s' | pair) values[s'].

    Takes arrays and has no branch: handing over a record, or branching, makes Numba count references in the loop.
    """
    total = 0.0
    for i in range(U(starts[pair]), U(starts[pair + U(1)])):
        total += probs[i] * values[U(states[i])]
    return total


@inlined
def _expect_columns(
    columns: NDArray[np.float64], values: NDArray[np.float64], lo: int, hi: int, out: NDArray[np.float64]
) -> None:
    n, width = len(values), hi - lo
    for pair in range(width):
        out[pair] = 0.0
    j = 0
    while j + 4 <= n:
        a, b, c, d = columns[j, lo:hi], columns[j + 1, lo:hi], columns[j + 2, lo:hi], columns[j + 3, lo:hi]
        x, y, z, w = values[j], values[j + 1], values[j + 2], values[j + 3]
        for pair in range(width):
            out[pair] = (((out[pair] + a[pair] * x) + b[pair] * y) + c[pair] * z) + d[pair] * w
        j += 4
    while j < n:
        a, x = columns[j, lo:hi], values[j]
        for pair in range(width):
            out[pair] += a[pair] * x
        j += 1


@inlined
def _plan_by_rows(
    world: Transitions,
    gains: NDArray[np.float64],
    cap: float,
    following: NDArray[np.float64],
    current: NDArray[np.float64],
    actions: NDArray[np.int32],
) -> None:
    starts, states, probs = world.starts, world.states, world.probs
    n_actions = len(gains) // len(current)
    pair = U(0)
    for s in range(len(current)):
        best, best_action = -np.inf, 0
        for a in range(n_actions):
            i, end = U(starts[pair]), U(starts[pair + U(1)])
            total = 0.0
            while i + U(1) < end:
                total = (total + probs[i] * following[U(states[i])]) + probs[i + U(1)] * following[U(states[i + U(1)])]
                i += U(2)
            if i < end:
                total += probs[i] * following[U(states[i])]
            q = min(cap, gains[pair] + total)
            if q > best:
                best, best_action = q, a
            pair += U(1)
        current[s] = best
        actions[s] = best_action


@inlined
def _plan_by_columns(
    world: Transitions,
    gains: NDArray[np.float64],
    cap: float,
    following: NDArray[np.float64],
    current: NDArray[np.float64],
    actions: NDArray[np.int32],
    sums: NDArray[np.float64],
) -> None:
    n_states, n_actions = len(current), len(gains) // len(current)
    block = len(sums) // n_actions
    for first in range(0, n_states, block):
        last = min(first + block, n_states)
        _expect_columns(world.columns, following, first * n_actions, last * n_actions, sums)
        for s in range(first, last):
            best, best_action = -np.inf, 0
            for a in range(n_actions):
                q = min(cap, gains[U(s * n_actions + a)] + sums[U((s - first) * n_actions + a)])
                better = q > best
                best = q if better else best
                best_action = a if better else best_action
            current[s] = best
            actions[s] = best_action


@kernel
def _backward_induction(
    world: Transitions,
    gains: NDArray[np.float64],
    caps: NDArray[np.float64],
    values: NDArray[np.float64],
    policy: NDArray[np.int32],
) -> None:
    wide_vectors()
    horizon, n_states = len(caps), values.shape[1]
    n_actions = len(gains) // n_states
    room = np.empty(max(1, BLOCK // n_actions) * n_actions + 8)
    skip = (-room.ctypes.data % 64) // 8  # start at a cache line, as the columns do
    sums = room[skip : skip + len(room) - 8]
    for h in range(horizon - 1, -1, -1):
        actions = policy[h if len(policy) > 1 else 0]
        if len(world.columns) > 0:
            _plan_by_columns(world, gains, caps[h], values[h + 1], values[h], actions, sums)
        else:
            _plan_by_rows(world, gains, caps[h], values[h + 1], values[h], actions)


@kernel
def _evaluate(
    world: Transitions,
    rewards: NDArray[np.float64],
    policy: NDArray[Any],
    values: NDArray[np.float64],
) -> None:
    """The values of a policy of actions, (H or 1, S), or of mixtures, (H or 1, S, A).

    Numba knows ``policy.ndim`` before it looks at types, and compiles the branch that is taken alone.
    """
    starts, states, probs = world.starts, world.states, world.probs
    horizon, n_states = len(values) - 1, values.shape[1]
    n_actions = len(rewards) // n_states
    spent = 0
    for h in range(horizon - 1, -1, -1):
        spent = serve_signals(spent, len(probs))
        chosen, following = policy[h if len(policy) > 1 else 0], values[h + 1]
        for s in range(n_states):
            total = 0.0
            if policy.ndim == 2:
                first = chosen[s] if chosen[s] < n_actions else 0
                last = chosen[s] + 1 if chosen[s] < n_actions else n_actions
                for a in range(first, last):
                    pair = U(s * n_actions + a)
                    total += rewards[pair] + expect_row(starts, states, probs, following, pair)
                total /= last - first
            else:
                for a in range(n_actions):
                    if chosen[s, a] > 0.0:
                        pair = U(s * n_actions + a)
                        total += chosen[s, a] * (rewards[pair] + expect_row(starts, states, probs, following, pair))
            values[h, s] = total


class Plan(NamedTuple):
    """values: (H + 1, S), last row zero; policy: int32 (H, S), the first of the best actions at each step."""

    values: NDArray[np.float64]
    policy: NDArray[np.int32]


def backward_induction(
    world: Transitions,
    gains: NDArray[np.float64],
    horizon: int,
    caps: NDArray[np.float64] | None = None,
    *,
    with_policy: bool = True,
) -> Plan:
    """Optimal values and actions for ``horizon`` steps.

    Parameters
    ----------
    gains
        (S, A), the reward or the reward plus a bonus; +inf makes a pair worth its cap.
    caps
        (H,), upper bounds on Q at each step; none by default.
    with_policy
        False keeps the actions of the first step only, (1, S), where values are what is wanted.
    """
    n_states = gains.shape[0]
    values = np.zeros((horizon + 1, n_states))
    policy = np.zeros((horizon if with_policy else 1, n_states), np.int32)
    limits = np.full(horizon, np.inf) if caps is None else np.ascontiguousarray(caps, np.float64)
    flat = np.ascontiguousarray(gains, np.float64).reshape(-1)
    # In parts, between which Python serves signals: a look at them inside costs dense planning a twelfth of its speed.
    part = max(1, PART // max(1, len(world.probs)))
    if part >= horizon:
        _backward_induction(world, flat, limits, values, policy)
        return Plan(values, policy)
    for last in range(horizon, 0, -part):
        first = max(0, last - part)
        rows = policy[first:last] if with_policy else policy
        _backward_induction(world, flat, limits[first:last], values[first : last + 1], rows)
    return Plan(values, policy)


def evaluate(
    world: Transitions, rewards: NDArray[np.float64], policy: NDArray[np.int32] | NDArray[np.float64], horizon: int
) -> NDArray[np.float64]:
    """Values (H + 1, S) of a policy: int32 (H or 1, S), or float64 (H or 1, S, A) with probabilities of actions.

    As in the plans of behaviours, the number of actions in place of an action means "uniformly at random".
    """
    n_states = rewards.shape[0]
    values = np.zeros((horizon + 1, n_states))
    flat = np.ascontiguousarray(rewards, np.float64).reshape(-1)
    _evaluate(world, flat, np.ascontiguousarray(policy, np.int32 if policy.ndim == 2 else np.float64), values)
    return values


def evaluate_first(
    world: Transitions, rewards: NDArray[np.float64], policy: NDArray[np.int32], horizon: int
) -> NDArray[np.float64]:
    """The first row of :func:`evaluate` alone, (S,), for a policy of actions: a piece of the table at a time.

    Bit for bit the same, in memory that does not grow with the horizon.
    """
    n_states = rewards.shape[0]
    flat, plan = np.ascontiguousarray(rewards, np.float64).reshape(-1), np.ascontiguousarray(policy, np.int32)
    piece = max(1, PIECE // n_states)
    following = np.zeros(n_states)
    for end in range(horizon, 0, -piece):
        first = max(0, end - piece)
        values = np.zeros((end - first + 1, n_states))
        values[-1] = following
        _evaluate(world, flat, plan[first:end] if len(plan) > 1 else plan, values)
        following = values[0].copy()
    return following


@kernel
def _iterate(
    world: Transitions,
    gains: NDArray[np.float64],
    horizon: int,
    values: NDArray[np.float64],
    actions: NDArray[np.int32],
) -> None:
    """Backward induction that keeps two rows only; the result stands in row horizon % 2."""
    n_actions = len(gains) // values.shape[1]
    sums, spent = np.empty(max(1, BLOCK // n_actions) * n_actions), 0
    for h in range(horizon):
        spent = serve_signals(spent, len(world.probs))
        if len(world.columns) > 0:
            _plan_by_columns(world, gains, np.inf, values[h % 2], values[(h + 1) % 2], actions, sums)
        else:
            _plan_by_rows(world, gains, np.inf, values[h % 2], values[(h + 1) % 2], actions)


@kernel
def _leap(
    world: Transitions,
    gains: NDArray[np.float64],
    horizon: int,
    values: NDArray[np.float64],
    actions: NDArray[np.int32],
) -> tuple[int, float]:
    """:func:`_iterate` for a long horizon: (the row the result stands in, what is to be added to it)."""
    done, offset, settled, spent = 0, 0.0, False, 0
    while done + STRIDE <= horizon and not settled:
        spent = serve_signals(spent, STRIDE * len(world.probs))
        before = values[0].copy()
        _iterate(world, gains, STRIDE, values, actions)
        done += STRIDE
        gained = values[0] - before
        low, high = gained.min(), gained.max()
        settled = high - low <= ROUNDING * np.abs(values[0]).max()
        if settled:
            leaps = (horizon - done) // STRIDE
            offset += leaps * (0.5 * (low + high))
            done += leaps * STRIDE
        shift = values[0, 0]
        values[0] -= shift
        offset += shift
    _iterate(world, gains, horizon - done, values, actions)
    return (horizon - done) % 2, offset


def first_values(world: Transitions, rewards: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """V*_1 alone, (S,), for horizons so long that a table of all steps would not fit.

    In the long run a step more is worth the same from everywhere, if the world is communicating and not periodic.  The
    Bellman operator is monotone and moves with constants, so what further steps add lies between the least and the
    greatest that one state gained from the last ones.  Above ``LONG`` steps, once these two differ by no more than
    rounding, the rest is added at once; where they never do, every step is taken.
    """
    n_states = len(rewards)
    values, gains, actions = (
        np.zeros((2, n_states)),
        np.ascontiguousarray(rewards).reshape(-1),
        np.zeros(n_states, np.int32),
    )
    if horizon <= LONG:
        _iterate(world, gains, horizon, values, actions)
        return np.asarray(values[horizon % 2])
    row, offset = _leap(world, gains, horizon, values, actions)
    return np.asarray(values[row] + offset)

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
            while i + U(3) < end:
                total = (total + probs[i] * following[U(states[i])]) + probs[i + U(1)] * following[U(states[i + U(1)])]
                total += probs[i + U(2)] * following[U(states[i + U(2)])]
                total += probs[i + U(3)] * following[U(states[i + U(3)])]
                i += U(4)
            while i + U(1) < end:
                total = (total + probs[i] * following[U(states[i])]) + probs[i + U(1)] * following[U(states[i + U(1)])]
                i += U(2)
            if i < end:
                total += probs[i] * following[U(states[i])]
            q = gains[pair] + total
            q = q if q < cap else cap
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
        last = first + block if first + block < n_states else n_states
        _expect_columns(world.columns, following, first * n_actions, last * n_actions, sums)
        for s in range(first, last):
            best, best_action = -np.inf, 0
            for a in range(n_actions):
                q = gains[U(s * n_actions + a)] + sums[U((s - first) * n_actions + a)]
                q = q if q < cap else cap
                better = q > best
                best = q if better else best
                best_action = a if better else best_action
            current[s] = best
            actions[s] = best_action


@kernel
def _induce_by_rows(
    world: Transitions,
    gains: NDArray[np.float64],
    caps: NDArray[np.float64],
    values: NDArray[np.float64],
    policy: NDArray[np.int32],
) -> None:
    for h in range(len(caps) - 1, -1, -1):
        _plan_by_rows(world, gains, caps[h], values[h + 1], values[h], policy[h if len(policy) > 1 else 0])


@kernel
def _induce_by_columns(
    world: Transitions,
    gains: NDArray[np.float64],
    caps: NDArray[np.float64],
    values: NDArray[np.float64],
    policy: NDArray[np.int32],
) -> None:
    wide_vectors()
    n_actions = len(gains) // values.shape[1]
    block = BLOCK // n_actions if n_actions <= BLOCK else 1
    room = np.empty(block * n_actions + 8)
    skip = (-room.ctypes.data % 64) // 8  # start at a cache line, as the columns do
    sums = room[skip : skip + block * n_actions]
    for h in range(len(caps) - 1, -1, -1):
        _plan_by_columns(world, gains, caps[h], values[h + 1], values[h], policy[h if len(policy) > 1 else 0], sums)


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
    values = np.empty((horizon + 1, n_states))
    values[horizon] = 0.0
    policy = np.zeros((horizon if with_policy else 1, n_states), np.int32)
    if caps is None:
        limits = np.empty(horizon)
        limits.fill(np.inf)
    else:
        limits = np.ascontiguousarray(caps, np.float64)
    flat = np.ascontiguousarray(gains, np.float64).reshape(-1)
    _induce(world, flat, limits, values, policy)
    return Plan(values, policy)


def _induce(
    world: Transitions,
    gains: NDArray[np.float64],
    caps: NDArray[np.float64],
    values: NDArray[np.float64],
    policy: NDArray[np.int32],
) -> None:
    """Fill in all rows of ``values``, (len(caps) + 1, S), before the last, and those of ``policy``, or its only one.

    In parts, between which Python serves signals: a look at them inside costs dense planning a twelfth of its speed.
    """
    by_layout = _induce_by_columns if len(world.columns) > 0 else _induce_by_rows
    horizon, part = len(caps), max(1, PART // max(1, len(world.probs)))
    if part >= horizon:
        by_layout(world, gains, caps, values, policy)
        return
    for last in range(horizon, 0, -part):
        first = max(0, last - part)
        rows = policy[first:last] if len(policy) > 1 else policy
        by_layout(world, gains, caps[first:last], values[first : last + 1], rows)


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


def first_values(world: Transitions, rewards: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """V*_1 alone, (S,), for horizons so long that a table of all steps would not fit.

    In the long run a step more is worth the same from everywhere, if the world is communicating and not periodic.  The
    Bellman operator is monotone and moves with constants, so what further steps add lies between the least and the
    greatest that one state gained from the last ones.  Above ``LONG`` steps, once these two differ by no more than
    rounding, the rest is added at once; where they never do, every step is taken.
    """
    iterate = _Iteration(world, np.ascontiguousarray(rewards, np.float64).reshape(-1), len(rewards))
    values = np.zeros(len(rewards))
    if horizon <= LONG:
        return iterate(values, horizon)
    done, offset, settled = 0, 0.0, False
    while done + STRIDE <= horizon and not settled:
        before, values = values, iterate(values, STRIDE)
        done += STRIDE
        gained = values - before
        low, high = gained.min(), gained.max()
        settled = high - low <= ROUNDING * np.abs(values).max()
        if settled:
            leaps = (horizon - done) // STRIDE
            offset += leaps * (0.5 * (low + high))
            done += leaps * STRIDE
        shift = values[0]
        values -= shift
        offset += shift
    return np.asarray(iterate(values, horizon - done) + offset)


class _Iteration:
    """Backward induction that keeps some rows only.

    Parameters
    ----------
    world, gains
        the transitions, and what each pair earns, (S * A,).
    n_states
        S.
    """

    def __init__(self, world: Transitions, gains: NDArray[np.float64], n_states: int) -> None:
        self._world, self._gains = world, gains
        most = min(STRIDE, max(1, PIECE // n_states))
        self._values, self._caps = np.empty((most + 1, n_states)), np.full(most, np.inf)
        self._actions = np.empty((1, n_states), np.int32)

    def __call__(self, values: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
        """The values with so many steps more to go, (S,)."""
        table, caps = self._values, self._caps
        table[0] = values
        while steps > 0:
            taken = min(steps, len(caps))
            table[taken] = table[0]
            _induce(self._world, self._gains, caps[:taken], table[: taken + 1], self._actions)
            steps -= taken
        return np.asarray(table[0].copy())

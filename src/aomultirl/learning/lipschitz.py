"""How far the values of two tasks may be apart, pair by pair (Lecarpentier et al. 2021), from what is known of both.

For two tasks with rewards R, R' and rows T, T', and values V' of the second, discounted by g::

    D(s, a) = |R - R'| + g sum_s' V'(s') |T(s') - T'(s')|
    d(s, a) = D(s, a) + g sum_s' T(s' | s, a) max_a' d(s', a')

is a bound: ``|Q(s, a) - Q'(s, a)| <= d(s, a)``, because Q - Q' is R - R' + g (T - T') V' + g T (V - V').  So is the
same with the tasks exchanged, and the smaller of both is taken.

Only some pairs of each task are known, with estimates within eps, and of V' there is an upper bound W.  Then::

    D = |R - R'| + g sum W |T - T'| + 2 B                              both known, B = eps (1 + g Vmax)
    D = max{R - low, high - R} + g (sum W T + max W) + B               one of them known, R and T its own
    D = Dmax(s, a)                                                     neither known

and D is nowhere above Dmax(s, a), what somebody says that it is at most.  Rewards lie between ``low`` and ``high``.  A
pair that is not known in the task whose rows are averaged may lead anywhere::

    d = min{ Vmax, D + g (sum T max d + eps max d) }     known in that task
    d = min{ Vmax, D + g max d }                         not known in it

d begins at Vmax and falls from sweep to sweep, so that it is a bound at any time.  Where a sweep has lowered max_a d of
every state by at least x, all further sweeps together lower each by g x / (1 - g) at least, which is taken off at once
(MacQueen 1966): equal tasks have d = 0 after one sweep.

A terminal state is a known one: every action leads back to it, and earns what a step after the end is worth.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.signals import serve_signals


class TaskModel(NamedTuple):
    """What is known of a task.

    starts, states, probs
        its estimated rows as successor lists with ascending states; empty where the pair is not known.
    rewards
        (S * A,), estimated or known.
    known
        (S * A,), pairs whose rows and rewards may be used.
    values
        (S,), W, an upper bound on what each state is worth.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    known: NDArray[np.bool_]
    values: NDArray[np.float64]


class TaskModels(NamedTuple):
    """Several tasks in one record; ``starts`` are places in the lists of all.

    starts
        (N, S * A + 1).
    states, probs
        of all tasks, one behind the other.
    rewards, known, upper
        (N, S * A); upper is U, the upper bound on the value of each pair.
    values
        (N, S).
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    known: NDArray[np.bool_]
    upper: NDArray[np.float64]
    values: NDArray[np.float64]


class Metric(NamedTuple):
    """What distances are measured with.

    low, high
        (S * A,), between which the reward of a pair lies that is not known.
    limits
        (S * A,), Dmax.
    discount
        g.
    vmax
        Vmax.
    error
        eps, of rows.
    reward_error
        eps, of rewards: 0 where they are known.
    tolerance
        by which max_a d may fall in the last sweep.
    sweeps
        at most so many.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    limits: NDArray[np.float64]
    discount: float
    vmax: float
    error: float
    reward_error: float
    tolerance: float
    sweeps: int


def largest_distances(
    low: NDArray[np.float64], high: NDArray[np.float64], discount: float, vmax: float
) -> NDArray[np.float64]:
    """Dmax where nobody says anything, (S * A,): high - low + 2 g Vmax; (1 + g) / (1 - g) for rewards within [0, 1]."""
    return high - low + 2.0 * discount * vmax


@kernel
def _known_rows(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    visits: NDArray[np.int64],
    rewards: NDArray[np.float64],
    sums: NDArray[np.float64],
    terminal: NDArray[np.bool_],
    enough: int,
    rest: float,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The first five fields of a :class:`TaskModel`; the rows of pairs that are not known are empty."""
    n_pairs, at = len(starts) - 1, 0
    n_actions = n_pairs // len(terminal)
    room = len(states) + n_actions * terminal.sum()
    firsts, successors, probs = np.zeros(n_pairs + 1, np.int64), np.empty(room, np.int32), np.empty(room)
    means, known = np.zeros(n_pairs), np.zeros(n_pairs, np.bool_)
    for pair in range(n_pairs):
        total = visits[starts[pair] : starts[pair + 1]].sum()
        if terminal[pair // n_actions]:
            known[pair], means[pair], successors[at], probs[at] = True, rest, pair // n_actions, 1.0
            at += 1
        elif total >= enough:
            known[pair], means[pair] = True, rewards[pair] if len(rewards) > 0 else sums[pair] / total
            for i in range(starts[pair], starts[pair + 1]):
                successors[at], probs[at] = states[i], visits[i] / total
                at += 1
        firsts[pair + 1] = at
    return firsts, successors[:at].copy(), probs[:at].copy(), means, known


def task_model(
    counts: CountTable,
    rewards: NDArray[np.float64],
    sums: NDArray[np.float64],
    enough: int,
    rest: float,
    values: NDArray[np.float64],
) -> TaskModel:
    """What was counted in a task.

    Parameters
    ----------
    rewards
        (S * A,), where they are known, else empty.
    sums
        (S * A,), the rewards added up, where they are not known.
    enough
        visits after which a pair is known, at least 1.
    rest
        what each step after the end of an episode is worth.
    values
        (S,), W.
    """
    terminal = counts.going_on(len(values)) < 0.5
    return TaskModel(*_known_rows(*counts.to_lists(), rewards, sums, terminal, enough, rest), values)


def joined(tasks: Sequence[TaskModel], upper: Sequence[NDArray[np.float64]]) -> TaskModels:
    """Tasks, at least one, and U of each, in one record."""
    places = np.concatenate(([0], np.cumsum([len(task.states) for task in tasks[:-1]], dtype=np.int64)))
    return TaskModels(
        starts=np.stack([task.starts for task in tasks]) + places[:, None],
        states=np.concatenate([task.states for task in tasks]),
        probs=np.concatenate([task.probs for task in tasks]),
        rewards=np.stack([task.rewards for task in tasks]),
        known=np.stack([task.known for task in tasks]),
        upper=np.stack(upper),
        values=np.stack([task.values for task in tasks]),
    )


@kernel
def row_distances(one: TaskModel, two: TaskModel, pair: int) -> tuple[float, float]:
    """sum_s' W(s') |T(s') - T'(s')| with the values of the second task, and with those of the first."""
    i, last = one.starts[pair], one.starts[pair + 1]
    j, end = two.starts[pair], two.starts[pair + 1]
    second = first = 0.0
    while i < last or j < end:
        if j == end or (i < last and one.states[i] < two.states[j]):
            s, gap = one.states[i], one.probs[i]
            i += 1
        elif i == last or two.states[j] < one.states[i]:
            s, gap = two.states[j], two.probs[j]
            j += 1
        else:
            s, gap = one.states[i], abs(one.probs[i] - two.probs[j])
            i += 1
            j += 1
        second += two.values[s] * gap
        first += one.values[s] * gap
    return second, first


@kernel
def pair_distances(one: TaskModel, two: TaskModel, metric: Metric) -> NDArray[np.float64]:
    """D of every pair, (2, S * A): with the values of the second task, and with those of the first."""
    margin = metric.reward_error + metric.discount * metric.error * metric.vmax
    tops = two.values.max(), one.values.max()
    out = np.empty((2, len(one.known)))
    for pair in range(len(one.known)):
        limit = metric.limits[pair]
        if not (one.known[pair] or two.known[pair]):
            out[:, pair] = limit
            continue
        rows = row_distances(one, two, pair)
        if one.known[pair] and two.known[pair]:
            reward = abs(one.rewards[pair] - two.rewards[pair]) + 2.0 * margin
            out[0, pair] = min(limit, reward + metric.discount * rows[0])
            out[1, pair] = min(limit, reward + metric.discount * rows[1])
        else:
            r = one.rewards[pair] if one.known[pair] else two.rewards[pair]
            reward = max(r - metric.low[pair], metric.high[pair] - r) + margin
            out[0, pair] = min(limit, reward + metric.discount * (rows[0] + tops[0]))
            out[1, pair] = min(limit, reward + metric.discount * (rows[1] + tops[1]))
    return out


@kernel
def value_gaps(averaged: TaskModel, distances: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """d of every pair, (S * A,), for D = ``distances`` and the rows of one of both tasks."""
    n_states, discount, spent = len(averaged.values), metric.discount, 0
    n_actions = len(distances) // n_states
    gaps = np.full(len(distances), metric.vmax)
    before, now = np.full(n_states, metric.vmax), np.empty(n_states)
    for _ in range(metric.sweeps):
        spent = serve_signals(spent, len(distances) + averaged.starts[-1] - averaged.starts[0])
        top, least_fall, most_fall = before.max(), np.inf, 0.0
        for s in range(n_states):
            now[s] = 0.0
            for pair in range(s * n_actions, (s + 1) * n_actions):
                ahead = top
                if averaged.known[pair]:
                    ahead = metric.error * top
                    for i in range(averaged.starts[pair], averaged.starts[pair + 1]):
                        ahead += averaged.probs[i] * before[averaged.states[i]]
                gaps[pair] = min(metric.vmax, distances[pair] + discount * ahead)
                now[s] = max(now[s], gaps[pair])
            least_fall, most_fall = min(least_fall, before[s] - now[s]), max(most_fall, before[s] - now[s])
        shift = discount * max(0.0, least_fall) / (1.0 - discount)
        for pair in range(len(gaps)):
            gaps[pair] = max(min(metric.vmax, distances[pair]), gaps[pair] - shift)
        for s in range(n_states):
            now[s] = max(0.0, now[s] - shift)
        before, now = now, before
        if most_fall <= metric.tolerance:
            break
    return gaps


@kernel
def task_gaps(one: TaskModel, two: TaskModel, metric: Metric) -> NDArray[np.float64]:
    """The smaller of d both ways, (S * A,): the most by which the values of the two tasks differ in each pair."""
    distances = pair_distances(one, two, metric)
    return np.minimum(value_gaps(one, distances[0], metric), value_gaps(two, distances[1], metric))


@kernel
def bounds_from(current: TaskModel, tasks: TaskModels, metric: Metric) -> NDArray[np.float64]:
    """The least of Vmax and of U + d over all remembered tasks, (S * A,)."""
    bounds = np.full(len(current.known), metric.vmax)
    for i in range(len(tasks.known)):
        task = TaskModel(tasks.starts[i], tasks.states, tasks.probs, tasks.rewards[i], tasks.known[i], tasks.values[i])
        bounds = np.minimum(bounds, tasks.upper[i] + task_gaps(current, task, metric))
    return bounds

"""A practical learner: optimism that is measured in what a state can lead to, planned anew by a few backups a step.

With n visits of a pair and m the mean of V under what they showed,

    Q(s, a) = r(s, a) + discount * (n m + l hope(s)) / (n + l),     V(s) = max_a Q(s, a):

``l`` more visits might have led to the best that can be hoped for.  From s one hopes for the best successor that any
action has shown in s; and, as often as s still shows new ones, for the best state of all:

    hope(s) = (1 - v) max{V(s') : s' seen from s} + v max V,     v = min{1, NOVELTY u / N}

after N visits of s that led to u different states.  So the bonus needs no scale: it is a difference of values of
this world, and a pair that nobody has visited promises r + discount * hope and no more.  l falls with the visits,
and with the steps left,

    l = LEVEL ln(1 + left / (PACE n)).

How LEVEL, PACE, NOVELTY and the discount were chosen is in ``docs/recall.md``.

Where rewards are not known, they are a part of what an action leads to: with r the mean that a pair has earned,

    Q(s, a) = (n (r + discount * m) + l hope(s)) / (n + l),    hope(s) = (1 - v) max{r + discount * V(s')} + v top,

the first maximum over what was seen from s.  ``top`` is the greatest r + discount * V(s') that was seen anywhere, and
at least the greatest reward that there can be, once.  So a pair that nobody has tried never promises more than the
best thing that is known: a goal that ends the episode is worth reaching although much is left unseen.  Among pairs
that promise the same, chance decides, once for every state and episode.

Values are kept up to date by BACKUPS backups a step, in rotation, so a step costs the same in large worlds.  Counts are
those of the episode, and of what is believed of the world it is taken for (:mod:`.shared_rows`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import Table
from aomultirl.engine.compiling import borrowing, inlined, kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import Knowledge, place_of
from aomultirl.learning.shared_rows import SharedRewards, SharedRows, no_rewards

U = np.uint64

NEXT, SPENT, GUIDE, SALT = range(4)
"""Cells of a planner's ``state``."""
TOP, HIGHEST = range(2)
"""Cells of a planner's ``tops``."""
SCATTER = 0x9E3779B97F4A7C15
"""An odd multiplier that scatters the numbers of states over 64 bits: 2**64 over the golden ratio."""


class Options(NamedTuple):
    """The learner's numbers, with one default for all worlds.

    level, pace, novelty, discount
        LEVEL, PACE, NOVELTY and the discount in the formulas above.
    backups
        BACKUPS, states that are backed up after every step.
    """

    level: float = 0.4
    pace: float = 10.0
    novelty: float = 0.5
    discount: float = 0.98
    backups: int = 16


class Planner(NamedTuple):
    """What is planned with.

    known
        the counts of C worlds in memory.
    shared_rows
        what is believed of the rows of those worlds and of a new one.
    here, total
        counts of the episode: at the places of ``known``, and (S * A,) of pairs.
    weight, mass
        the same as they are planned with, with those of the guide.
    rewards
        (S * A,), as they are planned with.
    sums
        (S * A,), rewards of the episode added up, where they are not known; else empty.
    shared_rewards
        what is believed of the rewards of those worlds and of a new one, where they are not known.
    promise
        the value of a state of which nothing is known; where rewards are not known, ``top`` is at least this.
    values
        (S,).
    lease
        (S,), visits that the entry of a state was good for when it was made.
    state
        NEXT state to be backed up, steps SPENT, GUIDE: the world whose shared rows are in ``weight``, and the SALT of
        chance where actions promise the same.
    tops
        TOP, the greatest that is hoped for, and the HIGHEST of this rotation.
    marks, means
        room to work in.
    going_on
        (C + 1, S), how often the episode goes on after an arrival in each world; 0 in terminal states.
    rest
        what each step that is left after the end is worth.
    horizon
        steps of an episode.
    options
        the learner's numbers.
    """

    known: Knowledge
    shared_rows: SharedRows
    here: NDArray[np.int64]
    total: NDArray[np.int64]
    weight: NDArray[np.float64]
    mass: NDArray[np.float64]
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    shared_rewards: SharedRewards
    promise: float
    values: NDArray[np.float64]
    lease: NDArray[np.int64]
    state: NDArray[np.int64]
    tops: NDArray[np.float64]
    marks: NDArray[np.int64]
    means: NDArray[np.float64]
    going_on: NDArray[np.float64]
    rest: float
    horizon: int
    options: Options


@inlined
def _lot(salt: np.int64, pair: np.uint64) -> np.uint64:
    """What a pair has drawn for this episode; of pairs that promise the same, the highest is taken."""
    bits = (U(salt) * U(SCATTER)) ^ (pair + U(1))
    bits = (bits ^ (bits >> U(32))) * U(SCATTER)
    return U((bits ^ (bits >> U(29))) * U(SCATTER))


@borrowing
def back_up(planner: Planner, counts: Counts, top: float, left: float, state: int) -> tuple[float, int, float]:
    """(V, the best action, the greatest that was seen) of one state, with ``left`` steps to go.

    What an action leads to is taken relative to ``top``.  The last number is what ``top`` is the greatest of.
    """
    starts, states, weight, mass = planner.known.starts, planner.known.states, planner.weight, planner.mass
    values, marks, means, options = planner.values, planner.marks, planner.means, planner.options
    n_actions, unknown = len(means), len(planner.sums) > 0
    within, beyond = (options.discount, 1.0) if unknown else (1.0, options.discount)
    stamp = marks[len(values)] + 1
    marks[len(values)] = stamp
    local, visits, distinct = -np.inf, 0.0, 0
    for a in range(n_actions):
        pair = np.uint64(state * n_actions + a)
        n = mass[pair]
        if n == 0.0:
            continue
        visits += n
        i, end = np.uint64(starts[pair]), np.uint64(starts[pair + np.uint64(1)] - 1)
        total, earned = 0.0, planner.rewards[pair] if unknown else 0.0
        for j in range(i, end):
            if weight[j] > 0.0:
                s = np.uint64(states[j])
                v = earned + within * values[s] - top
                total += weight[j] * v
                local = max(local, v)
                distinct += marks[s] != stamp
                marks[s] = stamp
        if planner.here[end] > 0:  # successors that memory does not know
            first, last = np.int64(i), np.int64(end)
            for slot in range(*span(counts, int(pair))):
                key = counts.slots[WORDS * slot]
                if key != EMPTY and (first == last or place_of(starts, states, int(pair), key) == last):
                    v = earned + within * values[key] - top
                    total += counts.slots[WORDS * slot + VISITS] * v
                    local = max(local, v)
                    distinct += marks[key] != stamp
                    marks[key] = stamp
        means[a] = total / n
    hope = local * (1.0 - min(1.0, options.novelty * distinct / visits)) if visits > 0.0 else 0.0
    best, action, salt = -np.inf, 0, planner.state[SALT]
    for a in range(n_actions):
        pair = np.uint64(state * n_actions + a)
        n = mass[pair]
        q = hope
        if n > 0.0:
            extra = options.level * math.log1p(left / (options.pace * n))
            q = (n * means[a] + extra * hope) / (n + extra)
        q = (0.0 if unknown else planner.rewards[pair]) + beyond * (q + top)
        if q > best or (unknown and q == best and _lot(salt, pair) > _lot(salt, np.uint64(state * n_actions + action))):
            best, action = q, a
    going_on = planner.going_on[planner.state[GUIDE], state]
    value = going_on * best + (1.0 - going_on) * planner.rest / (1.0 - options.discount)
    return value, action, local + top if unknown else value


@inlined
def _least(planner: Planner) -> float:
    """What ``top`` is at least."""
    return planner.promise if len(planner.sums) > 0 else -np.inf


@borrowing
def plan(planner: Planner, table: Table, counts: Counts, backups: int, last: int) -> None:
    """Back up so many states in rotation, and ``last`` at last.  Entries that are still good are kept."""
    state, tops, values = planner.state, planner.tops, planner.values
    left = float(max(0, planner.horizon - state[SPENT]))
    least = _least(planner)
    s, top, highest, spent = state[NEXT], tops[TOP], tops[HIGHEST], 0
    for step in range(backups + 1):
        spent = serve_signals(spent, 32 * len(planner.means))
        if step < backups:
            s -= 1
            if s < 0:
                s = len(values) - 1
                top, highest = highest, least
        at = s if step < backups else last
        v, action, seen = back_up(planner, counts, top, left, at)
        values[at] = v
        highest = max(highest, seen)
        if planner.lease[at] == 1:
            table.plan[at] = action
    state[NEXT], tops[TOP], tops[HIGHEST] = s, top, highest


@kernel
def sweep(planner: Planner, table: Table, counts: Counts, sweeps: int, last: int) -> None:
    """Whole rotations, from the values as they are."""
    planner.state[NEXT] = 0
    planner.tops[HIGHEST] = (
        planner.values.max() if len(planner.sums) == 0 else max(planner.values.max(), planner.promise)
    )
    plan(planner, table, counts, sweeps * len(planner.values), last)


@kernel
def book_row(planner: Planner, counts: Counts, pair: int) -> int:
    """Take the counts of one row over; how many visits are new."""
    known, here = planner.known, planner.here
    first, last = known.starts[pair], known.starts[pair + 1] - 1
    before = planner.total[pair]
    for i in range(first, last + 1):
        here[i] = 0
    total = 0
    for slot in range(*span(counts, pair)):
        key = counts.slots[WORDS * slot]
        if key != EMPTY:
            visits = counts.slots[WORDS * slot + VISITS]
            here[place_of(known.starts, known.states, pair, key)] += visits
            total += visits
    planner.total[pair] = total
    return int(total - before)


@kernel
def remodel(planner: Planner, pair: int) -> None:
    """The row as it is planned with: the episode's counts and the guide's."""
    known, shared_rows, guide = planner.known, planner.shared_rows, planner.state[GUIDE]
    weight, here, seen = planner.weight, planner.here, shared_rows.seen[guide]
    for i in range(known.starts[pair], known.starts[pair + 1]):
        weight[i] = here[i] + seen[i]
    planner.mass[pair] = planner.total[pair] + shared_rows.mass[guide, pair]


@kernel
def reprice(planner: Planner, pair: int) -> None:
    """The reward of a pair, where it is not known: the mean of what the episode and the guide's world have earned."""
    if len(planner.sums) > 0:
        shared, guide = planner.shared_rewards, planner.state[GUIDE]
        n = planner.total[pair] + shared.mass[guide, pair]
        planner.rewards[pair] = (planner.sums[pair] + shared.sums[guide, pair]) / n if n > 0.0 else 0.0


def promise(rewards: NDArray[np.float64] | None, rest: float, discount: float) -> float:
    """The value of a state of which nothing is known: the greatest reward, again and again where rewards are known.

    Where they are not known, the greatest that there can be, 1, is promised once, and what nothing is worth after it.
    """
    if rewards is None:
        return 1.0 + discount * rest / (1.0 - discount)
    return float(rewards.max()) / (1.0 - discount)


def planner(
    known: Knowledge,
    shared_rows: SharedRows,
    rewards: NDArray[np.float64],
    horizon: int,
    options: Options,
    unknown: tuple[NDArray[np.float64], SharedRewards] | None = None,
    going_on: NDArray[np.float64] | None = None,
    rest: float = 0.0,
    salt: int = 0,
) -> Planner:
    """To plan with in an episode that has shown nothing yet.

    Parameters
    ----------
    rewards
        (S, A); where they are not known, only the shape counts.
    unknown
        (sums, shared rewards), where rewards are not known; the sums are those that the episode adds to.
    going_on
        (C, S), how often the episode goes on after an arrival; always where it is not given.
    salt
        of chance where actions promise the same.
    """
    n_states, n_actions = rewards.shape
    n_pairs, places = n_states * n_actions, len(known.states)
    sums, shared_rewards = (np.empty(0), no_rewards()) if unknown is None else unknown
    most = promise(rewards if unknown is None else None, rest, options.discount)
    lasting = np.ones((len(shared_rows.mass), n_states))
    if going_on is not None:
        lasting[:-1] = going_on
    return Planner(
        known=known,
        shared_rows=shared_rows,
        here=np.zeros(places, np.int64),
        total=np.zeros(n_pairs, np.int64),
        weight=np.zeros(places),
        mass=np.zeros(n_pairs),
        rewards=np.array(rewards, np.float64).reshape(-1),
        sums=sums,
        shared_rewards=shared_rewards,
        promise=most,
        values=np.full(n_states, most),
        lease=np.ones(n_states, np.int64),
        state=np.array([0, 0, len(shared_rows.mass) - 1, salt], np.int64),
        tops=np.array([most, most]),
        marks=np.zeros(n_states + 1, np.int64),
        means=np.zeros(n_actions),
        going_on=lasting,
        rest=rest,
        horizon=horizon,
        options=options,
    )

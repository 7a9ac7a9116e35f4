"""Go where evidence is missing: an explorer that plans, and needs neither a hitting time nor a horizon.

A pair is worth a visit (reward 1) while it is not certified for the leading cluster; where M clusters are known to be
all, it is worth the growth of the bets that would decide; and once every cluster is rejected, while it has fewer than
``needed`` visits.  The values

    V(s) = max_a { worth(s, a) + discount * sum_s' P(s' | s, a) V(s') }

are kept up to date by a few backups a step, in rotation, so that a step costs the same in large worlds.  P is the
episode's counts with WEIGHT pseudo-counts of the leading cluster; a pair that nobody has visited is worth the most
possible.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import Table, empty_table, register
from aomultirl.engine.compiling import borrowing
from aomultirl.engine.counts import EMPTY, Counts, span
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.identifying.bets import RATE, find_bets, ln_wealth
from aomultirl.identifying.e_values import Gammas
from aomultirl.identifying.knowledge import Knowledge, place_of
from aomultirl.identifying.sequential import ALIVE, CHANGED, LEADER, OPEN, SETTLED, Evidence, Levels, observe

WEIGHT = 3.0
BACKUPS = 16
FIRST_SWEEPS = 40
LEAST = 1e-100
"""Values below are none: where nothing worth a visit can be reached they would decay to numbers that are slow."""
CERTIFY, SURVIVE, COVER = range(3)
AIM, VERDICT, LEFT, NEXT, GUIDE, SINCE = range(6)
NONE, ACCEPTED, NEW = -1, 0, 1


class SeekBehaviour(NamedTuple):
    """values: (S,); worth: (S * A,); model: P at the places of ``known``.

    task: AIM (CERTIFY, SURVIVE or COVER), VERDICT (NONE, ACCEPTED the leader, NEW), LEFT (pairs to be covered), NEXT
    (state to be backed up), GUIDE (the cluster in ``model``), SINCE (steps since the worth of bets was worked out).
    """

    table: Table
    gammas: Gammas
    known: Knowledge
    seen: Evidence
    levels: Levels
    values: NDArray[np.float64]
    worth: NDArray[np.float64]
    model: NDArray[np.float64]
    task: NDArray[np.int64]
    needed: int
    discount: float


def seek(
    gammas: Gammas,
    known: Knowledge,
    seen: Evidence,
    levels: Levels,
    n_states: int,
    needed: int,
    aim: int,
    discount: float,
) -> SeekBehaviour:
    """The behaviour; done when a cluster is accepted, or all are rejected and each target visited ``needed`` times."""
    if len(known.seen) == 0:
        aim = COVER
    return SeekBehaviour(
        empty_table(n_states),
        gammas,
        known,
        seen,
        levels,
        np.zeros(n_states),
        np.zeros(len(seen.targets)),
        np.zeros(len(known.states)),
        np.array([aim, NEW if aim == COVER else NONE, int(seen.targets.sum()), 0, -1, 0], np.int64),
        needed,
        discount,
    )


@borrowing
def _remodel(
    starts: NDArray[np.int64],
    seen: NDArray[np.int64],
    visits: NDArray[np.int64],
    here: NDArray[np.int64],
    total: NDArray[np.int64],
    model: NDArray[np.float64],
    guide: int,
    pair: int,
) -> None:
    """P of one pair: counts of the episode and WEIGHT of the guide's."""
    first, last = starts[pair], starts[pair + 1]
    n = visits[guide, pair] if guide >= 0 else 0
    if n > 0:
        scale, whole = WEIGHT / n, 1.0 / (total[pair] + WEIGHT)
        for i in range(first, last):
            model[i] = (here[i] + scale * seen[guide, i]) * whole
    elif total[pair] > 0:
        for i in range(first, last):
            model[i] = here[i] / total[pair]


@borrowing
def _novel_values(
    counts: Counts,
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    values: NDArray[np.float64],
    pair: int,
    novel: float,
    novel_count: int,
) -> float:
    """The part of the expectation that goes to successors no cluster has seen."""
    total = 0.0
    first, last = starts[pair], starts[pair + 1] - 1
    for slot in range(*span(counts, pair)):
        key = counts.slots[2 * slot]
        if key != EMPTY and (first == last or place_of(starts, states, pair, key) == last):
            total += counts.slots[2 * slot + 1] * values[key]
    return total * novel / novel_count


@borrowing
def _back_up(
    counts: Counts,
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    model: NDArray[np.float64],
    worth: NDArray[np.float64],
    total: NDArray[np.int64],
    here: NDArray[np.int64],
    guided: NDArray[np.int64],
    guide: int,
    values: NDArray[np.float64],
    plan: NDArray[np.int32],
    discount: float,
    state: int,
) -> None:
    n_actions = len(worth) // len(values)
    best, action = -1.0, 0
    for a in range(n_actions):
        pair = np.uint64(state * n_actions + a)
        i, end = np.uint64(starts[pair]), np.uint64(starts[pair + np.uint64(1)] - 1)
        q = 0.0
        if total[pair] == 0 and (guide < 0 or guided[pair] == 0):
            q = 1.0 / (1.0 - discount)
        else:
            for j in range(i, end):
                q += model[j] * values[np.uint64(states[j])]
            if here[end] > 0:
                q += _novel_values(counts, starts, states, values, np.int64(pair), model[end], here[end])  # type: ignore[arg-type]
        q = worth[pair] + discount * q
        if q > best:
            best, action = q, a
    values[state] = best if best > LEAST else 0.0
    plan[state] = action


@borrowing
def _plan(behaviour: SeekBehaviour, counts: Counts, backups: int, last: int) -> None:
    """Back up so many states in rotation, and ``last`` at last."""
    known, seen, task = behaviour.known, behaviour.seen, behaviour.task
    starts, states, model, worth = known.starts, known.states, behaviour.model, behaviour.worth
    total, here, values, plan = seen.total, seen.here, behaviour.values, behaviour.table.plan
    guide = task[GUIDE]
    guided = known.visits[guide] if guide >= 0 else total
    s, discount, spent = task[NEXT], behaviour.discount, 0
    for _ in range(backups):
        spent = serve_signals(spent, DECISION)
        s = s - 1 if s > 0 else len(values) - 1
        _back_up(counts, starts, states, model, worth, total, here, guided, guide, values, plan, discount, s)
    task[NEXT] = s
    _back_up(counts, starts, states, model, worth, total, here, guided, guide, values, plan, discount, last)


@borrowing
def _follow_guide(behaviour: SeekBehaviour, guide: int) -> None:
    known, seen = behaviour.known, behaviour.seen
    behaviour.task[GUIDE] = guide
    spent = 0
    for pair in range(len(seen.total)):
        spent = serve_signals(spent, 16 + known.starts[pair + 1] - known.starts[pair])
        _remodel(known.starts, known.seen, known.visits, seen.here, seen.total, behaviour.model, guide, pair)


@borrowing
def _value_bets(behaviour: SeekBehaviour) -> None:
    """worth(s, a): how the wealth against each living rival of the likely clusters grows, by what it still needs."""
    seen, levels, worth = behaviour.seen, behaviour.levels, behaviour.worth
    count = len(seen.scores)
    goal = levels.reject - math.log(levels.betting)
    most = -np.inf
    for c in range(count):
        if seen.alive[c]:
            most = max(most, seen.scores[c])
    worth[:] = 0.0
    spent = 0
    for rival in range(count):
        if not seen.alive[rival]:
            continue
        need = max(0.1, goal - ln_wealth(seen.wealth, rival, -np.inf))
        for c in range(count):
            share = math.exp(seen.scores[c] - most) if c != rival and seen.alive[c] else 0.0
            if share > 0.02:
                spent = serve_signals(spent, len(worth))
                for pair in range(len(worth)):
                    worth[pair] += need * share * seen.bets[rival, c, pair, RATE]
    best = 0.0
    for pair in range(len(worth)):
        best = max(best, worth[pair])
    if best == 0.0:  # clusters too young for any bet: look at what was seldom seen
        for pair in range(len(worth)):
            worth[pair] = 1.0 / (1.0 + seen.total[pair])


@borrowing
def _value_doubts(behaviour: SeekBehaviour) -> None:
    """worth(s, a): what a visit tells between the leading cluster and its living rivals, by their likelihood."""
    known, seen, worth = behaviour.known, behaviour.seen, behaviour.worth
    leader = seen.state[LEADER]
    worth[:] = 0.0
    spent = 0
    for rival in range(len(seen.scores)):
        if rival == leader or not seen.alive[rival]:
            continue
        weight = math.exp(0.5 * (seen.scores[rival] - seen.scores[leader]))
        for pair in range(len(worth)):
            first, last = known.starts[pair], known.starts[pair + 1]
            spent = serve_signals(spent, 16 * (last - first))
            n, m = known.visits[leader, pair], known.visits[rival, pair]
            blur = 0.5 * (last - first)
            for i in range(first, last):
                p = (known.seen[leader, i] + 0.5) / (n + blur)
                q = (known.seen[rival, i] + 0.5) / (m + blur)
                worth[pair] += weight * (p - q) * (p - q) / (p + q)


@borrowing
def _value_targets(behaviour: SeekBehaviour) -> None:
    seen, worth, task = behaviour.seen, behaviour.worth, behaviour.task
    if task[AIM] == CERTIFY and not seen.state[SETTLED] and behaviour.levels.settle >= 0.0:
        _value_doubts(behaviour)
    elif task[AIM] == COVER:
        task[LEFT] = 0
        for pair in range(len(worth)):
            missing = seen.targets[pair] and seen.total[pair] < behaviour.needed
            worth[pair] = 1.0 if missing else 0.0
            task[LEFT] += missing
    else:
        for pair in range(len(worth)):
            worth[pair] = 1.0 if seen.targets[pair] and not seen.certified[pair] else 0.0


@borrowing
def _prepare(behaviour: SeekBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    known, seen, levels = behaviour.known, behaviour.seen, behaviour.levels
    if behaviour.task[AIM] == SURVIVE:
        spent = 0
        for pair in range(len(seen.total)):
            spent = serve_signals(spent, DECISION * len(known.seen))
            find_bets(
                behaviour.gammas,
                known.starts,
                known.seen,
                known.visits,
                levels.intervals,
                levels.events,
                seen.bets,
                pair,
            )
            seen.ready[pair] = True
        _value_bets(behaviour)
    else:
        _value_targets(behaviour)
    _follow_guide(behaviour, seen.state[LEADER])
    _plan(behaviour, counts, FIRST_SWEEPS * len(behaviour.values), state)


@borrowing
def _attend(
    behaviour: SeekBehaviour, counts: Counts, step: int, state: int, action: int, successor: int, reward: float
) -> bool:
    table, known, seen, task = behaviour.table, behaviour.known, behaviour.seen, behaviour.task
    n_actions = len(seen.total) // len(table.budget)
    pair = state * n_actions + action
    table.budget[state] = 1
    if task[AIM] == COVER:
        seen.here[place_of(known.starts, known.states, pair, successor)] += 1
        seen.total[pair] += 1
        if seen.total[pair] == behaviour.needed and seen.targets[pair]:
            task[LEFT] -= 1
            behaviour.worth[pair] = 0.0
        if task[LEFT] == 0:
            return True
    else:
        observe(behaviour.gammas, known, seen, behaviour.levels, pair, successor, task[AIM] == CERTIFY)
        if seen.state[ALIVE] == 0:
            if task[AIM] == SURVIVE:
                return True
            task[AIM], task[VERDICT] = COVER, NEW
            _follow_guide(behaviour, -1)  # where a rejected cluster knows no way to a target, there may be one
            _value_targets(behaviour)
            if task[LEFT] == 0:
                return True
        elif (task[AIM] == CERTIFY and seen.state[OPEN] == 0) or (task[AIM] == SURVIVE and seen.state[ALIVE] == 1):
            task[VERDICT] = ACCEPTED
            return True
        else:
            task[SINCE] += 1
            leader = seen.state[LEADER]
            if leader != task[GUIDE]:
                _follow_guide(behaviour, leader)
            if task[AIM] == SURVIVE:
                if seen.state[CHANGED] or task[SINCE] >= 4:
                    task[SINCE] = 0
                    _value_bets(behaviour)
            elif seen.state[CHANGED]:
                _value_targets(behaviour)
            seen.state[CHANGED] = 0
    _remodel(known.starts, known.seen, known.visits, seen.here, seen.total, behaviour.model, task[GUIDE], pair)
    _plan(behaviour, counts, BACKUPS, successor)
    return False


register(SeekBehaviour, prepare=_prepare, attend=_attend)

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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import Table, empty_table, register
from aomultirl.engine.compiling import borrowing
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.exploring.base import Explorer
from aomultirl.identifying.bets import RATE, find_bets, ln_wealth
from aomultirl.identifying.e_values import Gammas, gammas
from aomultirl.identifying.knowledge import Knowledge, knowledge, place_of
from aomultirl.identifying.sequential import (
    ALIVE,
    CHANGED,
    LEADER,
    OPEN,
    SETTLED,
    EpisodeEvidence,
    Levels,
    evidence,
    levels,
    observe,
)

WEIGHT = 3.0
"""Pseudo-counts that the leading cluster has in the model: a guess that a few visits outweigh."""
BACKUPS = 16
"""States that are backed up after every step."""
FIRST_SWEEPS = 40
"""Rotations over all states before the first step."""
LEAST = 1e-100
"""Values below are none: where nothing worth a visit can be reached they would decay to numbers that are slow."""
CERTIFY, SURVIVE, COVER = range(3)
AIM, VERDICT, LEFT, NEXT, GUIDE, SINCE = range(6)
NONE, ACCEPTED, NEW = -1, 0, 1


class SeekBehaviour(NamedTuple):
    """Seeking in the middle of an episode.

    table
        which action each state calls for; every visit needs a look.
    gammas
        tables for the evidence.
    known
        what all clusters know.
    seen
        the evidence of the episode.
    levels
        the numbers in force for that evidence.
    values
        (S,), of being in each state.
    worth
        (S * A,), of a visit of each pair.
    model
        P at the places of ``known``.
    task
        AIM (CERTIFY, SURVIVE or COVER), VERDICT (NONE, ACCEPTED the leader, NEW), LEFT (pairs to be covered), NEXT
        (state to be backed up), GUIDE (the cluster in ``model``), SINCE (steps since the worth of bets was worked out).
    needed
        visits of every target in a world that nobody knows.
    discount
        of the values.
    """

    table: Table
    gammas: Gammas
    known: Knowledge
    seen: EpisodeEvidence
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
    seen: EpisodeEvidence,
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
        values=np.zeros(n_states),
        worth=np.zeros(len(seen.targets)),
        model=np.zeros(len(known.states)),
        task=np.array([aim, NEW if aim == COVER else NONE, int(seen.targets.sum()), 0, -1, 0], np.int64),
        needed=needed,
        discount=discount,
    )


@borrowing
def _remodel(behaviour: SeekBehaviour, pair: int) -> None:
    """P of one pair: counts of the episode and WEIGHT of the guide's."""
    known, model, guide = behaviour.known, behaviour.model, behaviour.task[GUIDE]
    here, total = behaviour.seen.here, behaviour.seen.total[pair]
    first, last = known.starts[pair], known.starts[pair + 1]
    n = known.visits[guide, pair] if guide >= 0 else 0
    if n > 0:
        scale, whole = WEIGHT / n, 1.0 / (total + WEIGHT)
        for i in range(first, last):
            model[i] = (here[i] + scale * known.seen[guide, i]) * whole
    elif total > 0:
        for i in range(first, last):
            model[i] = here[i] / total


@borrowing
def _novel_values(behaviour: SeekBehaviour, counts: Counts, pair: int) -> float:
    """The part of the expectation that goes to successors no cluster has seen."""
    known = behaviour.known
    total = 0.0
    first, last = known.starts[pair], known.starts[pair + 1] - 1
    for slot in range(*span(counts, pair)):
        key = counts.slots[WORDS * slot]
        if key != EMPTY and (first == last or place_of(known.starts, known.states, pair, key) == last):
            total += counts.slots[WORDS * slot + VISITS] * behaviour.values[key]
    return float(total * behaviour.model[last] / behaviour.seen.here[last])


@borrowing
def _back_up(behaviour: SeekBehaviour, counts: Counts, state: int) -> None:
    """The value of one state, and its action."""
    known, seen, values, model = behaviour.known, behaviour.seen, behaviour.values, behaviour.model
    starts, states, discount, guide = known.starts, known.states, behaviour.discount, behaviour.task[GUIDE]
    n_actions = len(behaviour.worth) // len(values)
    best, action = -1.0, 0
    for a in range(n_actions):
        pair = np.uint64(state * n_actions + a)
        i, end = np.uint64(starts[pair]), np.uint64(starts[pair + np.uint64(1)] - 1)
        q = 0.0
        if seen.total[pair] == 0 and (guide < 0 or known.visits[guide, pair] == 0):
            q = 1.0 / (1.0 - discount)
        else:
            for j in range(i, end):
                q += model[j] * values[np.uint64(states[j])]
            if seen.here[end] > 0:
                q += _novel_values(behaviour, counts, np.int64(pair))  # type: ignore[arg-type]
        q = behaviour.worth[pair] + discount * q
        if q > best:
            best, action = q, a
    values[state] = best if best > LEAST else 0.0
    behaviour.table.plan[state] = action


@borrowing
def _plan(behaviour: SeekBehaviour, counts: Counts, backups: int, last: int) -> None:
    """Back up so many states in rotation, and ``last`` at last."""
    s, spent = behaviour.task[NEXT], 0
    for _ in range(backups):
        spent = serve_signals(spent, DECISION)
        s = s - 1 if s > 0 else len(behaviour.values) - 1
        _back_up(behaviour, counts, s)
    behaviour.task[NEXT] = s
    _back_up(behaviour, counts, last)


@borrowing
def _follow_guide(behaviour: SeekBehaviour, guide: int) -> None:
    """Plan with the counts of another cluster, or of none (-1)."""
    starts = behaviour.known.starts
    behaviour.task[GUIDE] = guide
    spent = 0
    for pair in range(len(starts) - 1):
        spent = serve_signals(spent, 16 + starts[pair + 1] - starts[pair])
        _remodel(behaviour, pair)


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
            find_bets(behaviour.gammas, known, levels.intervals, levels.events, seen.bets, pair)
            seen.ready[pair] = True
        _value_bets(behaviour)
    else:
        _value_targets(behaviour)
    _follow_guide(behaviour, seen.state[LEADER])
    _plan(behaviour, counts, FIRST_SWEEPS * len(behaviour.values), state)


@borrowing
def _attend(
    behaviour: SeekBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
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
    _remodel(behaviour, pair)
    _plan(behaviour, counts, BACKUPS, successor)
    return False


register(SeekBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class Seeker(Explorer):
    """Goes where evidence is missing.

    Alone it visits every target as often as asked, planning its way with what the episode has shown; inside
    :class:`aomultirl.agents.SequentialAOMultiRL` it also knows the clusters, and stops as soon as there is a verdict.

    Parameters
    ----------
    discount
        of the values that are planned with; None for 0.9, and 0.85 where the number of worlds is known and all have
        been met, so that evidence nearby counts for more.
    """

    discount: float | None = None

    def discount_for(self, models: int | None) -> float:
        """The discount where so many worlds are known to exist; None where nobody knows."""
        if self.discount is None:
            return 0.9 if models is None else 0.85
        return checks.real("discount", self.discount, least=0.0, below=1.0)

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> SeekBehaviour:
        n_states, n_pairs, count = len(targets), targets.size, int(targets.sum())
        known = knowledge([], n_pairs, n_states)
        rules = levels(n_states, n_pairs, count, 0, 1, failure, gap=0.5, models=None)
        return seek(gammas(), known, evidence(known, targets), rules, n_states, needed, COVER, self.discount_for(None))

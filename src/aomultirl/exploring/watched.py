"""Any explorer, watched: every step it takes is held against the clusters, and it stops as soon as there is a verdict.

The evidence of :mod:`aomultirl.identifying.sequential` must see the steps one by one, in their order, and is valid
however they were chosen.  So a behaviour is wrapped: the driver looks at every step, hands it to the evidence, and does
for the wrapped behaviour what it would have done itself, with the same budgets and draws.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, attend, empty_table, prepare, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.exploring.seek import ACCEPTED, AIM, CERTIFY, NEW, NONE, VERDICT
from aomultirl.identifying.e_values import Gammas
from aomultirl.identifying.knowledge import Knowledge
from aomultirl.identifying.sequential import ALIVE, OPEN, EpisodeEvidence, Levels, observe


class WatchedBehaviour(NamedTuple):
    """A behaviour and the evidence that its steps give.

    inner
        the behaviour that is watched.
    gammas, known, seen, levels
        as :class:`aomultirl.exploring.seek.SeekBehaviour` has them.
    task
        AIM (CERTIFY or SURVIVE) and VERDICT (NONE, ACCEPTED the leader, NEW).
    """

    table: Table
    inner: Any
    gammas: Gammas
    known: Knowledge
    seen: EpisodeEvidence
    levels: Levels
    task: NDArray[np.int64]


def watched(
    inner: Any, gammas: Gammas, known: Knowledge, seen: EpisodeEvidence, levels: Levels, aim: int
) -> WatchedBehaviour:
    """The behaviour; done with a verdict, or without one when the inner behaviour has reached its aim."""
    table = empty_table(len(inner.table.budget))
    task = np.array([aim, NEW if len(known.seen) == 0 else NONE], np.int64)
    return WatchedBehaviour(table, inner, gammas, known, seen, levels, task)


@kernel
def _prepare(behaviour: WatchedBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    inner, table = behaviour.inner.table, behaviour.table
    if inner.plan[step * inner.stride + state] == ASK:
        prepare(behaviour.inner, counts, step, state, stream)
    table.plan[state], table.budget[state] = inner.plan[step * inner.stride + state], 1


@kernel
def _attend(
    behaviour: WatchedBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    inner, seen, task = behaviour.inner.table, behaviour.seen, behaviour.task
    n_actions = len(seen.total) // len(inner.budget)
    behaviour.table.plan[state], behaviour.table.budget[state] = ASK, 1
    at_random = inner.plan[step * inner.stride + state] == n_actions
    inner.budget[state] -= 1
    finished = False
    if inner.budget[state] == 0 or (at_random and inner.watch[successor]):
        finished = attend(behaviour.inner, counts, step, state, action, successor, reward, ended)
    pair, certifying = state * n_actions + action, task[AIM] == CERTIFY
    observe(behaviour.gammas, behaviour.known, seen, behaviour.levels, pair, successor, certifying)
    if task[VERDICT] == NEW:
        return finished
    if seen.state[ALIVE] == 0:
        task[VERDICT] = NEW if certifying else NONE
        return True
    if (certifying and seen.state[OPEN] == 0) or (not certifying and seen.state[ALIVE] == 1):
        task[VERDICT] = ACCEPTED
        return True
    return finished


register(WatchedBehaviour, prepare=_prepare, attend=_attend)

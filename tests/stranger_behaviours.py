"""Behaviours of somebody else, outside the package: one updates at every step, one counts by step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream, draw_below

RATE, DISCOUNT, WANDER = 0.3, 0.9, 5
"""Every fifth step is random; a step's learning rate is RATE / (1 + its number)."""


class QLearningBehaviour(NamedTuple):
    """values: (S, A)."""

    table: Table
    values: NDArray[np.float64]


def q_learning(n_states: int, n_actions: int) -> QLearningBehaviour:
    return QLearningBehaviour(empty_table(n_states), np.zeros((n_states, n_actions)))


@kernel
def _prepare(behaviour: QLearningBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    values = behaviour.values[state]
    ties = np.flatnonzero(values == values.max())
    action = ties[draw_below(len(ties), stream)] if len(ties) > 1 else ties[0]
    behaviour.table.plan[state] = len(values) if step % WANDER == WANDER - 1 else action


@kernel
def _attend(
    behaviour: QLearningBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    values = behaviour.values
    target = reward + (0.0 if ended else DISCOUNT * values[successor].max())
    values[state, action] += RATE / (1 + step) * (target - values[state, action])
    behaviour.table.budget[state] = 1
    behaviour.table.plan[:] = ASK
    return False


register(QLearningBehaviour, prepare=_prepare, attend=_attend)


class ByStepBehaviour(NamedTuple):
    """Try what earned the least so far at this step in this state.  earned: (H, S, A); aim: the sum that ends it."""

    table: Table
    earned: NDArray[np.float64]
    aim: float


def by_step(horizon: int, n_states: int, n_actions: int, aim: float) -> ByStepBehaviour:
    table = empty_table(n_states)._replace(plan=np.full(horizon * n_states, ASK, np.int32), stride=n_states)
    return ByStepBehaviour(table, np.zeros((horizon, n_states, n_actions)), aim)


@kernel
def _prepare_by_step(behaviour: ByStepBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    table = behaviour.table
    table.plan[step * table.stride + state] = behaviour.earned[step, state].argmin()


@kernel
def _attend_by_step(
    behaviour: ByStepBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    behaviour.table.budget[state] = 1
    behaviour.earned[step, state, action] += 1.0 + reward
    behaviour.table.plan[step * behaviour.table.stride + state] = ASK
    return bool(behaviour.earned.sum() >= behaviour.aim)


register(ByStepBehaviour, prepare=_prepare_by_step, attend=_attend_by_step)

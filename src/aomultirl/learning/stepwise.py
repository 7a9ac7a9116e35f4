"""Plans and tables that have an entry for every step: for learners that count by step, or learn a value for each.

A learner's tables have an entry for every step of the longest phase that it may be asked for.  A phase with fewer steps
uses the last ones: what a state is worth depends on how many steps are left, not on how many were taken.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import sizes
from aomultirl.engine.behaviours import Table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.learning.base import Known, Learner, Learning
from aomultirl.learning.greedy import draw_best
from aomultirl.setting import Setting

STATE, ACTION, SUCCESSOR = range(3)
"""Columns of a walk."""


class StepwiseBehaviour(NamedTuple):
    """A plan by step, and the walk so far.

    table
        the plan, (H * S,), whose every entry is there; every visit needs a look.
    walk
        (H, 3), STATE, ACTION and SUCCESSOR of every step.
    earned
        (H,), the reward of every step.
    taken
        (), how many steps were taken.
    q
        (H, S * A), what the plan was made of; (0, 0) for learners that do not keep it.
    """

    table: Table
    walk: NDArray[np.int64]
    earned: NDArray[np.float64]
    taken: NDArray[np.int64]
    q: NDArray[np.float64]


@kernel
def _attend(
    behaviour: StepwiseBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Note the step."""
    walk = behaviour.walk[step]
    walk[STATE], walk[ACTION], walk[SUCCESSOR] = state, action, successor
    behaviour.earned[step] = reward
    behaviour.taken[()] = step + 1
    behaviour.table.budget[state] = 1
    return False


register(StepwiseBehaviour, attend=_attend)


def follow_noting(plan: NDArray[np.int32], q: NDArray[np.float64] | None = None) -> StepwiseBehaviour:
    """The behaviour that follows ``plan``, (H, S), which was made of ``q``, (H, S * A)."""
    steps, n_states = plan.shape
    flat, looks = np.ascontiguousarray(plan, np.int32).reshape(-1), np.ones(n_states, np.int64)
    return StepwiseBehaviour(
        table=Table(flat, n_states, looks, np.zeros(n_states, bool)),
        walk=np.zeros((steps, 3), np.int64),
        earned=np.zeros(steps),
        taken=np.zeros((), np.int64),
        q=np.empty((0, 0)) if q is None else q,
    )


def moved_to_range(q: NDArray[np.float64], times: float, plus: float) -> NDArray[np.float64]:
    """Values by step, (H, ...), when every reward r is ``times * r + plus`` instead: as often as steps are left."""
    left = np.arange(len(q), 0.0, -1.0).reshape(-1, *[1] * (q.ndim - 1))
    return times * q + plus * left


def check_tables(horizon: int, setting: Setting, entries: float) -> None:
    """Refuse tables of so many numbers for every step, state and action that do not fit in memory."""
    needed = 8.0 * horizon * setting.n_pairs * entries
    sizes.check("horizon", horizon, needed, f"a table for every step and {setting.n_pairs} pairs")


class TablesByStep(Learning):
    """A learner whose arrays all have the steps as their last axis but one; ``own["q"]``, (H, S * A), are values."""

    def __init__(self, setting: Setting, learner: Learner, horizon: int) -> None:
        super().__init__(setting, learner)
        self._horizon = horizon

    def last_steps(self, known: Known, steps: int) -> dict[str, NDArray[Any]]:
        """Copies of what is known of the last so many steps, by name."""
        return {name: array[..., self._horizon - steps :, :].copy() for name, array in known.own.items()}

    def take_over(self, into: Known, behaviour: Any) -> None:
        """What a behaviour has made of the last steps; its fields have the names of the arrays."""
        first = self._horizon - len(behaviour.q)
        for name, array in into.own.items():
            into.own[name] = np.concatenate([array[..., :first, :], getattr(behaviour, name)], axis=-2)

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The first of the best actions of every step and state, (H, S)."""
        q = known.own["q"][self._horizon - steps :]
        return np.asarray(q.reshape(steps, self.setting.n_states, -1).argmax(axis=2), np.int32)


@kernel
def choose_by_step(behaviour: Any, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """One of the best actions of this step by ``behaviour.q``, (H, S * A), at random."""
    n_actions = behaviour.q.shape[1] // len(behaviour.table.budget)
    behaviour.table.plan[state] = draw_best(behaviour.q[step], state * n_actions, (state + 1) * n_actions, stream)

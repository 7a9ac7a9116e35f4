"""A learner of one's own in one file: Q-learning that updates at every step, from an optimistic start."""

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from aomultirl.extending import ASK, Learner, Learning, Table, empty_table, kernel, register

__all__ = ["OptimisticQ"]


class QBehaviour(NamedTuple):
    table: Table
    q: np.ndarray  # (S, A), discounted values
    rate: float
    discount: float


@kernel
def _prepare(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = np.argmax(behaviour.q[state])


@kernel
def _attend(behaviour, counts, step, state, action, successor, reward, ended):
    q, table = behaviour.q, behaviour.table
    after = 0.0 if ended else behaviour.discount * q[successor].max()
    q[state, action] += behaviour.rate * (reward + after - q[state, action])
    table.plan[state], table.budget[state] = ASK, 1
    return False


register(QBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class OptimisticQ(Learner):
    rate: float = 0.5
    discount: float = 0.95

    def begin(self, setting, horizon, share):
        return QLearning(setting, self)


class QLearning(Learning):
    def nothing(self):
        known, most = super().nothing(), 1.0 / (1.0 - self.learner.discount)
        known.own["q"] = np.full((self.setting.n_states, self.setting.n_actions), most)
        return known

    def act(self, known, steps, stream):
        return QBehaviour(empty_table(self.setting.n_states), known.own["q"].copy(), *astuple(self.learner))

    def learn(self, into, ran):
        super().learn(into, ran)
        into.own["q"] = getattr(ran.phase.behaviour, "q", into.own["q"])

    def best(self, known, steps, stream):
        return known.own["q"].argmax(axis=1).astype(np.int32)

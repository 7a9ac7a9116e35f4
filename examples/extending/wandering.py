"""An explorer of one's own in one file: it walks at random until every target has its visits."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aomultirl.extending import Explorer, Table, empty_table, kernel, register, visits_of

__all__ = ["Wandering"]


class WanderingBehaviour(NamedTuple):
    table: Table
    targets: np.ndarray  # (S * A,)
    left: np.ndarray  # (1,), targets without their visits
    needed: int


@kernel
def _attend(behaviour, counts, step, state, action, successor, reward, ended):
    behaviour.table.budget[state] = 1
    pair = state * (len(behaviour.targets) // len(behaviour.table.budget)) + action
    if behaviour.targets[pair] and visits_of(counts, pair) == behaviour.needed:
        behaviour.left[0] -= 1
    return behaviour.left[0] == 0


register(WanderingBehaviour, attend=_attend)


@dataclass(frozen=True)
class Wandering(Explorer):
    def behaviour(self, targets, needed, failure):
        n_states, n_actions = targets.shape
        table = empty_table(n_states)
        table.plan[:] = n_actions  # at random, everywhere
        return WanderingBehaviour(table, targets.reshape(-1).copy(), np.array([targets.sum()]), needed)

"""Go where models differ: the exploring of Finite-Model-RL (Brunskill, Li 2013), in the manner of E3.

A pair is *informative* where models that are still possible differ.  All other pairs have about the same rows in these
models, so the samples of all of them say how to travel.  With P the pooled rows, g(s') the share of arrivals in s'
after which an episode goes on, and t the steps to go::

    V_t(s) = max over a of   1                                          if (s, a) is informative
                             (1 - 1/T) sum_s' P(s' | s, a) g(s') V_{t-1}(s')      otherwise,        V_0 = 0.

The discount makes the nearer of two ways the better one, so nobody dawdles.  It takes off a factor of at most about e,
so V_t(s) says within that factor how likely it is to get to an informative pair within t steps.  A row that nobody has
sampled leads nowhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import FOREVER, Table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable
from aomultirl.engine.planning import Transitions, backward_induction


class Way(NamedTuple):
    """How to get to the informative pairs.

    plan
        int32 (S,), an action for every state.
    values
        (T + 1, S), values[T - t] is V_t.
    """

    plan: NDArray[np.int32]
    values: NDArray[np.float64]

    def chance(self, state: int, steps: int) -> float:
        """V of a state with so many steps to go; those beyond T count as T."""
        last = len(self.values) - 1
        return float(self.values[last - min(steps, last), state])


def plan_way(counts: CountTable, informative: NDArray[np.bool_], steps: int) -> Way:
    """Plan the way to the informative pairs.

    Parameters
    ----------
    counts
        the samples of all models that are still possible.
    informative
        (S, A).
    steps
        T.
    """
    starts, states, visits = counts.to_lists()
    totals = np.diff(np.concatenate(([0], np.cumsum(visits)))[starts])
    going_on = (1.0 - 1.0 / steps) * counts.going_on(len(informative))
    probs = visits / np.repeat(totals, np.diff(starts)) * going_on[states]
    world = Transitions(starts, states, probs, np.empty((0, 0)))
    found = backward_induction(world, informative.astype(np.float64), steps, np.ones(steps), with_policy=False)
    return Way(found.policy[0], found.values)


class VisitingBehaviour(NamedTuple):
    """Follow a plan until a state has had so many visits.

    table
        table.budget[s]: visits of s after which the aim is reached.
    """

    table: Table


@kernel
def _attend(
    behaviour: VisitingBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """A state has had its visits."""
    return True


register(VisitingBehaviour, attend=_attend)


def visit(plan: NDArray[np.int32], needed: NDArray[np.int64]) -> VisitingBehaviour:
    """The behaviour that follows a plan until one of the states has had its visits.

    Parameters
    ----------
    plan
        int32 (S,).
    needed
        int64 (S * A,), visits of each pair that reach the aim; FOREVER for pairs that do not.
    """
    n_states = len(plan)
    budget = needed.reshape(n_states, -1)[np.arange(n_states), plan]
    return VisitingBehaviour(Table(plan.copy(), 0, np.minimum(budget, FOREVER), np.zeros(n_states, bool)))

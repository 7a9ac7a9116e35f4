"""Pulling the arms of a bandit of which a finite set of models is known, exactly or nearly.

Of model theta the means mu_i(theta) of all arms are known up to ``accuracy``, e.  After T_i pulls of arm i with the
mean muhat_i in this task, and eps_i = sqrt(ln(m n^2 / delta) / (2 T_i)), infinite before the first pull::

    Theta_t   = {theta : |mu_i(theta) - muhat_i| <= eps_i + e for all i},
    B(i; theta) = min{mu_i(theta) + e, muhat_i + eps_i},
    theta_t   = argmax over Theta_t of max_i B(i; theta),        pull argmax_i B(i; theta_t).

That is umUCB.  With e = 0 it is mUCB: in Theta_t mu_i(theta) is at most muhat_i + eps_i, so B is mu_i(theta), and the
best arm of the most promising model is pulled.  With an infinite e it is UCB, and so it is at every step at which
Theta_t is empty: the arm with the greatest muhat_i + eps_i.  Where several models or arms promise as much, one of them
is drawn.

A bandit is a world with one state, where an arm pays the reward of the step, or a world of
:func:`aomultirl.worlds.bandits` with two states, where it pays 1 if it leads to state 1 and nothing otherwise.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.learning.greedy import draw_best

VIEWS = 3
"""Estimates of all means from different pulls, for moments up to the third."""
PULLS, EMPTY = range(2)
"""Cells of what happened: pulls that models decided, and those of them at which no model was left."""


class ArmBehaviour(NamedTuple):
    """A bandit in the middle of a task.

    table
        asks for the arm of every pull, and looks at every pull.
    means
        (m, K), of every model.
    accuracy
        e, up to which the means are known.
    logarithm
        ln(m n^2 / delta).
    rounds
        so many times every arm is pulled first, one after the other; the pulls of round r belong to view r modulo 3.
    pulls
        (K,), T_i.
    paid
        (K,), what every arm has paid.
    views
        (3, K), what every arm paid in the rounds of every view.
    happened
        (2,), PULLS and EMPTY.
    promises
        (m,), room for max_i B(i; theta), -inf for a model that is ruled out.
    indices
        (K,), room for B(i; theta).
    """

    table: Table
    means: NDArray[np.float64]
    accuracy: float
    logarithm: float
    rounds: int
    pulls: NDArray[np.int64]
    paid: NDArray[np.float64]
    views: NDArray[np.float64]
    happened: NDArray[np.int64]
    promises: NDArray[np.float64]
    indices: NDArray[np.float64]


def pull_arms(
    n_states: int, means: NDArray[np.float64], accuracy: float, logarithm: float, rounds: int = 0
) -> ArmBehaviour:
    """The behaviour at the beginning of a task; ``means`` (m, K), the others as in :class:`ArmBehaviour`."""
    n_models, n_arms = means.shape
    return ArmBehaviour(
        table=empty_table(n_states),
        means=np.ascontiguousarray(means, np.float64),
        accuracy=float(accuracy),
        logarithm=float(logarithm),
        rounds=int(rounds),
        pulls=np.zeros(n_arms, np.int64),
        paid=np.zeros(n_arms),
        views=np.zeros((VIEWS, n_arms)),
        happened=np.zeros(2, np.int64),
        promises=np.empty(n_models),
        indices=np.empty(n_arms),
    )


@kernel
def _radius(behaviour: ArmBehaviour, arm: int) -> float:
    """eps_i."""
    pulls = behaviour.pulls[arm]
    return float(np.sqrt(behaviour.logarithm / (2.0 * pulls))) if pulls > 0 else np.inf


@kernel
def _index(behaviour: ArmBehaviour, model: int, arm: int) -> float:
    """B(i; theta), or -inf if the arm rules the model out; without a model, -1, muhat_i + eps_i."""
    seen, radius = behaviour.paid[arm] / max(1, behaviour.pulls[arm]), _radius(behaviour, arm)
    if model < 0:
        return float(seen + radius)
    mean = behaviour.means[model, arm]
    if abs(mean - seen) > radius + behaviour.accuracy:
        return -np.inf
    return float(min(mean + behaviour.accuracy, seen + radius))


@kernel
def _promise(behaviour: ArmBehaviour, model: int) -> float:
    """max_i B(i; theta), or -inf for a model that is ruled out."""
    best = -np.inf
    for arm in range(len(behaviour.pulls)):
        index = _index(behaviour, model, arm)
        if index == -np.inf:
            return -np.inf
        best = max(best, index)
    return best


@kernel
def choose_arm(behaviour: ArmBehaviour, stream: RandomStream) -> int:
    """The arm to pull next, after the first rounds."""
    promises, indices = behaviour.promises, behaviour.indices
    left = False
    for model in range(len(promises)):
        promises[model] = _promise(behaviour, model)
        left |= promises[model] > -np.inf
    behaviour.happened[PULLS] += 1
    behaviour.happened[EMPTY] += not left
    model = draw_best(promises, 0, len(promises), stream) if left else -1
    for arm in range(len(indices)):
        indices[arm] = _index(behaviour, model, arm)
    return draw_best(indices, 0, len(indices), stream)


@kernel
def _prepare(behaviour: ArmBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Choose the arm of one pull."""
    n_arms = len(behaviour.pulls)
    first = step < behaviour.rounds * n_arms
    behaviour.table.plan[state] = step % n_arms if first else choose_arm(behaviour, stream)


@kernel
def _attend(
    behaviour: ArmBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Note what the arm paid."""
    table = behaviour.table
    payoff = reward if len(table.budget) == 1 else float(successor)
    behaviour.pulls[action] += 1
    behaviour.paid[action] += payoff
    round_number = step // len(behaviour.pulls)
    if round_number < behaviour.rounds:
        behaviour.views[round_number % VIEWS, action] += payoff
    table.plan[state], table.budget[state] = ASK, 1
    return False


register(ArmBehaviour, prepare=_prepare, attend=_attend)

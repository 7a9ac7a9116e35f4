"""UCRL2B (Fruit, Pirotta, Lazaric 2020): UCRL2 with an interval for every successor, as wide as it varies.

As :mod:`.ucrl2`, but allowed is every row whose entries p are, with P the estimate after n visits, N = max{1, n} and
``x = ln(6 S A N / delta)``, within::

    |p - P| <= 2 sqrt(P (1 - P) x / N) + 6 x / N,

and every reward up to ``R + 2 sqrt(v x / N) + 6 x / N`` and 1, where rewards are estimated.  The policy is found to the
accuracy 1 / t.  v is R (1 - R), which no variance of rewards in [0, 1] with the mean R exceeds; the original has the
empirical one, for which every reward would have to be kept.

Setting: one world, communicating, the average reward.

Must be told: the failure probability.

Guarantee, for one world: regret of the order sqrt(D G S A T) up to logarithms, with the diameter D and G successors
of a pair at most.

Adapted to a stream of tasks: as UCRL2, every episode is one run of the original, with what is known of its world.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import Table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.base import Share
from aomultirl.learning.box import UNSEEN, greatest_in_box
from aomultirl.learning.ucrl2 import UCRL2, Before, UCRL2Learning, begin_epoch, end_epoch, estimated_rows
from aomultirl.setting import Setting

MOST_SWEEPS = 100_000
"""Reached only by worlds that go round in a circle, with intervals of nothing."""


class Ucrl2bBehaviour(NamedTuple):
    """UCRL2B in the middle of an episode; its fields are those of :class:`.Ucrl2Behaviour`."""

    table: Table
    before: Before
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    epochs: NDArray[np.int64]
    start: NDArray[np.int64]
    failure: float
    scale: float


@kernel
def interval_width(p: float, visits: int, n_pairs: int, failure: float) -> float:
    """How far an entry may be from its estimate p; for a reward, p (1 - p) is at least its variance."""
    n = max(1, visits)
    x = np.log(6.0 * n_pairs * n / failure)
    return float(2.0 * np.sqrt(p * (1.0 - p) * x / n) + 6.0 * x / n)


@kernel
def value_iteration_in_boxes(
    starts: NDArray[np.int64],
    states: NDArray[np.int32],
    probs: NDArray[np.float64],
    widths: NDArray[np.float64],
    unseen: NDArray[np.float64],
    rewards: NDArray[np.float64],
    n_states: int,
    accuracy: float,
) -> NDArray[np.float64]:
    """What every pair promises, (S * A,), when the increases of a sweep span less than ``accuracy``."""
    n_actions = len(rewards) // n_states
    values, fresh, q, room = np.zeros(n_states), np.zeros(n_states), np.empty(len(rewards)), np.full(n_states, UNSEEN)
    low, high, sweeps, spent = -np.inf, np.inf, 0, 0
    while high - low >= accuracy and sweeps < MOST_SWEEPS:
        values, fresh = fresh, values
        values -= values.min()
        order = np.argsort(-values)
        low, high = np.inf, -np.inf
        for s in range(n_states):
            spent = serve_signals(spent, 8 * n_actions + 16 * (starts[(s + 1) * n_actions] - starts[s * n_actions]))
            fresh[s] = -np.inf
            for pair in range(s * n_actions, (s + 1) * n_actions):
                first, last = starts[pair], starts[pair + 1]
                ahead = greatest_in_box(states, probs, widths, first, last, unseen[pair], values, order, room)
                q[pair] = rewards[pair] + ahead
                fresh[s] = max(fresh[s], q[pair])
            low, high = min(low, fresh[s] - values[s]), max(high, fresh[s] - values[s])
        sweeps += 1
    return q


@kernel
def _promised(
    behaviour: Ucrl2bBehaviour,
    starts: NDArray[np.int64],
    probs: NDArray[np.float64],
    visits: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(Widths of the intervals, those of successors never seen, upper bounds on the rewards)."""
    n_pairs, n_actions = len(visits), len(visits) // len(behaviour.table.budget)
    known, failure, scale = len(behaviour.rewards) > 0, behaviour.failure, behaviour.scale
    widths, unseen, rewards = np.zeros(len(probs)), np.ones(n_pairs), np.ones(n_pairs)
    for pair in range(n_pairs):
        n = visits[pair]
        if known:
            rewards[pair] = behaviour.rewards[pair]
        if behaviour.before.terminal[pair // n_actions]:
            unseen[pair] = rewards[pair] = 0.0
        elif n > 0:
            unseen[pair] = scale * interval_width(0.0, n, n_pairs, failure)
            for i in range(starts[pair], starts[pair + 1]):
                widths[i] = scale * interval_width(probs[i], n, n_pairs, failure)
            if not known:
                mean = min(1.0, max(0.0, (behaviour.before.sums[pair] + behaviour.sums[pair]) / n))
                rewards[pair] = min(1.0, mean + scale * interval_width(mean, n, n_pairs, failure))
    return widths, unseen, rewards


@kernel
def _prepare(behaviour: Ucrl2bBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """A new epoch."""
    table = behaviour.table
    n_states = len(table.budget)
    if step == 0:
        behaviour.start[()] = state
    starts, states, probs, visits = estimated_rows(behaviour.before, counts, int(behaviour.start[()]))
    t = 1.0 + visits.sum()
    widths, unseen, rewards = _promised(behaviour, starts, probs, visits)
    q = value_iteration_in_boxes(starts, states, probs, widths, unseen, rewards, n_states, 1.0 / t)
    begin_epoch(table, q, visits, stream)
    behaviour.epochs[()] += 1


register(Ucrl2bBehaviour, prepare=_prepare, attend=end_epoch)


@dataclass(frozen=True)
class UCRL2B(UCRL2):
    """UCRL2B of Fruit, Pirotta and Lazaric, for the average reward: UCRL2 with intervals by Bernstein.

    Guarantee, for one world: regret of the order sqrt(D G S A T), with G successors of a pair at most.
    The formulas are in :mod:`aomultirl.learning.ucrl2b`.

    Parameters
    ----------
    bonus_scale
        multiplies all widths; 1 is faithful.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.UCRL2B(bonus_scale=0.1), horizon=50)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    def begin(self, setting: Setting, horizon: int, share: Share) -> "Ucrl2bLearning":
        checks.real("bonus_scale", self.bonus_scale, above=0.0)
        return Ucrl2bLearning(setting, self, share.failure)


class Ucrl2bLearning(UCRL2Learning):
    """UCRL2B in a run."""

    behaviour: ClassVar[Any] = Ucrl2bBehaviour

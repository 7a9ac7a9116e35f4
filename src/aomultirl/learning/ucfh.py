"""UCFH (Dann, Brunskill 2015): the best world that the data allow, planned anew only when visits have doubled.

A world is allowed if every entry p of every row is, with P its estimate after n visits and ``x = ln(6 / d)``, within::

    |p - P| <= min{ sqrt(x / (2 n)),  sqrt(2 P (1 - P) x / n) + 2 x / (3 n) },

and if no row has more than C successors.  For h = H-1, ..., 0

    Q_h(s, a) = r(s, a) + max over allowed p of p V_{h+1},     V_h(s) = max_a Q_h(s, a);

a pair that was never visited may lead anywhere.  A plan is followed until some pair has been visited
``max{m w, n}`` times since, n < S m H of which the last plan knew; ``w = eps / (4 H S)``.
Here ``d = p_1 / (2 U C M)`` and ``U = S A log2(S H / w)``.

Settled here: the paper's m, of the order C H^2 / eps^2 times logarithms, lets nothing happen at sizes that can be run,
so that by default m = 1 / w, by which a pair counts from its first visit on, and again when its visits have doubled;
``samples`` sets another.  P (1 - P) stands for p (1 - p) in the interval, of which constants are uncertain anyway.
When some pair is due, all of them are estimated anew, and not that one alone.

Setting: one world, stationary, episodes of H steps, rewards known; C, a bound on the successors of a pair.

Must be told: H, an accuracy eps, the failure probability.

Guarantee, for one world and the paper's m: at most about S A C H^2 / eps^2 episodes, up to logarithms, are worse than
the optimum by more than eps.

Adapted to a stream of tasks: M worlds that are told apart share the failure probability.  Unknown rewards are estimated
by their means, plus sqrt(x / (2 n)).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import Table, follow, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.planning import Transitions
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Share
from aomultirl.learning.box import UNSEEN, greatest_in_box
from aomultirl.learning.greedy import draw_best
from aomultirl.learning.ucbvi import EstimatedLearning, estimate
from aomultirl.setting import Setting


class UcfhBehaviour(NamedTuple):
    """A plan, and what it was made of.

    table
        the plan by step.
    planned
        (H, S), the whole plan, of which a shorter phase follows the last steps.
    visits
        (S * A,), n, those that the plan knows of.
    updates
        (), how many plans there were.
    """

    table: Table
    planned: NDArray[np.int32]
    visits: NDArray[np.int64]
    updates: NDArray[np.int64]


register(UcfhBehaviour)


@kernel
def interval_widths(
    starts: NDArray[np.int64], probs: NDArray[np.float64], visits: NDArray[np.int64], logarithm: float, scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(Widths of the intervals of all successors that were seen, those of successors that were not, (S * A,))."""
    widths, unseen = np.empty(len(probs)), np.ones(len(visits))
    for pair in range(len(visits)):
        n = visits[pair]
        if n > 0:
            plain = np.sqrt(logarithm / (2.0 * n))
            unseen[pair] = scale * min(plain, 2.0 * logarithm / (3.0 * n))
            for i in range(starts[pair], starts[pair + 1]):
                sharp = np.sqrt(2.0 * probs[i] * (1.0 - probs[i]) * logarithm / n) + 2.0 * logarithm / (3.0 * n)
                widths[i] = scale * min(plain, sharp)
    return widths, unseen


@kernel
def plan_in_boxes(
    world: Transitions,
    widths: NDArray[np.float64],
    unseen: NDArray[np.float64],
    rewards: NDArray[np.float64],
    going_on: NDArray[np.float64],
    rest: float,
    stream: RandomStream,
    plan: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Fill in the plan, (H, S), that is best in the best allowed world; Q, (H, S * A)."""
    starts, states, probs = world.starts, world.states, world.probs
    horizon, n_states = plan.shape
    n_actions, spent = len(rewards) // n_states, 0
    q, room = np.empty((horizon, len(rewards))), np.full(n_states, UNSEEN)
    following, values = np.zeros(n_states), np.zeros(n_states)
    for h in range(horizon - 1, -1, -1):
        order = np.argsort(-following)
        spent = serve_signals(spent, 16 * (len(rewards) + len(probs) + n_states))
        for s in range(n_states):
            for pair in range(s * n_actions, (s + 1) * n_actions):
                first, last = starts[pair], starts[pair + 1]
                ahead = greatest_in_box(states, probs, widths, first, last, unseen[pair], following, order, room)
                q[h, pair] = rewards[pair] + ahead
            action = draw_best(q[h], s * n_actions, (s + 1) * n_actions, stream)
            plan[h, s] = action
            values[s] = going_on[s] * q[h, s * n_actions + action] + (1.0 - going_on[s]) * rest * (horizon - h)
        following, values = values, following
    return q


@dataclass(frozen=True)
class UCFH(Learner):
    """UCFH of Dann and Brunskill: few plans, each the best one in the best world that the data allow.

    Guarantee, for one world and the paper's m: at most about S A C H^2 / eps^2 episodes are worse than the optimum by
    more than eps.  The formulas are in :mod:`aomultirl.learning.ucfh`.

    Parameters
    ----------
    accuracy
        eps, in rewards of an episode.
    samples
        m; by default 1 / w, which is practical, and not the paper's.
    successors
        C, successors of a pair at most; S by default.
    bonus_scale
        multiplies the widths of intervals; 1 is faithful.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.UCFH(bonus_scale=0.1), horizon=50, failure=0.1)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    plans_by_step: ClassVar[bool] = True

    accuracy: float = 1.0
    samples: float | None = None
    successors: int | None = None
    bonus_scale: float = 1.0

    def begin(self, setting: Setting, horizon: int, share: Share) -> "UcfhLearning":
        checks.real("accuracy", self.accuracy, above=0.0)
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        if self.samples is not None:
            checks.real("samples", self.samples, above=0.0)
        if self.successors is not None:
            checks.integer("successors", self.successors, least=1, most=setting.n_states)
        return UcfhLearning(setting, self, horizon, share)


class UcfhLearning(EstimatedLearning):
    """UCFH in a run: of each world it keeps the plan, the visits that the plan knows of, and how many plans there were.

    Attributes
    ----------
    logarithm
        x.
    rare
        w.
    samples
        m.
    """

    learner: UCFH

    def __init__(self, setting: Setting, learner: UCFH, horizon: int, share: Share) -> None:
        self.rare = learner.accuracy / (4.0 * horizon * setting.n_states)
        self.samples = 1.0 / self.rare if learner.samples is None else float(learner.samples)
        self._successors = setting.n_states if learner.successors is None else learner.successors
        updates = setting.n_pairs * max(1.0, math.log2(setting.n_states * horizon / self.rare))
        events = 2.0 * updates * self._successors * share.models
        super().__init__(setting, learner, math.log(18.0 * events / share.failure))
        self._horizon = horizon

    def nothing(self) -> Known:
        known, setting = super().nothing(), self.setting
        known.own["planned"] = np.zeros((self._horizon, setting.n_states), np.int32)
        known.own["visits"] = np.zeros(setting.n_pairs, np.int64)
        known.own["updates"] = np.zeros((), np.int64)
        return known

    def is_due(self, visits: NDArray[np.int64], planned: NDArray[np.int64]) -> bool:
        """Whether a plan that knows of ``planned`` visits must be made anew after ``visits`` of each pair."""
        enough = visits - planned >= np.maximum(self.samples * self.rare, planned)
        return bool((enough & (planned < self.setting.n_states * self.samples * self._horizon)).any())

    def act(self, known: Known, steps: int, stream: RandomStream) -> UcfhBehaviour:
        learned, own = estimate(self.setting.n_states, known.counts), known.own
        planned, visits, updates = own["planned"], own["visits"], own["updates"]
        if updates == 0 or self.is_due(learned.visits.reshape(-1), visits):
            planned, visits, updates = np.zeros_like(planned), learned.visits.reshape(-1).copy(), updates + 1
            starts, _, probs, _ = learned.transitions
            scale = float(self.learner.bonus_scale)
            widths, unseen = interval_widths(starts, probs, visits, self.logarithm, scale)
            unseen[(visits > 0) & (np.diff(starts) >= self._successors)] = 0.0
            rewards = np.ascontiguousarray(self.upper_rewards(learned, known.sums)).reshape(-1)
            going_on, rest = learned.going_on, self.setting.rest
            plan_in_boxes(learned.transitions, widths, unseen, rewards, going_on, rest, stream, planned)
        return UcfhBehaviour(
            follow(planned[self._horizon - steps :]).table, planned, visits, np.asarray(updates, np.int64)
        )

    def learn(self, into: Known, ran: Ran) -> None:
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, UcfhBehaviour):
            into.own.update(planned=behaviour.planned, visits=behaviour.visits, updates=behaviour.updates)

"""R-Max (Brafman, Tennenholtz 2002): what is not known is worth the most that there can be, and plans follow that hope.

A pair is *known* after m visits.  Discounted by g, and with Vmax = greatest reward / (1 - g)::

    U(s, a) = R(s, a) + g sum_s' P(s' | s, a) max_a' U(s', a')     in known pairs, with empirical means R and P,
    U(s, a) = B(s, a)                                              in all others,

where B = Vmax, or any upper bound that an agent brings from other tasks
(:class:`aomultirl.agents.MaxQInit`, :class:`aomultirl.agents.LRMax`).  The action is the first of the best for U.  A
plan holds until a pair becomes known: then, in the middle of the episode, it is made anew by the value iteration of
:func:`aomultirl.learning.posterior.plan_in`, from the values that it had.  They began at Vmax, so that values which are
not iterated to the end are too high, which is on the side of hope.

m is given, or follows from an accuracy eps, for a failure probability d of each pair (:func:`visits_for_accuracy`)::

    m = max{ ln(2 / d) / (2 eps^2),  2 (ln(2^S - 2) - ln d) / eps^2 }.

By Hoeffding's inequality the mean reward is within eps then, by Weissman's the row is in l1, each with probability at
least 1 - d.

Setting: one world, discounted; rewards known or learned.  Episodes here have H steps and no discount: g = 1 - 1 / H
unless it is given, by which Vmax = H, and the plan is the same at every step.

Must be told: m, or eps.

Guarantee, with m from eps and estimates from m visits: those of all known pairs are within eps, and U is nowhere below
the discounted optimum by more than eps (1 + g Vmax) / (1 - g), with probability at least 1 - p, which the two estimates
of S A pairs in M worlds share.  R-Max is PAC (Kakade 2003; Strehl, Li, Littman 2009): with an m for it, steps of the
order S^2 A / (x^3 (1 - g)^6), up to logarithms, are worse than the optimum by more than x.  With m given as a number,
as by default, nothing is promised.

Adapted to a stream of tasks: not at all.  Alone it begins anew in every episode, pooled it takes all for one world,
told it learns each.

What was uncertain, and how it was settled.  Of several actions that are as good the first one is taken, where learners
with bonuses draw one: where nothing is known of a state, its first action is tried m times, then the next, until all
are known.  Drawing would do as well, and would not be what the contests have measured.  The original estimates known
pairs from their first m visits and never again; here every plan takes all visits so far, for which the failure
probability is not shared once more.  Discount or steps to go: an optimistic table for every step, Vmax = H - h, would
make H tables of what is S A numbers here, and a plan for each.  A state in which an episode has ended is worth what is
left after the end; where episodes end in a state only sometimes, it is weighed by how often.  Known rewards serve in
known pairs; the greatest of them is in Vmax.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, FOREVER, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable, visits_by_pair
from aomultirl.engine.random import RandomStream
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.learning.greedy import greedy
from aomultirl.learning.posterior import DrawnWorld, plan_in
from aomultirl.learning.ucrl2 import Before, estimated_rows
from aomultirl.setting import Setting

MOST_SWEEPS = 10_000
"""Of value iteration for a plan: reached where the discount is so close to 1 that values hardly fall in a sweep."""
LEAST_ACCURACY, MOST_ACCURACY = 1e-9, 2.0
"""Of eps: below, no run is long enough for m; above, no two rows are so far apart."""
LONGEST_PLAN = 1_000_000
"""Steps: longer episodes are planned as if they had so many, because values could hardly be told from Vmax."""
GREEDY_SWEEPS = 200
"""Of value iteration for the plan that is judged without optimism."""


class RMaxBehaviour(NamedTuple):
    """R-Max in the middle of an episode.

    table
        the plan; a budget is what is missing until the pair is known, and endless in known ones.
    before
        what earlier episodes have shown; no state is terminal in it, because ``going_on`` says what ends.
    rewards
        (S * A,), where they are known, else empty.
    sums
        (S * A,), the rewards of the episode added up, where they are not known.
    bounds
        (S * A,), B, what pairs are worth that are not known.
    going_on
        (S,), how often an episode went on after an arrival.
    values
        (S,), of the last plan; Vmax before the first.
    plans
        (), how many there were.
    enough
        m.
    discount
        g.
    rest
        what each step after the end of an episode is worth.
    pauses
        whether the phase ends when a pair becomes known, for agents whose bounds change with it.
    """

    table: Table
    before: Before
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    bounds: NDArray[np.float64]
    going_on: NDArray[np.float64]
    values: NDArray[np.float64]
    plans: NDArray[np.int64]
    enough: int
    discount: float
    rest: float
    pauses: bool


@kernel
def hopeful_world(behaviour: RMaxBehaviour, counts: Counts) -> DrawnWorld:
    """The estimated world in which a pair that is not known pays its bound once and leads nowhere."""
    starts, states, probs, visits = estimated_rows(behaviour.before, counts, 0)
    told, n_pairs, at = len(behaviour.rewards) > 0, len(visits), 0
    kept, rewards = np.zeros(n_pairs + 1, np.int64), np.empty(n_pairs)
    for pair in range(n_pairs):
        rewards[pair] = behaviour.bounds[pair]
        if visits[pair] >= behaviour.enough:
            for i in range(starts[pair], starts[pair + 1]):
                states[at], probs[at] = states[i], probs[i]
                at += 1
            if told:
                rewards[pair] = behaviour.rewards[pair]
            else:
                rewards[pair] = (behaviour.before.sums[pair] + behaviour.sums[pair]) / visits[pair]
        kept[pair + 1] = at
    return DrawnWorld(kept, states[:at], probs[:at], rewards, behaviour.going_on, visits)


@kernel
def _prepare(behaviour: RMaxBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Plan for all states."""
    table, enough = behaviour.table, behaviour.enough
    world = hopeful_world(behaviour, counts)
    plan = plan_in(world, behaviour.rest, behaviour.discount, MOST_SWEEPS, behaviour.values)
    n_actions = len(world.visits) // len(plan)
    for s in range(len(plan)):
        seen = world.visits[s * n_actions + plan[s]]
        table.plan[s], table.budget[s] = plan[s], enough - seen if seen < enough else FOREVER
    behaviour.plans[()] += 1


@kernel
def _attend(
    behaviour: RMaxBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """The pair is known now: the next step needs another plan, everywhere."""
    behaviour.table.plan[:] = ASK
    return behaviour.pauses


register(RMaxBehaviour, prepare=_prepare, attend=_attend)


@kernel
def _plan_to_the_end(behaviour: RMaxBehaviour, counts: Counts) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(U, which pairs are known), (S * A,) each; leaves the values in the behaviour."""
    world = hopeful_world(behaviour, counts)
    plan_in(world, behaviour.rest, behaviour.discount, MOST_SWEEPS, behaviour.values)
    q = world.rewards.copy()
    for pair in range(len(q)):
        for i in range(world.starts[pair], world.starts[pair + 1]):
            q[pair] += behaviour.discount * world.probs[i] * behaviour.values[world.states[i]]
    return q, world.visits >= behaviour.enough


def visits_for_accuracy(n_states: int, accuracy: float, failure: float) -> int:
    """The smallest m after which the reward and the row of a pair are within ``accuracy``, each but for ``failure``.

    Examples
    --------
    >>> visits_for_accuracy(16, 0.1, 0.05)
    2818
    """
    log_subsets = -math.inf  # ln(2^S - 2): with one state there is nothing to learn of a row
    if n_states > 1:
        log_subsets = n_states * math.log(2.0) + math.log1p(-(2.0 ** (1 - n_states)))
    for_reward = math.log(2.0 / failure) / (2.0 * accuracy**2)
    for_row = 2.0 * (log_subsets - math.log(failure)) / accuracy**2
    return math.ceil(min(max(for_reward, for_row, 1.0), FOREVER))


@dataclass(frozen=True)
class RMax(Learner):
    """R-Max: pairs with fewer than m visits are worth the most that there can be; a guarantee for large m only.

    The formulas are in :mod:`aomultirl.learning.rmax`.

    Parameters
    ----------
    enough
        m, the visits after which a pair is known.
    accuracy
        eps, from which m follows; None: ``enough`` is m.
    discount
        g; None: 1 - 1 / H.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Told(ao.learning.RMax(), horizon=300)
    >>> ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3)["learning_steps"].tolist()
    [300, 300, 300]
    """

    pair_bytes: ClassVar[int] = 80

    enough: int = 3
    accuracy: float | None = None
    discount: float | None = None

    def begin(self, setting: Setting, horizon: int, share: Share) -> "RMaxRun":
        enough = checks.integer("enough", self.enough, least=1, limit=FOREVER)
        if self.accuracy is not None:
            checks.real("accuracy", self.accuracy, above=0.0, least=LEAST_ACCURACY, most=MOST_ACCURACY)
            failure = share.failure / (2.0 * setting.n_pairs * share.models)
            enough = visits_for_accuracy(setting.n_states, self.accuracy, failure)
        discount = 1.0 - 1.0 / min(horizon, LONGEST_PLAN)
        if self.discount is not None:
            discount = checks.real("discount", self.discount, least=0.0, below=1.0)
        return RMaxRun(setting, self, enough, discount)


class RMaxRun(Learning):
    """R-Max in a run.

    Attributes
    ----------
    enough
        m.
    discount
        g.
    vmax
        the most that anything can be worth.
    """

    learner: RMax

    def __init__(self, setting: Setting, learner: RMax, enough: int, discount: float) -> None:
        super().__init__(setting, learner)
        self.enough, self.discount = enough, discount
        greatest = 1.0 if setting.rewards is None else float(setting.rewards.max())
        self.vmax = max(greatest, setting.rest) / (1.0 - discount)

    def act(self, known: Known, steps: int, stream: RandomStream) -> RMaxBehaviour:
        return self.act_within(known, np.full(self.setting.n_pairs, self.vmax))

    def act_within(
        self,
        known: Known,
        bounds: NDArray[np.float64],
        values: NDArray[np.float64] | None = None,
        *,
        pauses: bool = False,
    ) -> RMaxBehaviour:
        """The behaviour that hopes for ``bounds`` in pairs that are not known.

        Parameters
        ----------
        known
            with the tally that the phase will count into.
        bounds
            (S * A,).
        values
            (S,), at least what every state is worth, from where planning goes on; Vmax by default.
        pauses
            whether the phase ends when a pair becomes known.
        """
        setting = self.setting
        told = np.empty(0) if setting.rewards is None else np.ascontiguousarray(setting.rewards).reshape(-1)
        tally = self.tally() if known.tally is None else known.tally
        return RMaxBehaviour(
            table=empty_table(setting.n_states),
            before=Before(*known.counts.to_lists(), known.sums, np.zeros(setting.n_states, np.bool_)),
            rewards=told,
            sums=tally.sums,
            bounds=bounds,
            going_on=known.counts.going_on(setting.n_states),
            values=np.full(setting.n_states, self.vmax) if values is None else values.copy(),
            plans=np.zeros((), np.int64),
            enough=self.enough,
            discount=self.discount,
            rest=float(setting.rest),
            pauses=pauses,
        )

    def upper(
        self, known: Known, bounds: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """(U, which pairs are known, the values of states): (S * A,), (S * A,) and (S,), for what is known now."""
        behaviour = self.act_within(known, bounds)
        counts = CountTable(self.setting.n_pairs) if known.tally is None else known.tally.counts
        q, sure = _plan_to_the_end(behaviour, counts.record)
        return q, sure, behaviour.values

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The policy that is best for the samples as they are, the same at every step, (S,)."""
        setting, rewards = self.setting, self.setting.rewards
        if rewards is None:
            means = known.sums / np.maximum(visits_by_pair(known.counts), 1)
            rewards = means.reshape(setting.n_states, setting.n_actions)
        return greedy(known.counts, rewards, self.discount, GREEDY_SWEEPS, setting.rest)

"""PSRL (Strens 2000; Osband, Russo, Van Roy 2013): act by the plan that is best in a world drawn from the posterior.

A world is drawn (:mod:`.posterior`) at the first step of an episode, and the plan that is best in it is followed.  A
world is drawn anew, as in lazy posterior sampling and TSDE, when the walk comes back to a state whose pair has been
visited as often since the draw as before it.  So short episodes have one draw, or a few while the world is new, and
long ones go on learning.  A draw lasts at least one step for every :data:`TRANSITIONS_A_STEP` transitions that it is
made of, which bounds the work of a step.

Plans are those of discounted value iteration, the same at every step of the episode, begun from the values of the last
draw.

Setting: one world, episodes of H steps; rewards known, or learned as coins.

Must be told: nothing; S is known.

Guarantee: for one world drawn from the prior, and plans of H steps, the expected regret over K episodes is of the
order H S sqrt(A K H) up to logarithms (Osband, Russo, Van Roy 2013).  Here plans are discounted, the remainder of a
row is put on one state, and worlds are not drawn from the prior, so nothing is promised.

What was uncertain, and how it was settled.  When to draw anew in a long episode: when visits have doubled, as above.
The masses of the priors: by trying (``examples/tuning/peers.py``).

Adapted to a stream of tasks: not at all.  Alone it begins anew in every episode, pooled it has one posterior for all
worlds, told one for each; :class:`aomultirl.agents.MixtureOfMDPs` has one for each world that it believes in.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, visits_by_pair
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.learning.greedy import greedy
from aomultirl.learning.posterior import (
    WATCHED_SQUARES,
    WATCHED_SUMS,
    WATCHED_VISITS,
    Earlier,
    draw_world,
    earlier,
    plan_in,
)
from aomultirl.setting import Setting

TRANSITIONS_A_STEP = 256
"""A draw of so many transitions lasts at least a step, one of twice as many two: chosen so that the four actions of an
8 x 8 grid are planned anew whenever visits double, and the 18,000 pairs of ICU-Sepsis every hundred steps or so."""
SWEEPS = 200
"""Of value iteration for a draw, at most; the values that it begins from are mostly those of a similar world."""
DRAWS, AGE = range(2)
"""Cells of the progress of a behaviour: how many worlds it has drawn, and for how many steps the last was followed."""


class PSRLBehaviour(NamedTuple):
    """Posterior sampling in the middle of an episode.

    table
        the plan that is followed; every step is looked at.
    before
        what earlier episodes have shown.
    rewards
        (S * A,), where they are known, else empty.
    sums
        (S * A,), the rewards of the episode added up, where they are not known.
    watched
        (3, S * A), the rewards of the episode as they were seen one by one, where they are not known.
    values
        (S,), of the world that was drawn last.
    actions
        (S,), the plan of the world that was drawn last.
    left
        (S,), visits of each state until its pair has been visited as often as before the draw.
    progress
        (2,), DRAWS and AGE.
    prior
        the mass of the prior of a row.
    reward_prior
        the mass of the prior of a reward.
    discount
        of the values.
    rest
        what each step after the end of an episode is worth.
    """

    table: Table
    before: Earlier
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    watched: NDArray[np.float64]
    values: NDArray[np.float64]
    actions: NDArray[np.int32]
    left: NDArray[np.int64]
    progress: NDArray[np.int64]
    prior: float
    reward_prior: float
    discount: float
    rest: float


@kernel
def _prepare(behaviour: PSRLBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Draw a world and plan in it, unless the last draw is too young: then its plan is followed for one more visit."""
    table, progress = behaviour.table, behaviour.progress
    size = len(behaviour.before.states) + counts.filled.sum() + len(counts.heads)
    if progress[DRAWS] > 0 and progress[AGE] * TRANSITIONS_A_STEP < size:
        table.plan[state], behaviour.left[state] = behaviour.actions[state], 1
        return
    world = draw_world(
        behaviour.before,
        counts,
        behaviour.rewards,
        behaviour.sums,
        behaviour.watched,
        behaviour.prior,
        behaviour.reward_prior,
        stream,
    )
    plan = plan_in(world, behaviour.rest, behaviour.discount, SWEEPS, behaviour.values)
    n_actions = len(world.visits) // len(plan)
    for s in range(len(plan)):
        table.plan[s] = behaviour.actions[s] = plan[s]
        behaviour.left[s] = max(1, world.visits[s * n_actions + plan[s]])
    progress[DRAWS] += 1
    progress[AGE] = 0


@kernel
def _attend(
    behaviour: PSRLBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Watch the reward, and see whether the visits of the pair have doubled."""
    table, watched = behaviour.table, behaviour.watched
    if watched.shape[1] > 0:
        pair = state * (watched.shape[1] // len(table.budget)) + action
        watched[WATCHED_VISITS, pair] += 1.0
        watched[WATCHED_SUMS, pair] += reward
        watched[WATCHED_SQUARES, pair] += reward * reward
    behaviour.progress[AGE] += 1
    behaviour.left[state] -= 1
    table.budget[state] = 1
    if behaviour.left[state] <= 0:
        table.plan[state] = ASK
    return False


register(PSRLBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class PSRL(Learner):
    """Posterior sampling: the plan that is best in a world drawn from the Dirichlet posterior; no guarantee here.

    The formulas are in :mod:`aomultirl.learning.posterior`, when a world is drawn anew in
    :mod:`aomultirl.learning.psrl`.  The defaults were chosen on the development worlds of
    ``examples/tuning/peers.py``.

    Parameters
    ----------
    prior
        the mass of the prior of a row, Dirichlet(prior / S) over all S states, and of an end.
    reward_prior
        the mass of the prior of an unknown reward, Beta(reward_prior / 2, reward_prior / 2).
    discount
        of the values that are planned with.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Told(ao.learning.PSRL(), horizon=300)
    >>> ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3)["learning_steps"].tolist()
    [300, 300, 300]
    """

    pair_bytes: ClassVar[int] = 160

    prior: float = 0.1
    reward_prior: float = 0.003
    discount: float = 0.99

    def begin(self, setting: Setting, horizon: int, share: Share | None = None) -> "PSRLRun":
        """Begin a run; nothing is promised, so no share of a union bound is needed."""
        checks.real("prior", self.prior, above=0.0, least=LEAST_PRIOR)
        checks.real("reward_prior", self.reward_prior, above=0.0, least=LEAST_PRIOR)
        checks.real("discount", self.discount, least=0.0, below=1.0)
        return PSRLRun(setting, self)

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        values = times * own["values"] + plus / (1.0 - self.discount)
        return {"values": values, "watched": rescaled_watched(own["watched"], times, plus)}


LEAST_PRIOR = 1e-9
"""Of the masses of priors: below it a draw from them leaves the numbers that there are."""


def rescaled_watched(watched: NDArray[np.float64], times: float, plus: float) -> NDArray[np.float64]:
    """Visits, sums and sums of squares of rewards, when each reward r is ``times * r + plus`` instead."""
    visits, sums, squares = watched
    moved = times * times * squares + 2.0 * times * plus * sums + plus * plus * visits
    return np.stack([visits, times * sums + plus * visits, moved])


class PSRLRun(Learning):
    """Posterior sampling in a run: of each world it keeps the values of the last draw, and how rewards vary."""

    learner: PSRL

    def nothing(self) -> Known:
        known = super().nothing()
        known.own["values"] = np.full(self.setting.n_states, self.setting.rest / (1.0 - self.learner.discount))
        known.own["watched"] = np.zeros((3, len(known.sums)))
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> PSRLBehaviour:
        setting, learner = self.setting, self.learner
        rewards = np.empty(0) if setting.rewards is None else np.ascontiguousarray(setting.rewards).reshape(-1)
        tally = self.tally() if known.tally is None else known.tally
        return PSRLBehaviour(
            table=empty_table(setting.n_states),
            before=earlier(known.counts, setting.n_states, known.sums, known.own["watched"]),
            rewards=rewards,
            sums=tally.sums,
            watched=np.zeros_like(known.own["watched"]),
            values=known.own["values"].copy(),
            actions=np.zeros(setting.n_states, np.int32),
            left=np.zeros(setting.n_states, np.int64),
            progress=np.zeros(2, np.int64),
            prior=float(learner.prior),
            reward_prior=float(learner.reward_prior),
            discount=float(learner.discount),
            rest=float(setting.rest),
        )

    def learn(self, into: Known, ran: Ran) -> None:
        """Add what the episode has shown; rewards that an explorer earned are taken for those of coins."""
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, PSRLBehaviour):
            into.own.update(values=behaviour.values, watched=into.own["watched"] + behaviour.watched)

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The policy that is best for the samples as they are, the same at every step, (S,)."""
        setting, rewards = self.setting, self.setting.rewards
        if rewards is None:
            means = known.sums / np.maximum(visits_by_pair(known.counts), 1)
            rewards = means.reshape(setting.n_states, setting.n_actions)
        return greedy(known.counts, rewards, self.learner.discount, SWEEPS, setting.rest)

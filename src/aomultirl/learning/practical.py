"""The practical learner: the optimism of :mod:`.optimism`, with what is remembered of a world.

What is believed of a row leans on the same row in other worlds, where the agent knows some, as far as the data support
(:mod:`.world_rows`).  Where rewards are not known, they are learned and shared as transitions are.
"""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.learning.beliefs import BeliefBehaviour, act_alone
from aomultirl.learning.greedy import greedy
from aomultirl.learning.planner import Options, Planner, planner, promise
from aomultirl.learning.row_likelihoods import Floats
from aomultirl.learning.world_rows import WorldRows, rows_of
from aomultirl.setting import Setting

AHEAD_SWEEPS = 4.0
"""Sweeps of value iteration that finds the plan without optimism, for each step ahead; what is left is below 2 %."""
MOST_SWEEPS = 1000
EPISODE_PARTS = 5
"""Values look a fifth of the episode ahead."""
MOST_READ = 6000.0
"""Places of rows that the backups of a step read at most: where rows are wide, fewer states are backed up."""
LEAST_AHEAD, MOST_AHEAD = 50.0, 100.0
"""Steps that values look ahead, at least and at most: with more, the few backups of a step no longer keep up."""


class Rewarded(Protocol):
    """What was counted in a world, and the rewards added up where they are not known: (S * A,), or empty."""

    counts: CountTable
    sums: NDArray[np.float64]


@dataclass(frozen=True)
class Practical(Learner):
    """Optimism that is measured in what a state can lead to; the formulas are in :mod:`aomultirl.learning.optimism`.

    One default for all worlds; ``docs/recall.md`` says how it was chosen.

    Parameters
    ----------
    level
        how many visits the best that can be hoped for is worth.
    pace
        how slowly that falls with the visits of a pair.
    future
        how many more steps are expected in later episodes of a world, for each that was taken in it.
    novelty
        how much a state that still shows new successors is hoped to lead anywhere.
    discount
        of the values that are planned with; by default 1 - 1 / n with n a fifth of the horizon, within
        LEAST_AHEAD and MOST_AHEAD steps.
    backups
        states whose values are brought up to date at each step, as far as their rows have no more than MOST_READ
        places in all.
    """

    pair_bytes: ClassVar[int] = 120

    level: float = 0.3
    pace: float = 10.0
    future: float = 1.0
    novelty: float = 0.5
    discount: float | None = None
    backups: int = 16

    def begin(self, setting: Setting, horizon: int, share: Share | None = None) -> "PracticalLearning":
        """Begin a run; nothing is promised, so no share of a union bound is needed."""
        checks.real("level", self.level, least=0.0)
        checks.real("pace", self.pace, above=0.0)
        checks.real("future", self.future, least=0.0)
        checks.real("novelty", self.novelty, least=0.0)
        if self.discount is not None:
            checks.real("discount", self.discount, least=0.0, below=1.0)
        checks.integer("backups", self.backups, least=1)
        return PracticalLearning(setting, self, horizon)

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        return {"values": times * own["values"] + plus * own["ahead"], "ahead": own["ahead"]}

    def discount_for(self, horizon: int) -> float:
        """The discount in episodes of so many steps."""
        if self.discount is not None:
            return self.discount
        return 1.0 - 1.0 / min(max(horizon / EPISODE_PARTS, LEAST_AHEAD), MOST_AHEAD)


class PracticalLearning(Learning):
    """The practical learner in a run.

    Attributes
    ----------
    options
        its numbers, as the kernels take them.
    """

    def __init__(self, setting: Setting, learner: Practical, horizon: int) -> None:
        super().__init__(setting, learner)
        self.options = Options(**{**asdict(learner), "discount": learner.discount_for(horizon)})
        self._horizon = horizon

    def nothing(self) -> Known:
        """Counts, rewards where they are not known, the values that planning goes on from, and how far they look ahead.

        A reward in every step is worth as many of it as the values look ahead, 1 / (1 - discount).
        """
        most = promise(self.setting.rewards, self.setting.rest, self.options.discount)
        known = super().nothing()
        known.own["values"] = np.full(self.setting.n_states, most)
        known.own["ahead"] = np.array([1.0 / (1.0 - self.options.discount)])
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> BeliefBehaviour:
        """Learn on in the world that is known, leaning on the others that are."""
        tally = self.tally() if known.tally is None else known.tally
        setting = self.setting
        worlds = [(world.counts, world.sums) for world in (known, *known.others)]
        rows = rows_of(worlds, setting.n_states, setting.n_actions, self.learns_rewards)
        counted, steps_before = rows.to_plan_with(doubts=False)[:1], rows.steps[:1]
        plan = self.planner(rows, counted, tally.sums, stream, known.own["values"][None], steps_before)
        return act_alone(plan)

    def learn(self, into: Known, ran: Ran) -> None:
        super().learn(into, ran)
        if isinstance(ran.phase.behaviour, BeliefBehaviour):
            into.own["values"] = ran.phase.behaviour.planner.values[0].copy()

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        return self.first_actions(known)

    def first_actions(self, known: Rewarded) -> NDArray[np.int32]:
        """The plan that is best for these samples as they are, the same at every step, (S,)."""
        rewards = self.setting.rewards
        if rewards is None:
            means = known.sums / np.maximum(visits_by_pair(known.counts), 1)
            rewards = means.reshape(self.setting.n_states, self.setting.n_actions)
        sweeps = min(MOST_SWEEPS, round(AHEAD_SWEEPS / (1.0 - self.options.discount)))
        return greedy(known.counts, rewards, self.options.discount, sweeps, self.setting.rest)

    @property
    def learns_rewards(self) -> bool:
        """Whether rewards are not known."""
        return self.setting.rewards is None

    def planner(
        self,
        rows: WorldRows,
        counted: Floats,
        sums: Floats,
        stream: RandomStream,
        values: Floats,
        steps: Floats,
    ) -> Planner:
        """To plan with in an episode whose rewards are added to ``sums``.

        Parameters
        ----------
        rows, counted
            what is believed of all worlds, and the counts to plan with, (C, P).
        stream
            drawn from once, where rewards are not known.
        values
            (C, S), where planning begins.
        steps
            (C,), that were taken in each world.
        """
        setting, rewards, salt, layout = self.setting, self.setting.rewards, 0, rows.layout
        read = setting.n_actions * layout.first[layout.n_pairs] / layout.n_pairs  # by a backup, on average
        options = self.options._replace(backups=max(1, min(self.options.backups, int(MOST_READ / read))))
        if rewards is None:
            rewards, salt = np.ones((setting.n_states, setting.n_actions)), draw_below(2**31, stream)
        return planner(
            layout,
            counted,
            rewards,
            self._horizon,
            options,
            sums=sums if self.learns_rewards else None,
            values=values,
            rest=setting.rest,
            salt=salt,
            later=self.options.future * steps,
            kinship=rows.kinship,
        )

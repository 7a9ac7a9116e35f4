"""The practical learner: the optimism of :mod:`.optimism`, with what is remembered of a world.

The worlds of a set share their rewards, so where these are estimated, what was earned in any of them counts for all.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.identifying.knowledge import Knowledge, knowledge
from aomultirl.learning.base import Known, Learner, Learning, Share, Tally
from aomultirl.learning.beliefs import BeliefBehaviour, act_on_beliefs
from aomultirl.learning.greedy import greedy
from aomultirl.learning.optimism import Options, Planner, planner
from aomultirl.learning.shared_rows import share_rows
from aomultirl.setting import Setting

SWEEPS = 200
"""Of the value iteration that finds the plan without optimism; with a discount of 0.98 what is left is below 2 %."""


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
    novelty
        how much a state that still shows new successors is hoped to lead anywhere.
    discount
        of the values that are planned with.
    backups
        states whose values are brought up to date at each step.
    """

    pair_bytes: ClassVar[int] = 120

    level: float = 0.4
    pace: float = 10.0
    novelty: float = 0.5
    discount: float = 0.98
    backups: int = 16

    def begin(self, setting: Setting, horizon: int, share: Share | None = None) -> "PracticalLearning":
        """Begin a run; nothing is promised, so no share of a union bound is needed."""
        checks.real("level", self.level, least=0.0)
        checks.real("pace", self.pace, above=0.0)
        checks.real("novelty", self.novelty, least=0.0)
        checks.real("discount", self.discount, least=0.0, below=1.0)
        checks.integer("backups", self.backups, least=1)
        return PracticalLearning(setting, self, horizon)

    def rescaled_shared(self, shared: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        if len(shared["sums"]) == 0:
            return shared
        return {**shared, "sums": times * shared["sums"] + plus * shared["visits"]}


class PracticalLearning(Learning):
    """The practical learner in a run.

    Attributes
    ----------
    options
        its numbers, as the kernels take them.
    """

    def __init__(self, setting: Setting, learner: Practical, horizon: int) -> None:
        super().__init__(setting, learner)
        self.options, self._horizon = Options(**asdict(learner)), horizon
        self._sums = self._no_rewards()
        self._visits = np.zeros(setting.n_pairs, np.int64)

    def nothing(self) -> Known:
        """Counts alone: the rewards are known of all worlds alike."""
        return Known(CountTable(self.setting.n_pairs), np.empty(0))

    def tally(self) -> Tally:
        """Rewards are added to those of all episodes before."""
        return Tally(CountTable(self.setting.n_pairs), self._sums.copy())

    def act(self, known: Known, steps: int, stream: RandomStream) -> BeliefBehaviour:
        """Learn on in the world that is known; in a new one where nothing is known of it."""
        tally = self.tally() if known.tally is None else known.tally
        tables = [known.counts] if known.counts.record.filled.any() else []
        prior = np.append(np.full(len(tables), 1.0), 0.0 if tables else 1.0)
        plan = self.planner(tables, tally.sums)
        return act_on_beliefs(plan, prior, np.tile(plan.values, (len(tables), 1)))

    def learn(self, into: Known, ran: Ran) -> None:
        into.counts.add(ran.phase.counts)
        self.learn_rewards(ran.phase.counts, ran.phase.sums)

    def learn_rewards(self, counts: CountTable, sums: NDArray[np.float64]) -> None:
        """Take over the rewards of an episode that has ended, whichever world it was."""
        if len(sums) > 0:
            starts, _, visits = counts.to_lists()
            self._sums = sums
            self._visits += np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        return self.first_actions(known.counts)

    def first_actions(self, counts: CountTable) -> NDArray[np.int32]:
        """The plan that is best for these samples as they are, the same at every step, (S,)."""
        rewards = self.setting.rewards
        if rewards is None:
            shape = (self.setting.n_states, self.setting.n_actions)
            rewards = (self._sums / np.maximum(self._visits, 1)).reshape(shape)
        return greedy(counts, rewards, self.options.discount, SWEEPS, self.setting.rest)

    def shared(self) -> dict[str, NDArray[Any]]:
        return {"sums": self._sums, "visits": self._visits}

    def take_shared(self, shared: dict[str, NDArray[Any]]) -> None:
        self._sums, self._visits = shared["sums"], shared["visits"]

    def planner(
        self, worlds: Sequence[CountTable], sums: NDArray[np.float64], known: Knowledge | None = None
    ) -> Planner:
        """To plan with in an episode whose rewards are added to ``sums``.

        Parameters
        ----------
        worlds
            what was counted in each world in memory.
        known
            the same side by side, where it has been made already, perhaps with places for more.
        """
        setting = self.setting
        if known is None:
            known = knowledge(worlds, setting.n_pairs, setting.n_states)
        rewards = setting.rewards
        if rewards is None:
            rewards = np.ones((setting.n_states, setting.n_actions))
        lasting = np.array([counts.going_on(setting.n_states) for counts in worlds]).reshape(-1, setting.n_states)
        told = (rewards, self._horizon, self.options, sums, self._visits, lasting, setting.rest)
        return planner(known, share_rows(known), *told)

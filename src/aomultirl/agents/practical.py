"""What agents share that learn in practice: rewards known or added up, and the learner of :mod:`.optimism`.

The worlds of a set share their rewards, so what was earned in any of them counts for all.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import NOTHING, Setting
from aomultirl.agents.state import Saved
from aomultirl.engine.counts import CountTable, merged
from aomultirl.identifying.knowledge import Knowledge, knowledge
from aomultirl.learning.beliefs import BeliefBehaviour, act_on_beliefs
from aomultirl.learning.greedy import greedy
from aomultirl.learning.optimism import Options, Planner, planner
from aomultirl.learning.shared_rows import share_rows

SWEEPS = 200


def check_options(options: Options | None) -> None:
    """Refuse numbers with which nothing can be learned."""
    if options is None:
        return
    if not isinstance(options, Options):
        raise checks.Refusal("learner", f"is {checks.shown(options)}, not Options such as Options(level=0.4)")
    checks.real("learner.level", options.level, least=0.0)
    checks.real("learner.pace", options.pace, above=0.0)
    checks.real("learner.novelty", options.novelty, least=0.0)
    checks.real("learner.discount", options.discount, least=0.0, below=1.0)
    checks.integer("learner.backups", options.backups, least=1)


class Practical:
    """The learner of a run.

    Parameters
    ----------
    rewards
        (S, A), or None where they must be estimated.
    horizon
        H.
    options
        the learner's numbers; None for the default ones.
    """

    def __init__(
        self, rewards: NDArray[np.float64] | None, setting: Setting, horizon: int, options: Options | None
    ) -> None:
        check_options(options)
        self._n_states, self._n_actions = setting.n_states, setting.n_actions
        self._horizon, self.options = horizon, options or Options()
        self._known, pairs = rewards, setting.n_states * setting.n_actions
        self._sums = NOTHING if rewards is not None else np.zeros(pairs)
        self._visits = np.zeros(pairs, np.int64)

    def sums(self) -> NDArray[np.float64]:
        """Where an episode adds up its rewards: what was earned before, or empty where they are known."""
        return self._sums.copy()

    def remember(self, counts: CountTable, sums: NDArray[np.float64]) -> None:
        """The rewards of an episode that has ended."""
        if len(sums) > 0:
            starts, _, visits = counts.to_lists()
            self._sums = sums
            self._visits += np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What :meth:`remember` was told."""
        return {"sums": self._sums, "visits": self._visits}

    def restore(self, saved: Saved) -> None:
        """Take over what :meth:`state` gave."""
        self._sums = saved.array("sums", self._sums.shape, least=0.0)
        self._visits = saved.array("visits", self._visits.shape, np.int64, least=0)

    def knowledge(self, tables: Sequence[CountTable]) -> Knowledge:
        """What is known of worlds."""
        return knowledge(tables, self._n_states * self._n_actions, self._n_states)

    def planner(self, known: Knowledge, sums: NDArray[np.float64]) -> Planner:
        """To plan with in an episode."""
        rewards = np.ones((self._n_states, self._n_actions)) if self._known is None else self._known
        return planner(known, share_rows(known), rewards, self._horizon, self.options, sums, self._visits)

    def behaviour(self, tables: Sequence[CountTable], sums: NDArray[np.float64]) -> BeliefBehaviour:
        """Learn in the world that these counts are of; in a new one where there are none."""
        prior = np.append(np.full(len(tables), 1.0 / max(1, len(tables))), 0.0 if tables else 1.0)
        plan = self.planner(self.knowledge(tables), sums)
        return act_on_beliefs(plan, prior, np.tile(plan.values, (len(tables), 1)))

    def first_actions(self, *tables: CountTable) -> NDArray[np.int32]:
        """The plan that is best for these samples as they are, the same at every step, (S,)."""
        rewards = self._known
        if rewards is None:
            rewards = (self._sums / np.maximum(self._visits, 1)).reshape(self._n_states, self._n_actions)
        lists = merged(tables).to_lists()
        return np.asarray(greedy(*lists, np.ascontiguousarray(rewards), self.options.discount, SWEEPS))

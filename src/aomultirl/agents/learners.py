"""The practical learner alone, without any clusters: the ends between which agents that recognise worlds lie."""

from typing import Any, ClassVar

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Report, Setting, known_rewards
from aomultirl.agents.baselines import told_task
from aomultirl.agents.practical import Practical
from aomultirl.agents.state import Saved
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.optimism import Options


class OneEpisodeLearner(Agent):
    """Learns every episode afresh, with the practical learner.

    Parameters
    ----------
    horizon
        H.
    rewards
        "known", or "unknown": estimated, from all episodes.
    learner
        its numbers in place of the default ones, see :mod:`aomultirl.learning.optimism`.
    """

    pair_bytes = 120

    def __init__(self, horizon: int, *, rewards: str = "known", learner: Options | None = None) -> None:
        self.horizon, self.rewards, self.learner = horizon, rewards, learner

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)
        self._learner = Practical(known_rewards(self.rewards, setting), setting, self.horizon, self.learner)
        self._memory: dict[int, CountTable] = {}

    def _known(self, task: int | None) -> CountTable | None:
        """What was learned in this world before."""
        return None

    def _remember(self, task: int | None, counts: CountTable) -> None:
        """Keep what was learned."""

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        known, learner = self._known(task), self._learner
        tables = [] if known is None else [known]
        counts, sums = CountTable(self.setting.n_states * self.setting.n_actions), learner.sums()
        yield Phase(learner.behaviour(tables, sums), self.horizon, counts, sums)
        learner.remember(counts, sums)
        plan = learner.first_actions(*tables, counts)
        self._remember(task, counts)
        return Report(evaluation=plan, evaluation_horizon=self.horizon, samples=(*tables, counts))

    def state(self) -> dict[str, Any]:
        known = [{"task": task, "counts": counts} for task, counts in self._memory.items()]
        return {"learner": self._learner.state(), "known": known}

    def restore(self, saved: Saved) -> None:
        self._learner.restore(saved.part("learner"))
        self._memory = {one.integer("task"): one.counts("counts") for one in saved.each("known")}


class OracleLearner(OneEpisodeLearner):
    """Is told which world each episode is, and learns each with the practical learner.  Parameters as above."""

    told: ClassVar[frozenset[str]] = frozenset({"task"})

    def _known(self, task: int | None) -> CountTable | None:
        return self._memory.get(told_task(task))

    def _remember(self, task: int | None, counts: CountTable) -> None:
        mine = told_task(task)
        if mine not in self._memory:
            self._memory[mine] = CountTable(len(counts.record.heads))
        self._memory[mine].add(counts)

"""R-Max in tasks of one episode each: what the agents have in common that bring bounds from one task to the next."""

from aomultirl import checks
from aomultirl.agents.base import Agent, Report, learner_setting, read_failure
from aomultirl.engine.random import RandomStream
from aomultirl.learning import Known, Share
from aomultirl.learning.rmax import RMax, RMaxRun
from aomultirl.setting import Setting


class TaskByTask(Agent):
    """Base of agents that learn every task afresh, within bounds from the tasks before."""

    learning: RMaxRun

    def __init__(self, horizon: int, failure: float, rewards: str, learner: RMax) -> None:
        self.horizon, self.failure, self.rewards, self.learner = horizon, failure, rewards, learner
        self.pair_bytes = getattr(learner, "pair_bytes", self.pair_bytes)

    def begin(self, setting: Setting) -> None:
        if not isinstance(self.learner, RMax):
            raise checks.Refusal("learner", f"is {checks.shown(self.learner)}, not ao.learning.RMax(...)")
        super().begin(setting)
        horizon = checks.integer("horizon", self.horizon, least=1)
        # Every episode has estimates of its own, as if it were a world of its own.
        share = Share(read_failure(self.failure), 1, setting.episodes, horizon)
        self.learning = self.learner.begin(learner_setting(self.rewards, setting), horizon, share)

    def _report(self, known: Known, stream: RandomStream) -> Report:
        """What is said of an episode that has shown all that is known of its task."""
        best = self.learning.best(known, self.horizon, stream) if self.evaluates else None
        return Report(evaluation=best, evaluation_horizon=self.horizon, samples=(known.counts,))

"""AOMultiRL without a bound on the hitting time: GOSPRL explores, and its horizon doubles when it fails (Appendix G).

H0 = ceil(c S^2 A / lambda^2).  An episode in which not every pair got its N samples within H0 steps is not identified:
it is learned alone, from its own samples, the clusters stay as they are, and c doubles.  The paper starts at c = 1,
which cannot succeed before c = 256 (E30); here H0 starts at ``|Gamma| N``, the least that any explorer needs, which is
``c = 256 max{1, l / S}`` for all pairs.  The paper leaves the failing branch and the analysis open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from aomultirl import checks
from aomultirl.agents.aomultirl import AOMultiRL
from aomultirl.agents.base import Episode, Report, run_phase
from aomultirl.agents.clusters import ClusterMemory
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.exploring import GOSPRL, Explorer
from aomultirl.model_set import ModelSet
from aomultirl.records import Within
from aomultirl.setting import Setting


@dataclass
class DoublingMemory(ClusterMemory):
    """What the doubling agent remembers.

    failures
        how many episodes were not identified so far.
    doublings
        how often H0 was doubled.
    """

    failures: Annotated[int, Within(0, "episodes")] = 0
    doublings: Annotated[int, Within(0, "episodes")] = 0


class DoublingAOMultiRL(AOMultiRL):
    """AOMultiRL that needs no hitting time.

    Parameters
    ----------
    models, separation, failure, distinguishing_set, level, horizon, **keywords
        as in :class:`AOMultiRL`; the horizon H is needed, because H0 changes.
    explorer
        one that needs no hitting time.
    """

    keeps: ClassVar[type] = DoublingMemory
    kept: DoublingMemory

    @forwarding(
        AOMultiRL,
        without=("hitting_time", "constants", "learning_horizon", "clustering_horizon", "stop_early", "ties"),
    )
    def __init__(
        self,
        models: int | ModelSet,
        separation: float,
        failure: float,
        distinguishing_set: Iterable[tuple[int, int]] | None = None,
        level: float | None = None,
        horizon: int | None = None,
        *,
        explorer: Explorer = GOSPRL(),
        **keywords: Any,
    ) -> None:
        super().__init__(
            models,
            separation,
            None,
            failure,
            distinguishing_set,
            level,
            "paper",
            horizon,
            explorer=explorer,
            **keywords,
        )

    def begin(self, setting: Setting) -> None:
        if self.horizon is None:
            raise checks.Refusal("horizon", "is needed: the clustering phase changes its length within it")
        self._doublings = 0
        super().begin(setting)

    @property
    def failures(self) -> int:
        """How many episodes were not identified so far."""
        return self.kept.failures

    def _clustering_horizon(self, pairs: int, samples: int, failure: float) -> int:
        return (pairs * samples) << self._doublings

    def _double(self) -> None:
        """c = 2 c, unless the clustering phase would fill the episode."""
        assert self.horizon is not None
        if 2 * self.stage.clustering_horizon < self.horizon:
            self._doublings += 1
            level = self.stage.threshold + self.separation / 4.0
            self.stage = self._make_stage(self.stage.targets, level, self.failure, self._learning_horizon)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        stage, learning = self.stage, self.stage.learning
        explored = learning.tally()
        explore = self.explorer.behaviour(stage.targets, stage.samples, stage.failure / 3.0)
        outcome = yield Phase(explore, stage.clustering_horizon, explored.counts, explored.sums, "clustering")
        if outcome.finished:
            rest = stage.clustering_horizon - outcome.steps
            acting = act_uniformly(self.setting.n_states, self.setting.n_actions)
            more = yield Phase(acting, rest, explored.counts, explored.sums, "clustering")
            return (yield from self._identified(explored, stage.clustering_horizon, more.state, stream))
        known = learning.nothing()
        known.add(explored)
        learned = learning.tally()
        behaviour = learning.act(known.during(learned), stage.learning_horizon, stream)
        phase = Phase(behaviour, stage.learning_horizon, learned.counts, learned.sums)
        ran = yield from run_phase(phase, outcome.state)
        learning.learn(known, ran)
        self.kept.failures, self.kept.shared = self.kept.failures + 1, learning.shared()
        self._double()
        self.kept.doublings = self._doublings
        best = learning.best(known, stage.learning_horizon, stream)
        return Report(
            exploration_ok=False,
            evaluation=best,
            evaluation_horizon=stage.learning_horizon,
            samples=(known.counts,),
            abstained=True,
        )

    def restore(self, kept: Any) -> None:
        if kept.doublings > kept.failures:
            raise ValueError(f"memory.doublings is {kept.doublings}, more than the {kept.failures} failures")
        for _ in range(kept.doublings):
            before = self._doublings
            self._double()
            if self._doublings == before:
                raise ValueError("memory.doublings is more than fits into an episode")
        super().restore(kept)

    def findings(self) -> dict[str, Any]:
        return {**super().findings(), "failures": self.failures}

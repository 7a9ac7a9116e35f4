"""AOMultiRL without a bound on the hitting time: GOSPRL explores, and its horizon doubles when it fails (Appendix G).

H0 = ceil(c S^2 A / lambda^2).  An episode in which not every pair got its N samples within H0 steps is not identified:
it is learned alone, from its own samples, the clusters stay as they are, and c doubles.  The paper starts at c = 1,
which cannot succeed before c = 256 (E30); here H0 starts at ``|Gamma| N``, the least that any explorer needs, which is
``c = 256 max{1, l / S}`` for all pairs.  The paper leaves the failing branch and the analysis open.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from aomultirl import checks
from aomultirl.agents.aomultirl import AOMultiRL
from aomultirl.agents.base import Episode, Report, Setting
from aomultirl.agents.state import Saved
from aomultirl.engine.behaviours import follow, uniform
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.exploring.gosprl import gosprl
from aomultirl.mdp import ModelSet
from aomultirl.theory import RegretBound


class DoublingAOMultiRL(AOMultiRL):
    """AOMultiRL that needs no hitting time.

    Parameters
    ----------
    models, separation, failure, distinguishing_set, level, horizon, **options
        as in :class:`AOMultiRL`; the horizon H is needed, because H0 changes.

    Attributes
    ----------
    failures
        how many episodes were not identified so far.
    """

    def __init__(
        self,
        models: int | ModelSet,
        separation: float,
        failure: float,
        distinguishing_set: Iterable[tuple[int, int]] | None = None,
        level: float | None = None,
        horizon: int | None = None,
        *,
        samples: int | None = None,
        bonus: str = "paper",
        bonus_scale: float = 1.0,
        cap: str = "horizon",
        reuse_samples: bool = False,
        rewards: str = "known",
    ) -> None:
        options: dict[str, Any] = {
            "samples": samples,
            "bonus": bonus,
            "bonus_scale": bonus_scale,
            "cap": cap,
            "reuse_samples": reuse_samples,
            "rewards": rewards,
        }
        super().__init__(models, separation, None, failure, distinguishing_set, level, "paper", horizon, **options)

    def begin(self, setting: Setting) -> None:
        if self.horizon is None:
            raise checks.Refusal("horizon", "is needed: the clustering phase changes its length within it")
        self.failures, self._doublings = 0, 0
        super().begin(setting)

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
        stage, n_pairs = self.stage, self.setting.n_states * self.setting.n_actions
        explored, found = CountTable(n_pairs), stage.learner.sums()
        explore = gosprl(stage.targets, stage.samples, self.failure / 3.0)
        outcome = yield Phase(explore, stage.clustering_horizon, explored, found, "clustering")
        if outcome.finished:
            rest = stage.clustering_horizon - outcome.steps
            yield Phase(uniform(self.setting.n_states, self.setting.n_actions), rest, explored, found, "clustering")
            return (yield from self._identified(explored, found, stage.clustering_horizon, stream))
        sums = found if len(found) else np.zeros(n_pairs)
        plan = stage.learner.act((explored,), sums, stage.learning_horizon, stream)
        learned, earned = CountTable(n_pairs), stage.learner.sums()
        yield Phase(follow(plan), stage.learning_horizon, learned, earned)
        self.failures += 1
        self._double()
        sums = sums + earned if len(earned) else sums
        best = stage.learner.best((explored, learned), sums, stage.learning_horizon, stream)
        return Report(-1, False, False, best, stage.learning_horizon, (explored, learned), abstained=True)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "failures": self.failures, "doublings": self._doublings}

    def restore(self, saved: Saved) -> None:
        super().restore(saved)
        self.failures = saved.integer("failures", most=self.setting.episodes)
        for _ in range(saved.integer("doublings", most=self.failures)):
            before = self._doublings
            self._double()
            if self._doublings == before:
                raise ValueError(f"{saved.place}.doublings is more than fits into an episode")

    def findings(self) -> dict[str, Any]:
        return {**super().findings(), "failures": self.failures}

    def regret_bound(self, episodes: int) -> RegretBound | None:
        return None

"""Two-stage AOMultiRL, Algorithm 4 of the paper: discover a distinguishing set, then use it.

Stage 1 is Algorithm 1 with all pairs and alpha = lambda, until there are M clusters.  Then, for every two clusters, the
first pair of a fixed scan whose estimates differ by more than 3 lambda / 4 is taken.  Stage 2 goes on with these pairs
and alpha = lambda / 2.  The clusters are carried over: the printed "run Algorithm 1" would forget them, the authors'
code keeps them.  Each stage may fail with p / 2 (E21; the released constants spend p in both).  Which pairs are found
depends on the scan (E25): "ascending" in states, or "descending", which gives the set that the paper reports.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, theory
from aomultirl.agents.aomultirl import AOMultiRL, Stage
from aomultirl.agents.base import Episode
from aomultirl.agents.clusters import ClusterMemory
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.random import RandomStream
from aomultirl.identifying.threshold import distance
from aomultirl.model_set import ModelSet
from aomultirl.setting import Setting
from aomultirl.theory import RegretBound

APART = 0.75
"""Share of lambda: a pair at which the estimates of two clusters are further apart distinguishes them by lambda / 2."""


@dataclass
class TwoStageMemory(ClusterMemory):
    """What the two-stage agent remembers.

    discovered
        the pairs (state, action) found at the end of stage 1; None before.
    """

    discovered: list[tuple[int, int]] | None = None


class TwoStageAOMultiRL(AOMultiRL):
    """AOMultiRL that is given no distinguishing set.

    Parameters
    ----------
    models, separation, hitting_time, failure, constants, horizon, learning_horizon, **keywords
        as in :class:`AOMultiRL`; ``clustering_horizon`` is H0 of stage 2.
    scan
        "ascending" or "descending" order of states in which pairs are looked for.
    first_clustering_horizon, first_learning_horizon
        H0 and H1 in stage 1; by default by the same rules as in stage 2 (the paper's experiment takes H1 = 0).
    """

    keeps: ClassVar[type] = TwoStageMemory
    kept: TwoStageMemory

    @forwarding(AOMultiRL, without=("distinguishing_set", "level"))
    def __init__(
        self,
        models: int | ModelSet,
        separation: float,
        hitting_time: float | None,
        failure: float,
        constants: str = "paper",
        horizon: int | None = None,
        learning_horizon: int | None = None,
        *,
        scan: str = "ascending",
        first_clustering_horizon: int | None = None,
        first_learning_horizon: int | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(
            models, separation, hitting_time, failure, None, None, constants, horizon, learning_horizon, **keywords
        )
        self.scan = scan
        self.first_clustering_horizon, self.first_learning_horizon = first_clustering_horizon, first_learning_horizon

    def begin(self, setting: Setting) -> None:
        self._in_second_stage = False
        checks.choice("scan", self.scan, ("ascending", "descending"))
        super().begin(setting)

    @property
    def discovered(self) -> list[tuple[int, int]] | None:
        """The pairs found at the end of stage 1; None before."""
        return self.kept.discovered

    def _first_stage(self) -> Stage:
        """Stage 1, once it is clear that stage 2 will fit into the episode too."""
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        self._share = self.failure if self.constants == "released" else self.failure / 2.0
        most = max(1, min(n_states * n_actions, self.n_models * (self.n_models - 1) // 2))
        some = np.zeros(n_states * n_actions, bool)
        some[:most] = True
        self._in_second_stage = True  # as if it had come
        later = self._second_stage(some.reshape(n_states, n_actions))
        self._in_second_stage = False
        self._later_horizon = later.learning_horizon
        every = np.ones((n_states, n_actions), bool)
        return self._make_stage(every, self.separation, self._share, self._first_learning_horizon)

    def _second_stage(self, targets: NDArray[np.bool_]) -> Stage:
        return self._make_stage(targets, self.separation / 2.0, self._share, self._learning_horizon)

    def _clustering_horizon(self, pairs: int, samples: int, failure: float) -> int:
        if not self._in_second_stage and self.first_clustering_horizon is not None:
            return checks.integer("first_clustering_horizon", self.first_clustering_horizon, least=1)
        return super()._clustering_horizon(pairs, samples, failure)

    def _first_learning_horizon(self, clustering_horizon: int) -> int:
        if self.first_learning_horizon is None:
            return self._learning_horizon(clustering_horizon)
        return checks.integer("first_learning_horizon", self.first_learning_horizon, least=0)

    def _longest(self, learning_horizon: int) -> int:
        """In stage 1, whose plans are judged over H1 of stage 2, the longer of both."""
        longest = super()._longest(learning_horizon)
        return longest if self._in_second_stage else max(longest, self._later_horizon)

    def _evaluation_horizon(self) -> int:
        """H1 of stage 2, in stage 1 too: as long as it would be with the largest set that can be discovered."""
        return self._later_horizon

    def findings(self) -> dict[str, Any]:
        return {**super().findings(), "discovered": self.discovered}

    def _theorem(self, episodes: int) -> RegretBound | None:
        """Theorem 20, with H for stage 1 and a learning phase."""
        if episodes > self.setting.episodes:
            return None
        states, actions = self.setting.n_states, self.setting.n_actions
        known = (self.separation, self._hitting_time(), episodes, self.failure / 2.0, self.constants)
        return theory.two_stage_bound(
            states=states,
            actions=actions,
            models=self.n_models,
            episodes=episodes,
            horizon=theory.clustering_horizon(states, states * actions, *known) + max(1, self._later_horizon),
            separation=self.separation,
            hitting_time=known[1],
            failure=self.failure,
            constants=self.constants,
        )

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        report = yield from super().episode(start, stream, task)
        if self.discovered is None and len(self.clusters) >= self.n_models:
            self._discover()
        return report

    def _discover(self) -> None:
        """Find the pairs and go on to stage 2; while two clusters show no difference, stage 1 goes on."""
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        states = range(n_states) if self.scan == "ascending" else range(n_states - 1, -1, -1)
        order = [(s, a) for s in states for a in range(n_actions)]
        found: list[tuple[int, int]] = []
        for cluster, other in combinations(self.clusters, 2):
            models = cluster.model.record, other.model.record
            far = APART * self.separation
            first = next((p for p in order if distance(*models, p[0] * n_actions + p[1]) > far), None)
            if first is None:
                return
            found.append(first)
        if found:
            self._go_on(list(dict.fromkeys(found)))

    def _go_on(self, discovered: list[tuple[int, int]]) -> None:
        """To stage 2, with these pairs."""
        targets = checks.pairs("discovered", discovered, self.setting.n_states, self.setting.n_actions)
        checks.integer("the number of pairs discovered", int(targets.sum()), least=1)
        self.kept.discovered = discovered
        self._in_second_stage = True
        self.stage = self._second_stage(targets)
        self._later_horizon = self.stage.learning_horizon

    def restore(self, kept: Any) -> None:
        if kept.discovered is not None:
            self._go_on(kept.discovered)
        super().restore(kept)

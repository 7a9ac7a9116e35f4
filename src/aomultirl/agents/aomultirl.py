"""AOMultiRL, Algorithm 1 of the paper: explore for H0 steps, identify the cluster, learn for the rest.

What is fixed for a run, or for one stage of it, is a :class:`Stage`: the pairs to visit, how often, for how many steps,
the threshold, and the learner.  Errata: H0 uses the bound on the hitting time (E7); L has the full horizon H (E8), or
H1 with the released constants; the learning phase's tables are indexed from its own first step.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, theory
from aomultirl.agents.base import (
    Agent,
    Episode,
    Evidence,
    Memory,
    Remembered,
    Report,
    check_known,
    check_plan,
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
)
from aomultirl.agents.cluster_parameters import as_pairs, check_models, configured_parts, read_pairs
from aomultirl.agents.clusters import Cluster, ClusterMemory
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.exploring import Exploration, ExploreID, Explorer
from aomultirl.identifying.threshold import distance, identify_cluster
from aomultirl.learning import UCBVI, Known, Learner, Learning, Share, Tally
from aomultirl.model_set import ModelSet
from aomultirl.setting import Setting
from aomultirl.theory import RegretBound


@dataclass(frozen=True)
class Stage:
    """The numbers that are fixed for a run, or for one stage of it.

    targets
        Gamma, (S, A).
    samples
        N.
    clustering_horizon, learning_horizon
        H0 and H1.
    threshold
        delta.
    failure
        p of the stage, of which exploring has a third.
    learning
        the learner, with the share of the union bound that it has in this stage.
    """

    targets: NDArray[np.bool_]
    samples: int
    clustering_horizon: int
    learning_horizon: int
    threshold: float
    failure: float
    learning: Learning

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Gamma as numbers s * A + a."""
        return np.flatnonzero(self.targets)


class AOMultiRL(Agent):
    """The paper's algorithm.

    Parameters
    ----------
    models
        M, or the worlds themselves, of which only their number is used and against which the rest is checked.
    separation
        lambda: two worlds differ by at least this l1 distance in the row of some pair.
    hitting_time
        D, a bound on the hitting times; None takes the exact one of ``models`` if these are given.
    failure
        p, how probable it may be that what is promised does not hold.
    distinguishing_set
        Gamma, pairs (state, action); all pairs by default.
    level
        alpha, at least lambda / 2; lambda by default.
    constants
        "paper" or "released", see :mod:`aomultirl.theory.constants`.
    horizon, learning_horizon
        H or H1: one of them.
    samples, clustering_horizon
        N and H0 in place of those of ``constants``.
    stop_early
        end the clustering phase once every pair has its N samples, which changes the process; with ``horizon`` given
        the learning phase gets the steps that are saved.
    explorer
        how the clustering phase gathers its samples, such as ``ao.exploring.GOSPRL()``.  Where it says no number of
        steps, ``clustering_horizon`` is needed.
    learner
        how the learning phase acts, such as ``ao.learning.UCBVI(bonus="released")``.
    reuse_samples
        learn from the samples of both phases, with the bonus for external samples:
        ``L_N = ln(5 S A K (H + N) M / p_1)`` and n counts both (Appendix H).
    rewards
        "known", or "unknown": estimated, with a bonus that keeps optimism.
    **keywords
        fields of the learner and of the explorer, such as ``bonus`` and ``ties``.

    Attributes
    ----------
    stage
        the numbers in force.
    """

    recognition = "samples"
    keeps: ClassVar[type] = ClusterMemory
    kept: ClusterMemory

    @forwarding(ExploreID, UCBVI, unset=True)
    def __init__(
        self,
        models: int | ModelSet,
        separation: float,
        hitting_time: float | None,
        failure: float,
        distinguishing_set: Iterable[tuple[int, int]] | None = None,
        level: float | None = None,
        constants: str = "paper",
        horizon: int | None = None,
        learning_horizon: int | None = None,
        *,
        samples: int | None = None,
        clustering_horizon: int | None = None,
        stop_early: bool = False,
        explorer: Explorer = ExploreID(),
        learner: Learner = UCBVI(),
        reuse_samples: bool = False,
        rewards: str = "known",
        **keywords: Any,
    ) -> None:
        self.models, self.separation, self.hitting_time, self.failure = models, separation, hitting_time, failure
        self.distinguishing_set = None if distinguishing_set is None else as_pairs(distinguishing_set)
        self.level, self.constants = level, constants
        self.horizon, self.learning_horizon = horizon, learning_horizon
        self.samples, self.clustering_horizon = samples, clustering_horizon
        self.stop_early, self.reuse_samples, self.rewards = stop_early, reuse_samples, rewards
        self.explorer, self.learner = configured_parts(explorer, learner, keywords)
        self.pair_bytes = self.learner.pair_bytes

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        for name in ("stop_early", "reuse_samples"):
            checks.truth(name, getattr(self, name))
        checks.real("separation", self.separation, above=0.0, most=2.0)
        read_failure(self.failure)
        self.kept = self.keeps()
        check_models(self.models, self.separation, setting)
        self.stage = self._first_stage()
        self.kept.shared = self.stage.learning.shared()

    @property
    def clusters(self) -> list[Cluster]:
        """What was learned, in order of first appearance."""
        return self.kept.clusters

    def _first_stage(self) -> Stage:
        targets = read_pairs(self.distinguishing_set, self.setting)
        level = self.separation if self.level is None else self.level
        return self._make_stage(targets, level, self.failure, self._learning_horizon)

    @property
    def n_models(self) -> int:
        """M."""
        return len(self.models) if isinstance(self.models, ModelSet) else self.models

    def _hitting_time(self) -> float:
        if self.hitting_time is not None:
            return checks.real("hitting_time", self.hitting_time, above=0.0)
        if not isinstance(self.models, ModelSet):
            raise checks.Refusal("hitting_time", "is needed: the models are not given, so it cannot be computed")
        exact = max(world.hitting_time() for world in self.models)
        if math.isinf(exact):
            words = "must be chosen, or a planning explorer: the models have an infinite hitting time"
            raise checks.Refusal("hitting_time", words)
        return exact

    def _learning_horizon(self, clustering_horizon: int) -> int:
        """H1 for an H0; refuses where nothing is left to learn in."""
        if (self.horizon is None) == (self.learning_horizon is None):
            raise ValueError("give either horizon (H) or learning_horizon (H1)")
        if self.learning_horizon is not None:
            return checks.integer("learning_horizon", self.learning_horizon, least=1)
        horizon = checks.integer("horizon", self.horizon, least=1)
        if clustering_horizon >= horizon:
            raise ValueError(
                f"the clustering phase takes H0 = {clustering_horizon:,} steps, but horizon is {horizon:,}"
            )
        return horizon - clustering_horizon

    def _make_stage(
        self, targets: NDArray[np.bool_], level: float, failure: float, learning_horizon: Callable[[int], int]
    ) -> Stage:
        """The numbers for a distinguishing set; ``learning_horizon`` maps H0 to H1."""
        setting, pairs = self.setting, int(targets.sum())
        threshold = theory.threshold(level, self.separation)
        sizes = (setting.n_states, pairs, self.separation)
        samples = self.samples
        if samples is None:
            samples = theory.samples_needed(*sizes, setting.episodes, failure, self.constants)
        samples = checks.integer("samples", samples, least=1)
        self.explorer.behaviour(targets, samples, failure / 3.0)  # which refuses what it cannot do
        first = self._clustering_horizon(pairs, samples, failure)
        rest = learning_horizon(first)
        if first > checks.LARGEST:
            raise ValueError(f"the clustering phase takes H0 = {float(first):.3g} steps, more than can be counted")
        if self.learner.plans_by_step:
            check_plan("learning_horizon" if self.horizon is None else "horizon", rest, setting)
        share = Share(failure, setting.episodes, self.n_models, self._counted_steps(first, rest, samples))
        learning = self.learner.begin(learner_setting(self.rewards, setting), self._longest(rest), share)
        learning.take_shared(self.kept.shared or learning.shared())
        for cluster in self.clusters:
            cluster.regret = learning.carried(cluster.regret)
        return Stage(targets, samples, first, rest, threshold, failure, learning)

    def _longest(self, learning_horizon: int) -> int:
        """The most steps that a learner will be asked to act for, or to plan for, in a stage with this H1."""
        return learning_horizon if self.horizon is None or not self.stop_early else self.horizon

    def _clustering_horizon(self, pairs: int, samples: int, failure: float) -> int:
        """H0 for so many pairs, each to be seen ``samples`` times."""
        if self.clustering_horizon is not None:
            return checks.integer("clustering_horizon", self.clustering_horizon, least=1)
        steps = self.explorer.steps(
            Exploration(
                n_states=self.setting.n_states,
                pairs=pairs,
                needed=samples,
                episodes=self.setting.episodes,
                separation=self.separation,
                hitting_time=self._hitting_time() if self.explorer.needs_hitting_time else self.hitting_time,
                failure=failure,
                constants=self.constants,
            )
        )
        if steps is None:
            name = type(self.explorer).__name__
            raise checks.Refusal("clustering_horizon", f"is needed: no theory says how many steps {name} takes")
        return steps

    def _counted_steps(self, first: int, rest: int, samples: int) -> int:
        """The steps in L."""
        steps = max(rest, 1) if self.constants == "released" else first + rest
        return steps + samples if self.reuse_samples else steps

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        stage, n_states, n_actions = self.stage, self.setting.n_states, self.setting.n_actions
        explored = stage.learning.tally()
        explore = self.explorer.behaviour(stage.targets, stage.samples, stage.failure / 3.0)
        outcome = yield Phase(explore, stage.clustering_horizon, explored.counts, explored.sums, "clustering")
        spent, here = outcome.steps, outcome.state
        if outcome.finished and not self.stop_early:
            rest = stage.clustering_horizon - spent
            more = yield Phase(act_uniformly(n_states, n_actions), rest, explored.counts, explored.sums, "clustering")
            spent, here = spent + more.steps, more.state
        report = yield from self._identified(explored, spent, here, stream)
        return replace(report, exploration_ok=outcome.finished)

    @property
    def episode_steps(self) -> int:
        """H, or what both phases take together."""
        both = self.stage.clustering_horizon + self.stage.learning_horizon
        return both if self.horizon is None else self.horizon

    def _identified(self, explored: Tally, spent: int, here: int, stream: RandomStream) -> Episode:
        """Identify the cluster, learn for the rest of the episode, and remember."""
        stage, learning = self.stage, self.stage.learning
        models = [cluster.model for cluster in self.clusters]
        number = identify_cluster(explored.counts, models, stage.pairs, stage.threshold)
        new = number < 0
        cluster = Cluster.empty(learning) if new else self.clusters[number]
        horizon = stage.learning_horizon
        if self.stop_early and self.horizon is not None:
            horizon = self.horizon - spent
        learned = learning.tally()
        behaviour = learning.act(self._learned(cluster, explored).during(learned), horizon, stream)
        ran = yield from run_phase(Phase(behaviour, horizon, learned.counts, learned.sums), here)

        if new:
            number = len(self.clusters)
            self.clusters.append(cluster)
        cluster.add_model(explored)
        learning.learn(cluster.regret, ran)
        self.kept.shared = learning.shared()
        last = self._evaluation_horizon()
        if stage.learning_horizon == 0:  # nothing was learned, so there is no policy to judge
            return Report(number, new)
        known = self._learned(cluster)
        return Report(number, new, True, learning.best(known, last, stream), last, (known.counts,))

    def _learned(self, cluster: Cluster, fresh: Tally | None = None) -> Known:
        """What is learned from: the learning phases, or both phases."""
        return cluster.together(self.stage.learning, fresh) if self.reuse_samples else cluster.regret

    def _evaluation_horizon(self) -> int:
        return self.stage.learning_horizon

    def restore(self, kept: Any) -> None:
        for number, cluster in enumerate(kept.clusters):
            nothing = self.stage.learning.nothing()
            check_known(cluster.regret, nothing, f"memory.clusters[{number}].regret")
            check_known(replace(nothing, sums=cluster.model_sums), nothing, f"memory.clusters[{number}]")
        check_shared(kept.shared, self.stage.learning)
        super().restore(kept)
        self.stage.learning.take_shared(kept.shared)

    def memory(self, stream: RandomStream) -> Memory:
        horizon = self._evaluation_horizon()
        return Memory(
            [Remembered(cluster.model, self._first_actions(cluster, horizon, stream)) for cluster in self.clusters],
            self.stage.pairs,
            self.stage.threshold,
        )

    def _first_actions(self, cluster: Cluster, horizon: int, stream: RandomStream) -> NDArray[np.int32]:
        plan = self.stage.learning.best(self._learned(cluster), horizon, stream)
        return np.asarray(plan.reshape(-1, self.setting.n_states)[0])

    def evidence(self, explored: CountTable) -> list[Evidence]:
        limit, found = self.stage.threshold, []
        for number, cluster in enumerate(self.clusters):
            value = max(distance(explored.record, cluster.model.record, pair) for pair in self.stage.pairs)
            found.append(Evidence(number, value, limit, value > limit, "largest l1 distance on Gamma"))
        return found

    def findings(self) -> dict[str, Any]:
        stage = self.stage
        return {
            "pairs": [divmod(int(pair), self.setting.n_actions) for pair in stage.pairs],
            "samples": stage.samples,
            "clustering_horizon": stage.clustering_horizon,
            "learning_horizon": stage.learning_horizon,
            "threshold": stage.threshold,
        }

    def _theorem(self, episodes: int) -> RegretBound | None:
        """Theorem 16, or 37 where the samples of both phases are learned from; N and H0 are for the run's episodes."""
        if episodes > self.setting.episodes:
            return None
        sizes: dict[str, Any] = {
            "states": self.setting.n_states,
            "actions": self.setting.n_actions,
            "models": self.n_models,
            "episodes": episodes,
            "clustering_horizon": self.stage.clustering_horizon,
            "learning_horizon": self.stage.learning_horizon,
            "failure": self.failure,
        }
        if self.reuse_samples:
            return theory.first_stage_bound(**sizes, samples=self.stage.samples)
        return theory.regret_bound(**sizes)

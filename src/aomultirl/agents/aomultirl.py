"""AOMultiRL, Algorithm 1 of the paper: explore for H0 steps, identify the cluster, learn for the rest.

What is fixed for a run, or for one stage of it, is a :class:`Stage`: the pairs to visit, how often, for how many steps,
the threshold, and the learner.  Errata: H0 uses the bound on the hitting time (E7); L has the full horizon H (E8), or
H1 with the released constants; the learning phase's tables are indexed from its own first step.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, theory
from aomultirl.agents.base import (
    NOTHING,
    Agent,
    Episode,
    Evidence,
    Memory,
    Remembered,
    Report,
    Setting,
    check_plan,
    known_rewards,
    read_failure,
)
from aomultirl.agents.baselines import make_ucbvi
from aomultirl.agents.learner import Learner
from aomultirl.agents.state import Saved
from aomultirl.engine.behaviours import follow, uniform
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.exploring.explore_id import TIES, explore_id
from aomultirl.identifying.clusters import Cluster
from aomultirl.identifying.threshold import distance, identify_cluster
from aomultirl.mdp import ModelSet
from aomultirl.theory import RegretBound


@dataclass(frozen=True)
class Stage:
    """targets: Gamma, (S, A); samples: N; clustering_horizon, learning_horizon: H0 and H1; threshold: delta."""

    targets: NDArray[np.bool_]
    samples: int
    clustering_horizon: int
    learning_horizon: int
    threshold: float
    learner: Learner

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
        lambda.
    hitting_time
        D, a bound on the hitting times; None takes the exact one of ``models`` if these are given.
    failure
        p.
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
    ties
        "random" or "released", see :mod:`aomultirl.exploring.explore_id`.
    bonus, bonus_scale, cap
        see :class:`aomultirl.learning.UCBVI`.
    reuse_samples
        learn from the samples of both phases, with the bonus for external samples:
        ``L_N = ln(5 S A K (H + N) M / p_1)`` and n counts both (Appendix H).
    rewards
        "known", or "unknown": estimated, with a bonus that keeps optimism.

    Attributes
    ----------
    clusters
        what was learned, in order of first appearance.
    stage
        the numbers in force.
    """

    recognition = "samples"

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
        ties: str = "random",
        bonus: str = "paper",
        bonus_scale: float = 1.0,
        cap: str = "horizon",
        reuse_samples: bool = False,
        rewards: str = "known",
    ) -> None:
        self.models, self.separation, self.hitting_time, self.failure = models, separation, hitting_time, failure
        self.distinguishing_set = None if distinguishing_set is None else as_pairs(distinguishing_set)
        self.level, self.constants = level, constants
        self.horizon, self.learning_horizon = horizon, learning_horizon
        self.samples, self.clustering_horizon = samples, clustering_horizon
        self.stop_early, self.ties, self.reuse_samples, self.rewards = stop_early, ties, reuse_samples, rewards
        self.bonus, self.bonus_scale, self.cap = bonus, bonus_scale, cap

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.choice("ties", self.ties, TIES)
        for name in ("stop_early", "reuse_samples"):
            checks.truth(name, getattr(self, name))
        checks.real("separation", self.separation, above=0.0, most=2.0)
        read_failure(self.failure)
        self.clusters: list[Cluster] = []
        check_models(self.models, self.separation, setting)
        self.stage = self._first_stage()

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
        first = self._clustering_horizon(pairs, samples, failure)
        rest = learning_horizon(first)
        if first > checks.LARGEST:
            raise ValueError(f"the clustering phase takes H0 = {float(first):.3g} steps, more than can be counted")
        check_plan("learning_horizon" if self.horizon is None else "horizon", rest, setting)
        learner = Learner(
            make_ucbvi(self._logarithm(first, rest, samples, failure), self.bonus, self.bonus_scale, self.cap),
            known_rewards(self.rewards, setting),
            setting.n_states,
            setting.n_actions,
        )
        return Stage(targets, samples, first, rest, threshold, learner)

    def _clustering_horizon(self, pairs: int, samples: int, failure: float) -> int:
        """H0 for so many pairs, each to be seen ``samples`` times."""
        if self.clustering_horizon is not None:
            return checks.integer("clustering_horizon", self.clustering_horizon, least=1)
        sizes = (self.setting.n_states, pairs, self.separation)
        return theory.clustering_horizon(
            *sizes, self._hitting_time(), self.setting.episodes, failure, self.constants, samples
        )

    def _logarithm(self, first: int, rest: int, samples: int, failure: float) -> float:
        """L, with p_1 = p / 3."""
        steps = max(rest, 1) if self.constants == "released" else first + rest
        if self.reuse_samples:
            steps += samples
        pairs = self.setting.n_states * self.setting.n_actions
        return math.log(15.0 * pairs * self.setting.episodes * steps * self.n_models / failure)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        stage, n_states, n_actions = self.stage, self.setting.n_states, self.setting.n_actions
        explored, found = CountTable(n_states * n_actions), stage.learner.sums()
        explore = explore_id(stage.targets, stage.samples, self.ties)
        outcome = yield Phase(explore, stage.clustering_horizon, explored, found, "clustering")
        spent = outcome.steps
        if outcome.finished and not self.stop_early:
            rest = stage.clustering_horizon - spent
            spent += (yield Phase(uniform(n_states, n_actions), rest, explored, found, "clustering")).steps
        report = yield from self._identified(explored, found, spent, stream)
        return replace(report, exploration_ok=outcome.finished)

    def _identified(
        self, explored: CountTable, found: NDArray[np.float64], spent: int, stream: RandomStream
    ) -> Episode:
        """Identify the cluster, learn for the rest of the episode, and remember."""
        stage, n_pairs = self.stage, self.setting.n_states * self.setting.n_actions
        number = identify_cluster(explored, self.clusters, stage.pairs, stage.threshold)
        new = number < 0
        cluster = Cluster(n_pairs) if new else self.clusters[number]
        horizon = stage.learning_horizon
        if self.stop_early and self.horizon is not None:
            horizon = self.horizon - spent
        plan = stage.learner.act(self._samples(cluster, explored), self._sums(cluster, found), horizon, stream)
        learned, earned = CountTable(n_pairs), stage.learner.sums()
        yield Phase(follow(plan), horizon, learned, earned)

        if new:
            number = len(self.clusters)
            self.clusters.append(cluster)
        self._commit(cluster, explored, found, learned, earned)
        last = self._evaluation_horizon()
        if stage.learning_horizon == 0:  # nothing was learned, so there is no policy to judge
            return Report(number, new)
        best = stage.learner.best(self._samples(cluster), self._sums(cluster), last, stream)
        return Report(number, new, True, best, last, self._samples(cluster))

    def _samples(self, cluster: Cluster, *fresh: CountTable) -> tuple[CountTable, ...]:
        """What is learned from: the learning phases, or both phases."""
        return (cluster.regret, cluster.model, *fresh) if self.reuse_samples else (cluster.regret,)

    def _sums(self, cluster: Cluster, fresh: NDArray[np.float64] = NOTHING) -> NDArray[np.float64]:
        """The rewards of those samples."""
        if not self.reuse_samples or len(fresh) == 0:
            return cluster.regret_sums + cluster.model_sums if self.reuse_samples else cluster.regret_sums
        return cluster.regret_sums + cluster.model_sums + fresh

    def _commit(
        self,
        cluster: Cluster,
        explored: CountTable,
        found: NDArray[np.float64],
        learned: CountTable,
        earned: NDArray[np.float64],
    ) -> None:
        """Memory changes here, after the last step."""
        cluster.model.add(explored)
        cluster.regret.add(learned)
        if len(found) > 0:
            cluster.model_sums += found
            cluster.regret_sums += earned

    def _evaluation_horizon(self) -> int:
        return self.stage.learning_horizon

    def state(self) -> dict[str, Any]:
        return {"clusters": [cluster_state(cluster) for cluster in self.clusters]}

    def restore(self, saved: Saved) -> None:
        n_pairs = self.setting.n_states * self.setting.n_actions
        self.clusters = [restored_cluster(one, n_pairs) for one in saved.each("clusters", self.setting.episodes)]

    def memory(self, stream: RandomStream) -> Memory:
        horizon = self._evaluation_horizon()
        return Memory(
            [Remembered(cluster.model, self._first_actions(cluster, horizon, stream)) for cluster in self.clusters],
            self.stage.pairs,
            self.stage.threshold,
        )

    def _first_actions(self, cluster: Cluster, horizon: int, stream: RandomStream) -> NDArray[np.int32]:
        plan = self.stage.learner.best(self._samples(cluster), self._sums(cluster), horizon, stream)
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

    def regret_bound(self, episodes: int) -> RegretBound | None:
        if self.samples is not None or self.clustering_horizon is not None or self.bonus_scale != 1.0:
            return None
        return self._theorem(episodes)

    def _theorem(self, episodes: int) -> RegretBound | None:
        return theory.regret_bound(
            states=self.setting.n_states,
            actions=self.setting.n_actions,
            models=self.n_models,
            episodes=episodes,
            clustering_horizon=self.stage.clustering_horizon,
            learning_horizon=self.stage.learning_horizon,
            failure=self.failure,
        )


def cluster_state(cluster: Cluster) -> dict[str, Any]:
    """What a cluster holds."""
    return {name: getattr(cluster, name) for name in ("model", "regret", "model_sums", "regret_sums")}


def restored_cluster(saved: Saved, n_pairs: int) -> Cluster:
    """The cluster again."""
    cluster = Cluster(n_pairs)
    cluster.model, cluster.regret = saved.counts("model"), saved.counts("regret")
    cluster.model_sums = saved.array("model_sums", (n_pairs,), least=0.0)
    cluster.regret_sums = saved.array("regret_sums", (n_pairs,), least=0.0)
    return cluster


def check_models(models: int | ModelSet, separation: float | None, setting: Setting) -> None:
    """Refuse a lambda that the worlds do not keep, and worlds of another size."""
    if not isinstance(models, ModelSet):
        checks.integer("models", models, least=1)
        return
    exact = models.separation()
    if separation is not None and (told := checks.real("separation", separation, above=0.0, most=2.0)) > exact:
        raise checks.Refusal(
            "separation", f"is {told!r}, but the models are only {exact!r} apart; tests are strict, so stay 1e-6 below"
        )
    sizes = (models.n_states, models.n_actions)
    if sizes != (setting.n_states, setting.n_actions):
        raise checks.Refusal("models", f"have {sizes[0]} states and {sizes[1]} actions, but these worlds do not")


def as_pairs(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """A list, so that a generator is not used up by the first run."""
    return checks.items("distinguishing_set", pairs, "pairs (state, action)")


def read_pairs(pairs: Iterable[tuple[int, int]] | None, setting: Setting) -> NDArray[np.bool_]:
    """The distinguishing set as a mask, (S, A); all pairs where none is given."""
    if pairs is None:
        return np.ones((setting.n_states, setting.n_actions), bool)
    mask = checks.pairs("distinguishing_set", pairs, setting.n_states, setting.n_actions)
    if not mask.any():
        raise checks.Refusal("distinguishing_set", "is empty")
    return mask

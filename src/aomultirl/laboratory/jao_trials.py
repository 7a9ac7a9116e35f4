"""Runs of an agent on JAO worlds, lambda tied to S, A, H and D, with the regret of every episode and its bounds.

The paper's proof takes JAO worlds of two states and SA / 4 actions, and speaks of S states and A actions because many
of them can be joined to a tree.  Both are here; in the tree the actions that walk along it pay nothing, not even in a
reward state, where they stay: otherwise staying there for ever would be best, and there would be nothing to learn.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aomultirl import theory
from aomultirl.agents import (
    UCRL2,
    Agent,
    OneEpisodeLearner,
    OneEpisodeUCBVI,
    OracleLearner,
    PooledUCBVI,
    Random,
    Recall,
    SequentialAOMultiRL,
)
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.experiments.episodes import begin_in, play
from aomultirl.laboratory.exponents import Floats
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds import jao, two_jao_tree

TWO_STATES, TREE = "two states", "tree"
FAILURE = 0.1
CONSTANT = 4.0
"""lambda / sqrt(SA / (HD)): with H = DSA, the least that the lemma allows, delta + lambda / 2 is 1.5 delta."""
START = 0
PLAIN, LEARNER, RECALL, SEQUENTIAL, ORACLE, UCRL, POOLED, RANDOM = (
    "OneEpisodeUCBVI",
    "OneEpisodeLearner",
    "Recall",
    "SequentialAOMultiRL",
    "OracleLearner",
    "UCRL2",
    "PooledUCBVI",
    "Random",
)
AGENTS: dict[str, Callable[["Trial"], Agent]] = {
    PLAIN: lambda trial: OneEpisodeUCBVI(FAILURE, trial.horizon),
    LEARNER: lambda trial: OneEpisodeLearner(trial.horizon),
    RECALL: lambda trial: Recall(FAILURE, trial.horizon),
    SEQUENTIAL: lambda trial: SequentialAOMultiRL(FAILURE, trial.horizon, separation=(1.0 - 1e-6) * trial.separation),
    UCRL: lambda trial: UCRL2(trial.horizon),
    ORACLE: lambda trial: OracleLearner(trial.horizon),
    POOLED: lambda trial: PooledUCBVI(FAILURE, trial.horizon),
    RANDOM: lambda trial: Random(trial.horizon),
}


class Losses(NamedTuple):
    """What is lost in a world.

    each: what an action loses against the best, (S, A).
    rest: what regret has beside the sum of these, by the last state, (S,).
    """

    each: Floats
    rest: Floats


def losses(world: MDP, horizon: int) -> Losses:
    """Regret with hardly any noise: what V* exceeds the reward by, written as a sum over actions.

    With gain rho* and bias h an action loses ``rho* + h(s) - r(s, a) - P(s, a) h`` and not the luck that comes with it.
    The expectation is the same: rewards of H steps from s to s' are ``rho* H + h(s) - h(s')`` less these losses.
    """
    gain, bias = theory.optimal_gain(world, 1e-12)
    ahead = (world.sparse_transitions @ bias).reshape(world.rewards.shape)
    each = gain + bias[:, None] - world.rewards - ahead
    return Losses(each, world.first_values(horizon)[START] - gain * horizon - bias[START] + bias)


@dataclass(frozen=True)
class Trial:
    """Runs of one agent in one family of worlds, tasks uniformly at random.

    states, actions, diameter, horizon: S, A, D and H of the lemma; a family of two states has SA / 4 actions.
    constant: of lambda = constant sqrt(SA / (HD)).
    """

    agent: str
    states: int
    actions: int
    diameter: float
    horizon: int
    runs: int
    episodes: int
    family: str = TWO_STATES
    constant: float = CONSTANT

    @property
    def pairs(self) -> int:
        """SA."""
        return self.states * self.actions

    @property
    def separation(self) -> float:
        """lambda."""
        return self.constant * math.sqrt(self.pairs / (self.horizon * self.diameter))

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        return f"S = {self.states}, A = {self.actions}, D = {self.diameter:g}, H = {self.horizon:,}"

    @property
    def unit(self) -> float:
        """sqrt(DSAH)."""
        return math.sqrt(self.diameter * self.pairs * self.horizon)

    def worlds(self) -> ModelSet:
        """All worlds of the family."""
        if self.family == TWO_STATES:
            return jao(self.pairs // 4, self.diameter, self.separation)
        return two_jao_tree(self.states, self.actions, self.diameter, self.separation, kind="jao")

    def play(self, seed: int) -> Floats:
        """The regret of every episode, (runs, K)."""
        models, known = self.worlds(), dict[int, Losses]()
        return np.stack([self._run(models, known, own) for own in np.random.SeedSequence(seed).spawn(self.runs)])

    def _run(self, models: ModelSet, known: dict[int, Losses], source: np.random.SeedSequence) -> Floats:
        agent, (order, walks) = AGENTS[self.agent](self), source.spawn(2)
        tasks = np.random.default_rng(order).integers(len(models), size=self.episodes)
        sources = streams(walks, 2 * len(tasks)).reshape(-1, 2, 4)
        begin_in(agent, models, self.episodes)
        regrets = []
        for task, (world, own) in zip(tasks.tolist(), sources, strict=True):
            model = models[task]
            if task not in known:
                known[task] = losses(model, self.horizon)
            simulator = Simulator(model.alias_tables, known[task].each, START, world, own)
            _, ran = play(agent, simulator, START, own, task)
            regrets.append(sum(part.outcome.reward for part in ran) + known[task].rest[simulator.state])
        return np.array(regrets)

    def never_special(self) -> float:
        """What is lost in an episode without ever taking the special action, (rho* - 1/2) H, a family of two states."""
        delta, bias = 4.0 / self.diameter, self.separation / 2.0
        return ((delta + bias) / (2.0 * delta + bias) - 0.5) * self.horizon

    def lower_bound(self) -> float:
        """The lemma's lower bound on the regret of an episode."""
        return theory.minimax_lower_bound(
            states=self.states, actions=self.actions, episodes=1, horizon=self.horizon, diameter=self.diameter
        )

    def upper_bound(self) -> float:
        """UCRL2's bound on the regret of an episode in a family of two states, whose diameter is D / 4."""
        sizes = {"states": 2, "actions": self.pairs // 4, "episodes": 1, "horizon": self.horizon}
        return theory.ucrl2_bound(diameter=self.diameter / 4.0, **sizes).total

    def clustering_horizon(self) -> int:
        """AOMultiRL's H0 in a family of two states, whose smallest distinguishing set lacks one action of SA / 4."""
        pairs = max(1, self.pairs // 4 - 1)
        return theory.clustering_horizon(2, pairs, self.separation, self.diameter / 4.0, self.episodes, FAILURE)


def per_episode(regrets: Floats) -> Floats:
    """The mean regret of an episode in each run, (runs,); ``regrets`` is (runs, K)."""
    return np.asarray(regrets.mean(axis=1))


TrialRegrets = Mapping[Trial, Floats]
"""The regret of every episode in every run of a trial, (runs, K)."""
LETTERS = {"horizon": "H", "diameter": "D", "pairs": "SA", "states": "S", "actions": "A"}
"""Of the sizes that may be varied."""


class TrialSweep(NamedTuple):
    """Trials that differ along an axis.

    figure, axis: the name of the chart, and which size of a trial is varied.
    rows: the trials, by agent or by c.
    """

    figure: str
    axis: str
    rows: dict[str, tuple[Trial, ...]]

    @property
    def letter(self) -> str:
        """The letter of what is varied."""
        return LETTERS[self.axis]

    @property
    def first(self) -> tuple[Trial, ...]:
        """The trials of the first row."""
        return next(iter(self.rows.values()))

    @property
    def x(self) -> list[float]:
        """Where the trials of a row are."""
        return [float(getattr(trial, self.axis)) for trial in self.first]

    def trials(self) -> list[Trial]:
        """All trials, the largest first."""
        return [trial for row in self.rows.values() for trial in reversed(row)]

    def samples(self, results: TrialRegrets) -> dict[str, list[Floats]]:
        """The regret of an episode in every run of every trial."""
        return {name: [per_episode(results[trial]) for trial in row] for name, row in self.rows.items()}

"""What is run for the claims on the minimax regime: an agent on JAO worlds, lambda tied to S, A, H and D.

The paper's proof takes JAO worlds of two states and SA / 4 actions, and speaks of S states and A actions because many
of them can be joined to a tree.  Both are here; in the tree the actions that walk along it pay nothing, not even in a
reward state, where they stay: otherwise staying there for ever would be best, and there would be nothing to learn.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.agents import (
    UCRL2,
    Agent,
    OneEpisodeLearner,
    OneEpisodeUCBVI,
    OracleLearner,
    Recall,
    SequentialAOMultiRL,
)
from aomultirl.experiments.executors import Executor
from aomultirl.experiments.runner import run
from aomultirl.mdp import ModelSet
from aomultirl.streams import uniform
from aomultirl.worlds import jao, two_jao_tree

Floats = NDArray[np.float64]
TWO_STATES, TREE = "two states", "tree"
FAILURE = 0.1
CONSTANT = 4.0
"""lambda / sqrt(SA / (HD)): with H = DSA, the least that the lemma allows, delta + lambda / 2 is 1.5 delta."""
PLAIN, LEARNER, RECALL, SEQUENTIAL, ORACLE, UCRL = (
    "OneEpisodeUCBVI",
    "OneEpisodeLearner",
    "Recall",
    "SequentialAOMultiRL",
    "OracleLearner",
    "UCRL2",
)
AGENTS: dict[str, Callable[["Trial"], Agent]] = {
    PLAIN: lambda trial: OneEpisodeUCBVI(FAILURE, trial.horizon),
    LEARNER: lambda trial: OneEpisodeLearner(trial.horizon),
    RECALL: lambda trial: Recall(FAILURE, trial.horizon),
    SEQUENTIAL: lambda trial: SequentialAOMultiRL(FAILURE, trial.horizon, separation=(1.0 - 1e-6) * trial.separation),
    UCRL: lambda trial: UCRL2(trial.horizon),
    ORACLE: lambda trial: OracleLearner(trial.horizon),
}


@dataclass(frozen=True)
class Trial:
    """Runs of one agent in one family of worlds, tasks uniformly at random.

    states, actions, diameter, horizon
        S, A, D and H of the lemma; a family of two states has SA / 4 actions.
    constant
        of lambda = constant sqrt(SA / (HD)).
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
    def separation(self) -> float:
        """lambda."""
        return self.constant * math.sqrt(self.states * self.actions / (self.horizon * self.diameter))

    @property
    def unit(self) -> float:
        """sqrt(DSAH)."""
        return math.sqrt(self.diameter * self.states * self.actions * self.horizon)

    def worlds(self) -> ModelSet:
        """All of them."""
        if self.family == TWO_STATES:
            return jao(self.states * self.actions // 4, self.diameter, self.separation)
        return two_jao_tree(self.states, self.actions, self.diameter, self.separation, kind="jao")

    def play(self, seed: int) -> Floats:
        """The regret of every episode, (runs, K)."""
        models = self.worlds()
        seeds = np.random.SeedSequence(seed).generate_state(self.runs)
        agent = AGENTS[self.agent](self)
        histories = (run(agent, models, uniform(), self.episodes, int(one), record=("regret",)) for one in seeds)
        return np.stack([history["regret"] for history in histories])

    def never_special(self) -> float:
        """What is lost in an episode without ever taking the special action, (rho* - 1/2) H, a family of two states."""
        delta, bias = 4.0 / self.diameter, self.separation / 2.0
        return ((delta + bias) / (2.0 * delta + bias) - 0.5) * self.horizon

    def lower_bound(self) -> float:
        """Of the lemma, for an episode."""
        return theory.minimax_lower_bound(
            states=self.states, actions=self.actions, episodes=1, horizon=self.horizon, diameter=self.diameter
        )

    def upper_bound(self) -> float:
        """UCRL2's, for an episode in a family of two states, whose diameter is D / 4."""
        n_actions = self.states * self.actions // 4
        sizes = {"states": 2, "actions": n_actions, "episodes": 1, "horizon": self.horizon}
        return theory.ucrl2_bound(diameter=self.diameter / 4.0, **sizes).total

    def clustering_horizon(self) -> int:
        """AOMultiRL's H0 in a family of two states, whose smallest distinguishing set lacks one action of SA / 4."""
        pairs = max(1, self.states * self.actions // 4 - 1)
        return theory.clustering_horizon(2, pairs, self.separation, self.diameter / 4.0, self.episodes, FAILURE)


def carry_out(trials: Iterable[Trial], seed: int, executor: Executor) -> dict[Trial, Floats]:
    """What each trial found; its randomness comes from the seed and its place in the list."""
    listed = list(dict.fromkeys(trials))
    own = [int(np.random.SeedSequence(seed, spawn_key=(9, i)).generate_state(1)[0]) for i in range(len(listed))]
    items = [(i, trial, mine) for i, (trial, mine) in enumerate(zip(listed, own, strict=True))]
    found = dict(executor.map(_play, items))
    return {trial: found[i] for i, trial in enumerate(listed)}


def _play(item: tuple[int, Trial, int]) -> tuple[int, Floats]:
    number, trial, seed = item
    return number, trial.play(seed)

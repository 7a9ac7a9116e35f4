"""Worlds that are trees of arms, and runs of learners that are told which of them an episode is.

The worlds of :func:`aomultirl.theory.single_task_lower_bound`: from the root each action leads to a child, d steps down
to one of L leaves, in which every action is an arm.  All arms lead with probability 1/2 to a state that earns 1 for
ever, one arm of the world with eps more, otherwise to a state that earns nothing.  With K_m episodes of a world the
hardest is eps = (1/4) min{1, sqrt(L A / K_m)}: below, a wrong arm costs less; above, the arm is found sooner.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.agents import Agent, Told
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.experiments.episodes import begin_in, play
from aomultirl.laboratory.exponents import Floats
from aomultirl.learning import PSRL, UCBVI
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.theory.lower_bounds import arm_tree, tree_levels

ROOT = 0
STATES, ACTIONS, HORIZON = 9, 3, 8
"""S, A and H of all runs: four leaves two steps below the root, twelve arms, five steps of reward."""
FAILURE = 0.1
SCALE = 1.0 / 200.0
"""Of UCBVI's bonus, which is then about H / (2 sqrt(n)); unscaled it would say nothing within reach."""
INFORMED, POSTERIOR, OPTIMISTIC = "all but the arm known", "PSRL", "UCBVI, scaled"
LEARNERS: dict[str, Callable[["ToldRuns"], Agent]] = {
    POSTERIOR: lambda runs: Told(PSRL(), HORIZON),
    OPTIMISTIC: lambda runs: Told(UCBVI(bonus_scale=SCALE), HORIZON, runs.models, failure=FAILURE),
}
"""Learners of the library, each told the task; what is told them beyond is the setting alone."""


def arm_world(states: int, actions: int, arm: int, gap: float) -> MDP:
    """The tree with S states and A actions whose special arm has the number ``arm``, of L A, and is ``gap`` better.

    Examples
    --------
    >>> arm_world(9, 3, 4, 0.25).transitions[4, 1].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.75]
    """
    leaves, depth = arm_tree(states, actions)
    levels = tree_levels(leaves, actions)
    first = np.cumsum([0, *levels])
    rich, poor = states - 1, states - 2
    table, rewards = np.zeros((states, actions, states)), np.zeros((states, actions))
    rewards[rich] = 1.0
    table[:, :, poor] = 1.0
    table[rich] = np.eye(states)[rich]
    for level in range(depth):
        for child in range(levels[level + 1]):
            parent, action = divmod(child, actions)
            table[first[level] + parent, action] = np.eye(states)[first[level + 1] + child]
    for number in range(leaves * actions):
        leaf, action = divmod(number, actions)
        chance = 0.5 + gap * (number == arm)
        table[first[depth] + leaf, action] = chance * np.eye(states)[rich] + (1.0 - chance) * np.eye(states)[poor]
    return MDP(table, rewards)


def losses(world: MDP, horizon: int) -> Floats:
    """What every action loses against the best, (S, A), at the one step at which its state can be; 0 at the foot."""
    values = world.optimal_values(horizon)
    lost = np.zeros(world.rewards.shape)
    leaves, _ = arm_tree(world.n_states, world.n_actions)
    state = 0
    for step, size in enumerate(tree_levels(leaves, world.n_actions)):
        ahead = (world.sparse_transitions @ values[step + 1]).reshape(world.rewards.shape)
        rows = slice(state, state + size)
        lost[rows] = values[step][rows, None] - world.rewards[rows] - ahead[rows]
        state += size
    return lost


@dataclass(frozen=True)
class ToldRuns:
    """Runs of one learner that is told which of M trees each of K episodes is, every tree K / M times.

    learner: one of LEARNERS, or INFORMED.
    models, runs, episodes: M, how many runs, and K, a multiple of M.
    """

    learner: str
    models: int
    runs: int
    episodes: int

    @property
    def arms(self) -> int:
        """L A."""
        return arm_tree(STATES, ACTIONS)[0] * ACTIONS

    @property
    def gap(self) -> float:
        """eps, the hardest for so many episodes of every world."""
        return min(1.0, math.sqrt(self.arms * self.models / self.episodes)) / 4.0

    @property
    def worth(self) -> int:
        """H - d - 1, the steps of reward that an arm may lead to."""
        return HORIZON - arm_tree(STATES, ACTIONS)[1] - 1

    def bound(self) -> float:
        """The lower bound on the regret of all K episodes."""
        return theory.multi_task_lower_bound(
            states=STATES, actions=ACTIONS, models=self.models, episodes=self.episodes, horizon=HORIZON
        )

    def play(self, seed: int) -> Floats:
        """The regret of every run, (runs,): V* less what the actions that were taken are worth, not what they won."""
        if self.learner == INFORMED:
            return self._informed(np.random.default_rng(seed))
        return np.array([self._run(source) for source in np.random.SeedSequence(seed).spawn(self.runs)])

    def _run(self, source: np.random.SeedSequence) -> float:
        agent, (order, walks) = LEARNERS[self.learner](self), source.spawn(2)
        rng = np.random.default_rng(order)
        special = rng.integers(self.arms, size=self.models).tolist()
        models = ModelSet([arm_world(STATES, ACTIONS, arm, self.gap) for arm in special])
        lost = [losses(world, HORIZON) for world in models]
        tasks = rng.permutation(np.arange(self.episodes) % self.models)
        sources = streams(walks, 2 * len(tasks)).reshape(-1, 2, 4)
        begin_in(agent, models, self.episodes)
        agent.evaluates = False
        total = 0.0
        for task, (world, own) in zip(tasks.tolist(), sources, strict=True):
            simulator = Simulator(models[task].alias_tables, lost[task], ROOT, world, own)
            _, ran = play(agent, simulator, ROOT, own, task)
            total += sum(part.outcome.reward for part in ran)
        return total

    def _informed(self, rng: np.random.Generator) -> Floats:
        """A learner that knows all but the arm and draws one from its posterior in every episode.

        Worlds are independent of each other, so all of all runs are played side by side.
        """
        worlds = self.runs * self.models
        special, rows = rng.integers(self.arms, size=worlds), np.arange(worlds)
        scores: NDArray[np.float64] = np.zeros((worlds, self.arms))
        won, failed = math.log1p(2.0 * self.gap), math.log1p(-2.0 * self.gap)
        wrong = np.zeros(worlds)
        for _ in range(self.episodes // self.models):
            arms = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
            wins = rng.random(worlds) < 0.5 + self.gap * (arms == special)
            scores[rows, arms] += np.where(wins, won, failed)
            wrong += arms != special
        return np.asarray(self.gap * self.worth * wrong.reshape(self.runs, self.models).sum(axis=1))

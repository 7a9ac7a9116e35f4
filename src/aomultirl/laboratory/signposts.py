"""AOMultiRL on worlds made for the claims on its regret: its clustering phase as published, and its learning phase.

Signpost worlds.  Three plain states and a rich one.  Action 0 pays SURE more than action 1 at once, and leads to the
rich state with probability CHANCE, otherwise to one plain state rather than the others: in every plain state a sign
names it, and the signs are what tells the worlds apart, lambda at a pair.  Action 1 leads to the rich state more often,
so much that with two steps to go it is better by ``gap`` in the rich state and in one plain state, a different one from
world to world, and worse by ``gap`` in the others.  With one step left action 0 is always better.  So whoever tries
action 1 pays for it, what is to be learned has nothing to do with lambda, and the worlds are alike but for names.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from aomultirl import theory
from aomultirl.agents import AOMultiRL
from aomultirl.experiments.runner import run
from aomultirl.laboratory.exponents import Floats
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.streams import uniform
from aomultirl.worlds import jao

FAILURE = 0.1
SIGNPOSTS, JAO = "signposts", "JAO"
PLAIN, RICH, SURE, CHANCE = 3, 3, 0.3, 0.2
GAP = 0.1
"""Where it is not varied."""
HITTING_TIME = {SIGNPOSTS: 14.0, JAO: 2.0}
"""What the agent is told, a bound for every lambda."""
STEPS = 2
"""H1: the shortest phase in which an action matters, and the one in which UCBVI's bonus falls soonest."""
SAMPLES, EXPLORING = 200, 3000
"""N and H0 where only the learning phase is measured: enough to cluster rightly where lambda = 1."""
MORE_SAMPLES, LONGER = 5000, 60_000
"""The same where the learning phase uses these samples, too, N of every pair."""
PAPER, RELEASED, SCALED, BOTH = "paper", "released", "scaled", "paper, both phases"
BONUSES = {PAPER: ("paper", 1.0), RELEASED: ("released", 1.0), SCALED: ("paper", 1.0 / 400.0), BOTH: ("paper", 1.0)}
"""Scaled: about 1 / sqrt(n), three standard deviations of what a step leads to, in place of 400 / sqrt(n).

Both phases: the paper's own, of the samples of both (Appendix H)."""


def signposts(models: int, separation: float, gap: float = GAP) -> ModelSet:
    """Up to 27 worlds, lambda below 1.6 apart at (s, 0) of plain states s; ``gap`` up to 0.25.

    Examples
    --------
    >>> round(signposts(16, 1.0).separation(), 9)
    1.0
    """
    tilt, risky = separation / (2.0 * PLAIN), CHANCE + SURE / (1.0 - SURE)
    rewards = np.zeros((PLAIN + 1, 2))
    rewards[RICH] = 1.0 - SURE
    rewards[:, 0] += SURE
    worlds = []
    for number in range(models):
        table = np.empty((PLAIN + 1, 2, PLAIN + 1))
        for state in range(PLAIN + 1):
            better = 1.0 if state in (RICH, number % PLAIN) else -1.0
            rich = np.array([CHANCE, risky + better * gap / (1.0 - SURE)])
            table[state, :, RICH] = rich
            table[state, :, :PLAIN] = (1.0 - rich[:, None]) / PLAIN
        for state in range(PLAIN):
            sign = (state + 1 + number // PLAIN**state) % PLAIN
            table[state, 0, :PLAIN] -= tilt
            table[state, 0, sign] += PLAIN * tilt
        worlds.append(MDP(table, rewards))
    return ModelSet(worlds)


@dataclass(frozen=True)
class ClusteringRuns:
    """AOMultiRL with the paper's constants on two worlds, told the one pair at which they differ by lambda.

    early: end the clustering phase when the pair has its N samples, in place of after H0 steps.
    """

    family: str
    separation: float
    runs: int
    episodes: int
    early: bool = False

    @property
    def horizon(self) -> int:
        """H0."""
        worlds = self.worlds()
        time = HITTING_TIME[self.family]
        return theory.clustering_horizon(worlds.n_states, 1, self.told, time, self.episodes, FAILURE)

    @property
    def told(self) -> float:
        """What the agent is told for lambda, a little less than it is."""
        return (1.0 - 1e-6) * self.separation

    def worlds(self) -> ModelSet:
        """Two worlds of the family."""
        if self.family == JAO:
            return jao(2, 4.0 * HITTING_TIME[JAO], self.separation)
        return signposts(2, self.separation)

    def bound(self) -> theory.RegretBound:
        """Theorem 1, with the diameter of the worlds."""
        worlds = self.worlds()
        return theory.regret_bound(
            states=worlds.n_states,
            actions=worlds.n_actions,
            models=len(worlds),
            episodes=self.episodes,
            clustering_horizon=self.horizon,
            learning_horizon=STEPS,
            failure=FAILURE,
            diameter=max(world.diameter() for world in worlds),
        )

    def play(self, seed: int) -> Floats:
        """The regret of the clustering phase of every episode, (runs, K)."""
        agent = AOMultiRL(
            2,
            self.told,
            HITTING_TIME[self.family],
            FAILURE,
            [(0, 0)],
            learning_horizon=STEPS,
            stop_early=self.early,
        )
        regret, learning, *_ = _histories(agent, self.worlds(), self.runs, self.episodes, seed)
        return np.asarray(regret - learning)


@dataclass(frozen=True)
class LearningRuns:
    """AOMultiRL's learning phase on M signpost worlds; a clustering phase that is long enough, and no longer.

    bonus: SCALED, PAPER, RELEASED, or BOTH, with which the samples of the clustering phase are learned from, too.
    """

    models: int
    gap: float
    runs: int
    episodes: int
    bonus: str = SCALED

    @property
    def samples(self) -> int:
        """N."""
        return MORE_SAMPLES if self.bonus == BOTH else SAMPLES

    @property
    def exploring(self) -> int:
        """H0."""
        return LONGER if self.bonus == BOTH else EXPLORING

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The distinguishing set; all pairs where the samples are used twice."""
        if self.bonus == BOTH:
            return [(state, action) for state in range(PLAIN + 1) for action in range(2)]
        return [(state, 0) for state in range(PLAIN)]

    @property
    def extra(self) -> int:
        """Samples of every pair, in every episode, that learning has from clustering."""
        return self.samples if self.bonus == BOTH else 0

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes as :mod:`aomultirl.theory` takes them."""
        sizes = {"states": PLAIN + 1, "actions": 2, "models": self.models, "episodes": self.episodes}
        return sizes | {"learning_horizon": STEPS}

    def visits(self, level: float) -> int:
        """The visits of a pair after which its bonus is at most ``level``."""
        kind, scale = BONUSES[self.bonus]
        sizes = self.sizes | {"horizon": self.exploring + STEPS + self.extra}

        def is_enough(n: int) -> bool:
            return scale * float(theory.bonus(n, **sizes, failure=FAILURE, constants=kind)) <= level

        return bisect_left(range(1 << 40), True, key=is_enough)

    def episodes_until(self, level: float) -> int:
        """Episodes in each world until the bonus is at most ``level``, if all pairs are visited equally often."""
        return math.ceil(self.visits(level) / (self.extra + STEPS / (2 * (PLAIN + 1))))

    def bound(self, episodes: int) -> theory.RegretBound:
        """Theorem 1 after so many episodes; learning has its second and third term."""
        sizes = self.sizes | {"episodes": episodes, "clustering_horizon": self.exploring}
        if self.extra:
            return theory.first_stage_bound(**sizes, samples=self.extra, failure=FAILURE)
        return theory.regret_bound(**sizes, failure=FAILURE)

    def play(self, seed: int) -> Floats:
        """What came of every episode, (runs, K, 3): the regret of the learning phase, whether the episode was
        misclustered, and whether every pair of the distinguishing set had its N samples."""
        bonus, scale = BONUSES[self.bonus]
        agent = AOMultiRL(
            self.models,
            1.0 - 1e-6,
            HITTING_TIME[SIGNPOSTS],
            FAILURE,
            self.pairs,
            learning_horizon=STEPS,
            samples=self.samples,
            clustering_horizon=self.exploring,
            bonus=bonus,
            bonus_scale=scale,
            reuse_samples=self.bonus == BOTH,
        )
        columns = _histories(agent, signposts(self.models, 1.0, self.gap), self.runs, self.episodes, seed)
        return np.moveaxis(columns[1:], 0, -1)


def _histories(agent: AOMultiRL, models: ModelSet, runs: int, episodes: int, seed: int) -> Floats:
    """Regret, the part that the learning phase lost, wrong clusters, and explorations that were whole, (4, runs, K)."""
    columns = ("regret", "learning_regret", "misclustered", "exploration_ok")
    rows = []
    for own in np.random.SeedSequence(seed).generate_state(runs):
        history = run(agent, models, uniform(), episodes, int(own), record=("regret",))
        rows.append([history[name].astype(float) for name in columns])
    return np.array(rows).transpose(1, 0, 2)

"""Why a finite diameter: 2-JAO worlds in which the adversary starts every episode where nothing can be told.

From the hub of :func:`aomultirl.worlds.two_jao_noncommunicating` no policy reaches the left state, and there alone do
worlds differ by lambda.  What an agent loses is counted without noise: every visit of the hub in which it does not take
the special right action costs Delta / (2 delta + Delta), up to the ends of the episode.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents
from aomultirl.agents.base import Agent, Setting
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Ran, Simulator
from aomultirl.mdp import ModelSet
from aomultirl.worlds.jao import HUB, LEFT, two_jao, two_jao_noncommunicating

WORLDS, DIAMETER, FAILURE = 4, 16.0, 0.1
"""M, which is also the number of actions on either side; D; p."""
ENOUGH = 64.0
"""N lambda^2: with so many samples of each pair the threshold test is rarely wrong."""
TWO_STAGE, SEQUENTIAL = "TwoStageAOMultiRL", "SequentialAOMultiRL"


class Told(NamedTuple):
    """What agents are told: lambda, Gamma, N, H0 and H."""

    separation: float
    pairs: list[tuple[int, int]]
    samples: int
    clustering: int
    horizon: int


def told(separation: float, communicating: bool, agent: str = "") -> Told:
    """Worlds that are lambda-separable at the left pairs of the hub, or at those of the left state.

    N samples of each pair of the hub take 12 N steps, of every pair 28 N: H0 = 24 N and H = 36 N are enough for all.
    TwoStageAOMultiRL tests at lambda / 2, so its N is four times as large.
    """
    samples = math.ceil(ENOUGH / (separation / 2.0 if agent == TWO_STAGE else separation) ** 2)
    pairs = [(HUB if communicating else LEFT, action) for action in range(WORLDS)]
    return Told(separation, pairs, samples, 24 * samples, 36 * samples)


AGENTS: dict[str, Callable[[Told], Agent]] = {
    "AOMultiRL": lambda to: agents.AOMultiRL(
        WORLDS,
        to.separation,
        DIAMETER,
        FAILURE,
        to.pairs,
        horizon=to.horizon,
        samples=to.samples,
        clustering_horizon=to.clustering,
    ),
    TWO_STAGE: lambda to: agents.TwoStageAOMultiRL(
        WORLDS,
        to.separation,
        DIAMETER,
        FAILURE,
        horizon=to.horizon,
        samples=to.samples,
        clustering_horizon=to.clustering,
        first_clustering_horizon=4 * to.clustering // 3,
    ),
    "DoublingAOMultiRL": lambda to: agents.DoublingAOMultiRL(
        WORLDS, to.separation, FAILURE, to.pairs, horizon=to.horizon, samples=to.samples
    ),
    SEQUENTIAL: lambda to: agents.SequentialAOMultiRL(
        FAILURE, to.horizon, to.separation, to.pairs, samples=2 * to.samples
    ),
    "Recall": lambda to: agents.Recall(FAILURE, to.horizon, to.separation),
    "OneEpisodeUCBVI": lambda to: agents.OneEpisodeUCBVI(FAILURE, to.horizon),
    "OneEpisodeLearner": lambda to: agents.OneEpisodeLearner(to.horizon),
    "PooledUCBVI": lambda to: agents.PooledUCBVI(FAILURE, to.horizon),
    "UCRL2": lambda to: agents.UCRL2(to.horizon),
    "Random": lambda to: agents.Random(to.horizon),
    "OracleUCBVI": lambda to: agents.OracleUCBVI(FAILURE, to.horizon, WORLDS),
    "OracleLearner": lambda to: agents.OracleLearner(to.horizon),
    "Optimal": lambda to: agents.Optimal(to.horizon),
}
NAMING = ("AOMultiRL", TWO_STAGE, "DoublingAOMultiRL", SEQUENTIAL, "Recall")
"""Those that put episodes in clusters."""


class Played(NamedTuple):
    """Of every episode, (K,): steps; visits of the left state; reward; whether it was put in the cluster of its world,
    or in a new one if there was none; and the share lost of what is lost by never taking the special action."""

    steps: NDArray[np.int64]
    left: NDArray[np.int64]
    rewards: NDArray[np.float64]
    named: NDArray[np.bool_]
    lost: NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """An agent meets all worlds in every block of M episodes, in random order.

    separation, told
        lambda, and what the agents think it is.
    communicating
        whether the left state can be reached.
    number
        tells courses apart that are otherwise the same.
    """

    agent: str
    separation: float
    told: float
    communicating: bool
    blocks: int
    number: int = 0

    def worlds(self) -> ModelSet:
        """Two worlds differ in the pairs that the agents are told, and else by 2 Delta, hidden by the horizon."""
        make = two_jao if self.communicating else two_jao_noncommunicating
        horizon = told(self.told, self.communicating, self.agent).horizon
        return make(WORLDS, DIAMETER, self.separation, horizon=horizon)

    def play(self, seed: int) -> Played:
        """All episodes."""
        models, agent = self.worlds(), AGENTS[self.agent](told(self.told, self.communicating, self.agent))
        order, walks = np.random.SeedSequence(seed).spawn(2)
        rng = np.random.default_rng(order)
        tasks = np.concatenate([rng.permutation(WORLDS) for _ in range(self.blocks)])
        sources = streams(walks, 2 * len(tasks)).reshape(-1, 2, 4)
        everything = models if "models" in agent.told else None
        agent.begin(Setting(models.n_states, models.n_actions, models.rewards, len(tasks), everything))
        stands_for: dict[int, int] = {}
        rows = []
        for task, (world, own) in zip(tasks.tolist(), sources, strict=True):
            model = models[task]
            simulator = Simulator(model.alias_tables, model.gains, HUB, world, own)
            report, ran = simulator.drive(agent.episode(HUB, own, task if "task" in agent.told else None))
            named = stands_for.get(report.cluster) == task
            if report.new_cluster:
                named = task not in stands_for.values()
                stands_for[report.cluster] = task
            rows.append((*_seen(ran, models.n_actions, WORLDS + task), named))
        steps, left, rewards, lost, named_right = (np.array(column) for column in zip(*rows, strict=True))
        return Played(steps, left, rewards, named_right, lost)


@dataclass(frozen=True)
class Pairing:
    """The same course, out of reach of the left state, with two lambda and the same randomness; the agents are told the
    second."""

    agent: str
    least: float
    most: float
    blocks: int

    def play(self, seed: int) -> tuple[Played, Played]:
        """With either."""
        least, most = (
            Course(self.agent, level, self.most, False, self.blocks).play(seed) for level in (self.least, self.most)
        )
        return least, most


def _seen(ran: list[Ran], n_actions: int, special: int) -> tuple[int, int, float, float]:
    """Steps, visits of the left state, reward, and how many of the hub's visits did without the special action."""
    left = hub = right = 0
    tables: dict[int, CountTable] = {id(part.phase.counts): part.phase.counts for part in ran}
    for table in tables.values():
        starts, states, visits = table.to_lists()
        pairs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        left += int(visits[(states == LEFT) | (pairs // n_actions == LEFT)].sum())
        hub += int(visits[pairs // n_actions == HUB].sum())
        right += int(visits[pairs == HUB * n_actions + special].sum())
    steps, reward = sum(part.outcome.steps for part in ran), sum(part.outcome.reward for part in ran)
    return steps, left, reward, 1.0 - right / hub

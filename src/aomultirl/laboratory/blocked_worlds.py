"""Agents on 2-JAO worlds in which the adversary starts every episode where nothing can be told.

From the hub of :func:`aomultirl.worlds.two_jao_noncommunicating` no policy reaches the left state, and there alone do
worlds differ by lambda.  What an agent loses is counted without noise: every visit of the hub in which it does not take
the special right action costs Delta / (2 delta + Delta), up to the ends of the episode.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents
from aomultirl.agents.base import Agent
from aomultirl.analysis.rules import Measurement
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Ran
from aomultirl.experiments.episodes import begin_in, play, simulated
from aomultirl.laboratory.exponents import rate
from aomultirl.learning import Practical
from aomultirl.model_set import ModelSet
from aomultirl.worlds.jao import HUB, LEFT, two_jao, two_jao_noncommunicating

WORLDS, DIAMETER, FAILURE = 4, 16.0, 0.1
"""M, which is also the number of actions on either side; D; p."""
ENOUGH = 64.0
"""N lambda^2: with so many samples of each pair the threshold test is rarely wrong."""
TWO_STAGE, SEQUENTIAL = "TwoStageAOMultiRL", "SequentialAOMultiRL"


class CourseFacts(NamedTuple):
    """What agents are told.

    separation, pairs: lambda and Gamma.
    samples, clustering, horizon: N, H0 and H.
    """

    separation: float
    pairs: list[tuple[int, int]]
    samples: int
    clustering: int
    horizon: int


def told(separation: float, communicating: bool, agent: str = "") -> CourseFacts:
    """Worlds that are lambda-separable at the left pairs of the hub, or at those of the left state.

    N samples of each pair of the hub take 12 N steps, of every pair 28 N: H0 = 24 N and H = 36 N are enough for all.
    TwoStageAOMultiRL tests at lambda / 2, so its N is four times as large.
    """
    samples = math.ceil(ENOUGH / (separation / 2.0 if agent == TWO_STAGE else separation) ** 2)
    pairs = [(HUB if communicating else LEFT, action) for action in range(WORLDS)]
    return CourseFacts(separation, pairs, samples, 24 * samples, 36 * samples)


AGENTS: dict[str, Callable[[CourseFacts], Agent]] = {
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
    "FiniteModelRL": lambda to: agents.FiniteModelRL(WORLDS, to.separation, FAILURE, to.horizon),
    "ForcedExploration": lambda to: agents.ForcedExploration(FAILURE, to.horizon, to.separation),
    "ExploreFirst": lambda to: agents.ExploreFirst(FAILURE, to.horizon, to.separation, WORLDS),
    "LUCRL": lambda to: agents.LUCRL(WORLDS, to.horizon, failure=FAILURE),
    "MixtureOfMDPs": lambda to: agents.MixtureOfMDPs(to.horizon),
    "OneEpisodeUCBVI": lambda to: agents.OneEpisodeUCBVI(FAILURE, to.horizon),
    "OneEpisodeLearner": lambda to: agents.OneEpisodeLearner(to.horizon),
    "PooledUCBVI": lambda to: agents.PooledUCBVI(FAILURE, to.horizon),
    "UCRL2": lambda to: agents.UCRL2(to.horizon),
    "RestartQUCB": lambda to: agents.RestartQUCB(to.horizon, None, failure=FAILURE, epochs=2),
    "DetectAndRestart": lambda to: agents.DetectAndRestart(Practical(), to.horizon, failure=FAILURE),
    "ConcurrentPACRL": lambda to: agents.ConcurrentPACRL(to.separation, FAILURE, to.horizon, samples=to.samples),
    "CECE": lambda to: agents.CECE(WORLDS, to.separation, FAILURE, to.horizon, WORLDS, samples=to.samples),
    "MultiModel": lambda to: agents.MultiModel(to.horizon),
    "MaxQInit": lambda to: agents.MaxQInit(to.horizon, 1.0 / WORLDS, failure=FAILURE),
    "LRMax": lambda to: agents.LRMax(to.horizon, failure=FAILURE),
    "Random": lambda to: agents.Random(to.horizon),
    "OracleUCBVI": lambda to: agents.OracleUCBVI(FAILURE, to.horizon, WORLDS),
    "UCBVIWithOracle": lambda to: agents.UCBVIWithOracle(FAILURE, to.horizon, 1, WORLDS),
    "OracleLearner": lambda to: agents.OracleLearner(to.horizon),
    "Optimal": lambda to: agents.Optimal(to.horizon),
}
LOOKING = ("AOMultiRL", TWO_STAGE, "DoublingAOMultiRL", SEQUENTIAL)
"""Agents that look for what tells worlds apart, and succeed where it can be reached."""
NAMING = (*LOOKING, "Recall")
"""Agents that put episodes in clusters; Recall looks for reward."""
INFORMED = ("OracleUCBVI", "UCBVIWithOracle", "OracleLearner", "Optimal")
"""Agents that are told the world."""


class CourseRecord(NamedTuple):
    """What came of every episode, (K,) each.

    steps, left, rewards: steps, visits of the left state, and the reward.
    named: whether the episode was put in the cluster of its world, or in a new one if there was none.
    lost: the share lost of what is lost by never taking the special action.
    """

    steps: NDArray[np.int64]
    left: NDArray[np.int64]
    rewards: NDArray[np.float64]
    named: NDArray[np.bool_]
    lost: NDArray[np.float64]


def worlds(separation: float, thought: float, communicating: bool, agent: str = "") -> ModelSet:
    """Two worlds differ by lambda in the pairs that the agents are told, and else by 2 Delta, hidden by the horizon.

    The agents think that lambda is ``thought``, which makes the horizon.
    """
    make = two_jao if communicating else two_jao_noncommunicating
    return make(WORLDS, DIAMETER, separation, horizon=told(thought, communicating, agent).horizon)


@dataclass(frozen=True)
class Course:
    """An agent meets all worlds in every block of M episodes, in random order.

    separations: lambda; with several the course is run with each, and with the same randomness.
    told: what the agents think that lambda is.
    communicating: whether the left state can be reached.
    number: tells courses apart that are otherwise the same.
    """

    agent: str
    separations: tuple[float, ...]
    told: float
    communicating: bool
    blocks: int
    number: int = 0

    def play(self, seed: int) -> list[CourseRecord]:
        """Play all episodes, once for each lambda."""
        return [self._play(separation, seed) for separation in self.separations]

    def _play(self, separation: float, seed: int) -> CourseRecord:
        models = worlds(separation, self.told, self.communicating, self.agent)
        agent = AGENTS[self.agent](told(self.told, self.communicating, self.agent))
        order, walks = np.random.SeedSequence(seed).spawn(2)
        rng = np.random.default_rng(order)
        tasks = np.concatenate([rng.permutation(WORLDS) for _ in range(self.blocks)])
        sources = streams(walks, 2 * len(tasks)).reshape(-1, 2, 4)
        begin_in(agent, models, len(tasks))
        stands_for: dict[int, int] = {}
        rows = []
        for task, (world, own) in zip(tasks.tolist(), sources, strict=True):
            report, ran = play(agent, simulated(models[task], HUB, world, own), HUB, own, task)
            named = stands_for.get(report.cluster) == task
            if report.new_cluster:
                named = task not in stands_for.values()
                stands_for[report.cluster] = task
            rows.append((*_seen(ran, models.n_actions, WORLDS + task), named))
        steps, left, rewards, lost, named_right = (np.array(column) for column in zip(*rows, strict=True))
        return CourseRecord(steps, left, rewards, named_right, lost)


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


class CourseSizes(NamedTuple):
    """How much agents are run.

    levels: lambda of the charts, ascending, the last that of all agents.
    courses, slow: courses of each agent at each level, and those of SequentialAOMultiRL out of reach, where it is slow.
    blocks: of M episodes in a course, of which the first makes clusters and is not judged.
    """

    levels: tuple[float, ...]
    courses: int
    slow: int
    blocks: int

    def blocked(self, agent: str) -> int:
        """Courses out of reach."""
        return self.slow if agent == SEQUENTIAL else self.courses

    def pairing(self, agent: str) -> Course:
        """The first course out of reach at the last level, run with the first level too."""
        return Course(agent, (self.levels[0], self.levels[-1]), self.levels[-1], False, self.blocks)

    def course(self, agent: str, separation: float, there: bool, number: int) -> Course:
        """A course of an agent that is told its lambda."""
        return Course(agent, (separation,), separation, there, self.blocks, number)

    def tasks(self) -> Iterator[Course]:
        """All that is run; what takes long comes first."""
        for name in sorted(AGENTS, key=lambda name: name != SEQUENTIAL):
            yield self.pairing(name)
            for separation in self.levels if name in NAMING else self.levels[-1:]:
                first = int(separation == self.levels[-1])
                yield from (self.course(name, separation, False, i) for i in range(first, self.blocked(name)))
        for name in NAMING:
            yield from (self.course(name, one, True, i) for one in self.levels for i in range(self.courses))


class CourseResults(NamedTuple):
    """What came of the courses of some sizes."""

    sizes: CourseSizes
    results: Mapping[Any, Any]

    def pair(self, agent: str) -> list[CourseRecord]:
        """The course that was run with the first and with the last lambda."""
        records: list[CourseRecord] = self.results[self.sizes.pairing(agent)]
        return records

    def runs(self, agent: str, separation: float | None = None, *, there: bool = False) -> list[CourseRecord]:
        """All courses of an agent at a level, by default the last, within or out of reach of the left state."""
        sizes, last = self.sizes, self.sizes.levels[-1]
        chosen = last if separation is None else separation
        runs = self.pair(agent)[1:] if chosen == last and not there else []
        number = sizes.courses if there else sizes.blocked(agent)
        return runs + [self.results[sizes.course(agent, chosen, there, i)][0] for i in range(len(runs), number)]

    def named(self, agent: str, levels: Sequence[float], there: bool) -> Measurement:
        """How often the world was named after the first block of a course."""
        runs = (run for separation in levels for run in self.runs(agent, separation, there=there))
        return rate(np.concatenate([run.named[WORLDS:] for run in runs]))

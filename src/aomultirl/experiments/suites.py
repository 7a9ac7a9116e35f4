"""Two comparisons: how many steps it takes to recognise a world, and how much of the optimal reward is earned.

Each row of a suite is a world, a stream, an agent and the target it should reach; every run of it is a cell.  Random
worlds are another set in every run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.descriptions import make
from aomultirl.experiments.cells import Cell, make_world
from aomultirl.experiments.executors import local
from aomultirl.experiments.history import History
from aomultirl.experiments.paper import GAMMA, SEPARATION
from aomultirl.theory import identification_lower_bound

FAILURE, EPISODES, HORIZON = 0.03, 200, 200_000
HORIZONS = (500, 1_000, 2_000, 20_000)
GRIDS = ("third", "stay")
STEPS, RUN, SHARE = "steps", "run", "share"


@dataclass(frozen=True)
class SuiteCase:
    """One row of a suite.

    world, stream, agent: {"name", "parameters"} each, as in a cell.
    told: what the row calls the agent, or what that is told.
    episodes, horizon: K, and H in steps.
    aim: what the target is for: STEPS on known worlds or the steps of a whole RUN, both at most, or the SHARE of the
        optimal reward, at least.
    target: in steps or per cent; None where nothing is asked.
    separation, pairs: what the lower bound is told; separation None where the worlds are all known.
    """

    world: dict[str, Any]
    told: str
    stream: dict[str, Any]
    agent: dict[str, Any]
    episodes: int
    horizon: int
    aim: str
    target: float | None = None
    separation: float | None = None
    pairs: tuple[tuple[int, int], ...] | None = None

    def cell(self, seed: int, number: int) -> Cell:
        """One of its runs."""
        world = self.world
        if world["name"] == "random_models":
            world = {**world, "parameters": {**world["parameters"], "rng": 1000 * seed + number}}
        return Cell(world, self.stream, self.agent, self.episodes, seed, number, self.told)

    @property
    def clusters(self) -> bool:
        """Whether the agent sorts episodes into clusters."""
        return bool(make(self.agent, "agent").recognition)

    @property
    def place(self) -> str:
        """The world, in words."""
        parameters = self.world["parameters"]
        return f"grid, {parameters['edges']}" if "edges" in parameters else f"random, {parameters['separation']:g}"


def identify_suite() -> list[SuiteCase]:
    """Steps to recognise a world, for what the agent is told."""
    cases = []
    for edges in GRIDS:
        world = {"name": "gridworld", "parameters": {"edges": edges}}
        slack = 1.0 if edges == "third" else 1.3
        gamma = {"distinguishing_set": [list(pair) for pair in GAMMA]}
        cases += [
            _identify(world, "Gamma, lambda", 130 * slack, SEPARATION, gamma, pairs=GAMMA),
            _identify(world, "lambda", 1600 * slack, SEPARATION),
            replace(
                _identify(world, "M, lambda", 45_000 * slack, SEPARATION, {"models": 4}),
                stream=_paper(each_first=True),
                episodes=EPISODES + 4,
                aim=RUN,
                separation=None,
            ),
        ]
    for separation, target in ((1.0, 4_500.0), (0.7, 10_000.0)):
        cases.append(_identify(_random(separation), "lambda", target, separation - 1e-6))
    return cases


def _identify(
    world: dict[str, Any],
    told: str,
    target: float,
    separation: float,
    known: Mapping[str, Any] = MappingProxyType({}),
    pairs: tuple[tuple[int, int], ...] | None = None,
) -> SuiteCase:
    """Identification is what is measured, so no steps are spent on learning: the episode ends with the verdict."""
    parameters = {"failure": FAILURE, "horizon": HORIZON, "separation": separation, **known, "learning": False}
    agent = {"name": "SequentialAOMultiRL", "parameters": parameters}
    return SuiteCase(world, told, _paper(), agent, EPISODES, HORIZON, STEPS, target, separation, pairs)


def reward_suite() -> list[SuiteCase]:
    """The share of the optimal reward over whole episodes, for agents and horizons."""
    worlds = [{"name": "gridworld", "parameters": {"edges": edges}} for edges in GRIDS] + [_random(1.0)]
    targets = dict(zip(HORIZONS, (80.0, 92.0, 98.0, 99.7), strict=True))
    cases = []
    for world in worlds:
        for horizon in HORIZONS:
            for label, agent in _players(horizon).items():
                target = targets[horizon] if label == "Recall" else None
                cases.append(SuiteCase(world, label, _paper(), agent, EPISODES, horizon, SHARE, target))
    return cases


SUITES = {"identify": identify_suite, "reward": reward_suite}
"""What makes the cases of each suite, by the name that commands have for it."""


def _players(horizon: int) -> dict[str, dict[str, Any]]:
    return {
        "Random": {"name": "Random", "parameters": {"horizon": horizon}},
        "one-episode learner": {"name": "OneEpisodeLearner", "parameters": {"horizon": horizon}},
        "Recall": {"name": "Recall", "parameters": {"failure": FAILURE, "horizon": horizon}},
        "learner told the task": {"name": "OracleLearner", "parameters": {"horizon": horizon}},
    }


def _paper(**parameters: bool) -> dict[str, Any]:
    return {"name": "paper", "parameters": parameters}


def _random(separation: float) -> dict[str, Any]:
    sizes = {"states": 16, "actions": 4, "models": 6, "successors": 5}
    return {"name": "random_models", "parameters": {**sizes, "separation": separation}}


@dataclass(frozen=True)
class SuiteRun:
    """What a suite shows of a run.

    steps: to recognise each episode in a known world, (n,).
    total: steps spent identifying, in all episodes.
    share: of the optimal reward, in per cent.
    wrong, abstained, episodes: how many were put in a wrong cluster, in none, and how many there are.
    bound: steps that no learner can do with less, in the mean over known worlds; nan where there is none.
    """

    steps: NDArray[np.int64]
    total: int
    share: float
    wrong: int
    abstained: int
    episodes: int
    bound: float


def run_suite(
    cases: Sequence[SuiteCase],
    runs: int,
    seed: int = 0,
    workers: int = 1,
    done: Callable[[int, int], None] | None = None,
) -> list[list[SuiteRun]]:
    """The runs of every case; ``done`` is told how many are over, of how many."""
    jobs = [(i, number) for i in range(len(cases)) for number in range(runs)]
    measured = dict[tuple[int, int], SuiteRun]()
    for count, (job, run) in enumerate(local(workers).map(partial(_work, list(cases), seed), jobs), 1):
        measured[job] = run
        if done is not None:
            done(count, len(jobs))
    return [[measured[i, number] for number in range(runs)] for i in range(len(cases))]


def _work(cases: list[SuiteCase], seed: int, job: tuple[int, int]) -> tuple[tuple[int, int], SuiteRun]:
    case = cases[job[0]]
    cell = case.cell(seed, job[1])
    return job, measure(case, cell, cell.run())


def measure(case: SuiteCase, cell: Cell, history: History) -> SuiteRun:
    """What a suite shows of a run."""
    models = make_world(cell.world)
    best = np.array([world.first_values(case.horizon) for world in models])
    optimum = best[history["task"], history["start"]]
    earned = history["clustering_reward"] + history["learning_reward"]
    known = history["certified"]
    bound = math.nan
    if case.aim != SHARE and known.any():
        each = identification_lower_bound(
            models,
            failure=FAILURE,
            episodes=case.episodes,
            separation=case.separation,
            distinguishing_set=case.pairs,
        )
        bound = float(each[history["task"][known]].mean())
    return SuiteRun(
        history["identification_steps"][known],
        int(history["identification_steps"].sum()),
        float(100.0 * earned.sum() / optimum.sum()),
        history.misclustered,
        int(history["abstained"].sum()),
        len(history),
        bound,
    )

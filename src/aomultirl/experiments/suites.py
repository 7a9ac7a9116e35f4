"""Two comparisons: how many steps it takes to recognise a world, and how much of the optimal reward is earned.

Each row of a suite is a world, a stream, an agent and the target it should reach; every run of it is a cell.  Random
worlds are another set in every run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
class Case:
    """One row: told and world name it; stream and agent as in a cell.

    aim: what the target is for, STEPS on known worlds, the steps of a whole RUN, both at most, or the SHARE of the
    optimal reward, at least; None where nothing is asked.  separation, pairs: what the lower bound is told; separation
    None where the worlds are all known.
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
    def place(self) -> str:
        """The world, in words."""
        parameters = self.world["parameters"]
        return f"grid, {parameters['edges']}" if "edges" in parameters else f"random, {parameters['separation']:g}"


def identify_suite() -> list[Case]:
    """Steps to recognise a world, for what the agent is told."""
    cases = []
    for edges in GRIDS:
        world = {"name": "gridworld", "parameters": {"edges": edges}}
        slack = 1.0 if edges == "third" else 1.3
        known = {"failure": FAILURE, "horizon": HORIZON, "separation": SEPARATION}
        few = {**known, "distinguishing_set": [list(pair) for pair in GAMMA]}
        paper = {"name": "paper", "parameters": {}}
        each = {"name": "paper", "parameters": {"each_first": True}}
        cases += [
            Case(
                world,
                "Gamma, lambda",
                paper,
                _sequential(few),
                EPISODES,
                HORIZON,
                STEPS,
                130 * slack,
                SEPARATION,
                GAMMA,
            ),
            Case(world, "lambda", paper, _sequential(known), EPISODES, HORIZON, STEPS, 1600 * slack, SEPARATION),
            Case(
                world,
                "M, lambda",
                each,
                _sequential({**known, "models": 4}),
                EPISODES + 4,
                HORIZON,
                RUN,
                45_000 * slack,
            ),
        ]
    for separation, target in ((1.0, 4_500.0), (0.7, 10_000.0)):
        told = {"failure": FAILURE, "horizon": HORIZON, "separation": separation - 1e-6}
        paper = {"name": "paper", "parameters": {}}
        cases.append(
            Case(
                _random(separation),
                "lambda",
                paper,
                _sequential(told),
                EPISODES,
                HORIZON,
                STEPS,
                target,
                separation - 1e-6,
            )
        )
    return cases


def reward_suite() -> list[Case]:
    """The share of the optimal reward over whole episodes, for agents and horizons."""
    worlds = [{"name": "gridworld", "parameters": {"edges": edges}} for edges in GRIDS] + [_random(1.0)]
    targets = dict(zip(HORIZONS, (80.0, 92.0, 98.0, 99.7), strict=True))
    cases = []
    for world in worlds:
        for horizon in HORIZONS:
            for label, agent in _players(horizon).items():
                target = targets[horizon] if label == "Recall" else None
                paper = {"name": "paper", "parameters": {}}
                cases.append(Case(world, label, paper, agent, EPISODES, horizon, SHARE, target))
    return cases


def _players(horizon: int) -> dict[str, dict[str, Any]]:
    return {
        "Random": {"name": "Random", "parameters": {"horizon": horizon}},
        "one-episode learner": {"name": "OneEpisodeLearner", "parameters": {"horizon": horizon}},
        "Recall": {"name": "Recall", "parameters": {"failure": FAILURE, "horizon": horizon}},
        "learner told the task": {"name": "OracleLearner", "parameters": {"horizon": horizon}},
    }


def _sequential(parameters: dict[str, Any]) -> dict[str, Any]:
    """Identification is what is measured, so no steps are spent on learning: the episode ends with the verdict."""
    return {"name": "SequentialAOMultiRL", "parameters": {**parameters, "learning": False}}


def _random(separation: float) -> dict[str, Any]:
    sizes = {"states": 16, "actions": 4, "models": 6, "successors": 5}
    return {"name": "random_models", "parameters": {**sizes, "separation": separation}}


@dataclass(frozen=True)
class Outcome:
    """Of one run: steps on known worlds, (n,); total steps; share of the optimal reward; and what went wrong."""

    steps: NDArray[np.int64]
    total: int
    share: float
    wrong: int
    abstained: int
    episodes: int
    bound: float


def run_suite(
    cases: Sequence[Case],
    runs: int,
    seed: int = 0,
    workers: int = 1,
    done: Callable[[int, int], None] | None = None,
) -> list[list[Outcome]]:
    """Every case's runs."""
    jobs = [(i, number) for i in range(len(cases)) for number in range(runs)]
    results: list[list[Outcome]] = [[] for _ in cases]
    found = dict[tuple[int, int], Outcome]()
    for count, (job, outcome) in enumerate(local(workers).map(partial(_work, list(cases), seed), jobs), 1):
        found[job] = outcome
        if done is not None:
            done(count, len(jobs))
    for job in jobs:
        results[job[0]].append(found[job])
    return results


def _work(cases: list[Case], seed: int, job: tuple[int, int]) -> tuple[tuple[int, int], Outcome]:
    case = cases[job[0]]
    cell = case.cell(seed, job[1])
    return job, measure(case, cell, cell.run())


def measure(case: Case, cell: Cell, history: History) -> Outcome:
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
    return Outcome(
        history["identification_steps"][known],
        int(history["identification_steps"].sum()),
        float(100.0 * earned.sum() / optimum.sum()),
        history.misclustered,
        int(history["abstained"].sum()),
        len(history),
        bound,
    )

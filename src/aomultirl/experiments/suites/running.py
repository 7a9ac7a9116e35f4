"""Run the rows of a suite, and measure what it shows of every run."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl import descriptions, theory
from aomultirl.experiments import beds
from aomultirl.experiments.cells import Cell, make_world
from aomultirl.experiments.executors import local
from aomultirl.experiments.history import History
from aomultirl.experiments.interaction import interact
from aomultirl.experiments.suites.cases import SHARE, SuiteCase
from aomultirl.experiments.suites.players import FAILURE

PLANNED_STEPS = 200_000
"""Steps that a planner plays in a run; with so many its error is far below what runs differ by."""
PLANNED_LEAST, PLANNED_MOST = 40, 4_000
"""Episodes that a planner plays, at least and at most."""


@dataclass(frozen=True)
class SuiteRun:
    """What a suite shows of a run.

    steps
        to recognise each episode in a known world, (n,).
    total
        steps spent identifying, in all episodes.
    share
        of the optimal reward, in per cent, over the whole run; nan where rewards are in the environment's own units.
    wrong, abstained, episodes
        how many episodes were put in a wrong cluster, in none, and how many there are.
    bound
        steps that no learner can do with less, in the mean over known worlds; nan where there is none.
    numbers
        what every column shows, by its heading: per cent of the optimal reward, or the mean reward of a life in the
        environment's own units.  Columns for which the run is too short are missing.
    worlds
        how many worlds the agent believes that there are; None where it does not say.
    models
        how many there are.
    """

    steps: NDArray[np.int64]
    total: int
    share: float
    wrong: int
    abstained: int
    episodes: int
    bound: float
    numbers: Mapping[str, float] = field(default_factory=dict)
    worlds: int | None = None
    models: int = 0


class Keeper(Protocol):
    """Where runs are kept as they end (:class:`aomultirl.experiments.suites.keeping.KeptRuns`)."""

    def get(self, case: SuiteCase, seed: int, number: int) -> SuiteRun | None:
        """A run that is there, or None."""

    def put(self, case: SuiteCase, seed: int, number: int, run: SuiteRun) -> None:
        """Keep a run."""


def run_suite(
    cases: Sequence[SuiteCase],
    runs: int,
    seed: int = 0,
    workers: int = 1,
    done: Callable[[int, int], None] | None = None,
    kept: Keeper | None = None,
) -> list[list[SuiteRun]]:
    """The runs of every case; ``done`` is told how many are over, of how many.

    Those that are ``kept`` already are not run, and the others are kept as they end.
    """
    # One run after the other: neighbouring rows are of the same worlds then, which a process makes once.
    jobs = [(i, number) for number in range(runs) for i in range(len(cases))]
    measured = dict[tuple[int, int], SuiteRun]()
    for i, number in jobs:
        found = None if kept is None else kept.get(cases[i], seed, number)
        if found is not None:
            measured[i, number] = found
    left = [job for job in jobs if job not in measured]
    for job, run in local(workers).map(partial(_work, list(cases), seed), left) if left else ():
        measured[job] = run
        if kept is not None:
            kept.put(cases[job[0]], seed, job[1], run)
        if done is not None:
            done(len(measured), len(jobs))
    return [[measured[i, number] for number in range(runs)] for i in range(len(cases))]


def _work(cases: list[SuiteCase], seed: int, job: tuple[int, int]) -> tuple[tuple[int, int], SuiteRun]:
    case = cases[job[0]]
    cell = case.cell(seed, job[1])
    if case.is_planner:
        return job, plan(case, cell)
    return job, meet(case, cell) if case.is_bed else measure(case, cell, cell.run())


def plan(case: SuiteCase, cell: Cell) -> SuiteRun:
    """What a planner earns that knows the worlds of this run; it learns nothing, so all columns show the same."""
    models = make_world(cell.world)
    if case.agent["name"] == "told_nothing_optimum":
        planned = theory.told_nothing_optimum(models, case.horizon)
    else:
        sampled = {"qmdp_reward": theory.qmdp_reward, "likeliest_world_reward": theory.likeliest_world_reward}
        episodes = min(PLANNED_MOST, max(PLANNED_LEAST, PLANNED_STEPS // case.horizon))
        planned = sampled[case.agent["name"]](models, case.horizon, episodes, seed=cell.run_seed)
    share = 100.0 * planned.share
    shown = share
    if case.reward_range is not None:
        shown = float(_in_own_units(planned.reward, case.horizon, case.reward_range))
    return SuiteRun(
        steps=np.empty(0, np.int64),
        total=0,
        share=share if case.reward_range is None else math.nan,
        wrong=0,
        abstained=0,
        episodes=0,
        bound=math.nan,
        numbers={window.heading: shown for window in case.windows if window.episodes(case.episodes)},
        models=len(models),
    )


def measure(case: SuiteCase, cell: Cell, history: History) -> SuiteRun:
    """What a suite shows of a run."""
    models = make_world(cell.world)
    known = history["certified"]
    best = np.array([world.first_values(case.horizon) for world in models])
    optimum = best[history["task"], history["start"]]
    is_share = case.reward_range is None
    return _shown(
        history,
        len(models),
        _numbers(case, history, optimum),
        share=float(100.0 * history.reward.sum() / optimum.sum()) if is_share else math.nan,
        bound=_bound(case, cell, history, known),
    )


def meet(case: SuiteCase, cell: Cell) -> SuiteRun:
    """What an agent earns in a bed: the mean reward of an episode, as the environment gives it.

    The seed of the run says which variant every episode is, so that all agents meet the same ones.
    """
    envs = _variants(cell.world["name"])
    history = interact(
        descriptions.make(cell.agent, "agent"),
        envs,
        cell.episodes,
        case.horizon,
        cell.run_seed,
        reward_range=case.reward_range,
        terminal=cell.world["parameters"]["terminal"],
    )
    parts = {window.heading: window.episodes(len(history)) for window in case.windows}
    numbers = {heading: float(history.reward[part].mean()) for heading, part in parts.items() if part is not None}
    return _shown(history, len(envs), numbers)


@lru_cache(maxsize=1)
def _variants(bed: str) -> list[beds.Environment]:
    """The variants of the bed that was met last; every episode resets its own with a seed."""
    return beds.find(bed).make()


def _shown(
    history: History, models: int, numbers: dict[str, float], share: float = math.nan, bound: float = math.nan
) -> SuiteRun:
    """What a history says of itself, with what was worked out of it, in so many worlds."""
    believed = history.about["findings"].get("worlds")
    return SuiteRun(
        steps=history["identification_steps"][history["certified"]],
        total=int(history["identification_steps"].sum()),
        share=share,
        wrong=history.misclustered,
        abstained=int(history["abstained"].sum()),
        episodes=len(history),
        bound=bound,
        numbers=numbers,
        worlds=believed if isinstance(believed, int) else None,
        models=models,
    )


def _numbers(case: SuiteCase, history: History, optimum: NDArray[np.float64]) -> dict[str, float]:
    """What every column shows, by its heading."""
    steps = history["identification_steps"] + history["learning_steps"]
    numbers: dict[str, float] = {}
    for window in case.windows:
        chosen = window.episodes(len(history))
        if chosen is None:
            continue
        if case.reward_range is None:
            numbers[window.heading] = float(100.0 * history.reward[chosen].sum() / optimum[chosen].sum())
        else:
            lives = _in_own_units(history.reward[chosen], steps[chosen], case.reward_range)
            numbers[window.heading] = float(lives.mean())
    return numbers


def _in_own_units(reward: ArrayLike, steps: ArrayLike, reward_range: tuple[float, float]) -> NDArray[np.float64]:
    """What lives of so many steps earned, in the units that their 0 and 1 stand for."""
    low, high = reward_range
    return (high - low) * np.asarray(reward, np.float64) + low * np.asarray(steps, np.float64)


def _bound(case: SuiteCase, cell: Cell, history: History, known: NDArray[np.bool_]) -> float:
    """Steps that no learner can do with less, in the mean over the episodes in known worlds."""
    if case.aim == SHARE or not known.any():
        return math.nan
    each = theory.identification_lower_bound(
        make_world(cell.world),
        failure=FAILURE,
        episodes=case.episodes,
        separation=case.separation,
        distinguishing_set=case.pairs,
    )
    return float(each[history["task"][known]].mean())

"""What there is to know about a set of worlds before any learner sees it.

Sizes, separation, smallest distinguishing sets, diameters and hitting times, and the paper's N and H0;
:func:`aomultirl.reports.tables.inspection_tables` shows them, and which of the paper's assumptions hold.
"""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from aomultirl import checks, theory
from aomultirl.geometry.reachability import hitting_time_is_finite
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

T = TypeVar("T")
TIME_LIMIT = 10.0
"""Seconds for each of: a smallest set, all diameters, all hitting times; more only on request."""


class PhaseSize(NamedTuple):
    """The paper's clustering phase for one distinguishing set.

    pairs: the size of the set.
    every: the set is S x A; otherwise it is a smallest one.
    constants: "paper" or "released".
    samples: N, visits of each pair.
    horizon: H0, in steps; None where no bound on the hitting time is known.
    """

    pairs: int
    every: bool
    constants: str
    samples: int
    horizon: int | None


class EarlyWorlds(NamedTuple):
    """Assumption 19: every world comes within the first K1 episodes, K1 S A < K - K1 (E17).

    episodes: K.
    pairs: S A.
    first: K1, the episodes after which every world had come; inf where one never did; None where nobody looked, so that
        it is M at least.
    models: M.
    """

    episodes: int
    pairs: int
    first: float | None
    models: int

    @property
    def most(self) -> int:
        """The most that K1 may be."""
        return theory.early_episodes(self.pairs, 1, self.episodes)

    @property
    def holds(self) -> bool | None:
        """Whether the assumption does; None where that depends on the stream."""
        if self.first is None:
            return None if self.models <= self.most else False
        return self.first <= self.most


class Inspection(NamedTuple):
    """A set of worlds, measured.

    models: the M worlds.
    separation: lambda; inf for one world.
    separation_everywhere: the least distance of two worlds at any pair; inf for one world.
    separated_horizon: steps below which episodes cannot be told apart, an order; None where that distance is 0 or inf.
    distinguishing_set, half_distinguishing_set: (state, action), at a level just below lambda and at lambda / 2.
    smallest: False where a set was chosen greedily, because a smallest one takes too long to find.
    communicating: one a world.
    diameters, hitting_times: one a world, in steps; nan where it was not computed.
    finite_hitting_times: one a world; None where that was not found out.
    hitting_time: the bound that H0 is made of, in steps: the greatest, or the one that was given.
    episodes, failure: K and p that N and H0 are for.
    early: what there is to know of Assumption 19.
    phases: the clustering phases of two sets with two kinds of constants; empty where worlds cannot be told apart.
    """

    models: ModelSet
    separation: float
    separation_everywhere: float
    separated_horizon: float | None
    distinguishing_set: list[tuple[int, int]]
    half_distinguishing_set: list[tuple[int, int]]
    smallest: bool
    communicating: list[bool]
    diameters: list[float]
    hitting_times: list[float]
    finite_hitting_times: list[bool | None]
    hitting_time: float
    episodes: int
    failure: float
    early: EarlyWorlds
    phases: list[PhaseSize]


def inspect(
    models: ModelSet,
    *,
    episodes: int = 200,
    failure: float = 0.03,
    hitting_time: float | None = None,
    slow: bool = False,
    early: Sequence[tuple[int, float]] = (),
) -> Inspection:
    """Measure a set of worlds.

    Parameters
    ----------
    episodes, failure
        K and p, for N and H0.
    hitting_time
        D for H0 in place of the exact one.
    slow
        compute diameters and hitting times of worlds so large that it takes minutes.
    early
        K and K1 of runs in these worlds, for Assumption 19: how many episodes there were, and after how many every
        world had come, inf if one never did.
    """
    checks.integer("episodes", episodes, least=1)
    checks.real("failure", failure, above=0.0, below=1.0)
    if hitting_time is not None:
        hitting_time = checks.real("hitting_time", hitting_time, above=0.0)
    separation = models.separation()
    separable = 0.0 < separation < math.inf
    everywhere, told_apart = models.separation_everywhere(), None
    if 0.0 < everywhere < math.inf:
        told_apart = theory.separated_horizon(models=len(models), separation=everywhere, failure=failure)
    half, half_is_smallest = _small_set(models, separation / 2.0) if separable else ([], True)
    limit = None if slow else TIME_LIMIT
    finite = _each_in_time(models, limit, lambda m, t: hitting_time_is_finite(m.successors, m.n_states, t))
    times = [math.inf if known is False else math.nan for known in finite]
    if all(finite):
        times = _numbers(_each_in_time(models, limit, MDP.hitting_time))
    bound = hitting_time if hitting_time is not None else float(np.max(times))
    chosen, is_smallest = _small_set(models, None) if separable else ([], True)
    return Inspection(
        models=models,
        separation=separation,
        separation_everywhere=everywhere,
        separated_horizon=told_apart,
        distinguishing_set=chosen,
        half_distinguishing_set=half,
        smallest=is_smallest and half_is_smallest,
        communicating=[m.is_communicating() for m in models],
        diameters=_numbers(_each_in_time(models, limit, MDP.diameter)),
        hitting_times=times,
        finite_hitting_times=finite,
        hitting_time=bound,
        episodes=episodes,
        failure=failure,
        early=_early_worlds(models, episodes, early),
        phases=_phases(models, len(chosen), bound, episodes, failure) if separable else [],
    )


def _early_worlds(models: ModelSet, episodes: int, runs: Sequence[tuple[int, float]]) -> EarlyWorlds:
    """Assumption 19 in the run that is furthest from it, or, where there is none, for K episodes."""
    pairs, count = models.n_states * models.n_actions, len(models)
    if not runs:
        return EarlyWorlds(episodes, pairs, None, count)
    total, first = max(runs, key=lambda run: run[1] * (pairs + 1) - run[0])
    return EarlyWorlds(total, pairs, first, count)


def _small_set(models: ModelSet, level: float | None) -> tuple[list[tuple[int, int]], bool]:
    """A smallest distinguishing set and True, or a greedy one and False."""
    try:
        return models.distinguishing_set(level, time_limit=TIME_LIMIT), True
    except TimeoutError:
        return models.distinguishing_set(level, method="greedy"), False


def _each_in_time(models: ModelSet, limit: float | None, measure: Callable[[MDP, float | None], T]) -> list[T | None]:
    """measure(world, seconds left) for every world; None from the first one on that takes too long.

    A time that is too long to be exact is shown as such later, not warned of.
    """
    measured: list[T | None] = []
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for world in models:
            left = None if limit is None else begin + limit - time.process_time()
            try:
                measured.append(measure(world, left))
            except TimeoutError:
                break
    return measured + [None] * (len(models) - len(measured))


def _numbers(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _phases(models: ModelSet, smallest: int, bound: float, episodes: int, failure: float) -> list[PhaseSize]:
    level, states = models.default_level(), models.n_states
    phases = []
    for pairs, every in ((smallest, False), (states * models.n_actions, True)):
        for constants in ("paper", "released"):
            samples = theory.samples_needed(states, pairs, level, episodes, failure, constants)
            horizon = None
            if math.isfinite(bound):
                horizon = theory.clustering_horizon(states, pairs, level, bound, episodes, failure, constants)
            phases.append(PhaseSize(pairs, every, constants, samples, horizon))
    return phases

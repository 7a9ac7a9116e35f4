"""Agents with numbers small enough to watch.

The paper's clustering phase takes some hundred thousand steps, because its constants hold for every set of worlds and
all episodes at once.  To watch, N ~ 135 / lambda^2 samples a pair do: on the paper's grids 80, which put 7 of 9,000
episodes in a wrong cluster.  The clustering phase stops once they are there, and learning adds no bonus.
"""

import math
from collections.abc import Callable

from aomultirl import checks, theory
from aomultirl.agents import (
    Agent,
    AOMultiRL,
    DoublingAOMultiRL,
    OneEpisodeUCBVI,
    Optimal,
    OracleUCBVI,
    PooledUCBVI,
    Random,
    Recall,
    SequentialAOMultiRL,
    TwoStageAOMultiRL,
)
from aomultirl.mdp import ModelSet
from aomultirl.reports.watching_frames import BELIEF, EVIDENCE, Recording

SAMPLES = 135.0
"""N lambda^2."""
MOST_STEPS = 20_000
"""Of a clustering phase; each is taken one by one."""
STAGES = 5
"""So many times that for two stages: all pairs have to be visited in the first, and the second has a third of delta."""
LEARNING = 60
HORIZON = 200
"""Of agents that do not cluster."""
FAILURE = 0.03
RECALLED = 1_000
"""Steps of an episode of the agent that recognises while it acts."""
SEARCH = 10.0
"""Seconds for a smallest distinguishing set; a greedy one is taken otherwise."""


def _aomultirl(models: ModelSet) -> Agent:
    gamma = _gamma(models)
    return AOMultiRL(
        len(models),
        _separation(models),
        None,
        FAILURE,
        gamma,
        learning_horizon=LEARNING,
        samples=_samples(models, len(gamma) if gamma else _every(models)),
        clustering_horizon=MOST_STEPS,
        stop_early=True,
        bonus_scale=0.0,
        reuse_samples=True,
    )


def _two_stage(models: ModelSet) -> Agent:
    return TwoStageAOMultiRL(
        len(models),
        _separation(models),
        None,
        FAILURE,
        learning_horizon=LEARNING,
        first_clustering_horizon=STAGES * MOST_STEPS,
        samples=_samples(models, _every(models), STAGES),
        clustering_horizon=STAGES * MOST_STEPS,
        stop_early=True,
        bonus_scale=0.0,
        reuse_samples=True,
    )


def _doubling(models: ModelSet) -> Agent:
    gamma = _gamma(models)
    pairs = len(gamma) if gamma else _every(models)
    samples = _samples(models, pairs)
    return DoublingAOMultiRL(
        len(models),
        _separation(models),
        FAILURE,
        gamma,
        horizon=32 * pairs * samples,
        samples=samples,
        bonus_scale=0.0,
        reuse_samples=True,
    )


def _sequential(models: ModelSet) -> Agent:
    """With room for N_0 visits of each pair in a new world, and the ways between them."""
    gamma, separation = _gamma(models), _separation(models)
    visits = (len(gamma) if gamma else _every(models)) * math.ceil(160.0 / separation**2)
    return SequentialAOMultiRL(FAILURE, min(MOST_STEPS, 8 * visits + 20 * models.n_states), separation, gamma)


MAKERS: dict[str, Callable[[ModelSet], Agent]] = {
    "aomultirl": _aomultirl,
    "two-stage": _two_stage,
    "doubling": _doubling,
    "sequential": _sequential,
    "recall": lambda models: Recall(FAILURE, RECALLED),
    "one-episode": lambda models: OneEpisodeUCBVI(FAILURE, HORIZON, bonus_scale=0.0),
    "pooled": lambda models: PooledUCBVI(FAILURE, HORIZON, bonus_scale=0.0),
    "oracle": lambda models: OracleUCBVI(FAILURE, HORIZON, len(models), bonus_scale=0.0),
    "optimal": lambda models: Optimal(HORIZON),
    "random": lambda models: Random(HORIZON),
}


def check(name: str) -> None:
    """Refuse an agent that is not there."""
    checks.choice("agent", name, list(MAKERS))


def make(name: str, models: ModelSet) -> Agent:
    """The agent called ``name``, one of :data:`MAKERS`, with numbers for watching it in these worlds."""
    check(name)
    return MAKERS[name](models)


def numbers(recording: Recording, models: ModelSet) -> str:
    """Which numbers were in force, and what the paper's N would be."""
    first, last = recording.frames[0], recording.frames[-1]
    if recording.kind == BELIEF:
        return f"H = {first.part_steps:,} steps, p = {FAILURE:g}; it is told nothing else"
    if recording.kind == EVIDENCE:
        return (
            f"lambda = {_separation(models):.3g}, {len(recording.pairs):,} pairs, p = {FAILURE:g}, H = "
            f"{first.part_steps:,}; new worlds need {recording.samples:,} visits a pair"
        )
    if not recording.pairs:
        learns = recording.agent not in (Optimal.__name__, Random.__name__)
        return f"H = {last.part_steps:,} steps{', no bonus' if learns else ''}: numbers for watching"
    pairs = len(recording.pairs)
    paper = theory.samples_needed(models.n_states, pairs, _separation(models), 200, FAILURE)
    return (
        f"N = {recording.samples:,} samples for each of {pairs} pair{'s' if pairs != 1 else ''}, "
        f"H0 at most {first.part_steps:,}, H1 = {last.part_steps:,}, no bonus: numbers for watching; "
        f"the paper's N for 200 episodes is {paper:,}"
    )


def _separation(models: ModelSet) -> float:
    """Just below lambda, because the tests are strict; one world alone is as far from others as can be."""
    return min(2.0, models.separation()) * (1.0 - 1e-6)


def _samples(models: ModelSet, pairs: int, times: int = 1) -> int:
    """N, as far as there are steps for it."""
    enough = math.ceil(times * SAMPLES / _separation(models) ** 2)
    return max(1, min(enough, times * MOST_STEPS // (2 * pairs)))


def _every(models: ModelSet) -> int:
    return models.n_states * models.n_actions


def _gamma(models: ModelSet) -> list[tuple[int, int]] | None:
    """A distinguishing set; all pairs where there is only one world."""
    try:
        return models.distinguishing_set(time_limit=SEARCH) or None
    except TimeoutError:
        return models.distinguishing_set(method="greedy") or None

"""Agents with numbers small enough to watch.

The paper's clustering phase takes some hundred thousand steps, because its constants hold for every set of worlds and
all episodes at once.  To watch, N ~ 135 / lambda^2 samples a pair do: on the paper's grids 80, which put 7 of 9,000
episodes in a wrong cluster.  The clustering phase stops once they are there, and learning adds no bonus.
"""

import math
from collections.abc import Callable
from typing import Any

from aomultirl import agents, checks, theory
from aomultirl.agents.base import Agent
from aomultirl.analysis.phrases import counted
from aomultirl.analysis.recording import BELIEF, EVIDENCE, Recording
from aomultirl.model_set import ModelSet

SAMPLES = 135.0
"""N lambda^2."""
MOST_STEPS = 20_000
"""Of a clustering phase; each is taken one by one."""
STAGES = 5
"""So many times that for two stages: all pairs have to be visited in the first, and the second has a third of delta."""
LEARNING = 60
"""Steps of the learning phase after a clustering phase."""
HORIZON = 200
"""Steps of an episode of agents that do not cluster."""
RECALLED = 1_000
"""Steps of an episode of the agent that recognises while it acts."""
FAILURE = 0.03
"""p, as in the paper's experiment."""
PAPER_EPISODES = 200
"""K of the paper's experiment, for the N that the paper would take."""
SEARCH = 10.0
"""Seconds for a smallest distinguishing set; a greedy one is taken otherwise."""


def _aomultirl(models: ModelSet) -> Agent:
    gamma, pairs = _gamma(models)
    return agents.AOMultiRL(distinguishing_set=gamma, **_phases(models, pairs, 1))


def _two_stage(models: ModelSet) -> Agent:
    phases = _phases(models, models.n_states * models.n_actions, STAGES)
    return agents.TwoStageAOMultiRL(first_clustering_horizon=STAGES * MOST_STEPS, **phases)


def _phases(models: ModelSet, pairs: int, times: int) -> dict[str, Any]:
    """What AOMultiRL is told of its two phases, for so many times the usual samples and steps."""
    return {
        **_without_bonus(models, _samples(models, pairs, times)),
        "hitting_time": None,
        "learning_horizon": LEARNING,
        "clustering_horizon": times * MOST_STEPS,
        "stop_early": True,
    }


def _without_bonus(models: ModelSet, samples: int) -> dict[str, Any]:
    known = {"models": len(models), "separation": _separation(models), "failure": FAILURE, "samples": samples}
    return {**known, "bonus_scale": 0.0, "reuse_samples": True}


def _doubling(models: ModelSet) -> Agent:
    gamma, pairs = _gamma(models)
    samples = _samples(models, pairs)
    steps = 32 * pairs * samples
    return agents.DoublingAOMultiRL(distinguishing_set=gamma, horizon=steps, **_without_bonus(models, samples))


def _sequential(models: ModelSet) -> Agent:
    """With room for N_0 visits of each pair in a new world, and the ways between them."""
    (gamma, pairs), separation = _gamma(models), _separation(models)
    visits = pairs * math.ceil(160.0 / separation**2)
    horizon = min(MOST_STEPS, 8 * visits + 20 * models.n_states)
    return agents.SequentialAOMultiRL(FAILURE, horizon, separation, gamma)


MAKERS: dict[str, Callable[[ModelSet], Agent]] = {
    "aomultirl": _aomultirl,
    "two-stage": _two_stage,
    "doubling": _doubling,
    "sequential": _sequential,
    "recall": lambda models: agents.Recall(FAILURE, RECALLED),
    "one-episode": lambda models: agents.OneEpisodeUCBVI(FAILURE, HORIZON, bonus_scale=0.0),
    "pooled": lambda models: agents.PooledUCBVI(FAILURE, HORIZON, bonus_scale=0.0),
    "oracle": lambda models: agents.OracleUCBVI(FAILURE, HORIZON, len(models), bonus_scale=0.0),
    "optimal": lambda models: agents.Optimal(HORIZON),
    "random": lambda models: agents.Random(HORIZON),
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
    first, last, pairs = recording.frames[0], recording.frames[-1], len(recording.pairs)
    if recording.kind == BELIEF:
        signs = "; w: worlds that it remembers, ≈ m: what each mostly was; c: proven" if recording.names_worlds else ""
        return f"H = {first.part_steps:,} steps, p = {FAILURE:g}; it is told nothing else{signs}"
    if recording.kind == EVIDENCE:
        return (
            f"lambda = {_separation(models):.3g}, {pairs:,} pairs, p = {FAILURE:g}, H = {first.part_steps:,}; "
            f"new worlds need {recording.samples:,} visits a pair"
        )
    if not pairs:
        learns = bool(recording.report.samples)
        return f"H = {last.part_steps:,} steps{', no bonus' if learns else ''}: numbers for watching"
    paper = theory.samples_needed(models.n_states, pairs, _separation(models), PAPER_EPISODES, FAILURE)
    return (
        f"N = {recording.samples:,} samples for each of {counted(pairs, 'pair')}, "
        f"H0 at most {first.part_steps:,}, H1 = {last.part_steps:,}, no bonus: numbers for watching; "
        f"the paper's N for {PAPER_EPISODES} episodes is {paper:,}"
    )


def _separation(models: ModelSet) -> float:
    """Just below lambda, because the tests are strict; one world alone is as far from others as can be."""
    return min(2.0, models.separation()) * (1.0 - 1e-6)


def _samples(models: ModelSet, pairs: int, times: int = 1) -> int:
    """N, as far as there are steps for it."""
    enough = math.ceil(times * SAMPLES / _separation(models) ** 2)
    return max(1, min(enough, times * MOST_STEPS // (2 * pairs)))


def _gamma(models: ModelSet) -> tuple[list[tuple[int, int]] | None, int]:
    """A distinguishing set and its size; None, and the number of all pairs, where there is only one world."""
    try:
        gamma = models.distinguishing_set(time_limit=SEARCH)
    except TimeoutError:
        gamma = models.distinguishing_set(method="greedy")
    return (gamma, len(gamma)) if gamma else (None, models.n_states * models.n_actions)

"""Why the assumptions: what becomes of learners where the diameter or the hitting time is infinite, and why worlds are
separated by lambda and not by entropy.

A finite diameter (Section 3, Appendix C) is here and in :mod:`.assumptions_blocked`, a finite hitting time in
:mod:`.assumptions_hitting`, the entropy pair (Appendix B) in :mod:`.assumptions_entropy`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from aomultirl import theory
from aomultirl.experiments.executors import Executor
from aomultirl.experiments.lower_bounds import assumptions_entropy, assumptions_hitting
from aomultirl.experiments.lower_bounds.assumptions_blocked import (
    AGENTS,
    DIAMETER,
    FAILURE,
    NAMING,
    WORLDS,
    Course,
    Pairing,
    Played,
    told,
)
from aomultirl.experiments.lower_bounds.assumptions_gathering import Gathering
from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.experiments.lower_bounds.sweeps import mean_of
from aomultirl.experiments.lower_bounds.tasks import carry_out
from aomultirl.mdp import MDP, ModelSet
from aomultirl.worlds.jao import HUB, LEFT

KEY = 10
PLACE, FIGURE = "Section 3 and Appendix C, non-communicating 2-JAO", "assumptions_blocked"
SHOWN = ("AOMultiRL", "DoublingAOMultiRL", "SequentialAOMultiRL")
"""Agents that look for what tells worlds apart: those of the figure, which succeed where it can be reached."""
INFORMED = ("OracleUCBVI", "OracleLearner", "Optimal")
"""Agents that are told the world."""


class Sizes(NamedTuple):
    """levels: lambda of the figure, ascending, the last that of all agents; blocks: of M episodes each;
    longest: trajectories of the entropy pair; hitting: sizes of the claims on the hitting time."""

    levels: tuple[float, ...]
    blocks: int
    longest: int
    hitting: assumptions_hitting.Sizes


QUICK = Sizes((0.75, 0.95), 4, 8, assumptions_hitting.Sizes(160, (1 / 512, 1 / 128, 1 / 32, 1.0), (4, 6, 8, 10), 5))
FULL = Sizes(
    (0.4, 0.55, 0.75, 0.95),
    10,
    10,
    assumptions_hitting.Sizes(160, (1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 16, 1.0), (4, 6, 8, 10, 12), 20),
)

Found = Mapping[Any, Any]
"""What each task found."""


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on the assumptions."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: Sizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    found = carry_out(_tasks(sizes), KEY, seed, executor)
    blocked = [*_computed(sizes), *_blocked(sizes, found), *_lost(sizes, found)]
    return (
        Findings(blocked, [_figure(sizes, found)])
        + assumptions_hitting.measure(sizes.hitting, found, seed)
        + assumptions_entropy.measure(sizes.longest)
    )


def _tasks(sizes: Sizes) -> Iterator[Course | Pairing | Gathering]:
    """What takes long comes first."""
    for name in sorted(AGENTS, key=lambda name: name != "SequentialAOMultiRL"):
        yield Pairing(name, sizes.levels[0], sizes.levels[-1], sizes.blocks)
    for name in reversed(SHOWN):
        yield from (
            Course(name, level, level, there, sizes.blocks) for level in sizes.levels for there in (False, True)
        )
    yield from assumptions_hitting.tasks(sizes.hitting)


def reachable(model: MDP, start: int) -> set[int]:
    """The states that some policy reaches from ``start`` with positive probability."""
    found, waiting = {start}, [start]
    while waiting:
        after = np.flatnonzero(model.transitions[waiting.pop()].max(axis=0) > 0.0)
        fresh = set(after.tolist()) - found
        found |= fresh
        waiting += fresh
    return found


def _computed(sizes: Sizes) -> Iterator[Claim]:
    course = Course(SHOWN[0], sizes.levels[-1], sizes.levels[-1], False, sizes.blocks)
    models, horizon = course.worlds(), told(course.told, False).horizon
    reached = float(sum(LEFT in reachable(model, HUB) for model in models))
    yield Claim(
        "from the adversary's start no policy reaches the state in which the worlds differ by lambda",
        PLACE,
        0.0,
        reached,
        reached,
        reached,
        reached == 0.0 and not any(model.is_communicating() for model in models),
        "computed; the number of worlds in which it can be reached, over all policies",
        f"{len(models)} worlds, lambda = {models.separation():g}, infinite diameter",
    )
    inside = sorted(reachable(models[0], HUB))
    apart, gap = _separation(models, inside), float(models[0].transitions[HUB, WORLDS, 1] - 4.0 / DIAMETER)
    yield Claim(
        "where the learner can be, worlds are only 2 Delta apart, however large lambda is",
        PLACE,
        2.0 * gap,
        apart,
        apart,
        apart,
        abs(apart - 2.0 * gap) < 1e-12,
        "computed; equal up to rounding",
        f"Delta = sqrt(S A / (3 H D)) / 20 with H = {horizon:,}, D = {DIAMETER:g}, S A = {12 * WORLDS}",
    )
    open_worlds = Course(SHOWN[0], course.separation, course.told, True, sizes.blocks).worlds()
    steps, free = (
        float(theory.identification_lower_bound(worlds, failure=FAILURE).min()) for worlds in (models, open_worlds)
    )
    yield Claim(
        f"whoever is wrong with probability {FAILURE:g} at most needs more steps than an episode has, all worlds known",
        PLACE,
        "above 1, in multiples of H",
        steps / horizon,
        steps / horizon,
        steps / horizon,
        steps > horizon,
        "computed, a linear program; above 1",
        f"{steps:,.0f} steps, H = {horizon:,}; where the left state can be reached the same bound is {free:,.0f} steps",
    )


def _separation(models: ModelSet, states: list[int]) -> float:
    apart = models.distances()[:, :, states].max(axis=(2, 3))
    return float(apart[~np.eye(len(models), dtype=bool)].min())


def _pairings(sizes: Sizes, found: Found) -> dict[str, tuple[Played, Played]]:
    return {name: found[Pairing(name, sizes.levels[0], sizes.levels[-1], sizes.blocks)] for name in AGENTS}


def _blocked(sizes: Sizes, found: Found) -> Iterator[Claim]:
    most = sizes.levels[-1]
    runs = {name: pair[1] for name, pair in _pairings(sizes, found).items()}
    visits, steps = (float(sum(getattr(run, what).sum() for run in runs.values())) for what in ("left", "steps"))
    yield Claim(
        "no agent ever was in the left state, whatever it did",
        PLACE,
        0.0,
        visits,
        visits,
        visits,
        visits == 0.0,
        "counted; none may be",
        f"{steps:,.0f} steps of {len(runs)} agents: {', '.join(runs)}",
    )
    rates = {name: _rate(runs[name]) for name in NAMING}
    rate, low, high = max(rates.values())
    yield Claim(
        "no agent names worlds better than by chance",
        PLACE,
        f"at most 1 / M = {1 / WORLDS:g}",
        rate,
        low,
        high,
        low <= 1.0 / WORLDS,
        "the 95 % interval (Clopper and Pearson) of the best begins at 1 / M or below",
        "; ".join(f"{one} {share:.0%}" for one, (share, *_) in rates.items()),
        FIGURE,
    )
    rates = {name: _rate(found[Course(name, most, most, True, sizes.blocks)]) for name in SHOWN}
    rate, low, high = min(rates.values())
    yield Claim(
        "the same agents name worlds where the left state can be reached",
        PLACE,
        f"at least 1 - p = {1 - FAILURE:g}",
        rate,
        low,
        high,
        high >= 1.0 - FAILURE,
        "the 95 % interval (Clopper and Pearson) of the worst ends at 1 - p or above",
        "; ".join(f"{one} {share:.0%}" for one, (share, *_) in rates.items()),
        FIGURE,
    )


def _rate(run: Played) -> tuple[float, float, float]:
    """How often the world was named after the first block, with its interval."""
    hits, games = int(run.named[WORLDS:].sum()), len(run.named) - WORLDS
    low = float(betaincinv(hits, games - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, games - hits, 0.975)) if hits < games else 1.0
    return hits / games, low, high


def _lost(sizes: Sizes, found: Found) -> Iterator[Claim]:
    """What it costs, and that lambda makes no difference."""
    pairs = _pairings(sizes, found)
    lost = {name: mean_of(pair[1].lost.reshape(-1, WORLDS).mean(axis=1)) for name, pair in pairs.items()}
    ignorant = {name: mean for name, mean in lost.items() if name not in INFORMED}
    name, mean = min(ignorant.items(), key=lambda item: item[1].mean)
    yield Claim(
        "every agent that is not told the world loses at least as much as always the same right action does",
        PLACE,
        f"at least 1 - 1 / M = {1 - 1 / WORLDS:g}",
        mean.mean,
        mean.low,
        mean.high,
        mean.high >= 1.0 - 1.0 / WORLDS,
        "the 95 % interval of the agent that loses least ends at 1 - 1 / M or above, in multiples of what never taking "
        "the special action loses",
        f"the least: {name}; " + "; ".join(f"{one} {value.mean:.2f}" for one, value in lost.items()),
    )
    apart = max(
        float(np.abs(one.astype(float) - two.astype(float)).max())
        for least, most in pairs.values()
        for one, two in zip(least, most, strict=True)
    )
    yield Claim(
        f"lambda makes no difference: with {sizes.levels[0]:g} and {sizes.levels[-1]:g} every agent does the same",
        PLACE,
        0.0,
        apart,
        apart,
        apart,
        apart == 0.0,
        "run with the same randomness; the largest difference in reward, cluster or visits of any episode must be 0",
        f"{len(pairs)} agents, all told lambda = {sizes.levels[-1]:g}",
    )


def _figure(sizes: Sizes, found: Found) -> Figure:
    series = []
    for there, words in ((False, "out of reach"), (True, "within reach")):
        for name in SHOWN:
            rates = [_rate(found[Course(name, level, level, there, sizes.blocks)]) for level in sizes.levels]
            share, low, high = zip(*rates, strict=True)
            series.append(Series(f"{name}, left state {words}", sizes.levels, share, low, high))
    ends = (sizes.levels[0], sizes.levels[-1])
    series.append(Series("chance, 1 / M", ends, (1 / WORLDS, 1 / WORLDS), kind="theory"))
    return Figure(
        FIGURE,
        "2-JAO worlds: how often an episode is put in the cluster of its world",
        "lambda",
        "share of episodes",
        series,
        log_x=False,
        log_y=False,
        caption=f"M = {WORLDS}, D = {DIAMETER:g}, every episode from the hub; 95 % intervals (Clopper and Pearson).",
    )

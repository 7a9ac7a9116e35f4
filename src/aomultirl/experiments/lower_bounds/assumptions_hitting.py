"""Why a finite hitting time: ExploreID's H0 is void on 2-JAO worlds, and what ExploreID and GOSPRL do without it.

H0 = 12 D |Gamma| N needs a bound D on the time in which *every* policy meets any state, and on 2-JAO worlds left
actions alone never meet the right state.  Run with a finite guess for D, ExploreID may have its samples all the same,
since it walks at random where it sees nothing to do.  In a lock (:mod:`.assumptions_gathering`) it has not.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents, theory
from aomultirl.agents.base import Setting
from aomultirl.experiments.lower_bounds.assumptions_gathering import (
    ACTIONS,
    EXPLORE_ID,
    FAILURE,
    GOSPRL,
    LEVEL,
    LOCK,
    TWO_JAO,
    Gathered,
    Gathering,
    world,
)
from aomultirl.experiments.lower_bounds.exponents import Fit, fit
from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.worlds.jao import two_jao
from aomultirl.worlds.jao_tree import two_jao_tree

ASSUMPTION, HORIZON = "Section 2, assumption of a finite hitting time", "Section 4, lemma on H0 (E7)"
PLANNING = "Appendix F, GOSPRL in place of ExploreID (E30)"
GUESSES, LOCKED = "assumptions_guess", "assumptions_lock"


class Sizes(NamedTuple):
    """diameter: D of the 2-JAO world; shares: guesses, in D; locks: their lengths; repetitions: episodes a point."""

    diameter: int
    shares: tuple[float, ...]
    locks: tuple[int, ...]
    repetitions: int


def tasks(sizes: Sizes) -> Iterator[Gathering]:
    """All that is run."""
    for name in (EXPLORE_ID, GOSPRL):
        for share in sizes.shares:
            yield Gathering(name, TWO_JAO, sizes.diameter, share * sizes.diameter, sizes.repetitions)
        for length in sizes.locks:
            yield Gathering(name, LOCK, length, float(length), sizes.repetitions)


def measure(sizes: Sizes, found: Mapping[Any, Any], seed: int) -> Findings:
    """The claims on the hitting time."""
    mine: dict[Gathering, Gathered] = {task: found[task] for task in tasks(sizes)}
    lines = {name: _line(name, sizes, mine, seed) for name in (EXPLORE_ID, GOSPRL)}
    claims = [*_void(), *_guess(sizes, mine), *_locked(sizes, mine, lines)]
    return Findings(claims, [_guess_figure(sizes, mine), _lock_figure(sizes, mine, lines)])


def _void() -> list[Claim]:
    sets = {
        "2-JAO": two_jao(ACTIONS, 40.0, LEVEL),
        "2-JAO trees": two_jao_tree(12, 13, 16.0, LEVEL),
        "JAO trees": two_jao_tree(8, 5, 16.0, LEVEL, kind="jao"),
        "locks": [world(LOCK, length) for length in (4, 8)],
    }
    worlds = [model for models in sets.values() for model in models]
    finite = float(sum(np.isfinite(model.hitting_time()) for model in worlds))
    wide = float(sum(not np.isfinite(model.diameter()) for model in worlds))
    refused = float(sum(_refused(attempt) for attempt in ATTEMPTS.values()))
    names = ", ".join(sets)
    return [
        Claim(
            "no 2-JAO world has a finite hitting time, although all have a finite diameter",
            ASSUMPTION,
            0.0,
            finite,
            finite,
            finite,
            finite == 0.0 and wide == 0.0,
            "computed exactly; how many have a finite hitting time, and every diameter must be finite",
            f"{len(worlds)} worlds: {names}; the paper's own hard worlds break its assumption",
        ),
        Claim(
            "there is no H0 for an infinite hitting time, and ExploreID's agents refuse to choose one",
            HORIZON,
            float(len(ATTEMPTS)),
            refused,
            refused,
            refused,
            refused == len(ATTEMPTS),
            "tried; all must be refused",
            f"tried: {', '.join(ATTEMPTS)}",
        ),
    ]


def _begin(agent: agents.Agent) -> None:
    models = two_jao(ACTIONS, 40.0, LEVEL)
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, 1))


ATTEMPTS: dict[str, Any] = {
    "theory.clustering_horizon": lambda: theory.clustering_horizon(3, ACTIONS, LEVEL, np.inf, 1, FAILURE),
    "AOMultiRL": lambda: _begin(
        agents.AOMultiRL(two_jao(ACTIONS, 40.0, LEVEL), LEVEL - 1e-6, None, FAILURE, horizon=10**9)
    ),
    "TwoStageAOMultiRL": lambda: _begin(
        agents.TwoStageAOMultiRL(two_jao(ACTIONS, 40.0, LEVEL), LEVEL - 1e-6, None, FAILURE, horizon=10**9)
    ),
}


def _refused(attempt: Any) -> bool:
    try:
        attempt()
    except ValueError:
        return True
    return False


def _share(task: Gathering, found: Gathered) -> tuple[float, float, float]:
    """Of the samples wanted that were gathered, in the mean, and its least and its most."""
    return _spread(found.samples / task.wanted)


def _spread(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean, the least and the most."""
    low, high = float(values.min()), float(values.max())
    return min(max(float(values.mean()), low), high), low, high


def _guess(sizes: Sizes, found: Mapping[Gathering, Gathered]) -> Iterator[Claim]:
    for name in (EXPLORE_ID, GOSPRL):
        task = Gathering(name, TWO_JAO, sizes.diameter, float(sizes.diameter), sizes.repetitions)
        share, low, high = _share(task, found[task])
        spent = found[task].steps.mean() / task.horizon
        yield Claim(
            f"{name} has its N samples within H0 on a 2-JAO world, with D in place of the hitting time",
            HORIZON if name == EXPLORE_ID else PLANNING,
            1.0,
            share,
            low,
            high,
            low == 1.0,
            f"in each of {sizes.repetitions} episodes; the share of the samples wanted, its least and its most",
            f"D = {sizes.diameter}, N = {task.needed}; it takes {spent:.1%} of H0, as a sample takes 1 + D / 8 steps"
            + ("; a guess that works, and no theorem says so" if name == EXPLORE_ID else ""),
            GUESSES,
        )


def _line(name: str, sizes: Sizes, found: Mapping[Gathering, Gathered], seed: int) -> Fit:
    """Steps a sample, against 2^L for ExploreID and against L + 1 for GOSPRL."""
    chosen = [task for task in found if task.world == LOCK and task.explorer == name]
    x = [2.0**task.size if name == EXPLORE_ID else task.size + 1.0 for task in chosen]
    return fit(x, [found[task].steps / np.maximum(found[task].samples, 1.0) for task in chosen], seed)


def _locked(sizes: Sizes, found: Mapping[Gathering, Gathered], lines: Mapping[str, Fit]) -> Iterator[Claim]:
    for name, words, why in (
        (EXPLORE_ID, "2^L", "it sees one step ahead, and walks at random else"),
        (GOSPRL, "L + 1", "it plans; learning the way is part of it"),
    ):
        line = lines[name]
        yield Claim(
            f"in a lock {name} takes steps of order {words} for a sample",
            ASSUMPTION,
            1.0,
            line.slope,
            line.low,
            line.high,
            line.low <= 1.1 and line.high >= 0.9,
            f"the 95 % interval of the exponent of {words} meets [0.9, 1.1], the rest being the first way there",
            f"L from {min(sizes.locks)} to {max(sizes.locks)}; {why}",
            LOCKED,
        )
    longest = max(sizes.locks)
    for name in (EXPLORE_ID, GOSPRL):
        task = Gathering(name, LOCK, longest, float(longest), sizes.repetitions)
        share, low, high = _share(task, found[task])
        short = name == EXPLORE_ID
        yield Claim(
            f"in a lock, with L for the hitting time, {name} {'falls short of' if short else 'has'} its N samples",
            HORIZON if short else PLANNING,
            "below 1" if short else 1.0,
            share,
            low,
            high,
            high < 1.0 if short else low == 1.0,
            f"in each of {sizes.repetitions} episodes; the share of the samples wanted, its least and its most",
            f"a lock of L = {longest}, N = {task.needed}, H0 = {task.horizon:,}",
            LOCKED,
        )


def _guess_figure(sizes: Sizes, found: Mapping[Gathering, Gathered]) -> Figure:
    series = []
    for name in (EXPLORE_ID, GOSPRL):
        chosen = [task for task in found if task.world == TWO_JAO and task.explorer == name]
        shares, low, high = zip(*(_share(task, found[task]) for task in chosen), strict=True)
        series.append(Series(name, [task.guess / sizes.diameter for task in chosen], shares, low, high))
    enough = (1.0 + sizes.diameter / 8.0) / (12.0 * sizes.diameter)
    series.append(Series("enough for 1 + D / 8 steps a sample", [enough, enough], [0.0, 1.0], kind="theory"))
    return Figure(
        GUESSES,
        "A 2-JAO world: what is gathered within H0, with a guess in place of the infinite hitting time",
        "guess / D",
        "share of the samples wanted",
        series,
        log_y=False,
        caption=f"N samples of each left pair; D = {sizes.diameter}; bars from the least to the most.",
    )


def _lock_figure(sizes: Sizes, found: Mapping[Gathering, Gathered], lines: Mapping[str, Fit]) -> Figure:
    series = []
    locks = [float(length) for length in sizes.locks]
    for name, line in lines.items():
        chosen = [task for task in found if task.world == LOCK and task.explorer == name]
        steps = [found[task].steps / np.maximum(found[task].samples, 1.0) for task in chosen]
        mean, low, high = zip(*map(_spread, steps), strict=True)
        series.append(Series(name, locks, mean, low, high))
        words = "2^L" if name == EXPLORE_ID else "L + 1"
        curve = [line(2.0**x if name == EXPLORE_ID else x + 1.0) for x in locks]
        series.append(Series(f"{name}: ({words})^{line.slope:.2f}", locks, curve, kind="fit"))
    series.append(Series("2^L", locks, [2.0**x for x in locks], kind="theory"))
    series.append(Series("H0 / N with the diameter, 12 L", locks, [12.0 * x for x in locks], kind="theory"))
    return Figure(
        LOCKED,
        "A lock: steps for a sample of its last state",
        "L, the diameter",
        "steps a sample",
        series,
        log_x=False,
        caption="Above the line of H0 the samples are not to be had in time; bars from the least to the most.",
    )

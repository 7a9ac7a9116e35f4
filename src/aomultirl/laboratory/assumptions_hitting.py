"""Why a finite hitting time: what ExploreID and GOSPRL do on worlds that have none.

H0 = 12 D |Gamma| N needs a bound D on the time in which *every* policy meets any state, and on 2-JAO worlds left
actions alone never meet the right state.  Run with a finite guess for D, ExploreID may have its samples all the same,
since it walks at random where it sees nothing to do.  In a lock (:mod:`.assumptions_gathering`) it has not.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.laboratory import paper_places
from aomultirl.laboratory.assumptions_gathering import (
    EXPLORE_ID,
    GOSPRL,
    LOCK,
    TWO_JAO,
    Gathered,
    Gathering,
)
from aomultirl.laboratory.assumptions_rates import FALLS_SHORT, GATHERS, judge, rate
from aomultirl.laboratory.exponents import Fit, line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series, Subject
from aomultirl.laboratory.sweeps import Expected, exponent

PLACES = {EXPLORE_ID: paper_places.LEMMA_14, GOSPRL: paper_places.APPENDIX_G}
GUESSES, LOCKED = "assumptions_guess", "assumptions_lock"


class Sizes(NamedTuple):
    """diameter: D of the 2-JAO world; shares: guesses, in D, the last 1; locks: their lengths, ascending; repetitions:
    episodes a point; judged: episodes of the last guess and of the longest lock, whose rates are claimed."""

    diameter: int
    shares: tuple[float, ...]
    locks: tuple[int, ...]
    repetitions: int
    judged: int

    def guess(self, explorer: str, share: float) -> Gathering:
        """On the 2-JAO world."""
        episodes = self.judged if share == self.shares[-1] else self.repetitions
        return Gathering(explorer, TWO_JAO, self.diameter, share * self.diameter, episodes)

    def lock(self, explorer: str, length: int) -> Gathering:
        """With its length for the hitting time."""
        episodes = self.judged if length == self.locks[-1] else self.repetitions
        return Gathering(explorer, LOCK, length, float(length), episodes)


def tasks(sizes: Sizes) -> Iterator[Gathering]:
    """All that is run."""
    for name in (EXPLORE_ID, GOSPRL):
        yield from (sizes.guess(name, share) for share in sizes.shares)
        yield from (sizes.lock(name, length) for length in sizes.locks)


def measure(sizes: Sizes, found: Mapping[Any, Any]) -> Findings:
    """The claims on the hitting time."""
    mine: dict[Gathering, Gathered] = {task: found[task] for task in tasks(sizes)}
    lines = {name: _line(name, mine) for name in (EXPLORE_ID, GOSPRL)}
    claims = [*_guess(sizes, mine), *_locked(sizes, mine, lines)]
    return Findings(claims, [_guess_figure(sizes, mine), _lock_figure(sizes, mine, lines)])


def _share(task: Gathering, found: Gathered) -> tuple[float, float, float]:
    """Of the samples wanted that were gathered, in the mean, and its least and its most."""
    return _spread(found.samples / task.wanted)


def _spread(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean, the least and the most."""
    low, high = float(values.min()), float(values.max())
    return min(max(float(values.mean()), low), high), low, high


def _guess(sizes: Sizes, found: Mapping[Gathering, Gathered]) -> Iterator[Claim]:
    for name in (EXPLORE_ID, GOSPRL):
        task = sizes.guess(name, sizes.shares[-1])
        spent = found[task].steps.mean() / task.horizon
        yield judge(
            f"{name} has its N samples within H0 on a 2-JAO world, with D in place of the hitting time",
            PLACES[name],
            GATHERS,
            {name: rate(found[task].samples == task.wanted)},
            GUESSES,
            "as a share of episodes",
            f"{task.repetitions} episodes, D = {sizes.diameter}, N = {task.needed}; it takes {spent:.1%} of H0, as a "
            "sample takes 1 + D / 8 steps" + ("; a guess that works, and no theorem says so" * (name == EXPLORE_ID)),
        )


def _line(name: str, found: Mapping[Gathering, Gathered]) -> Fit:
    """Steps a sample, against 2^L for ExploreID and against L + 1 for GOSPRL."""
    chosen = [task for task in found if task.world == LOCK and task.explorer == name]
    x = [2.0**task.size if name == EXPLORE_ID else task.size + 1.0 for task in chosen]
    return line_through(x, [found[task].steps / np.maximum(found[task].samples, 1.0) for task in chosen])


def _locked(sizes: Sizes, found: Mapping[Gathering, Gathered], lines: Mapping[str, Fit]) -> Iterator[Claim]:
    for name, words, why in (
        (EXPLORE_ID, "2^L", "it sees one step ahead, and walks at random else"),
        (GOSPRL, "L + 1", "it plans; learning the way is part of it"),
    ):
        claim = f"in a lock {name} takes steps of order {words} for a sample"
        band = f"as an exponent of {words}, the rest being the first way there"
        expected = Expected(claim, paper_places.ASSUMPTION_12, 1.0, 0.9, 1.1, band)
        yield exponent(expected, {name: lines[name]}, LOCKED, f"L from {min(sizes.locks)} to {max(sizes.locks)}; {why}")
    for name in (EXPLORE_ID, GOSPRL):
        task = sizes.lock(name, sizes.locks[-1])
        share, low, high = _share(task, found[task])
        short = name == EXPLORE_ID
        yield judge(
            f"in a lock, with L for the hitting time, {name} {'seldom' if short else 'mostly'} has its N samples",
            PLACES[name],
            FALLS_SHORT if short else GATHERS,
            {name: rate(found[task].samples == task.wanted)},
            LOCKED,
            "as a share of episodes",
            f"{task.repetitions} episodes in a lock of L = {task.size}, N = {task.needed}, H0 = {task.horizon:,}; it "
            f"has {share:.1%} of them, from {low:.1%} to {high:.1%}",
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
        series.append(Series(f"{name}: ({words})^{line.slope:.2f}", locks, curve, kind="fit", subject=Subject(name)))
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

"""What the paper reads off its figure (Section 5), beside what these runs show.

The figure's metric is the average per-episode reward, APER(k): the mean over the first k episodes of what the policies
earn that were learned by then.  A claim is judged on the mean over runs, which is what the paper draws, with its
bootstrap interval; the spread of single runs, and the exact rewards of the last episodes, stand beside it.
"""

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.intervals import RESAMPLES, SEED, in_words
from aomultirl.analysis.phrases import listed, number
from aomultirl.analysis.rules import UNMEASURED, About, Bounded, Measurement, computed, exact
from aomultirl.experiments.paper import ALONE, DISCOVERED, GIVEN, OPTIMAL, RANDOM, Results

SECTION = "Section 5"
THIRTY, SOONEST, LATEST = 30.0, 15.0, 60.0
"""After how many episodes the paper sees its agent pass, and what "about" is taken to mean: half to twice as many."""
CLOSE = 90.0
"""Percent of another reward that "approaches" and "increases again" must reach, and that a drop must fall below."""
LAST = 20
"""So many episodes are "the last ones", and those "before" a change."""
LAST_OF_M4 = 10
"""So many episodes, the last in which m4 comes for the first time, say whether an agent has recovered."""
ENOUGH, ENOUGH_OF_M4 = 60, 80
"""Episodes that an experiment must have for claims on its curves, and on what happens when m4 comes, to be judged."""
FEW = "too few episodes"
Floats = NDArray[np.float64]
Runs: TypeAlias = NDArray[np.int64]
"""Numbers of runs, as a bootstrap draws them."""


def curve_claims(results: Results) -> Iterator[Claim]:
    """The claims on the curves, in the order of the paper."""
    yield _between(results)
    yield _passes(results)
    yield _approaches(results, GIVEN, OPTIMAL, "AOMultiRL approaches the optimal agent")
    yield from _drops_and_recovers(results)
    yield _identifies(results)
    yield _approaches(results, DISCOVERED, GIVEN, "the discovered set does as well as the given one")


def _between(results: Results) -> Claim:
    """The two ends of the figure: what they earn beside the nearest other curve, when all is over."""
    curves = {label: results.aper(label) for label in results.histories}
    others = {end: [curve for label, curve in curves.items() if label != end] for end in (RANDOM, OPTIMAL)}

    def lowest(runs: Runs) -> float:
        return 100.0 * _end(curves[RANDOM], runs) / min(_end(curve, runs) for curve in others[RANDOM])

    def highest(runs: Runs) -> float:
        return 100.0 * max(_end(curve, runs) for curve in others[OPTIMAL]) / _end(curves[OPTIMAL], runs)

    low, high = curves[RANDOM].mean(axis=0), curves[OPTIMAL].mean(axis=0)
    below = np.all([low < curve.mean(axis=0) for curve in others[RANDOM]], axis=0)
    above = np.all([high > curve.mean(axis=0) for curve in others[OPTIMAL]], axis=0)
    return Claim(
        "the random agent's curve is the lowest, the optimal agent's the highest",
        SECTION,
        Bounded(100.0, "at the end of the curves, in the mean over runs", side="<"),
        {
            "the random agent's reward, of the next lowest": _measured(results, lowest),
            "the next highest reward, of the optimal agent's": _measured(results, highest),
        },
        remark=_unless_few(
            results, lambda: f"so they lie after {below.sum()} and {above.sum()} of {len(low)} episodes"
        ),
        unit="in %",
    )


def _passes(results: Results) -> Claim:
    given, alone = results.aper(GIVEN), results.aper(ALONE)

    def passing(runs: Runs) -> float:
        return passed(given[runs].mean(axis=0), alone[runs].mean(axis=0))

    single = [passed(*curves) for curves in zip(given, alone, strict=True)]
    return Claim(
        "AOMultiRL passes one-episode UCBVI",
        SECTION,
        About(THIRTY, "for good, in the mean over runs; half to twice as many", SOONEST, LATEST),
        {"": _measured(results, passing)},
        remark=_unless_few(results, lambda: _spread(single)),
        unit="in episodes",
    )


def _spread(single: list[float]) -> str:
    """After how many episodes single runs pass, in words; nothing for a run alone."""
    if len(single) < 2:
        return ""
    first, last, never = min(single), max(single), single.count(math.inf)
    if never == len(single):
        return "no single run does"
    if never:
        return f"single runs pass after {number(first)} or more, {never} of {len(single)} never"
    return f"single runs pass after {number(float(np.median(single)))} in the median, {number(first)} to {number(last)}"


def _approaches(results: Results, label: str, other: str, statement: str) -> Claim:
    """In the figure's own metric, which remembers the first episodes, and in the last episodes alone."""
    curve, its = results.aper(label), results.aper(other)
    late, its_late = (results.counted(name, "evaluation_value")[:, -LAST:] for name in (label, other))
    end = _measured(results, lambda runs: 100.0 * _end(curve, runs) / _end(its, runs))
    last = _measured(results, lambda runs: 100.0 * float(late[runs].mean() / its_late[runs].mean()))
    return Claim(
        statement,
        SECTION,
        Bounded(CLOSE, 'what "approaches" is taken to mean', side=">=", by="estimate"),
        {"at the end of the curves": end, f"the exact reward of the last {LAST} episodes": last},
        remark=_unless_few(
            results, lambda: f"{_in_words(end)} in the figure, {_in_words(last)} in the last {LAST} episodes"
        ),
        unit=f"in % of that of {other!r}",
    )


def _drops_and_recovers(results: Results) -> Iterator[Claim]:
    """The exact rewards of single episodes, from those before the first of m4 to the last of m4 in a row."""
    half = results.experiment.episodes // 2
    rewards = results.counted(GIVEN, "evaluation_value")
    early, late = slice(half - LAST, half), slice(half, half + half // 2)
    end = slice(late.stop - LAST_OF_M4, late.stop)

    def mean(runs: Runs, part: slice) -> float:
        return float(rewards[runs, part].mean())

    def dropped(runs: Runs) -> float:
        return 100.0 * float(rewards[runs, late].mean(axis=0).min()) / mean(runs, early)

    def recovered(runs: Runs) -> float:
        return 100.0 * mean(runs, end) / mean(runs, early)

    def told_drop() -> str:
        worth = rewards[:, late].mean(axis=0).round()
        lowest = [str(half + place) for place in np.flatnonzero(worth == worth.min())]
        where = f"episode{'' if len(lowest) == 1 else 's'} {listed(lowest)}"
        return (
            f"{mean(every, early):.0f} before, {worth.min():.0f} at the lowest, in {where}, counted "
            f"from 0; {worth[0]:.0f} in episode {half}, the first of m4; exact rewards"
        )

    every = np.arange(results.experiment.runs)
    yield Claim(
        "its reward drops when m4 first appears",
        SECTION,
        Bounded(CLOSE, "the lowest episode of m4, in the mean over runs", side="<"),
        {"": _measured(results, dropped, ENOUGH_OF_M4)},
        remark=_unless_few(results, told_drop, ENOUGH_OF_M4),
        unit=f"in % of the {LAST} episodes before",
    )
    yield Claim(
        "afterwards it increases again",
        SECTION,
        Bounded(CLOSE, f"the last {LAST_OF_M4} episodes before another world comes", side=">="),
        {"": _measured(results, recovered, ENOUGH_OF_M4)},
        remark=_unless_few(
            results, lambda: f"{mean(every, end):.0f} in the last {LAST_OF_M4} episodes of m4 in a row", ENOUGH_OF_M4
        ),
        unit=f"in % of the {LAST} episodes before m4",
    )


def _identifies(results: Results) -> Claim:
    histories = [history for label in (GIVEN, DISCOVERED) for history in results.histories[label]]
    wrong, total = sum(history.misclustered for history in histories), sum(map(len, histories))
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    return Claim(
        "the correct cluster is identified in most episodes",
        SECTION,
        Bounded(0.5, "most", side=">", by="computed"),
        computed(1.0 - wrong / total),
        remark=f"{total - wrong:,} of {total:,}, both agents, stage 1 included; "
        f"exploration fell short in {failed} of these",
        unit="as a share of episodes",
    )


def passed(mine: Floats, other: Floats) -> float:
    """After how many episodes mine lies above the other to the end; inf if it does not at the end."""
    below = np.flatnonzero(mine <= other)
    if len(below) == 0:
        return 0.0
    return math.inf if below[-1] == len(mine) - 1 else float(below[-1] + 1)


def _end(curves: Floats, runs: Runs) -> float:
    """Where the mean over these runs of curves, (runs, K), ends."""
    return float(curves[runs, -1].mean())


def _measured(results: Results, statistic: Callable[[Runs], float], enough: int = ENOUGH) -> Measurement:
    """A statistic of the runs with its 95 % bootstrap interval, if there are enough episodes."""
    runs = results.experiment.runs
    if results.experiment.episodes < enough:
        return UNMEASURED
    value = statistic(np.arange(runs))
    if runs < 2:
        return exact(value)
    draws = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES // 4, runs))
    drawn = sorted(statistic(chosen) for chosen in draws)
    return Measurement(value, drawn[round(0.025 * len(drawn))], drawn[round(0.975 * len(drawn)) - 1])


def _in_words(measured: Measurement) -> str:
    value, interval = in_words(*measured[:3])
    return f"{value} ({interval})" if interval else value


def _unless_few(results: Results, words: Callable[[], str], enough: int = ENOUGH) -> str:
    """What there is to say, or that there are too few episodes to say it."""
    return words() if results.experiment.episodes >= enough else FEW

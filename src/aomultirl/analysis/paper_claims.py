"""What the paper says of its experiment (Section 5 and Appendix J), beside what was measured and computed."""

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.intervals import RESAMPLES, SEED, in_words
from aomultirl.analysis.rules import UNMEASURED, About, Bounded, Exactly, Measurement, Undecidable, computed, exact
from aomultirl.experiments.paper import ALONE, DISCOVERED, GAMMA, GIVEN, OPTIMAL, SEPARATION, Results
from aomultirl.model_set import ModelSet

SECTION, APPENDIX = "Section 5", "Appendix J"
REPORTED_SET = ((14, 1), (7, 2), (13, 0))
HALF_SET = ((11, 3), (4, 2), (13, 0))
CLOSE, LATEST, LAST = 0.9, 60, 20
"""What "approaches", "about thirty" and "at the end" are taken to mean: this share of the other's reward, no more
episodes, and so many of the last."""
FEW = "too few episodes"
Floats = NDArray[np.float64]
Runs: TypeAlias = NDArray[np.int64]
"""Numbers of runs, as a bootstrap draws them."""


def check_claims(results: Results, models: ModelSet) -> list[Claim]:
    """Every claim, in the order of the paper."""
    return [*_about_the_curves(results), *_about_the_set(results, models), *_about_the_world(results, models)]


def _about_the_curves(results: Results) -> Iterator[Claim]:
    yield _passes(results)
    yield _approaches(results, GIVEN, OPTIMAL, "AOMultiRL approaches the optimal agent")
    yield _drops(results)
    yield _approaches(results, DISCOVERED, GIVEN, "the discovered set does as well as the given one")
    histories = [history for label in (GIVEN, DISCOVERED) for history in results.histories[label]]
    wrong, total = sum(history.misclustered for history in histories), sum(map(len, histories))
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    statement = "the correct cluster is identified in most episodes"
    rule = Bounded(0.5, "most", side=">", by="computed")
    remark = (
        f"{total - wrong:,} of {total:,}, both agents, stage 1 included; exploration fell short in {failed} of these"
    )
    yield Claim(statement, SECTION, rule, computed(1.0 - wrong / total), remark=remark, unit="as a share of episodes")


def _passes(results: Results) -> Claim:
    given, alone = results.aper(GIVEN), results.aper(ALONE)

    def passing(runs: Runs) -> float:
        return passed(given[runs].mean(axis=0), alone[runs].mean(axis=0))

    after = _measured(results, passing, least=LATEST)
    rule = About(30.0, "for good, in the mean over runs", most=LATEST)
    statement = "AOMultiRL passes one-episode UCBVI"
    return Claim(statement, SECTION, rule, {"": after}, remark=_few(after), unit="in episodes")


def _approaches(results: Results, label: str, other: str, statement: str) -> Claim:
    mine, theirs = (results.counted(name, "evaluation_value")[:, -LAST:].mean(axis=1) for name in (label, other))

    def percent(runs: Runs) -> float:
        return float(100 * mine[runs].mean() / theirs[runs].mean())

    share = _measured(results, percent, least=LAST)
    rule = Bounded(100 * CLOSE, f"in the last {LAST} episodes", side=">=", by="estimate")
    return Claim(statement, SECTION, rule, {"": share}, remark=_few(share), unit="in % of its exact reward")


def _drops(results: Results) -> Claim:
    """The exact reward of single episodes around the first one of m4."""
    half = results.experiment.episodes // 2
    rewards, shares, told = results.counted(GIVEN, "evaluation_value"), [math.nan, math.nan], FEW
    if half >= 40:
        parts = slice(half - 20, half), slice(half, half + 1), slice(half + half // 2 - 10, half + half // 2)
        means = [_measured(results, _mean_over(rewards[:, part]), least=LATEST) for part in parts]
        before, then, after = (mean.value for mean in means)
        shares = [then / (CLOSE * before), CLOSE * before / after]
        written = [in_words(mean.value, mean.low, mean.high, "{:.0f}".format) for mean in means]
        words = [f"{value} ({interval})" if interval else value for value, interval in written]
        told = f"{words[0]} before, {words[1]} then, {words[2]} at last, means of 20, 1 and the last 10 of m4"
    why = f"{100 * CLOSE:.0f} % of what was earned before, as a share of what is at last; and then, as a share of that"
    statement = "it drops when m4 first appears, and recovers"
    rule = Bounded(1.0, why, side="<", by="estimate")
    estimates = {"then": exact(shares[0]), "at last": exact(shares[1])}
    remark = f"in episode {half}, counted from 0: {told}"
    return Claim(statement, SECTION, rule, estimates, remark=remark, unit="as a share")


def _about_the_set(results: Results, models: ModelSet) -> Iterator[Claim]:
    found = [history.about["findings"]["discovered"] for history in results.histories[DISCOVERED]]
    sets = [None if pairs is None else frozenset(map(tuple, pairs)) for pairs in found]
    statement = "the two-stage agent discovers the same set in all runs"
    estimates = computed(sets.count(frozenset(REPORTED_SET)))
    remark = "with the states scanned from the last to the first, as the authors' code does (E25)"
    yield Claim(statement, APPENDIX, Exactly(len(sets), _pairs(REPORTED_SET)), estimates, remark=remark, unit="in runs")
    full, half = models.default_level(), models.separation() / 2.0
    pairs = [pair for pair in REPORTED_SET if not any(_apart(models, pair, full))]
    yield Claim(
        "one pair in it distinguishes at lambda/2 only",
        SECTION,
        Bounded(1.0, side=">=", by="computed"),
        computed(len(pairs)),
        remark=_pairs(pairs),
        explanation="every pair of the discovered set tells two worlds apart at lambda (E25)",
        unit="in pairs",
    )
    yield Claim(
        "the given set is a smallest one",
        APPENDIX,
        Exactly(len(GAMMA), _pairs(GAMMA)),
        {
            "pairs needed": exact(len(models.distinguishing_set())),
            "pairs of the given set, if it distinguishes": exact(
                len(GAMMA) if models.is_distinguishing(GAMMA, full) else math.inf
            ),
        },
        unit="in pairs",
    )
    yield Claim(
        "another set distinguishes at lambda/2 only",
        APPENDIX,
        Exactly(1.0, _pairs(HALF_SET)),
        {
            "that it does at lambda/2": exact(models.is_distinguishing(HALF_SET, half)),
            "that it does not at lambda": exact(not models.is_distinguishing(HALF_SET, full)),
        },
        unit="1 for yes",
    )


def _apart(models: ModelSet, pair: tuple[int, int], level: float) -> NDArray[np.bool_]:
    """For every two worlds, whether this pair tells them apart."""
    return np.asarray(models.distances()[:, :, pair[0], pair[1]] > level).ravel()


def _about_the_world(results: Results, models: ModelSet) -> Iterator[Claim]:
    constants = results.experiment.constants
    first, second = (
        results.histories[label][0].about["findings"]["clustering_horizon"] for label in (GIVEN, DISCOVERED)
    )
    rule = About(1.2999, least=1.2989, most=1.3009)
    remark = f"agents are told {SEPARATION:.6f}"
    yield Claim("the separation of the worlds", SECTION, rule, computed(models.separation()), remark=remark)
    whole = results.experiment.episodes == 200
    source = "formula of the paper" if constants == "paper" else "released code"
    yield Claim(
        "steps of the clustering phase, H0",
        SECTION,
        About(80_000.0, least=72_000.0, most=88_000.0) if whole else Undecidable(80_000.0, "that is for 200 episodes"),
        computed(first),
        remark=f"the {source} gives {first:,} with D = 7 (E23)",
        unit="in steps",
    )
    more = "its run has four episodes more, and N grows with ln K"
    yield Claim(
        "H0 with the discovered set",
        APPENDIX,
        Exactly(first, "identical"),
        computed(second),
        explanation=more if constants == "released" else f"{more}; each stage may fail with p / 2 (E21)",
        unit="in steps",
    )
    hitting, diameter = max(world.hitting_time() for world in models), max(world.diameter() for world in models)
    why = "some policy avoids a state for ever (E22)" if np.isinf(hitting) else "computed exactly (E22)"
    yield Claim(
        "the hitting time D",
        SECTION,
        About(7.0, least=6.5, most=7.5),
        computed(hitting),
        remark=f"the diameter is {diameter:.3f}; {why}",
        unit="in steps",
    )


def passed(mine: Floats, other: Floats) -> float:
    """After how many episodes mine lies above the other to the end; inf if it does not at the end."""
    below = np.flatnonzero(mine <= other)
    if len(below) == 0:
        return 0.0
    return math.inf if below[-1] == len(mine) - 1 else float(below[-1] + 1)


def _measured(results: Results, statistic: Callable[[Runs], float], least: int) -> Measurement:
    """A statistic of the runs with its 95 % bootstrap interval, if there are at least so many episodes."""
    runs = results.experiment.runs
    if results.experiment.episodes < least:
        return UNMEASURED
    value = statistic(np.arange(runs))
    if runs < 2:
        return exact(value)
    draws = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES // 4, runs))
    drawn = sorted(statistic(chosen) for chosen in draws)
    return Measurement(value, drawn[round(0.025 * len(drawn))], drawn[round(0.975 * len(drawn)) - 1])


def _mean_over(rewards: Floats) -> Callable[[Runs], float]:
    """The mean reward over some runs and all these episodes, (runs, episodes), as a function of the runs."""
    return lambda runs: float(rewards[runs].mean())


def _few(measurement: Measurement) -> str:
    return FEW if math.isnan(measurement.value) else ""


def _pairs(pairs: tuple[tuple[int, int], ...] | list[tuple[int, int]]) -> str:
    return ", ".join(f"({s}, {a})" for s, a in pairs)

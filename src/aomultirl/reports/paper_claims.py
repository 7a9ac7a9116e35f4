"""What the paper says of its experiment (Section 5 and Appendix J), beside what was measured and computed."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.intervals import RESAMPLES, SEED
from aomultirl.experiments.paper import ALONE, DISCOVERED, GAMMA, GIVEN, OPTIMAL, SEPARATION, Results
from aomultirl.mdp import ModelSet

if TYPE_CHECKING:
    from rich.console import Console

REPORTED_SET = ((14, 1), (7, 2), (13, 0))
HALF_SET = ((11, 3), (4, 2), (13, 0))
CLOSE, LATEST = 0.9, 60
"""What "approaches" and "about thirty" are taken to mean: this share of the other's reward, no more episodes."""
Runs: TypeAlias = NDArray[np.int64]
"""Numbers of runs, as a bootstrap draws them."""


class Claim(NamedTuple):
    """claim, place: what the paper says, and where; predicted, measured: in words; holds: None if nobody can tell."""

    claim: str
    place: str
    predicted: str
    measured: str
    holds: bool | None
    reason: str = ""


def check_claims(results: Results, models: ModelSet) -> list[Claim]:
    """Every claim, in the order of the paper."""
    return [*_about_the_curves(results), *_about_the_set(results, models), *_about_the_world(results, models)]


def _about_the_curves(results: Results) -> Iterator[Claim]:
    yield _passes(results)
    yield _approaches(results, GIVEN, OPTIMAL, "AOMultiRL approaches the optimal agent")
    yield _drop(results)
    yield _approaches(results, DISCOVERED, GIVEN, "the discovered set does as well as the given one")
    wrong, failed, total = 0, 0, 0
    for label in (GIVEN, DISCOVERED):
        for history in results.histories[label]:
            wrong += history.misclustered
            failed += int((~history["exploration_ok"]).sum())
            total += len(history)
    yield Claim(
        "the correct cluster is identified in most episodes",
        "Section 5",
        "most",
        f"{total - wrong:,} of {total:,}",
        2 * wrong < total,
        f"both agents, stage 1 included; exploration fell short in {failed} of these",
    )


def _passes(results: Results) -> Claim:
    claim, place, predicted = "AOMultiRL passes one-episode UCBVI", "Section 5", "after about thirty episodes"
    if results.experiment.episodes < LATEST:
        return Claim(claim, place, predicted, "too few episodes", None)
    given, alone = results.aper(GIVEN), results.aper(ALONE)

    def passing(runs: Runs) -> float:
        return passed(given[runs].mean(axis=0), alone[runs].mean(axis=0))

    after = passing(_all(results))
    return Claim(
        claim,
        place,
        predicted,
        f"after {after:.0f}{_interval(results, passing)}" if math.isfinite(after) else "never",
        after <= LATEST,
        f"for good, in the mean over runs; holds if after at most {LATEST}",
    )


def _approaches(results: Results, label: str, other: str, claim: str) -> Claim:
    if results.experiment.episodes < 20:
        return Claim(claim, "Section 5", "close at the end", "too few episodes", None)
    mine, theirs = (results.counted(name, "evaluation_value")[:, -20:].mean(axis=1) for name in (label, other))

    def share(runs: Runs) -> float:
        return float(100 * mine[runs].mean() / theirs[runs].mean())

    found = share(_all(results))
    return Claim(
        claim,
        "Section 5",
        "close at the end",
        f"{found:.1f} %{_interval(results, share, '.1f')} of its exact reward",
        found >= 100 * CLOSE,
        f"in the last 20 episodes; holds from {100 * CLOSE:.0f} %",
    )


def _drop(results: Results) -> Claim:
    """The exact reward of single episodes around the first one of m4."""
    claim, half = "it drops when m4 first appears, and recovers", results.experiment.episodes // 2
    if half < 40:
        return Claim(claim, "Section 5", f"in episode {half}", "too few episodes", None)
    rewards = results.counted(GIVEN, "evaluation_value")
    parts = slice(half - 20, half), slice(half, half + 1), slice(half + half // 2 - 10, half + half // 2)
    means = [rewards[:, part].mean(axis=1) for part in parts]
    before, at, after = (float(mean.mean()) for mean in means)
    words = [f"{mean.mean():.0f}{_interval(results, partial(_mean_of, mean))}" for mean in means]
    return Claim(
        claim,
        "Section 5",
        f"in episode {half}, counted from 0",
        f"{words[0]} before, {words[1]} then, {words[2]} at last",
        at < CLOSE * before < after,
        f"means of 20, 1 and the last 10 episodes of m4; holds if {100 * CLOSE:.0f} % of the first lies between",
    )


def _about_the_set(results: Results, models: ModelSet) -> Iterator[Claim]:
    found = [history.about["findings"]["discovered"] for history in results.histories[DISCOVERED]]
    sets = [None if pairs is None else frozenset(map(tuple, pairs)) for pairs in found]
    same = sets.count(frozenset(REPORTED_SET))
    yield Claim(
        "the two-stage agent discovers the same set in all runs",
        "Appendix J",
        _pairs(REPORTED_SET),
        f"in {same} of {len(sets)} runs",
        same == len(sets),
        "with the states scanned from the last to the first, as the authors' code does (E25)",
    )
    full, half = models.default_level(), models.separation() / 2.0
    pairs = [pair for pair in REPORTED_SET if not any(_apart(models, pair, full))]
    yield Claim(
        "one pair in it distinguishes at lambda/2 only",
        "Section 5",
        "at least one",
        f"{len(pairs)} of 3: {_pairs(pairs)}" if pairs else "none of the 3",
        bool(pairs),
        "" if pairs else "every pair of the discovered set tells two worlds apart at lambda (E25)",
    )
    yield Claim(
        "the given set is a smallest one",
        "Appendix J",
        _pairs(GAMMA),
        f"{len(models.distinguishing_set())} pairs are needed",
        models.is_distinguishing(GAMMA, full) and len(models.distinguishing_set()) == len(GAMMA),
    )
    yield Claim(
        "another set distinguishes at lambda/2 only",
        "Appendix J",
        _pairs(HALF_SET),
        f"at lambda/2 {_yes(models.is_distinguishing(HALF_SET, half))}, "
        f"at lambda {_yes(models.is_distinguishing(HALF_SET, full))}",
        models.is_distinguishing(HALF_SET, half) and not models.is_distinguishing(HALF_SET, full),
    )


def _apart(models: ModelSet, pair: tuple[int, int], level: float) -> NDArray[np.bool_]:
    """For every two worlds, whether this pair tells them apart."""
    return np.asarray(models.distances()[:, :, pair[0], pair[1]] > level).ravel()


def _about_the_world(results: Results, models: ModelSet) -> Iterator[Claim]:
    constants = results.experiment.constants
    first, second = (
        results.histories[label][0].about["findings"]["clustering_horizon"] for label in (GIVEN, DISCOVERED)
    )
    yield Claim(
        "the separation of the worlds",
        "Section 5",
        "1.2999",
        f"{models.separation():.6f}, and agents are told {SEPARATION:.6f}",
        bool(abs(models.separation() - 1.2999) < 1e-3),
    )
    yield Claim(
        "steps of the clustering phase, H0",
        "Section 5",
        "about 80,000",
        f"{first:,}",
        0.9 < first / 80_000 < 1.1 if results.experiment.episodes == 200 else None,
        f"the {'formula of the paper' if constants == 'paper' else 'released code'} gives {first:,} with D = 7 (E23)",
    )
    yield Claim(
        "H0 with the discovered set",
        "Appendix J",
        "identical",
        f"{second:,}",
        bool(first == second),
        "" if first == second else _why_longer(constants),
    )
    hitting, diameter = max(world.hitting_time() for world in models), max(world.diameter() for world in models)
    yield Claim(
        "the hitting time D",
        "Section 5",
        "7",
        f"{'infinite' if np.isinf(hitting) else f'{hitting:,.0f}'}; the diameter is {diameter:.3f}",
        bool(abs(hitting - 7.0) < 0.5),
        "some policy avoids a state for ever (E22)" if np.isinf(hitting) else "computed exactly (E22)",
    )


def _why_longer(constants: str) -> str:
    more = "its run has four episodes more, and N grows with ln K"
    return more if constants == "released" else f"{more}; each stage may fail with p / 2 (E21)"


def passed(mine: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """After how many episodes mine lies above the other to the end; inf if it does not at the end."""
    below = np.flatnonzero(mine <= other)
    if len(below) == 0:
        return 0.0
    return math.inf if below[-1] == len(mine) - 1 else float(below[-1] + 1)


def _all(results: Results) -> Runs:
    return np.arange(results.experiment.runs)


def _mean_of(values: NDArray[np.float64], runs: Runs) -> float:
    return float(values[runs].mean())


def _interval(results: Results, statistic: Callable[[Runs], float], digits: str = ".0f") -> str:
    """A 95 % bootstrap interval of a statistic of the runs, in words; nothing for a single run."""
    runs = results.experiment.runs
    if runs < 2:
        return ""
    draws = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES // 4, runs))
    found = sorted(statistic(chosen) for chosen in draws)
    low, high = found[round(0.025 * len(found))], found[round(0.975 * len(found)) - 1]
    return f" ({low:{digits}} to {'never' if math.isinf(high) else format(high, digits)})"


def _pairs(pairs: "tuple[tuple[int, int], ...] | list[tuple[int, int]]") -> str:
    return ", ".join(f"({s}, {a})" for s, a in pairs)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def show_claims(claims: list[Claim], console: "Console") -> None:
    """Print them as a table."""
    from rich import box
    from rich.table import Table

    table = Table(
        title="What the paper says, and what was found (95 % intervals in brackets)",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for column in ("holds", "claim", "paper", "found"):
        table.add_column(column, no_wrap=column == "holds")
    verdicts = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "?"}
    for claim in claims:
        found = f"{claim.measured}\n[dim]{claim.reason}[/dim]" if claim.reason else claim.measured
        table.add_row(verdicts[claim.holds], f"{claim.claim} [dim]({claim.place})[/dim]", claim.predicted, found)
    console.print(table)

"""What the paper says of its experiment (Section 5 and Appendix I), beside what was measured and computed."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.experiments.paper import ALONE, DISCOVERED, GAMMA, GIVEN, OPTIMAL, SEPARATION, Results
from aomultirl.mdp import ModelSet
from aomultirl.reports.intervals import RESAMPLES, SEED

if TYPE_CHECKING:
    from rich.console import Console

REPORTED_SET = ((14, 1), (7, 2), (13, 0))
HALF_SET = ((11, 3), (4, 2), (13, 0))
CLOSE = 0.9
"""What "approaches" is taken to mean: this share of the other's reward."""


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
    given, alone = results.aper(GIVEN), results.aper(ALONE)
    passing = _passing(given.mean(axis=0), alone.mean(axis=0))
    spread = _bootstrap(results, lambda runs: _passing(given[runs].mean(axis=0), alone[runs].mean(axis=0)))
    yield Claim(
        "AOMultiRL passes one-episode UCBVI",
        "Section 5",
        "after about thirty episodes",
        "never" if passing is None else f"from episode {passing} on{spread}",
        passing is not None and passing <= 60,
        "of the mean over runs, and of its resamples",
    )
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
        f"{total - wrong:,} of {total:,}; exploration fell short in {failed}",
        2 * wrong < total,
    )


def _approaches(results: Results, label: str, other: str, claim: str) -> Claim:
    if results.experiment.episodes < 20:
        return Claim(claim, "Section 5", "close at the end", "too few episodes", None)
    mine, theirs = (results.counted(name, "evaluation_value")[:, -20:].mean() for name in (label, other))
    share = float(mine / theirs)
    return Claim(
        claim,
        "Section 5",
        "close at the end",
        f"{100 * share:.1f} % of its exact reward in the last 20 episodes",
        share >= CLOSE,
    )


def _drop(results: Results) -> Claim:
    """The reward of single episodes around the first one of m4."""
    claim, half = "it drops when m4 first appears, and recovers", results.experiment.episodes // 2
    if half < 40:
        return Claim(claim, "Section 5", "in episode 100", "too few episodes", None)
    rewards = results.counted(GIVEN, "evaluation_value").mean(axis=0)
    before, at, after = (
        rewards[half - 20 : half].mean(),
        rewards[half],
        rewards[half + half // 2 - 10 : half + half // 2],
    )
    return Claim(
        claim,
        "Section 5",
        "in episode 100",
        f"{before:.0f} before, {at:.0f} in episode {half}, {after.mean():.0f} ten episodes before m4 goes",
        bool(at < CLOSE * before and after.mean() > CLOSE * before),
    )


def _about_the_set(results: Results, models: ModelSet) -> Iterator[Claim]:
    found = [history.about["findings"]["discovered"] for history in results.histories[DISCOVERED]]
    sets = [None if pairs is None else frozenset(map(tuple, pairs)) for pairs in found]
    same = sets.count(frozenset(REPORTED_SET))
    yield Claim(
        "the two-stage agent discovers the same set in all runs",
        "Appendix I",
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
        "Appendix I",
        _pairs(GAMMA),
        f"{len(models.distinguishing_set())} pairs are needed",
        models.is_distinguishing(GAMMA, full) and len(models.distinguishing_set()) == len(GAMMA),
    )
    yield Claim(
        "another set distinguishes at lambda/2 only",
        "Appendix I",
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
        0.9 < first / 80_000 < 1.1,
        f"the {'formula of the paper' if constants == 'paper' else 'released code'} gives {first:,} with D = 7 (E23)",
    )
    yield Claim(
        "H0 with the discovered set",
        "Appendix I",
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


def _passing(mine: NDArray[np.float64], other: NDArray[np.float64]) -> int | None:
    """The episode, from 1, from which on mine lies above the other to the end."""
    below = np.flatnonzero(mine <= other)
    if len(below) == 0:
        return 1
    return None if below[-1] == len(mine) - 1 else int(below[-1]) + 2


def _bootstrap(results: Results, statistic: Callable[[NDArray[np.int64]], int | None]) -> str:
    """A 95 % interval of a statistic of the runs, in words."""
    runs = results.experiment.runs
    if runs < 2:
        return ""
    draws = np.random.default_rng(SEED).integers(runs, size=(RESAMPLES // 4, runs))
    never = results.experiment.episodes + 1
    found = sorted(never if (at := statistic(chosen)) is None else at for chosen in draws)
    low, high = found[round(0.025 * len(found))], found[round(0.975 * len(found)) - 1]
    return f" (95 %: {low} to {'never' if high == never else high})"


def _pairs(pairs: "tuple[tuple[int, int], ...] | list[tuple[int, int]]") -> str:
    return ", ".join(f"({s}, {a})" for s, a in pairs)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def show_claims(claims: list[Claim], console: "Console") -> None:
    """Print them as a table."""
    from rich import box
    from rich.table import Table

    table = Table(title="What the paper says, and what was found", title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("holds", "claim", "paper", "found"):
        table.add_column(column, no_wrap=column == "holds")
    verdicts = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "?"}
    for claim in claims:
        found = f"{claim.measured}\n[dim]{claim.reason}[/dim]" if claim.reason else claim.measured
        table.add_row(verdicts[claim.holds], f"{claim.claim} [dim]({claim.place})[/dim]", claim.predicted, found)
    console.print(table)

"""The two suites as tables, with intervals and what they should reach."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.intervals import over_runs
from aomultirl.experiments.suites import HORIZONS, RUN, SuiteCase, SuiteRun
from aomultirl.reports.tables import Cell, Judged, TextTable

SuiteRuns = Sequence[Sequence[SuiteRun]]
"""The runs of every case."""
MEANS = "(means over runs, 95 % bootstrap intervals)"


def identify_table(cases: Sequence[SuiteCase], results: SuiteRuns) -> TextTable:
    """Steps to recognise a known world; with M known, the target is for the steps of the whole run."""
    headings = ("world", "told", "steps", "95 %", "bound", "target", "wrong", "none")
    return TextTable(
        f"Steps to recognise a known world {MEANS}",
        headings,
        [_steps(case, runs) for case, runs in zip(cases, results, strict=True)],
        numbers=range(2, len(headings)),
        breaks=True,
        caption=[
            "95 %: of the episodes take no more steps.  bound: no learner can do with fewer, and how many times that "
            "is.  target: at most.  none: episodes put in no cluster."
        ],
    )


def _steps(case: SuiteCase, runs: Sequence[SuiteRun]) -> list[Cell]:
    assert case.target is not None
    whole, wrong = float(np.mean([run.total for run in runs])), sum(run.wrong for run in runs)
    recognised = [run for run in runs if len(run.steps)]
    measured, mean = ["never", "-", "-"], np.inf
    if recognised:
        means, every = np.array([run.steps.mean() for run in recognised]), [run.steps for run in recognised]
        mean, bound = float(means.mean()), float(np.nanmean([run.bound for run in runs]))
        most = np.percentile(np.concatenate(every), 95)
        measured = [_interval(means, ",.0f"), f"{most:,.0f}", f"{bound:,.0f} (x {mean / bound:.1f})"]
    target, reached = f"{case.target:,.0f}", mean
    if case.aim == RUN:
        target, reached = f"{whole:,.0f} in all, {target}", whole
    return [
        case.place,
        case.told,
        *measured,
        Judged(target, good=reached <= case.target),
        Judged(f"{wrong} / {sum(run.episodes for run in runs):,}", good=not wrong),
        f"{sum(run.abstained for run in runs)}",
    ]


def reward_table(cases: Sequence[SuiteCase], results: SuiteRuns) -> TextTable:
    """The share of the optimal reward, by horizon."""
    headings = ("world", "agent", *(f"H = {horizon:,}" for horizon in HORIZONS), "wrong", "in no cluster")
    grouped: dict[tuple[str, str], dict[int, tuple[SuiteCase, Sequence[SuiteRun]]]] = {}
    for case, runs in zip(cases, results, strict=True):
        grouped.setdefault((case.place, case.told), {})[case.horizon] = case, runs
    rows: list[list[Cell]] = []
    for names, by_horizon in grouped.items():
        shares = [_share(*by_horizon[horizon]) if horizon in by_horizon else "-" for horizon in HORIZONS]
        every = [run for _, runs in by_horizon.values() for run in runs]
        clusters = ["-", "-"]
        if any(case.clusters for case, _ in by_horizon.values()):
            wrong, episodes = sum(run.wrong for run in every), sum(run.episodes for run in every)
            clusters = [f"{wrong} of {episodes:,}", f"{sum(run.abstained for run in every):,}"]
        rows.append([*names, *shares, *clusters])
    title = f"Share of the optimal reward over whole episodes, % {MEANS}"
    return TextTable(title, headings, rows, numbers=range(2, len(headings)), breaks=True)


def _share(case: SuiteCase, runs: Sequence[SuiteRun]) -> Cell:
    shares = np.array([run.share for run in runs])
    words = _interval(shares, ".2f")
    return words if case.target is None else Judged(words, good=bool(shares.mean() >= case.target))


def _interval(values: NDArray[np.float64], digits: str) -> str:
    mean, low, high = over_runs(values)
    return f"{mean:{digits}}" if np.isnan(low) else f"{mean:{digits}} ({low:{digits}} to {high:{digits}})"

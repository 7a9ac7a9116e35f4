"""The two comparisons as tables, with intervals and what they should reach."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aomultirl.analysis.intervals import over_runs
from aomultirl.experiments.suites import HORIZONS, RUN, Case, Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def show_identify(cases: Sequence[Case], results: Sequence[Sequence[Outcome]], console: "Console") -> None:
    """Steps to recognise a known world; with M known, the target is for the steps of the whole run."""
    table = _table("Steps to recognise a known world", ("world", "told", "steps", "95 %", "bound", "target", "wrong"))
    table.add_column("none", justify="right")
    for case, outcomes in zip(cases, results, strict=True):
        means = np.array([outcome.steps.mean() for outcome in outcomes if len(outcome.steps)])
        steps = np.concatenate([outcome.steps for outcome in outcomes])
        whole = float(np.mean([outcome.total for outcome in outcomes]))
        reached = whole if case.aim == RUN else means.mean() if len(means) else np.inf
        bound = float(np.nanmean([outcome.bound for outcome in outcomes])) if len(means) else np.nan
        assert case.target is not None
        target = f"{whole:,.0f} in all, {case.target:,.0f}" if case.aim == RUN else f"{case.target:,.0f}"
        table.add_row(
            case.place,
            case.told,
            _interval(means, ",.0f") if len(means) else "never",
            f"{np.percentile(steps, 95):,.0f}" if len(steps) else "-",
            f"{bound:,.0f} (x {means.mean() / bound:.1f})" if len(means) else "-",
            _verdict(target, reached <= case.target),
            _verdict(f"{sum(o.wrong for o in outcomes)} / {sum(o.episodes for o in outcomes):,}", not _wrong(outcomes)),
            f"{sum(o.abstained for o in outcomes)}",
        )
    console.print(table)
    console.print(
        "95 %: of the episodes take no more steps.  bound: no learner can do with fewer, and how many times that is.  "
        "target: at most.  none: episodes put in no cluster.",
        highlight=False,
    )


def show_reward(cases: Sequence[Case], results: Sequence[Sequence[Outcome]], console: "Console") -> None:
    """The share of the optimal reward, by horizon."""
    headings = ["world", "agent", *(f"H = {horizon:,}" for horizon in HORIZONS), "wrong", "in no cluster"]
    table = _table("Share of the optimal reward over whole episodes, %", headings)
    rows: dict[tuple[str, str], dict[int, tuple[Case, Sequence[Outcome]]]] = {}
    for case, outcomes in zip(cases, results, strict=True):
        rows.setdefault((case.place, case.told), {})[case.horizon] = case, outcomes
    for (place, told), found in rows.items():
        cells = []
        for horizon in HORIZONS:
            if horizon not in found:
                cells.append("-")
                continue
            case, outcomes = found[horizon]
            shares = np.array([outcome.share for outcome in outcomes])
            words = _interval(shares, ".2f")
            cells.append(words if case.target is None else _verdict(words, bool(shares.mean() >= case.target)))
        every = [outcome for _, outcomes in found.values() for outcome in outcomes]
        told_wrong = f"{sum(o.wrong for o in every)} of {sum(o.episodes for o in every):,}" if told == "Recall" else "-"
        abstained = f"{sum(o.abstained for o in every):,}" if told == "Recall" else "-"
        table.add_row(place, told, *cells, told_wrong, abstained)
    console.print(table)


def _wrong(outcomes: Sequence[Outcome]) -> bool:
    return any(outcome.wrong for outcome in outcomes)


def _interval(values: "np.ndarray", digits: str) -> str:
    mean, low, high = over_runs(values)
    return f"{mean:{digits}}" if np.isnan(low) else f"{mean:{digits}} ({low:{digits}} to {high:{digits}})"


def _verdict(words: str, reached: bool) -> str:
    return f"[green]{words}[/green]" if reached else f"[bold red]{words}[/bold red]"


def _table(title: str, headings: Sequence[str]) -> "Table":
    from rich import box
    from rich.table import Table

    told = f"{title} (means over runs, 95 % bootstrap intervals)"
    table = Table(title=told, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i < 2 else "right")
    return table

"""Suites as tables, with intervals and what they should reach."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.intervals import over_runs
from aomultirl.analysis.phrases import number
from aomultirl.analysis.suite_rows import Measured, Row, Rows, SuiteRuns, columns_of, ranked, rows_of
from aomultirl.experiments.suites import RUN, SuiteCase, SuiteRun, Target
from aomultirl.reports.tables import Cell, Judged, TextTable

MEANS = "(means over runs, 95 % bootstrap intervals)"


def identify_table(cases: Sequence[SuiteCase], results: SuiteRuns, notes: Sequence[str] = ()) -> TextTable:
    """Steps to recognise a known world; with M known, the target is for the steps of the whole run.

    ``notes`` are sentences below the table, before those that explain it.
    """
    headings = ("world", "told", "steps", "95 %", "bound", "target", "wrong", "none")
    return TextTable(
        f"Steps to recognise a known world {MEANS}",
        headings,
        [_steps(case, runs) for case, runs in zip(cases, results, strict=True)],
        numbers=range(2, len(headings)),
        breaks=True,
        caption=[
            *notes,
            "95 %: of the episodes take no more steps.  bound: no learner can do with fewer, and how many times that "
            "is.  target: at most.  none: episodes put in no cluster.",
        ],
    )


def _steps(case: SuiteCase, runs: Sequence[SuiteRun]) -> list[Cell]:
    whole, wrong = float(np.mean([run.total for run in runs])), sum(run.wrong for run in runs)
    recognised = [run for run in runs if len(run.steps)]
    measured, mean = ["never", "-", "-"], np.inf
    if recognised:
        means, every = np.array([run.steps.mean() for run in recognised]), [run.steps for run in recognised]
        mean, bound = float(means.mean()), float(np.nanmean([run.bound for run in runs]))
        most = np.percentile(np.concatenate(every), 95)
        measured = [_interval(means, "{:,.0f}".format), f"{most:,.0f}", f"{bound:,.0f} (x {mean / bound:.1f})"]
    target, reached = "-" if case.target is None else f"{case.target:,.0f}", mean
    if case.aim == RUN:
        target, reached = f"{whole:,.0f} in all, {target}", whole
    return [
        case.place,
        case.told,
        *measured,
        Judged(target, good=None if case.target is None else reached <= case.target),
        Judged(f"{wrong} / {sum(run.episodes for run in runs):,}", good=not wrong),
        f"{sum(run.abstained for run in runs)}",
    ]


def reward_table(
    cases: Sequence[SuiteCase], results: SuiteRuns, notes: Sequence[str] = (), *, best_first: bool = False
) -> TextTable:
    """What was earned: a row for every world and agent, a column for every horizon or part of the runs.

    Parameters
    ----------
    cases, results
        of a suite.
    notes
        sentences below the table, before those that explain it.
    best_first
        whether agents stand in the order of the first column, in place of that of the cases.
    """
    columns, rows = columns_of(cases), rows_of(cases, results)
    if best_first:
        places = dict.fromkeys(place for place, _ in rows)
        rows = {(place, label): row for place in places for label, row in ranked(rows, place, columns[0])}
    headings = ("world", "agent", *columns, "wrong", "not proven", "worlds")
    title = "Share of the optimal reward, %, or reward a life where that is said"
    if all(case.is_bed for case in cases):
        title = "Reward of an episode, in the units of each environment"
    return TextTable(
        f"{title} {MEANS}",
        headings,
        [_reward_row(names, row, rows, columns) for names, row in rows.items()],
        numbers=range(2, len(headings)),
        breaks=True,
        caption=[*notes, *_explained(cases)],
    )


def _explained(cases: Sequence[SuiteCase]) -> list[str]:
    """What the words of a table of rewards mean, as far as they are there."""
    said = [
        "wrong: episodes in a wrong proven cluster.  not proven: episodes in none, whatever was believed.  worlds: how "
        "many the agent believes in at the end of a run, and how many there are."
    ]
    if any(case.targets for case in cases):
        said[0] = f"Targets are reached where the lower end of the interval is there.  {said[0]}"
    if any(case.is_planner for case in cases):
        said.append(
            "Planners that know the worlds are told nothing of which one it is.  The optimum is a ceiling; the others "
            "never act in order to find out, and can be beaten."
        )
    return said


def _reward_row(names: tuple[str, str], row: Row, rows: Rows, columns: Sequence[str]) -> list[Cell]:
    targets = [target for case in row.cases for target in case.targets]
    others = {label: other.numbers for (place, label), other in rows.items() if place == names[0]}
    shown: list[Cell] = []
    for heading in columns:
        asked = [target for target in targets if target.heading == heading]
        write = number if row.cases[0].is_bed else _two_digits
        shown.append(_earned(row.numbers[heading], asked, others, write) if heading in row.numbers else "-")
    wrong, none = "-", "-"
    judged: Cell = wrong
    if any(case.clusters for case in row.cases):
        count, episodes = sum(run.wrong for run in row.runs), sum(run.episodes for run in row.runs)
        judged = Judged(f"{count} of {episodes:,}", good=not count)
        none = f"{sum(run.abstained for run in row.runs):,}"
    return [*names, *shown, judged, none, _believed(row)]


def _earned(
    values: NDArray[np.float64],
    targets: Sequence[Target],
    others: Mapping[str, Measured],
    write: Callable[[float], str],
) -> Cell:
    """A mean with its interval, and whether the targets are reached."""
    words = _interval(values, write)
    verdicts, missing = [], 0
    for target in targets:
        reached = _is_reached(values, target, others)
        verdicts.append(reached)
        if reached is None and target.than is not None:
            missing += 1  # one line for all of them, where only some agents are shown
            continue
        verdict = {True: "reached", False: "missed", None: "not judged"}[reached]
        words += f"; {verdict}: {_asked(target)}"
    if missing:
        words += f"; not judged: {missing} comparison{'s' if missing > 1 else ''}"
    if not verdicts:
        return words
    return Judged(words, good=False if False in verdicts else None if None in verdicts else True)


def _is_reached(values: NDArray[np.float64], target: Target, others: Mapping[str, Measured]) -> bool | None:
    """Whether the lower end of the interval is at the target; None where runs, or the other row, are missing."""
    if target.than is not None:
        if target.heading not in others.get(target.than, {}):
            return None
        values = values - target.times * others[target.than][target.heading]
    _, low, _ = over_runs(values)
    return None if np.isnan(low) else bool(low >= target.value)


def _asked(target: Target) -> str:
    """A target in words.

    Examples
    --------
    >>> _asked(Target("K = 200", 50.0)), _asked(Target("whole run", 2.0, "pooled learner"))
    ('at least 50', 'at least pooled learner + 2')
    >>> _asked(Target("last quarter", 0.0, "QMDP", 0.95))
    'at least 0.95 x QMDP'
    """
    if target.than is None:
        return f"at least {target.value:g}"
    factor = "" if target.times == 1.0 else f"{target.times:g} x "
    return f"at least {factor}{target.than}" + (f" + {target.value:g}" if target.value else "")


def _believed(row: Row) -> Cell:
    """How many worlds the agent believes in, in the mean over runs, and how many there are."""
    said = [run.worlds for run in row.runs if run.worlds is not None]
    if not said:
        return "-"
    models = row.runs[0].models
    words, most = f"{np.mean(said):.1f} of {models}", row.cases[0].most_worlds
    return words if most is None else Judged(words, good=bool(np.max(said) <= most * models))


def _two_digits(value: float) -> str:
    """Per cent, and rewards of lives, with two digits after the point."""
    return f"{value:.2f}"


def _interval(values: NDArray[np.float64], write: Callable[[float], str]) -> str:
    mean, low, high = (float(each) for each in over_runs(values))
    return write(mean) if np.isnan(low) else f"{write(mean)} ({write(low)} to {write(high)})"

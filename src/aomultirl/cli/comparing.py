"""The command that compares agents: compare."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from aomultirl import checks
from aomultirl.cli.app import Plugins, app, console
from aomultirl.cli.completing import beginning_with
from aomultirl.cli.experiments import print_result

RUNS = 10
"""Of every row of a suite, by default."""
SUITES = ("identify", "reward", "short", "large", "paper", "hard", "drift", "beds")
"""The names of :data:`aomultirl.experiments.suites.SUITES`, which takes long to import."""
WORLDS = ("reporting", "development")
"""The two kinds of random worlds that suites have."""


@app.command()
def compare(
    places: Annotated[list[Path] | None, typer.Argument(metavar="FOLDER", help="Folders of results.")] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            autocompletion=beginning_with(lambda _: SUITES),
            help="In place of folders. identify: steps to recognise a world; reward: what long episodes earn; short: "
            "what short lives earn, one an episode; large: ICU-Sepsis. Every peer meets in paper: the paper's grids; "
            "hard: worlds that differ little, or where it matters; drift: worlds that drift, jump or alternate; beds: "
            "other people's environments.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Of a suite, the worlds with this word in their names; may be repeated."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Of a suite, the agents with this word in their names; may be repeated."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Of a suite, 2 runs of a tenth of the episodes; targets are not judged.")
    ] = False,
    worlds: Annotated[
        str | None,
        typer.Option(
            help="Of a suite: reporting, by default; or development, other random worlds, to choose constants on."
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Of every row of a suite; 10 by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of a suite; 0 by default.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that share the work of a suite.")] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of a suite: keep runs as they end, and do not run those that are there."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Of a suite: write a page, a figure and the verdicts on what is claimed."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="Of a suite with --out: the column of the table that the figure shows, and that decides who is best; "
            "the first by default."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the leaderboard of folders as JSON.")] = False,
    plugin: Plugins = None,
) -> None:
    """Compare agents: a leaderboard of the results in folders, or a suite with what it should reach.

    Agents meet the same tasks and draws in runs of the same number, so differences are taken run by run.  A whole suite
    takes hours; [bold]--only[/bold] and [bold]--quick[/bold] show a part of it in minutes, and with [bold]--keep[/bold]
    it goes on where it was interrupted.

    Examples: [bold]aomultirl compare results/quick[/bold]
    [bold]aomultirl compare --suite identify --runs 20[/bold]
    [bold]aomultirl compare --suite short --only doors --quick[/bold]
    [bold]aomultirl compare --suite hard --runs 3 --out results/hard[/bold]
    [bold]aomultirl compare --suite short --only Taxi --agent Recall --agent Q-learning[/bold]
    """
    if bool(places) == (suite is not None):
        raise ValueError(f"compare takes folders of results, or --suite with one of {', '.join(SUITES)}")
    if places:
        for name, value in {
            "only": " ".join(only or ()) or None,
            "agent": " ".join(agent or ()) or None,
            "worlds": worlds,
            "runs": runs,
            "seed": seed,
            "workers": workers,
            "quick": quick or None,
            "keep": keep,
            "out": out,
            "column": column,
        }.items():
            if value is not None:
                raise ValueError(f"{name} is {value}, but folders are read as they are; it goes with --suite")
        _compare_folders(places, as_json)
    else:
        if as_json:
            raise ValueError("--json goes with folders, not with --suite")
        _compare_suite(
            str(suite),
            only=only,
            agent=agent,
            quick=quick,
            worlds=worlds,
            runs=runs,
            seed=seed,
            workers=workers,
            keep=keep,
            out=out,
            column=column,
        )


def _compare_folders(places: list[Path], as_json: bool) -> None:
    from aomultirl.analysis import leaderboard
    from aomultirl.reports import leaderboard_table

    print_result(
        leaderboard.leaderboard(places), leaderboard_table.as_dict if as_json else None, leaderboard_table.show
    )


def _compare_suite(
    suite: str,
    *,
    only: list[str] | None,
    agent: list[str] | None,
    quick: bool,
    worlds: str | None,
    runs: int | None,
    seed: int | None,
    workers: int | None,
    keep: Path | None,
    out: Path | None,
    column: str | None,
) -> None:
    from aomultirl.analysis import suite_rows
    from aomultirl.experiments import executors, progress, suites
    from aomultirl.reports import suite_report, suites_table, tables
    from aomultirl.reports.claims_table import print_claims

    checks.choice("suite", suite, list(suites.SUITES))
    kind = checks.choice("worlds", worlds or WORLDS[0], WORLDS)
    usual = suites.QUICK_RUNS if quick else RUNS
    count = checks.integer("runs", usual if runs is None else runs, least=1, limit=suites.SETS_A_SEED)
    processes = executors.read_workers(1 if workers is None else workers)
    first = suites.FIRST_SEEDS[suite][kind]
    chosen = first + checks.integer("seed", seed or 0, least=0, limit=suites.MOST_SEEDS - 1)
    cases, left_out = suites.installed(suites.pick(suites.SUITES[suite](), only, agent))
    cases = suites.quick(cases) if quick else cases
    kept = None if keep is None else suites.KeptRuns(keep)
    if out is not None:
        suite_report.check(out)
    if column is not None:
        if out is None:
            raise ValueError(f"column is {column!r}, but there is no figure; it goes with --out")
        checks.choice("column", column, suite_rows.columns_of(cases))
    with progress.bar("runs", sys.stderr) as done:
        results = suites.run_suite(cases, count, chosen, processes, done, kept)
    sets = suites.SETS_A_SEED * chosen
    said = "1 run" if count == 1 else f"{count} runs"
    if suite == "beds":
        notes = [f"{said} with the seeds for {kind}: the same variants, in another order in every run.", *left_out]
    else:
        notes = [f"{said} in {kind} worlds; random ones have the seeds {sets} to {sets + count - 1}."]
    if kept is not None:
        notes.append(kept.said((case, chosen, number) for case in cases for number in range(count)))
    if quick:
        notes.append("A quick look: a tenth of the episodes of the suite, and so nothing is judged.")
    if suite == "identify":
        table = suites_table.identify_table(cases, results, notes)
    else:
        table = suites_table.reward_table(cases, results, notes, best_first=suite in suites.CONTESTS)
    screen = console()
    screen.print(tables.for_terminal(table))
    asked: list[tuple[str, str | int | None]] = [("only", word) for word in only or ()]
    asked += [("agent", word) for word in agent or ()]
    asked += [("worlds", worlds), ("runs", runs), ("seed", seed), ("column", column)]
    options = [f"--{name} {shlex.quote(str(value))}" for name, value in asked if value is not None]
    again = " ".join([f"aomultirl compare --suite {suite}", *options, *(["--quick"] if quick else [])])
    shown = suite_report.SuiteResult(suite, cases, results, notes, again, is_whole=not quick)
    print_claims([claim.as_json() for claim in shown.claims], "What the suite is claimed to show", screen)
    if out is not None:
        for path in suite_report.write(shown, out, column):
            screen.print(str(path), style="dim", highlight=False)

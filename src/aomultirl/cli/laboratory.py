"""The command of the laboratory: lower-bounds."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from aomultirl import checks
from aomultirl.cli.app import app, console

GROUPS = ("coin", "clustering", "minimax", "regret_slopes", "told_tasks", "assumptions")
"""The groups of claims, as :data:`aomultirl.laboratory.groups.GROUPS` has them, which takes long to import."""
SOME_MINUTES, HALF_A_MINUTE = "some minutes", "half a minute"
"""How long compiling takes for all groups, and for the coin games alone."""


@app.command("lower-bounds")
def lower_bounds(
    quick: Annotated[bool, typer.Option("--quick", help="Smaller experiments: a minute on two cores.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help=f"Only this group of claims ({', '.join(GROUPS)}); may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the work, one for each core by default; the results are the same."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to write, results/lower_bounds or results/lower_bounds_quick by default; what this command "
            "wrote there before is replaced, but a full run never by less.",
        ),
    ] = None,
) -> None:
    """Check the paper's lower bounds by experiment: every claim, with a figure, in a page for the browser.

    A quarter of an hour on two cores; nothing is written before all is measured.  A claim may fail: that is a finding.

    Example: [bold]aomultirl lower-bounds --quick --out results/bounds[/bold]
    """
    from aomultirl.analysis.claims import summary
    from aomultirl.engine import announcing
    from aomultirl.experiments import executors, progress
    from aomultirl.experiments.progress import duration
    from aomultirl.laboratory import groups
    from aomultirl.reports import lower_bounds as reports

    begin = time.monotonic()
    names = groups.chosen(only or ())
    checks.seed("seed", seed)
    out = out or Path(f"results/lower_bounds{'_quick' if quick else ''}")
    checks.path("out", out)
    executor = executors.local(executors.cores() if workers is None else workers)
    reports.check(out, quick=quick, only=names)
    announcing.expect(HALF_A_MINUTE if set(names) == {"coin"} else SOME_MINUTES)
    with executors.staying(executor):
        with progress.bar("percent", sys.stderr) as done:
            found = groups.measure_all(quick, seed, executor, done, only=names)
        seconds = time.monotonic() - begin
        reports.write(found, out, quick=quick, seed=seed, only=names, seconds=seconds, executor=executor)
    reports.show(found, console())
    typer.echo(
        f"{summary(found.claims)}, measured in {duration(seconds)}; report.html, claims.json and figures/ are in {out}"
    )

"""The command of the laboratory: lower-bounds."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aomultirl import checks
from aomultirl.cli.app import app


@app.command("lower-bounds")
def lower_bounds(
    quick: Annotated[bool, typer.Option("--quick", help="Smaller experiments: a minute on two cores.")] = False,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the work, one for each core by default; the results are the same."),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write; what this command wrote there before is replaced.")
    ] = Path("results/lower_bounds"),
) -> None:
    """Check the paper's lower bounds by experiment: every claim, with a figure, in a page for the browser.

    A quarter of an hour on two cores; nothing is written before all is measured.  A claim may fail: that is a finding.

    Example: [bold]aomultirl lower-bounds --quick --out results/quick[/bold]
    """
    from aomultirl.experiments import executors
    from aomultirl.experiments.lower_bounds.laboratory import measure_all
    from aomultirl.reports import lower_bounds as reports
    from aomultirl.reports import progress

    checks.integer("seed", seed, least=0)
    executor = executors.local(_cores() if workers is None else workers)
    reports.check(out)
    _announce_compiling()
    with progress.bar("percent", sys.stderr) as done:
        found = measure_all(quick, seed, executor, done)
    reports.write(found, out, quick=quick, seed=seed)
    reports.show(found, Console())
    holding = sum(claim.holds for claim in found.claims)
    typer.echo(f"{holding} of {len(found.claims)} claims hold; report.html, claims.json and figures/ are in {out}")


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _announce_compiling() -> None:
    from aomultirl.engine import stepping
    from aomultirl.engine.compiling import is_compiled
    from aomultirl.theory import coin_kernels

    if not (is_compiled(stepping._run) and is_compiled(coin_kernels.track)):
        typer.echo("compiling, about a minute, once", err=True)

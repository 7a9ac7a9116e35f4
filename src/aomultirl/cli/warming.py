"""The command that compiles ahead: warm."""

import sys
import time
from typing import Annotated

import typer

from aomultirl import checks
from aomultirl.cli.app import app

FAILURES = 8
"""And jobs that failed, that are named."""


@app.command()
def warm(
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the work, one for each core by default.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Only for agents with this word in their names; may be repeated."),
    ] = None,
) -> int:
    """Compile ahead what runs need, for every agent, learner and explorer: some minutes, once.

    Everybody plays a little in small worlds of every kind.  The machine code stays on disk, until the package or Numba
    change; without this, whatever is missing is compiled when it is first needed.

    Examples: [bold]aomultirl warm[/bold]
    [bold]aomultirl warm --only Recall --only told[/bold]
    """
    from aomultirl.experiments import executors, progress, warming

    begin = time.monotonic()
    executor = executors.local(executors.cores() if workers is None else workers)
    chosen = warming.jobs(only or ())
    found: list[warming.Warmed] = []
    with progress.bar(
        "jobs", sys.stderr, estimate=False
    ) as done:  # one compiles for a minute, the next finds all there
        done(0, len(chosen))
        for warmed in warming.warm(executor, chosen):
            found.append(warmed)
            done(len(found), len(chosen))
    kernels, took = sum(one.kernels for one in found), progress.duration(time.monotonic() - begin)
    typer.echo(f"{kernels:,} kernels compiled in {took}" if kernels else f"nothing was left to compile ({took})")
    failed = [one for one in found if one.error is not None]
    for one in failed[:FAILURES]:
        typer.echo(f"failed: {one.name}: {checks.plain(one.error or '')}", err=True)
    return 1 if failed else 0

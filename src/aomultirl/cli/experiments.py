"""Commands about experiments: reproduce, run, status, verify, report."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from aomultirl import checks
from aomultirl.cli.app import Plugins, app, console

if TYPE_CHECKING:
    from rich.console import Console

    from aomultirl.experiments.executors import Executor
    from aomultirl.experiments.specification import Specification

T = TypeVar("T")
FAILURES = 8
"""And notes, that are named at the end."""
NOTE = 1000
"""Characters of a sentence that names a file, whose path may be long."""
ResultsFolder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command()
def reproduce(
    runs: Annotated[int, typer.Option(help="How often each agent runs.")] = 10,
    episodes: Annotated[int, typer.Option(help="K, how many episodes each run has.")] = 200,
    seed: Annotated[int, typer.Option(help="Of all randomness.")] = 0,
    edges: Annotated[
        str, typer.Option(help="Moves out of the grid: stay, as the authors ran it, or third, as the text says.")
    ] = "stay",
    constants: Annotated[
        str, typer.Option(help="N, H0 and the bonus: released, of the authors' code, or paper.")
    ] = "released",
    workers: Annotated[int, typer.Option(help="Processes that share the work; the results are the same.")] = 1,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write; finished runs in it are kept.")] = Path(
        "results/paper"
    ),
) -> None:
    """Run the paper's experiment and check what the paper says of it: figure, numbers, and a page for the browser.

    Interrupted, it loses nothing: the same command again runs what is missing.

    Example: [bold]aomultirl reproduce --edges third --workers 2 --out results/text[/bold]
    """
    from rich.console import Console

    from aomultirl.experiments import executors, progress
    from aomultirl.experiments.paper import PaperExperiment
    from aomultirl.reports import claims_table, reproduction
    from aomultirl.reports.premises_table import premises_table
    from aomultirl.reports.tables import for_terminal

    experiment = PaperExperiment(runs, episodes, seed, edges, constants)
    executors.read_workers(workers)
    checks.path("out", out)
    reproduction.check(experiment, out)
    with progress.table(sys.stderr) as observer:
        found = reproduction.reproduce(experiment, out, workers, [observer])
    _tell_set_aside(found.set_aside)
    claims = (claim.as_json() for claim in found.claims)
    claims_table.print_claims(claims, "What the paper says, and what was found", Console(), places=True)
    if premises := premises_table(found.results.histories):
        Console().print(for_terminal(premises))
    typer.echo(f"figure.png, figure.svg, figure.pdf, episodes.parquet, summary.json and report.html are in {out}")


@app.command()
def run(
    specification: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="What to run: see examples/.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write, results/NAME by default; finished cells in it are kept."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that share the work; 1 by default.")] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Work on a Ray cluster: local, auto or HOST:PORT."),
    ] = None,
    checkpoint: Annotated[float, typer.Option(help="Seconds between checkpoints of a long cell.")] = 60.0,
    dry: Annotated[bool, typer.Option("--dry-run", help="Check the file, show what it would run, and stop.")] = False,
    plugin: Plugins = None,
) -> int:
    """Run the experiment that a file describes: every world, stream and agent of it, in every run.

    Interrupted, it loses nothing: the same command again runs what is missing.  The results are the same bytes with any
    number of workers, and on a cluster.  Ends with 1 if cells failed.

    Example: [bold]aomultirl run examples/quick.toml --workers 2[/bold]
    """
    from aomultirl.experiments import progress
    from aomultirl.experiments.completion import complete
    from aomultirl.experiments.store import Store

    executor = _executor(workers, ray)
    checks.real("checkpoint", checkpoint, above=0.0)
    told = _read_specification(specification, out)
    folder = out or Path("results") / told.name
    checks.path("out", folder)
    cells = told.cells()
    store = Store(folder, told.identity(), cells, {"specification.toml": specification.read_bytes()})
    if dry:
        _show_configurations(told)
        return 0
    try:
        with progress.table(sys.stderr) as observer:
            found = complete(store, executor, [observer], checkpoint)
    finally:
        _tell_set_aside(store.set_aside)
    for note in found.notes[:FAILURES]:
        typer.echo(f"aomultirl: {checks.plain(note, NOTE)}", err=True)
    for cell, error in found.failed[:FAILURES]:
        where = f"{checks.plain(cell.label)} in {cell.world['name']}, run {cell.number} (cells/{cell.name}.json)"
        typer.echo(f"failed: {where}: {checks.plain(error)}", err=True)
    done = found.total - len(found.failed)
    typer.echo(f"{done:,} of {found.total:,} cells are in {folder}, {found.found:,} of them from before", err=True)
    if found.failed:
        typer.echo(f"{len(found.failed):,} failed; their manifests say why, and the same command tries again", err=True)
        return 1
    typer.echo(f"see them with: aomultirl compare {folder}, or: aomultirl report {folder}", err=True)
    return 0


def _show_configurations(told: "Specification") -> None:
    from aomultirl.analysis.phrases import counted
    from aomultirl.reports.configurations_table import configurations_table
    from aomultirl.reports.tables import for_terminal

    configurations, count = told.configurations(), len(told.cells())
    title = f"{told.name}: {counted(len(configurations), 'configuration')}, {counted(count, 'cell')}"
    table = configurations_table(title, configurations, told.varying(), told.runs)
    console().print(for_terminal(table))


def _read_specification(path: Path, out: Path | None) -> "Specification":
    """What to run; where the file is refused and the results that are there name a plug-in, that may be the reason."""
    from aomultirl.experiments.manifest import plugins_missing
    from aomultirl.experiments.specification import read_specification

    try:
        return read_specification(path)
    except ValueError as error:
        missing = plugins_missing(out or Path("results") / path.stem)
        if not missing:
            raise
        hint = " ".join(f"--plugin {checks.plain(module)}" for module in missing)
        raise ValueError(f"{error}; the results that are there were made with {hint}") from None


def _executor(workers: int | None, ray: str | None) -> "Executor":
    from aomultirl.experiments import executors, ray_executor

    if ray is None:
        return executors.local(1 if workers is None else workers)
    if workers is not None:
        checks.integer("workers", workers, least=1)
        if ray != "local":
            raise ValueError(f"workers is {workers}, but the cluster {ray!r} knows its own; leave it out")
    ray_executor.check_installed()
    return ray_executor.RayCluster(ray, workers)


def _tell_set_aside(paths: list[Path]) -> None:
    for path in paths:
        typer.echo(f"aomultirl: a damaged or foreign file was set aside as {checks.plain(str(path), NOTE)}", err=True)


@app.command()
def status(
    place: ResultsFolder,
    as_json: AsJson = False,
    plugin: Plugins = None,
) -> None:
    """Say how far the experiment in a folder is: cells done, failed and left, and who is at work.

    Example: [bold]aomultirl status results/quick[/bold]
    """
    from aomultirl.experiments import status as status_of
    from aomultirl.reports.folder_state import show_status

    print_result(status_of.status(place), status_of.as_dict if as_json else None, show_status)


@app.command()
def verify(
    place: ResultsFolder,
    as_json: AsJson = False,
    plugin: Plugins = None,
) -> int:
    """Check every file in a folder of results: whether it is whole, and of the cell that it is named after.

    Nothing is touched.  Ends with 0 if all is well, also where cells are missing or failed, and with 1 if something is
    wrong; [bold]aomultirl run[/bold] sets aside what is wrong and computes it anew.

    Example: [bold]aomultirl verify results/quick[/bold]
    """
    from aomultirl.experiments import verification
    from aomultirl.reports.folder_state import show_verified

    found = verification.verify(place)
    print_result(found, verification.as_dict if as_json else None, show_verified)
    return 1 if found.findings else 0


def print_result(found: T, as_dict: Callable[[T], Any] | None, show: "Callable[[T, Console], None]") -> None:
    """What was found, as JSON where that is asked for, or as people read it."""
    if as_dict is None:
        show(found, console())
    else:
        typer.echo(json.dumps(as_dict(found), indent=2))


@app.command()
def report(
    place: Annotated[Path, typer.Argument(metavar="FOLDER", help="Of results; or a history in a Parquet file.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; report.html beside the results by default.")
    ] = None,
    plugin: Plugins = None,
) -> None:
    """Make a page for the browser from the histories in a folder or a file.

    Histories are what [bold]History.write[/bold] writes.  The page needs no network and nothing beside it.

    Example: [bold]aomultirl report results/paper --out page.html[/bold]
    """
    from aomultirl.reports import folder_report

    target = out or (place if place.is_dir() else place.parent) / "report.html"
    folder_report.check_target(target)
    for path in folder_report.write(folder_report.collect(place), target):
        typer.echo(f"{'page' if path == target else 'figure'} written to {path}")

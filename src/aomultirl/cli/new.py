"""The command that writes an example to begin with: new."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aomultirl.cli.app import app

if TYPE_CHECKING:
    from aomultirl.experiments.examples import Example

PLUGINS = "extending/"
"""What the names of plug-ins among the examples begin with."""


@app.command()
def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The example; without a name, all of them are listed.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to write; nothing that is there is overwritten.")
    ] = Path("."),
) -> None:
    """Write an example to begin with: a specification, a program, or a plug-in to be changed.

    Example: [bold]aomultirl new quick.toml[/bold]
    """
    from aomultirl.experiments import examples

    if name is None:
        _list(examples.examples())
        return
    written = examples.write(name, out)
    for path in written:
        typer.echo(f"{path} written")
    typer.echo(f"try it with: {_trial(name, written[0])}")


def _list(found: "list[Example]") -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("example", style="bold", no_wrap=True)
    table.add_column("what it is")
    for example in found:
        table.add_row(example.name, escape(example.summary))
    Console().print(table)
    typer.echo("\naomultirl new NAME writes one of them into this folder, to be changed and run.")


def _trial(name: str, path: Path) -> str:
    """The command that shows what a written example is, or runs it."""
    if path.suffix == ".toml":
        return f"aomultirl run {shlex.quote(str(path))} --dry-run"
    if name.startswith(PLUGINS):
        there = "" if path.parent == Path(".") else f"cd {shlex.quote(str(path.parent))} && "
        return f"{there}aomultirl list --plugin {path.stem}"
    return f"python {shlex.quote(str(path))}"

"""The command that lists what can be named: list."""

import inspect
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aomultirl import checks, descriptions, plugins
from aomultirl.cli.app import Plugins, app

NOUNS = {f"{kind}s": kind for kind in plugins.KINDS}
"""What the command calls each kind."""


@app.command("list")
def list_names(
    nouns: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="worlds, streams, agents, learners or explorers; all by default."),
    ] = None,
    name: Annotated[str | None, typer.Argument(help="One of them, with all that is said of it.")] = None,
    plugin: Plugins = None,
) -> None:
    """List the worlds, streams, agents, learners and explorers that there are, with their parameters.

    Example: [bold]aomultirl list agents Recall[/bold]
    """
    wanted = list(NOUNS) if nouns is None else [checks.choice("KIND", nouns, list(NOUNS))]
    if name is not None:
        _show_one(NOUNS[wanted[0]], name)
        return
    for noun in wanted:
        makers = plugins.makers(NOUNS[noun])
        if makers:
            Console().print(_table(NOUNS[noun], makers))


def _table(kind: str, makers: "plugins.Makers") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(kind, style="bold", no_wrap=True)
    table.add_column("what it is, and name=value it takes")
    for name, maker in makers.items():
        summary, parameters = descriptions.summary(maker)
        module = plugins.module_of(kind, name)
        origin = "" if module is None else f" (plug-in {module})"
        table.add_row(name, f"{escape(summary.replace('``', '') + origin)}\n[dim]{escape(parameters)}[/dim]")
    return table


def _show_one(kind: str, name: str) -> None:
    maker = plugins.find(kind, name)
    module = plugins.module_of(kind, maker.__name__)
    typer.echo(f"{maker.__name__}, {kind}" + ("" if module is None else f" of the plug-in {module}"))
    typer.echo(descriptions.summary(maker)[1] + "\n")
    typer.echo(inspect.getdoc(maker) or "")

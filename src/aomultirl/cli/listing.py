"""The command that lists what can be named: list."""

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aomultirl import checks, descriptions, plugins
from aomultirl.cli.app import Plugins, app

NOUNS = {**{f"{kind}s": kind for kind in plugins.KINDS}, "suites": "suite"}
"""What the command calls each kind."""
ROLE = re.compile(r":[a-z]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`")
"""A cross-reference in a docstring, such as :class:`MDP`; its first group is what a reader of plain text needs."""


@app.command("list")
def list_names(
    nouns: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="worlds, streams, agents, learners, explorers or suites; all by default."
        ),
    ] = None,
    name: Annotated[str | None, typer.Argument(help="One of them, with all that is said of it.")] = None,
    plugin: Plugins = None,
) -> None:
    """List the worlds, streams, agents, learners, explorers and suites that there are, with their parameters.

    Example: [bold]aomultirl list agents Recall[/bold]
    """
    wanted = list(NOUNS) if nouns is None else [checks.choice("KIND", nouns, list(NOUNS))]
    if name is not None:
        _show_one(NOUNS[wanted[0]], name)
        return
    for kind in (NOUNS[noun] for noun in wanted):
        if makers := _makers(kind):
            Console().print(_table(kind, makers))


def _makers(kind: str) -> "plugins.Makers":
    """What there is of a kind; suites are ours alone, and are not made by name but for ``compare --suite``."""
    if kind != "suite":
        return plugins.makers(kind)
    from aomultirl.experiments.suites import SUITES

    return SUITES


def _table(kind: str, makers: "plugins.Makers") -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(kind, style="bold", no_wrap=True)
    table.add_column("how it is run" if kind == "suite" else "what it is, and name=value it takes", overflow="fold")
    for name, maker in makers.items():
        summary, parameters = _summary(kind, name, maker)
        module = plugins.module_of(kind, name)
        origin = "" if module is None else f" (plug-in {module})"
        table.add_row(name, f"{escape(_plain_words(summary) + origin)}\n[dim]{escape(parameters)}[/dim]")
    return table


def _summary(kind: str, name: str, maker: Callable[..., Any]) -> tuple[str, str]:
    """What a thing is, and what is given to have it."""
    summary, parameters = descriptions.summary(maker)
    return summary, f"aomultirl compare --suite {name}" if kind == "suite" else parameters


def _show_one(kind: str, name: str) -> None:
    if kind == "suite":
        maker = _makers(kind)[checks.choice("suite", name, list(_makers(kind)))]
    else:
        maker = plugins.find(kind, name)
        name = maker.__name__
    module = plugins.module_of(kind, name)
    typer.echo(f"{name}, {kind}" + ("" if module is None else f" of the plug-in {module}"))
    typer.echo(_summary(kind, name, maker)[1] + "\n")
    typer.echo(_plain_words(inspect.getdoc(maker) or ""))


def _plain_words(docstring: str) -> str:
    """A docstring without the marks that are for the pages made of it.

    Examples
    --------
    >>> _plain_words("``pause`` as in :class:`aomultirl.streams.blocks`, see :func:`the text <aomultirl.run>`")
    'pause as in aomultirl.streams.blocks, see the text'
    """
    return ROLE.sub(r"\1", docstring).replace("``", "")

"""The command that lists what can be named: list."""

import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aomultirl import checks, plugins
from aomultirl.cli import usage
from aomultirl.cli.app import Plugins, app, console
from aomultirl.cli.completing import beginning_with
from aomultirl.cli.summaries import summaries

if TYPE_CHECKING:
    from rich.table import Table

NOUNS = {
    "worlds": "world",
    "agents": "agent",
    "learners": "learner",
    "explorers": "explorer",
    "streams": "stream",
    "suites": "suite",
}
"""What the command calls each kind."""
ROLE = re.compile(r":[a-z]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`")
"""A cross-reference in a docstring, such as :class:`MDP`; its first group is what a reader of plain text needs."""
TABLE = re.compile(r"[-= ]{4,}$|\|")
"""A line of a docstring that underlines a heading, or is a row of a table."""
GAP = "  "
"""Between a name and what it is."""


def _names(ctx: typer.Context) -> Iterable[str]:
    """The names of the kind that was typed."""
    kind = NOUNS.get(str(ctx.params.get("nouns")))
    return [] if kind is None else _makers(kind)


@app.command("list")
def list_names(
    nouns: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="worlds, agents, learners, explorers, streams or suites; all by default.",
            autocompletion=beginning_with(lambda _: NOUNS),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="One of them, with its parameters and an example.",
            autocompletion=beginning_with(_names),
        ),
    ] = None,
    plugin: Plugins = None,
) -> None:
    """List the worlds, agents, learners, explorers, streams and suites that there are.

    All of them with a line each, those of one kind with their parameters, or one with all that is said of it and an
    example.

    Examples: [bold]aomultirl list[/bold]
    [bold]aomultirl list agents[/bold]
    [bold]aomultirl list agents Recall[/bold]
    """
    if nouns is None:
        typer.echo("\n".join(_lines_of_all()))
        return
    kind = NOUNS[checks.choice("KIND", nouns, list(NOUNS))]
    if name is None:
        console().print(_table(kind, _makers(kind)))
    else:
        typer.echo("\n".join(_lines_of_one(kind, name)))


def _makers(kind: str) -> "plugins.Makers":
    """What there is of a kind, in the order of the alphabet; suites are ours alone, and stand in their own order."""
    if kind != "suite":
        makers = plugins.makers(kind)
        return {name: makers[name] for name in _in_order(kind, makers)}
    from aomultirl.experiments.suites import SUITES

    return SUITES


def _lines_of_all() -> Iterator[str]:
    """A line for everything, cut where the terminal ends if there is one."""
    width = console().width if sys.stdout.isatty() or "COLUMNS" in os.environ else sys.maxsize
    read = summaries()
    for noun, kind in NOUNS.items():
        if read is not None:
            said = {name: _plain_words(read[kind][name]) for name in _in_order(kind, read[kind])}
        else:
            makers = _makers(kind)
            said = {name: _summary(kind, name, maker)[0] + _origin(kind, name) for name, maker in makers.items()}
        if said:
            yield noun
            widest = max(map(len, said))
            yield from (_cut(f"{GAP}{name:<{widest}}{GAP}{summary}", width) for name, summary in said.items())
            yield ""
    yield "aomultirl list agents: with their parameters."
    yield "aomultirl list agents Recall: all of one, with an example."


def _in_order(kind: str, names: Iterable[str]) -> list[str]:
    """The alphabet; suites stand in their own order."""
    return list(names) if kind == "suite" else sorted(names, key=str.casefold)


def _cut(line: str, width: int) -> str:
    """A line that is no longer than it may be, cut between two words.

    >>> _cut("  a  an agent that learns", 21), _cut("  a  an agent", 21)
    ('  a  an agent that …', '  a  an agent')
    """
    return line if len(line) <= width else f"{line[: width - 1].rpartition(' ')[0]} …"


def _table(kind: str, makers: "plugins.Makers") -> "Table":
    """Everything of a kind, with what it is made with, in as many lines as that takes."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(kind, style="bold", no_wrap=True)
    table.add_column("how it is run" if kind == "suite" else "what it is, and name=value it takes", overflow="fold")
    for name, maker in makers.items():
        summary, parameters = _summary(kind, name, maker)
        table.add_row(name, f"{escape(summary + _origin(kind, name))}\n[dim]{escape(parameters)}[/dim]")
    return table


def _origin(kind: str, name: str) -> str:
    """Where something of a plug-in's is from."""
    module = plugins.module_of(kind, name)
    return "" if module is None else f" (plug-in {module})"


def _summary(kind: str, name: str, maker: Callable[..., Any]) -> tuple[str, str]:
    """What a thing is, and what is given to have it."""
    from aomultirl import descriptions

    summary, parameters = descriptions.summary(maker)
    return _plain_words(summary), f"aomultirl compare --suite {name}" if kind == "suite" else parameters


def _lines_of_one(kind: str, name: str) -> Iterator[str]:
    """All that is said of one thing, in lines that a terminal does not break, and an example."""
    if kind == "suite":
        maker = _makers(kind)[checks.choice("suite", name, list(_makers(kind)))]
    else:
        maker = plugins.find(kind, name)
        name = maker.__name__
    width, module = console().width, plugins.module_of(kind, name)
    yield f"{name}, {kind}" + ("" if module is None else f" of the plug-in {module}")
    parameters = _summary(kind, name, maker)[1]
    yield from _filled(parameters, width, indent=2)
    yield ""
    yield from wrapped(_plain_words(inspect.getdoc(maker) or "").rstrip(), width)
    for title, lines in usage.examples(kind, name):
        yield ""
        yield title
        yield ""
        yield from (f"    {line}".rstrip() for line in lines)


def wrapped(docstring: str, width: int) -> Iterator[str]:
    """The lines of a docstring, no longer than ``width`` where they are words.

    Examples
    --------
    >>> text = "One paragraph\\nof words.\\n\\nname\\n    What it is, in words."
    >>> for line in wrapped(text, 24):
    ...     print(line or "-")
    One paragraph of words.
    -
    name
        What it is, in
        words.
    """
    paragraph, begun, is_session = list[str](), 0, False
    for line in docstring.split("\n"):
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        is_session = words.startswith(">>> ") or (is_session and bool(words))
        is_apart = is_session or not words or TABLE.match(words) is not None
        if paragraph and (is_apart or indent != begun):
            yield from _filled(" ".join(paragraph), width, begun)
            paragraph = []
        if is_apart:
            yield line
        else:
            paragraph.append(words)
            begun = indent
    yield from _filled(" ".join(paragraph), width, begun)


def _filled(words: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        words,
        max(width, indent + 20),
        initial_indent=space,
        subsequent_indent=space,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain_words(docstring: str) -> str:
    """A docstring without the marks that are for the pages made of it.

    Examples
    --------
    >>> _plain_words("``pause`` as in :class:`aomultirl.streams.blocks`, see :func:`the text <aomultirl.run>`")
    'pause as in aomultirl.streams.blocks, see the text'
    """
    return ROLE.sub(r"\1", docstring).replace("``", "")

"""Tables of words: what they say is data, so that a terminal and a page can show the same.

Tables that hardly vary are templates, plain text in ``templates/NAME.txt``.  A line is a row, its cells apart by
`` | ``; lines that begin with another sign are ``= title``, ``# headings``, with ``>`` before those of numbers, and
``~ a sentence below``.  A cell may judge: ``[good] words``, ``[bad] words``, ``[open] words``.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aomultirl.analysis.inspection import Inspection
from aomultirl.geometry.reachability import COMPARABLE
from aomultirl.reports.templating import environment

if TYPE_CHECKING:
    from jinja2 import Environment
    from rich.table import Table
    from rich.text import Text

    from aomultirl.reports.fitted import FittedTable

STYLES = {True: "green", False: "bold red", None: ""}
"""The colours of a cell that is good, bad, or neither."""
JUDGED = {"[good]": True, "[bad]": False, "[open]": None}
"""How a cell that judges begins in a template."""
SIGNS = {ord("|"): "\ue000", ord("\n"): "\ue001"}
"""What stands for the signs of the format in values that a template is given."""


class Judged(NamedTuple):
    """A cell that judges.

    words: what the cell says.
    good: whether that is as one would wish; None where it is not known.
    """

    words: str
    good: bool | None


Cell = str | Judged


class TextTable(NamedTuple):
    """A table for people.

    title: above it.
    headings: one a column; where all are empty, there is no line of them.
    rows: one cell a column.
    numbers: the places of columns with numbers, which stand on the right.
    breaks: whether such a column may be broken into lines, as intervals may be.
    caption: below it, a sentence a line.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Sequence[int] = ()
    breaks: bool = False
    caption: Sequence[str] = ()


def inspection_tables(found: Inspection, title: str) -> list[TextTable]:
    """The facts of a set of worlds, under a title, the paper's assumptions, and the clustering phases if there are."""
    return from_template("inspection.txt", found=found, title=title, comparable=COMPARABLE)


def from_template(name: str, **context: Any) -> list[TextTable]:
    """The tables that a template makes of what it is given."""
    tables: list[TextTable] = []
    for line in _environment().get_template(name).render(**context).split("\n"):
        sign, _, words = line.partition(" ")
        if sign == "=":
            tables.append(TextTable(_restored(words), (), [], caption=[]))
        elif sign == "#":
            named = words.split("|")
            numbers = [place for place, heading in enumerate(named) if heading.strip().startswith(">")]
            headings = [_restored(heading).lstrip("> ") for heading in named]
            tables[-1] = tables[-1]._replace(headings=headings, numbers=numbers)
        elif sign == "~":
            tables[-1] = tables[-1]._replace(caption=[*tables[-1].caption, _restored(words)])
        elif line:
            tables[-1] = tables[-1]._replace(rows=[*tables[-1].rows, list(map(_cell, line.split("|")))])
    return tables


def _cell(words: str) -> Cell:
    sign, _, rest = words.strip().partition(" ")
    return Judged(_restored(rest), JUDGED[sign]) if sign in JUDGED else _restored(words)


def _restored(words: str) -> str:
    return words.strip().translate({ord(stand_in): sign for sign, stand_in in SIGNS.items()})


@cache
def _environment() -> "Environment":
    made = environment("aomultirl.reports", finalize=lambda value: str(value).translate(SIGNS))
    made.globals["inf"] = math.inf
    made.filters["terminal_states"] = lambda world: int(world.terminal.sum())
    made.filters["most_successors"] = lambda world: int(np.diff(world.successors.starts).max())
    return made


def for_terminal(table: TextTable) -> "FittedTable":
    """The table as Rich prints it in a terminal of any width; nothing in it is taken for markup."""
    from aomultirl.reports.fitted import FittedTable

    return FittedTable(table)


def framed(title: "str | Text | None", *, show_header: bool = True) -> "Table":
    """An empty table of Rich with a line under its headings, as all tables of ours look."""
    from rich import box
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_header=show_header,
    )


def words_of(cell: Cell) -> str:
    """What a cell says."""
    return cell.words if isinstance(cell, Judged) else cell


def coloured(cell: Cell) -> "Text":
    """A cell as Rich prints it."""
    from rich.text import Text

    return Text.assemble((words_of(cell), STYLES[cell.good] if isinstance(cell, Judged) else ""))

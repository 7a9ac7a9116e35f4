"""Tables of words: what they say is data, so that a terminal and a page can show the same."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

STYLES = {True: "green", False: "bold red", None: ""}
"""The colours of a cell that is good, bad, or neither."""


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


def holds(answer: bool | None) -> Judged:
    """Whether something holds, as a cell."""
    return Judged({True: "yes", False: "no", None: "?"}[answer], answer)


def for_terminal(table: TextTable) -> "Table":
    """The table as Rich prints it; nothing in it is taken for markup."""
    from rich.text import Text

    shown = framed(Text(table.title), show_header=any(table.headings))
    shown.min_width = len(table.title)
    shown.caption = Text("".join(f"{sentence}\n" for sentence in table.caption)) if table.caption else None
    for place, heading in enumerate(table.headings):
        right = place in table.numbers
        shown.add_column(Text(heading), justify="right" if right else "left", no_wrap=right and not table.breaks)
    for row in table.rows:
        shown.add_row(*map(_coloured, row))
    return shown


def framed(title: "str | Text", *, show_header: bool = True) -> "Table":
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


def _coloured(cell: Cell) -> "Text":
    from rich.text import Text

    return Text.assemble((cell.words, STYLES[cell.good])) if isinstance(cell, Judged) else Text(cell)

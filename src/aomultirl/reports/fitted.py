"""Tables in a terminal whose words are whole, however narrow it is.

A table of Rich shrinks its widest columns, also below the longest word in them.  Here every column is at least as wide
as its longest word, and names are in one line where intervals in two leave room for that.  Where cells would take
several lines, rows with the same first cell share a title in its place; where even that is too wide, every row becomes
a few lines.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from aomultirl.reports import tables

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

Row = Sequence["tables.Cell"]
"""The cells of a row."""
GAP, EDGES = 2, 1
"""Characters of a framed table beside those of its columns: for every column, and around all."""
UNHEADED = 3
"""Rows that share a title up to which they need no headings of their own."""
INDENT = 2
"""Characters before the lines of a row that became a few of them, at each depth."""


def column_widths(
    columns: Sequence[Sequence[str]], width: int, most: Sequence[int] = (), names: int = 0
) -> list[int] | None:
    """How wide the columns of a framed table are, so that no word is broken; None where that cannot be.

    Parameters
    ----------
    columns
        the texts of each.
    width
        of the whole table.
    most
        how wide each column may become beyond its longest word; as wide as its longest text by default.
    names
        how many columns, from the first on, hold names: these are whole before the others are, in half of the room.

    Examples
    --------
    >>> column_widths([["an agent of two", "random"], ["1,000"]], 24)
    [14, 5]
    >>> column_widths([["an agent of two", "random"], ["1,000"]], 16)
    [6, 5]
    >>> column_widths([["an agent of two", "random"], ["1,000"]], 15)
    """
    widths = [max((len(word) for text in column for word in text.split()), default=1) for column in columns]
    left = width - sum(widths) - GAP * len(columns) - EDGES
    if left < 0:
        return None
    wanted = [max(map(len, column), default=1) for column in columns]
    if most:
        wanted = list(map(min, wanted, most))
    for taken in range(left):
        short = [place for place, wide in enumerate(widths) if wide < wanted[place]]
        if not short:
            break
        if taken < left // 2:
            short = [place for place in short if place < names] or short
        widths[max(short, key=lambda place: wanted[place] / widths[place])] += 1
    return widths


class FittedTable:
    """A table for people, as a terminal of any width can show it."""

    def __init__(self, table: "tables.TextTable") -> None:
        self.table = table

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.text import Text

        width = options.max_width
        whole, parts = self._widths(0, width), self._widths(1, width)
        groups = [list(rows) for _, rows in groupby(self.table.rows, key=_first)]
        repeats = len(groups) <= len(self.table.rows) / 2
        if whole is not None and (parts is None or not repeats or self._widths(0, sys.maxsize) == whole):
            yield _framed(self.table, whole, width)
        else:
            yield Text(f"{self.table.title}\n", style="italic")
            for place, rows in enumerate(groups):
                is_headed = place == 0 or len(rows) > UNHEADED
                yield from self._lines(rows) if parts is None else self._part(rows, parts, width, is_headed)
        if self.table.caption:
            yield Text("".join(f"{sentence}\n" for sentence in self.table.caption), style="dim italic")

    def _widths(self, first: int, width: int) -> list[int] | None:
        """Of the columns from the ``first`` on."""
        columns = [[heading] for heading in self._headings()]
        for row in self.table.rows:
            for column, cell in zip(columns, row, strict=True):
                column.append(tables.words_of(cell))
        names = min(self.table.numbers, default=len(columns))
        of_names = max(min(self.table.numbers, default=0) - first, 0)
        if not self.table.breaks:
            for place in self.table.numbers:  # a number with its unit is one word
                columns[place] = [text.replace(" ", "_") for text in columns[place]]
            return column_widths(columns[first:], width, names=of_names)
        whole = [[text.replace(" ", "_") for text in column] for column in columns[first:names]]
        halved = [[text.replace(" (", "_(") for text in column] for column in columns[names:]]
        if widths := column_widths([*whole, *halved], width):
            return widths
        # Where the widest intervals do not fit in two lines, most of them do if nothing else takes any room.
        most = [sys.maxsize] * len(whole) + list(map(_usual_half, halved))
        widths = column_widths([*whole, *columns[names:]], width, most)
        return widths or column_widths(columns[first:], width, names=of_names)

    def _headings(self) -> Sequence[str]:
        return self.table.headings or [""] * (len(self.table.rows[0]) if self.table.rows else 1)

    def _part(
        self, rows: Sequence[Row], widths: Sequence[int], width: int, is_headed: bool
    ) -> "Iterator[RenderableType]":
        """A table for rows that begin with the same cell, which is its title, with or without headings."""
        from rich.text import Text

        numbers = [place - 1 for place in self.table.numbers]
        others = [row[1:] for row in rows]
        part = tables.TextTable("", self._headings()[1:], others, numbers, self.table.breaks)
        if not is_headed:
            yield Text(f" {_first(rows[0])}", style="bold")
        yield _framed(part if not is_headed else part._replace(title=_first(rows[0])), widths, width, is_headed)

    def _lines(self, rows: Sequence[Row]) -> "Iterator[RenderableType]":
        """The same as lines: names first, and then a line for every number that is known, with its heading."""
        from rich.padding import Padding
        from rich.text import Text

        names = min(self.table.numbers, default=1)
        yield Text(_first(rows[0]), style="bold")
        for row in rows:
            depth = INDENT
            if names > 1:
                yield Padding(Text(", ".join(map(tables.words_of, row[1:names]))), (0, 0, 0, depth))
                depth += INDENT
            for heading, cell in zip(self._headings()[names:], row[names:], strict=True):
                if tables.words_of(cell) not in ("", "-"):
                    line = Text(f"{heading}: " if heading else "")
                    yield Padding(line.append_text(tables.coloured(cell)), (0, 0, 0, depth))


def _usual_half(column: Sequence[str]) -> int:
    """How wide the first line of an interval mostly is, where it is broken in two; 0 without intervals."""
    halves = sorted(len(text.partition(" to ")[0]) for text in column if "_(" in text)
    return halves[(len(halves) - 1) // 2] if halves else 0


def _first(row: Row) -> str:
    return tables.words_of(row[0])


def _framed(table: "tables.TextTable", widths: Sequence[int], width: int, is_headed: bool = True) -> "Table":
    from rich.text import Text

    shown = tables.framed(Text(table.title) if table.title else None, show_header=is_headed and any(table.headings))
    shown.min_width = min(len(table.title), width)
    for place, heading in enumerate(table.headings):
        shown.add_column(
            Text(heading),
            justify="right" if place in table.numbers else "left",
            width=widths[place],
        )
    for row in table.rows:
        shown.add_row(*map(tables.coloured, row))
    return shown

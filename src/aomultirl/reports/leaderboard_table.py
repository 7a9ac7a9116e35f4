"""The leaderboard in a terminal, and as JSON."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aomultirl import checks
from aomultirl.analysis import phrases
from aomultirl.analysis.intervals import UNKNOWN, Span, in_words
from aomultirl.analysis.leaderboard import AgentLine, Leaderboard, ProblemTable
from aomultirl.reports.fitted import FittedTable, column_widths
from aomultirl.reports.tables import TextTable, framed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST, MOST_LINES = 12, 40
"""Tables that are printed, and lines of each."""
MOST_WORDS = 2000
"""Characters of a sentence about agents."""
CAPTION = (
    "Means over runs and 95 % bootstrap intervals.  behind the best: paired by run.  regret: exact from the learning "
    "phase on; of an agent that learns within an episode, the optimal value less what it earned.  steps to identify: "
    "an episode, whether it ended in a cluster or not.  Episodes of a run: wrong cluster; not proven: in no cluster; "
    "sure, not proven: in none, but taken for a world that the agent believed in with 99 % or more; in doubt: neither. "
    " -: not recorded, or no clusters sought."
)


def show(board: Leaderboard, console: "Console", most: int | None = MOST) -> None:
    """Print the first ``most`` tables, and how many are left."""
    from rich.markup import escape

    tables = board.tables if most is None else board.tables[:most]
    for table in tables:
        console.print(_drawn(table, console.width))
        left = len(table.lines) - MOST_LINES
        more = f"{phrases.counted(left, 'more agent')} behind these." if left > 0 else ""
        for words in (more, table.verdict, *table.notes):
            if words:
                console.print(escape(checks.plain(words, MOST_WORDS)), highlight=False)
    console.print(f"\n[dim]{CAPTION}[/dim]", highlight=False)
    left = len(board.tables) - len(tables)
    more = f"Not shown here: {phrases.counted(left, 'more problem')}; --json has all." if left else ""
    for words in filter(None, (more, *board.notes)):
        console.print(escape(checks.plain(words, MOST_WORDS)), highlight=False)


def _drawn(table: ProblemTable, width: int) -> "Table | FittedTable":
    """Means above their intervals, in columns wide enough for each word; labels get the room that is left."""
    from rich.markup import escape

    runs = phrases.span(len(line.runs) for line in table.lines)
    title = f"{checks.plain(table.problem.title)}, {runs} run{'' if runs == '1' else 's'}"
    lines = table.lines[:MOST_LINES]
    rows = [[in_words(*(line.span(name) or UNKNOWN), _short) for name in table.columns] for line in lines]
    labels = [checks.plain(line.label) for line in lines]
    columns = [[heading, *sum(cells, ())] for heading, *cells in zip(table.headings, *rows, strict=True)]
    places = [str(place) for place in range(1, len(lines) + 1)]
    widths = column_widths([places, ["agent", *labels], *columns], width)
    if widths is None:
        return FittedTable(_narrow(title, table, labels, rows))
    drawn = framed(escape(title))
    for heading, wide in zip(("", "agent", *table.headings), widths, strict=True):
        drawn.add_column(heading, justify="left" if heading == "agent" else "right", width=wide)
    for place, name, row in zip(places, labels, rows, strict=True):
        cells = [f"{mean}\n[dim]{between}[/dim]" if between else mean or "-" for mean, between in row]
        drawn.add_row(place, escape(name), *cells)
    return drawn


def _narrow(
    title: str, table: ProblemTable, labels: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]
) -> TextTable:
    """The same where labels and numbers do not fit side by side: each label stands above its numbers."""
    cells = [[f"{mean} ({between})" if between else mean or "-" for mean, between in row] for row in rows]
    named = [[f"{place}  {label}", *row] for place, (label, row) in enumerate(zip(labels, cells, strict=True), 1)]
    return TextTable(title, ("agent", *table.headings), named, range(1, len(table.headings) + 1), breaks=True)


def _short(value: float) -> str:
    """A number in few characters."""
    return f"{value / 1e6:.4g}M" if abs(value) >= 1e6 else phrases.number(value)


def as_dict(board: Leaderboard) -> dict[str, Any]:
    """All of it, as JSON can hold it; None for what is not known."""
    return {"problems": [_table_as_dict(table) for table in board.tables], "notes": list(board.notes)}


def _table_as_dict(table: ProblemTable) -> dict[str, Any]:
    return {
        **vars(table.problem),
        "ranking": table.ranking,
        "agents": [_line_as_dict(line) for line in table.lines],
        "test": None if table.test is None else {**table.test._asdict(), "words": table.verdict},
        "notes": list(table.notes),
    }


def _line_as_dict(line: AgentLine) -> dict[str, Any]:
    spans: Mapping[str, Span | None] = {**line.spans, "behind": line.behind}
    return {
        "label": line.label,
        "agent": dict(line.agent),
        "runs": line.runs,
        **{name: None if span is None else _known(span) for name, span in spans.items()},
    }


def _known(span: Span) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in span._asdict().items()}

"""Claims as people see them, in a terminal and on a page; both take what JSON files hold of them.

Files of older versions have words in place of the numbers, which are shown as they are.
"""

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from aomultirl.reports import tables
from aomultirl.reports.fitted import column_widths
from aomultirl.reports.wording import symbols

if TYPE_CHECKING:
    from rich.console import Console

LONG, PREDICTED, FOUND = 200, 14, 16
"""Characters of the widest lines of claims and of numbers."""
SHORT = 120
"""Letters of a reason in the terminal; the page has all of them."""


ClaimRow: TypeAlias = dict[str, Any]
"""A claim in words, with the paper's symbols, empty where nothing is known: ``claim``, ``place``, ``rule``, ``reason``,
``predicted``, ``measured``, ``interval`` and ``figure``, the chart of it; ``holds`` is None where that is open or out
of reach, and ``out_of_reach`` tells which."""


def claim_row(claim: Mapping[str, Any]) -> ClaimRow:
    """A claim, as JSON holds it, in words.

    Examples
    --------
    >>> claim_row({"claim": "like lambda^2", "holds": True, "measured": 2.5})["claim"]
    'like λ²'
    """
    words = claim.get("words")
    numbers = words if isinstance(words, Mapping) else {}
    names = ("claim", "place", "rule", "reason", "predicted", "measured", "interval")
    values = {name: numbers.get(name, claim.get(name)) for name in names}
    texts = {name: "" if value is None else symbols(str(value)) for name, value in values.items()}
    answer = claim.get("holds")
    holds = None if answer is None or claim.get("undecided") else bool(answer)
    out_of_reach = claim.get("verdict") == "out of reach"
    return {"holds": holds, "out_of_reach": out_of_reach, "figure": claim.get("figure") or "", **texts}


def print_claims(claims: Iterable[Mapping[str, Any]], title: str, console: "Console", *, places: bool = False) -> None:
    """Print claims as a table, each with its verdict and most of the reason; nothing where there are none.

    places: whether each stands with its place in the paper.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    rows = list(map(claim_row, claims))
    if not rows:
        return
    table = tables.framed(f"{title} (95 % intervals in brackets)")
    texts = [
        ["holds"],
        ["claim, and the reason", *(f"{row['claim']} {row['place']} {row['reason']}" for row in rows)],
        ["predicted", *(row["predicted"] for row in rows)],
        ["found", *(_found(row) for row in rows)],
    ]
    widths = column_widths(texts, console.width, (len("holds"), LONG, PREDICTED, FOUND))
    for place, column in enumerate(("holds", "claim, and the reason", "predicted", "found")):
        table.add_column(column, width=None if widths is None else widths[place])
    for row in rows:
        mark, words = {True: "yes", False: "no", None: "?"}[row["holds"]], Text(row["claim"])
        if row["out_of_reach"]:
            mark = "-"
        if places:
            words.append(f" ({row['place']})", "dim")
        reason = Text(textwrap.shorten(row["reason"], SHORT, placeholder=" \u2026"), "dim")
        table.add_row(
            Text(mark, tables.STYLES[row["holds"]]),
            Group(words, Padding(reason, (0, 0, 0, 2))) if reason else words,
            Text(row["predicted"]),
            Text(_found(row)),
        )
    console.print(table)


def _found(row: ClaimRow) -> str:
    """What was measured, with its interval."""
    return f"{row['measured']} ({row['interval']})" if row["interval"] else str(row["measured"])

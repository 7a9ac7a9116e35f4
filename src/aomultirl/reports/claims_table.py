"""Claims as people see them, in a terminal and on a page; both take what JSON files hold of them.

Files of older versions have words in place of the numbers, which are shown as they are.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from aomultirl.reports.lower_bounds_figures import symbols
from aomultirl.reports.page import markup
from aomultirl.reports.tables import STYLES, framed, holds

if TYPE_CHECKING:
    from rich.console import Console

SHORT = 120
"""Letters of a reason in the terminal; the page has all of them."""
HEADINGS = ("claim", "holds", "measured", "predicted", "where", "how it is judged, and what else there is to say")


class ClaimRow(NamedTuple):
    """One claim, as JSON holds it, in words.

    verdict
        whether it holds; None where that is open.
    claim, place, rule, reason
        what is claimed, where, how it is judged, and what else there is to say.
    predicted, measured, interval
        the numbers, as far as there are any.
    figure
        the name of the chart that shows it; may be empty.
    """

    verdict: bool | None
    claim: str
    place: str
    rule: str
    reason: str
    predicted: str
    measured: str
    interval: str
    figure: str

    @property
    def found(self) -> str:
        """What was measured, with its interval."""
        return f"{self.measured} ({self.interval})" if self.interval else self.measured


def read(claim: Mapping[str, Any]) -> ClaimRow:
    """A claim in words, with the paper's symbols.

    Examples
    --------
    >>> read({"claim": "like lambda^2", "holds": True, "measured": 2.5}).claim
    'like λ²'
    """
    words = claim.get("words")
    numbers = words if isinstance(words, Mapping) else {}
    answer = claim.get("holds")
    named = {name: claim.get(name) for name in ("claim", "place", "rule", "reason", "figure")}
    shown = {name: numbers.get(name, claim.get(name)) for name in ("predicted", "measured", "interval")}
    texts = {name: "" if value is None else symbols(str(value)) for name, value in (named | shown).items()}
    texts["figure"] = str(claim.get("figure") or "")
    return ClaimRow(verdict=None if answer is None or claim.get("undecided") else bool(answer), **texts)


def print_claims(claims: Iterable[Mapping[str, Any]], title: str, console: "Console") -> None:
    """Print claims as a table, each with its verdict and most of the reason; nothing where there are none."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    rows = list(map(read, claims))
    if not rows:
        return
    table = framed(f"{title} (95 % intervals in brackets)")
    for column, width in (("holds", None), ("claim, and the reason", None), ("predicted", 18), ("found", 16)):
        table.add_column(column, max_width=width)
    for row in rows:
        mark, words = holds(row.verdict), Text(row.claim)
        reason = Text(textwrap.shorten(row.reason, SHORT, placeholder=" \u2026"), "dim")
        table.add_row(
            Text(mark.words, STYLES[mark.good]),
            Group(words, Padding(reason, (0, 0, 0, 2))) if reason else words,
            Text(row.predicted),
            Text(row.found),
        )
    console.print(table)


def claims_html(claims: Iterable[Mapping[str, Any]]) -> str:
    """The claims as a table of a page."""
    caption = "The claims, one by one, with 95 % intervals of what was sampled"
    return markup.table(HEADINGS, [_cells(read(claim)) for claim in claims], caption, "cards")


def _cells(row: ClaimRow) -> Sequence[str]:
    rule = f"Rule: {escape(row.rule)}.<br>" if row.rule else ""
    interval = f' <span class="interval">{escape(row.interval)}</span>' if row.interval else ""
    return [
        linked(row),
        markup.SIGNS[row.verdict],
        escape(row.measured) + interval,
        escape(row.predicted),
        escape(row.place),
        f"{rule}{sentence(row.reason)}",
    ]


def linked(row: ClaimRow) -> str:
    """What is claimed, with a link to its chart if there is one, as HTML."""
    words = escape(row.claim)
    return f'<a href="#figure-{escape(row.figure)}">{words}</a>' if row.figure else words


def sentence(words: str) -> str:
    """Words as a sentence, as HTML."""
    if not words:
        return ""
    begin = words[0].upper() if words[0].isascii() else words[0]
    return escape(f"{begin}{words[1:]}".rstrip(".") + ".")

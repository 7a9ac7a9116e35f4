"""What a suite shows, written down.

::

    report.html               one page with everything, for a browser
    claims.json               a list of claims, see :class:`aomultirl.analysis.claims.Claim`; empty where none is made
    figure.png, figure.svg    every agent in every place
    suite.json                what made this; the folder is ours if it is there
"""

import base64
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import aomultirl
from aomultirl import files
from aomultirl.analysis.claims import Claim, summary
from aomultirl.analysis.intervals import Span, over_runs
from aomultirl.analysis.phrases import counted
from aomultirl.analysis.suite_claims import claims_of
from aomultirl.analysis.suite_rows import Row, Rows, SuiteRuns, columns_of, ranked, rows_of, unit_of
from aomultirl.experiments.suites import SuiteCase
from aomultirl.experiments.suites.players import RECALL
from aomultirl.reports import figure_files, suite_figure
from aomultirl.reports.claims_table import claim_row
from aomultirl.reports.page.rendering import render
from aomultirl.reports.wording import symbols

MARK, KIND = "suite.json", "suite"
STEM, KINDS, DOTS = "figure", ("png", "svg"), 150
"""The name of the figure, its formats, and dots an inch of the first."""
SCREEN_DOTS = 96
"""Pixels an inch of a page: the figure has more dots than that, for screens that show them."""
NAMES = ("report.html", "claims.json", MARK, *(f"{STEM}.{kind}" for kind in KINDS))
MOST_BYTES = 2**20
"""Of the file that says what made the rest."""


class SuiteResult(NamedTuple):
    """A suite that was run.

    name
        of the suite.
    cases, results
        its rows, and the runs of each.
    notes
        sentences on what was run.
    command
        that runs it again.
    is_whole
        whether the runs are those of the suite, and not a quick look, by which no claim is judged.
    """

    name: str
    cases: Sequence[SuiteCase]
    results: SuiteRuns
    notes: Sequence[str]
    command: str
    is_whole: bool = True

    @property
    def rows(self) -> dict[tuple[str, str], Row]:
        """By place and agent."""
        return rows_of(self.cases, self.results)

    @property
    def columns(self) -> list[str]:
        """The headings of the columns."""
        return columns_of(self.cases)

    @property
    def claims(self) -> list[Claim]:
        """What is claimed of the suite, and what became of it; nothing by a quick look."""
        return claims_of(self.name, self.rows) if self.is_whole else []


def check(out: str | Path) -> None:
    """Refuse, before anything is run, a folder that cannot be written or holds anything else; touch nothing."""
    folder = Path(out)
    files.check_folder("out", folder)
    files.check_inside(f"out is {str(folder)!r}", folder, files=NAMES)
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        mark = json.loads(files.read_regular(folder / MARK, MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        mark = None
    if not isinstance(mark, dict) or mark.get("kind") != KIND:
        some = min(path.name for path in folder.iterdir())
        raise ValueError(f"out is {str(folder)!r}, which holds {some!r} and is not a folder of a suite; name another")


def write(result: SuiteResult, out: str | Path, column: str | None = None) -> list[Path]:
    """Write everything; every file is whole or not there.  What a suite wrote there before is replaced.

    Parameters
    ----------
    column
        the heading of what the figure shows and agents are ordered by; the first by default.
    """
    check(out)
    shown = result.columns[0] if column is None else column
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files.clear_partials(folder)
    rows = result.rows
    figure = suite_figure.draw(rows, shown, (RECALL,))
    mark = {"kind": KIND, "suite": result.name, "command": result.command, "version": aomultirl.__version__}
    content = {
        MARK: json.dumps(mark, indent=2),
        "claims.json": json.dumps([claim.as_json() for claim in result.claims], indent=2, allow_nan=False),
        "report.html": make_page(result, rows, _png(figure), round(SCREEN_DOTS * figure.get_figwidth()), shown),
    }
    for name, text in content.items():
        files.write_whole(folder / name, text.rstrip("\n") + "\n")
    return [*(folder / name for name in content), *figure_files.save_all(figure, folder, STEM, KINDS, dpi=DOTS)]


def make_page(result: SuiteResult, rows: Rows, figure: bytes, figure_width: int, column: str) -> str:
    """The whole page, as HTML that loads nothing from anywhere.

    Parameters
    ----------
    figure
        a PNG.
    figure_width
        of it, in pixels.
    column
        the heading of the numbers that decide who is best, and in which order agents stand.
    """
    claims = result.claims
    places = list(dict.fromkeys(place for place, _ in rows))
    agents = len({label for _, label in rows})
    return render(
        "suite.html",
        title=f"The suite {result.name}",
        subtitle=[counted(len(places), "place"), counted(agents, "agent"), summary(claims) if claims else ""],
        notes=result.notes,
        summary=summary(claims) if claims else "",
        claims=[claim_row(claim.as_json()) for claim in claims],
        places=[
            {
                "name": symbols(place),
                "best": _best(rows, place, column),
                "rows": _table(rows, place, result.columns, column),
            }
            for place in places
        ],
        columns=result.columns,
        decides=column if len(result.columns) > 1 else "",
        unit=unit_of(result.cases),
        figure=base64.b64encode(figure).decode(),
        figure_width=figure_width,
        command=result.command,
        data={"agents": [], "charts": [], "maps": None},
    )


def _best(rows: Rows, place: str, column: str) -> str:
    """Who earns most in a place of those that are not told the world; empty where all are."""
    for label, row in ranked(rows, place, column):
        if not suite_figure.is_told(row):
            return label
    return ""


def _table(rows: Rows, place: str, columns: Sequence[str], decides: str) -> list[list[Any]]:
    """The agents of a place, the best in the column ``decides`` first."""
    table: list[list[Any]] = []
    for label, row in ranked(rows, place, decides):
        spans = [_span(row, column) for column in columns]
        recognises = any(case.clusters for case in row.cases)
        wrong = f"{sum(run.wrong for run in row.runs):,}" if recognises else None
        table.append([label, *spans, wrong])
    return table


def _span(row: Row, column: str) -> Span | None:
    numbers = row.numbers.get(column)
    return None if numbers is None else Span(*(float(each) for each in over_runs(numbers)))


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS, metadata=figure_files.METADATA["png"])
    return buffer.getvalue()

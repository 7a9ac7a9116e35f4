"""What a page shows of a whole sweep: charts against the parameters that vary, and the leaderboard."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from aomultirl.analysis.charts import Chart
from aomultirl.analysis.leaderboard import Leaderboard, ProblemTable
from aomultirl.analysis.sweep_views import View, views
from aomultirl.reports.charts_plotly import PageChart, page_chart
from aomultirl.reports.page.comparison_charts import MOST_NAMED
from aomultirl.reports.page.rendering import in_a_sentence
from aomultirl.reports.sweep_charts import MEASURES, agent_names, chart_of, spans_many

MOST_VIEWS, MOST_CURVES = 40, 16
"""Views to choose from, and curves of a chart."""
OPEN, MOST_TABLES, MOST_LINES = 2, 40, 40
"""Tables that are open at first, tables in all, and lines of a table."""


class Sweep(NamedTuple):
    """The leaderboard of all cells, and what the page shows of their runs, in a sentence; empty if everything."""

    board: Leaderboard
    shown: str = ""


def section(sweep: Sweep) -> dict[str, Any]:
    """What the template is told: the charts, the views to choose from, and the tables."""
    every = views(sweep.board)
    shown = every[:MOST_VIEWS]
    return {
        "charts": charts(shown),
        "choices": {str(place): f"against {view.title}" for place, view in enumerate(shown)},
        "starts_logarithmic": bool(shown) and spans_many(chart_of(shown[0], "regret", agent_names(shown))),
        "some_level": any(curve.level for view in every for curve in view.curves),
        "some_unequal": any(view.unequal for view in every),
        "views_left": len(every) - len(shown),
        "lines": [line for table in sweep.board.tables for line in table.lines],
        "tables": [_table(one) for one in sweep.board.tables[:MOST_TABLES]],
        "problems": len(sweep.board.tables),
        "open": OPEN,
        "tables_left": len(sweep.board.tables[MOST_TABLES:]),
        "notes": sweep.board.notes,
        "shown": sweep.shown,
    }


def charts(shown: Sequence[View]) -> list[PageChart]:
    """One for each measure that was recorded, with a view for each parameter; nothing where no number varies."""
    names = agent_names(shown)
    drawn = []
    for measure in MEASURES:
        made = {str(place): _view(view, measure, names) for place, view in enumerate(shown)}
        if any(chart.series for chart in made.values()):
            height = 420 if measure == "regret" else 340
            log = "" if measure == "total_reward" else "sweep-log"
            drawn.append(page_chart(made, height=height, keys=["sweep"], log=log))
    return drawn


def _view(view: View, measure: str, names: Sequence[str]) -> Chart:
    chart = chart_of(view, measure, names)
    known = {series.label for series in chart.series}
    runs = [len(line.runs) for curve in view.curves if curve.name in known for _, line in curve.points]
    told = {"chart": chart, "against": view.title, "runs": runs}
    words = in_a_sentence("swept", **told, named=MOST_NAMED, drawn=MOST_CURVES)
    return chart._replace(series=chart.series[:MOST_CURVES], words=words)


def _table(table: ProblemTable) -> dict[str, Any]:
    """The leaderboard of one problem, and what is said of it."""
    lines = table.lines[:MOST_LINES]
    left = len(table.lines) - MOST_LINES
    return {
        "title": table.problem.title,
        "headings": ["agent", *table.headings, "runs"],
        "rows": [[line.label, *map(line.span, table.columns), len(line.runs)] for line in lines],
        "left": max(0, left),
        "notes": [words for words in (table.verdict, *table.notes) if words],
    }

"""What a page shows of a whole sweep: charts against the parameters that vary, and the leaderboard."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.intervals import in_words
from aomultirl.analysis.leaderboard import AgentLine, Leaderboard, ProblemTable
from aomultirl.analysis.sweep_views import NamedAgents, View, by_name, side_by_side, views
from aomultirl.reports.charts_plotly import PageChart, page_chart
from aomultirl.reports.page.comparison_charts import MOST_NAMED
from aomultirl.reports.page.rendering import in_a_sentence
from aomultirl.reports.sweep_charts import MEASURES, agent_names, chart_of, names_chart, spans_many

MOST_VIEWS, MOST_PANELS, MOST_CURVES = 40, 6, 16
"""Groups of views to choose from, panels of a group side by side, and curves of a panel."""
NO_PANEL = "There are fewer panels than this for what is chosen."
OPEN, MOST_TABLES, MOST_LINES = 2, 40, 40
"""Tables that are open at first, tables in all, and lines of a table."""


class Sweep(NamedTuple):
    """The leaderboard of all cells, and what the page shows of their runs, in a sentence; empty if everything."""

    board: Leaderboard
    shown: str = ""


def section(sweep: Sweep) -> dict[str, Any]:
    """What the template is told: the charts, the views to choose from, and the tables."""
    every = views(sweep.board)
    groups = [group[:MOST_PANELS] for group in side_by_side(every)[:MOST_VIEWS]]
    shown = [view for group in groups for view in group]
    problems = [] if shown else by_name(sweep.board)
    named = problems if len(problems) > 1 else []  # of one problem the leaderboard says it all
    return {
        "charts": [*charts(groups), *named_charts(named[:MOST_PANELS])],
        "choices": {str(place): f"against {group[0].shared}" for place, group in enumerate(groups)},
        "starts_logarithmic": bool(shown) and spans_many(chart_of(shown[0], "regret", agent_names(shown))),
        "some_level": any(curve.level for view in every for curve in view.curves),
        "some_unequal": any([*(view.unequal for view in every), *(problem.unequal for problem in named)]),
        "views_left": len(every) - len(shown) + len(named[MOST_PANELS:]),
        "lines": [line for table in sweep.board.tables for line in table.lines],
        "tables": [_table(one) for one in sweep.board.tables[:MOST_TABLES]],
        "problems": len(sweep.board.tables),
        "open": OPEN,
        "tables_left": len(sweep.board.tables[MOST_TABLES:]),
        "notes": sweep.board.notes,
        "shown": sweep.shown,
    }


def charts(groups: Sequence[Sequence[View]]) -> list[PageChart]:
    """A panel a world for each measure that was recorded, with a view for each choice; none where no number varies."""
    names = agent_names([view for group in groups for view in group])
    drawn = []
    for measure, place in product(MEASURES, range(max(map(len, groups), default=0))):
        made = {str(number): _panel(group, place, measure, names) for number, group in enumerate(groups)}
        if any(y for chart in made.values() for one in chart.series for y in one.y):  # where all are 0 there is nothing
            height = 420 if measure == "regret" else 340
            log = "" if measure == "total_reward" else "sweep-log"
            drawn.append(page_chart(made, height=height, keys=["sweep"], log=log))
    return drawn


def _panel(group: Sequence[View], place: int, measure: str, names: Sequence[str]) -> Chart:
    """One of the panels of a group; the axis says which world it is of, where there are several."""
    name = _called(measure, place)
    if place >= len(group):
        return Chart(name, "", "", "", (), words=NO_PANEL)
    view = group[place]
    chart = chart_of(view, measure, names)
    known = {series.label for series in chart.series}
    runs = [len(line.runs) for curve in view.curves if curve.name in known for _, line in curve.points]
    told = {"chart": chart, "against": view.title, "runs": runs}
    words = in_a_sentence("swept", **told, named=MOST_NAMED, drawn=MOST_CURVES)
    axis = chart.x if len(group) == 1 else f"{chart.x}, {view.world}"
    return chart._replace(name=name, x=axis, series=chart.series[:MOST_CURVES], words=words)


def named_charts(problems: Sequence[NamedAgents]) -> list[PageChart]:
    """A panel a problem for each measure that was recorded, with the agents side by side by their names."""
    names = list(dict.fromkeys(line.label for problem in problems for line in problem.lines))
    drawn = []
    for measure, (place, problem) in product(MEASURES, enumerate(problems)):
        chart, lines = names_chart(problem, measure, names)
        if any(y for one in chart.series for y in one.y):
            told = [_told(one, line, problem) for one, line in zip(chart.series, lines, strict=True)]
            what = " in ".join(filter(None, [chart.y.capitalize(), problem.apart]))
            words = in_a_sentence("compared", shown=told, what=f"{what},", run=None, last=True, most=MOST_CURVES)
            made = chart._replace(
                name=_called(measure, place),
                series=chart.series[:MOST_CURVES],
                names=chart.names[:MOST_CURVES],
                words=words,
            )
            drawn.append(page_chart({"": made}, height=380, legend=False))
    return drawn


def _told(series: Series, line: AgentLine, problem: NamedAgents) -> dict[str, Any]:
    """A point as a sentence has it: the number that the leaderboard has, and its interval."""
    mean = series.y[0]
    ends = (series.low[0], series.high[0]) if len(series.low) else (math.nan, math.nan)
    value, interval = in_words(mean, *ends)
    found = {"label": line.label, "runs": len(line.runs), "end": problem.episodes, "value": value}
    return {**found, "interval": interval, "least": mean, "greatest": mean, "is_cut": False}


def _called(measure: str, place: int) -> str:
    """The name of a chart: that of the first panel has no number."""
    return f"sweep-{measure}-{place + 1}" if place else f"sweep-{measure}"


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

"""The figure of a sweep over names: a row for every problem, a panel for every measure, a line for every agent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aomultirl.analysis.charts import Series
from aomultirl.analysis.intervals import UNKNOWN, Span
from aomultirl.analysis.leaderboard import AgentLine
from aomultirl.analysis.phrases import counted, span
from aomultirl.analysis.sweep_views import NamedAgents
from aomultirl.reports.charts_matplotlib import PAGE_WIDTH, SMALL, TEXT, fonts
from aomultirl.reports.looks import INK, agent_look
from aomultirl.reports.suite_figure import GAP, LINE, NAMES, TICKS, draw_dots
from aomultirl.reports.sweep_charts import names_chart
from aomultirl.reports.wording import power, signed, symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("total_reward", "regret")
"""The measures that have a panel, where they are known of somebody."""
MOST_PROBLEMS, MOST_AGENTS = 8, 24
"""Rows of panels, and lines of a panel; a page of paper has no room for more."""
HEAD, FOOT, NOTE = 0.3, 0.42, 0.3
"""Inches above a panel, below it, and for the words below all of them."""
LONGEST, LAST = 38, 12
"""Characters of a name beside the panels, and of its end where what is between is left out."""


def draw(problems: Sequence[NamedAgents]) -> "Figure":
    """Panels with scales of their own, the best agent of a problem on top."""
    from matplotlib.figure import Figure

    shown = problems[:MOST_PROBLEMS]
    names = list(dict.fromkeys(line.label for problem in shown for line in problem.lines))
    measures = [measure for measure in DRAWN if any(names_chart(one, measure, names)[1] for one in shown)]
    heights = [HEAD + FOOT + LINE * min(len(problem.lines), MOST_AGENTS) for problem in shown]
    height = sum(heights) + NOTE
    wide = (PAGE_WIDTH - NAMES - 0.1) / len(measures) - GAP
    with fonts():
        figure = Figure(figsize=(PAGE_WIDTH, height))
        top = height
        for problem, own in zip(shown, heights, strict=True):
            lines = list(problem.lines[:MOST_AGENTS])[::-1]
            figure.text(0.02, (top - 0.17) / height, symbols(problem.apart), fontsize=TEXT, color=INK)
            for column, measure in enumerate(measures):
                left, inner = NAMES + column * (wide + GAP), LINE * len(lines)
                place = (left / PAGE_WIDTH, (top - HEAD - inner) / height, wide / PAGE_WIDTH, inner / height)
                panel = figure.add_axes(place)
                _draw(panel, problem, lines, measure, names)
                panel.set_yticks(range(len(lines)), [_short(line.label) for line in lines] if column == 0 else [])
            top -= own
        figure.text(0.02, 0.08 / height, _note(problems, shown), fontsize=SMALL, color=INK)
    return figure


def _draw(panel: "Axes", problem: NamedAgents, lines: Sequence[AgentLine], measure: str, names: Sequence[str]) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    chart, known = names_chart(problem, measure, names)
    spans = {line.label: _span(one) for line, one in zip(known, chart.series, strict=True)}
    draw_dots(
        panel,
        [spans.get(line.label, UNKNOWN) for line in lines],
        [agent_look(names.index(line.label)).colour for line in lines],
    )
    panel.set_xlabel(chart.y, fontsize=SMALL, labelpad=2.0)
    if chart.log_y:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=TICKS + 2))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(lambda value, _: power(value))
    else:
        panel.xaxis.set_major_locator(MaxNLocator(TICKS))
        panel.xaxis.set_major_formatter(lambda value, _: signed(value))


def _span(series: Series) -> Span:
    """The one point of a series, with its interval."""
    low, high = (series.low[0], series.high[0]) if len(series.low) else UNKNOWN[1:]
    return Span(series.y[0], low, high)


def _short(label: str) -> str:
    """A name that fits beside a panel."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - LAST - 3]} … {label[-LAST:]}"


def _note(problems: Sequence[NamedAgents], shown: Sequence[NamedAgents]) -> str:
    """How it was measured, and what is not drawn."""
    runs = [len(line.runs) for problem in shown for line in problem.lines]
    words = f"Means over {span(runs)} runs, with 95 % bootstrap intervals." if max(runs) > 1 else "One run each."
    nothing = any(line.spans["regret"].mean == 0.0 for problem in shown for line in problem.lines)
    parts = [words, "Logarithmic axes leave out who has no regret." if nothing else ""]
    if left := len(problems) - len(shown):
        parts.append(f"{counted(left, 'more problem')}.")
    if left := max(len(problem.lines) for problem in shown) - MOST_AGENTS:
        parts.append(f"{counted(left, 'more agent')}." if left > 0 else "")
    return " ".join(filter(None, parts))

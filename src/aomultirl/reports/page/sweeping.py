"""What a page says of a whole sweep: charts against the parameters that vary, and the leaderboard."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from aomultirl.analysis.intervals import Span
from aomultirl.analysis.leaderboard import AgentLine, Leaderboard, ProblemTable
from aomultirl.analysis.sweep_views import Curve, View, spans_decades, views
from aomultirl.reports.page import data, markup, phrases
from aomultirl.reports.page.charts import MOST_NAMED, Chart, plain_name
from aomultirl.reports.page.markup import NOTHING, table

MOST_VIEWS = 40
MOST_CURVES = 16
LOG = "sweep-log"
OPEN, MOST_TABLES, MOST_LINES = 2, 40, 40
"""Tables that are open at first, tables in all, and lines of a table."""
MEASURES = {
    "regret": "cumulative exact regret",
    "total_reward": "total reward",
    "identification_steps": "steps identifying",
}
MEANS = "Means over runs, with 95 % bootstrap intervals"


class Sweep(NamedTuple):
    """The leaderboard of all cells, and what the page shows of their runs, in a sentence; empty if everything."""

    board: Leaderboard
    shown: str = ""


def subtitle(board: Leaderboard) -> str:
    """How much it is."""
    lines = [line for table in board.tables for line in table.lines]
    return " · ".join(
        [
            f"{phrases.counted(len({line.label for line in lines}), 'agent')} on "
            f"{phrases.counted(len(board.tables), 'problem')}",
            f"{phrases.span(len(line.cells) for line in lines)} runs each",
            phrases.counted(sum(len(line.cells) for line in lines), "cell"),
        ]
    )


def sections(sweep: Sweep) -> tuple[list[Chart], list[tuple[str, str, str]]]:
    """The charts, and (id, heading, HTML) of what shows them and the leaderboard."""
    found = views(sweep.board)
    drawn = charts(found)
    made = []
    if drawn:
        chosen = markup.select("sweep", "Show", choices(found))
        log = markup.box(LOG, "logarithmic axes", checked=starts_logarithmic(found))
        figures = "".join(map(markup.figure, drawn))
        frame = f'<div class="several">{figures}</div>' if len(drawn) > 1 else figures
        made.append(("sweep", "The sweep", f"<p>{lede(found)}</p>{markup.controls(chosen, log)}{frame}"))
    said = f"<p>{escape(sweep.shown)}</p>" if sweep.shown else ""
    return drawn, [*made, ("leaderboard", "Leaderboard", tables(sweep.board) + said)]


def charts(found: Sequence[View]) -> list[Chart]:
    """One for each measure that was recorded, with a view for each parameter; nothing where no number varies."""
    found = found[:MOST_VIEWS]
    names = list(dict.fromkeys(curve.name for view in found for curve in view.curves))
    drawn = []
    for measure, what in MEASURES.items():
        chart = _chart(found, names, measure, what)
        if any(view["data"] for view in chart["views"].values()):
            drawn.append(chart)
    return drawn


def starts_logarithmic(found: Sequence[View]) -> bool:
    """The regret of the first view spans decades."""
    means = [line.spans["regret"].mean for view in found[:1] for curve in view.curves for _, line in curve.points]
    return spans_decades(mean for mean in means if mean > 0.0)


def choices(found: Sequence[View]) -> dict[str, str]:
    """The views to choose from."""
    return {str(number): f"against {view.title}" for number, view in enumerate(found[:MOST_VIEWS])}


def lede(found: Sequence[View]) -> str:
    """What the charts are."""
    said = [
        "Every point is an agent at the end of its runs: the mean over all of them, with a 95 % bootstrap interval "
        "where there are several."
    ]
    if any(curve.level for view in found for curve in view.curves):
        said.append("Dotted lines are agents that do not have the parameter.")
    if any(view.unequal for view in found):
        said.append(
            "Where agents' episodes are not equally long, the reward is that of a step, and regrets of different "
            "agents are not comparable."
        )
    if len(found) > MOST_VIEWS:
        said.append(f"{len(found) - MOST_VIEWS:,} more combinations of fixed parameters are not drawn.")
    return " ".join(said)


def _chart(found: Sequence[View], names: Sequence[str], measure: str, what: str) -> Chart:
    layout: dict[str, Any] = {
        "height": 420 if measure == "regret" else 340,
        "hovermode": "closest",
        "xaxis": {"title": {"text": "", "standoff": 8}, "type": "linear"},
        "yaxis": {"title": {"text": what}, "type": "linear"},
        "showlegend": True,
    }
    shown = {}
    for number, view in enumerate(found):
        used = "reward_per_step" if measure == "total_reward" and view.unequal else measure
        called = "reward a step" if used == "reward_per_step" else what
        curves = [curve for curve in view.curves if any(_known(line, used) for _, line in curve.points)]
        axis: dict[str, Any] = {"title": {"text": plain_name(view.axis), "standoff": 8}}
        if view.is_log:
            axis["type"] = "log"
        if view.ticks:
            axis |= {"tickvals": view.ticks, "ticktext": [phrases.number(x) for x in view.ticks]}
        shown[str(number)] = {
            "data": [_trace(curve, used, names.index(curve.name)) for curve in curves[:MOST_CURVES]],
            "words": _words(view, curves, used, called),
            "xaxis": axis,
            "yaxis": {"title": {"text": called}},
        }
    chart = {"id": f"sweep-{measure}", "keys": ["sweep"], "traces": [], "layout": layout, "views": shown}
    return chart if measure == "total_reward" else {**chart, "log": LOG}


def _known(line: AgentLine, measure: str) -> bool:
    return bool(np.isfinite(line.spans[measure].mean))


def _trace(curve: Curve, measure: str, number: int) -> dict[str, Any]:
    look = data.look(number)
    spans = [line.spans[measure] for _, line in curve.points]
    mean, low, high = (np.array(values) for values in zip(*spans, strict=True))
    mean = data.settled(mean)
    name = plain_name(curve.name)
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines" if curve.level else "lines+markers",
        "name": name,
        "x": data.plain([x for x, _ in curve.points]),
        "y": data.plain(mean),
        "line": {"color": look.colour, "dash": "dot" if curve.level else look.dash, "width": 2},
        "marker": {"symbol": look.symbol, "size": 8, "color": "white", "line": {"color": look.colour, "width": 1.6}},
        "hovertemplate": f"{name}, %{{x}}: %{{y:,.4~g}}<extra></extra>",
    }
    if np.isfinite(low).any() and not curve.level:
        ends = {"array": data.plain(high - mean), "arrayminus": data.plain(mean - low)}
        trace["error_y"] = {"type": "data", "symmetric": False, **ends, "thickness": 1.2, "width": 4}
    return trace


def _words(view: View, curves: Sequence[Curve], measure: str, what: str) -> str:
    """The chart in a sentence: where each curve begins and ends."""
    parts = []
    for curve in curves[:MOST_NAMED]:
        ends = [(x, line.spans[measure].mean) for x, line in (curve.points[0], curve.points[-1])]
        said = [f"{phrases.number(mean)} at {phrases.number(x)}" for x, mean in dict.fromkeys(ends)]
        parts.append(f"{curve.name} {phrases.number(ends[0][1]) if curve.level else ' and '.join(said)}")
    if len(curves) > MOST_NAMED:
        parts.append(f"and {phrases.counted(len(curves) - MOST_NAMED, 'agent')} more")
    left = len(curves) - MOST_CURVES
    few = f" {phrases.counted(left, 'curve')} of {len(curves):,} are not drawn." if left > 0 else ""
    runs = phrases.span(len(line.runs) for curve in curves for _, line in curve.points) if curves else "no"
    return f"{what.capitalize()} against {view.title} ({runs} runs): {'; '.join(parts) or 'not recorded'}.{few}"


def tables(board: Leaderboard) -> str:
    """The leaderboard of every problem, the first of them open."""
    shown = board.tables[:MOST_TABLES]
    several = len(shown) > 1
    blocks = []
    for number, one in enumerate(shown):
        caption = MEANS if several else f"{one.problem.title}: {MEANS.lower()}"
        inside = _table(one, caption) + "".join(f"<p>{escape(words)}</p>" for words in _said(one))
        if several:
            opened = " open" if number < OPEN else ""
            inside = f"<details{opened}><summary>{escape(one.problem.title)}</summary>{inside}</details>"
        blocks.append(inside)
    left = len(board.tables) - len(shown)
    notes = list(board.notes)
    if left:
        notes.append(f"Not shown here: {phrases.counted(left, 'more problem')}; aomultirl compare --json has all.")
    return "".join(blocks) + f"<p>{escape(' '.join(notes))}</p>"


def _said(one: ProblemTable) -> list[str]:
    left = len(one.lines) - MOST_LINES
    more = f"{phrases.counted(left, 'more agent')} {'is' if left == 1 else 'are'} behind these." if left > 0 else ""
    return [words for words in (more, one.verdict, *one.notes) if words]


def _table(one: ProblemTable, caption: str) -> str:
    rows = [
        [
            f'<span class="name"><span>{escape(line.label)}</span></span>',
            *(_cell(line.span(name)) for name in one.columns),
            str(len(line.runs)),
        ]
        for line in one.lines[:MOST_LINES]
    ]
    return table(["agent", *one.headings, "runs"], rows, caption, "numbers")


def _cell(span: Span | None) -> str:
    if span is None or not np.isfinite(span.mean):
        return NOTHING
    mean, low, high = map(phrases.number, span)
    single = not np.isfinite(span.low) or low == high
    return mean if single else f'{mean} <span class="interval">{low} to {high}</span>'

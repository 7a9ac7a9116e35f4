"""A chart record drawn with matplotlib, for print: one panel, or panels side by side."""

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from aomultirl.analysis.charts import (
    Chart,
    LegendEntry,
    Series,
    entries,
    interval_arms,
    is_joined,
    reach_of,
)
from aomultirl.reports.looks import FAINT, INK, LONG_AXIS, Look, chart_looks, tick_labels
from aomultirl.reports.wording import power

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FONTS = ["STIXGeneral", "DejaVu Serif"]
"""Both come with matplotlib, so figures look the same everywhere; the second has raised digits that the first lacks."""
TEXT, SMALL = 8.0, 7.0
"""Points: labels, and what stands beside them."""
WIDTH, PANEL, FOOT, LINE = 6.0, 3.2, 0.36, 0.155
"""Inches of a figure with one panel: its width, its axes with what stands below them, that alone, a line of words."""
LONG, SIDES = 95, (0.11, 0.97)
"""Characters of a line of words, and where the axes begin and end, as shares of the width."""
SLANT, LETTER = 40.0, 0.027
"""Of names along x: degrees, and inches that a letter of them is high."""
PAGE_WIDTH, ROW, HEAD, KEY = 6.8, 2.1, 0.42, 0.17
"""Inches of a figure with several panels: its width, a row of them, what stands above it, a line of the legend."""
MARKERS = {
    "square": "s",
    "circle": "o",
    "triangle-up": "^",
    "diamond": "D",
    "triangle-down": "v",
    "cross": "P",
    "x": "X",
    "star": "*",
}
"""matplotlib's names of markers."""


def fonts() -> AbstractContextManager[None]:
    """Inside, matplotlib uses the fonts and sizes of our figures."""
    from matplotlib import rc_context

    return rc_context({"font.family": FONTS, "mathtext.fontset": "stix", "font.size": TEXT})


def draw(chart: Chart) -> "Figure":
    """One panel: its title above, its legend below."""
    from matplotlib.figure import Figure

    title = textwrap.wrap(chart.title, LONG)
    labels = [textwrap.fill(entry.label, LONG) for entry in entries(chart)]
    above = LINE * len(title) + 0.2
    below = LINE * sum(label.count("\n") + 1 for label in labels) + 0.12
    foot = FOOT + LETTER * max(map(len, chart.names), default=0)
    height = above + PANEL - FOOT + foot + below
    with fonts():
        figure = Figure(figsize=(WIDTH, height))
        left, right = SIDES
        panel = figure.add_axes((left, (below + foot) / height, right - left, (PANEL - FOOT) / height))
        handles = draw_panel(panel, chart)
        figure.text(left, 1.0 - 0.1 / height, "\n".join(title), va="top", color=INK, fontsize=TEXT + 1.0)
        _legend(figure, handles, labels, (left - 0.01, 0.03 / height))
    return figure


def draw_rows(rows: Sequence[Sequence[Chart]], notes: Sequence[str] = ()) -> "Figure":
    """Panels side by side, every row under the title of its first, with one legend for all, and notes below."""
    from matplotlib.figure import Figure

    keys: dict[Any, Any] = {}
    columns = max(map(len, rows))
    with fonts():
        subjects = {entry.subject for row in rows for chart in row for entry in entries(chart)}
        height = len(rows) * (HEAD + ROW) + KEY * (-(-len(subjects) // 2) + len(notes)) + 0.15
        figure = Figure(figsize=(PAGE_WIDTH, height))
        for number, row in enumerate(rows):
            top = height - number * (HEAD + ROW)
            figure.text(0.09, (top - 0.2) / height, row[0].title, color=INK, fontsize=SMALL)
            for column, chart in enumerate(row):
                left = 0.09 + column * 0.92 / columns
                place = (left, (top - ROW) / height, 0.92 / columns - 0.08, (ROW - HEAD) / height)
                handles = draw_panel(figure.add_axes(place), chart)
                for entry, handle in zip(entries(chart), handles, strict=True):
                    keys.setdefault(entry.subject, (handle, textwrap.shorten(entry.label, 60, placeholder=" …")))
        handles, labels = (list(parts) for parts in zip(*keys.values(), strict=True))
        _legend(figure, handles, labels, (0.08, KEY * len(notes) / height), ncols=2)
        for number, words in enumerate(reversed(notes)):
            figure.text(0.09, (0.05 + KEY * number) / height, words, color=INK, fontsize=SMALL)
    return figure


def draw_panel(panel: "Axes", chart: Chart) -> list[Any]:
    """The chart in axes of its own; a handle for the legend for each of its entries."""
    frame(panel, chart)
    for mark in chart.marks:
        panel.axvline(mark.at, color=FAINT, linewidth=0.6, linestyle=(0, (1.0, 1.6)), zorder=1.5)
    for phase in chart.phases:
        panel.axvspan(phase.begin, phase.end, color=FAINT, alpha=0.15, linewidth=0.0, zorder=1.0)
    drawn = zip(entries(chart), chart_looks(chart), strict=True)
    return [_draw(panel, chart, entry, look, place) for place, (entry, look) in enumerate(drawn)]


def frame(panel: "Axes", chart: Chart) -> None:
    """Axes, with their numbers and names."""
    from matplotlib.ticker import FuncFormatter

    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.6)
        spine.set_color(INK)
    panel.tick_params(
        which="both", width=0.6, length=2.5, labelsize=SMALL, color=INK, labelcolor=INK, labelfontfamily=FONTS
    )
    panel.grid(axis="both" if chart.log_x else "y", color="#e6e6e6", linewidth=0.4)
    panel.set_axisbelow(True)
    panel.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    axes: list[tuple[Axis, bool, list[float]]] = [
        (panel.xaxis, chart.log_x, [x for one in chart.series for x in one.x]),
        (panel.yaxis, chart.log_y, [y for one in chart.series for y in one.y]),
    ]
    for axis, logarithmic, values in axes:
        if logarithmic:
            _number(axis, reach_of(values))
        else:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "\u2212")))
    ticks = tick_labels(chart)
    if ticks:
        panel.set_xticks(list(ticks), list(ticks.values()))
    if chart.names:
        panel.tick_params(axis="x", labelrotation=SLANT)
        for label in panel.get_xticklabels():
            label.set(horizontalalignment="right", rotation_mode="anchor")
    if chart.x_range is not None:
        panel.set_xlim(*chart.x_range)
    if chart.y_range is not None:
        panel.set_ylim(*chart.y_range)
    panel.set_xlabel(chart.x, labelpad=2.0, color=INK)
    panel.set_ylabel(chart.y, labelpad=3.0, color=INK)


def _number(axis: "Axis", reach: float) -> None:
    """Plain numbers along a logarithmic axis that reaches over such a factor, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator

    places: Locator = MaxNLocator(5)
    if reach > 5.0:
        places = LogLocator(subs=(1.0,) if reach > LONG_AXIS else (1.0, 2.0, 5.0), numticks=12)
    axis.set_major_locator(places)
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axis.set_minor_locator(NullLocator())


def _draw(panel: "Axes", chart: Chart, entry: LegendEntry, look: Look, place: int) -> Any:
    points = entry.points
    if points is not None and points.drawn == "curve":
        return _curve(panel, points, look, place)
    if points is not None and points.drawn == "bars":
        return panel.bar(points.x, points.y, yerr=interval_arms(points), color=look.colour, alpha=0.8, capsize=2.0)
    line = points if is_joined(chart, entry) else entry.line
    through = None if line is None else panel.plot(line.x, line.y, **line_style(look))[0]
    if points is None:
        return through
    style = {**line_style(look), "linestyle": "none", **marker_style(look)}
    bars = interval_arms(points)
    handle = panel.errorbar(points.x, points.y, bars, capsize=2.0, elinewidth=0.8, zorder=3.0, **style)
    return handle if through is None else (through, handle)


def _curve(panel: "Axes", curve: Series, look: Look, place: int) -> Any:
    """A line with a few markers, and its band."""
    if len(curve.low):
        band = f"{curve.label}, band"
        panel.fill_between(curve.x, curve.low, curve.high, color=look.colour, alpha=0.16, linewidth=0.0, label=band)
    every = max(1, len(curve.x) // 5)
    return panel.plot(
        curve.x,
        curve.y,
        **line_style(look),
        **marker_style(look),
        # Shifted from curve to curve: markers of curves that run together must not hide each other.
        markevery=(every * (2 * place + 1) // (2 * len(MARKERS)), every),
        clip_on=False,
        label=curve.label,
        zorder=3.0 + 0.01 * place,
    )[0]


def line_style(look: Look) -> dict[str, Any]:
    """matplotlib's keywords of a line."""
    return {"color": look.colour, "linewidth": 1.0, "linestyle": (0, look.dashes) if look.dashes else "-"}


def marker_style(look: Look) -> dict[str, Any]:
    """matplotlib's keywords of a marker."""
    return {"marker": MARKERS[look.marker], "markersize": 3.8, "markerfacecolor": "white", "markeredgewidth": 0.8}


def _legend(
    figure: "Figure", handles: Sequence[Any], labels: Sequence[str], place: tuple[float, float], ncols: int = 1
) -> None:
    figure.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=place,
        ncols=ncols,
        frameon=False,
        fontsize=SMALL,
        handlelength=3.2,
        borderaxespad=0.0 if ncols == 1 else 0.2,
        labelcolor=INK,
    )

"""The paper's figure: average per-episode reward against the episode, one curve an agent, for print.

It shows the paper's metric, APER: what the policy learned so far earns when it is followed once more after every
episode.  What was earned in the episodes themselves is another number, which the page puts first.

A band is a percentile bootstrap over runs: with R runs, the mean of R runs drawn with replacement, again and again, and
of these means the middle ``level``.  The draws come from a fixed seed, so the same data give the same file.  The name
of a curve stands beside its end, in place of a legend.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.analysis import intervals
from aomultirl.analysis.charts import Chart, Series, Subject, VerticalLine
from aomultirl.reports.charts_matplotlib import FONTS, SMALL, TEXT, draw_panel, fonts, marker_style
from aomultirl.reports.looks import AGENTS, FAINT, INK, chart_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WIDTH, HEIGHT = 3.4, 2.5
"""Inches; the width is one column of a two-column page."""
METRIC = "Average per-episode reward (APER)"
"""What stands along the figure: the paper's name of its metric."""
LINE = 8.0
"""Points from one line of a label to the next."""
LEFT, BOTTOM, LEADER = 30.0, 26.0, 13.0
"""Points: left of the axes, below them, and from the end of a curve to its label."""


def draw_curves(
    curves: Mapping[str, NDArray[np.float64]],
    *,
    level: float = 0.95,
    marks: Mapping[int, str] | None = None,
    title: str | None = None,
) -> "Figure":
    """One curve an agent, the mean over its runs, with a bootstrap band.

    Parameters
    ----------
    curves
        for each agent its running means, (runs, K): entry k is the mean over the first k + 1 episodes.  Curves may
        begin with nan.  One run has no band.
    level
        of the bands.
    marks
        {number of episodes: words}, vertical lines: something changes after so many episodes.
    title
        above everything.
    """
    level = checks.real("level", level, above=0.0, below=1.0)
    tables = _read(curves)
    longest = max(table.shape[1] for table in tables.values())
    places = [
        VerticalLine(checks.integer("a mark", at, least=0, most=longest), str(words))
        for at, words in (marks or {}).items()
    ]
    series = [_mean(name, number, table, level) for number, (name, table) in enumerate(tables.items())]
    values = [y for one in series for values in (one.y, one.low, one.high) for y in values]
    low, high = min(0.0, *values), max(*values, min(values) + 1e-9)
    chart = Chart(
        "figure",
        title or "",
        "Episode",
        METRIC,
        series,
        log_x=False,
        log_y=False,
        x_range=(0.0, longest),
        y_range=(low, high + 0.03 * (high - low)),
        marks=places,
    )
    return _draw_named(chart)


def _mean(name: str, number: int, table: NDArray[np.float64], level: float) -> Series:
    """The mean over runs, with its band, from the first episode on of which all runs have a number."""
    first = int(np.isnan(table).sum(axis=1).max())
    mean, low, high = intervals.over_runs(table[:, first:], level)
    episodes = np.arange(first + 1, table.shape[1] + 1).tolist()
    curve = Series(name, episodes, mean.tolist(), subject=Subject(name, number=number), drawn="curve")
    return curve._replace(low=low.tolist(), high=high.tolist()) if len(table) > 1 else curve


def _read(curves: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """The tables, each (runs, K), with numbers from some episode on."""
    if not curves:
        raise ValueError("curves is empty: there is nothing to draw")
    if len(curves) > len(AGENTS):
        raise ValueError(f"curves has {len(curves)} agents, but only {len(AGENTS)} can be told apart in grey")
    tables = {}
    for name, given in curves.items():
        table = np.asarray(given)
        if table.dtype.kind not in "fiu" or table.ndim != 2 or table.size == 0:
            kind = f"{table.dtype.name} of shape {table.shape}"
            raise ValueError(f"curves[{name!r}] must be numbers of shape (runs, episodes), not {kind}")
        table = table.astype(np.float64)
        late = ~np.isfinite(table) & (np.maximum.accumulate(np.isfinite(table), axis=1) | np.isinf(table))
        if late.any():
            run, episode = map(int, np.argwhere(late)[0])
            raise ValueError(f"curves[{name!r}][{run}, {episode}] is {table[run, episode]}: only the first may be nan")
        if np.isnan(table[:, -1]).any():
            raise ValueError(f"curves[{name!r}] has a run without any number")
        tables[str(name)] = table
    return tables


def _draw_named(chart: Chart) -> "Figure":
    """A figure as wide as a column, with the name of each curve beside its end."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    labels = [textwrap.fill(one.label, 12, break_long_words=False, break_on_hyphens=False) for one in chart.series]
    with fonts():
        rows = _rows(chart)
        right = LEADER + 7.0 + max(_width(label, TEXT) for label in labels)
        top = 6.0 + (max(rows, default=-1) + 1) * (SMALL + 2.0) + (TEXT + 6.0 if chart.title else 0.0)
        width, height = 72.0 * WIDTH - LEFT - right, 72.0 * HEIGHT - BOTTOM - top
        figure = Figure(figsize=(WIDTH, HEIGHT))
        panel = figure.add_axes(
            (LEFT / (72 * WIDTH), BOTTOM / (72 * HEIGHT), width / (72 * WIDTH), height / (72 * HEIGHT))
        )
        draw_panel(panel, chart)
        panel.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 2.5, 5, 10]))
        _label(figure, panel, chart, labels)
        for mark, row in zip(chart.marks, rows, strict=True):
            _annotate(panel, mark, 2.0 + row * (SMALL + 2.0))
        figure.text(0.5, 1.0 - 3.0 / (72 * HEIGHT), chart.title, ha="center", va="top", color=INK)
    return figure


def _label(figure: "Figure", panel: "Axes", chart: Chart, labels: Sequence[str]) -> None:
    """Name each curve beside its end, moved up or down just enough that no two names overlap."""
    from matplotlib.transforms import Affine2D

    points = Affine2D().scale(1.0 / 72.0) + figure.dpi_scale_trans
    corners = points.inverted().transform(panel.transAxes.transform([(0.0, 0.0), (1.0, 1.0)]))
    (_, bottom), (right, top) = corners
    ends = panel.transData.transform([(one.x[-1], one.y[-1]) for one in chart.series])
    places = points.inverted().transform(ends)
    sizes = np.array([LINE * (label.count("\n") + 1) + 2.0 for label in labels])
    heights = bottom + spread(places[:, 1] - bottom, sizes, top - bottom)
    for label, look, (x, y), height in zip(labels, chart_looks(chart), places, heights, strict=True):
        key = right + LEADER
        figure.add_artist(_line([x + 1.0, key - 3.0], [y, height], points, color=FAINT, linewidth=0.4))
        figure.add_artist(_line([key], [height], points, color=look.colour, **marker_style(look)))
        figure.text(key + 4.5, height - 0.3, label, transform=points, va="center", linespacing=0.95, color=INK)


def _line(x: Sequence[float], y: Sequence[float], transform: Any, **looks: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D(x, y, transform=transform, **looks)


def _annotate(panel: "Axes", mark: VerticalLine, above: float) -> None:
    """The words of a mark, above the axes."""
    place: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "ha": "center",
        "va": "bottom",
    }
    panel.annotate(mark.words, (mark.at, 1.0), (0.0, above), fontsize=SMALL, color=INK, **place)


def _rows(chart: Chart) -> list[int]:
    """A row above the axes for the words of each mark, the lowest that is free there."""
    assert chart.x_range is not None
    longest = chart.x_range[1]
    taken: list[list[tuple[float, float]]] = []
    rows = []
    for at, words in chart.marks:
        centre, half = at / longest * 72.0 * (WIDTH - 1.3), _width(words, SMALL) / 2.0 + 2.0
        row = next(
            (r for r, spans in enumerate(taken) if all(centre + half <= a or centre - half >= b for a, b in spans)),
            len(taken),
        )
        if row == len(taken):
            taken.append([])
        taken[row].append((centre - half, centre + half))
        rows.append(row)
    return rows


def spread(wanted: NDArray[np.float64], sizes: NDArray[np.float64], room: float) -> NDArray[np.float64]:
    """Centres in [0, room] of boxes that do not overlap, each as close as can be to where it is wanted."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    steps = np.concatenate(([0.0], np.cumsum((sizes[order][1:] + sizes[order][:-1]) / 2.0)))
    free = isotonic_regression(wanted[order] - steps).x
    centres = np.empty(len(wanted))
    centres[order] = np.clip(free, 0.0, max(0.0, room - steps[-1])) + steps
    return centres


def _width(text: str, size: float) -> float:
    """Points that the longest line of a text takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    lines = [line for line in text.split("\n") if line.strip()]
    font = FontProperties(family=FONTS[:1])
    return max((float(TextPath((0, 0), line, size=size, prop=font).get_extents().x1) for line in lines), default=0.0)

"""The paper's figure: average per-episode reward against the episode, one curve an agent, for print.

A band is a percentile bootstrap over runs: with R runs, the mean of R runs drawn with replacement, again and again, and
of these means the middle ``level``.  The draws come from a fixed seed, so the same data give the same file.  Curves
differ in line style, marker and lightness too, so the figure can be read in grey; the colours are those of Okabe and
Ito, which colour-blind readers tell apart.
"""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.analysis import intervals
from aomultirl.reports import grid_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WIDTH, HEIGHT = 3.4, 2.5
"""Inches; the width is one column of a two-column page."""
FONT = "STIXGeneral"
"""It comes with matplotlib, so the figure looks the same everywhere."""
TEXT, SMALL = 8.0, 7.0
"""Points: labels, and what stands beside them."""
LINE = 8.0
"""Points from one line of a label to the next."""
LEFT, BOTTOM, LEADER = 30.0, 26.0, 13.0
"""Points: left of the axes, below them, and from the end of a curve to its label."""
INK, FAINT = "#222222", "#8c8c8c"


class Style(NamedTuple):
    """How a curve is drawn; dashes: points on and off, empty for a solid line."""

    colour: str
    dashes: tuple[float, ...]
    marker: str


class End(NamedTuple):
    """Where a curve ends."""

    episode: float
    value: float
    style: Style


STYLES = (
    Style("#000000", (), "s"),
    Style("#0072B2", (), "o"),
    Style("#D55E00", (5.0, 1.6), "^"),
    Style("#009E73", (6.0, 1.5, 1.2, 1.5), "D"),
    Style("#CC79A7", (1.2, 1.4), "v"),
    Style("#E69F00", (8.0, 2.5), "P"),
    Style("#56B4E9", (3.0, 1.2, 1.0, 1.2, 1.0, 1.2), "X"),
    Style("#7F7F7F", (2.6, 2.6), "*"),
)


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
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    level = checks.real("level", level, above=0.0, below=1.0)
    tables = _read(curves)
    longest = max(table.shape[1] for table in tables.values())
    marks = {checks.integer("a mark", at, least=0, most=longest): str(words) for at, words in (marks or {}).items()}
    labels = {name: textwrap.fill(name, 12, break_long_words=False, break_on_hyphens=False) for name in tables}
    with rc_context({"font.family": FONT, "mathtext.fontset": "stix", "font.size": TEXT}):
        rows = _rows(marks, longest)
        right = LEADER + 7.0 + max(_width(label, TEXT) for label in labels.values())
        top = 6.0 + (max(rows, default=-1) + 1) * (SMALL + 2.0) + (0.0 if title is None else TEXT + 6.0)
        width, height = 72.0 * WIDTH - LEFT - right, 72.0 * HEIGHT - BOTTOM - top
        figure = Figure(figsize=(WIDTH, HEIGHT))
        panel = figure.add_axes(
            (LEFT / (72 * WIDTH), BOTTOM / (72 * HEIGHT), width / (72 * WIDTH), height / (72 * HEIGHT))
        )
        _frame(panel, longest)
        ends = [_draw(panel, *item, style, level) for item, style in zip(tables.items(), STYLES, strict=False)]
        low, high = panel.dataLim.intervaly
        low, high = min(0.0, low), max(high, low + 1e-9)
        panel.set_ylim(low, high + 0.03 * (high - low))
        _label(figure, panel, list(labels.values()), ends)
        for (at, words), row in zip(marks.items(), rows, strict=True):
            _mark(panel, at, words, 2.0 + row * (SMALL + 2.0))
        if title is not None:
            figure.text(0.5, 1.0 - 3.0 / (72 * HEIGHT), title, ha="center", va="top", color=INK)
    return figure


def save_all(figure: "Figure", folder: Path, stem: str = "figure") -> list[Path]:
    """Write the figure as .png (300 dpi), .svg and .pdf, each whole or not at all; the same figure, the same bytes."""
    paths = [folder / f"{stem}.{kind}" for kind in grid_figure.FORMATS]
    for path in paths:
        grid_figure.save(figure, path, dpi=300)
    return paths


def _read(curves: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """The tables, each (runs, K), with numbers from some episode on."""
    if not curves:
        raise ValueError("curves is empty: there is nothing to draw")
    if len(curves) > len(STYLES):
        raise ValueError(f"curves has {len(curves)} agents, but only {len(STYLES)} can be told apart in grey")
    tables = {}
    for name, given in curves.items():
        table = np.asarray(given)
        if table.dtype.kind not in "fiu" or table.ndim != 2 or table.size == 0:
            raise ValueError(f"curves[{name!r}] must be numbers of shape (runs, episodes), not {_kind(table)}")
        table = table.astype(np.float64)
        late = ~np.isfinite(table) & (np.maximum.accumulate(np.isfinite(table), axis=1) | np.isinf(table))
        if late.any():
            run, episode = map(int, np.argwhere(late)[0])
            raise ValueError(f"curves[{name!r}][{run}, {episode}] is {table[run, episode]}: only the first may be nan")
        if np.isnan(table[:, -1]).any():
            raise ValueError(f"curves[{name!r}] has a run without any number")
        tables[str(name)] = table
    return tables


def _kind(table: NDArray[Any]) -> str:
    return f"{table.dtype.name} of shape {table.shape}"


def _frame(panel: "Axes", longest: int) -> None:
    from matplotlib.ticker import MaxNLocator

    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.6)
        spine.set_color(INK)
    panel.tick_params(length=2.5, width=0.6, pad=2.0, labelsize=SMALL, color=INK, labelcolor=INK, labelfontfamily=FONT)
    panel.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    panel.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 2.5, 5, 10]))
    panel.set_xlim(0, longest)
    panel.set_xlabel("Episode", labelpad=2.0, color=INK)
    panel.set_ylabel("Average per-episode reward", labelpad=3.0, color=INK)
    panel.grid(axis="y", color="#e6e6e6", linewidth=0.4)
    panel.set_axisbelow(True)


def _draw(panel: "Axes", name: str, table: NDArray[np.float64], style: Style, level: float) -> End:
    """Draw a curve and its band."""
    first = int(np.isnan(table).sum(axis=1).max())
    table, episodes = table[:, first:], np.arange(first + 1, table.shape[1] + 1)
    mean = table.mean(axis=0)
    if len(table) > 1:
        _, low, high = intervals.over_runs(table, level)
        panel.fill_between(episodes, low, high, color=style.colour, alpha=0.16, linewidth=0.0, label=f"{name}, band")
    place = list(STYLES).index(style)
    every = max(1, len(episodes) // 5)
    panel.plot(
        episodes,
        mean,
        color=style.colour,
        linewidth=1.0,
        linestyle=(0, style.dashes) if style.dashes else "-",
        **_marked(style),
        # Shifted from curve to curve: markers of curves that run together must not hide each other.
        markevery=(every * (2 * place + 1) // (2 * len(STYLES)), every),
        clip_on=False,
        label=name,
        zorder=3.0 + 0.01 * place,
    )
    return End(float(episodes[-1]), float(mean[-1]), style)


def _label(figure: "Figure", panel: "Axes", labels: Sequence[str], ends: Sequence[End]) -> None:
    """Name each curve beside its end, moved up or down just enough that no two names overlap."""
    from matplotlib.transforms import Affine2D

    points = Affine2D().scale(1.0 / 72.0) + figure.dpi_scale_trans
    corners = points.inverted().transform(panel.transAxes.transform([(0.0, 0.0), (1.0, 1.0)]))
    (_, bottom), (right, top) = corners
    places = points.inverted().transform(panel.transData.transform([(end.episode, end.value) for end in ends]))
    sizes = np.array([LINE * (label.count("\n") + 1) + 2.0 for label in labels])
    heights = bottom + spread(places[:, 1] - bottom, sizes, top - bottom)
    for label, end, (x, y), height in zip(labels, ends, places, heights, strict=True):
        key = right + LEADER
        figure.add_artist(_line([x + 1.0, key - 3.0], [y, height], points, color=FAINT, linewidth=0.4))
        figure.add_artist(_line([key], [height], points, color=end.style.colour, **_marked(end.style)))
        figure.text(key + 4.5, height - 0.3, label, transform=points, va="center", linespacing=0.95, color=INK)


def _line(x: Sequence[float], y: Sequence[float], transform: Any, **looks: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D(x, y, transform=transform, **looks)


def _marked(style: Style) -> dict[str, Any]:
    return {"marker": style.marker, "markersize": 3.4, "markerfacecolor": "white", "markeredgewidth": 0.8}


def _mark(panel: "Axes", at: int, words: str, above: float) -> None:
    """A vertical line, its words above the axes."""
    panel.axvline(at, color=FAINT, linewidth=0.6, linestyle=(0, (1.0, 1.6)), zorder=1.5)
    panel.annotate(
        words,
        (at, 1.0),
        (0.0, above),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=SMALL,
        color=INK,
    )


def _rows(marks: Mapping[int, str], longest: int) -> list[int]:
    """A row above the axes for the words of each mark, the lowest that is free there."""
    taken: list[list[tuple[float, float]]] = []
    rows = []
    for at, words in marks.items():
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
    font = FontProperties(family=FONT)
    return max((float(TextPath((0, 0), line, size=size, prop=font).get_extents().x1) for line in lines), default=0.0)

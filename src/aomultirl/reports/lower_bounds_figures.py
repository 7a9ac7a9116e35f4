"""Figures of the laboratory for print: measured points with intervals, fitted lines, curves of the paper.

Colours, markers and fonts are those of :mod:`aomultirl.reports.curves_figure`.  A fitted line shares the look and the
legend of the points that it was fitted to; what the paper says is dark and dashed, and may be moved beside the points
(:func:`aomultirl.analysis.charts.beside`).
"""

import math
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis import charts
from aomultirl.analysis.charts import Chart, Series, Subject, beside, reach_of
from aomultirl.reports import grid_figure
from aomultirl.reports.curves_figure import FONT, INK, SMALL, STYLES, TEXT, Style
from aomultirl.reports.page import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

WIDTH, PANEL, FOOT, LINE = 6.0, 3.2, 0.36, 0.155
"""Inches: of the figure, of the axes with what stands below them, of that, and of a line of title or legend."""
LONG, SIDES = 95, (0.11, 0.97)
"""Characters of a line, and where the axes begin and end."""
SLANT, LETTER = 40.0, 0.027
"""Of names along x: degrees, and inches that a letter of them is high."""
FONTS = [FONT, "DejaVu Serif"]
"""The second has the raised digits that the first lacks; both come with matplotlib."""
LONG_AXIS = 100.0
"""A factor; axes that reach farther have numbers at powers of ten alone."""
KINDS, DOTS = ("png", "svg"), 150
"""Formats, and dots an inch of the first."""
SHAPE = ("dashes", "marker")
PAPER = (
    Style("#222222", (4.0, 2.0), ""),
    Style("#707070", (1.2, 1.6), ""),
    Style("#222222", (7.0, 2.0, 1.2, 2.0), ""),
    Style("#707070", (8.0, 3.0), ""),
)
SIGNS = {
    "lambda": "\u03bb",
    "delta": "\u03b4",
    "Delta": "\u0394",
    "Gamma": "\u0393",
    "eps": "\u03b5",
    "rho": "\u03c1",
    "sqrt": "\u221a",
}


class Entry(NamedTuple):
    """What has one place in the legend, and its look."""

    label: str
    style: Style
    points: Series | None
    line: Series | None
    is_theory: bool


def entries(figure: Chart) -> list[Entry]:
    """What has a place in the legend: curves of the paper are dark, all else has the colours in their order."""
    made: list[Entry] = []
    for entry in charts.entries(figure):
        number = sum(other.is_theory is entry.is_theory for other in made)
        style = PAPER[number % len(PAPER)] if entry.is_theory else _style(number)
        made.append(Entry(entry.label, style, entry.points, entry.line, entry.is_theory))
    return made


def _style(number: int) -> Style:
    """Of which there are many: when the colours begin again they come with other dashes and marks."""
    styles = STYLES[1:]
    turn, place = divmod(number, len(styles))
    return styles[place]._replace(**{name: getattr(styles[(place + 3 * turn) % len(styles)], name) for name in SHAPE})


def is_joined(figure: Chart, entry: Entry) -> bool:
    """Whether the points have a line through them."""
    return charts.is_joined(figure, charts.Entry(entry.label, Subject(entry.label), entry.points, entry.line))


def symbols(text: str) -> str:
    """A text with the paper's symbols in place of their names.

    Examples
    --------
    >>> symbols("sqrt(D S A H) - D / 8, lambda^-2 <= -1.5, H^1.05")
    '√(D S A H) − D / 8, λ⁻² ≤ −1.5, H^1.05'
    >>> symbols("6.25e-06")
    '6.25 × 10⁻⁶'
    """
    text = re.sub(rf"\b({'|'.join(SIGNS)})\b", lambda found: SIGNS[found[0]], text)
    text = re.sub(r"(?<=\d)e([-+]\d+)\b", lambda found: f" \u00d7 10^{int(found[1])}", text)
    text = re.sub(r"\^(-?\d+)\b(?!\.\d)", lambda found: found[1].translate(phrases.RAISED), text)
    text = re.sub(r"(?<![\w.)])-(?=\d)|(?<= )-(?= )", "\u2212", text)
    return text.replace("<=", "\u2264").replace(">=", "\u2265")


def bars(series: Series) -> NDArray[np.float64] | None:
    """How far the intervals reach below and above the points, (2, n); None where there are none."""
    if not len(series.low):
        return None
    y, low, high = (np.asarray(values, float) for values in (series.y, series.low, series.high))
    return np.asarray(np.nan_to_num(np.stack([y - low, high - y]), posinf=0.0, neginf=0.0).clip(min=0.0))


def ticks(figure: Chart) -> dict[float, str]:
    """Places along x and what stands there: the names, or the numbers at which something was measured."""
    if figure.names:
        return {float(place): name for place, name in enumerate(figure.names)}
    return {x: phrases.number(x) for x in charts.measured_places(figure)}


def power(value: float) -> str:
    """A number on a logarithmic axis.

    Examples
    --------
    >>> [power(value) for value in (0.00001, 0.2, 1000, 20000, 1000000)]
    ['10⁻⁵', '0.2', '1,000', '20,000', '10⁶']
    """
    exponent = round(math.log10(value))
    if (value >= 1e4 or value < 1e-3) and math.isclose(value, 10.0**exponent):
        return f"10{str(exponent).translate(phrases.RAISED)}"
    return phrases.number(value)


def draw(figure: Chart) -> "Figure":
    """The title, the axes, and below them the legend."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = beside(figure)
    title = textwrap.wrap(symbols(figure.title), LONG)
    shown = entries(figure)
    labels = [textwrap.fill(symbols(entry.label), LONG) for entry in shown]
    above = LINE * len(title) + 0.2
    below = LINE * sum(label.count("\n") + 1 for label in labels) + 0.12
    foot = FOOT + LETTER * max(map(len, figure.names), default=0)
    height = above + PANEL - FOOT + foot + below
    with rc_context({"font.family": FONTS, "mathtext.fontset": "stix", "font.size": TEXT}):
        drawn = Figure(figsize=(WIDTH, height))
        left, right = SIDES
        panel = drawn.add_axes((left, (below + foot) / height, right - left, (PANEL - FOOT) / height))
        _frame(panel, figure)
        handles = [_draw(panel, entry, is_joined(figure, entry)) for entry in shown]
        drawn.text(left, 1.0 - 0.1 / height, "\n".join(title), va="top", color=INK, fontsize=TEXT + 1.0)
        drawn.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(left - 0.01, 0.03 / height),
            frameon=False,
            fontsize=SMALL,
            handlelength=3.2,
            borderaxespad=0.0,
            labelcolor=INK,
        )
    return drawn


def save(figure: Chart, folder: Path) -> list[Path]:
    """Write the figure as .png and .svg, each whole or not at all; the same figure, the same bytes."""
    drawn = draw(figure)
    paths = [folder / f"{figure.name}.{kind}" for kind in KINDS]
    for path in paths:
        grid_figure.save(drawn, path, dpi=DOTS)
    return paths


def remove(name: str, folder: Path) -> None:
    """Remove what :func:`save` wrote for a figure of this name; a name that leads elsewhere is passed over."""
    for path in (folder / f"{name}.{kind}" for kind in KINDS):
        if Path(name).name == name and path.is_file():
            path.unlink()


def _frame(panel: "Axes", figure: Chart) -> None:
    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.6)
        spine.set_color(INK)
    panel.tick_params(
        which="both", width=0.6, length=2.5, labelsize=SMALL, color=INK, labelcolor=INK, labelfontfamily=FONTS
    )
    panel.grid(color="#e6e6e6", linewidth=0.4)
    panel.set_axisbelow(True)
    if figure.log_x:
        panel.set_xscale("log")
        _number(panel.xaxis, reach_of([x for one in figure.series for x in one.x]))
    if ticks(figure):
        panel.set_xticks(list(ticks(figure)), list(ticks(figure).values()))
    if figure.names:
        panel.tick_params(axis="x", labelrotation=SLANT)
        for label in panel.get_xticklabels():
            label.set(horizontalalignment="right", rotation_mode="anchor")
    if figure.log_y:
        panel.set_yscale("log")
        _number(panel.yaxis, reach_of([y for one in figure.series for y in one.y]))
    panel.set_xlabel(symbols(figure.x), labelpad=2.0, color=INK)
    panel.set_ylabel(symbols(figure.y), labelpad=3.0, color=INK)


def _number(axis: "Axis", reach: float) -> None:
    """Plain numbers along a logarithmic axis that reaches over such a factor, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator

    places: Locator = MaxNLocator(5)
    if reach > 5.0:
        places = LogLocator(subs=(1.0,) if reach > LONG_AXIS else (1.0, 2.0, 5.0), numticks=12)
    axis.set_major_locator(places)
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
    axis.set_minor_locator(NullLocator())


def _draw(panel: "Axes", entry: Entry, is_joined: bool) -> Any:
    """The handle for the legend."""
    style = entry.style
    dashes: Any = (0, style.dashes) if style.dashes else "-"
    looks: dict[str, Any] = {"color": style.colour, "linewidth": 1.0, "linestyle": dashes}
    line = entry.points if is_joined else entry.line
    through = panel.plot(line.x, line.y, **looks)[0] if line is not None else None
    if entry.points is None:
        return through
    marks: dict[str, Any] = {
        "marker": style.marker,
        "markersize": 4.0,
        "markerfacecolor": "white",
        "markeredgewidth": 0.9,
    }
    looks["linestyle"] = "none"
    handle = panel.errorbar(
        entry.points.x, entry.points.y, bars(entry.points), capsize=2.0, elinewidth=0.8, zorder=3.0, **looks, **marks
    )
    return handle if through is None else (through, handle)

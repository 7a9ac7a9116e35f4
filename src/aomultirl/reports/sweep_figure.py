"""The sweep in print: regret and reward of every agent against the parameters that vary.

Error bars are 95 % bootstrap intervals over runs.  Curves look as in :mod:`aomultirl.reports.curves_figure`.
"""

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aomultirl import files
from aomultirl.analysis.sweep_views import Curve, View, spans_decades
from aomultirl.reports.curves_figure import FONT, INK, SMALL, STYLES, TEXT, Style
from aomultirl.reports.page import phrases
from aomultirl.reports.page.data import settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WIDTH, ROW, HEAD, KEY = 6.8, 2.1, 0.42, 0.17
"""Inches: the width of a page, then heights: of a row of panels, of what stands above it, of a line of the legend."""
MOST_ROWS = 4
KINDS = ("png", "svg")
MADE_BY = "aomultirl"
LABELS = {"regret": "cumulative exact regret", "total_reward": "total reward", "reward_per_step": "reward a step"}


def draw(views: Sequence[View]) -> "Figure":
    """A row for each of the first views: regret on the left, where it was recorded, and reward."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    if not views:
        raise ValueError("views is empty: no number varies, so there is nothing to draw")
    rows = _rows(views)
    names = list(dict.fromkeys(curve.name for view in rows for curve in view.curves))
    styles = dict(zip(names, STYLES, strict=False))
    keys = -(-len(styles) // 2)
    notes = _notes(len(views) - len(rows), len(names) - len(styles), rows)
    foot = KEY * (keys + len(notes)) + 0.15
    height = len(rows) * (HEAD + ROW) + foot
    with rc_context({"font.family": FONT, "mathtext.fontset": "stix", "font.size": TEXT}):
        figure = Figure(figsize=(WIDTH, height))
        measures = _measures(rows)
        for number, view in enumerate(rows):
            top = height - number * (HEAD + ROW)
            if len(views) > 1 and view.fixed:
                figure.text(0.09, (top - 0.2) / height, f"with {view.fixed}", color=INK, fontsize=SMALL)
            for column, measure in enumerate(measures):
                left = 0.09 + column * 0.92 / len(measures)
                place = (left, (top - ROW) / height, 0.92 / len(measures) - 0.08, (ROW - HEAD) / height)
                _panel(figure.add_axes(place), view, measure, styles)
        handles = [_key(name, style) for name, style in styles.items()]
        figure.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0.08, KEY * len(notes) / height),
            ncols=2,
            frameon=False,
            fontsize=SMALL,
            handlelength=3.2,
            borderaxespad=0.2,
        )
        for number, words in enumerate(reversed(notes)):
            figure.text(0.09, (0.05 + KEY * number) / height, words, color=INK, fontsize=SMALL)
    return figure


def _measures(views: Sequence[View]) -> list[str]:
    known = any(np.isfinite(line.spans["regret"].mean) for view in views for c in view.curves for _, line in c.points)
    return ["regret", "total_reward"] if known else ["total_reward"]


def _rows(views: Sequence[View]) -> list[View]:
    """The first of each parameter, then the second of each, and so on; in their order."""
    seen: dict[str, int] = {}
    turns = []
    for place, view in enumerate(views):
        seen[view.parameter] = turn = seen.get(view.parameter, -1) + 1
        turns.append((turn, place))
    return [views[place] for place in sorted(place for _, place in sorted(turns)[:MOST_ROWS])]


def _notes(rows: int, curves: int, drawn: Sequence[View]) -> list[str]:
    said = ["Means over runs with 95 % bootstrap intervals."]
    if any(_values(view, "regret").count(0.0) and _is_log(_values(view, "regret")) for view in drawn):
        said[0] += " A logarithmic axis does not show agents without regret."
    if any(curve.level for view in drawn for curve in view.curves):
        said.append("Agents that do not have the parameter are level.")
    if curves > 0:
        said.append(f"{curves:,} more agents are not drawn.")
    if rows > 0:
        said.append(f"{rows:,} more combinations of fixed parameters are on the page.")
    return said


def _values(view: View, measure: str) -> list[float]:
    """The means, without rounding errors around zero."""
    found = [line.spans[measure].mean for curve in view.curves for _, line in curve.points]
    return [float(value) for value in settled(np.array([value for value in found if np.isfinite(value)]))]


def _is_log(values: Sequence[float]) -> bool:
    return spans_decades(value for value in values if value > 0.0)


def _panel(panel: "Axes", view: View, measure: str, styles: dict[str, Style]) -> None:
    from matplotlib.ticker import StrMethodFormatter

    used = "reward_per_step" if measure == "total_reward" and view.unequal else measure
    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.6)
    panel.tick_params(which="both", width=0.6, length=2.5, labelsize=SMALL, color=INK, labelcolor=INK)
    panel.grid(axis="y", color="#e6e6e6", linewidth=0.4)
    panel.set_axisbelow(True)
    for curve in view.curves:
        if curve.name in styles:
            _draw(panel, curve, used, styles[curve.name])
    if view.is_log:
        panel.set_xscale("log")
    if view.ticks:
        panel.set_xticks(view.ticks, [phrases.number(x) for x in view.ticks])
        panel.minorticks_off()
    if _is_log(_values(view, used)):
        panel.set_yscale("log")
    else:
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    panel.set_xlabel(view.axis, labelpad=2.0, color=INK)
    panel.set_ylabel(LABELS[used], labelpad=3.0, color=INK)


def _draw(panel: "Axes", curve: Curve, measure: str, style: Style) -> None:
    points = [(x, line.spans[measure]) for x, line in curve.points if np.isfinite(line.spans[measure].mean)]
    if not points:
        return
    x = np.array([place for place, _ in points])
    mean, low, high = (np.array(values) for values in zip(*(span for _, span in points), strict=True))
    mean = settled(mean)
    looks: dict[str, Any] = {
        "color": style.colour,
        "linewidth": 1.0,
        "linestyle": (0, style.dashes) if style.dashes else "-",
    }
    ends = np.nan_to_num(np.stack([mean - low, high - mean])).clip(min=0.0)
    panel.errorbar(x, mean, ends, capsize=1.8, elinewidth=0.7, **looks, **_marked(style))


def _marked(style: Style) -> dict[str, Any]:
    return {"marker": style.marker, "markersize": 3.6, "markerfacecolor": "white", "markeredgewidth": 0.8}


def _key(name: str, style: Style) -> "Line2D":
    from matplotlib.lines import Line2D

    dashes: Any = (0, style.dashes) if style.dashes else "-"
    label = textwrap.shorten(name, 60, placeholder=" …")
    return Line2D([], [], color=style.colour, linewidth=1.0, linestyle=dashes, label=label, **_marked(style))


def check(folder: Path, stem: str = "sweep") -> list[Path]:
    """The files that :func:`save` writes; refuses to replace any that it did not write."""
    paths = [folder / f"{stem}.{kind}" for kind in KINDS]
    for path in paths:
        if os.path.lexists(path) and MADE_BY.encode() not in files.read_beginning(path, 8192):
            raise ValueError(f"{str(path)!r} is a figure that aomultirl did not make; move it, or write elsewhere")
    return paths


def save(figure: "Figure", folder: Path, stem: str = "sweep") -> list[Path]:
    """Write the figure as .png (300 dpi) and .svg, each whole or not at all; the same figure, the same bytes."""
    from matplotlib import rc_context

    told = {"png": {"Software": MADE_BY}, "svg": {"Creator": MADE_BY, "Date": None}}
    paths = check(folder, stem)
    for path, kind in zip(paths, KINDS, strict=True):
        with files.whole(path) as partial, rc_context({"svg.hashsalt": MADE_BY}):
            figure.savefig(partial, format=kind, dpi=300, metadata=told[kind])
    return paths

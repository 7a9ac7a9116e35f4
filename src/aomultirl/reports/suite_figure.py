"""The figure of a suite: a panel for every place, a line for every agent, its mean and its interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aomultirl.analysis.intervals import over_runs
from aomultirl.analysis.suite_rows import Row, Rows
from aomultirl.reports.charts_matplotlib import SMALL, TEXT, fonts
from aomultirl.reports.looks import AGENTS, FAINT, INK
from aomultirl.reports.wording import symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, NAMES, LINE, HEAD, FOOT = 1.9, 2.0, 0.135, 0.45, 0.45
"""Inches: the width of a panel and of the names beside it, the height of a line, and what stands above and below."""
GAP = 0.15
"""Inches between panels."""


def draw(rows: Rows, heading: str, unit: str, marked: Sequence[str] = ()) -> "Figure":
    """All places side by side, agents in the order of their mean over the places, the best on top.

    Parameters
    ----------
    rows
        of the suite.
    heading
        of the column that is drawn.
    unit
        what the numbers are, in words.
    marked
        agents that are drawn in another colour.
    """
    from matplotlib.figure import Figure

    places = list(dict.fromkeys(place for place, _ in rows))
    labels = _ordered(rows, places, heading)
    width = NAMES + len(places) * (PANEL + GAP)
    height = HEAD + FOOT + LINE * len(labels)
    with fonts():
        figure = Figure(figsize=(width, height))
        for number, place in enumerate(places):
            left = NAMES + number * (PANEL + GAP)
            size = (left / width, FOOT / height, PANEL / width, LINE * len(labels) / height)
            panel = figure.add_axes(size)
            _draw_place(panel, [rows.get((place, label)) for label in labels], labels, heading, marked)
            panel.set_title(symbols(place), fontsize=TEXT, color=INK, wrap=True)
            panel.set_xlabel(unit, fontsize=SMALL)
            panel.set_yticks(range(len(labels)), labels if number == 0 else [], fontsize=SMALL)
    return figure


def _ordered(rows: Rows, places: Sequence[str], heading: str) -> list[str]:
    """The agents, the least mean over places first, which stands at the bottom."""
    labels = dict.fromkeys(label for _, label in rows)

    def height(label: str) -> float:
        there = [rows[place, label].numbers.get(heading) for place in places if (place, label) in rows]
        means = [float(numbers.mean()) for numbers in there if numbers is not None]
        return float(np.mean(means)) if means else -np.inf

    return sorted(labels, key=height)


def _draw_place(
    panel: "Axes", there: Sequence[Row | None], labels: Sequence[str], heading: str, marked: Sequence[str]
) -> None:
    for height, (row, label) in enumerate(zip(there, labels, strict=True)):
        if row is None or heading not in row.numbers:
            continue
        mean, low, high = over_runs(row.numbers[heading])
        colour = AGENTS[2].colour if label in marked else AGENTS[1].colour
        if np.isfinite(low):
            panel.plot([low, high], [height, height], color=colour, linewidth=1.0)
        panel.plot([mean], [height], "o", color=colour, markersize=2.8)
    panel.set_ylim(-0.7, len(labels) - 0.3)
    panel.tick_params(labelsize=SMALL, length=2.0, colors=INK)
    panel.grid(axis="both", color=FAINT, linewidth=0.3, alpha=0.5)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)

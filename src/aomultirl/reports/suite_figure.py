"""The figure of a suite: a panel for every place, a line for every agent, its mean and its interval."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aomultirl.analysis.intervals import UNKNOWN, Span, over_runs
from aomultirl.analysis.suite_rows import Row, Rows
from aomultirl.reports.charts_matplotlib import SMALL, TEXT, fonts
from aomultirl.reports.looks import AGENTS, FAINT, INK
from aomultirl.reports.wording import signed, symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, NAMES, LINE, HEAD, FOOT = 1.9, 2.0, 0.135, 0.45, 0.45
"""Inches: the width of a panel and of the names beside it, the height of a line, and what stands above and below."""
GAP = 0.15
"""Inches between panels."""
MOST_PANELS = 6
"""Side by side; further places stand below them, with the names of the agents beside them again."""
TICKS = 4
"""Numbers along a panel at most; five of the length of -4,000 would touch each other."""


def draw(rows: Rows, heading: str, unit: str, marked: Sequence[str] = ()) -> "Figure":
    """A panel for every place with a scale of its own, agents in the order of their mean rank there, the best on top.

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
    width = NAMES + min(len(places), MOST_PANELS) * (PANEL + GAP)
    band = HEAD + FOOT + LINE * len(labels)
    height = band * math.ceil(len(places) / MOST_PANELS)
    with fonts():
        figure = Figure(figsize=(width, height))
        for number, place in enumerate(places):
            above, beside = divmod(number, MOST_PANELS)
            left, bottom = NAMES + beside * (PANEL + GAP), height - (above + 1) * band + FOOT
            panel = figure.add_axes((left / width, bottom / height, PANEL / width, LINE * len(labels) / height))
            _draw_place(panel, [rows.get((place, label)) for label in labels], labels, heading, marked)
            panel.set_title(symbols(place), fontsize=TEXT, color=INK, wrap=True)
            panel.set_xlabel(unit, fontsize=SMALL)
            panel.set_yticks(range(len(labels)), labels if beside == 0 else [], fontsize=SMALL)
    return figure


def _ordered(rows: Rows, places: Sequence[str], heading: str) -> list[str]:
    """The agents, that with the least mean rank over places first, which stands at the bottom.

    Ranks are the same in whatever units a place is measured; 0 is the worst of a place, and 1 the best.
    """
    ranks: dict[str, list[float]] = {label: [] for _, label in rows}
    for place in places:
        means = {
            label: float(row.numbers[heading].mean())
            for (where, label), row in rows.items()
            if where == place and heading in row.numbers
        }
        for label, mean in means.items():
            below = sum(other < mean for other in means.values())
            ranks[label].append(below / max(len(means) - 1, 1))
    return sorted(ranks, key=lambda label: float(np.mean(ranks[label])) if ranks[label] else -np.inf)


def _draw_place(
    panel: "Axes", there: Sequence[Row | None], labels: Sequence[str], heading: str, marked: Sequence[str]
) -> None:
    from matplotlib.ticker import MaxNLocator

    spans = [UNKNOWN] * len(there)
    for height, row in enumerate(there):
        if row is not None and heading in row.numbers:
            spans[height] = Span(*map(float, over_runs(row.numbers[heading])))
    colours = [AGENTS[2 if label in marked else 1].colour for label in labels]
    draw_dots(panel, spans, colours)
    panel.xaxis.set_major_locator(MaxNLocator(TICKS))
    panel.xaxis.set_major_formatter(lambda value, _: signed(value))


def draw_dots(panel: "Axes", spans: Sequence[Span], colours: Sequence[str]) -> None:
    """A dot and its interval in every line of a panel, from the bottom; none where nothing is known."""
    for height, ((mean, low, high), colour) in enumerate(zip(spans, colours, strict=True)):
        if np.isfinite(mean):
            if np.isfinite(low):
                panel.plot([low, high], [height, height], color=colour, linewidth=1.0)
            panel.plot([mean], [height], "o", color=colour, markersize=2.8)
    panel.set_ylim(-0.7, len(spans) - 0.3)
    panel.tick_params(labelsize=SMALL, length=2.0, colors=INK)
    panel.grid(axis="both", color=FAINT, linewidth=0.3, alpha=0.5)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)

"""The figure of a suite: a panel for every place, a line for every agent, its mean and its interval."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aomultirl.analysis.intervals import UNKNOWN, Span, over_runs
from aomultirl.analysis.suite_rows import SHARE_UNIT, Row, Rows, unit_of
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
MOST_PANELS, FEW_PANELS = 6, 3
"""Side by side, of many agents and of few; further places stand below them, with the names of the agents again."""
FEW_AGENTS, WIDE_LINE, LETTER = 8, 0.24, 0.062
"""Agents up to which a figure is for a page of text; the height of their lines and the width of a letter, in inches."""
TICKS = 4
"""Numbers along a panel at most; five of the length of -4,000 would touch each other."""


def draw(rows: Rows, heading: str, marked: Sequence[str] = ()) -> "Figure":
    """A panel for every place with a scale and a unit of its own, agents in the order of their mean rank there, the
    best on top; those that are told the world, and planners that know all worlds, are grey.

    Parameters
    ----------
    rows
        of the suite.
    heading
        of the column that is drawn.
    marked
        agents that are drawn in another colour.
    """
    from matplotlib.figure import Figure

    places = list(dict.fromkeys(place for place, _ in rows))
    labels = _ordered(rows, places, heading)
    beside, line, names = MOST_PANELS, LINE, NAMES
    if len(labels) <= FEW_AGENTS:
        beside, line, names = FEW_PANELS, WIDE_LINE, min(NAMES, 0.15 + LETTER * max(map(len, labels)))
    width = names + min(len(places), beside) * (PANEL + GAP)
    band = HEAD + FOOT + line * len(labels)
    height = band * math.ceil(len(places) / beside)
    with fonts():
        figure = Figure(figsize=(width, height))
        for number, place in enumerate(places):
            above, right = divmod(number, beside)
            left, bottom = names + right * (PANEL + GAP), height - (above + 1) * band + FOOT
            panel = figure.add_axes((left / width, bottom / height, PANEL / width, line * len(labels) / height))
            there = [rows.get((place, label)) for label in labels]
            unit = unit_of([case for row in there if row is not None for case in row.cases])
            spans = _draw_place(panel, there, labels, heading, marked)
            if len(labels) <= FEW_AGENTS:
                _write_means(panel, spans)
                if unit == SHARE_UNIT:
                    panel.set_xlim(0.0, 105.0)
            panel.set_title(symbols(place), fontsize=TEXT, color=INK, wrap=True)
            panel.set_xlabel(f"{unit}, {heading}", fontsize=SMALL)
            panel.set_yticks(range(len(labels)), labels if right == 0 else [], fontsize=SMALL)
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
) -> list[Span]:
    """Draw the agents of a place; what was drawn."""
    from matplotlib.ticker import MaxNLocator

    spans = [UNKNOWN] * len(there)
    for height, row in enumerate(there):
        if row is not None and heading in row.numbers:
            spans[height] = Span(*map(float, over_runs(row.numbers[heading])))
    colours = [
        AGENTS[2].colour if label in marked else FAINT if row is not None and is_told(row) else AGENTS[1].colour
        for label, row in zip(labels, there, strict=True)
    ]
    draw_dots(panel, spans, colours)
    panel.xaxis.set_major_locator(MaxNLocator(TICKS))
    panel.xaxis.set_major_formatter(lambda value, _: signed(value))
    return spans


def _write_means(panel: "Axes", spans: Sequence[Span]) -> None:
    """Every mean in figures, above its dot, with three digits."""
    panel.margins(x=0.1)
    panel.set_ylim(-0.5, len(spans) - 0.2)
    for height, span in enumerate(spans):
        if np.isfinite(span.mean):
            panel.annotate(
                signed(float(f"{span.mean:.3g}")),
                (span.mean, height),
                fontsize=SMALL,
                color=INK,
                xytext=(0.0, 3.0),
                textcoords="offset points",
                ha="center",
                va="bottom",
            )


def is_told(row: Row) -> bool:
    """Whether somebody is told the world of every episode, or knows all of them."""
    return any(case.is_planner or case.is_told for case in row.cases)


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

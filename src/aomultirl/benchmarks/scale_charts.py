"""The figure of how costs grow: a panel for each kind of cost, points with their lines, exponents in the legend."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aomultirl.analysis.charts import Chart, Series, Subject
from aomultirl.analysis.rules import exact
from aomultirl.benchmarks.scale import Sweep
from aomultirl.laboratory.exponents import fitted, intervals, points

PANELS = {
    "planning": ("Planning and memory", "transitions", "planning: milliseconds", 1e3),
    "planning, H": ("Planning and memory", "H", "planning: milliseconds", 1e3),
    "memory": ("Planning and memory", "transitions", "memory: megabytes", 1e-6),
    "step, S": ("Recall", "states", "a step: microseconds", 1e6),
    "step, M": ("Recall", "worlds in memory", "a step: microseconds", 1e6),
    "episode": ("Recall", "H, or episodes before", "an episode: milliseconds", 1e3),
}
"""For each chart its title, what stands along x and y, and what seconds or bytes are multiplied by."""
ACROSS = 3
"""Panels side by side."""


def charts(sweeps: Sequence[Sweep]) -> list[Chart]:
    """A chart for each kind of cost that was measured; every sweep has a look of its own in all of them."""
    made = []
    for name, (title, x, y, factor) in PANELS.items():
        shown = [(number, sweep) for number, sweep in enumerate(sweeps) if sweep.question.chart == name]
        if shown:
            series = [one for number, sweep in shown for one in _series(sweep, number, factor)]
            ticks = _ticks([place for _, sweep in shown for place in sweep.x])
            made.append(Chart(name=name, title=title, x=x, y=y, series=series, x_ticks=ticks))
    return made


def _series(sweep: Sweep, number: int, factor: float) -> list[Series]:
    """Points, and the line through them."""
    label, samples = sweep.question.name, [factor * values for values in sweep.samples]
    line = sweep.fit._replace(intercept=sweep.fit.intercept + float(np.log(factor)))
    if min(map(len, samples)) > 1:
        shown = points(label, sweep.x, samples)
    else:
        shown = intervals(label, sweep.x, [exact(values[0]) for values in samples])
    subject = Subject(label, number=number)
    return [shown._replace(subject=subject), fitted(label, sweep.x, line)._replace(subject=subject)]


def _ticks(places: Sequence[float]) -> dict[float, str]:
    """The ends of what was measured and what is nearest to their middle, which have room beside each other."""
    middle = (min(places) * max(places)) ** 0.5
    chosen = min(places), min(places, key=lambda place: abs(np.log(place / middle))), max(places)
    return {place: f"{place:,.0f}" for place in chosen}


def write(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw all charts into one file."""
    from aomultirl.reports import charts_matplotlib, figure_files

    panels = charts(sweeps)
    rows = [panels[first : first + ACROSS] for first in range(0, len(panels), ACROSS)]
    figure_files.save(
        charts_matplotlib.draw_rows(rows, ["CPU time; lines through the logarithms, 95 % intervals"]), path
    )

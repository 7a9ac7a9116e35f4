"""The figure of how costs grow: a panel for each kind of cost, points with their lines, exponents in the legend."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.rules import exact
from aomultirl.benchmarks.scale import Sweep
from aomultirl.laboratory.exponents import fitted, intervals, points

PANELS = {
    "planning": ("Planning", "transitions", "milliseconds", 1e3),
    "planning, H": ("Planning", "H", "milliseconds", 1e3),
    "memory": ("Memory", "transitions", "megabytes", 1e-6),
    "step, S": ("A step of Recall", "states", "microseconds", 1e6),
    "step, M": ("A step of Recall", "worlds ruled out, and the true one", "microseconds", 1e6),
    "episode": ("An episode of Recall", "H, or episodes before", "milliseconds", 1e3),
}
"""For each chart its title, what stands along x and y, and what seconds or bytes are multiplied by."""
ACROSS = 3
"""Panels side by side."""


def charts(sweeps: Sequence[Sweep]) -> list[Chart]:
    """A chart for each kind of cost that was measured."""
    made = []
    for name, (title, x, y, factor) in PANELS.items():
        series: list[Series] = []
        for sweep in sweeps:
            if sweep.question.chart == name:
                series += _series(sweep, factor)
        if series:
            made.append(Chart(name=name, title=title, x=x, y=y, series=series))
    return made


def _series(sweep: Sweep, factor: float) -> list[Series]:
    """Points, and the line through them."""
    label, samples = sweep.question.name, [factor * values for values in sweep.samples]
    line = sweep.fit._replace(intercept=sweep.fit.intercept + float(np.log(factor)))
    if min(map(len, samples)) > 1:
        shown = points(label, sweep.x, samples)
    else:
        shown = intervals(label, sweep.x, [exact(values[0]) for values in samples])
    return [shown, fitted(label, sweep.x, line)]


def write(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw all charts into one file."""
    from aomultirl.reports import charts_matplotlib, figure_files

    panels = charts(sweeps)
    rows = [panels[first : first + ACROSS] for first in range(0, len(panels), ACROSS)]
    figure_files.save(
        charts_matplotlib.draw_rows(rows, ["CPU time; lines through the logarithms, 95 % intervals"]), path
    )

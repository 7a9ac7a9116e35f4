"""Figures of the laboratory, as they are printed and as its page shows them.

Curves of the paper that lie decades away from all points are moved beside them, and names such as lambda become the
paper's symbols.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from aomultirl.analysis.charts import Chart, beside
from aomultirl.reports import charts_matplotlib, figure_files
from aomultirl.reports.wording import symbols

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS, DOTS = ("png", "svg"), 150
"""Formats, and dots an inch of the first."""


def prepared(chart: Chart) -> Chart:
    """The chart as it is shown."""
    chart = beside(chart)
    words: dict[str, Any] = {name: symbols(getattr(chart, name)) for name in ("title", "x", "y", "caption")}
    series = [one._replace(label=symbols(one.label), subject=one.shows) for one in chart.series]
    return chart._replace(series=series, **words)


def draw(chart: Chart) -> "Figure":
    """The title, the axes, and below them the legend."""
    return charts_matplotlib.draw(prepared(chart))


def save(chart: Chart, folder: Path) -> list[Path]:
    """Write the figure as .png and .svg, each whole or not at all; the same figure, the same bytes."""
    return figure_files.save_all(draw(chart), folder, chart.name, KINDS, dpi=DOTS)


def remove(name: str, folder: Path) -> None:
    """Remove what :func:`save` wrote for a figure of this name; a name that leads elsewhere is passed over."""
    for path in figure_files.named(folder, name, KINDS):
        if Path(name).name == name and path.is_file():
            path.unlink()

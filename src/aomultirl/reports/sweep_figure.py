"""The sweep in print: regret and reward of every agent against the parameters that vary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aomultirl.analysis.charts import Chart
from aomultirl.analysis.sweep_views import View
from aomultirl.reports import figure_files
from aomultirl.reports.charts_matplotlib import draw_rows
from aomultirl.reports.looks import AGENTS
from aomultirl.reports.sweep_charts import agent_names, chart_of, spans_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 4
KINDS = ("png", "svg")


def draw(views: Sequence[View]) -> "Figure":
    """A row for each of the first views: regret on the left, where it was recorded, and reward."""
    if not views:
        raise ValueError("views is empty: no number varies, so there is nothing to draw")
    chosen = _first_of_each(views)
    names = agent_names(chosen)
    shown = names[: len(AGENTS)]
    rows = [[_panel(view, measure, shown) for measure in ("regret", "total_reward")] for view in chosen]
    if not any(chart.series for chart, _ in rows):
        rows = [row[1:] for row in rows]
    if len(views) == 1:
        rows = [[chart._replace(title="") for chart in row] for row in rows]
    return draw_rows(rows, _notes(rows, len(names) - len(shown), len(views) - len(chosen)))


def _panel(view: View, measure: str, names: Sequence[str]) -> Chart:
    chart = chart_of(view, measure, names)
    return chart._replace(log_y=spans_many(chart))


def _first_of_each(views: Sequence[View]) -> list[View]:
    """The first view of each parameter, then the second of each, and so on; in their order."""
    seen: dict[str, int] = {}
    turns = []
    for place, view in enumerate(views):
        seen[view.parameter] = turn = seen.get(view.parameter, -1) + 1
        turns.append((turn, place))
    return [views[place] for place in sorted(place for _, place in sorted(turns)[:MOST_ROWS])]


def _notes(rows: Sequence[Sequence[Chart]], agents: int, views: int) -> list[str]:
    """What is to be known of the panels; ``agents`` and ``views`` are not drawn."""
    drawn = [(chart, series) for row in rows for chart in row for series in chart.series]
    notes = ["Means over runs with 95 % bootstrap intervals."]
    if any(chart.log_y and 0.0 in series.y for chart, series in drawn):
        notes[0] += " A logarithmic axis does not show agents without regret."
    if any(series.drawn == "level" for _, series in drawn):
        notes.append("Agents that do not have the parameter are level.")
    if agents > 0:
        notes.append(f"{agents:,} more agents are not drawn.")
    if views > 0:
        notes.append(f"{views:,} more combinations of fixed parameters are on the page.")
    return notes


def check(folder: Path, stem: str = "sweep") -> None:
    """Refuse to replace any file that :func:`save` did not write."""
    figure_files.check_ours(figure_files.named(folder, stem, KINDS))


def save(figure: "Figure", folder: Path, stem: str = "sweep") -> list[Path]:
    """Write the figure as .png (300 dpi) and .svg; the paths."""
    check(folder, stem)
    return figure_files.save_all(figure, folder, stem, KINDS)

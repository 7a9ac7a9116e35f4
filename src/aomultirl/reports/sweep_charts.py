"""Charts of a sweep, for the page and in print: every agent at the end of its runs, against a parameter that varies.

Points are means over runs, with 95 % bootstrap intervals.  The figure in print has reward and regret.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aomultirl.analysis.charts import Chart, Series, Subject, settled
from aomultirl.analysis.leaderboard import AgentLine
from aomultirl.analysis.measures import MEASURES as TABLES
from aomultirl.analysis.phrases import number
from aomultirl.analysis.sweep_views import Curve, NamedAgents, View, spans_decades
from aomultirl.reports import figure_files
from aomultirl.reports.charts_matplotlib import draw_rows
from aomultirl.reports.looks import AGENTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 4
"""Views of a sweep that the figure in print has."""
KINDS = ("png", "svg")
"""The formats of that figure."""
MEASURES = {
    "total_reward": "total reward",
    "regret": "cumulative regret",
    "identification_steps": "steps to identify",
}
"""What is drawn of a sweep, what was earned first, and what the axes call it."""
PER_STEP = {"total_reward": "reward_per_step", "regret": "regret_per_step"}
"""What takes the place of sums where episodes are not equally long, as in leaderboards."""


def agent_names(views: Sequence[View]) -> list[str]:
    """The agents of all views; the place of an agent here decides its look."""
    return list(dict.fromkeys(curve.name for view in views for curve in view.curves))


def chart_of(view: View, measure: str, names: Sequence[str]) -> Chart:
    """The agents of these names against the view's parameter; agents of which nothing is known are left out."""
    used = _used(measure, view.unequal)
    series = [_series(curve, used, names.index(curve.name)) for curve in view.curves if curve.name in names]
    return Chart(
        f"sweep-{measure}",
        f"with {view.fixed}" if view.fixed else "",
        view.axis,
        MEASURES[measure] if used == measure else TABLES[used],
        [one for one in series if len(one.x)],
        log_x=view.is_log,
        log_y=False,
        x_ticks={x: number(x) for x in view.ticks},
    )


def _used(measure: str, unequal: bool) -> str:
    """The measure that is drawn in the place of one of MEASURES."""
    return PER_STEP.get(measure, measure) if unequal else measure


def names_chart(agents: NamedAgents, measure: str, names: Sequence[str]) -> tuple[Chart, list[AgentLine]]:
    """The agents of a problem side by side, the best first, and their lines; those without a number are left out.

    Parameters
    ----------
    names
        of all agents of the sweep; the place of an agent here decides its look.
    """
    used = _used(measure, agents.unequal)
    lines = [line for line in agents.lines if np.isfinite(line.spans[used].mean)]
    series = []
    for place, line in enumerate(lines):
        mean, low, high = line.spans[used]
        subject = Subject(line.label, number=names.index(line.label))
        one = Series(line.label, [place], settled(np.array([mean])).tolist(), subject=subject, drawn="points")
        series.append(one._replace(low=[low], high=[high]) if np.isfinite(low) else one)
    chart = Chart(
        f"sweep-{measure}",
        agents.apart,
        agents.apart,
        MEASURES[measure] if used == measure else TABLES[used],
        series,
        log_x=False,
        log_y=False,
        names=[line.label for line in lines],
    )
    return chart._replace(log_y=spans_many(chart)), lines


def _series(curve: Curve, measure: str, place: int) -> Series:
    points = [(x, line.spans[measure]) for x, line in curve.points if np.isfinite(line.spans[measure].mean)]
    mean, low, high = np.array([span for _, span in points], np.float64).reshape(-1, 3).T
    known = np.isfinite(low).any()
    return Series(
        curve.name,
        [x for x, _ in points],
        settled(mean).tolist(),
        low=low.tolist() if known else (),
        high=high.tolist() if known else (),
        subject=Subject(curve.name, number=place),
        drawn="level" if curve.level else "joined",
    )


def spans_many(chart: Chart) -> bool:
    """Whether the values that are not 0 span decades, so that a logarithmic axis suits them."""
    return spans_decades(y for one in chart.series for y in one.y if y > 0.0)


def draw(views: Sequence[View]) -> "Figure":
    """A row for each of the first views: reward on the left, and regret, where it was recorded."""
    if not views:
        raise ValueError("views is empty: no number varies, so there is nothing to draw")
    chosen = _first_of_each(views)
    names = agent_names(chosen)
    shown = names[: len(AGENTS)]
    rows = [[_panel(view, measure, shown) for measure in ("total_reward", "regret")] for view in chosen]
    if not any(chart.series for _, chart in rows):
        rows = [row[:1] for row in rows]
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

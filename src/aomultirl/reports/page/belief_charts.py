"""What an agent believed: the world that it took every episode for, how sure it was, and what it holds in the end.

Believed worlds are called w1, w2, ..., as the agent names them; histories count from 0.  What is proven are the
clusters, c1, c2, ..., of :mod:`.run_charts`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.analysis.believed_worlds import KINDS, believed_worlds, has_beliefs
from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.intervals import Span
from aomultirl.experiments.history import History
from aomultirl.reports.charts_plotly import PageChart
from aomultirl.reports.looks import event
from aomultirl.reports.page.agent_summaries import mean_over_runs
from aomultirl.reports.page.believed_rows import believed_rows
from aomultirl.reports.page.episode_curves import thinned
from aomultirl.reports.page.groups import Group
from aomultirl.reports.page.rendering import in_a_sentence
from aomultirl.reports.page.run_charts import MOST_EPISODES, detail, world_subject

NOTHING = "it has no beliefs about worlds."
UNSURE = "less than 99 % sure"
"""The event of an episode that was not resolved when it was over."""


def beliefs(groups: Sequence[Group], shown: Sequence[int]) -> list[PageChart]:
    """The world that every episode was taken for, and how sure the agent was; nothing where no agent has beliefs."""
    if not any(has_beliefs(history) for one in groups for history in one.runs.values()):
        return []
    taken = Chart("beliefs", "Beliefs", "episode", "taken for", (), False, False, x_whole=True)
    sure = Chart("sure", "Sure", "episode", "how sure", (), False, False, x_whole=True, as_share=True)
    return [
        detail(taken, groups, shown, _taken_for, height=340),
        detail(sure._replace(y_range=(-0.03, 1.03)), groups, shown, _sure, height=260, legend=False),
    ]


def summaries(groups: Sequence[Group]) -> list[list[Any]]:
    """A row for every agent that has beliefs: means over its runs, None for what nobody knows."""
    rows = []
    for one in groups:
        found = [believed_worlds(history) for history in one.runs.values()]
        believed = [run for run in found if run is not None]
        if believed:
            numbers: list[list[float | None]] = [
                [run.worlds for run in believed],
                [run.met for run in believed],
                [None if run.together is None else run.together / run.episodes for run in believed],
                [run.sure for run in believed],
                [run.doubted for run in believed],
                [run.unresolved for run in believed],
                *([run.shared.get(kind) for run in believed] for kind in KINDS),
            ]
            rows.append([one, *map(_mean_of_known, numbers)])
    return rows


def _mean_of_known(values: Sequence[float | None]) -> Span | None:
    return mean_over_runs([value for value in values if value is not None and math.isfinite(value)])


def _taken_for(base: Chart, history: History, before: int) -> Chart:
    found = believed_worlds(history, before)
    if found is None:
        return base._replace(words=NOTHING)
    names, kept = history["taken_for"], _drawn(history)
    rows, row = believed_rows(names)
    series = _by_world(history, kept, row, before)
    unsure = np.flatnonzero(kept & (history["sure"] < RESOLVED))
    if len(unsure):
        subject = event(UNSURE)
        x, y = (unsure + 1 - before).tolist(), row[unsure].tolist()
        series.append(Series(subject.name, x, y, subject=subject, drawn="points"))
    words = in_a_sentence("believed", **found._asdict(), drawn=int(kept[before:].sum()))
    return base._replace(rows=rows, series=series, words=words)


def _sure(base: Chart, history: History, before: int) -> Chart:
    found = believed_worlds(history, before)
    if found is None:
        return base._replace(words=NOTHING)
    series = _by_world(history, _drawn(history), history["sure"], before)
    return base._replace(series=series, words=f"{100.0 * found.sure:.1f} % sure in the mean.")


def _drawn(history: History) -> NDArray[np.bool_]:
    """The episodes that are drawn: all that were taken for some world, or some of them, evenly spread."""
    places = np.flatnonzero(history["taken_for"] >= 0)
    kept = np.zeros(len(history), np.bool_)
    kept[places[thinned(len(places), MOST_EPISODES)]] = True
    return kept


def _by_world(history: History, kept: NDArray[np.bool_], height: NDArray[Any], before: int) -> list[Series]:
    """A marker for every episode that is kept, in the colour and shape of its true world, at this height."""
    series = []
    for task in np.unique(history["task"][kept]).tolist():
        here = np.flatnonzero(kept & (history["task"] == task))
        subject = world_subject(task, "episode")
        x, y = (here + 1 - before).tolist(), height[here].tolist()
        series.append(Series(subject.name, x, y, subject=subject, drawn="points"))
    return series

"""Charts of one run of one agent: its episodes, the distances between its clusters, errors of what it learned.

Worlds are called m1, m2, ... and clusters c1, c2, ...; files count both from 0.  Episodes are numbered from 1, those
that do not count up to 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aomultirl.analysis.charts import Chart, Matrix, Series, Subject
from aomultirl.analysis.phrases import counted
from aomultirl.experiments.history import History
from aomultirl.reports.charts_plotly import PageChart, page_chart
from aomultirl.reports.looks import event
from aomultirl.reports.page.believed_rows import BelievedRows, believed_rows
from aomultirl.reports.page.episode_curves import Floats, thinned
from aomultirl.reports.page.groups import Group, each
from aomultirl.reports.page.rendering import in_a_sentence

MOST_EPISODES = 1_000
"""Episodes of a timeline."""
MOST_CLUSTERS = 40
"""Clusters of a matrix, or of the errors' chart."""
WITH_NUMBERS = 12
"""Clusters up to which a matrix has room for numbers."""
NOT_PROVEN = "not proven"
"""What is said of an episode that was put in no cluster, but taken for a world."""
LARGEST_DISTANCE = 2.0
"""Of two distributions, in l1."""


def timeline(groups: Sequence[Group], shown: Sequence[int]) -> PageChart:
    """A marker an episode: the world by colour and shape, by height its cluster or what it was taken for."""
    most = max(int(run.history["cluster"].max()) for one in groups for run in one.given.values()) + 1
    rows = [cluster_name(number) for number in range(-1, most)]
    base = Chart("timeline", "Episodes", "episode", "put in, or taken for", (), False, False, rows=rows, x_whole=True)
    return detail(base, groups, shown, _episodes, height=340)


def distances(groups: Sequence[Group], shown: Sequence[int]) -> PageChart | None:
    """The matrix of distances between clusters; None where no agent has two of them."""
    if not any(len(h.about.get("distances") or ()) > 1 for one in groups for h in one.runs.values()):
        return None
    base = Chart("distances", "Distances", "", "", (), False, False)
    return detail(base, groups, shown, _matrix, height=380, legend=False)


def errors(groups: Sequence[Group], shown: Sequence[int]) -> PageChart | None:
    """How the error of the learned transitions shrinks, by cluster; None where nobody knows it."""
    if not any(np.isfinite(_errors_of(h)).any() for one in groups for h in one.runs.values()):
        return None
    y = "mean error of the transitions"
    base = Chart("errors", "Errors", "episode", y, (), False, False, x_whole=True, from_zero=True)
    return detail(base, groups, shown, _shrinking, height=340, log="errors-log")


def detail(
    base: Chart,
    groups: Sequence[Group],
    shown: Sequence[int],
    view: Callable[[Chart, History, int], Chart],
    **options: Any,
) -> PageChart:
    """A view for each agent and run, with who it is before its words."""
    views = {}
    for key, one, run in each(groups, shown):
        chart = view(base, run.history, run.before)
        views[key] = chart._replace(words=f"{one.label}, run {run.run}: {chart.words}")
    return page_chart(views, keys=["agent", "run"], **options)


def _episodes(base: Chart, history: History, before: int) -> Chart:
    events = {
        "new cluster": history["new_cluster"],
        "failed exploration": ~history["exploration_ok"],
        "in doubt": history.in_doubt,
        "misclustered": history["misclustered"],
        "certified": history["certified"],
    }
    kept = np.zeros(len(history), np.bool_)
    kept[thinned(len(history), MOST_EPISODES)] = True
    for name, happened in events.items():
        if name == "certified":
            continue  # it is what usually happens
        places = np.flatnonzero(happened)
        kept[places[thinned(len(places), MOST_EPISODES)] if len(places) else places] = True
    task, rows = history["task"], _rows(base.rows, history)

    def markers(subject: Subject, happened: Any) -> Series:
        here = np.flatnonzero(kept & happened)
        x, row = here + 1 - before, rows.places[here]
        return Series(subject.name, x.tolist(), row.tolist(), subject=subject, drawn="points")

    series = [markers(world_subject(one, "episode"), task == one) for one in np.unique(task).tolist()]
    series += [markers(event(name), happened) for name, happened in events.items()]
    drawn = [one for one in series if len(one.x)]
    words = _episode_words(history, events, int(kept[before:].sum()), before)
    return base._replace(series=drawn, rows=rows.labels, words=words)


def _rows(clusters: Sequence[str], history: History) -> BelievedRows:
    """Those of the clusters, and one for every world that unproven episodes were taken for, with a belief of 99 %."""
    believed = history.believed_only
    labels, places = believed_rows(np.where(believed, history["taken_for"], -1))
    rows = [f"{name}, {NOT_PROVEN}" for name in labels]
    return BelievedRows([*clusters, *rows], np.where(believed, len(clusters) + places, history["cluster"] + 1))


def _episode_words(history: History, events: dict[str, Any], drawn: int, before: int) -> str:
    """The timeline in a sentence; the episodes before those that count are not counted."""
    task = history["task"]
    return in_a_sentence(
        "timeline",
        counts={name: int(happened[before:].sum()) for name, happened in events.items()},
        believed=int(history.believed_only[before:].sum()),
        episodes=len(history) - before,
        worlds=0 if task.max() < 0 else len(np.unique(task[before:])),
        drawn=drawn,
        before=before,
        clusters=int(history["cluster"].max()) + 1,
    )


def _matrix(base: Chart, history: History, before: int) -> Chart:
    rows = history.about.get("distances") or []
    if len(rows) < 2:
        return base._replace(matrix=None, words="there are no two clusters to compare.")
    table = np.asarray(rows, np.float64)[:MOST_CLUSTERS, :MOST_CLUSTERS]
    threshold = history.about.get("threshold")
    apart = table[~np.eye(len(table), dtype=np.bool_)]
    apart = apart[np.isfinite(apart)]
    clusters = history.about.get("clusters") or []
    labels = [cluster_name(i) + stands_for(clusters, i) for i in range(len(table))]
    texts = [[_entry(value, i == j, threshold) for j, value in enumerate(row)] for i, row in enumerate(table)]
    matrix = Matrix(
        rows=labels,
        columns=labels,
        values=table.tolist(),
        texts=texts if len(table) <= WITH_NUMBERS else (),
        high=LARGEST_DISTANCE,
        ticks={0.0: "0", 1.0: "1", 2.0: "2"},
    )
    if not len(apart):
        return base._replace(matrix=matrix, words="the distances are not known.")
    words = f"distances between clusters from {apart.min():.3f} to {apart.max():.3f}"
    if threshold is not None:
        close = int((apart < threshold).sum()) // 2
        matrix = matrix._replace(ticks={0.0: "0", threshold: f"threshold {threshold:.3g}", 2.0: "2"})
        words += f"; the threshold is {threshold:.3g}, and {counted(close, 'pair')} of clusters below it"
    return base._replace(matrix=matrix, words=f"{words}.")


def _entry(value: float, same: bool, threshold: float | None) -> str:
    if same or not np.isfinite(value):
        return "-"
    return f"{value:.2f}" + (" ⚠" if threshold is not None and value < threshold else "")


def _shrinking(base: Chart, history: History, before: int) -> Chart:
    error, cluster, task = _errors_of(history), history["cluster"], history["task"]
    known = np.isfinite(error)
    if not known.any():
        return base._replace(words="it learns no transitions.")
    clusters = history.about.get("clusters") or []
    # Agents without clusters learn in every episode anew, or are told the world: then the world orders the lines.
    owner = np.where(cluster >= 0, cluster, -2 - task)
    series = []
    for one in np.unique(owner[known]).tolist()[:MOST_CLUSTERS]:
        here = np.flatnonzero(known & (owner == one))
        here = here[thinned(len(here))]
        subject = world_subject(-2 - one) if one < 0 else cluster_subject(clusters, one)
        series.append(Series(subject.name, (here + 1 - before).tolist(), error[here].tolist(), subject=subject))
    ends = np.flatnonzero(known[before:])
    if not len(ends):
        return base._replace(series=series, words="it learns no transitions in the episodes that count.")
    first, last = error[before:][ends[0]], error[before:][ends[-1]]
    words = f"error {first:.3g} after episode {ends[0] + 1:,}, {last:.3g} after episode {ends[-1] + 1:,}."
    return base._replace(series=series, words=words)


def _errors_of(history: History) -> Floats:
    return history.columns.get("estimate_error", np.full(len(history), np.nan))


def world_subject(task: int, unknown: str = "unknown world") -> Subject:
    """A true world, or what stands for one that nobody knows."""
    if task < 0:
        return Subject(unknown, role="cluster", number=task)
    return Subject(world_name(task), role="world", number=task)


def cluster_subject(clusters: Sequence[dict[str, Any]], number: int) -> Subject:
    """A cluster, in the colour of the world that it stands for, where that is known."""
    task = clusters[number]["task"] if number < len(clusters) else -1
    name = cluster_name(number) + stands_for(clusters, number)
    return Subject(name, role="cluster" if task < 0 else "world", number=number if task < 0 else task)


def stands_for(clusters: Sequence[dict[str, Any]], number: int) -> str:
    """The world that a cluster stands for, in brackets; empty where nobody knows it."""
    known = number < len(clusters) and clusters[number]["task"] >= 0
    return f" ({world_name(clusters[number]['task'])})" if known else ""


def world_name(task: int) -> str:
    """What the page calls a world."""
    return f"m{task + 1}" if task >= 0 else "unknown world"


def cluster_name(number: int) -> str:
    """What the page calls a cluster."""
    return f"c{number + 1}" if number >= 0 else "none"

"""Charts of one run of one agent: its episodes, the distances between its clusters, errors of what it learned.

Worlds are called m1, m2, ... and clusters c1, c2, ...; files count both from 0.  Episodes are numbered from 1, those
that do not count up to 0.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from aomultirl.experiments.history import History
from aomultirl.reports.page import data, phrases
from aomultirl.reports.page.charts import Chart, episode_axis
from aomultirl.reports.page.data import Group, Run

MOST_EPISODES = 1_000
"""Episodes of a timeline."""
MOST_CLUSTERS = 40
WITH_NUMBERS = 12
"""Clusters up to which a matrix has room for numbers."""

# Paul Tol's muted scheme, so that nobody takes the colour of a world for that of an agent.
COLOURS = ("#332288", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#882255", "#44AA99", "#999933")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
UNKNOWN = "#777777"
MARKS = {
    "new cluster": {"symbol": "circle-open", "size": 17, "color": "#111111", "line": {"width": 1.6}},
    "failed exploration": {"symbol": "triangle-down-open", "size": 16, "color": "#B35900", "line": {"width": 2.2}},
    "abstained": {"symbol": "square-open", "size": 13, "color": "#5b5f66", "line": {"width": 1.2}},
    "misclustered": {"symbol": "x-thin-open", "size": 16, "color": "#C00000", "line": {"width": 3.2}},
    "certified": {"symbol": "line-ns-open", "size": 15, "color": "#111111", "line": {"width": 1}},
}


def timeline(groups: Sequence[Group], shown: Sequence[int]) -> Chart:
    """A marker an episode: the world by colour and shape, the cluster by height, and what went wrong."""
    most = max(int(history["cluster"].max()) for one in groups for history in one.runs.values()) + 1
    layout = {
        "height": 340,
        "hovermode": "closest",
        "xaxis": episode_axis("episode", groups),
        "yaxis": {
            "title": {"text": "cluster assigned"},
            "type": "category",
            "autorange": "reversed",
            "categoryorder": "array",
            "categoryarray": [cluster_name(number) for number in range(-1, most)],
        },
        "showlegend": True,
    }
    return _detail("timeline", layout, groups, shown, _episodes)


def distances(groups: Sequence[Group], shown: Sequence[int]) -> Chart | None:
    """The matrix of distances between clusters; None where no agent has two of them."""
    if not any(len(h.about.get("distances") or ()) > 1 for one in groups for h in one.runs.values()):
        return None
    layout = {
        "height": 380,
        "xaxis": {"type": "category", "constrain": "domain", "showgrid": False},
        "yaxis": {"type": "category", "autorange": "reversed", "scaleanchor": "x", "constrain": "domain"},
        "showlegend": False,
    }
    return _detail("distances", layout, groups, shown, _matrix)


def errors(groups: Sequence[Group], shown: Sequence[int]) -> Chart | None:
    """How the error of the learned transitions shrinks, by cluster; None where nobody knows it."""
    if not any(np.isfinite(_errors_of(h)).any() for one in groups for h in one.runs.values()):
        return None
    layout = {
        "height": 340,
        "hovermode": "closest",
        "xaxis": episode_axis("episode", groups),
        "yaxis": {"title": {"text": "mean error of the transitions"}, "type": "linear", "rangemode": "tozero"},
        "showlegend": True,
    }
    chart = _detail("errors", layout, groups, shown, _shrinking)
    chart["log"] = "errors-log"
    return chart


def each(groups: Sequence[Group], shown: Sequence[int]) -> Iterator[tuple[str, int, Group, Run]]:
    """(key, number, agent, run) of all that can be looked at alone; of an agent without these runs its first."""
    for number, one in enumerate(groups):
        for run in [run for run in shown if run in one.runs] or [next(iter(one.runs))]:
            yield f"{number}|{run}", number, one, one.given[run]


def _detail(
    name: str,
    layout: dict[str, Any],
    groups: Sequence[Group],
    shown: Sequence[int],
    view: Callable[[History, int], tuple[list[dict[str, Any]], str]],
) -> Chart:
    views = {}
    for key, _, one, run in each(groups, shown):
        traces, words = view(run.history, run.before)
        views[key] = {"data": traces, "words": f"{one.label}, run {run.run}: {words}"}
    return {"id": name, "keys": ["agent", "run"], "traces": [], "layout": layout, "views": views}


def _episodes(history: History, before: int) -> tuple[list[dict[str, Any]], str]:
    events = {
        "new cluster": history["new_cluster"],
        "failed exploration": ~history["exploration_ok"],
        "abstained": history["abstained"],
        "misclustered": history["misclustered"],
        "certified": history["certified"],
    }
    task, cluster = history["task"], history["cluster"]
    number = np.arange(len(history)) + 1 - before
    kept = np.zeros(len(history), np.bool_)
    kept[data.thinned(len(history), MOST_EPISODES)] = True
    for name, happened in events.items():
        if name == "certified":
            continue  # it is what usually happens
        places = np.flatnonzero(happened)
        kept[places[data.thinned(len(places), MOST_EPISODES)] if len(places) else places] = True
    rows = np.array([cluster_name(c) for c in range(-1, int(cluster.max()) + 1)])
    traces = []
    for one in np.unique(task).tolist():
        here = np.flatnonzero(kept & (task == one))
        looks = {"symbol": symbol_of(one), "size": 8, "color": colour_of(one), "line": {"width": 0.6, "color": "white"}}
        name = world_name(one) if one >= 0 else "episode"
        hover = f"episode %{{x}}: {name}, %{{y}}<extra></extra>"
        traces.append(_markers(name, number[here], rows[cluster[here] + 1], looks, hover))
    for name, happened in events.items():
        here = np.flatnonzero(kept & happened)
        if len(here):
            hover = f"episode %{{x}}: {name}<extra></extra>"
            traces.append(_markers(name, number[here], rows[cluster[here] + 1], MARKS[name], hover))
    clusters = phrases.counted(int(cluster.max()) + 1, "cluster")
    failed = phrases.counted(int(events["failed exploration"][before:].sum()), "failed exploration")
    worlds = "" if task.max() < 0 else f" of {phrases.counted(len(np.unique(task[before:])), 'world')}"
    wrong = f"{phrases.counted(int(events['misclustered'][before:].sum()), 'episode')} in a wrong cluster"
    judged = [] if task.max() < 0 else [wrong]
    few = f"; {kept[before:].sum():,} of them are drawn" if kept.sum() < len(history) else ""
    early = f"; {before:,} that do not count come before them" if before else ""
    proven, none = (int(events[name][before:].sum()) for name in ("certified", "abstained"))
    sure = [f"{proven:,} certified; {none:,} abstained"] if proven or none else []
    said = "; ".join([clusters, failed, *judged, *sure])
    return traces, f"{phrases.counted(len(history) - before, 'episode')}{worlds}{few}{early}; {said}."


def _markers(name: str, x: Any, y: Any, looks: dict[str, Any], hover: str) -> dict[str, Any]:
    base = {"type": "scatter", "mode": "markers", "name": name, "marker": looks, "hovertemplate": hover}
    return {**base, "x": data.plain(x), "y": data.plain(y)}


def _matrix(history: History, before: int) -> tuple[list[dict[str, Any]], str]:
    rows = history.about.get("distances") or []
    if len(rows) < 2:
        return [], "there are no two clusters to compare."
    table = np.asarray(rows, np.float64)[:MOST_CLUSTERS, :MOST_CLUSTERS]
    threshold = history.about.get("threshold")
    apart = table[~np.eye(len(table), dtype=np.bool_)]
    apart = apart[np.isfinite(apart)]
    clusters = history.about.get("clusters") or []
    labels = [cluster_name(i) + stands_for(clusters, i) for i in range(len(table))]
    text = [[_entry(value, i == j, threshold) for j, value in enumerate(row)] for i, row in enumerate(table)]
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": [label.replace(" ", "<br>") for label in labels],
        "y": labels,
        "z": [data.plain(row) for row in table],
        "zmin": 0,
        "zmax": 2,
        "colorscale": [[0.0, "#ffffff"], [1.0, "#00375f"]],
        "colorbar": {"orientation": "h", "y": -0.16, "yanchor": "top", "thickness": 9, "tickvals": [0, 1, 2]},
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "%{y} to<br>%{x}<br>%{z}<extra></extra>",
    }
    if len(table) <= WITH_NUMBERS:
        heat |= {"text": text, "texttemplate": "%{text}"}
    if not len(apart):
        return [heat], "the distances are not known."
    words = f"distances between clusters from {apart.min():.3f} to {apart.max():.3f}"
    if threshold is not None:
        close = int((apart < threshold).sum()) // 2
        heat["colorbar"] |= {"tickvals": [0, threshold, 2], "ticktext": ["0", f"threshold {threshold:.3g}", "2"]}
        words += f"; the threshold is {threshold:.3g}, and {phrases.counted(close, 'pair')} of clusters below it"
    return [heat], f"{words}."


def _entry(value: float, same: bool, threshold: float | None) -> str:
    if same or not np.isfinite(value):
        return "-"
    return f"{value:.2f}" + (" ⚠" if threshold is not None and value < threshold else "")


def _shrinking(history: History, before: int) -> tuple[list[dict[str, Any]], str]:
    error, cluster, task = _errors_of(history), history["cluster"], history["task"]
    known = np.isfinite(error)
    if not known.any():
        return [], "it learns no transitions."
    clusters = history.about.get("clusters") or []
    # Agents without clusters learn in every episode anew, or are told the world: then the world orders the lines.
    owner = np.where(cluster >= 0, cluster, -2 - task)
    traces = []
    for one in np.unique(owner[known]).tolist()[:MOST_CLUSTERS]:
        here = np.flatnonzero(known & (owner == one))
        here = here[data.thinned(len(here))]
        world = -2 - one if one < 0 else clusters[one]["task"] if one < len(clusters) else -1
        name = world_name(world) if one < 0 else cluster_name(one) + stands_for(clusters, one)
        looks = {"symbol": symbol_of(world if world >= 0 else max(one, 0)), "size": 6, "color": colour_of(world)}
        hover = f"{name}, episode %{{x}}: %{{y:.3g}}<extra></extra>"
        trace = _markers(name, here + 1 - before, error[here], looks, hover)
        lines = {"mode": "lines+markers", "line": {"color": colour_of(world), "width": 1.4}}
        traces.append({**trace, **lines})
    ends = np.flatnonzero(known[before:])
    if not len(ends):
        return traces, "it learns no transitions in the episodes that count."
    first, last = error[before:][ends[0]], error[before:][ends[-1]]
    return traces, f"error {first:.3g} after episode {ends[0] + 1:,}, {last:.3g} after episode {ends[-1] + 1:,}."


def _errors_of(history: History) -> data.Floats:
    return history.columns.get("estimate_error", np.full(len(history), np.nan))


def stands_for(clusters: Sequence[dict[str, Any]], number: int) -> str:
    known = number < len(clusters) and clusters[number]["task"] >= 0
    return f" ({world_name(clusters[number]['task'])})" if known else ""


def world_name(task: int) -> str:
    """What the page calls a world."""
    return f"m{task + 1}" if task >= 0 else "unknown world"


def cluster_name(number: int) -> str:
    """What the page calls a cluster."""
    return f"c{number + 1}" if number >= 0 else "none"


def colour_of(task: int) -> str:
    return COLOURS[task % len(COLOURS)] if task >= 0 else UNKNOWN


def symbol_of(task: int) -> str:
    return SYMBOLS[task % len(SYMBOLS)]

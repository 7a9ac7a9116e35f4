"""Charts that compare agents over the episodes: rewards, regret and its parts, steps spent identifying."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from aomultirl.experiments.history import History
from aomultirl.reports.page import data, phrases
from aomultirl.reports.page.data import Curves, Floats, Group

MOST_NAMED = 6
"""Agents that a sentence names."""
FEW = 12
"""Episodes up to which each has a tick."""
PARTS = {"total": "in all", "clustering": "while identifying", "learning": "while learning"}
Chart = dict[str, Any]
Measure = Callable[[History], Floats]


def rewards(groups: Sequence[Group], shown: Sequence[int]) -> Chart:
    """Average reward of an episode, since the start or of the last few."""
    evaluated = any(data.is_evaluated(one.first) for one in groups)
    what = "reward of the policy learned so far" if evaluated else "reward earned in an episode"
    measures: dict[str, Measure] = {
        "mean": lambda history: data.running_mean(data.rewards(history)),
        "recent": lambda history: data.running_mean(data.rewards(history), data.RECENT),
    }
    chart = _chart("rewards", "episodes seen", "average reward", groups, 440)
    chart["keys"] = ["measure", "run"]
    for name, measure in measures.items():
        made = [data.curves(one, measure) for one in groups]
        span = "since the start" if name == "mean" else f"of the last {data.RECENT} episodes"
        for key, view in _views(groups, made, shown, f"Average {what}, {span},").items():
            chart["views"][f"{name}|{key}"] = view
        chart["traces"] = chart["traces"] or _lines(groups, made)
    return chart


def regret(groups: Sequence[Group], shown: Sequence[int]) -> list[Chart]:
    """Cumulative exact regret and its parts, each with the theorem's bound; nothing where no world is known.

    Where nobody spends a step on identifying the world, there are no parts.
    """
    known = [one for one in groups if all(np.isfinite(h["regret"]).any() for h in one.runs.values())]
    if not known:
        return []
    charts = []
    for part, words in PARTS.items() if identifying(known) else [("total", PARTS["total"])]:
        made = [data.curves(one, _regret_of(part)) for one in known]
        if not any(np.isfinite(found.mean).any() for found in made):
            continue
        chart = _chart(f"regret-{part}", "episodes seen", f"regret {words}", groups, 340)
        chart["traces"] = _lines(known, made, numbers=[groups.index(one) for one in known])
        chart["views"] = _views(known, made, shown, f"Cumulative regret {words}")
        for one in known:
            if bounds(one):
                _add_bound(chart, one, groups.index(one), part)
        chart["log"] = "regret-log"
        chart["layout"]["showlegend"] = part == "total"
        charts.append(chart)
    return charts


def identifying(groups: Sequence[Group]) -> list[Group]:
    """The agents that spend steps on finding out which world it is."""
    return [one for one in groups if any(h["identification_steps"].any() for h in one.runs.values())]


def bounds(one: Group) -> dict[int, dict[str, Any]]:
    """The theorem's bound for every run that has one."""
    return {number: h.about["bound"] for number, h in one.runs.items() if h.about.get("bound")}


def steps(groups: Sequence[Group], shown: Sequence[int]) -> Chart | None:
    """Steps spent identifying, an episode; None where nobody identifies anything."""
    busy = identifying(groups)
    if not busy:
        return None
    made = [data.curves(one, lambda history: history["identification_steps"].astype(np.float64)) for one in busy]
    chart = _chart("steps", "episode", "steps spent identifying", groups, 340)
    chart["traces"] = _lines(busy, made, numbers=[groups.index(one) for one in busy])
    chart["views"] = _views(busy, made, shown, "Steps spent identifying in an episode", last=False)
    chart["log"] = "steps-log"
    chart["layout"]["yaxis"]["rangemode"] = "tozero"
    return chart


def regret_after(history: History, episodes: int, part: str = "total") -> float:
    """The regret of the first episodes of a run, or one of its parts."""
    return float(_regret_of(part)(history)[episodes - 1])


def _regret_of(part: str) -> Measure:
    def measure(history: History) -> Floats:
        if part == "total":
            return data.settled(np.cumsum(history["regret"]))
        learning = history.columns.get("learning_regret", np.full(len(history), np.nan))
        return data.settled(np.cumsum(learning if part == "learning" else history["regret"] - learning))

    return measure


def _chart(name: str, across: str, up: str, groups: Sequence[Group], height: int) -> Chart:
    layout: dict[str, Any] = {
        "height": height,
        "hovermode": "x unified",
        "xaxis": {**episode_axis(across, groups), "range": [0, 1.01 * max(one.episodes for one in groups)]},
        "yaxis": {"title": {"text": up}, "type": "linear"},
        "shapes": [],
        "annotations": [],
        "showlegend": True,
    }
    for begin, end, task in data.shared_stretches(groups):
        shape = {"type": "rect", "xref": "x", "yref": "paper", "x0": begin, "x1": end, "y0": 0, "y1": 1}
        layout["shapes"].append({**shape, "layer": "below", "line": {"width": 0}, "fillcolor": "rgba(90,90,90,0.08)"})
        place = {"x": (begin + end) / 2, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
        layout["annotations"].append({**place, "text": f"only m{task + 1}", "font": {"size": 11}})
    return {"id": name, "keys": ["run"], "traces": [], "layout": layout, "views": {}}


def episode_axis(title: str, groups: Sequence[Group]) -> dict[str, Any]:
    """An axis of episodes; of few of them every one has a tick, because Plotly would put some between."""
    ticks = {"tick0": 0, "dtick": 1} if max(one.episodes + one.before for one in groups) <= FEW else {}
    return {"title": {"text": title, "standoff": 8}, **ticks}


def plain_name(label: str) -> str:
    """A label as the name of a trace: Plotly takes neither markup nor templates for what they are not."""
    return escape(label, quote=False).replace("%", "&#37;")


def _lines(
    groups: Sequence[Group], made: Sequence[Curves], numbers: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """Three traces an agent: the interval's lower and upper end, and the curve."""
    traces = []
    for i, (one, found) in enumerate(zip(groups, made, strict=True)):
        agent = i if numbers is None else numbers[i]
        base = {
            "type": "scatter",
            "x": data.plain(found.places + 1),
            "connectgaps": True,
            "legendgroup": f"agent {agent}",
            "meta": {"agent": agent},
        }
        edge = {**base, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        traces.append(edge)
        traces.append({**edge, "fill": "tonexty", "fillcolor": _faint(one.look.colour)})
        traces.append(
            {
                **base,
                "mode": "lines+markers",
                "name": plain_name(one.label),
                "line": {"color": one.look.colour, "dash": one.look.dash, "width": 2},
                "marker": {
                    "symbol": one.look.symbol,
                    "size": 7,
                    "maxdisplayed": 9,
                    "color": "white",
                    "line": {"color": one.look.colour, "width": 1.6},
                },
                "hovertemplate": "%{y:,.5~g}",
            }
        )
    return traces


def _add_bound(chart: Chart, one: Group, agent: int, part: str) -> None:
    """The bound's line: the run's own where a run is shown alone, for all runs the one that holds for each of them."""
    found = bounds(one)
    most = max(found, key=lambda number: found[number]["total"][-1])
    chart["traces"].append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{plain_name(one.label)}: the theorem's bound",
            "line": {"color": one.look.colour, "dash": "2px,4px", "width": 3},
            "hovertemplate": "%{y:.3g}",
            "visible": False,
            "meta": {"agent": agent, "bound": True},
        }
    )
    for key, view in chart["views"].items():
        number = most if key == "all" else int(key)
        line: dict[str, Any] = {"x": [], "y": []}
        if number in found:
            # The theorem counts the episodes from the first, whether they count here or not.
            episodes = np.asarray(found[number]["episodes"], np.float64) - one.given[number].before
            values = np.asarray(found[number][part], np.float64)
            line = {"x": data.plain(episodes[episodes > 0]), "y": data.plain(values[episodes > 0])}
        view["data"].append(line)


def _views(
    groups: Sequence[Group], made: Sequence[Curves], shown: Sequence[int], what: str, *, last: bool = True
) -> dict[str, Any]:
    """All runs together, and each run that can be looked at alone."""
    together: list[dict[str, Any]] = []
    for found in made:
        together += [{"y": data.plain(found.low)}, {"y": data.plain(found.high)}, {"y": data.plain(found.mean)}]
    views = {"all": {"data": together, "words": _words(groups, made, what, None, last)}}
    for run in shown:
        alone: list[dict[str, Any]] = []
        for found in made:
            curve = found.runs.get(run)
            alone += [{"y": []}, {"y": []}, {"y": [] if curve is None else data.plain(curve)}]
        views[str(run)] = {"data": alone, "words": _words(groups, made, what, run, last)}
    return views


def _words(groups: Sequence[Group], made: Sequence[Curves], what: str, run: int | None, last: bool) -> str:
    """The chart in a sentence, with its key numbers, each where its curve ends."""
    parts, ends, bands, shown = [], [], False, []
    for one, found in zip(groups, made, strict=True):
        curve = found.mean if run is None else found.runs.get(run)
        if curve is None or not np.isfinite(curve).any():
            continue
        shown.append(one)
        at = int(np.flatnonzero(np.isfinite(curve))[-1])
        ends.append(int(found.places[at]) + 1)
        if not last:
            most = [phrases.number(end) for end in (np.nanmin(curve), np.nanmax(curve))]
            parts.append(f"{one.label} {' to '.join(dict.fromkeys(most))}")
            continue
        words = f"{one.label} {phrases.number(curve[at])}"
        low, high = phrases.number(found.low[at]), phrases.number(found.high[at])
        if run is None and np.isfinite(found.low[at]) and low != high:
            words += f" ({low} to {high})"
            bands |= len(parts) < MOST_NAMED
        parts.append(words)
    when = ""
    if last and len(set(ends)) == 1:
        when = f" after {phrases.counted(ends[0], 'episode')}"
    elif last:
        parts = [f"{part} after {phrases.counted(end, 'episode')}" for part, end in zip(parts, ends, strict=True)]
    if len(parts) > MOST_NAMED:
        parts[MOST_NAMED:] = [f"and {phrases.counted(len(parts) - MOST_NAMED, 'agent')} more"]
    who = _who(shown, run) + (", with 95 % intervals in brackets" if bands else "")
    cut = run is None and any(one.shared < one.episodes for one in shown)
    ending = " A mean ends where the first of its runs does." if cut else ""
    return f"{what if when else what.rstrip(',')}{when} ({who}): {'; '.join(parts) or 'nothing'}.{ending}"


def _who(groups: Sequence[Group], run: int | None) -> str:
    if run is not None:
        return f"run {run}"
    counts = {len(one.runs) for one in groups}
    if max(counts, default=1) == 1:
        return "one run" if len(groups) < 2 else "one run each"
    return f"mean over {phrases.span(counts)} runs"


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

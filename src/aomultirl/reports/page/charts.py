"""Charts that compare agents over the episodes: rewards, regret and its parts, steps spent identifying."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from aomultirl.experiments.history import History
from aomultirl.reports.page import data
from aomultirl.reports.page.data import Curves, Floats, Group

MOST_NAMED = 6
"""Agents that a sentence names."""
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
        chart["traces"] = chart["traces"] or _lines(groups, made, after=True)
    return chart


def regret(groups: Sequence[Group], shown: Sequence[int]) -> list[Chart]:
    """Cumulative exact regret and its two parts, each with the theorem's bound; nothing where no world is known."""
    known = [one for one in groups if all(np.isfinite(h["regret"]).any() for h in one.runs.values())]
    if not known:
        return []
    charts = []
    for part, words in PARTS.items():
        made = [data.curves(one, _regret_of(part)) for one in known]
        chart = _chart(f"regret-{part}", "episodes seen", f"regret {words}", groups, 340)
        chart["traces"] = _lines(known, made, after=True, numbers=[groups.index(one) for one in known])
        chart["views"] = _views(known, made, shown, f"Cumulative regret {words}")
        for one in known:
            bound = one.first.about.get("bound")
            if bound:
                chart["traces"].append(_bound(one, groups.index(one), bound["episodes"], bound[part]))
        chart["log"] = "regret-log"
        chart["layout"]["showlegend"] = part == "total"
        charts.append(chart)
    return charts


def steps(groups: Sequence[Group], shown: Sequence[int]) -> Chart | None:
    """Steps spent identifying, an episode; None where nobody identifies anything."""
    busy = [one for one in groups if any(h["identification_steps"].any() for h in one.runs.values())]
    if not busy:
        return None
    made = [data.curves(one, lambda history: history["identification_steps"].astype(np.float64)) for one in busy]
    chart = _chart("steps", "episode", "steps spent identifying", groups, 340)
    chart["traces"] = _lines(busy, made, after=False, numbers=[groups.index(one) for one in busy])
    chart["views"] = _views(busy, made, shown, "Steps spent identifying in an episode", last=False)
    chart["log"] = "steps-log"
    chart["layout"]["yaxis"]["rangemode"] = "tozero"
    return chart


def regret_total(history: History, part: str = "total") -> float:
    """The regret of a whole run, or of one of its parts."""
    return float(_regret_of(part)(history)[-1])


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
        "xaxis": {"title": {"text": across, "standoff": 8}, "range": [0, 1.01 * max(one.episodes for one in groups)]},
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


def _lines(
    groups: Sequence[Group], made: Sequence[Curves], *, after: bool, numbers: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """Three traces an agent: the interval's lower and upper end, and the curve."""
    traces = []
    for i, (one, found) in enumerate(zip(groups, made, strict=True)):
        agent = i if numbers is None else numbers[i]
        base = {
            "type": "scatter",
            "x": data.plain(found.places + 1 if after else found.places),
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
                "name": escape(one.label, quote=False),
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


def _bound(one: Group, agent: int, episodes: Sequence[float], values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": data.plain(np.asarray(episodes, np.float64)),
        "y": data.plain(np.asarray(values, np.float64)),
        "mode": "lines",
        "name": f"{escape(one.label, quote=False)}: the theorem's bound",
        "line": {"color": one.look.colour, "dash": "2px,4px", "width": 3},
        "hovertemplate": "%{y:.3g}",
        "visible": False,
        "meta": {"agent": agent, "bound": True},
    }


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
    """The chart in a sentence, with its key numbers."""
    parts = []
    for one, found in zip(groups, made, strict=True):
        curve = found.mean if run is None else found.runs.get(run)
        if curve is None or not np.isfinite(curve).any():
            continue
        if not last:
            ends = [data.number(end) for end in (np.nanmin(curve), np.nanmax(curve))]
            parts.append(f"{one.label} {' to '.join(dict.fromkeys(ends))}")
            continue
        at = int(np.flatnonzero(np.isfinite(curve))[-1])
        words = f"{one.label} {data.number(curve[at])}"
        low, high = data.number(found.low[at]), data.number(found.high[at])
        if run is None and np.isfinite(found.low[at]) and low != high:
            words += f" ({low} to {high})"
        parts.append(words)
    if len(parts) > MOST_NAMED:
        parts[MOST_NAMED:] = [f"and {data.counted(len(parts) - MOST_NAMED, 'agent')} more"]
    when = f" after {data.counted(max(one.episodes for one in groups), 'episode')}" if last else ""
    most = max(len(one.runs) for one in groups)
    who = f"run {run}" if run is not None else f"mean over {most} runs" if most > 1 else "one run"
    if run is None and last and most > 1:
        who += ", with 95 % intervals in brackets"
    return f"{what}{when} ({who}): {'; '.join(parts)}."


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

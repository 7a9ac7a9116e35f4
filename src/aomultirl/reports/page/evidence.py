"""The evidence of the episodes that an agent keeps: a line a cluster, over the steps of the episode.

Some agents keep what speaks against every cluster, with a limit beyond which it is rejected; others how much they
believe that this is one of the worlds in their memory, w1, w2, ..., or a new one.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from aomultirl import theory
from aomultirl.descriptions import text
from aomultirl.experiments.history import History
from aomultirl.mdp import ModelSet
from aomultirl.reports.page import data, phrases, settings
from aomultirl.reports.page.charts import Chart, plain_name
from aomultirl.reports.page.data import Group
from aomultirl.reports.page.details import cluster_name, colour_of, each, stands_for, symbol_of, world_name

MOST_LINES = 10
"""Clusters of a chart: those that the evidence speaks for most."""
MOST_WORK = 2_000
"""States times actions up to which the least number of steps takes no noticeable time."""
TICKS = [lead * 10**power for power in range(1, 7) for lead in (1, 2, 5)]
ROOM = 1.25
"""The limit's line goes so many times beyond the first and the last step."""
NOTHING = "no evidence of its episodes is kept."
ABOUT = """Some episodes in detail: the first ones, and the last. """
AGAINST = """The lines are the logarithm of the evidence against every cluster that was known before; at the dashed line
 a cluster is rejected. """
BELIEF = """The lines are how probable the agent finds it that this is one of the worlds in its memory, w1, w2, …, or a
 new one; it puts the episode in a cluster only on proof. """


def evidence(groups: Sequence[Group], shown: Sequence[int]) -> Chart | None:
    """A view for each kept episode; None where no agent keeps any.  ``choices`` are their names, by agent and run."""
    if not any(_kept(history) for one in groups for history in one.runs.values()):
        return None
    layout = {
        "height": 400,
        "hovermode": "closest",
        "xaxis": {
            "title": {"text": "step of the episode", "standoff": 8},
            "type": "log",
            "tickvals": TICKS,
            "ticktext": [f"{step:,}" for step in TICKS],
        },
        "yaxis": {"title": {"text": ""}, "type": "linear"},
        "showlegend": True,
    }
    views: dict[str, Any] = {}
    choices: dict[str, list[str]] = {}
    for key, _, one, run in each(groups, shown):
        who = f"{one.label}, run {run.run}: "
        found = _kept(run.history)
        choices[key] = [f"{trace['episode'] + 1 - run.before}: {_verdict(trace)}" for trace in found]
        for i, trace in enumerate(found):
            lines, axis, words = _view(run.history, trace, run.before)
            views[f"{key}|{i}"] = {"data": lines, "words": who + words, "yaxis": axis}
        if not found:
            views[f"{key}|0"] = {"data": [], "words": who + NOTHING}
    return {
        "id": "evidence",
        "keys": ["agent", "run", "kept"],
        "traces": [],
        "layout": layout,
        "views": views,
        "choices": choices,
    }


def lede(groups: Sequence[Group]) -> str:
    """What the lines are."""
    traces = [trace for one in groups for history in one.runs.values() for trace in _kept(history)]
    against, belief = (any(name in trace for trace in traces) for name in ("against", "belief"))
    return (ABOUT + AGAINST * against + BELIEF * belief).strip()


def steps_sentence(groups: Sequence[Group], worlds: Sequence[ModelSet | None]) -> str:
    """How the steps that recognition took compare with the least that any learner needs, where that is known."""
    said = []
    for one, models in zip(groups, worlds, strict=True):
        if models is None or settings.agent_of(one.first)["name"] != "SequentialAOMultiRL":
            continue
        least: dict[str, tuple[Any, str]] = {}
        taken, needed, told = [], [], ""
        for history in one.runs.values():
            given = text([settings.agent_of(history), history.about.get("episodes")])
            if given not in least:
                least[given] = _least_steps(history, models)
            bound, told = least[given]
            here = history["certified"] & (history["task"] >= 0) & (history["task"] < len(models))
            if bound is not None and here.any():
                taken.append(history["identification_steps"][here])
                needed.append(bound[history["task"][here]])
        if not taken:
            continue
        mean, bound = float(np.concatenate(taken).mean()), float(np.concatenate(needed).mean())
        if np.isfinite(bound) and bound > 0.0:
            episodes = phrases.counted(sum(map(len, taken)), "episode")
            said.append(
                f"{escape(one.label)} took {phrases.number(mean)} steps in the mean to recognise a world that it knew "
                f"({episodes}). Whoever is told {told} needs at least {phrases.number(bound)}, so this is "
                f"{mean / bound:.1f} times the bound."
            )
    return " ".join(said)


def _least_steps(history: History, models: ModelSet) -> tuple[Any, str]:
    """The bound for every world, or None, and what a learner is told for it to hold."""
    given = settings.agent_of(history)["parameters"]
    if models.n_states * models.n_actions > MOST_WORK:
        return None, ""
    try:
        failure, separation, pairs = (given[name] for name in ("failure", "separation", "distinguishing_set"))
        options: dict[str, Any] = {"failure": failure, "episodes": int(history.about.get("episodes", len(history)))}
        if separation is None or given.get("models") is not None:
            return theory.identification_lower_bound(models, **options), "all the worlds"
        told = f"only that worlds differ by {phrases.number(separation)}"
        if pairs is not None:
            told += f", at one of {phrases.counted(len(pairs), 'pair')},"
        options |= {"separation": separation, "distinguishing_set": pairs}
        return theory.identification_lower_bound(models, **options), told
    except (KeyError, SyntaxError, TypeError, ValueError):
        return None, ""


def _kept(history: History) -> list[dict[str, Any]]:
    found = (history.about.get("findings") or {}).get("evidence") or {}
    return [trace for trace in found.get("episodes") or [] if trace["steps"]]


def _verdict(trace: Mapping[str, Any]) -> str:
    """In words; certain is what was accepted or found to be new."""
    name = cluster_name(trace["cluster"])
    if trace["verdict"] == "abstained":
        return "abstained"
    return f"new cluster {name}" if trace["verdict"] == "new" else f"accepted as {name}"


def _truth(history: History, number: int) -> tuple[str, str]:
    """(where it was, whether the verdict is right), each empty where nobody knows it."""
    if number >= len(history) or history["task"][number] < 0:
        return "", ""
    wrong = bool(history["misclustered"][number])
    right = "" if history["cluster"][number] < 0 else ", which is wrong" if wrong else ", which is right"
    return f" in {world_name(int(history['task'][number]))}", right


def _view(history: History, trace: Mapping[str, Any], before: int) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """(lines, the axis up, the chart in words)."""
    where, right = _truth(history, trace["episode"])
    steps = trace["steps"]
    after = f" after {phrases.counted(steps[-1], 'step')}" if steps else ""
    said = f"episode {trace['episode'] + 1 - before}{where}: {_verdict(trace)}{after}{right}."
    if "against" in trace:
        lines, axis, words = _against(history, trace)
    else:
        lines, axis, words = _belief(trace)
    return lines, axis, f"{said} {words}"


def _against(history: History, trace: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    steps, clusters = trace["steps"], history.about.get("clusters") or []
    table = np.asarray(trace["against"], np.float64).reshape(len(steps), -1)
    axis = {"title": {"text": "ln evidence against"}}
    if not table.size:
        return [], axis, "No cluster was known yet, so there was nothing to compare with."
    limit = history.about["findings"]["evidence"].get("limit")
    chosen, few = _most(-table[-1])
    lines, parts = [], []
    for i in chosen:
        task = clusters[i]["task"] if i < len(clusters) else -1
        name = cluster_name(i) + stands_for(clusters, i)
        lines.append(_line(name, steps, table[:, i], i if task < 0 else task, ",.3~g"))
        parts.append(f"{name} {_signed(table[-1, i])}")
    words = f"In the end the ln evidence is, against {'; '.join(parts)}{few}"
    if limit is not None:
        lines.append(_limit(steps, float(limit)))
        gone = int((table[-1] >= limit).sum())
        words += f"; {gone} of {phrases.counted(table.shape[1], 'cluster')} at or above the limit of "
        words += phrases.number(limit)
    done = trace.get("certified") or []
    if done and trace["verdict"] != "new":
        words += f"; {phrases.counted(int(done[-1]), 'pair')} certified to agree"
    return lines, axis, f"{words}."


def _belief(trace: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    steps = trace["steps"]
    table = np.asarray(trace["belief"], np.float64).reshape(len(steps), -1)
    axis = {"title": {"text": "belief"}, "range": [-0.03, 1.03], "tickformat": ".0%"}
    if table.shape[1] < 2:
        return [], axis, "Nothing was in its memory yet."
    new = table.shape[1] - 1
    chosen, few = _most(table[-1])
    chosen = sorted({*chosen, new})
    names = {i: "a new world" if i == new else f"w{i + 1}" for i in chosen}
    lines = [_line(names[i], steps, table[:, i], -1 if i == new else i, ".1%") for i in chosen]
    parts = [f"{names[i]} {100.0 * table[-1, i]:.1f} %" for i in chosen]
    return lines, axis, f"In the end it believes in {'; '.join(parts)}{few}."


def _most(worth: data.Floats) -> tuple[list[int], str]:
    """The lines to draw, in their order, and what is said of the others."""
    kept = sorted(np.argsort(-worth, kind="stable")[:MOST_LINES].tolist())
    return kept, f" (and {len(worth) - len(kept):,} more)" if len(kept) < len(worth) else ""


def _line(name: str, steps: Sequence[int], values: data.Floats, looks: int, form: str) -> dict[str, Any]:
    colour = colour_of(looks)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain_name(name),
        "x": list(steps),
        "y": data.plain(values),
        "line": {"color": colour, "width": 2, **({"dash": "dot"} if looks < 0 else {})},
        "marker": {"symbol": symbol_of(max(looks, 0)) if looks >= 0 else "circle-open", "size": 8, "color": colour},
        "hovertemplate": f"{plain_name(name)}, step %{{x:,}}: %{{y:{form}}}<extra></extra>",
    }


def _limit(steps: Sequence[int], limit: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"limit {phrases.number(limit)}: rejected",
        "x": data.plain([steps[0] / ROOM, steps[-1] * ROOM]),
        "y": data.plain([limit, limit]),
        "line": {"color": "#111111", "dash": "dash", "width": 1.6},
        "hoverinfo": "skip",
    }


def _signed(value: float) -> str:
    return phrases.number(float(value)).replace("-", "\u2212")

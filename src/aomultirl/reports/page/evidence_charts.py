"""The evidence of the episodes that an agent keeps: a line a cluster, over the steps of the episode.

Some agents keep what speaks against every cluster, with a limit beyond which it is rejected; others how much they
believe that this is one of the worlds in their memory, w1, w2, ..., as they name them, or a new one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aomultirl import descriptions, theory
from aomultirl.analysis.charts import Chart, Series, Subject
from aomultirl.analysis.phrases import belief, believed_world, counted, number
from aomultirl.experiments.history import History
from aomultirl.model_set import ModelSet
from aomultirl.reports.charts_plotly import PageChart, page_chart
from aomultirl.reports.looks import event
from aomultirl.reports.page.episode_curves import Floats
from aomultirl.reports.page.groups import Group, each
from aomultirl.reports.page.run_charts import NOT_PROVEN, cluster_name, cluster_subject, world_name
from aomultirl.reports.page.run_origin import agent_of
from aomultirl.reports.wording import signed

MOST_LINES = 10
"""Clusters of a chart: those that the evidence speaks for most."""
MOST_WORK = 2_000
"""States times actions up to which the least number of steps takes no noticeable time."""
TICKS = {lead * 10.0**power: f"{lead * 10**power:,}" for power in range(1, 7) for lead in (1, 2, 5)}
ROOM = 1.25
"""The limit's line goes so many times beyond the first and the last step."""
NOTHING = "no evidence of its episodes is kept."
NEW = "a new world"
Trace = Mapping[str, Any]


def evidence(groups: Sequence[Group], shown: Sequence[int]) -> PageChart | None:
    """A view for each kept episode; None where no agent keeps any.  ``choices`` are their names, by agent and run."""
    if not any(kept(history) for one in groups for history in one.runs.values()):
        return None
    base = Chart("evidence", "Evidence", "step of the episode", "", (), log_x=True, log_y=False, x_ticks=TICKS)
    views: dict[str, Chart] = {}
    choices: dict[str, list[str]] = {}
    for key, one, run in each(groups, shown):
        who = f"{one.label}, run {run.run}: "
        traces = kept(run.history)
        choices[key] = [f"{trace['episode'] + 1 - run.before}: {_verdict(run.history, trace)}" for trace in traces]
        for i, trace in enumerate(traces):
            view = _against(base, run.history, trace) if "against" in trace else _belief(base, trace)
            said = _said(run.history, trace, run.before)
            views[f"{key}|{i}"] = view._replace(words=f"{who}{said} {view.words}")
        if not traces:
            views[f"{key}|0"] = base._replace(words=who + NOTHING)
    return {**page_chart(views, height=400, keys=["agent", "run", "kept"]), "choices": choices}


def kept(history: History) -> list[dict[str, Any]]:
    """The traces of evidence that a history holds."""
    found = (history.about.get("findings") or {}).get("evidence") or {}
    return [trace for trace in found.get("episodes") or [] if trace["steps"]]


def _verdict(history: History, trace: Trace) -> str:
    """In words; certain is what was accepted or found to be new, and what was only believed says so."""
    name, episode = cluster_name(trace["cluster"]), trace["episode"]
    if trace["verdict"] == "abstained":
        taken = episode < len(history) and history.believed_only[episode]
        return f"taken for {believed_world(int(history['taken_for'][episode]))}, {NOT_PROVEN}" if taken else NOT_PROVEN
    return f"new cluster {name}" if trace["verdict"] == "new" else f"accepted as {name}"


def _said(history: History, trace: Trace, before: int) -> str:
    """The episode, the verdict, and whether it is right where that is known."""
    episode = trace["episode"]
    known = episode < len(history) and history["task"][episode] >= 0
    where = f" in {world_name(int(history['task'][episode]))}" if known else ""
    right = ""
    if known and history["cluster"][episode] >= 0:
        right = ", which is wrong" if history["misclustered"][episode] else ", which is right"
    after = f" after {counted(trace['steps'][-1], 'step')}"
    return f"episode {episode + 1 - before}{where}: {_verdict(history, trace)}{after}{right}."


def _against(base: Chart, history: History, trace: Trace) -> Chart:
    base = base._replace(y="ln evidence against")
    steps, clusters = trace["steps"], history.about.get("clusters") or []
    table = np.asarray(trace["against"], np.float64).reshape(len(steps), -1)
    if not table.size:
        return base._replace(words="No cluster was known yet, so there was nothing to compare with.")
    limit = history.about["findings"]["evidence"].get("limit")
    chosen, few = _most(-table[-1])
    series, parts = [], []
    for i in chosen:
        subject = cluster_subject(clusters, i)._replace(role="world")
        series.append(Series(subject.name, steps, table[:, i].tolist(), subject=subject))
        parts.append(f"{subject.name} {signed(table[-1, i])}")
    words = f"In the end the ln evidence is, against {'; '.join(parts)}{few}"
    if limit is not None:
        ends = [steps[0] / ROOM, steps[-1] * ROOM]
        series.append(Series(f"limit {number(limit)}: rejected", ends, [float(limit)] * 2, kind="theory"))
        gone = int((table[-1] >= limit).sum())
        words += f"; {gone} of {counted(table.shape[1], 'cluster')} at or above the limit of {number(limit)}"
    done = trace.get("certified") or []
    if done and trace["verdict"] != "new":
        words += f"; {counted(int(done[-1]), 'pair')} certified to agree"
    return base._replace(series=series, words=f"{words}.")


def _belief(base: Chart, trace: Trace) -> Chart:
    base = base._replace(y="belief", y_range=(-0.03, 1.03), as_share=True)
    table = np.asarray(trace["belief"], np.float64).reshape(len(trace["steps"]), -1)
    if table.shape[1] < 2:
        return base._replace(words="Nothing was in its memory yet.")
    new = table.shape[1] - 1
    names = trace.get("worlds") or range(new)  # without names, in older files, worlds go by their places in memory
    chosen, few = _most(table[-1])
    series, parts = [], []
    for i in sorted({*chosen, new}):
        subject = event(NEW) if i == new else Subject(believed_world(names[i]), role="world", number=names[i])
        series.append(Series(subject.name, trace["steps"], table[:, i].tolist(), subject=subject))
        parts.append(f"{subject.name} {belief(table[-1, i])}")
    return base._replace(series=series, words=f"In the end it believes in {'; '.join(parts)}{few}.")


def _most(worth: Floats) -> tuple[list[int], str]:
    """The lines to draw, in their order, and what is said of the others."""
    chosen = sorted(np.argsort(-worth, kind="stable")[:MOST_LINES].tolist())
    return chosen, f" (and {len(worth) - len(chosen):,} more)" if len(chosen) < len(worth) else ""


class Recognition(NamedTuple):
    """How long an agent took to recognise worlds that it knew.

    label
        of the agent.
    steps
        that it took, in the mean over ``episodes``.
    least
        that anyone needs who is told as much, in the mean over the same episodes.
    episodes
        in which it recognised a world for certain.
    told
        what a learner is told for this to hold, in words.
    """

    label: str
    steps: float
    least: float
    episodes: int
    told: str


def recognitions(groups: Sequence[Group], worlds: Sequence[ModelSet | None]) -> list[Recognition]:
    """For agents that recognise worlds for certain, how long that took, where the least anyone needs is known."""
    found = []
    for one, models in zip(groups, worlds, strict=True):
        if models is None or agent_of(one.first)["name"] != "SequentialAOMultiRL":
            continue
        taken, needed, told = [], [], ""
        bounds: dict[str, tuple[Any, str]] = {}
        for history in one.runs.values():
            key = descriptions.text([agent_of(history), history.about.get("episodes")])
            if key not in bounds:
                bounds[key] = _least_steps(history, models)
            bound, told = bounds[key]
            here = history["certified"] & (history["task"] >= 0) & (history["task"] < len(models))
            if bound is not None and here.any():
                taken.append(history["identification_steps"][here])
                needed.append(bound[history["task"][here]])
        if taken:
            steps, least = (float(np.concatenate(values).mean()) for values in (taken, needed))
            if np.isfinite(least) and least > 0.0:
                found.append(Recognition(one.label, steps, least, sum(map(len, taken)), told))
    return found


def _least_steps(history: History, models: ModelSet) -> tuple[Any, str]:
    """The bound for every world, or None, and what a learner is told for it to hold."""
    given = agent_of(history)["parameters"]
    if models.n_states * models.n_actions > MOST_WORK:
        return None, ""
    try:
        failure, separation, pairs = (given[name] for name in ("failure", "separation", "distinguishing_set"))
        options: dict[str, Any] = {"failure": failure, "episodes": int(history.about.get("episodes", len(history)))}
        if separation is None or given.get("models") is not None:
            return theory.identification_lower_bound(models, **options), "all the worlds"
        told = f"only that worlds differ by {number(separation)}"
        if pairs is not None:
            told += f", at one of {counted(len(pairs), 'pair')},"
        options |= {"separation": separation, "distinguishing_set": pairs}
        return theory.identification_lower_bound(models, **options), told
    except (KeyError, TypeError, ValueError):
        return None, ""

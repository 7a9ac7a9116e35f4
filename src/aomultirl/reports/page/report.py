"""The report page: what its template is told, section by section."""

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import files
from aomultirl.analysis.believed_worlds import has_beliefs
from aomultirl.experiments.history import History
from aomultirl.model_set import ModelSet
from aomultirl.reports.claims_table import claim_row
from aomultirl.reports.page import (
    agent_summaries,
    belief_charts,
    comparison_charts,
    evidence_charts,
    glance,
    policy_maps,
    run_charts,
)
from aomultirl.reports.page.episode_curves import RECENT, is_evaluated
from aomultirl.reports.page.groups import Group, Run, as_runs, group, shown_runs
from aomultirl.reports.page.rendering import render
from aomultirl.reports.page.run_origin import world_call
from aomultirl.reports.page.sweep_section import Sweep, section
from aomultirl.reports.premises_table import premises_table
from aomultirl.worlds import catalogue

PACKAGES = ("numpy", "scipy", "numba", "plotly")
"""The packages whose versions the page states."""


@np.errstate(all="ignore")  # numbers that overflow, or are none, become gaps in the charts
def make_page(
    runs: History | Sequence[Run | History],
    models: ModelSet | None = None,
    title: str | None = None,
    *,
    claims: Sequence[Mapping[str, Any]] | None = None,
    caption: str | None = None,
    command: str | None = None,
    sweep: Sweep | None = None,
) -> str:
    """The whole page, as HTML that loads nothing from anywhere.

    Parameters
    ----------
    runs
        a history, or several; each alone, or as a :class:`Run` with its agent's label and its number.
    models
        the worlds; by default they are made again from what the histories say, where they say it.
    claims
        a table: mappings with ``claim``, ``place``, ``predicted``, ``measured``, ``holds`` (None: open), ``reason``.
    caption
        a sentence below the curves.
    command
        what to type to run it all again.
    sweep
        what these runs are part of, or all of.
    """
    groups = group(as_runs(runs))
    worlds = _worlds(groups, models)
    shown = shown_runs(groups)
    maps = policy_maps.maps(groups, shown, worlds)
    whole = None if sweep is None else section(sweep)
    charts: dict[str, Any] = {
        "sweep": [] if whole is None else whole["charts"],
        "rewards": comparison_charts.rewards(groups, shown, per_step=glance.per_step(groups)),
        "metric": comparison_charts.metric(groups, shown),
        "regret": comparison_charts.regret(groups, shown),
        "timeline": [run_charts.timeline(groups, shown)],
        "beliefs": belief_charts.beliefs(groups, shown),
        "steps": comparison_charts.steps(groups, shown),
        "evidence": [evidence_charts.evidence(groups, shown)],
        "distances": [run_charts.distances(groups, shown)],
        "errors": [run_charts.errors(groups, shown)],
    }
    charts = {name: [chart for chart in drawn if chart] for name, drawn in charts.items()}
    data = {
        "agents": [_agent(one, shown) for one in groups],
        "charts": [chart for drawn in charts.values() for chart in drawn],
        "maps": maps,
    }
    return render(
        "report.html",
        given_title=title,
        data=data,
        charts=charts,
        sweep=whole,
        has_maps=maps is not None,
        claims=list(map(claim_row, claims or ())),
        caption=caption,
        command=command,
        **_of_agents(groups, shown),
        **_of_worlds(groups, worlds),
    )


def write_page(
    path: str | Path, runs: History | Sequence[Run | History], models: ModelSet | None = None, **options: Any
) -> None:
    """Write the page, whole or not at all; the options are those of :func:`make_page`."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    files.write_whole(path, make_page(runs, models, **options))


def _of_agents(groups: Sequence[Group], shown: Sequence[int]) -> dict[str, Any]:
    """What the template is told of the agents."""
    histories = [history for one in groups for history in one.runs.values()]
    numbers = {run for one in groups for run in one.runs}
    known = [one for one in groups if np.isfinite(one.first["regret"]).any()]
    made_with = [f"Python {platform.python_version()}", *(f"{name} {metadata.version(name)}" for name in PACKAGES)]
    return {
        "groups": groups,
        "histories": histories,
        "recent": RECENT,
        "several_runs": len(histories) > len(groups),
        "run_choices": {"all": f"all {len(numbers)}", **{str(run): f"run {run}" for run in shown}},
        "agent_choices": {str(one.number): one.label for one in groups},
        "runs_left": len(numbers) - len(shown),
        "first_in_detail": next((one.number for one in groups if _recognises(one.first)), 0),
        "glance": glance.glance(groups),
        "per_step": glance.per_step(groups),
        "identifying": bool(comparison_charts.identifying(known)),
        "beliefs": belief_charts.summaries(groups),
        "unjudged": [one.label for one in groups if not is_evaluated(one.first)],
        "known_worlds": {bool(history["task"].max() >= 0) for history in histories},
        "bounds": agent_summaries.regret_bounds(groups),
        "premises": premises_table({one.label: one.runs.values() for one in groups}),
        "unequal_steps": glance.unequal_steps(known) if glance.per_step(known) else {},
        "coincide": agent_summaries.coincide(known),
        "evidence_kinds": {kind for history in histories for trace in evidence_charts.kept(history) for kind in trace},
        "origin_rows": agent_summaries.origin_rows,
        "ran_with": sorted({str(history.about.get("version", "unknown")) for history in histories}),
        "made_with": made_with,
        "alike": agent_summaries.alike,
        "agent_call": agent_summaries.agent_call,
        "seeds": agent_summaries.seeds,
    }


def _of_worlds(groups: Sequence[Group], worlds: Sequence[ModelSet | None]) -> dict[str, Any]:
    """What the template is told of the worlds; those that are shared are told once."""
    different = [models for i, models in enumerate(worlds) if models is not None and models not in worlds[:i]]
    told = []
    for models in different:
        mine = [one for one, its in zip(groups, worlds, strict=True) if its is models]
        name = mine[0].setting.world
        title = f"The worlds of {world_call(name)}" if name and len(different) > 1 else "The worlds"
        tables = agent_summaries.world_tables(models, mine, title)
        told.append({"title": title, "models": models, "tables": tables})
    left = {one.setting.world for one, models in zip(groups, worlds, strict=True) if models is None}
    return {
        "worlds": told,
        "worlds_left": [world_call(name) for name in sorted(filter(None, left))],
        "recognitions": evidence_charts.recognitions(groups, worlds),
    }


def _recognises(history: History) -> bool:
    """Whether the agent put an episode in a cluster, or took one for a world."""
    return bool(history["cluster"].max() >= 0) or has_beliefs(history)


def _agent(one: Group, shown: Sequence[int]) -> dict[str, Any]:
    runs = [str(run) for run in shown if run in one.runs] or [str(next(iter(one.runs)))]
    return {"label": one.label, "runs": runs}


def _worlds(groups: Sequence[Group], given: ModelSet | None) -> list[ModelSet | None]:
    """The worlds of every group: those given, or made again, where they can be; groups of the same share them."""
    keys = [one.setting.world for one in groups]
    if given is not None and len(set(keys)) == 1:
        return [given for _ in groups]
    made: dict[Any, ModelSet | None] = {None: None}
    for one, key in zip(groups, keys, strict=True):
        if key not in made:
            world = one.first.about["world"]
            made[key] = given if given is not None and given.origin == world else catalogue.make_again(world)
    return [made[key] for key in keys]

"""Put the page together: its charts, and the sections that show them."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import files
from aomultirl.experiments.history import History
from aomultirl.mdp import ModelSet
from aomultirl.reports import claims_table
from aomultirl.reports.page import charts, data, details, evidence, heading, maps, markup, settings, sweeping, text
from aomultirl.reports.page.data import Group, Run
from aomultirl.reports.page.frame import Section, frame
from aomultirl.reports.page.script import script
from aomultirl.worlds import catalogue

MAPS = """<p>The first action of the policy learned in every cluster, beside the optimal ones. Hatched cells with a
cross are those where the learned action is not optimal; of actions that are equally good any will do.</p>
<p class="key"><span>★ reward</span><span>○ start</span><span>→ action</span><span>• at random</span><span>▨ not
optimal</span></p><div id="maps"></div><p class="reading" id="maps-words" aria-live="polite"></p>"""


@np.errstate(all="ignore")  # numbers that overflow, or are none, become gaps in the charts
def make_page(
    runs: History | Sequence[Run | History],
    models: ModelSet | None = None,
    title: str | None = None,
    *,
    claims: Sequence[Mapping[str, Any]] | None = None,
    caption: str | None = None,
    command: str | None = None,
    sweep: sweeping.Sweep | None = None,
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
    groups = data.group(data.as_runs(runs))
    worlds = _worlds(groups, models)
    shown = data.shown_runs(groups)
    grids = maps.maps(groups, shown, worlds)
    drawn, content = _contents(groups, worlds, shown, caption)
    if sweep is not None:
        whole, before = sweeping.sections(sweep)
        drawn, content = [*whole, *drawn], [*before, *content]
    if grids:
        content.append(("policies", "Learned and optimal policies", MAPS))
    sections = [*content, *_ending(groups, worlds, claims, command)]
    return frame(
        title or heading.title(groups),
        heading.subtitle(groups) if sweep is None else sweeping.subtitle(sweep.board),
        sections,
        drawn,
        toolbar=_toolbar(groups, shown),
        agents=_agents(groups, shown),
        maps=grids,
    )


def write_page(
    path: str | Path, runs: History | Sequence[Run | History], models: ModelSet | None = None, **options: Any
) -> None:
    """Write the page, whole or not at all; the options are those of :func:`make_page`."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    files.write_whole(path, make_page(runs, models, **options))


def _contents(
    groups: Sequence[Group], worlds: Sequence[ModelSet | None], shown: Sequence[int], caption: str | None
) -> tuple[list[charts.Chart], list[Section]]:
    """The charts, and the sections that show them; what has no data has no section."""
    drawn: list[charts.Chart] = []
    sections: list[Section] = [("glance", "At a glance", text.glance(groups))]

    def add(name: str, heading: str, lede: str, controls: str, *made: charts.Chart, below: str = "") -> None:
        drawn.extend(made)
        figures = "".join(markup.figure(chart) for chart in made)
        frame = f'<div class="several">{figures}</div>' if len(made) > 1 else figures
        sections.append((name, heading, f"<p>{lede}</p>{controls}{frame}{below}"))

    band = " The band is a 95 % bootstrap interval over runs." if any(len(one.runs) > 1 for one in groups) else ""
    judged = [data.is_evaluated(one.first) for one in groups]
    what = (
        "After every episode the policy learned so far is followed once more from the start, without exploring."
        if any(judged)
        else "Nobody judged these episodes; this is the reward that was earned in them."
    )
    if any(judged) and not all(judged):
        what += " Where nobody judged an agent's episodes, its curve is the reward that was earned in them."
    below = "" if caption is None else f"<p>{escape(caption)}</p>"
    measure = markup.select(
        "measure", "Average", {"mean": "since the start", "recent": f"of the last {data.RECENT} episodes"}
    )
    add("rewards", "Reward", what + band, markup.controls(measure), charts.rewards(groups, shown), below=below)
    regret = charts.regret(groups, shown)
    if regret:
        said = text.bound_sentence(groups)
        boxes = [markup.box("regret-log", "logarithmic axis")]
        if said:
            boxes.append(markup.box("bound", "the theorem's bound", checked=not said[1], far=said[1]))
        lede = (
            "What an agent that knows every world would have earned more, exact given the clustering phase, summed "
            "over the episodes."
        )
        if len(regret) > 1:
            lede += " It splits into what was lost while identifying the world and while learning in it."
        known = [one for one in groups if np.isfinite(one.first["regret"]).any()]
        lede = " ".join(filter(None, [lede, text.comparison_sentence(known), said[0] if said else ""]))
        add("regret", "Regret", lede, markup.controls(*boxes), *regret)
    add("timeline", "Episode by episode", _timeline_words(groups), "", details.timeline(groups, shown))
    steps = charts.steps(groups, shown)
    if steps:
        lede = "How many steps of every episode went into finding out which world it is."
        lede = " ".join(filter(None, [lede, evidence.steps_sentence(groups, worlds)]))
        add(
            "steps",
            "Steps spent identifying",
            lede,
            markup.controls(markup.box("steps-log", "logarithmic axis")),
            steps,
        )
    kept = evidence.evidence(groups, shown)
    if kept:
        names = next(filter(None, kept["choices"].values()))
        choice = markup.select("kept", "Episode", {str(i): name for i, name in enumerate(names)}, str(len(names) - 1))
        add("evidence", "Evidence in an episode", evidence.lede(groups), markup.controls(choice), kept)
    distances = details.distances(groups, shown)
    if distances:
        lede = (
            "The largest l1 distance between what two clusters say of a pair, over the pairs that the agent compares. "
            "⚠ marks clusters closer than the threshold, which tells worlds apart."
        )
        add("distances", "Distances between clusters", lede, "", distances)
    errors = details.errors(groups, shown)
    if errors:
        lede = (
            "The l1 distance between the learned and the true transitions, averaged over all pairs; a pair that was "
            "never visited counts 1."
        )
        add("errors", "What was learned", lede, markup.controls(markup.box("errors-log", "logarithmic axis")), errors)
    return drawn, sections


def _timeline_words(groups: Sequence[Group]) -> str:
    known = [bool(history["task"].max() >= 0) for one in groups for history in one.runs.values()]
    where = "" if all(known) else ", where it is known"
    colour = f"Colour and shape are the true world{where}. " if any(known) else "Nobody knows the true worlds. "
    return f"Every marker is an episode. {colour}The row is the cluster it was put in, if in any."


def _ending(
    groups: Sequence[Group],
    worlds: Sequence[ModelSet | None],
    claims: Sequence[Mapping[str, Any]] | None,
    command: str | None,
) -> list[Section]:
    sections: list[Section] = []
    if claims:
        sections.append(("claims", "Claims", claims_table.claims_html(claims)))
    different = [models for i, models in enumerate(worlds) if models is not None and models not in worlds[:i]]
    found = ""
    for models in different:
        mine = [one for one, its in zip(groups, worlds, strict=True) if its is models]
        histories = [history for one in mine for history in one.runs.values()]
        name = mine[0].setting.world
        title = f"The worlds of {settings.world_call(name)}" if name and len(different) > 1 else "The worlds"
        found += text.geometry(models, histories, title)
    found += _not_made(groups, worlds)
    if found:
        sections.append(("worlds", "The worlds and the paper's assumptions", found))
    typed = (
        ""
        if command is None
        else f"<p>In a terminal:</p>{markup.block(command, 'Command to run it again')}<p>Or in Python:</p>"
    )
    again = text.parameters(groups) + text.versions(groups) + typed + script(groups)
    return [*sections, ("again", "Run it again", again)]


def _toolbar(groups: Sequence[Group], shown: Sequence[int]) -> str:
    """What all charts react to."""
    first = next((i for i, one in enumerate(groups) if one.first["cluster"].max() >= 0), 0)
    every = sum(len(one.runs) for one in groups)
    parts = []
    if every > len(groups):
        numbers = {number for one in groups for number in one.runs}
        parts.append(
            markup.select("run", "Runs", {"all": f"all {len(numbers)}", **{str(run): f"run {run}" for run in shown}})
        )
    if len(groups) > 1:
        names = {str(i): one.label for i, one in enumerate(groups)}
        parts.append(markup.select("agent", "In detail", names, chosen=str(first)))
        boxes = "".join(
            f'<label class="agent"><input type="checkbox" data-agent="{i}" checked>{markup.swatch(one)}'
            f"<span>{escape(one.label)}</span></label>"
            for i, one in enumerate(groups)
        )
        parts.append(f'<fieldset class="agents"><legend>Agents</legend>{boxes}</fieldset>')
    hidden = len({number for one in groups for number in one.runs}) - len(shown)
    note = f"<p>{hidden} more runs are in the averages, but cannot be chosen alone.</p>" if hidden > 0 else ""
    return (
        f'<div class="toolbar" role="group" aria-label="What the charts show">{"".join(parts)}{note}</div>'
        if parts
        else ""
    )


def _agents(groups: Sequence[Group], shown: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {"label": one.label, "runs": [str(run) for run in shown if run in one.runs] or [str(next(iter(one.runs)))]}
        for one in groups
    ]


def _worlds(groups: Sequence[Group], given: ModelSet | None) -> list[ModelSet | None]:
    """The worlds of every group: those given, or made again, where they can be; groups of the same share them."""
    keys = [one.setting.world for one in groups]
    if given is not None and len(set(keys)) == 1:
        return [given for _ in groups]
    made: dict[Any, ModelSet | None] = {None: None}
    for one, key in zip(groups, keys, strict=True):
        if key not in made:
            world = one.first.about["world"]
            made[key] = given if given is not None and given.origin == world else _made_again(world)
    return [made[key] for key in keys]


def _made_again(world: Mapping[str, Any]) -> ModelSet | None:
    """The worlds that a file names; environments of Gymnasium are never made for it, because that runs their code."""
    try:
        if catalogue.needs_gymnasium(world["name"]):
            return None
        return catalogue.make_from_file(world["name"], world["parameters"])
    except (ImportError, OSError, ValueError):
        return None


def _not_made(groups: Sequence[Group], worlds: Sequence[ModelSet | None]) -> str:
    """A paragraph on worlds that the histories name and the page does without; empty where there are none."""
    names = {one.setting.world for one, models in zip(groups, worlds, strict=True) if models is None}
    calls = [settings.world_call(name) for name in sorted(filter(None, names))]
    if not calls:
        return ""
    said = ", ".join(markup.code(call) for call in calls)
    return (
        f"<p>Left out is what needs the worlds of {said}: a page makes no environments of Gymnasium that a file names, "
        "nor worlds that cannot be made here. In Python, hand them over as <code>models</code>.</p>"
    )

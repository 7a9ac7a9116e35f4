"""The page's tables and sentences, as HTML; every word that comes from outside is escaped here."""

import math
import platform
from collections.abc import Sequence
from html import escape
from importlib import metadata
from itertools import pairwise

import numpy as np

from aomultirl.analysis import inspection, intervals
from aomultirl.experiments.history import History
from aomultirl.mdp import ModelSet
from aomultirl.reports import inspection_table
from aomultirl.reports.page import charts, data, phrases, settings
from aomultirl.reports.page.data import Group
from aomultirl.reports.page.markup import NOTHING, SIGNS, code, swatch, table
from aomultirl.reports.page.script import seeds
from aomultirl.reports.tables import Mark, TextTable

MOST_WORK = 2_000
"""Worlds times states times actions up to which the geometry takes no noticeable time."""
VACUOUS = 10.0
"""How many times what was measured a bound must be before its line would flatten all others."""
UNEQUAL, COINCIDE = 1.01, 1.02
"""Ratios from which episodes are not equally long, and below which regrets count as equal."""
PACKAGES = ("numpy", "scipy", "numba", "plotly")


def glance(groups: Sequence[Group]) -> str:
    """One row an agent: what a reader wants to know first."""
    recently = f"last {data.RECENT} episodes"
    head = ["agent", "average reward", recently, "regret", "clusters", "misclustered", "failed explorations"]
    head += ["abstained", "runs", "episodes"]
    several = any(len(one.runs) > 1 for one in groups)
    mean = "means over its runs with 95 % bootstrap intervals" if several else "means over its runs"
    found = table(
        head, [_row(one) for one in groups], f"Every agent in numbers: {mean}, counts over all its runs", "numbers"
    )
    notes = []
    if any(one.shared < one.episodes for one in groups):
        notes.append("Where an agent's runs are not equally long, its means are of the episodes that all of them have.")
    for one in groups:
        if one.before:
            does = "do not count: they are" if one.before > 1 else "does not count: it is"
            notes.append(
                f"The first {phrases.counted(one.before, 'episode')} of {escape(one.label)} {does} numbered up to 0, "
                "and only charts of a single run show them."
            )
    return found + (f"<p>{' '.join(notes)}</p>" if notes else "")


def _row(one: Group) -> list[str]:
    histories = list(one.runs.values())
    known = [data.rewards(history)[: one.shared] for history in histories]
    known = [values for values in known if np.isfinite(values).any()]
    clusters = [int(run.history["cluster"].max()) + 1 for run in one.given.values()]
    failed = sum(int((~history["exploration_ok"]).sum()) for history in histories)
    abstained = sum(int(history["abstained"].sum()) for history in histories)
    wrong = f"{sum(history.misclustered for history in histories):,}"
    return [
        f'<span class="name">{swatch(one)}<span>{escape(one.label)}</span></span>',
        _mean([_last(data.running_mean(values)) for values in known]),
        _mean([_last(data.running_mean(values, data.RECENT)) for values in known]),
        _mean([charts.regret_after(history, one.shared) for history in histories]),
        _mean(clusters) if max(clusters) else NOTHING,
        wrong if max(clusters) and histories[0]["task"].max() >= 0 else NOTHING,
        f"{failed:,}" if max(clusters) else NOTHING,
        f"{abstained:,}" if max(clusters) or abstained else NOTHING,
        f"{len(histories)}",
        phrases.span(map(len, histories)),
    ]


def _last(values: data.Floats) -> float:
    """The last that is a number."""
    return float(values[np.isfinite(values)][-1])


def _mean(values: Sequence[float]) -> str:
    """The mean over runs, with its interval where there are several that differ."""
    if not values or not np.isfinite(values).all():
        return NOTHING
    found = intervals.over_runs(values)
    mean, low, high = (phrases.number(float(number)) for number in found)
    return mean if len(values) < 2 or low == high else f'{mean} <span class="interval">{low} to {high}</span>'


def bound_sentence(groups: Sequence[Group]) -> tuple[str, bool] | None:
    """What the theorem's bound says of each run, and whether it is so far off that its line needs a log axis."""
    words, far = [], False
    for one in groups:
        found = []
        for number, bound in charts.bounds(one).items():
            history = one.given[number].history  # whole: the theorem counts every episode
            seen = charts.regret_after(history, len(history))
            if seen > 0.0:
                found.append((float(bound["total"][-1]), float(bound["total"][-1]) / seen))
        if not found:
            continue
        far |= max(ratio for _, ratio in found) > VACUOUS
        most, ratio = (_range(values) for values in zip(*found, strict=True))
        words.append(
            f"{escape(one.label)} {most}, {ratio} times what was measured{' in a run' if len(found) > 1 else ''}"
        )
    if not words:
        return None
    said = f"The theorem's bound on the regret of all episodes of a run is, for {'; for '.join(words)}."
    return said + (" Its line is so far up that it comes with a logarithmic axis." if far else ""), far


def _range(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(phrases.number(value) for value in (min(values), max(values))))


def comparison_sentence(groups: Sequence[Group]) -> str:
    """What keeps the totals of agents from being compared, where anything does."""
    steps = [_steps(one) for one in groups]
    said = []
    if max(steps) > UNEQUAL * min(steps):
        each = "; ".join(
            f"{escape(one.label)} {phrases.number(count)}" for one, count in zip(groups, steps, strict=True)
        )
        said.append(
            f"Totals of different agents are not comparable, because their episodes are not equally long. Steps of an "
            f"episode, in the mean: {each}."
        )
    ends = [np.mean([charts.regret_after(h, one.shared, "learning") for h in one.runs.values()]) for one in groups]
    ends = sorted(end for end in ends if end > 0.0)
    if any(after < COINCIDE * before for before, after in pairwise(ends)):
        said.append(
            "Curves that coincide do not show that agents know equally much: a learner whose bonus stays above its cap "
            "acts at random while it learns."
        )
    return " ".join(said)


def _steps(one: Group) -> float:
    """Steps of an episode, in the mean."""
    counts = [(h["identification_steps"] + h["learning_steps"]).mean() for h in one.runs.values()]
    return float(np.mean(counts))


def geometry(models: ModelSet, histories: Sequence[History], title: str = "The worlds") -> str:
    """What the worlds are like, and which of the paper's assumptions hold."""
    if len(models) * models.n_states * models.n_actions > MOST_WORK:
        sizes = {"states S": models.n_states, "actions A": models.n_actions, "worlds M": len(models)}
        facts = table([], [[name, f"{size:,}"] for name, size in sizes.items()], title)
        return f"{facts}<p>{code('aomultirl inspect')} computes more of worlds this large.</p>"
    found = inspection.inspect(
        models,
        episodes=max(map(len, histories)),
        failure=_told(histories, "failure") or 0.03,
        hitting_time=_told(histories, "hitting_time"),
    )
    return "".join(map(_text_table, inspection_table.tables(found, title)))


def _text_table(shown: TextTable) -> str:
    cells = [[SIGNS[cell.good] if isinstance(cell, Mark) else escape(cell) for cell in row] for row in shown.rows]
    return table(list(shown.headings), cells, shown.title)


def _told(histories: Sequence[History], name: str) -> float | None:
    """What the first agent that was told this parameter was told."""
    for history in histories:
        try:
            value = float(history.about.get("parameters", {}).get(name, ""))
        except ValueError:
            continue
        if math.isfinite(value) and value > 0.0:
            return value
    return None


def parameters(groups: Sequence[Group]) -> str:
    """Every agent's parameters, what it was run on, what it found, and the seeds of its runs."""
    blocks = []
    for one in groups:
        about, (world, stream, noisy) = one.first.about, one.setting
        rows = [[escape(str(name)), code(value)] for name, value in about.get("parameters", {}).items()]
        rows += [["world", code(settings.world_call(world))]] if world else []
        rows += [["stream", code(stream)]] if stream else []
        rows += [["rewards", "noisy: 0 or 1"]] if noisy else []
        found = {name: value for name, value in (about.get("findings") or {}).items() if name != "evidence"}
        rows += [[f"found: {escape(str(name))}", code(value)] for name, value in found.items()]
        rows.append(["seeds, run by run", code(seeds(list(one.runs.values())))])
        inside = table([], rows, f"Parameters, findings and seeds of {one.label}")
        kind = str(about.get("agent", one.label))
        name = swatch(one) + escape(one.label) + ("" if kind == one.label else f": {code(kind)}")
        blocks.append(f"<details><summary>{name}</summary>{inside}</details>")
    return "".join(blocks)


def versions(groups: Sequence[Group]) -> str:
    """What ran it, and what made the page."""
    ran = sorted({str(h.about.get("version", "unknown")) for one in groups for h in one.runs.values()})
    made = [f"Python {platform.python_version()}", *(f"{name} {metadata.version(name)}" for name in PACKAGES)]
    return f"<p>Run with aomultirl {escape(', '.join(ran))}; the page was made with {escape(', '.join(made))}.</p>"

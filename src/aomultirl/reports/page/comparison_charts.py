"""Charts that compare agents over the episodes: rewards, regret and its parts, steps spent identifying.

Rewards of different worlds have nothing to do with each other, so that each world has a chart of its own.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from aomultirl.analysis.charts import Chart, Series, Stretch, settled
from aomultirl.analysis.intervals import in_words
from aomultirl.experiments.history import History
from aomultirl.reports.charts_plotly import PageChart, page_chart
from aomultirl.reports.page import episode_curves
from aomultirl.reports.page.episode_curves import RECENT, Curves, Floats, Measure, curves
from aomultirl.reports.page.groups import Group, shared_stretches
from aomultirl.reports.page.rendering import in_a_sentence
from aomultirl.reports.premises_table import shown_bound

MOST_NAMED = 6
"""Agents that a sentence names."""
RECENTLY = (("mean", None), ("recent", RECENT))
"""Averages that can be chosen, and over how many of the last episodes each goes; None for all."""
WHEN = {"mean": "since the start", "recent": f"of the last {RECENT} episodes"}
"""What these are called."""
MOST_WORLDS = 4
"""Worlds up to which each has a chart of its own; where there are more, as in sweeps over a number, all share one."""
PARTS = {"total": "in all", "clustering": "while identifying", "learning": "while learning"}
"""Of the regret."""


def by_world(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The agents that share a chart, by what is added to its name: a list for each world, or one of all agents."""
    found: dict[Any, list[Group]] = {}
    for one in groups:
        found.setdefault(one.setting.world, []).append(one)
    if len(found) > MOST_WORLDS:
        return {"": list(groups)}
    return {f"-{place}" if place else "": mine for place, mine in enumerate(found.values())}


def rewards(groups: Sequence[Group], shown: Sequence[int], *, per_step: bool) -> list[PageChart]:
    """What was earned, an episode or a step, since the start or in the last few episodes: a chart for each world."""
    return [_rewards(f"rewards{end}", mine, shown, per_step) for end, mine in by_world(groups).items()]


def _rewards(name: str, groups: Sequence[Group], shown: Sequence[int], per_step: bool) -> PageChart:
    unit = "a step" if per_step else "an episode"
    base = _chart(name, "episodes seen", f"reward {unit}", groups)
    averages = {name: partial(episode_curves.earned, recent=recent, per_step=per_step) for name, recent in RECENTLY}
    return _averages(base, groups, averages, shown, "measure", f"Average reward earned {unit}")


def metric(groups: Sequence[Group], shown: Sequence[int]) -> list[PageChart]:
    """The paper's metric of the agents that have one, a chart for each world; nothing where nobody has."""
    return [chart for end, mine in by_world(groups).items() if (chart := _metric(f"metric{end}", mine, shown))]


def _metric(name: str, groups: Sequence[Group], shown: Sequence[int]) -> PageChart | None:
    judged = [one for one in groups if episode_curves.is_evaluated(one.first)]
    if not judged:
        return None
    base = _chart(name, "episodes seen", "the paper's metric", groups)
    averages = {name: partial(episode_curves.metric, recent=recent) for name, recent in RECENTLY}
    what = "The paper's metric: average reward of the learned policy"
    return _averages(base, judged, averages, shown, "metric", what)


def _averages(
    base: Chart, groups: Sequence[Group], averages: Mapping[str, Measure], shown: Sequence[int], key: str, what: str
) -> PageChart:
    """Views for each average and run, chosen by the control ``key``."""
    views = {}
    for name, average in averages.items():
        made = [curves(one, average) for one in groups]
        for run, view in _views(base, groups, made, shown, f"{what}, {WHEN[name]},").items():
            views[f"{name}|{run}"] = view
    toggles = [one.number for one in groups]
    return page_chart(views, height=440, keys=[key, "run"], toggles=toggles, same_series=True)


def regret(groups: Sequence[Group], shown: Sequence[int]) -> list[PageChart]:
    """Cumulative regret and its parts, each with the theorem's bound; nothing where no world is known.

    The charts of a world stand together.  Where nobody spends a step on identifying it, there are no parts.
    """
    return [chart for end, mine in by_world(groups).items() for chart in _regret(end, mine, shown)]


def _regret(end: str, groups: Sequence[Group], shown: Sequence[int]) -> list[PageChart]:
    known = [one for one in groups if all(np.isfinite(h["regret"]).any() for h in one.runs.values())]
    if not known:
        return []
    bounded = [one for one in known if bounds(one)]
    drawn = []
    for part in PARTS if identifying(known) else ["total"]:
        made = [curves(one, regret_of(part)) for one in known]
        if not any(np.isfinite(found.mean).any() for found in made):
            continue
        base = _chart(f"regret-{part}{end}", "episodes seen", f"regret {PARTS[part]}", groups)
        views = _views(base, known, made, shown, f"Cumulative regret {PARTS[part]}")
        for key, view in views.items():
            lines = [_bound(one, part, key) for one in bounded]
            views[key] = view._replace(series=[*view.series, *lines])
        toggles = [one.number for one in (*known, *bounded)]
        options: dict[str, Any] = {"legend": part == "total", "log": "regret-log", "same_series": True}
        drawn.append(page_chart(views, height=340, keys=["run"], toggles=toggles, **options))
    return drawn


def steps(groups: Sequence[Group], shown: Sequence[int]) -> list[PageChart]:
    """Steps spent identifying, an episode, a chart for each world; nothing where nobody identifies anything."""
    return [chart for end, mine in by_world(groups).items() if (chart := _steps(f"steps{end}", mine, shown))]


def _steps(name: str, groups: Sequence[Group], shown: Sequence[int]) -> PageChart | None:
    busy = identifying(groups)
    if not busy:
        return None
    made = [curves(one, lambda history: history["identification_steps"].astype(np.float64)) for one in busy]
    base = _chart(name, "episode", "steps spent identifying", groups)._replace(from_zero=True)
    views = _views(base, busy, made, shown, "Steps spent identifying in an episode", last=False)
    toggles = [one.number for one in busy]
    return page_chart(views, height=340, keys=["run"], toggles=toggles, log="steps-log", same_series=True)


def identifying(groups: Sequence[Group]) -> list[Group]:
    """The agents that spend steps on finding out which world it is."""
    return [one for one in groups if any(h["identification_steps"].any() for h in one.runs.values())]


def bounds(one: Group) -> dict[int, dict[str, Any]]:
    """The theorem's bound for every run in which it holds."""
    return {run: bound for run, history in one.runs.items() if (bound := shown_bound(history))}


def regret_after(history: History, episodes: int, part: str = "total") -> float:
    """The regret of the first episodes of a run, or one of its parts."""
    return float(regret_of(part)(history)[episodes - 1])


def regret_of(part: str) -> Measure:
    """What measures one of PARTS."""

    def measure(history: History) -> Floats:
        if part == "total":
            return settled(np.cumsum(history["regret"]))
        learning = history.columns.get("learning_regret", np.full(len(history), np.nan))
        return settled(np.cumsum(learning if part == "learning" else history["regret"] - learning))

    return measure


def _chart(name: str, x: str, y: str, groups: Sequence[Group]) -> Chart:
    """The axes that all views share."""
    longest = max(one.episodes for one in groups)
    return Chart(
        name,
        y,
        x,
        y,
        (),
        log_x=False,
        log_y=False,
        x_range=(0, 1.01 * longest),
        x_whole=True,
        phases=[Stretch(begin, end, f"only m{task + 1}") for begin, end, task in shared_stretches(groups)],
    )


def _bound(one: Group, part: str, key: str) -> Series:
    """The bound's line: the run's own where a run is shown alone, for all runs the one that holds for each of them."""
    known = bounds(one)
    run = max(known, key=lambda run: known[run]["total"][-1]) if key == "all" else int(key)
    line = Series(f"{one.label}: the theorem's bound", (), (), kind="bound", subject=one.subject)
    if run not in known:
        return line
    # The theorem counts the episodes from the first, whether they count here or not.
    episodes = np.asarray(known[run]["episodes"], np.float64) - one.given[run].before
    values = np.asarray(known[run][part], np.float64)
    return line._replace(x=episodes[episodes > 0].tolist(), y=values[episodes > 0].tolist())


def _views(
    base: Chart, groups: Sequence[Group], made: Sequence[Curves], shown: Sequence[int], what: str, *, last: bool = True
) -> dict[str, Chart]:
    """All runs together, and each run that can be looked at alone."""
    views = {}
    for run in (None, *shown):
        series = [_series(one, found, run) for one, found in zip(groups, made, strict=True)]
        words = _words(groups, made, what, run, last)
        views["all" if run is None else str(run)] = base._replace(series=series, words=words)
    return views


def _series(one: Group, found: Curves, run: int | None) -> Series:
    curve = found.mean if run is None else found.runs.get(run, np.empty(0))
    series = Series(one.label, (found.places + 1).tolist(), curve.tolist(), subject=one.subject, drawn="curve")
    return series._replace(low=found.low.tolist(), high=found.high.tolist()) if run is None else series


def _words(groups: Sequence[Group], made: Sequence[Curves], what: str, run: int | None, last: bool) -> str:
    """The chart in a sentence, with its key numbers, each where its curve ends."""
    shown = []
    for one, found in zip(groups, made, strict=True):
        curve = found.mean if run is None else found.runs.get(run)
        if curve is None or not np.isfinite(curve).any():
            continue
        at = int(np.flatnonzero(np.isfinite(curve))[-1])
        value, interval = in_words(curve[at], found.low[at], found.high[at])
        told = {"label": one.label, "runs": len(one.runs), "end": int(found.places[at]) + 1, "value": value}
        told |= {"interval": interval if run is None else "", "is_cut": one.shared < one.episodes}
        shown.append(told | {"least": np.nanmin(curve), "greatest": np.nanmax(curve)})
    return in_a_sentence("compared", shown=shown, what=what, run=run, last=last, most=MOST_NAMED)

"""From histories to the numbers that a page shows: grouped by agent, averaged, and thinned to what an eye can see."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.analysis import intervals
from aomultirl.descriptions import words
from aomultirl.experiments.history import History
from aomultirl.reports import curves_figure
from aomultirl.reports.page import settings
from aomultirl.reports.page.settings import Setting

MOST_POINTS = 250
"""Points of a curve; more than a screen tells apart only make the page heavy."""
MOST_HISTORIES = 200
"""Histories that can be looked at one by one; the averages are over all of them."""
RECENT = 20
"""Episodes of the moving average."""

Floats = NDArray[np.float64]
DASHES = ("solid", "solid", "dash", "dashdot", "dot", "longdash", "longdashdot", "8px,3px,2px,3px,2px,3px")
SYMBOLS = ("square", "circle", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")


class Run(NamedTuple):
    """A history, the label of the agent that made it, and the number of the run.

    before: how many episodes come before those that count; they are numbered up to 0, and no average has them.
    """

    agent: str
    run: int
    history: History
    before: int = 0


class Look(NamedTuple):
    """Colour, line and marker of an agent: three ways to tell curves apart, two of them without colour."""

    colour: str
    dash: str
    symbol: str


class Group(NamedTuple):
    """All runs of an agent in one setting, by their numbers.

    runs: only the episodes that count.  given: whole, as they were given.  agent: the label without the setting.
    """

    label: str
    look: Look
    runs: dict[int, History]
    given: dict[int, Run]
    agent: str

    @property
    def first(self) -> History:
        return next(iter(self.runs.values()))

    @property
    def episodes(self) -> int:
        """Of the longest run."""
        return max(map(len, self.runs.values()))

    @property
    def shared(self) -> int:
        """Episodes that all runs have: means end with them."""
        return min(map(len, self.runs.values()))

    @property
    def before(self) -> int:
        """Episodes that come before those that count."""
        return max(run.before for run in self.given.values())

    @property
    def setting(self) -> Setting:
        return settings.of(self.first)


class Curves(NamedTuple):
    """One curve a run, (R, P), at the episodes ``places``, (P,), from 0; mean, low, high: over the runs, (P,)."""

    places: NDArray[np.int64]
    runs: dict[int, Floats]
    mean: Floats
    low: Floats
    high: Floats


def as_runs(given: "History | Iterable[Run | History]") -> list[Run]:
    """Runs as they are; histories labelled by what made them, and numbered in their order."""
    items = [given] if isinstance(given, History) else list(given)
    bare = [item for item in items if isinstance(item, History)]
    names = iter(labels(bare))
    counts: dict[tuple[str, Setting], int] = {}
    runs: list[Run] = []
    for item in items:
        if isinstance(item, History):
            name = next(names)
            key = name, settings.of(item)
            counts[key] = counts.get(key, -1) + 1
            runs.append(Run(name, counts[key], item))
        else:
            runs.append(Run(*item))
    return runs


def labels(histories: Sequence[History]) -> list[str]:
    """The agent's class, with the parameters in which agents of that class differ."""
    found = []
    for history in histories:
        name, mine = (history.about["agent"][part] for part in ("name", "parameters"))
        agents = [other.about["agent"] for other in histories]
        others = [agent["parameters"] for agent in agents if agent["name"] == name]
        differing = {key: value for key, value in mine.items() if any(other.get(key) != value for other in others)}
        found.append(f"{name} ({words(differing)})" if differing else name)
    return found


def group(runs: Iterable[Run]) -> list[Group]:
    """One group for each agent and setting, in the order in which they first appear.

    Runs under one label that differ in world, stream or noise are no repetitions of each other: they become groups of
    their own, and their labels say in what they differ.
    """
    found: dict[str, dict[Setting, dict[int, Run]]] = {}
    for run in runs:
        label, number = str(run.agent), int(run.run)
        _check(run)
        mine = found.setdefault(label, {}).setdefault(settings.of(run.history), {})
        if number in mine:
            raise ValueError(f"run {number} of {label!r} is given twice")
        mine[number] = run
    if not found:
        raise ValueError("runs is empty: there is nothing to show")
    groups: list[Group] = []
    for label, parts in found.items():
        for setting, mine in parts.items():
            different = settings.differences(setting, parts)
            given = dict(sorted(mine.items()))
            counted = {number: _counted(run.history, run.before) for number, run in given.items()}
            groups.append(Group(_with(label, different), look(len(groups)), counted, given, label))
    return groups


def _check(run: Run) -> None:
    """Refuse what is no run, or has no episodes."""
    who = f"run {run.run} of {run.agent!r}"
    if not isinstance(run.history, History):
        raise ValueError(f"{who} is {run.history!r}, not a History")
    if len(run.history) == 0:
        raise ValueError(f"{who} has no episodes")
    checks.integer(f"before, of {who},", run.before, least=0, most=len(run.history) - 1)


def _with(label: str, different: str) -> str:
    """A label, and what tells it apart from others, in one pair of brackets."""
    if not different:
        return label
    return f"{label[:-1]}, {different})" if label.endswith(")") else f"{label} ({different})"


def _counted(history: History, before: int) -> History:
    """Without the episodes that come before."""
    if before == 0:
        return history
    return History({name: column[before:] for name, column in history.columns.items()}, history.about)


def look(number: int) -> Look:
    """The look of the agent with this number: the colours of the print figure, in the same order."""
    count = len(curves_figure.STYLES)
    shift = number // count
    colour = curves_figure.STYLES[number % count].colour
    return Look(colour, DASHES[(number + shift) % len(DASHES)], SYMBOLS[(number + 3 * shift) % len(SYMBOLS)])


def shown_runs(groups: Sequence[Group]) -> list[int]:
    """The numbers of the runs that can be looked at one by one."""
    numbers = sorted({number for one in groups for number in one.runs})
    return numbers[: max(1, MOST_HISTORIES // len(groups))]


def curves(one: Group, measure: Callable[[History], Floats]) -> Curves:
    """``measure(history)``, (K,), of every run, and their mean, up to where the first run ends.

    Beyond that the mean would jump with every run that ends.  The interval is a bootstrap over runs where all have a
    number.
    """
    table = np.full((len(one.runs), one.episodes), np.nan)
    for row, history in zip(table, one.runs.values(), strict=True):
        row[: len(history)] = measure(history)
    places = np.union1d(thinned(one.episodes), [one.shared - 1])
    table = table[:, places]
    known = np.isfinite(table) & (places < one.shared)
    counts = known.sum(axis=0)
    mean = np.where(counts > 0, np.where(known, table, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    low, high = np.full((2, len(places)), np.nan)
    whole = known.all(axis=0)
    if len(table) > 1 and whole.any():
        _, low[whole], high[whole] = intervals.over_runs(table[:, whole])
    return Curves(places, dict(zip(one.runs, table, strict=True)), mean, low, high)


def thinned(episodes: int, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """At most ``most`` episodes, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, episodes - 1, min(episodes, most)).round().astype(np.int64))


def rewards(history: History) -> Floats:
    """The paper's metric, an episode; where nobody evaluated anything, what was earned."""
    values: Floats = history["evaluation_reward"]
    return values if is_evaluated(history) else history["clustering_reward"] + history["learning_reward"]


def is_evaluated(history: History) -> bool:
    return bool(np.isfinite(history["evaluation_reward"]).any())


def running_mean(values: Floats, recent: int | None = None) -> Floats:
    """Mean of the numbers so far, or of those among the last ``recent`` entries; an entry that is nan stays nan."""
    known = np.isfinite(values)
    sums, counts = (np.concatenate(([0.0], np.cumsum(x))) for x in (np.where(known, values, 0.0), known))
    begin = np.zeros(len(values), np.int64)
    if recent is not None:
        begin = np.maximum(0, np.arange(1, len(values) + 1) - recent)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (sums[1:] - sums[begin]) / (counts[1:] - counts[begin])
    return np.where(known, means, np.nan)


def settled(values: Floats) -> Floats:
    """Without rounding errors around zero, which a logarithmic axis would blow up."""
    scale = float(np.nanmax(np.abs(values), initial=0.0))
    return np.where(np.abs(values) < 1e-9 * max(1.0, scale), 0.0, values)


def shared_stretches(groups: Sequence[Group]) -> list[tuple[int, int, int]]:
    """(first, end, task) of long stretches in which every run of every agent meets the same world, if not always."""
    if len({one.setting.world for one in groups}) > 1:
        return []
    histories = [history for one in groups for history in one.runs.values()]
    episodes = min(map(len, histories))
    tasks = np.stack([history["task"][:episodes] for history in histories])
    common = np.where((tasks == tasks[0]).all(axis=0), tasks[0], -1)
    edges = np.flatnonzero(np.diff(common)) + 1
    bounds = [0, *edges.tolist(), episodes]
    least = max(5, math.ceil(0.05 * episodes))
    return [
        (begin, end, int(common[begin]))
        for begin, end in pairwise(bounds)
        if common[begin] >= 0 and least <= end - begin < episodes
    ]


def plain(values: Any, digits: int = 5) -> list[Any]:
    """As JSON has it: rounded to so many significant digits, None for what is not a number."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return array.tolist()  # type: ignore[no-any-return]
    out: list[Any] = []
    for value in array.tolist():
        if not math.isfinite(value):
            out.append(None)
        else:
            short = float(f"{value:.{digits}g}")
            out.append(int(short) if short.is_integer() and abs(short) < 1e15 else short)
    return out

"""From histories to the numbers that a page shows: grouped by agent, averaged, and thinned to what an eye can see."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.experiments.history import History
from aomultirl.reports import curves_figure, intervals

MOST_POINTS = 250
"""Points of a curve; more than a screen tells apart only make the page heavy."""
MOST_HISTORIES = 200
"""Histories that can be looked at one by one; the averages are over all of them."""
RECENT = 20
"""Episodes of the moving average."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Floats = NDArray[np.float64]
DASHES = ("solid", "solid", "dash", "dashdot", "dot", "longdash", "longdashdot", "8px,3px,2px,3px,2px,3px")
SYMBOLS = ("square", "circle", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")


class Run(NamedTuple):
    """A history, the label of the agent that made it, and the number of the run."""

    agent: str
    run: int
    history: History


class Look(NamedTuple):
    """Colour, line and marker of an agent: three ways to tell curves apart, two of them without colour."""

    colour: str
    dash: str
    symbol: str


class Group(NamedTuple):
    """All runs of an agent, by their numbers."""

    label: str
    look: Look
    runs: dict[int, History]

    @property
    def first(self) -> History:
        return next(iter(self.runs.values()))

    @property
    def episodes(self) -> int:
        return max(map(len, self.runs.values()))


class Curves(NamedTuple):
    """One curve a run, (R, P), at the episodes ``places``, (P,); mean, low, high: over the runs, (P,)."""

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
    counts: dict[str, int] = {}
    runs: list[Run] = []
    for item in items:
        if isinstance(item, History):
            name = next(names)
            counts[name] = counts.get(name, -1) + 1
            runs.append(Run(name, counts[name], item))
        else:
            runs.append(Run(*item))
    return runs


def labels(histories: Sequence[History]) -> list[str]:
    """The agent's class, with the parameters in which agents of that class differ."""
    found = []
    for history in histories:
        name, mine = history.about["agent"], history.about["parameters"]
        others = [other.about["parameters"] for other in histories if other.about["agent"] == name]
        differing = [key for key in mine if any(other.get(key) != mine[key] for other in others)]
        found.append(f"{name} ({', '.join(f'{key}={mine[key]}' for key in differing)})" if differing else name)
    return found


def group(runs: Iterable[Run]) -> list[Group]:
    """One group an agent, in the order in which they first appear."""
    found: dict[str, dict[int, History]] = {}
    for label, number, history in runs:
        if not isinstance(history, History):
            raise ValueError(f"run {number} of {label!r} is {history!r}, not a History")
        if len(history) == 0:
            raise ValueError(f"run {number} of {label!r} has no episodes")
        if number in found.setdefault(str(label), {}):
            raise ValueError(f"run {number} of {label!r} is given twice")
        found[str(label)][int(number)] = history
    if not found:
        raise ValueError("runs is empty: there is nothing to show")
    return [Group(label, look(i), dict(sorted(mine.items()))) for i, (label, mine) in enumerate(found.items())]


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
    """``measure(history)``, (K,), of every run; the interval is a bootstrap over runs where all have a number."""
    table = np.full((len(one.runs), one.episodes), np.nan)
    for row, history in zip(table, one.runs.values(), strict=True):
        row[: len(history)] = measure(history)
    places = thinned(one.episodes)
    table = table[:, places]
    known = np.isfinite(table)
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


def number(value: float) -> str:
    """A number as a sentence has it."""
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "infinite"
    if abs(value) < 1000:
        return f"{value:.4g}"
    if abs(value) < 1e9:
        return f"{value:,.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} \u00d7 10{str(int(exponent)).translate(RAISED)}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

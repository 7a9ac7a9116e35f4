"""Numbers of every episode, as curves over the episodes: averaged over runs, and thinned to what an eye can see."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis import intervals
from aomultirl.experiments.history import History
from aomultirl.reports.page.groups import Group

MOST_POINTS = 250
"""Points of a curve; more than a screen tells apart only make the page heavy."""
RECENT = 20
"""Episodes of the moving average."""
Floats = NDArray[np.float64]
Measure = Callable[[History], Floats]


class Curves(NamedTuple):
    """What was measured of an agent.

    places
        the episodes, (P,), from 0.
    runs
        by run its values there, (P,).
    mean, low, high
        over the runs, (P,); NaN where it is not known.
    """

    places: NDArray[np.int64]
    runs: dict[int, Floats]
    mean: Floats
    low: Floats
    high: Floats


def curves(one: Group, measure: Measure) -> Curves:
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


def earned(history: History, recent: int | None = None, *, per_step: bool = False) -> Floats:
    """Mean reward, an episode or a step, that was earned in the episodes so far, or in the last ``recent`` of them."""
    means = running_mean(history.reward, recent)
    return means / running_mean(steps_of(history), recent) if per_step else means


def steps_of(history: History) -> Floats:
    """Steps of every episode."""
    return np.asarray(history["identification_steps"] + history["learning_steps"], np.float64)


def metric(history: History, recent: int | None = None) -> Floats:
    """The paper's metric, APER: mean reward of the policy learned so far, followed once more after every episode."""
    return running_mean(history["evaluation_reward"], recent)


def is_evaluated(history: History) -> bool:
    """Whether the paper's metric was recorded."""
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

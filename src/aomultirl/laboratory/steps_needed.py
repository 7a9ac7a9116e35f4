"""From episodes to steps needed: where a success curve crosses a level, and what resampled episodes say of it.

Every number comes as a row ``(1 + RESAMPLES,)``: first as measured, then from episodes drawn again with replacement, or
from Student's distribution for the mean steps of an explorer, since GOSPRL's come from few episodes.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from aomultirl.analysis.rules import Measurement
from aomultirl.laboratory.exponents import Fit, Floats
from aomultirl.laboratory.jao_trees import EXPLORE_ID, GOSPRL, NamedEpisodes, NamingTask, Tree

Curve = Sequence[tuple[int, NamedEpisodes]]
"""Episodes with ascending numbers of samples."""
RESAMPLES = 500
"""Drawn for every interval: enough for its ends to be known to a tenth of its width."""
RULES = ("threshold test", "maximum likelihood")


class Reading(NamedTuple):
    """Whose steps are read.

    explorer: who gathers the samples.
    rule: who names the world where the explorer has no rule of its own: a place in RULES.
    level: the probability of success.
    """

    explorer: str
    rule: int
    level: float

    @property
    def has_rule(self) -> bool:
        """Whether a rule must be applied to what the explorer gathers."""
        return self.explorer in (EXPLORE_ID, GOSPRL)

    def __str__(self) -> str:
        rule = f", {RULES[self.rule]}" if self.has_rule else ""
        return f"{self.explorer}{rule}, success {self.level:g}"


class StepsNeeded:
    """What all episodes say of the steps and samples that are needed, by explorer and tree.

    Parameters
    ----------
    episodes: of all tasks.
    seed: of the resampling.
    """

    def __init__(self, episodes: Mapping[NamingTask, NamedEpisodes], seed: int) -> None:
        self._episodes: dict[tuple[str, Tree], dict[int, NamedEpisodes]] = {}
        for task, seen in episodes.items():
            if task.scale == 0.0 and task.explorer in (EXPLORE_ID, GOSPRL):
                continue
            curve = self._episodes.setdefault((task.explorer, task.tree), {})
            samples = task.tree.samples(task.scale)
            curve[samples] = joined(curve[samples], seen) if samples in curve else seen
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(9,)))
        self._known: dict[tuple[Reading, Tree, str], Floats] = {}

    def samples(self, reading: Reading, tree: Tree) -> Floats:
        """N_q, with which the rule succeeds; inf where more than the largest tried is needed."""
        alone, key = reading._replace(explorer=""), "samples"
        if (alone, tree, key) not in self._known:
            curve = sorted(self._episodes[EXPLORE_ID, tree].items())
            self._known[alone, tree, key] = crossing(curve, reading.rule, reading.level, self._rng)
        return self._known[alone, tree, key]

    def needed(self, reading: Reading, tree: Tree, what: str = "steps") -> Floats:
        """Steps, or samples of left pairs (``what="left"``), until the world is named; inf where it is not."""
        if (reading, tree, what) not in self._known:
            curve = sorted(self._episodes[reading.explorer, tree].items())
            self._known[reading, tree, what] = (
                read_along(curve, what, self.samples(reading, tree), self._rng)
                if reading.has_rule
                else quantile(curve[0][1], what, reading.level, self._rng)
            )
        return self._known[reading, tree, what]


def joined(one: NamedEpisodes, other: NamedEpisodes) -> NamedEpisodes:
    """The episodes of both."""
    return NamedEpisodes(*(np.concatenate(parts, axis=-1) for parts in zip(one, other, strict=True)))


def crossing(curve: Curve, rule: int, level: float, rng: Generator) -> Floats:
    """The samples at which the rule's success first reaches ``level``, between those tried on the scale of ln N."""
    logs = np.log([samples for samples, _ in curve])
    success = np.maximum.accumulate(np.stack([_means(episodes.right[rule] * 1.0, rng) for _, episodes in curve]))
    reached = success >= level
    place = np.clip(reached.argmax(axis=0), 1, len(curve) - 1)
    columns = np.arange(success.shape[1])
    before, after = success[place - 1, columns], success[place, columns]
    share = np.clip((level - before) / np.maximum(after - before, 1e-12), 0.0, 1.0)
    samples = np.exp(logs[place - 1] + share * (logs[place] - logs[place - 1]))
    return np.where(reached.any(axis=0), samples, np.inf)


def read_along(curve: Curve, what: str, samples: Floats, rng: Generator) -> Floats:
    """The mean of ``what`` with so many samples: straight lines between those tried, and beyond; at least 1."""
    tried = np.array([float(count) for count, _ in curve])
    means = np.stack([_student(getattr(episodes, what), rng) for _, episodes in curve])
    place = np.clip(np.searchsorted(tried, samples), 1, len(curve) - 1)
    columns = np.arange(means.shape[1])
    before, after = means[place - 1, columns], means[place, columns]
    read = before + (samples - tried[place - 1]) / (tried[place] - tried[place - 1]) * (after - before)
    return np.asarray(np.maximum(read, 1.0))


def quantile(episodes: NamedEpisodes, what: str, level: float, rng: Generator) -> Floats:
    """``what`` within which a share ``level`` of the episodes was named right; inf where fewer ever are."""
    values = np.where(episodes.right[0], getattr(episodes, what), np.inf)
    drawn = np.sort(np.vstack([values, values[_draw(len(values), rng)]]), axis=1)
    return np.asarray(drawn[:, int(np.ceil(level * len(values) - 1e-9)) - 1])


def _means(values: Floats, rng: Generator) -> Floats:
    return np.concatenate([[values.mean()], values[_draw(len(values), rng)].mean(axis=1)])


def _student(values: Floats, rng: Generator) -> Floats:
    """The mean of some episodes, maybe few, and where it may lie as well: its logarithm has Student's distribution."""
    mean, count = values.mean(), len(values)
    error = values.std(ddof=1) / np.sqrt(count) / mean if count > 1 else 0.0
    return np.concatenate([[mean], mean * np.exp(error * rng.standard_t(max(1, count - 1), RESAMPLES))])


def _draw(count: int, rng: Generator) -> NDArray[np.int64]:
    return rng.integers(count, size=(RESAMPLES, count))


def line(x: Floats, rows: Floats) -> Fit:
    """The exponent of rows[i] as a function of x[i], (points, 1 + resamples), with its 95 % interval.

    Points that are not finite are left out, and so are resamples in which one of the others is not.  Raises ValueError
    where fewer than two points are left, or half of the resamples.
    """
    there = np.isfinite(rows[:, 0])
    logs, drawn = np.log(x[there]), np.log(rows[there][:, np.isfinite(rows[there]).all(axis=0)])
    if len(logs) < 2 or 2 * drawn.shape[1] < rows.shape[1]:
        raise ValueError(f"a slope needs two points that are reached, not {len(logs)} of {len(x)}")
    centred = logs - logs.mean()
    slopes = centred @ drawn / (centred @ centred)
    slope = float(slopes[0])
    low, high = np.quantile(slopes[min(1, len(slopes) - 1) :], [0.025, 0.975])
    return Fit(slope, float(low), float(high), float(drawn[:, 0].mean() - slope * logs.mean()))


def measurement(row: Floats) -> Measurement:
    """What was measured, with the 95 % interval that the resamples of a row give."""
    drawn = np.sort(row[1:])
    outside = len(drawn) // 40
    return Measurement(float(row[0]), float(drawn[outside]), float(drawn[-1 - outside]))

"""Episodes on 2-JAO trees that end when the world has been named, by whom and how.

Everybody knows all worlds of a tree, as the paper's lower bound assumes, and asks which one it is.  ExploreID and
GOSPRL gather N samples of every left action of every hub, the pairs at which worlds differ by lambda; then the paper's
threshold test names a world, and so does maximum likelihood.  :class:`SequentialAOMultiRL` stops by itself.

From episodes to steps needed: where a success curve crosses a level, and what resampled episodes say of it.  Every
number comes as a row ``(1 + RESAMPLES,)``: first as measured, then from episodes drawn again with replacement, or from
Student's distribution for the mean steps of an explorer, since GOSPRL's come from few episodes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.agents.base import NOTHING
from aomultirl.agents.sequential import SequentialAOMultiRL
from aomultirl.analysis.rules import Measurement
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.experiments.episodes import begin_in, play, simulated
from aomultirl.exploring import explore_id, gosprl
from aomultirl.laboratory.exponents import Fit, Floats
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.jao_tree import two_jao_tree

EXPLORE_ID, GOSPRL, TOLD_WORLDS, TOLD_LEVEL = "ExploreID", "GOSPRL", "sequential", "sequential, M unknown"
RULES = ("threshold test", "maximum likelihood")
THRESHOLD, LIKELIHOOD = range(len(RULES))
FAILURE = 0.1
"""p."""
EXPLORERS: dict[str, Callable[[NDArray[np.bool_], int], Any]] = {
    EXPLORE_ID: explore_id,
    GOSPRL: lambda targets, needed: gosprl(targets, needed, FAILURE),
}
"""Who gathers samples: so many of every pair of a mask, (S, A)."""
KNOWN = 2**30
"""Samples of each pair by which a world is known beforehand."""
MOST_STEPS = 10**10
"""Of an explorer: more than any takes, since it ends when it has its samples."""
PATIENCE = 40.0
"""Samples of each pair, times lambda^2, for which whoever stops by itself has time."""
RESAMPLES = 500
"""Drawn for every interval: enough for its ends to be known to a tenth of its width."""


class Tree(NamedTuple):
    """A 2-JAO tree: S, A, the paper's D, and lambda."""

    states: int
    actions: int
    diameter: float
    separation: float

    def __str__(self) -> str:
        return f"S = {self.states}, A = {self.actions}, D = {self.diameter:g}, lambda = {self.separation:g}"

    @property
    def size(self) -> float:
        """D S A / lambda^2."""
        return self.diameter * self.states * self.actions / self.separation**2

    @property
    def specials(self) -> int:
        """Left actions of a hub."""
        return (self.actions - 1) // 4

    @property
    def rows(self) -> int:
        """Q, the worlds, and the pairs that tell them apart; S A / 12 up to rounding."""
        return self.states // 3 * self.specials

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The left pairs s * A + a in the order of the worlds, (Q,)."""
        copies = np.arange(self.states // 3)[:, None]
        return np.asarray(3 * copies * self.actions + np.arange(self.specials), np.int64).ravel()

    @property
    def targets(self) -> NDArray[np.bool_]:
        """The same as a mask, (S, A)."""
        mask = np.zeros((3 * (self.states // 3), self.actions), bool)
        mask.ravel()[self.pairs] = True
        return mask

    @property
    def horizon(self) -> int:
        """H0 of one episode with the diameter in place of the hitting time, which is infinite."""
        return theory.clustering_horizon(self.states, self.rows, self.separation, self.diameter, 1, FAILURE)

    @property
    def gap(self) -> float:
        """Delta, so small that H0 steps on the right tell nothing."""
        return theory.hidden_bias(rows=self.rows, base=4.0 / self.diameter, flips=self.horizon)

    @property
    def least_samples(self) -> float:
        """Z, the paper's lower bound on samples of the left pairs, Q / (40 lambda^2), or S A / (480 lambda^2)."""
        chance = 4.0 / self.diameter
        return theory.coin_flips(rows=self.rows, bias=self.separation / 2.0, base=chance, base_bias=self.gap).first

    @property
    def least_steps(self) -> float:
        """The steps that these take, Z + (Z - 1) D / 8 in expectation."""
        return self.least_samples + max(0.0, self.least_samples - 1.0) * self.diameter / 8.0

    @property
    def leading(self) -> float:
        """The lower bound on steps but for its constant and the first sample: Q (1 + D / 8) / lambda^2."""
        return self.rows * (1.0 + self.diameter / 8.0) / self.separation**2

    def samples(self, scale: float) -> int:
        """N for each pair, ``scale`` / lambda^2."""
        return math.ceil(scale / self.separation**2 - 1e-9)


class NamedEpisodes(NamedTuple):
    """What came of R episodes.

    steps, left: steps, and samples of left pairs, (R,).
    right: which were named right, (rules, R).
    """

    steps: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.bool_]


@dataclass(frozen=True)
class NamingTask:
    """Some episodes, each in a world drawn from all.

    scale: N lambda^2; 0 for no more samples of left pairs than the lower bound has, or for who stops by itself.
    """

    explorer: str
    tree: Tree
    repetitions: int
    scale: float = 0.0

    def play(self, seed: int) -> NamedEpisodes:
        """Play the episodes."""
        draws, walks = np.random.SeedSequence(seed).spawn(2)
        specials = np.random.default_rng(draws).integers(self.tree.rows, size=self.repetitions)
        sources = streams(walks, 2 * self.repetitions).reshape(-1, 2, 4)
        rows = [self._episode(int(special), *pair) for special, pair in zip(specials, sources, strict=True)]
        steps, left, *right = zip(*rows, strict=True)
        return NamedEpisodes(np.array(steps, float), np.array(left, float), np.array(right, bool))

    def _episode(self, special: int, world: RandomStream, agent: RandomStream) -> tuple[int, ...]:
        simulator = simulated(worlds(self.tree)[special], 0, world, agent)
        if self.explorer in EXPLORERS:
            return self._explored(simulator, special)
        return self._sequential(simulator, special, agent)

    def _explored(self, simulator: Simulator, special: int) -> tuple[int, ...]:
        tree, counts = self.tree, CountTable(self.tree.targets.size)
        few = math.floor(tree.least_samples + 1e-9)
        needed = tree.samples(self.scale) if self.scale else math.ceil(few / tree.rows)
        behaviour = EXPLORERS[self.explorer](tree.targets, needed)
        steps = left = 0
        while left < few or self.scale:
            outcome = simulator.run(Phase(behaviour, MOST_STEPS if self.scale else few - left, counts, NOTHING))
            steps, left = steps + outcome.steps, int(coins(tree, counts)[1][0].sum())
            if outcome.finished:
                break
        return steps, left, by_threshold(tree, counts) == special, most_likely(tree, counts) == special

    def _sequential(self, simulator: Simulator, special: int, stream: RandomStream) -> tuple[int, ...]:
        tree, models = self.tree, worlds(self.tree)
        agent = SequentialAOMultiRL(
            FAILURE,
            math.ceil(PATIENCE * tree.rows * (1.0 + tree.diameter / 8.0) / tree.separation**2),
            tree.separation,
            [(int(pair) // tree.actions, int(pair) % tree.actions) for pair in tree.pairs],
            len(models) if self.explorer == TOLD_WORLDS else None,
            learning=False,
        )
        begin_in(agent, models, 1)
        agent.clusters = deepcopy(known(tree))
        report, ran = play(agent, simulator, 0, stream)
        flips = coins(tree, ran[0].phase.counts)[1]
        return sum(part.outcome.steps for part in ran), int(flips[0].sum()), report.cluster == special


@lru_cache(maxsize=1)
def worlds(tree: Tree) -> ModelSet:
    """All worlds of a tree."""
    return two_jao_tree(tree.states, tree.actions, tree.diameter, tree.separation, gap=tree.gap)


@lru_cache(maxsize=1)
def known(tree: Tree) -> list[CountTable]:
    """Each world as counts without any error."""
    return [_counts(model) for model in worlds(tree)]


def _counts(model: MDP) -> CountTable:
    starts, states, chances = model.successors
    table = CountTable(len(starts) - 1)
    for pair in range(len(starts) - 1):
        for i in range(starts[pair], starts[pair + 1]):
            table.count(pair, int(states[i]), round(KNOWN * chances[i]))
    return table


def coins(tree: Tree, counts: CountTable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Heads (the hub was left) and flips of the Q x 2 coins, (2, Q) each: left actions, and right ones."""
    starts, states, visits = counts.to_lists()
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    moves = visits * (states != owner // tree.actions)
    heads, flips = (np.bincount(owner, weights, len(starts) - 1).astype(np.float64) for weights in (moves, visits))
    both = np.stack([tree.pairs, tree.pairs + tree.specials])
    return heads[both], flips[both]


def by_threshold(tree: Tree, counts: CountTable) -> int:
    """The first world that no left pair contradicts by more than delta = 3 lambda / 4, or -1 (Algorithm 3)."""
    heads, flips = coins(tree, counts)
    level = theory.threshold(tree.separation, tree.separation)
    share = np.divide(heads[0], flips[0], out=np.full(tree.rows, 0.5), where=flips[0] > 0)
    unusual, unlike = (2.0 * np.abs(share - chance) > level for chance in (0.5, 0.5 + tree.separation / 2.0))
    fits = (unusual.sum() == unusual) & ~(unlike & (flips[0] > 0))
    return int(np.argmax(fits)) if fits.any() else -1


def most_likely(tree: Tree, counts: CountTable) -> int:
    """The world in which these transitions are the most likely; the worlds differ in nothing but the coins."""
    heads, flips = coins(tree, counts)
    usual = np.array([[0.5], [4.0 / tree.diameter]])
    special = usual + np.array([[tree.separation / 2.0], [tree.gap]])
    evidence = heads * np.log(special / usual) + (flips - heads) * np.log((1.0 - special) / (1.0 - usual))
    return int(np.argmax(evidence.sum(axis=0)))


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
        return self.explorer in EXPLORERS

    def __str__(self) -> str:
        rule = f", {RULES[self.rule]}" if self.has_rule else ""
        return f"{self.explorer}{rule}, success {self.level:g}"


Curve = Sequence[tuple[int, NamedEpisodes]]
"""Episodes with ascending numbers of samples."""


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
            if task.scale == 0.0 and task.explorer in EXPLORERS:
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

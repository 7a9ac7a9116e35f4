"""Clustering on 2-JAO trees (Section 3): steps until the world is named, against D S A / lambda^2.

ExploreID and GOSPRL.  N_q is the least number of samples of each left pair with which a rule, the paper's threshold
test or maximum likelihood, names the world with probability q; the steps needed are the mean steps in which an explorer
gathers N_q samples of each.  What a rule can tell depends on the samples and not on who gathered them, so N_q is
measured with the quicker of the two.

The sequential identifier.  The steps needed are those within which a share q of the episodes has ended with the right
name.

All worlds of a tree are equally likely, and they are known beforehand.  Intervals come from resampling the episodes.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from aomultirl.experiments.executors import Executor
from aomultirl.experiments.lower_bounds.clustering_bounds import bounds, theory_curves
from aomultirl.experiments.lower_bounds.clustering_curves import Curves, Floats, Reading, interval, line
from aomultirl.experiments.lower_bounds.clustering_tasks import (
    EXPLORE_ID,
    FAILURE,
    GOSPRL,
    LIKELIHOOD,
    PATIENCE,
    THRESHOLD,
    TOLD_LEVEL,
    TOLD_WORLDS,
    Task,
    Tree,
)
from aomultirl.experiments.lower_bounds.exponents import Fit
from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.experiments.lower_bounds.tasks import carry_out
from aomultirl.identifying.bets import LEAST_LEAD

SCALES = (0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0)
"""N lambda^2 at which rules are tried; the last serves probabilities above 1/2, which are for sweeps over lambda."""
SOME_SCALES = (4.0, 16.0)
"""The same for GOSPRL, whose steps grow along a line."""
HALF, SURE = 0.5, 1.0 - FAILURE
AXES = {"separation": ("lambda", -2.0), "diameter": ("D", 1.0), "states": ("S", 1.0), "actions": ("A", 1.0)}
"""What is varied: its letter, and the exponent of D S A / lambda^2."""
TOLERANCE = 0.25
WIDEST = 1.0
"""An interval of a slope that is wider says nothing."""
KEY = 8
COROLLARY = "Section 3, corollary on the steps of the clustering phase"


class Sweep(NamedTuple):
    """Trees that differ along an axis, for one explorer; sweeps with the same ``name`` share a figure.

    repetitions: episodes a point, of ExploreID with every N; ways: the same of GOSPRL.
    """

    name: str
    axis: str
    explorer: str
    trees: tuple[Tree, ...]
    repetitions: int
    ways: int = 0

    @property
    def readings(self) -> list[Reading]:
        """What is read off at every point."""
        first = self.axis == "separation"
        found = [Reading(self.explorer, THRESHOLD, HALF)]
        if self.explorer == EXPLORE_ID or (self.explorer == GOSPRL and first):
            found.append(Reading(self.explorer, LIKELIHOOD, HALF))
        return [*found, Reading(self.explorer, THRESHOLD, SURE)] if first else found

    @property
    def x(self) -> Floats:
        return np.array([getattr(tree, self.axis) for tree in self.trees], np.float64)

    def tasks(self) -> Iterator[Task]:
        """What takes long comes first."""
        for tree in reversed(self.trees):
            if self.explorer in (EXPLORE_ID, GOSPRL):
                scales = (0.0, *SCALES) if self.axis == "separation" else SCALES[:-1]
                if self.explorer == GOSPRL:
                    yield from (Task(GOSPRL, tree, self.ways, scale) for scale in SOME_SCALES)
                yield from (Task(EXPLORE_ID, tree, self.repetitions, scale) for scale in scales)
            else:
                yield Task(self.explorer, tree, self.repetitions)


def along(axis: str, base: Tree, *values: Any) -> tuple[Tree, ...]:
    """Trees that differ from ``base`` along an axis."""
    return tuple(base._replace(**{axis: value}) for value in values)


SMALL, LARGE, STOPPING = Tree(12, 13, 16.0, 0.1), Tree(21, 21, 16.0, 0.1), Tree(12, 13, 16.0, 0.5)
DECADE, FAR = (0.5, 0.25, 0.1, 0.05), (16.0, 40.0, 80.0, 160.0)
WIDE, NEAR = (0.5, 0.36, 0.25, 0.18), (16.0, 24.0, 40.0, 64.0)
QUICK = (
    Sweep("lambda", "separation", EXPLORE_ID, along("separation", SMALL, *DECADE), 100),
    Sweep("lambda", "separation", GOSPRL, along("separation", SMALL, *DECADE), 100, 2),
    Sweep("D", "diameter", EXPLORE_ID, along("diameter", SMALL, *FAR), 50),
    Sweep("D", "diameter", GOSPRL, along("diameter", SMALL, *NEAR), 50, 2),
    Sweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 50),
    Sweep("S", "states", GOSPRL, along("states", SMALL, 12, 15, 18, 21), 50, 2),
    Sweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 49, 121), 50),
    Sweep("A", "actions", GOSPRL, along("actions", SMALL, 13, 17, 21, 25), 50, 2),
    Sweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *WIDE), 80),
    Sweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *WIDE), 10),
    Sweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *NEAR), 10),
    Sweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 15, 18, 27), 12),
    Sweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 17, 21, 29), 12),
)
FULL = (
    Sweep("lambda", "separation", EXPLORE_ID, along("separation", LARGE, *DECADE), 300),
    Sweep("lambda", "separation", GOSPRL, along("separation", LARGE, *DECADE), 300, 2),
    Sweep("lambda_small", "separation", GOSPRL, along("separation", SMALL, 0.1, 0.05, 0.02, 0.01), 60, 2),
    Sweep("D", "diameter", EXPLORE_ID, along("diameter", LARGE, *FAR), 300),
    Sweep("D", "diameter", GOSPRL, along("diameter", LARGE, *FAR), 300, 2),
    Sweep("S", "states", EXPLORE_ID, along("states", LARGE, 21, 42, 84, 126), 300),
    Sweep("S", "states", GOSPRL, along("states", LARGE, 21, 27, 36, 48), 300, 2),
    Sweep("A", "actions", EXPLORE_ID, along("actions", LARGE, 21, 41, 81, 121), 300),
    Sweep("A", "actions", GOSPRL, along("actions", LARGE, 21, 29, 41, 61), 300, 2),
    Sweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *DECADE), 16),
    Sweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *DECADE), 24),
    Sweep("D_sequential", "diameter", TOLD_WORLDS, along("diameter", STOPPING, *FAR), 120),
    Sweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *FAR), 24),
    Sweep("S_sequential", "states", TOLD_WORLDS, along("states", STOPPING, 12, 18, 24, 36), 120),
    Sweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 18, 24, 36), 24),
    Sweep("A_sequential", "actions", TOLD_WORLDS, along("actions", STOPPING, 13, 21, 29, 37), 120),
    Sweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 21, 29, 37), 24),
)


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on clustering."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sweeps: Sequence[Sweep], seed: int, executor: Executor) -> Findings:
    """The same, with other sweeps than the two of :func:`measure`."""
    tasks = sorted((task for sweep in sweeps for task in sweep.tasks()), key=lambda task: task.explorer == EXPLORE_ID)
    found = carry_out(tasks, KEY, seed, executor)
    curves = Curves(found, seed)
    points = {(reading, tree): sweep for sweep in sweeps for reading in sweep.readings for tree in sweep.trees}
    findings = bounds(curves, found, list(points))
    for name in dict.fromkeys(sweep.name for sweep in sweeps):
        findings += _figure(name, [sweep for sweep in sweeps if sweep.name == name], curves)
    return findings


def _figure(name: str, sweeps: Sequence[Sweep], curves: Curves) -> Findings:
    """The exponents of the sweeps that share a figure, and the figure."""
    claims, series = [], []
    for sweep, reading in [(one, reading) for one in sweeps for reading in one.readings]:
        steps = np.stack([curves.needed(reading, tree) for tree in sweep.trees])
        named = np.isfinite(steps[:, 0])
        x, y = sweep.x[named].tolist(), steps[named]
        series.append(Series(reading.words, x, y[:, 0].tolist(), *interval(y)))
        try:
            slope = line(sweep.x, steps)
        except ValueError as error:
            claims.append(_unnamed(sweep, reading, float(named.sum()), str(error)))
            continue
        claims.append(_exponent(sweep, reading, slope, named, curves))
        label = f"{reading.words}: slope {slope.slope:.2f} ({slope.low:.2f} to {slope.high:.2f})"
        series.append(Series(label, [min(x), max(x)], [slope(min(x)), slope(max(x))], kind="fit"))
    first = sweeps[0]
    series += theory_curves(first.x.tolist(), first.trees)
    fixed = ", ".join(f"{AXES[axis][0]} = {getattr(first.trees[0], axis):g}" for axis in AXES if axis != first.axis)
    title = f"Steps until the world is named, against {AXES[first.axis][0]}"
    words = f"With {fixed}; 95 % intervals from resampled episodes. H0 has the diameter in place of the hitting time."
    return Findings(claims, [Figure(f"clustering_{name}", title, AXES[first.axis][0], "steps", series, caption=words)])


def _words(sweep: Sweep, reading: Reading) -> str:
    letter, predicted = AXES[sweep.axis]
    span = f"{letter} from {sweep.x.min():g} to {sweep.x.max():g}"
    return f"{reading.words}: the steps needed grow like {letter}^{predicted:g}, {span}"


def _unnamed(sweep: Sweep, reading: Reading, points: float, why: str) -> Claim:
    """No exponent, for want of points."""
    rule = "there must be an exponent; in its place, the number of points at which enough worlds were named"
    names = (_words(sweep, reading), COROLLARY, AXES[sweep.axis][1])
    return Claim(*names, points, points, points, False, rule, why, f"clustering_{sweep.name}")


def _exponent(sweep: Sweep, reading: Reading, slope: Fit, named: NDArray[np.bool_], curves: Curves) -> Claim:
    predicted, more = AXES[sweep.axis][1], _of_the_greatest(sweep)
    least, most = predicted - TOLERANCE, predicted + TOLERANCE + more
    narrow = slope.high - slope.low <= WIDEST
    holds = bool(named.all()) and narrow and slope.low <= most and slope.high >= least
    wide = named.all() and not narrow
    why = "" if holds else ("the interval is too wide to tell" if wide else _why(sweep, reading, named, curves))
    rule = (
        f"the 95 % interval of the slope is at most {WIDEST:g} wide and meets [{least:.2f}, {most:.2f}]: {TOLERANCE} "
    )
    rule += "either way for terms of lower order"
    if sweep.axis == "diameter":
        rule += f", such as the 1 in 1 + D / 8, which has slope {line(sweep.x, 1.0 + sweep.x[:, None] / 8.0).slope:.2f}"
    rule += f"; {more:.2f} more, as Q pairs must be right at once" if more else ""
    names = (_words(sweep, reading), COROLLARY, predicted)
    return Claim(*names, slope.slope, slope.low, slope.high, holds, rule, why, f"clustering_{sweep.name}")


def _of_the_greatest(sweep: Sweep) -> float:
    """The exponent of z^2, z the median of the greatest of Q - 1 normals, which the special pair must beat."""
    rows = np.array([tree.rows for tree in sweep.trees])
    if sweep.axis not in ("states", "actions"):
        return 0.0
    return line(sweep.x, ndtri(0.5 ** (1.0 / (rows - 1)))[:, None] ** 2).slope


def _why(sweep: Sweep, reading: Reading, named: NDArray[np.bool_], curves: Curves) -> str:
    """What keeps an exponent from being the predicted one."""
    letter = AXES[sweep.axis][0]
    if reading.has_rule:
        spent = []
        for x, tree in ((sweep.x[0], sweep.trees[0]), (sweep.x[-1], sweep.trees[-1])):
            useful = tree.rows * curves.samples(reading, tree)[0] * (1.0 + tree.diameter / 8.0)
            spent.append(f"{1.0 - useful / curves.needed(reading, tree)[0]:.0%} of the steps with {letter} = {x:g}")
        task = "learning the ways" if reading.explorer == GOSPRL else "walking at random"
        return f"{task}, which is of lower order, takes {spent[0]} and {spent[1]}"
    words = []
    if not named.all():
        late = " and ".join(f"{x:g}" for x in sweep.x[~named])
        words.append(
            f"with {letter} = {late} too few are named within the steps of {PATIENCE:g} / lambda^2 samples a pair"
        )
    if reading.explorer == TOLD_WORLDS and min(tree.separation for tree in sweep.trees) / 2.0 < LEAST_LEAD:
        words.append(f"told M it bets on differences of at least {LEAST_LEAD}, and lambda / 2 is less")
    return "; ".join(words) or "at these sizes fixed costs still matter"

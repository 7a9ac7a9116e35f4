"""Clustering on 2-JAO trees (Section 3): steps until the world is named, against D S A / lambda^2.

ExploreID and GOSPRL.  N_q is the least number of samples of each left pair with which a rule, the paper's threshold
test or maximum likelihood, names the world with probability q; the steps needed are the mean steps in which an explorer
gathers N_q samples of each.  What a rule can tell depends on the samples and not on who gathered them, so N_q is
measured with the quicker of the two.

The sequential identifier.  The steps needed are those within which a share q of the episodes has ended with the right
name.

All worlds of a tree are equally likely, and they are known beforehand.  Intervals come from resampling the episodes.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.clustering_bounds import bounds, theory_curves
from aomultirl.laboratory.clustering_curves import Curves, Floats, Reading, interval, line
from aomultirl.laboratory.clustering_tasks import (
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
from aomultirl.laboratory.exponents import Fit
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series, Subject
from aomultirl.laboratory.sweeps import Expected, exponent
from aomultirl.laboratory.tasks import carry_out

SCALES = (0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0)
"""N lambda^2 at which rules are tried; the last serves probabilities above 1/2."""
SOME_SCALES = {False: (2.0, 16.0), True: (2.0, 36.0)}
"""The same for GOSPRL, whose steps grow along a line; the second serves probabilities above 1/2."""
HALF, SURE = 0.5, 1.0 - FAILURE
AXES = {"separation": ("lambda", -2.0), "diameter": ("D", 1.0), "states": ("S", 1.0), "actions": ("A", 1.0)}
"""What is varied: its letter, and the exponent of D S A / lambda^2."""
TOLERANCE = 0.25
KEY = 8
COROLLARY = paper_places.COROLLARY_9


class Sweep(NamedTuple):
    """Trees that differ along an axis, for one explorer; sweeps with the same ``name`` share a figure.

    repetitions: episodes a point, of ExploreID with every N; ways: the same of GOSPRL; levels: probabilities of
    success; short: why the values do not span a decade.
    """

    name: str
    axis: str
    explorer: str
    trees: tuple[Tree, ...]
    repetitions: int
    ways: int = 0
    levels: tuple[float, ...] = (HALF, SURE)
    short: str = ""

    @property
    def readings(self) -> list[Reading]:
        """What is read off at every point."""
        found = [Reading(self.explorer, THRESHOLD, level) for level in self.levels]
        if self.explorer == EXPLORE_ID or (self.explorer == GOSPRL and self.axis == "separation"):
            found.insert(1, Reading(self.explorer, LIKELIHOOD, HALF))
        return found

    @property
    def x(self) -> Floats:
        return np.array([getattr(tree, self.axis) for tree in self.trees], np.float64)

    def tasks(self) -> Iterator[Task]:
        """What takes long comes first."""
        sure = SURE in self.levels
        for tree in reversed(self.trees):
            if self.explorer in (EXPLORE_ID, GOSPRL):
                scales = SCALES if sure else SCALES[:-1]
                if self.explorer == GOSPRL:
                    yield from (Task(GOSPRL, tree, self.ways, scale) for scale in SOME_SCALES[sure])
                elif self.axis == "separation":
                    scales = (0.0, *scales)
                yield from (Task(EXPLORE_ID, tree, self.repetitions, scale) for scale in scales)
            else:
                yield Task(self.explorer, tree, self.repetitions)


def along(axis: str, base: Tree, *values: Any) -> tuple[Tree, ...]:
    """Trees that differ from ``base`` along an axis."""
    return tuple(base._replace(**{axis: value}) for value in values)


SMALL, LARGE, STOPPING = Tree(12, 13, 16.0, 0.1), Tree(21, 21, 16.0, 0.1), Tree(12, 13, 16.0, 0.5)
DECADE, LESS, WIDE = (0.5, 0.25, 0.1, 0.05), (0.5, 0.3, 0.18, 0.1), (0.5, 0.36, 0.25, 0.18)
FAR, NEAR = (16.0, 40.0, 80.0, 160.0), (16.0, 24.0, 40.0, 64.0)
HASTE = "a quick run has no time for more"
PLANNING = "GOSPRL plans anew so often that an episode with more states takes a minute"
BETTING = "told M, a step weighs bets of every world against every other at every pair, of order S^3 A^3"
QUICK = (
    Sweep("lambda", "separation", EXPLORE_ID, along("separation", SMALL, *DECADE), 60),
    Sweep("lambda", "separation", GOSPRL, along("separation", SMALL, *DECADE), 60, 3),
    Sweep("D", "diameter", EXPLORE_ID, along("diameter", SMALL, *FAR), 40, levels=(HALF,)),
    Sweep("D", "diameter", GOSPRL, along("diameter", SMALL, *NEAR), 40, 3, (HALF,), HASTE),
    Sweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 40, levels=(HALF,)),
    Sweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 40, levels=(HALF,)),
    Sweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *LESS), 24, 0, (HALF,), HASTE),
    Sweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *WIDE), 10, 0, (HALF,), HASTE),
    Sweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *NEAR), 10, 0, (HALF,), HASTE),
    Sweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 15, 18, 27), 16, 0, (HALF,), HASTE),
    Sweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 17, 21, 29), 16, 0, (HALF,), HASTE),
)
FULL = (
    Sweep("lambda", "separation", EXPLORE_ID, along("separation", LARGE, *DECADE), 300),
    Sweep("lambda", "separation", GOSPRL, along("separation", LARGE, *DECADE), 300, 6),
    Sweep("lambda_small", "separation", GOSPRL, along("separation", SMALL, 0.1, 0.05, 0.02, 0.01), 60, 6),
    Sweep("D", "diameter", EXPLORE_ID, along("diameter", LARGE, *FAR), 300),
    Sweep("D", "diameter", GOSPRL, along("diameter", LARGE, *FAR), 300, 3),
    Sweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 300),
    Sweep("S", "states", GOSPRL, along("states", SMALL, 12, 24, 36, 60), 300, 4, short=PLANNING),
    Sweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 300),
    Sweep("A", "actions", GOSPRL, along("actions", SMALL, 13, 25, 61, 133), 300, 3),
    Sweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *DECADE), 60),
    Sweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *DECADE), 24),
    Sweep("D_sequential", "diameter", TOLD_WORLDS, along("diameter", STOPPING, *FAR), 120),
    Sweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *FAR), 24),
    Sweep("S_sequential", "states", TOLD_WORLDS, along("states", STOPPING, 12, 18, 24, 36), 80, short=BETTING),
    Sweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 24, 48, 120), 10),
    Sweep("A_sequential", "actions", TOLD_WORLDS, along("actions", STOPPING, 13, 21, 29, 37), 80, short=BETTING),
    Sweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 25, 61, 133), 10),
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
            claims.append(_unnamed(sweep, reading, str(error)))
            continue
        claims.append(_exponent(sweep, reading, slope, named, curves))
        label = f"{reading.words}: slope {slope.slope:.2f} ({slope.low:.2f} to {slope.high:.2f})"
        series.append(
            Series(label, [min(x), max(x)], [slope(min(x)), slope(max(x))], kind="fit", subject=Subject(reading.words))
        )
    first = sweeps[0]
    trees = sorted({tree for sweep in sweeps for tree in sweep.trees}, key=lambda tree: getattr(tree, first.axis))
    series += theory_curves([float(getattr(tree, first.axis)) for tree in trees], trees)
    fixed = ", ".join(f"{AXES[axis][0]} = {getattr(first.trees[0], axis):g}" for axis in AXES if axis != first.axis)
    title = f"Steps until the world is named, against {AXES[first.axis][0]}"
    words = f"With {fixed}; 95 % intervals from resampled episodes. H0 has the diameter in place of the hitting time."
    return Findings(claims, [Figure(f"clustering_{name}", title, AXES[first.axis][0], "steps", series, caption=words)])


def _words(sweep: Sweep, reading: Reading) -> str:
    letter, predicted = AXES[sweep.axis]
    span = f"{letter} from {sweep.x.min():g} to {sweep.x.max():g}"
    return f"{reading.words}: the steps needed grow like {letter}^{predicted:g}, {span}"


def _unnamed(sweep: Sweep, reading: Reading, why: str) -> Claim:
    """No exponent, for want of points."""
    names, rule = (_words(sweep, reading), COROLLARY, AXES[sweep.axis][1]), "there must be an exponent"
    return Claim(*names, math.nan, -math.inf, math.inf, False, rule, why, f"clustering_{sweep.name}")


def _exponent(sweep: Sweep, reading: Reading, slope: Fit, named: NDArray[np.bool_], curves: Curves) -> Claim:
    predicted = AXES[sweep.axis][1]
    band = f"{TOLERANCE} either way for terms of lower order"
    if sweep.axis == "diameter":
        band += f", such as the 1 in 1 + D / 8, which has slope {line(sweep.x, 1.0 + sweep.x[:, None] / 8.0).slope:.2f}"
    if sweep.short:
        band += f"; the {len(sweep.x)} points span less than a decade, as {sweep.short}"
    expected = Expected(
        _words(sweep, reading), COROLLARY, predicted, predicted - TOLERANCE, predicted + TOLERANCE, band
    )
    claim = exponent(expected, {reading.words: slope}, f"clustering_{sweep.name}")
    if not named.all():
        late = " and ".join(f"{x:g}" for x in sweep.x[~named])
        few = f"with {AXES[sweep.axis][0]} = {late} too few are named within the steps of {PATIENCE:g} / lambda^2"
        return claim._replace(holds=False, reason=f"{few} samples a pair", undecided=False)
    return claim if claim.holds or claim.undecided else claim._replace(reason=_why(sweep, reading, curves))


def _greatest(sweep: Sweep, reading: Reading) -> str:
    """The exponent with which the steps grow if the special pair must stand out from Q - 1 others."""
    rows = np.array([tree.rows for tree in sweep.trees], np.float64)
    if not reading.has_rule:
        return f"Q ln Q has slope {line(sweep.x, (rows * np.log(rows))[:, None]).slope:.2f}"
    z = ndtri(0.5 ** (1.0 / (rows - 1.0)))
    slope = line(sweep.x, (rows * z**2)[:, None]).slope
    return f"Q z^2, z the median of the greatest of Q - 1 normals, has slope {slope:.2f}"


def _why(sweep: Sweep, reading: Reading, curves: Curves) -> str:
    """What keeps an exponent from being the predicted one."""
    letter = AXES[sweep.axis][0]
    words = []
    if sweep.axis in ("states", "actions"):
        words.append(
            f"all Q worlds must be told apart at once, which takes a factor of order ln Q: {_greatest(sweep, reading)} "
            "here; the corollary is a lower bound, which more steps do not contradict"
        )
    if reading.has_rule and (sweep.axis == "separation" or reading.explorer == GOSPRL):
        spent = []
        for x, tree in ((sweep.x[0], sweep.trees[0]), (sweep.x[-1], sweep.trees[-1])):
            useful = tree.rows * curves.samples(reading, tree)[0] * (1.0 + tree.diameter / 8.0)
            spent.append(f"{1.0 - useful / curves.needed(reading, tree)[0]:.0%} of the steps with {letter} = {x:g}")
        task = "learning the ways" if reading.explorer == GOSPRL else "walking at random"
        words.append(f"{task}, which is of lower order, takes {spent[0]} and {spent[1]}")
    return "; ".join(words) or "terms of lower order matter at these sizes"

"""Clustering on 2-JAO trees (Section 3): steps until the world is named, against D S A / lambda^2.

ExploreID and GOSPRL.  N_q is the least number of samples of each left pair with which a rule, the paper's threshold
test or maximum likelihood, names the world with probability q; the steps needed are the mean steps in which an explorer
gathers N_q samples of each.  What a rule can tell depends on the samples and not on who gathered them, so N_q is
measured with the quicker of the two.

The sequential identifier.  The steps needed are those within which a share q of the episodes has ended with the right
name.

All worlds of a tree are equally likely, and they are known beforehand.  Intervals come from resampling the episodes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import UNMEASURED, Bounded, Exponent, Measurement, computed
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import Floats, diagonal, fitted, intervals, level, rate, theory
from aomultirl.laboratory.findings import COROLLARY_9, LEMMA_8, LEMMA_14, TREES, Findings, carry_out
from aomultirl.laboratory.jao_trees import (
    EXPLORE_ID,
    EXPLORERS,
    FAILURE,
    GOSPRL,
    LIKELIHOOD,
    PATIENCE,
    THRESHOLD,
    TOLD_LEVEL,
    TOLD_WORLDS,
    NamedEpisodes,
    NamingTask,
    Reading,
    StepsNeeded,
    Tree,
    line,
    measurement,
    worlds,
)

SCALES = (0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0)
"""N lambda^2 at which rules are tried; the last serves probabilities above 1/2."""
SOME_SCALES = {False: (2.0, 16.0), True: (2.0, 36.0)}
"""The same for GOSPRL, whose steps grow along a line; the second serves probabilities above 1/2."""
HALF, SURE = 0.5, 1.0 - FAILURE
AXES = {"separation": ("lambda", -2.0), "diameter": ("D", 1.0), "states": ("S", 1.0), "actions": ("A", 1.0)}
"""What is varied: its letter, and the exponent of D S A / lambda^2."""
TOLERANCE = 0.25
"""Of an exponent, for terms of lower order."""
KEY = 8
"""Of this experiment's randomness."""
ReadTree = tuple[Reading, Tree]


class TreeSweep(NamedTuple):
    """Trees that differ along an axis, for one explorer.

    name: sweeps of one name share a chart.
    axis, explorer, trees: the field of a tree that is varied, who explores, and the trees.
    repetitions, ways: episodes a point, of ExploreID with every N; and the same of GOSPRL.
    levels: probabilities of success.
    short: why the values do not span a decade.
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
        readings = [Reading(self.explorer, THRESHOLD, level) for level in self.levels]
        if self.explorer == EXPLORE_ID or (self.explorer == GOSPRL and self.axis == "separation"):
            readings.insert(1, Reading(self.explorer, LIKELIHOOD, HALF))
        return readings

    @property
    def x(self) -> Floats:
        """Where the trees are on the axis, (points,)."""
        return np.array([getattr(tree, self.axis) for tree in self.trees], np.float64)

    def tasks(self) -> Iterator[NamingTask]:
        """What is run; what takes long comes first."""
        sure = SURE in self.levels
        for tree in reversed(self.trees):
            if self.explorer in EXPLORERS:
                scales = SCALES if sure else SCALES[:-1]
                if self.explorer == GOSPRL:
                    yield from (NamingTask(GOSPRL, tree, self.ways, scale) for scale in SOME_SCALES[sure])
                elif self.axis == "separation":
                    scales = (0.0, *scales)
                yield from (NamingTask(EXPLORE_ID, tree, self.repetitions, scale) for scale in scales)
            else:
                yield NamingTask(self.explorer, tree, self.repetitions)


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
    TreeSweep("lambda", "separation", EXPLORE_ID, along("separation", SMALL, *DECADE), 60),
    TreeSweep("lambda", "separation", GOSPRL, along("separation", SMALL, *DECADE), 60, 3),
    TreeSweep("D", "diameter", EXPLORE_ID, along("diameter", SMALL, *FAR), 40, 0, (HALF,)),
    TreeSweep("D", "diameter", GOSPRL, along("diameter", SMALL, *NEAR), 40, 3, (HALF,), HASTE),
    TreeSweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 40, 0, (HALF,)),
    TreeSweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 40, 0, (HALF,)),
    TreeSweep(
        "lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *LESS), 24, 0, (HALF,), HASTE
    ),
    TreeSweep(
        "lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *WIDE), 10, 0, (HALF,), HASTE
    ),
    TreeSweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *NEAR), 10, 0, (HALF,), HASTE),
    TreeSweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 15, 18, 27), 16, 0, (HALF,), HASTE),
    TreeSweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 17, 21, 29), 16, 0, (HALF,), HASTE),
)
FULL = (
    TreeSweep("lambda", "separation", EXPLORE_ID, along("separation", LARGE, *DECADE), 300),
    TreeSweep("lambda", "separation", GOSPRL, along("separation", LARGE, *DECADE), 300, 6),
    TreeSweep("lambda_small", "separation", GOSPRL, along("separation", SMALL, 0.1, 0.05, 0.02, 0.01), 60, 6),
    TreeSweep("D", "diameter", EXPLORE_ID, along("diameter", LARGE, *FAR), 300),
    TreeSweep("D", "diameter", GOSPRL, along("diameter", LARGE, *FAR), 300, 3),
    TreeSweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 300),
    TreeSweep("S", "states", GOSPRL, along("states", SMALL, 12, 24, 36, 60), 300, 4, short=PLANNING),
    TreeSweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 300),
    TreeSweep("A", "actions", GOSPRL, along("actions", SMALL, 13, 25, 61, 133), 300, 3),
    TreeSweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *DECADE), 60),
    TreeSweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *DECADE), 24),
    TreeSweep("D_sequential", "diameter", TOLD_WORLDS, along("diameter", STOPPING, *FAR), 120),
    TreeSweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *FAR), 24),
    TreeSweep("S_sequential", "states", TOLD_WORLDS, along("states", STOPPING, 12, 18, 24, 36), 80, short=BETTING),
    TreeSweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 24, 48, 120), 10),
    TreeSweep("A_sequential", "actions", TOLD_WORLDS, along("actions", STOPPING, 13, 21, 29, 37), 80, short=BETTING),
    TreeSweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 25, 61, 133), 10),
)


def measure(quick: bool, seed: int, executor: Executor, sweeps: Sequence[TreeSweep] | None = None) -> Findings:
    """All claims on clustering, with the sweeps of a quick or of a full run, or with others."""
    sweeps = sweeps or (QUICK if quick else FULL)
    tasks = sorted((task for sweep in sweeps for task in sweep.tasks()), key=lambda task: task.explorer == EXPLORE_ID)
    episodes = carry_out(tasks, KEY, seed, executor)
    steps = StepsNeeded(episodes, seed)
    places = {(reading, tree): sweep for sweep in sweeps for reading in sweep.readings for tree in sweep.trees}
    findings = bounds(steps, episodes, list(places))
    for name in dict.fromkeys(sweep.name for sweep in sweeps):
        findings += exponents(name, [sweep for sweep in sweeps if sweep.name == name], steps)
    return findings.of_group("clustering")


def exponents(name: str, sweeps: Sequence[TreeSweep], steps: StepsNeeded) -> Findings:
    """The exponents of the sweeps that share a chart, and the chart."""
    first, claims, series = sweeps[0], [], list[Series]()
    for sweep, reading in [(swept, reading) for swept in sweeps for reading in swept.readings]:
        rows = np.stack([steps.needed(reading, tree) for tree in sweep.trees])
        named = np.isfinite(rows[:, 0])
        x = sweep.x[named].tolist()
        series.append(intervals(str(reading), x, map(measurement, rows[named])))
        why, exponent = _unnamed(sweep, named), UNMEASURED
        try:
            slope = line(sweep.x, rows)
        except ValueError as error:
            why = str(error)
        else:
            exponent = slope.exponent
            series.append(fitted(str(reading), x, slope))
        exponent = exponent._replace(missing=int((~named).sum()) or int(exponent is UNMEASURED))
        claims.append(_growth(sweep, reading, exponent, why or _why(sweep, reading, steps)))
    letter = AXES[first.axis][0]
    trees = sorted({tree for sweep in sweeps for tree in sweep.trees}, key=lambda tree: getattr(tree, first.axis))
    places = [float(getattr(tree, first.axis)) for tree in trees]
    words = "lower bound Z + (Z - 1) D / 8, Z = Q / (40 lambda^2), about S A / (480 lambda^2)"
    series.append(theory(words, places, [tree.least_steps for tree in trees]))
    series.append(theory("upper bound H0", places, [float(tree.horizon) for tree in trees]))
    fixed = ", ".join(f"{AXES[axis][0]} = {getattr(first.trees[0], axis):g}" for axis in AXES if axis != first.axis)
    title = f"Steps until the world is named, against {letter}"
    words = f"With {fixed}; 95 % intervals from resampled episodes. H0 has the diameter in place of the hitting time."
    return Findings.shown(Chart(f"clustering_{name}", title, letter, "steps", series, caption=words), *claims)


def _growth(sweep: TreeSweep, reading: Reading, exponent: Measurement, why: str) -> Claim:
    """The claim on an exponent, with the reason if it fails."""
    letter, predicted = AXES[sweep.axis]
    band = f"{TOLERANCE} either way for terms of lower order"
    if sweep.axis == "diameter":
        band += f", such as the 1 in 1 + D / 8, which has slope {line(sweep.x, 1.0 + sweep.x[:, None] / 8.0).slope:.2f}"
    if sweep.short:
        band += f"; the {len(sweep.x)} points span less than a decade, as {sweep.short}"
    span = f"{letter} from {sweep.x.min():g} to {sweep.x.max():g}"
    statement = f"{reading}: the steps needed grow like {letter}^{predicted:g}, {span}"
    rule = Exponent.near(predicted, TOLERANCE, band)
    return Claim(statement, COROLLARY_9, rule, {str(reading): exponent}, explanation=why)


def _unnamed(sweep: TreeSweep, named: Any) -> str:
    """Where too few worlds were named for there to be steps."""
    if named.all():
        return ""
    late = " and ".join(f"{x:g}" for x in sweep.x[~named])
    few = f"with {AXES[sweep.axis][0]} = {late} too few are named"
    return f"{few} within the steps of {PATIENCE:g} / lambda^2 samples a pair"


def _why(sweep: TreeSweep, reading: Reading, steps: StepsNeeded) -> str:
    """What keeps an exponent from being the predicted one."""
    words = []
    if sweep.axis in ("states", "actions"):
        words.append(
            f"all Q worlds must be told apart at once, which takes a factor of order ln Q: {_greatest(sweep, reading)} "
            "here; the corollary is a lower bound, which more steps do not contradict"
        )
    if reading.has_rule and (sweep.axis == "separation" or reading.explorer == GOSPRL):
        spent = []
        for x, tree in ((sweep.x[0], sweep.trees[0]), (sweep.x[-1], sweep.trees[-1])):
            useful = tree.rows * steps.samples(reading, tree)[0] * (1.0 + tree.diameter / 8.0)
            share = 1.0 - useful / steps.needed(reading, tree)[0]
            spent.append(f"{share:.0%} of the steps with {AXES[sweep.axis][0]} = {x:g}")
        task = "learning the ways" if reading.explorer == GOSPRL else "walking at random"
        words.append(f"{task}, which is of lower order, takes {spent[0]} and {spent[1]}")
    return "; ".join(words) or "terms of lower order matter at these sizes"


def _greatest(sweep: TreeSweep, reading: Reading) -> str:
    """The exponent with which the steps grow if the special pair must stand out from Q - 1 others."""
    rows = np.array([tree.rows for tree in sweep.trees], np.float64)
    if not reading.has_rule:
        return f"Q ln Q has slope {line(sweep.x, (rows * np.log(rows))[:, None]).slope:.2f}"
    z = ndtri(0.5 ** (1.0 / (rows - 1.0)))
    slope = line(sweep.x, (rows * z**2)[:, None]).slope
    return f"Q z^2, z the median of the greatest of Q - 1 normals, has slope {slope:.2f}"


def bounds(steps: StepsNeeded, episodes: Mapping[NamingTask, NamedEpisodes], places: Sequence[ReadTree]) -> Findings:
    """The paper's bounds on clustering beside what was measured, at all points of all sweeps."""
    halves = [(reading, tree) for reading, tree in places if reading.level == HALF]
    rest = [(reading, tree) for reading, tree in places if reading.level > HALF and reading.has_rule]
    samples = {place: steps.needed(*place, "left") / place[1].least_samples for place in halves}
    least = {place: steps.needed(*place) / place[1].least_steps for place in halves}
    enough = {place: steps.needed(*place) / place[1].horizon for place in rest}
    more = "success 1/2 takes more {} than the lower bound, whatever the explorer and the rule"
    above, unit = Bounded(1.0, side=">"), "in multiples of the bound"
    figure, by_samples = "clustering_all", "clustering_samples"
    sure = "H0 steps, with the diameter in place of the hitting time, are enough for success"
    claims = [
        Claim(more.format("samples of left pairs"), LEMMA_8, above, _by_name(samples), figure=by_samples, unit=unit),
        Claim(more.format("steps"), COROLLARY_9, above, _by_name(least), figure=figure, unit=unit),
        Claim(
            f"{sure} {SURE:g}",
            LEMMA_14,
            Bounded(1.0, side="<"),
            _by_name(enough),
            remark="nothing ensures it, the hitting time is infinite",
            figure=figure,
            unit="in multiples of H0",
        ),
    ]
    charts = [_samples_chart(by_samples, steps, halves), _steps_chart(figure, steps, [*halves, *rest])]
    return Findings(claims, charts) + _too_few(episodes) + _diameters(list(dict.fromkeys(tree for _, tree in places)))


def _by_name(ratios: Mapping[ReadTree, Floats]) -> dict[str, Measurement]:
    return {f"{reading}, {tree}": measurement(row) for (reading, tree), row in ratios.items()}


def _too_few(episodes: Mapping[NamingTask, NamedEpisodes]) -> Findings:
    """What maximum likelihood makes of the samples of the lower bound, with a chart of its own."""
    rates = {
        task.tree: rate(seen.right[LIKELIHOOD])
        for task, seen in episodes.items()
        if task.explorer == EXPLORE_ID and task.scale == 0.0
    }
    statement = "with the samples of the lower bound even maximum likelihood names the world less often than not"
    estimates = {f"{tree}, with {tree.least_samples:.1f} samples, rounded down": share for tree, share in rates.items()}
    claim = Claim(statement, LEMMA_8, Bounded(0.5, "Clopper and Pearson's", side="<="), estimates)
    x = [tree.separation for tree in rates]
    series = [
        intervals("maximum likelihood", x, rates.values()),
        theory("a guess, 1 / Q", x, [1.0 / tree.rows for tree in rates]),
        level("the lemma: at most 1/2", [*x, 0.5], 0.5),
    ]
    title, caption = (
        "How often Q / (40 lambda^2) samples are enough",
        "Samples of left pairs, as ExploreID gathers them.",
    )
    y = "worlds named rightly"
    figure = Chart("clustering_few", title, "lambda", y, series, log_y=False, caption=caption)
    return Findings.shown(figure, claim)


def _diameters(trees: Sequence[Tree]) -> Findings:
    """Computed, with a chart of its own."""
    diameters = {tree: worlds(tree)[0].diameter() for tree in trees}
    tree = max(diameters, key=lambda tree: diameters[tree] / tree.diameter)
    statement = "the diameter of every tree is at most D"
    rule = Bounded(1.0, side="<=", by="computed")
    estimates = computed(diameters[tree] / tree.diameter)
    remark = f"the most of {len(trees)} trees: {tree}"
    claim = Claim(statement, TREES, rule, estimates, remark=remark, unit="in multiples of D")
    x = [tree.diameter for tree in trees]
    series = [
        Series("a tree", x, list(diameters.values())),
        diagonal("D", x),
        diagonal("D / 2, without the ways through the tree", x, 0.5),
    ]
    caption, title = "The trees of all sweeps; computed.", "The diameter of 2-JAO trees"
    return Findings.shown(Chart("clustering_diameter", title, "D", "diameter", series, caption=caption), claim)


def _samples_chart(name: str, steps: StepsNeeded, places: Sequence[ReadTree]) -> Chart:
    series = _scattered(steps, places, "left", lambda tree: tree.least_samples)
    series.append(diagonal("lower bound Q / (40 lambda^2)", [tree.least_samples for _, tree in places]))
    title = "Samples of left pairs until the world is named, at all points of all sweeps"
    return Chart(name, title, "Q / (40 lambda^2)", "samples of left pairs", series, caption="For success 1/2.")


def _steps_chart(name: str, steps: StepsNeeded, places: Sequence[ReadTree]) -> Chart:
    series = _scattered(steps, places, "steps", lambda tree: tree.size)
    tight = min((tree for _, tree in places), key=lambda tree: tree.horizon / tree.size)
    x = [tree.size for _, tree in places]
    series.append(diagonal("lower bound, D S A / (3840 lambda^2)", x, 1 / 3840))
    series.append(diagonal(f"upper bound H0, with S = {tight.states}", x, tight.horizon / tight.size))
    title = "Steps until the world is named, at all points of all sweeps"
    caption = "H0 grows with S beyond that, and has the diameter in place of the hitting time, which is infinite."
    return Chart(name, title, "D S A / lambda^2", "steps", series, caption=caption)


def _scattered(steps: StepsNeeded, places: Sequence[ReadTree], what: str, at: Callable[[Tree], float]) -> list[Series]:
    """What was needed at all points, by reading."""
    series = []
    for reading in dict.fromkeys(reading for reading, _ in places):
        trees = sorted((tree for whose, tree in places if whose == reading), key=at)
        needed = {tree: measurement(steps.needed(reading, tree, what)) for tree in trees}
        named = {tree: needed[tree] for tree in trees if np.isfinite(needed[tree].value)}
        series.append(intervals(str(reading), [at(tree) for tree in named], named.values()))
    return series

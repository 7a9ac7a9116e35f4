"""The paper's bounds on clustering beside what was measured on 2-JAO trees, at all points of all sweeps."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aomultirl import theory
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.clustering_curves import Curves, Floats, Reading, interval
from aomultirl.laboratory.clustering_tasks import EXPLORE_ID, LIKELIHOOD, Found, Task, Tree, worlds
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.sweeps import Mean, bounded

LEMMA, COROLLARY = paper_places.LEMMA_8, paper_places.COROLLARY_9
FIGURE, SAMPLES, FEW, DIAMETERS = "clustering_all", "clustering_samples", "clustering_few", "clustering_diameter"

Point = tuple[Reading, Tree]


def bounds(curves: Curves, found: Mapping[Task, Found], points: Sequence[Point]) -> Findings:
    """Claims on the lower and on the upper bound, and a figure of all points."""
    halves = [(reading, tree) for reading, tree in points if reading.level == 0.5]
    rest = [(reading, tree) for reading, tree in points if reading.level > 0.5 and reading.has_rule]
    samples = {point: curves.needed(*point, "left") / point[1].least_samples for point in halves}
    steps = {point: curves.needed(*point) / point[1].least_steps for point in halves}
    enough = {point: curves.needed(*point) / point[1].horizon for point in rest}
    claims = [
        _above("samples of left pairs", LEMMA, samples, SAMPLES),
        _above("steps", COROLLARY, steps, FIGURE),
        _within(enough),
    ]
    shown = [_samples_figure(curves, halves), _figure(curves, [*halves, *rest])]
    return Findings(claims, shown) + _too_few(found) + _diameters(list(dict.fromkeys(tree for _, tree in points)))


def _above(what: str, place: str, ratios: Mapping[Point, Floats], figure: str) -> Claim:
    (reading, tree), ratio = min(ratios.items(), key=lambda item: float(item[1][0]))
    low, high = (ends[0] for ends in interval(ratio[None]))
    claim = Claim(
        f"success 1/2 takes more {what} than the lower bound, whatever the explorer and the rule",
        place,
        1.0,
        float(ratio[0]),
        low,
        high,
        False,
        "the whole 95 % interval lies above 1",
        f"the least of all points: {reading.words}, {describe(tree)}",
        figure,
        ">",
        "in multiples of the bound",
    )
    return bounded(claim)


def _too_few(found: Mapping[Task, Found]) -> Findings:
    """What maximum likelihood makes of the samples of the lower bound, with a figure of its own."""
    rates = {}
    for task, seen in found.items():
        if task.explorer == EXPLORE_ID and task.scale == 0.0:
            hits, games = int(seen.right[LIKELIHOOD].sum()), task.repetitions
            low, high = map(float, theory.binomial_interval(hits, games))
            rates[task.tree] = Mean(hits / games, low, high)
    tree = max(rates, key=lambda one: rates[one].high)
    claim = Claim(
        "with the samples of the lower bound even maximum likelihood names the world less often than not",
        LEMMA,
        0.5,
        *rates[tree],
        False,
        "the whole 95 % interval (Clopper and Pearson) lies below 1/2",
        f"the most of all points: {describe(tree)}, with {tree.least_samples:.1f} samples, rounded down",
        FEW,
        "<=",
    )
    x, ends = [one.separation for one in rates], [min(one.separation for one in rates), 0.5]
    means, lows, highs = zip(*rates.values(), strict=True)
    series = [
        Series("maximum likelihood", x, means, lows, highs),
        Series("a guess, 1 / Q", x, [1.0 / one.rows for one in rates], kind="theory"),
        Series("the lemma: at most 1/2", ends, [0.5, 0.5], kind="theory"),
    ]
    title, caption = (
        "How often Q / (40 lambda^2) samples are enough",
        "Samples of left pairs, as ExploreID gathers them.",
    )
    figure = Figure(FEW, title, "lambda", "worlds named rightly", series, log_y=False, caption=caption)
    return Findings([bounded(claim)], [figure])


def _within(shares: Mapping[Point, Floats]) -> Claim:
    (reading, tree), share = max(shares.items(), key=lambda item: float(item[1][0]))
    low, high = (ends[0] for ends in interval(share[None]))
    claim = Claim(
        f"H0 steps, with the diameter in place of the hitting time, are enough for success {reading.level:g}",
        paper_places.LEMMA_14,
        1.0,
        float(share[0]),
        low,
        high,
        False,
        "the whole 95 % interval lies below 1",
        f"the most of all points: {reading.words}, {describe(tree)}; nothing ensures it, the hitting time is infinite",
        FIGURE,
        "<",
        "in multiples of H0",
    )
    return bounded(claim)


def _diameters(trees: Sequence[Tree]) -> Findings:
    """Computed, with a figure of its own."""
    found = {tree: worlds(tree)[0].diameter() for tree in trees}
    tree = max(found, key=lambda one: found[one] / one.diameter)
    share = found[tree] / tree.diameter
    claim = Claim(
        "the diameter of every tree is at most D",
        paper_places.TREES,
        1.0,
        share,
        share,
        share,
        share <= 1.0,
        "computed; at most 1",
        f"the most of {len(trees)} trees: {describe(tree)}",
        DIAMETERS,
        "<=",
        "in multiples of D",
    )
    ends = [extreme(one.diameter for one in trees) for extreme in (min, max)]
    series = [
        Series("a tree", [one.diameter for one in trees], list(found.values())),
        Series("D", ends, ends, kind="theory"),
        Series("D / 2, without the ways through the tree", ends, [end / 2.0 for end in ends], kind="theory"),
    ]
    caption = "The trees of all sweeps; computed."
    return Findings(
        [claim], [Figure(DIAMETERS, "The diameter of 2-JAO trees", "D", "diameter", series, caption=caption)]
    )


def _samples_figure(curves: Curves, points: Sequence[Point]) -> Figure:
    ends = [extreme(tree.least_samples for _, tree in points) for extreme in (min, max)]
    series = _series(curves, points, "left", lambda tree: tree.least_samples)
    series.append(Series("lower bound Q / (40 lambda^2)", ends, ends, kind="theory"))
    title = "Samples of left pairs until the world is named, at all points of all sweeps"
    return Figure(SAMPLES, title, "Q / (40 lambda^2)", "samples of left pairs", series, caption="For success 1/2.")


def _figure(curves: Curves, points: Sequence[Point]) -> Figure:
    series = _series(curves, points, "steps", _size)
    least = min((tree for _, tree in points), key=lambda tree: tree.horizon / _size(tree))
    ends = [extreme(_size(tree) for _, tree in points) for extreme in (min, max)]
    for words, factor in (
        ("lower bound, D S A / (3840 lambda^2)", 1 / 3840),
        (f"upper bound H0, with S = {least.states}", least.horizon / _size(least)),
    ):
        series.append(Series(words, ends, [factor * end for end in ends], kind="theory"))
    title = "Steps until the world is named, at all points of all sweeps"
    caption = "H0 grows with S beyond that, and has the diameter in place of the hitting time, which is infinite."
    return Figure(FIGURE, title, "D S A / lambda^2", "steps", series, caption=caption)


def _series(curves: Curves, points: Sequence[Point], what: str, at: Callable[[Tree], float]) -> list[Series]:
    """What was needed at all points, by reading."""
    series = []
    for reading in dict.fromkeys(reading for reading, _ in points):
        trees = sorted((tree for one, tree in points if one == reading), key=at)
        needed = np.stack([curves.needed(reading, tree, what) for tree in trees])
        named = np.isfinite(needed[:, 0])
        x = [at(tree) for tree, there in zip(trees, named, strict=True) if there]
        series.append(Series(reading.words, x, needed[named, 0].tolist(), *interval(needed[named])))
    return series


def _size(tree: Tree) -> float:
    return tree.diameter * tree.states * tree.actions / tree.separation**2


def theory_curves(x: Sequence[float], trees: Sequence[Tree]) -> list[Series]:
    """The lower bound and H0 of some trees."""
    words = "lower bound Z + (Z - 1) D / 8, Z = Q / (40 lambda^2), about S A / (480 lambda^2)"
    return [
        Series(words, x, [tree.least_steps for tree in trees], kind="theory"),
        Series("upper bound H0", x, [float(tree.horizon) for tree in trees], kind="theory"),
    ]


def describe(tree: Tree) -> str:
    """The tree in words."""
    return f"S = {tree.states}, A = {tree.actions}, D = {tree.diameter:g}, lambda = {tree.separation:g}"

"""Clustering on 2-JAO trees (Section 3): steps until the world is named, against D S A / lambda^2.

ExploreID and GOSPRL.  N_q is the least number of samples of each left pair with which a rule, the paper's threshold
test or maximum likelihood, names the world with probability q; the steps needed are the mean steps in which an explorer
gathers N_q samples of each.  What a rule can tell depends on the samples and not on who gathered them, so N_q is
measured with the quicker of the two.

The sequential identifier.  The steps needed are those within which a share q of the episodes has ended with the right
name.

All worlds of a tree are equally likely, and they are known beforehand.  Intervals come from resampling the episodes.

How the steps grow with lambda, D, S and A is in :mod:`.tree_growth`, what is swept in :mod:`.tree_sweeps`.  Here all of
it is measured, and compared with the paper's bounds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.rules import Bounded, Measurement, computed
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import Floats, diagonal, intervals, level, rate, theory
from aomultirl.laboratory.findings import COROLLARY_9, LEMMA_8, LEMMA_14, TREES, Findings, carry_out
from aomultirl.laboratory.jao_trees import (
    EXPLORE_ID,
    LIKELIHOOD,
    NamedEpisodes,
    NamingTask,
    Reading,
    StepsNeeded,
    Tree,
    measurement,
    worlds,
)
from aomultirl.laboratory.tree_growth import exponents
from aomultirl.laboratory.tree_sweeps import FULL, HALF, QUICK, SURE, TreeSweep

KEY = 8
"""Of this experiment's randomness."""
ReadTree = tuple[Reading, Tree]


def measure(quick: bool, seed: int, executor: Executor, sweeps: Sequence[TreeSweep] | None = None) -> Findings:
    """All claims on clustering, with the sweeps of a quick or of a full run, or with others."""
    sweeps = sweeps or (QUICK if quick else FULL)
    tasks = sorted((task for sweep in sweeps for task in sweep.tasks()), key=lambda task: task.explorer == EXPLORE_ID)
    episodes = carry_out(tasks, KEY, seed, executor)
    steps = StepsNeeded(episodes, seed)
    places = dict.fromkeys((reading, tree) for sweep in sweeps for reading in sweep.readings for tree in sweep.trees)
    findings = bounds(steps, episodes, list(places))
    for name in dict.fromkeys(sweep.name for sweep in sweeps):
        findings += exponents(name, [sweep for sweep in sweeps if sweep.name == name], steps)
    return findings.of_group("clustering")


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
    printed = "Lemma 8 prints 8/3 of the bound that its proof yields (E4)"
    gathered = Claim(
        more.format("samples of left pairs"),
        LEMMA_8,
        above,
        _by_name(samples),
        remark=printed,
        figure=by_samples,
        unit=unit,
    )
    statement = (
        "Whoever wants to know which world an episode is in needs at least as many samples as the paper's bound says"
    )
    claims = [
        replace(gathered, plain=Plain(statement, f"the quickest way tried took {gathered.measured:.3g} times as many")),
        Claim(more.format("steps"), COROLLARY_9, above, _by_name(least), figure=figure, unit=unit),
        Claim(
            f"H0 with the diameter for the hitting time, which no theorem covers, is enough for success {SURE:g}",
            LEMMA_14,
            Bounded(1.0, side="<"),
            _by_name(enough),
            remark="the hitting time of 2-JAO trees is infinite, and so is their H0",
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
    statement = "with the samples of the lower bound even maximum likelihood names less than half of the worlds"
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

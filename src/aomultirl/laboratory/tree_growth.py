"""How the steps until a world is named grow with lambda, D, S and A of a 2-JAO tree, and how they should.

Exponents are predicted by the paper's two bounds over the very sizes that are swept: the lower bound, but for its first
sample, and H0.  Where both grow alike that is one exponent; ExploreID's in S lies between 1 and 2, as N has max{S, ln}.
In A the steps grow at least like the lower bound, and it is tight up to a factor ln Q.  Explorers are judged only where
samples take most of their steps, and not finding the ways to them, which is of lower order.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.phrases import listed
from aomultirl.analysis.rules import UNMEASURED, Exponent, Measurement
from aomultirl.laboratory.exponents import Fit, Floats, fitted, intervals, theory
from aomultirl.laboratory.findings import COROLLARY_9, REMARK_11, Findings
from aomultirl.laboratory.jao_trees import (
    EXPLORERS,
    GOSPRL,
    PATIENCE,
    Reading,
    StepsNeeded,
    Tree,
    line,
    measurement,
)
from aomultirl.laboratory.tree_sweeps import SWEPT, TreeSweep

TOLERANCE = {"separation": 0.25, "diameter": 0.15, "states": 0.25, "actions": 0.25}
"""Of an exponent, by what is varied: for terms of lower order, which are known in D."""
MINOR = 1.0 / 3.0
"""The share of an explorer's steps that may go into anything but samples where its exponent is judged."""


class Growth(NamedTuple):
    """How the steps of one reading grow along a sweep.

    sweep, reading: of which it is.
    rows: the steps needed, (points, 1 + resamples); inf where too few worlds were named.
    named, leads: at which points they are finite, and at which the leading term leads, (points,) each.
    fit: through the points at which it leads; None where there are too few.
    remark: what else there is to say.
    """

    sweep: TreeSweep
    reading: Reading
    rows: Floats
    named: NDArray[np.bool_]
    leads: NDArray[np.bool_]
    fit: Fit | None
    remark: str

    @property
    def exponent(self) -> Measurement:
        """The slope; if the world was not named at all points, that is said."""
        slope = UNMEASURED if self.fit is None else self.fit.exponent
        return slope._replace(missing=int((~self.named).sum()))

    @property
    def judged(self) -> list[float]:
        """The places at which the slope is judged."""
        places: list[float] = self.sweep.x[self.leads].tolist()
        return places

    def series(self) -> Iterator[Series]:
        """The points and the line as a chart has them."""
        label, places = str(self.reading), self.sweep.x
        yield intervals(label, places[self.named].tolist(), map(measurement, self.rows[self.named]))
        if self.fit is not None:
            yield fitted(label, places[self.leads & self.named].tolist(), self.fit)


def grown(sweep: TreeSweep, reading: Reading, steps: StepsNeeded) -> Growth:
    """How the steps of a reading grow along a sweep."""
    rows = np.stack([steps.needed(reading, tree) for tree in sweep.trees])
    named, leads = np.isfinite(rows[:, 0]), _leads(sweep, reading, steps)
    remarks, slope = [_unnamed(sweep, named), _minor(sweep, reading, steps, leads)], None
    try:
        slope = line(sweep.x[leads], rows[leads])
    except ValueError as error:
        remarks.append(f"{reading}: {error}")
    return Growth(sweep, reading, rows, named, leads, slope, "; ".join(filter(None, remarks)))


def exponents(name: str, sweeps: Sequence[TreeSweep], steps: StepsNeeded) -> Findings:
    """The exponents of the sweeps that share a chart, and the chart."""
    growths = [grown(sweep, reading, steps) for sweep in sweeps for reading in sweep.readings]
    judged = [growth for growth in growths if growth.sweep.is_judged]
    return Findings.shown(_chart(name, sweeps, growths), *(_claims(judged) if judged else ()))


def _chart(name: str, sweeps: Sequence[TreeSweep], growths: Sequence[Growth]) -> Chart:
    axis, base = sweeps[0].axis, sweeps[0].trees[0]
    trees = sorted({tree for sweep in sweeps for tree in sweep.trees}, key=lambda tree: getattr(tree, axis))
    x = [float(getattr(tree, axis)) for tree in trees]
    words = "lower bound Z + (Z - 1) D / 8, Z = Q / (40 lambda^2), about S A / (480 lambda^2)"
    series = [one for growth in growths for one in growth.series()]
    series.append(theory(words, x, [tree.least_steps for tree in trees]))
    series.append(theory("upper bound H0", x, [float(tree.horizon) for tree in trees]))
    fixed = ", ".join(f"{letter} = {getattr(base, other):g}" for other, letter in SWEPT.items() if other != axis)
    caption = f"With {fixed}; 95 % intervals from resampled episodes. H0 has the diameter in place of the hitting time."
    for sweep in sweeps:
        if not sweep.is_judged:
            caption += f" Not judged: {sweep.explorer}, whose points span less than a decade, as {sweep.short}."
    title = f"Steps until the world is named, against {SWEPT[axis]}"
    return Chart(f"clustering_{name}", title, SWEPT[axis], "steps", series, caption=caption)


def _claims(growths: Sequence[Growth]) -> Iterator[Claim]:
    """The claims on the exponents along an axis, which several explorers may share."""
    sweeps = list(dict.fromkeys(growth.sweep for growth in growths))
    slopes = {str(growth.reading): growth.exponent for growth in growths}
    places = [place for growth in growths for place in growth.judged]
    remark = "; ".join(growth.remark for growth in growths if growth.remark)
    axis, explorers = sweeps[0].axis, list(dict.fromkeys(sweep.explorer for sweep in sweeps))
    letter, tolerance, who = SWEPT[axis], TOLERANCE[axis], listed(explorers)
    span = f"{letter} from {min(places):g} to {max(places):g}" if places else f"nowhere in {letter}"
    band = f"{tolerance:g} for terms of lower order"
    lower = min(sweep.exponent(lambda tree: tree.leading) for sweep in sweeps)
    upper = max(sweep.exponent(lambda tree: float(tree.horizon)) for sweep in sweeps)
    if axis == "separation":
        statement = f"{who}: the steps needed grow like lambda^-2, as the lower bound and H0 do, {span}"
        rule = Exponent.near(-2.0, tolerance, f"{tolerance:g} either way for terms of lower order")
        yield Claim(statement, REMARK_11, rule, slopes, remark=remark)
    elif axis == "diameter" or (axis == "states" and set(explorers) <= set(EXPLORERS)):
        statement = f"{who}: the steps needed grow with {letter} like the lower bound, like H0, or between, {span}"
        curves = "1 + D / 8 and D" if axis == "diameter" else "Q and Q max{S, ln}"
        rule = Exponent.between(lower, upper, tolerance, f"the slopes of {curves} over these {letter}, and {band}")
        yield Claim(statement, COROLLARY_9, rule, slopes, remark=remark)
    else:
        statement = f"{who}: the steps needed grow at least like {letter}, as the lower bound does, {span}"
        rule = Exponent(lower, band, least=lower - tolerance)
        yield Claim(statement, COROLLARY_9, rule, slopes, remark=remark)
        logarithm = max(sweep.exponent(lambda tree: tree.rows * math.log(tree.rows)) for sweep in sweeps)
        statement = f"{who}: the lower bound is tight in {letter} up to a factor ln Q, {span}"
        rule = Exponent(logarithm, f"the slope of Q ln Q over these {letter}, and {band}", most=logarithm + tolerance)
        yield Claim(statement, COROLLARY_9, rule, slopes, remark="; ".join(filter(None, [_luckiest(sweeps), remark])))


def _unnamed(sweep: TreeSweep, named: NDArray[np.bool_]) -> str:
    """Where too few worlds were named for there to be steps."""
    if named.all():
        return ""
    late = " and ".join(f"{x:g}" for x in sweep.x[~named])
    few = f"{sweep.explorer}: with {SWEPT[sweep.axis]} = {late} too few are named"
    return f"{few} within the steps of {PATIENCE:g} / lambda^2 samples a pair"


def _wasted(sweep: TreeSweep, reading: Reading, steps: StepsNeeded) -> Floats:
    """The share of an explorer's steps that is not spent on samples and the ways back from them, (points,)."""
    useful = [tree.leading * tree.separation**2 * steps.samples(reading, tree)[0] for tree in sweep.trees]
    return np.array([1.0 - few / steps.needed(reading, tree)[0] for few, tree in zip(useful, sweep.trees, strict=True)])


def _leads(sweep: TreeSweep, reading: Reading, steps: StepsNeeded) -> NDArray[np.bool_]:
    """Where the leading term leads, (points,); everywhere if nobody knows how many samples were gathered."""
    if not reading.has_rule:
        return np.ones(len(sweep.trees), np.bool_)
    wasted = _wasted(sweep, reading, steps)
    return np.asarray((wasted <= MINOR) | np.isnan(wasted))


def _minor(sweep: TreeSweep, reading: Reading, steps: StepsNeeded, leads: NDArray[np.bool_]) -> str:
    """How much of an explorer's steps goes into its term of lower order, if that is much anywhere."""
    if leads.all():
        return ""
    task = "learning the ways" if reading.explorer == GOSPRL else "walking at random"
    letter, wasted = SWEPT[sweep.axis], _wasted(sweep, reading, steps)
    return (
        f"{reading}: {task}, which is of lower order, takes {wasted[0]:.0%} of the steps with {letter} = "
        f"{sweep.x[0]:g} and {wasted[-1]:.0%} with {letter} = {sweep.x[-1]:g}; judged are the {leads.sum()} of "
        f"{len(leads)} points at which it takes at most {MINOR:.0%}"
    )


def _luckiest(sweeps: Sequence[TreeSweep]) -> str:
    """The exponent with which the steps of explorers grow if the special pair must stand out from Q - 1 others."""
    explored = [sweep for sweep in sweeps if sweep.explorer in EXPLORERS]
    if not explored:
        return ""

    def needed(tree: Tree) -> float:
        return float(tree.rows * ndtri(0.5 ** (1.0 / (tree.rows - 1.0))) ** 2)

    slope = max(sweep.exponent(needed) for sweep in explored)
    return (
        "whoever samples all pairs alike must find the special one among the luckiest of all others: Q z^2, z the "
        f"median of the greatest of Q - 1 normals, has slope {slope:.2f} here"
    )

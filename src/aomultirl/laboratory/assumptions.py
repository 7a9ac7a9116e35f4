"""Why the assumptions: what becomes of learners where the diameter or the hitting time is infinite, and why worlds are
separated by lambda and not by entropy.

A finite diameter is in :mod:`.diameter`, a finite hitting time in :mod:`.hitting_time`.  Here is the entropy pair of
Appendix B, all of it computed.  A set is well separated in the sense of latent-MDP methods if under *every* policy a
trajectory of world m makes another world m' look likely, Pr_m'(tau) / Pr_m(tau) > (eps_p / M)^c1, with probability
below (eps_p / M)^c2, where c1, c2 >= 4, for m and m' either way round (Definition 21).  What a policy chooses cancels
in the ratio, so the trajectories of all policies are those of all actions.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import Bounded, Exactly, computed
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import diameter, hitting_time
from aomultirl.laboratory.blocked_worlds import Course, CourseSizes
from aomultirl.laboratory.exponents import diagonal, level
from aomultirl.laboratory.findings import LEMMA_22, Findings, carry_out
from aomultirl.laboratory.hitting_time import Gathering, GatheringSizes
from aomultirl.model_set import ModelSet
from aomultirl.worlds.entropy_pair import entropy_pair

KEY = 10
"""Of this experiment's randomness."""
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
LEVEL, TARGET, POWER = 0.5, 0.1, 4.0
"""lambda of the figure, eps_p, and c1 = c2."""
LIKELY = (TARGET / 2.0) ** POWER
"""(eps_p / M)^c1, above which a likelihood ratio makes a world look likely; and how seldom it must."""
MOST = 1.0 / 16.0
"""The most that (eps_p / M)^c1 can be."""
SETTINGS = f"eps_p = {TARGET:g}, c1 = c2 = {POWER:g}, lambda = {LEVEL:g}"
TELLING = (0, 0)
"""The only pair at which the worlds differ."""
PATIENCE = 10_000
"""Looks within which the pair must be separated."""


class AssumptionSizes(NamedTuple):
    """How much is run and computed.

    courses, gathering: sizes of the claims on the diameter, and on the hitting time.
    longest: steps of the longest trajectories of the entropy pair.
    """

    courses: CourseSizes
    gathering: GatheringSizes
    longest: int


QUICK = AssumptionSizes(diameter.QUICK, hitting_time.QUICK, longest=8)
FULL = AssumptionSizes(diameter.FULL, hitting_time.FULL, longest=10)


def measure(quick: bool, seed: int, executor: Executor, sizes: AssumptionSizes | None = None) -> Findings:
    """All claims on the assumptions, with the sizes of a quick or of a full run, or with others."""
    sizes = sizes or (QUICK if quick else FULL)
    tasks: list[Course | Gathering] = [*sizes.courses.tasks(), *sizes.gathering.tasks()]
    results = carry_out(tasks, KEY, seed, executor)
    findings = diameter.measure(sizes.courses, results) + hitting_time.measure(sizes.gathering, results)
    return (findings + without_entropy(sizes.longest)).of_group("assumptions")


class Trajectories(NamedTuple):
    """All trajectories of one length that are possible.

    chances: their probabilities in both worlds, but for the choice of actions, (2, n).
    told: how often each visits the pair that tells, (n,).
    """

    chances: NDArray[np.float64]
    told: NDArray[np.int64]

    @property
    def ratios(self) -> NDArray[np.float64]:
        """The likelihood ratios of the second world to the first, (n,)."""
        return np.asarray(self.chances[1] / self.chances[0])


ByLevel = Mapping[float, Sequence[Trajectories]]
"""For each lambda those of 1, 2, 3 and so on steps."""


def trajectories(models: ModelSet, steps: int, policy: Sequence[int] | None = None) -> Trajectories:
    """From state 0, with every sequence of actions, or with those of a policy, (S,)."""
    tables = np.stack([model.transitions for model in models])
    if policy is not None:
        tables[:, np.arange(tables.shape[2]) != np.array(policy)[:, None]] = 0.0
    states, chances, told = np.zeros(1, np.int64), np.ones((2, 1)), np.zeros(1, np.int64)
    for _ in range(steps):
        rows = tables[:, states]
        start, action, successor = np.nonzero(rows.min(axis=0) > 0.0)
        chances = chances[:, start] * rows[:, start, action, successor]
        told = told[start] + ((states[start] == TELLING[0]) & (action == TELLING[1]))
        states = successor
    return Trajectories(chances, told)


def without_entropy(longest: int, patience: int = PATIENCE) -> Findings:
    """The claims on the entropy pair, with all trajectories of up to ``longest`` steps.

    Who looks may do so ``patience`` times.
    """
    drawn, linked = (
        {
            separation: [trajectories(entropy_pair(separation, communicating), i) for i in range(1, longest + 1)]
            for separation in LEVELS
        }
        for communicating in (False, True)
    )
    ratios = Findings.shown(_ratios_chart(drawn, linked), _blind([drawn, linked], longest), _never(drawn))
    return _separable() + ratios + Findings.shown(_likelihood_chart(), _unseeing(), _seeing(patience))


def _separable() -> Findings:
    apart = [entropy_pair(separation).separation() for separation in LEVELS]
    statement = f"the pair is lambda-separable, lambda = {', '.join(f'{one:g}' for one in LEVELS)}"
    rule = Exactly(0.0, "the largest difference between the l1 distance and lambda", rounding=1e-12)
    estimates = computed(max(abs(distance - one) for distance, one in zip(apart, LEVELS, strict=True)))
    claim = Claim(statement, LEMMA_22, rule, estimates, remark="under '>=', not under '>' (E1)")
    series = [Series("the pair", LEVELS, apart), diagonal("lambda", LEVELS)]
    title, y = "The entropy pair: how far apart the worlds are", "l1 distance"
    return Findings.shown(Chart("assumptions_separable", title, "lambda", y, series, False, False, "Computed."), claim)


def _blind(groups: Sequence[ByLevel], longest: int) -> Claim:
    every = [seen for group in groups for row in group.values() for seen in row]
    count = sum(int((seen.told == 0).sum()) for seen in every)
    statement = "the likelihood ratio is exactly 1 on every trajectory without (s1, a1), so under every blind policy"
    estimates = computed(max(float(np.abs(seen.ratios[seen.told == 0] - 1.0).max()) for seen in every))
    remark = (
        f"all {count:,} such trajectories of up to {longest} steps, for all lambda, as drawn and with a way back to s1"
    )
    return Claim(statement, LEMMA_22, Exactly(0.0), estimates, remark=remark, unit="as the largest distance from 1")


def _never(drawn: ByLevel) -> Claim:
    """As drawn nothing returns to s1, so even who looks sees one sample."""
    return Claim(
        "as drawn the pair is well separated under no policy: every trajectory makes both worlds look likely",
        LEMMA_22,
        Bounded(MOST, "the most that (eps_p / M)^c1 can be", side=">", by="computed"),
        computed(min(float(seen.ratios.min()) for row in drawn.values() for seen in row)),
        remark="the smallest ratio of all trajectories; nothing returns to s1 (E16), so nobody sees more than one "
        "sample; blindness is not needed for the lemma",
        unit="as a likelihood ratio",
    )


def _ratios_chart(drawn: ByLevel, linked: ByLevel) -> Chart:
    steps = range(1, len(drawn[LEVEL]) + 1)
    least, most = _extremes([*drawn.values(), *linked.values()], looking=False)
    series = [Series("without (s1, a1), from the smallest to the largest", steps, least, least, most)]
    for words, group in (("as drawn", drawn), ("with a way back", linked)):
        least, most = _extremes(list(group.values()), looking=True)
        series += [Series(f"{words}, with (s1, a1): the smallest", steps, least)]
        series += [Series(f"{words}, with (s1, a1): the largest", steps, most)]
    series.append(level("1/16, the most that (eps_p / M)^c1 can be", steps, MOST))
    title = "The entropy pair: likelihood ratios of all trajectories, with and without the pair that tells"
    caption = f"lambda = {', '.join(f'{one:g}' for one in LEVELS)} together; computed."
    return Chart("assumptions_ratios", title, "steps", "likelihood ratio", series, log_x=False, caption=caption)


def _extremes(rows: Sequence[Sequence[Trajectories]], *, looking: bool) -> tuple[list[float], list[float]]:
    """The smallest and the largest ratios of each length, of trajectories with or without (s1, a1)."""
    every = [
        np.concatenate([seen.ratios[(seen.told > 0) == looking] for seen in same]) for same in zip(*rows, strict=True)
    ]
    return [float(ratios.min()) for ratios in every], [float(ratios.max()) for ratios in every]


def chances_of_likely(visits: int, level: float, least: float = LIKELY) -> tuple[float, float]:
    """(Pr_1(Pr_2 / Pr_1 > least), Pr_2(Pr_1 / Pr_2 > least)) after so many visits of (s1, a1); ``least`` is
    (eps_p / M)^c1."""
    hit, miss = math.log(2.0), math.log((1.0 - level / 2.0) / (1.0 - level))  # how much likelier one makes a world
    few = (visits * miss - math.log(least)) / (hit + miss)  # so many hits make the ratio just that
    many = (visits * miss + math.log(least)) / (hit + miss)
    first = bdtr(min(visits, math.ceil(few) - 1), visits, level) if few > 0.0 else 0.0
    second = bdtrc(math.floor(many), visits, level / 2.0) if many >= 0.0 else 1.0
    return float(first), float(second)


def looks_needed(level: float, patience: int) -> int | None:
    """Visits of (s1, a1) after which neither world looks likely in the other; None if ``patience`` is not enough."""
    return next((n for n in range(1, patience + 1) if max(chances_of_likely(n, level)) < LIKELY), None)


def _unseeing() -> Claim:
    """With a way back, one who never looks."""
    always = min(
        float(chances[ratios > LIKELY].sum())
        for others in product((0, 1), repeat=2)
        for seen in [trajectories(entropy_pair(LEVEL, communicating=True), 10, (1, *others))]
        for chances, ratios in zip(seen.chances, (seen.ratios, 1.0 / seen.ratios), strict=True)
    )
    return Claim(
        "under a blind policy the other world looks likely with probability 1, whatever the horizon",
        LEMMA_22,
        Exactly(1.0, f"separation wants less than (eps_p / M)^c2 = {LIKELY:.3g}"),
        computed(always),
        remark=f"{SETTINGS}; the least of the four deterministic ones in either world, after 10 steps; the ratio is 1 "
        "and stays there",
    )


def _seeing(patience: int) -> Claim:
    """With a way back, one who always looks and returns has a sample every second step."""
    looks = looks_needed(LEVEL, patience)
    steps, ways = 2 * (looks or patience), chances_of_likely(looks or patience, LEVEL)
    why = f"(eps_p / M)^c2, in either world, at the first horizon of at most {2 * patience:,} steps at which it is"
    statement = (
        f"with a way back to s1 a policy that looks separates the pair within {steps:,} steps: it is the blind one "
        "that does not"
    )
    rule = Bounded(LIKELY, why, side="<", by="computed")
    remark = f"{SETTINGS}; a look every second step; {ways[0]:.2g} in the first world, {ways[1]:.2g} in the second"
    return Claim(statement, LEMMA_22, rule, computed(max(ways)), remark=remark, explanation="there is no such horizon")


def _likelihood_chart() -> Chart:
    horizons = [2 * n for n in np.unique(np.geomspace(1, 1000, 40).round()).astype(int).tolist()]
    first, second = zip(*(chances_of_likely(h // 2, LEVEL) for h in horizons), strict=True)
    series = [Series("a blind policy: never a1 in s1", (horizons[0], horizons[-1]), (1.0, 1.0))]
    for place, ways in (("first", first), ("second", second)):
        label = f"a policy that looks, in the {place} world"
        series.append(Series(label, horizons, [max(chance, 1e-12) for chance in ways]))
    series.append(level("what separation wants: (eps_p / M)^c2", horizons, LIKELY))
    title = "The entropy pair: how likely the other world looks likely"
    y = "Pr(likelihood ratio > (eps_p / M)^c1)"
    caption = (
        f"With a way back to s1, lambda = {LEVEL:g}, eps_p = {TARGET:g}, c1 = c2 = {POWER:g}; who looks always "
        "takes a1 in s1, then goes back. All computed."
    )
    return Chart("assumptions_entropy", title, "horizon H", y, series, caption=caption)

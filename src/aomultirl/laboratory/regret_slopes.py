"""AOMultiRL's regret (Section 4, Theorem 16): H0 + D an episode at most while clustering, sqrt(MK) while learning.

Clustering is measured with the paper's constants throughout.  That its regret is linear in K and grows like
1 / lambda^2 is shown and not judged: every episode spends the same H0 steps, and H0 is made of 1 / lambda^2.

Learning is measured with the paper's constants in two ways: from the learning phases alone the bonus stays above its
cap for so many episodes that nothing is learned within reach; with the samples of both phases (Appendix H) it is.  How
regret grows with K and M is measured with a bonus scaled down, which no theorem covers.  A learner's regret in one
world is not a power of K; what the theorem bounds is the worst, so for every K and M the gap between actions is the one
at which most is lost.  Over the M of the sweep the theorem's own curve is led by its third term, which grows like M.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.reach import Reach
from aomultirl.analysis.rules import Bounded, Exponent
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import (
    Floats,
    fits,
    fitted,
    line_through,
    mean_of,
    points,
    slope_of,
    summed,
    theory,
    worst_of,
)
from aomultirl.laboratory.findings import THEOREM_16, THEOREM_37, Findings, carry_out
from aomultirl.laboratory.signposts import (
    BONUSES,
    BOTH,
    JAO,
    PAPER,
    RELEASED,
    SCALED,
    SIGNPOSTS,
    STEPS,
    ClusteringRuns,
    LearningRuns,
)

SLACK = 0.1
"""Added to the exponents of bounds from above, for chance and the logarithm."""
ROOT_K = Exponent(0.5, f"a bound from above; {SLACK:g} for chance and the logarithm", most=0.5 + SLACK)
UNCOVERED = "no theorem covers a bonus that is scaled down"
EASY = 0.2
"""The gap with which bonuses are compared."""
UNSCALED = {
    PAPER: (THEOREM_16, "with the paper's bonus"),
    RELEASED: (THEOREM_16, "with the bonus of the authors' code, which the theorem does not cover"),
    BOTH: (THEOREM_37, "with the paper's bonus, where the samples of both phases count (Appendix H)"),
}
"""Where the claims on bonuses that are not scaled stand, and their words."""
LEARNED = 0.25
"""The bonus, as a share of its cap H1, from which on two steps of it fit below the cap with something to spare."""
PUBLISHED, EARLY, JAO_PUBLISHED = "after H0 steps", "after N samples", "JAO, after H0 steps"
SECOND, THIRD = "67 H1^(3/2) L sqrt(MSAK)", "15 M S^2 A H1^2 L^2"
"""Terms of the theorem; the third, a constant times M, is what exploring costs at first."""
KEY = 11
"""Of this experiment's randomness."""
PhaseRegrets = Mapping[ClusteringRuns | LearningRuns, Floats]


class RegretSizes(NamedTuple):
    """What is swept; by default the sizes of a quick run.

    separations, jao_separations, each, early
        lambda in signpost and in JAO worlds, and episodes at each, and where they end with the samples.
    runs, episodes: of the clustering phase in the sweep over K.
    gaps: of the learning phase, in both its sweeps.
    models, learning_runs, learning_episodes: M, runs and K in the sweep over K.
    numbers, number_runs, number_episodes: M, runs at each, and K in the sweep over M.
    bonus_episodes, reusing_episodes: K where bonuses are compared, and where samples are used twice.
    """

    separations: tuple[float, ...] = (1.0, 0.5, 0.2, 0.1)
    jao_separations: tuple[float, ...] = (0.3, 0.15, 0.06, 0.03)
    each: int = 5
    early: int = 15
    runs: int = 4
    episodes: int = 32
    gaps: tuple[float, ...] = (0.2, 0.05)
    models: int = 4
    learning_runs: int = 3
    learning_episodes: int = 700
    numbers: tuple[int, ...] = (1, 2, 4, 8)
    number_runs: int = 3
    number_episodes: int = 700
    bonus_episodes: int = 300
    reusing_episodes: int = 1000


QUICK = RegretSizes()
FULL = RegretSizes(
    separations=(1.0, 0.5, 0.2, 0.1, 0.05),
    each=16,
    early=100,
    runs=8,
    episodes=256,
    gaps=(0.2, 0.07, 0.025),
    learning_runs=4,
    learning_episodes=12_000,
    numbers=(1, 2, 4, 8, 16),
    number_runs=6,
    number_episodes=3000,
    bonus_episodes=6000,
    reusing_episodes=1200,
)


def measure(quick: bool, seed: int, executor: Executor, sizes: RegretSizes | None = None) -> Findings:
    """All claims on AOMultiRL's regret, with the sizes of a quick or of a full run, or with others."""
    sizes = sizes or (QUICK if quick else FULL)
    curves = [LearningRuns(sizes.models, gap, sizes.learning_runs, sizes.learning_episodes) for gap in sizes.gaps]
    numbers = {
        models: [LearningRuns(models, gap, sizes.number_runs, sizes.number_episodes) for gap in sizes.gaps]
        for models in sizes.numbers
    }
    lengths = dict.fromkeys(BONUSES, sizes.bonus_episodes) | {BOTH: sizes.reusing_episodes}
    bonuses = {name: LearningRuns(1, EASY, sizes.learning_runs, many, name) for name, many in lengths.items()}
    sweeps = {
        PUBLISHED: [ClusteringRuns(SIGNPOSTS, separation, 1, sizes.each) for separation in sizes.separations],
        EARLY: [ClusteringRuns(SIGNPOSTS, level, 1, sizes.early, early=True) for level in sizes.separations],
        JAO_PUBLISHED: [ClusteringRuns(JAO, separation, 1, sizes.each) for separation in sizes.jao_separations],
    }
    growing = ClusteringRuns(SIGNPOSTS, max(sizes.separations), sizes.runs, sizes.episodes)
    tasks: list[ClusteringRuns | LearningRuns] = [bonuses[BOTH], *curves]
    tasks += [*(phase for row in numbers.values() for phase in row), *bonuses.values()]
    tasks += [growing, *(phase for row in sweeps.values() for phase in reversed(row))]
    results = carry_out(tasks, KEY, seed, executor)
    clustering = _lambda(sweeps, results) + _episodes(growing, results)
    learning = _learning(curves, results) + _models(numbers, results) + _bonuses(bonuses, results)
    within = Findings([_within([growing, *sweeps[PUBLISHED], *sweeps[JAO_PUBLISHED]], results)])
    return (clustering + learning + within).of_group("regret_slopes")


def _lambda(sweeps: Mapping[str, Sequence[ClusteringRuns]], results: PhaseRegrets) -> Findings:
    """Episodes are independent while clustering, so they are the runs."""
    x = {name: [phase.separation for phase in row] for name, row in sweeps.items()}
    _, series = fits(x, {name: [results[phase][0] for phase in row] for name, row in sweeps.items()})
    for name in (PUBLISHED, JAO_PUBLISHED):
        bounds = [phase.bound().linear / phase.episodes for phase in sweeps[name]]
        series.append(theory(f"H0 + D, {sweeps[name][0].family}", x[name], bounds))
    title = "Clustering regret of an episode against lambda"
    caption = (
        "Two worlds that differ at one pair. Slopes are not judged, as they follow from H0, which is made of "
        "1 / lambda^2: in signpost worlds lambda has no part in the reward, and regret grows alike; in JAO worlds "
        "lambda is the gap between actions too, so that a step loses in proportion to it, and regret grows like "
        "1 / lambda."
    )
    figure = Chart("regret_lambda", title, "lambda", "clustering regret of an episode", series, caption=caption)
    return Findings.shown(figure)


def _episodes(phase: ClusteringRuns, results: PhaseRegrets) -> Findings:
    x, samples = summed(results[phase])
    _, series = fits({"measured": x}, {"measured": samples})
    each = phase.bound().linear / phase.episodes
    series.append(theory("K (H0 + D)", x, [each * k for k in x]))
    caption = (
        f"Two signpost worlds, lambda = {phase.separation:g}, H0 = {phase.horizon:,}. The slope is not judged: every "
        "episode spends the same H0 steps."
    )
    title = "Clustering regret against episodes"
    return Findings.shown(Chart("regret_episodes", title, "K", "clustering regret", series, caption=caption))


def _learning(phases: Sequence[LearningRuns], results: PhaseRegrets) -> Findings:
    curves = {f"gap {phase.gap:g}": summed(results[phase][..., 0]) for phase in phases}
    x = next(iter(curves.values()))[0]
    line = line_through(x, worst_of(samples for _, samples in curves.values()))
    series = [points(name, x, samples) for name, (_, samples) in curves.items()]
    series += [fitted("the worst gap", x, line), _bound(phases[0], x)]
    title = "Learning regret against episodes"
    caption = (
        f"{phases[0].models} signpost worlds, H1 = {STEPS}, the bonus scaled by {BONUSES[SCALED][1]:g}. "
        "A single gap is learned at last; the worst of them grows on."
    )
    figure = Chart("regret_learning", title, "K", "learning regret", series, caption=caption, to_scale=False)
    statement = "regret of the learning phase grows no faster than sqrt(K), at the worst gap, with a scaled bonus"
    remark = f"{UNCOVERED}; {_clusters(phases, results)}"
    claim = Claim(statement, THEOREM_16, ROOT_K, {SCALED: line.exponent}, remark=remark)
    return Findings.shown(figure, claim)


def _models(numbers: Mapping[int, Sequence[LearningRuns]], results: PhaseRegrets) -> Findings:
    x = [float(models) for models in numbers]
    totals = ([results[phase][..., 0].sum(axis=1) for phase in row] for row in numbers.values())
    worst = worst_of(zip(*totals, strict=True))
    line, first = line_through(x, worst), [row[0] for row in numbers.values()]
    bounds = [phase.bound(phase.episodes) for phase in first]
    series = [points("the worst gap", x, worst), fitted("the worst gap", x, line)]
    series.append(theory(SECOND, x, [bound.root for bound in bounds]))
    title = "Learning regret against the number of worlds"
    y = f"learning regret of {first[0].episodes:,} episodes"
    caption = f"Signpost worlds, H1 = {STEPS}, the bonus scaled by {BONUSES[SCALED][1]:g}."
    figure = Chart("regret_models", title, "M", y, series, caption=caption, to_scale=False)
    slope = slope_of(x, [bound.root + bound.constant for bound in bounds]).slope
    why = f"the slope of {SECOND} + {THIRD} over these M, and {SLACK:g} for chance"
    rule = Exponent(slope, why, most=slope + SLACK)
    every = [phase for row in numbers.values() for phase in row]
    statement = (
        "regret of the learning phase grows no faster with M than its bound, at the worst gap, with a scaled bonus"
    )
    remark = f"the second term alone grows like sqrt(M); {UNCOVERED}; {_clusters(every, results)}"
    claim = Claim(statement, THEOREM_16, rule, {SCALED: line.exponent}, remark=remark)
    return Findings.shown(figure, claim)


def _bonuses(phases: Mapping[str, LearningRuns], results: PhaseRegrets) -> Findings:
    """The paper's bonus and the authors' in a world that is easy to learn with a smaller one."""
    curves = {name: summed(results[phase][..., 0]) for name, phase in phases.items()}
    x = {name: places for name, (places, _) in curves.items()}
    lines, series = fits(x, {name: samples for name, (_, samples) in curves.items()})
    series += [_bound(phases[PAPER], x[PAPER]), _bound(phases[BOTH], x[BOTH], "Appendix H, both phases")]
    title = "Learning regret with four bonuses"
    caption = f"One signpost world, gap {EASY:g}, H1 = {STEPS}. A slope of 1 is that of acting at random."
    figure = Chart("regret_bonus", title, "K", "learning regret", series, caption=caption, to_scale=False)
    remarks = {name: _vacuous(phases[name]) for name in UNSCALED}
    whole = results[phases[BOTH]][..., 2].mean()
    remarks[BOTH] += f"; every pair had N = {phases[BOTH].samples:,} samples in {whole:.1%} of the episodes"
    claims = {
        name: Claim(
            f"regret of the learning phase grows no faster than sqrt(K) {words}",
            place,
            replace(ROOT_K, reach=_reach(phases[name])),
            {name: lines[name].exponent},
            remark=remarks[name],
        )
        for name, (place, words) in UNSCALED.items()
    }
    claims[PAPER] = replace(claims[PAPER], plain=_learned(phases[PAPER]))
    return Findings.shown(figure, *claims.values())


def _reach(phase: LearningRuns) -> Reach:
    """How many episodes it takes until the bonus is below the gap, before which nothing can have been learned."""
    return Reach(phase.episodes_until(phase.gap), phase.episodes, "episodes of a world")


def _learned(phase: LearningRuns) -> Plain:
    statement = (
        "In a world that it has recognised AOMultiRL learns, and loses less and less from episode to episode, with the "
        "paper's own constants"
    )
    hidden = (
        f"for the first {phase.episodes_until(phase.gap):,} episodes of a world its bonus for the unknown is larger "
        "than the difference that is to be learned"
    )
    return Plain(statement, f"{hidden}, and {phase.episodes:,} were run")


def _vacuous(phase: LearningRuns) -> str:
    """How long it takes until the bonus says anything, and until it says enough."""
    capped, small = (phase.episodes_until(level) for level in (LEARNED * STEPS, phase.gap))
    return (
        f"the bonus is at most a quarter of its cap, H1 = {STEPS}, after {capped:,} episodes in each world, and below "
        f"the gap of {phase.gap:g} after {small:,}"
    )


def _within(phases: Sequence[ClusteringRuns], results: PhaseRegrets) -> Claim:
    """The clustering phase against the theorem's first term."""
    return Claim(
        "an episode loses at most H0 + D while clustering",
        THEOREM_16,
        Bounded(1.0, side="<="),
        {
            f"{phase.family}, lambda = {phase.separation:g}, {phase.episodes} episodes": mean_of(
                results[phase].reshape(-1) * phase.episodes / phase.bound().linear
            )
            for phase in phases
        },
        figure="regret_episodes",
        unit="as a share of it",
    )


def _bound(phase: LearningRuns, x: Sequence[float], label: str = f"{SECOND} + {THIRD}") -> Series:
    bounds = [phase.bound(round(k)) for k in x]
    return theory(label, x, [bound.root + bound.constant for bound in bounds])


def _clusters(phases: Sequence[LearningRuns], results: PhaseRegrets) -> str:
    """Learning is only what it should be where clusters are right."""
    wrong = sum(int(results[phase][..., 1].sum()) for phase in phases)
    return f"{wrong} of {sum(phase.runs * phase.episodes for phase in phases):,} episodes were in a wrong cluster"

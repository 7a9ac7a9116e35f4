"""AOMultiRL's regret (Section 4, Theorem 16): linear in K and 1 / lambda^2 while clustering, sqrt(MK) while learning.

Clustering is measured with the paper's constants throughout.  So is learning, in two ways: from the learning phases
alone the bonus stays above its cap for so many episodes that nothing is learned within reach, which is shown; with the
samples of both phases (Appendix H) it is.  How regret grows with K and M is measured with a bonus scaled down.
A learner's regret in one world is not a power of K; what the theorem bounds is the worst, so for every K and M the gap
between actions is the one at which most is lost.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import paper_places
from aomultirl.laboratory.exponents import line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.regret_tasks import (
    BONUSES,
    BOTH,
    FULL,
    JAO,
    PAPER,
    QUICK,
    RELEASED,
    SCALED,
    SIGNPOSTS,
    STEPS,
    Clustering,
    Floats,
    Learning,
    Sizes,
    Task,
)
from aomultirl.laboratory.sweeps import (
    Expected,
    bounded,
    exponent,
    fitted,
    lines_and_series,
    mean_of,
    measured,
    summed,
)
from aomultirl.laboratory.tasks import carry_out

THEOREM, REMARK = paper_places.THEOREM_16, paper_places.REMARK_11
BY_LAMBDA, BY_EPISODES, BY_LEARNING, BY_MODELS, BY_BONUS = (
    "regret_lambda",
    "regret_episodes",
    "regret_learning",
    "regret_models",
    "regret_bonus",
)
SQUARE = Expected(
    "regret of the clustering phase grows like 1 / lambda^2",
    THEOREM,
    -2.0,
    -2.05,
    -1.95,
    "H0 is proportional to 1 / lambda^2 and nothing else depends on lambda, but for the way to the pair",
)
ONCE = Expected(
    "where lambda is the gap between actions, too, it grows like 1 / lambda only",
    REMARK,
    -1.0,
    -1.1,
    -0.9,
    "what a step loses is lambda D / 64 to first order, and a fifth less at lambda = 0.3",
)
LINEAR = Expected(
    "regret of the clustering phase grows linearly in K",
    THEOREM,
    1.0,
    0.95,
    1.05,
    "every episode spends the same H0 steps",
)
ROOT_K = Expected(
    "regret of the learning phase grows no faster than sqrt(K), at the worst gap",
    THEOREM,
    0.5,
    -math.inf,
    0.6,
    "a bound from above; 0.1 for chance and the logarithm",
)
ROOT_M = Expected(
    "regret of the learning phase grows no faster than sqrt(M), at the worst gap",
    THEOREM,
    0.5,
    -math.inf,
    0.6,
    "a bound from above; 0.1 for chance, the logarithm and the third term, which grows like M",
)
EASY = 0.2
"""The gap with which bonuses are compared."""
UNSCALED = {
    PAPER: "with the paper bonus, unscaled",
    RELEASED: "with the released bonus, unscaled",
    BOTH: "with the paper bonus, unscaled, where the samples of both phases count (Appendix H)",
}
LEARNED = 0.25
"""The bonus, as a share of its cap H1, from which on two steps of it fit below the cap with something to spare."""
PUBLISHED, EARLY, JAO_PUBLISHED = "after H0 steps", "after N samples", "JAO, after H0 steps"
SECOND, THIRD = "67 H1^(3/2) L sqrt(MSAK)", "15 M S^2 A H1^2 L^2"
"""Terms of the theorem; the third, a constant times M, is what exploring costs at first."""
KEY = 11
Results = Mapping[Task, Floats]


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on AOMultiRL's regret."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: Sizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    curves = [Learning(sizes.models, gap, sizes.learning_runs, sizes.learning_episodes) for gap in sizes.gaps]
    numbers = {
        models: [Learning(models, gap, sizes.number_runs, sizes.number_episodes) for gap in sizes.gaps]
        for models in sizes.numbers
    }
    lengths = dict.fromkeys(BONUSES, sizes.bonus_episodes) | {BOTH: sizes.reusing_episodes}
    bonuses = {name: Learning(1, EASY, sizes.learning_runs, many, name) for name, many in lengths.items()}
    sweeps = {
        PUBLISHED: [Clustering(SIGNPOSTS, level, 1, sizes.each) for level in sizes.separations],
        EARLY: [Clustering(SIGNPOSTS, level, 1, sizes.early, early=True) for level in sizes.separations],
        JAO_PUBLISHED: [Clustering(JAO, level, 1, sizes.each) for level in sizes.jao_separations],
    }
    growing = Clustering(SIGNPOSTS, max(sizes.separations), sizes.runs, sizes.episodes)
    tasks: list[Task] = [bonuses[BOTH], *curves, *(one for row in numbers.values() for one in row), *bonuses.values()]
    tasks += [growing, *(task for row in sweeps.values() for task in reversed(row))]
    found = carry_out(tasks, KEY, seed, executor)
    return (
        _lambda(sweeps, found)
        + _episodes(growing, found)
        + _learning(curves, found)
        + _models(numbers, found)
        + _bonuses(bonuses, found)
        + Findings([_within([growing, *sweeps[PUBLISHED], *sweeps[JAO_PUBLISHED]], found)])
    )


def _lambda(sweeps: Mapping[str, Sequence[Clustering]], found: Results) -> Findings:
    """Episodes are independent while clustering, so they are the runs."""
    x = {name: [task.separation for task in row] for name, row in sweeps.items()}
    samples = {name: [found[task][0] for task in row] for name, row in sweeps.items()}
    lines, series = lines_and_series(x, samples)
    for name in (PUBLISHED, JAO_PUBLISHED):
        bounds = [task.bound().linear / task.episodes for task in sweeps[name]]
        series.append(Series(f"H0 + D, {sweeps[name][0].family}", x[name], bounds, kind="theory"))
    once = {JAO_PUBLISHED: lines.pop(JAO_PUBLISHED)}
    figure = Figure(
        BY_LAMBDA,
        "Clustering regret of an episode against lambda",
        "lambda",
        "clustering regret of an episode",
        series,
        caption="Two worlds that differ at one pair. Signposts: lambda has no part in the reward; JAO: it is the gap.",
    )
    return Findings([exponent(SQUARE, lines, BY_LAMBDA), exponent(ONCE, once, BY_LAMBDA)], [figure])


def _episodes(task: Clustering, found: Results) -> Findings:
    x, samples = summed(found[task])
    lines, series = lines_and_series({"measured": x}, {"measured": samples})
    each = task.bound().linear / task.episodes
    series.append(Series("K (H0 + D)", x, [each * k for k in x], kind="theory"))
    caption = f"Two signpost worlds, lambda = {task.separation:g}, H0 = {task.horizon:,}."
    title = "Clustering regret against episodes"
    figure = Figure(BY_EPISODES, title, "K", "clustering regret", series, caption=caption)
    return Findings([exponent(LINEAR, lines, BY_EPISODES)], [figure])


def _learning(tasks: Sequence[Learning], found: Results) -> Findings:
    curves = {f"gap {task.gap:g}": summed(found[task][..., 0]) for task in tasks}
    x = next(iter(curves.values()))[0]
    worst = [max((samples[i] for _, samples in curves.values()), key=np.mean) for i in range(len(x))]
    line = line_through(x, worst)
    series = [measured(name, x, samples) for name, (_, samples) in curves.items()]
    series += [fitted("the worst gap", x, line), _bound(tasks[0], x)]
    figure = Figure(
        BY_LEARNING,
        "Learning regret against episodes",
        "K",
        "learning regret",
        series,
        caption=f"{tasks[0].models} signpost worlds, H1 = {STEPS}, the bonus scaled by {BONUSES[SCALED][1]:g}. "
        "A single gap is learned at last; the worst of them grows on.",
        to_scale=False,
    )
    return Findings([exponent(ROOT_K, {SCALED: line}, BY_LEARNING, _clusters(tasks, found))], [figure])


def _models(numbers: Mapping[int, Sequence[Learning]], found: Results) -> Findings:
    x = [float(models) for models in numbers]
    worst = [max((found[task][..., 0].sum(axis=1) for task in row), key=np.mean) for row in numbers.values()]
    line = line_through(x, worst)
    first = [row[0] for row in numbers.values()]
    series = [measured("the worst gap", x, worst), fitted("the worst gap", x, line)]
    series.append(Series(SECOND, x, [task.bound(task.episodes).root for task in first], kind="theory"))
    figure = Figure(
        BY_MODELS,
        "Learning regret against the number of worlds",
        "M",
        f"learning regret of {first[0].episodes:,} episodes",
        series,
        caption=f"Signpost worlds, H1 = {STEPS}, the bonus scaled by {BONUSES[SCALED][1]:g}.",
        to_scale=False,
    )
    every = [task for row in numbers.values() for task in row]
    sums = [bound.root + bound.constant for bound in (task.bound(task.episodes) for task in first)]
    slope = np.polyfit(np.log(x), np.log(sums), 1)[0]
    reason = f"with the third term, {THIRD}, the bound itself has slope {slope:.2f} over these M"
    return Findings([exponent(ROOT_M, {SCALED: line}, BY_MODELS, f"{reason}; {_clusters(every, found)}")], [figure])


def _bonuses(tasks: Mapping[str, Learning], found: Results) -> Findings:
    """The paper's bonus and the authors' in a world that is easy to learn with a smaller one."""
    curves = {name: summed(found[task][..., 0]) for name, task in tasks.items()}
    x = {name: curve[0] for name, curve in curves.items()}
    samples = {name: curve[1] for name, curve in curves.items()}
    lines, series = lines_and_series(x, samples)
    series += [_bound(tasks[PAPER], x[PAPER]), _bound(tasks[BOTH], x[BOTH], "Appendix H, both phases")]
    claims = []
    for name, words in UNSCALED.items():
        claim = f"regret of the learning phase grows no faster than sqrt(K) {words}"
        expected = ROOT_K._replace(claim=claim)
        reason = _vacuous(tasks[name])
        if name == BOTH:
            ok = found[tasks[name]][..., 2].mean()
            expected = expected._replace(place=paper_places.THEOREM_37)
            reason += f"; every pair had N = {tasks[name].samples:,} samples in {ok:.1%} of the episodes"
        claims.append(exponent(expected, {name: lines[name]}, BY_BONUS, reason))
    figure = Figure(
        BY_BONUS,
        "Learning regret with four bonuses",
        "K",
        "learning regret",
        series,
        caption=f"One signpost world, gap {EASY:g}, H1 = {STEPS}. A slope of 1 is that of acting at random.",
        to_scale=False,
    )
    return Findings(claims, [figure])


def _vacuous(task: Learning) -> str:
    """How long it takes until the bonus says anything, and until it says enough."""
    capped, small = (task.episodes_until(level) for level in (LEARNED * STEPS, task.gap))
    return (
        f"the bonus is at most a quarter of its cap, H1 = {STEPS}, after {capped:,} episodes in each world, and below "
        f"the gap of {task.gap:g} after {small:,}; {task.episodes:,} were run"
    )


def _within(tasks: Sequence[Clustering], found: Results) -> Claim:
    """The clustering phase against the theorem's first term, the largest share."""
    shares = {task: mean_of(found[task].reshape(-1) * task.episodes / task.bound().linear) for task in tasks}
    largest = max(shares, key=lambda task: shares[task].high)
    claim = Claim(
        "an episode loses at most H0 + D while clustering",
        THEOREM,
        1.0,
        *shares[largest],
        False,
        "no 95 % interval reaches beyond 1",
        f"the largest of {len(tasks)} points: {largest.family}, lambda = {largest.separation:g}",
        BY_EPISODES,
        "<=",
        "as a share of it",
    )
    return bounded(claim)


def _bound(task: Learning, x: Sequence[float], label: str = f"{SECOND} + {THIRD}") -> Series:
    bounds = [task.bound(round(k)) for k in x]
    return Series(label, x, [bound.root + bound.constant for bound in bounds], kind="theory")


def _clusters(tasks: Sequence[Learning], found: Results) -> str:
    """Learning is only what it should be where clusters are right."""
    wrong = sum(int(found[task][..., 1].sum()) for task in tasks)
    return f"{wrong} of {sum(task.runs * task.episodes for task in tasks):,} episodes were in a wrong cluster"

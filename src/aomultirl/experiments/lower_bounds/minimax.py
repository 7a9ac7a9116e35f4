"""The minimax regime (Section 3): worlds so close, lambda of order sqrt(SA / (HD)), that memory is of no use.

The regret of every agent is measured as it grows with the episodes K, and, for one episode, with H, D, S and A while
lambda is tied to them.  Beside it are the lemma's lower bound, what is lost without ever finding the special action,
and UCRL2's upper bound.  Intervals are over runs.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aomultirl.experiments.executors import Executor
from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.experiments.lower_bounds.minimax_sizes import (
    FULL,
    QUICK,
    Sizes,
    Sweep,
    over_constants,
    over_episodes,
    over_long_horizons,
    powers,
)
from aomultirl.experiments.lower_bounds.minimax_tasks import (
    CONSTANT,
    ORACLE,
    TREE,
    TWO_STATES,
    UCRL,
    Floats,
    Trial,
    carry_out,
)
from aomultirl.experiments.lower_bounds.sweeps import (
    Expected,
    exponent,
    fitted,
    line_through,
    lines_and_series,
    mean_of,
    measured,
    summed,
)

LEMMA, AFTER = "Section 3, minimax lower bound", "Section 3, UCRL2 in every episode"
LINEAR = Expected(
    "without being told the task, every agent's regret grows linearly in K",
    LEMMA,
    1.0,
    0.95,
    1.05,
    "tasks are drawn afresh, so nothing but chance bends the line",
)
WHY_HALF = "0.1 for what the order hides: rho* - 1/2 is lambda D / 32 to first order, and a fifth less where H = DSA"
WHY_UCRL2 = "the logarithm makes 0.05; samples double between two policies, which may make a factor 2 over two decades"
PER_EPISODE = "regret of an episode"
Results = Mapping[Trial, Floats]


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on the minimax regime."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: Sizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    powered, episodes, constants, long = (
        list(powers(sizes)),
        over_episodes(sizes),
        over_constants(sizes),
        over_long_horizons(sizes),
    )
    slowest_first = [*reversed(powered), episodes, constants, long]
    found = carry_out([trial for sweep in slowest_first for trial in sweep.trials()], seed, executor)
    tied = [trial for sweep in powered for trial in sweep.trials()]
    result = _linear(episodes, found)
    for sweep in powered:
        result += _power(sweep, found)
    result += Findings([_above(tied, found)]) + _hardest(constants, found) + _ucrl2(long, found)
    return result + Findings([_within(found), _no_room(tied)])


def _linear(sweep: Sweep, found: Results) -> Findings:
    """Regret summed up to K, within the same runs."""
    x, samples = {}, {}
    for name, (trial,) in sweep.rows.items():
        x[name], samples[name] = summed(found[trial])
    lines, series = lines_and_series(x, samples)
    some = next(iter(sweep.rows.values()))[0]
    whole = [min(min(row) for row in x.values()), max(max(row) for row in x.values())]
    for label, one in (("lower bound", some.lower_bound()), ("UCRL2's upper bound", some.upper_bound())):
        series.append(Series(label, whole, [k * one for k in whole], kind="theory"))
    told = lines.pop(ORACLE)
    claims = [
        exponent(LINEAR, lines, sweep.figure),
        Claim(
            "an agent that is told the task profits from earlier episodes",
            LEMMA,
            "below 1",
            told.slope,
            told.low,
            told.high,
            told.high < 1.0,
            "the whole 95 % interval of its slope lies below 1",
            "the contrast to the claim before: the task is what earlier episodes do not tell",
            sweep.figure,
        ),
    ]
    caption = f"{_sizes(some)}; lambda = {some.separation:.3g}, {some.states * some.actions // 4} worlds."
    return Findings(claims, [Figure(sweep.figure, "Regret against episodes", "K", "regret", series, caption=caption)])


def _power(sweep: Sweep, found: Results) -> Findings:
    """The exponent of one size in the regret of an episode."""
    x = {name: [sweep.at(trial) for trial in row] for name, row in sweep.rows.items()}
    samples = {name: [_per_episode(found[trial]) for trial in row] for name, row in sweep.rows.items()}
    lines, series = lines_and_series(x, samples)
    row = next(iter(sweep.rows.values()))
    series += _theory(sweep, row)
    expected = Expected(
        f"regret of an episode grows like the root of {sweep.letter}, whatever the agent",
        LEMMA,
        0.5,
        0.4,
        0.6,
        WHY_HALF,
    )
    tree = row[0].family == TREE
    other = "agents that do not learn within H lose a share of H in a tree, where most actions pay nothing"
    figure = Figure(
        sweep.figure,
        f"Regret of an episode against {sweep.letter}, {'trees' if tree else 'two states'}",
        sweep.letter,
        PER_EPISODE,
        series,
        caption=f"{_sizes(row[-1])} at the right end; lambda = {CONSTANT:g} sqrt(SA / (HD)) everywhere.",
    )
    return Findings([exponent(expected, lines, sweep.figure, other if tree else "")], [figure])


def _theory(sweep: Sweep, row: Sequence[Trial]) -> list[Series]:
    x = [sweep.at(trial) for trial in row]
    curves: dict[str, Callable[[Trial], float]] = {"lower bound, 0.015 sqrt(DSAH) - D / 8": Trial.lower_bound}
    if row[0].family == TWO_STATES:
        curves["never the special action"] = Trial.never_special
    return [Series(label, x, [curve(trial) for trial in row], kind="theory") for label, curve in curves.items()]


def _above(tied: Sequence[Trial], found: Results) -> Claim:
    """The point that is nearest to the lower bound."""
    ratios = {trial: mean_of(_per_episode(found[trial]) / trial.lower_bound()) for trial in tied}
    least = min(ratios, key=lambda trial: ratios[trial].mean)
    return Claim(
        "no agent's regret is below 0.015 sqrt(DSAH) - D / 8 an episode",
        LEMMA,
        "at least 1, in multiples of it",
        *ratios[least],
        min(ratio.high for ratio in ratios.values()) >= 1.0,
        "no 95 % interval lies below 1",
        f"the least of {len(ratios)} points: {least.agent}, {least.family}, {_sizes(least)}",
        "minimax_horizon",
    )


def _hardest(sweep: Sweep, found: Results) -> Findings:
    """How the constant of lambda matters: too close to be worth finding, far enough to be found."""
    first = next(iter(sweep.rows.values()))
    x = [trial.constant for trial in first]
    samples = {name: [_per_episode(found[trial]) / trial.unit for trial in row] for name, row in sweep.rows.items()}
    series = [measured(name, x, row) for name, row in samples.items()]
    limit = first[0].lower_bound() / first[0].unit
    series.append(Series("lower bound at the hardest lambda", [min(x), max(x)], [limit, limit], kind="theory"))
    never = [trial.never_special() / trial.unit for trial in first]
    series.append(Series("never the special action", x, never, kind="theory"))
    best = [min((mean_of(row[i]), name) for name, row in samples.items()) for i in range(len(x))]
    (worst, name), at = max(zip(best, x, strict=True), key=lambda one: one[0][0].mean)
    claim = Claim(
        "there is a lambda of order sqrt(SA / (HD)) at which the best agent loses that much, too",
        LEMMA,
        f"at least {limit:.3g} sqrt(DSAH)",
        *worst,
        worst.high >= limit,
        "at the hardest c the 95 % interval of the best agent reaches the lower bound",
        f"hardest at c = {at:g}, for {name}; with smaller c there is less to lose, with larger c less to search",
        sweep.figure,
    )
    figure = Figure(
        sweep.figure,
        "Regret of an episode against c, lambda = c sqrt(SA / (HD))",
        "c",
        "regret of an episode / sqrt(DSAH)",
        series,
        caption=_sizes(first[0]) + ".",
    )
    return Findings([claim], [figure])


def _ucrl2(sweep: Sweep, found: Results) -> Findings:
    """UCRL2 at the c that is worst for it at each H."""
    samples = {name: [_per_episode(found[trial]) for trial in row] for name, row in sweep.rows.items()}
    row = next(iter(sweep.rows.values()))
    x = [sweep.at(trial) for trial in row]
    series = [measured(name, x, one) for name, one in samples.items()]
    worst = [max((one[i] for one in samples.values()), key=np.mean) for i in range(len(x))]
    line = line_through(x, worst)
    series.append(fitted("the worst c", x, line))
    series.append(Series("34 D S sqrt(2 A H ln H) + D + 1", x, [trial.upper_bound() for trial in row], kind="theory"))
    series.append(Series("all that there is, H", x, x, kind="theory"))
    expected = Expected(
        "UCRL2's regret of an episode grows like sqrt(H ln H), at the lambda that is worst for it",
        AFTER,
        0.5,
        -np.inf,
        0.65,
        WHY_UCRL2,
    )
    figure = Figure(
        sweep.figure,
        "UCRL2: regret of an episode against H",
        "H",
        PER_EPISODE,
        series,
        caption="Two states, two actions, diameter 2; lambda = c / sqrt(H).",
    )
    return Findings([exponent(expected, {UCRL: line}, sweep.figure)], [figure])


def _within(found: Results) -> Claim:
    """Over all trials of UCRL2, the largest share of its bound."""
    trials = [trial for trial in found if trial.agent == UCRL]
    shares = {trial: mean_of(_per_episode(found[trial]) / trial.upper_bound()) for trial in trials}
    largest = max(shares, key=lambda trial: shares[trial].mean)
    telling = [trial for trial in trials if trial.upper_bound() < trial.horizon]
    says = "the bound exceeds H everywhere here, so it says nothing"
    if telling:
        first, most = min(one.horizon for one in telling), max(shares[one].mean for one in telling)
        says = f"the bound is below H from H = {first:,} on; there the largest share is {most:.2g}"
    return Claim(
        "UCRL2 in every episode stays within 34 D S sqrt(2 A H ln H) + D + 1",
        AFTER,
        "at most 1, as a share of it",
        *shares[largest],
        max(share.high for share in shares.values()) <= 1.0,
        "no 95 % interval reaches beyond 1",
        f"the largest of {len(shares)} points, {_sizes(largest)}; {says}",
        "minimax_ucrl2",
    )


def _no_room(tied: Sequence[Trial]) -> Claim:
    """Computed: the clustering phase that AOMultiRL needs, against the episode."""
    ratio = min(trial.clustering_horizon() / trial.horizon for trial in tied if trial.family == TWO_STATES)
    return Claim(
        "where lambda is so small, AOMultiRL's clustering phase does not fit into an episode",
        LEMMA,
        "above 1, as H0 / H",
        ratio,
        ratio,
        ratio,
        ratio > 1.0,
        "H0 / H, computed exactly, is above 1 at every point",
        "of order D^2, whatever H: with lambda tied to H so is H0; AOMultiRL refuses such a horizon",
    )


def _per_episode(regrets: Floats) -> Floats:
    """The mean of each run, (runs,)."""
    return np.asarray(regrets.mean(axis=1))


def _sizes(trial: Trial) -> str:
    return f"S = {trial.states}, A = {trial.actions}, D = {trial.diameter:g}, H = {trial.horizon:,}"

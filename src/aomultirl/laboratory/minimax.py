"""The minimax regime (Section 3): worlds so close, lambda of order sqrt(SA / (HD)), that memory is of no use.

The regret of every agent is measured as it grows with the episodes K, and, for one episode, with H, D, S and A while
lambda is tied to them.  Beside it are the lemma's lower bound, what is lost without ever finding the special action,
and UCRL2's upper bound.  Intervals are over runs.
"""

from collections.abc import Callable, Sequence

import numpy as np

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import line_through
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.minimax_bounds import AFTER, LEMMA, above, no_room, within
from aomultirl.laboratory.minimax_sizes import (
    BLIND,
    FORGETFUL,
    FULL,
    QUICK,
    RANDOMLY,
    Sizes,
    Sweep,
    over_constants,
    over_episodes,
    over_long_horizons,
    powers,
)
from aomultirl.laboratory.minimax_tasks import (
    CONSTANT,
    ORACLE,
    TREE,
    TWO_STATES,
    UCRL,
    Results,
    Trial,
    per_episode,
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

LINEAR = Expected(
    "regret grows linearly in K",
    LEMMA,
    1.0,
    0.95,
    1.05,
    "tasks are drawn afresh, so nothing but chance bends the line",
)
WHY_HALF = "0.1 for what the order hides: rho* - 1/2 is lambda D / 32 to first order, and a fifth less where H = DSA"
WHY_UCRL2 = "the logarithm makes 0.05; samples double between two policies, which may make a factor 2 over two decades"
PER_EPISODE = "regret of an episode"
KEY = 12
FORGETTING = "it keeps nothing from one episode to the next, so nothing else was possible"
AT_RANDOM = "its bonus stays above its cap for all of H, so that it acts at random throughout"
SHARE = "it hardly learns within H, and loses a share of H in a tree, where most actions pay nothing"


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
    slowest_first = [episodes, *reversed(powered), constants, long]
    found = carry_out([trial for sweep in slowest_first for trial in sweep.trials()], KEY, seed, executor)
    tied = [trial for sweep in powered for trial in sweep.trials()]
    result = _linear(episodes, found)
    for sweep in powered:
        result += _power(sweep, found)
    result += above(tied, found) + _hardest(constants, found) + _ucrl2(long, found)
    return result + within(found) + no_room(powered)


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
    claims = [exponent(_of(name, LINEAR), {name: line}, sweep.figure, _memory(name)) for name, line in lines.items()]
    profits = Claim(
        f"{ORACLE}, which is told the task, profits from earlier episodes",
        LEMMA,
        1.0,
        told.slope,
        told.low,
        told.high,
        False,
        "the whole 95 % interval of its slope lies below 1",
        "the contrast to the others: the task is what earlier episodes do not tell",
        sweep.figure,
        "<",
    )
    claims.append(bounded(profits))
    caption = f"{some.sizes}; lambda = {some.separation:.3g}, {some.states * some.actions // 4} worlds."
    title = "Regret against episodes"
    figure = Figure(sweep.figure, title, "K", "regret", series, caption=caption, to_scale=False)
    return Findings(claims, [figure])


def _memory(name: str) -> str:
    """What else there is to say of an agent from episode to episode."""
    parts = [FORGETTING if name in FORGETFUL else "", AT_RANDOM if name in RANDOMLY else ""]
    return "; ".join(filter(None, parts))


def _power(sweep: Sweep, found: Results) -> Findings:
    """The exponent of one size in the regret of an episode."""
    x = {name: [sweep.at(trial) for trial in row] for name, row in sweep.rows.items()}
    samples = {name: [per_episode(found[trial]) for trial in row] for name, row in sweep.rows.items()}
    lines, series = lines_and_series(x, samples)
    row = next(iter(sweep.rows.values()))
    series += _theory(sweep, row)
    expected = Expected(f"regret of an episode grows like the root of {sweep.letter}", LEMMA, 0.5, 0.4, 0.6, WHY_HALF)
    tree = row[0].family == TREE
    claims = []
    for name, line in lines.items():
        claim = exponent(_of(name, expected), {name: line}, sweep.figure)
        if tree and name in BLIND and not claim.holds:
            claim = claim._replace(reason="; ".join(filter(None, [claim.reason, SHARE])))
        elif name in RANDOMLY:
            claim = claim._replace(reason="; ".join(filter(None, [claim.reason, AT_RANDOM])))
        claims.append(claim)
    figure = Figure(
        sweep.figure,
        f"Regret of an episode against {sweep.letter}, {'trees' if tree else 'two states'}",
        sweep.letter,
        PER_EPISODE,
        series,
        caption=f"{row[-1].sizes} at the right end; lambda = {CONSTANT:g} sqrt(SA / (HD)) everywhere.",
    )
    return Findings(claims, [figure])


def _theory(sweep: Sweep, row: Sequence[Trial]) -> list[Series]:
    x = [sweep.at(trial) for trial in row]
    curves: dict[str, Callable[[Trial], float]] = {"lower bound, 0.015 sqrt(DSAH) - D / 8": Trial.lower_bound}
    if row[0].family == TWO_STATES:
        curves["never the special action"] = Trial.never_special
    return [Series(label, x, [curve(trial) for trial in row], kind="theory") for label, curve in curves.items()]


def _of(agent: str, expected: Expected) -> Expected:
    """The same, claimed of one agent."""
    return expected._replace(claim=f"{agent}: {expected.claim}")


def _hardest(sweep: Sweep, found: Results) -> Findings:
    """How the constant of lambda matters: too close to be worth finding, far enough to be found."""
    first = next(iter(sweep.rows.values()))
    x = [trial.constant for trial in first]
    samples = {name: [per_episode(found[trial]) / trial.unit for trial in row] for name, row in sweep.rows.items()}
    series = [measured(name, x, row) for name, row in samples.items()]
    limit = first[0].lower_bound() / first[0].unit
    series.append(Series("lower bound at the hardest lambda", [min(x), max(x)], [limit, limit], kind="theory"))
    never = [trial.never_special() / trial.unit for trial in first]
    series.append(Series("never the special action", x, never, kind="theory"))
    best = [min((mean_of(row[i]), name) for name, row in samples.items()) for i in range(len(x))]
    (worst, name), at = max(zip(best, x, strict=True), key=lambda one: one[0][0].low)
    claim = Claim(
        "there is a lambda of order sqrt(SA / (HD)) at which the best agent loses that much, too",
        LEMMA,
        limit,
        *worst,
        False,
        "at the hardest c the whole 95 % interval of the best agent lies above the lower bound",
        f"hardest at c = {at:g}, for {name}; with smaller c there is less to lose, with larger c less to search",
        sweep.figure,
        ">=",
        "in multiples of sqrt(DSAH)",
    )
    figure = Figure(
        sweep.figure,
        "Regret of an episode against c, lambda = c sqrt(SA / (HD))",
        "c",
        "regret of an episode / sqrt(DSAH)",
        series,
        caption=first[0].sizes + ".",
    )
    return Findings([bounded(claim)], [figure])


def _ucrl2(sweep: Sweep, found: Results) -> Findings:
    """UCRL2 at the c that is worst for it at each H."""
    samples = {name: [per_episode(found[trial]) for trial in row] for name, row in sweep.rows.items()}
    row = next(iter(sweep.rows.values()))
    x = [sweep.at(trial) for trial in row]
    series = [measured(name, x, one) for name, one in samples.items()]
    worst = [max((one[i] for one in samples.values()), key=np.mean) for i in range(len(x))]
    line = line_through(x, worst)
    series.append(fitted("the worst c", x, line))
    series.append(Series("34 D S sqrt(2 A H ln H) + D + 1", x, [trial.upper_bound() for trial in row], kind="theory"))
    series.append(Series("all that there is, H", x, x, kind="theory"))
    expected = Expected(
        "UCRL2's regret of an episode grows no faster than sqrt(H ln H), at the lambda that is worst for it",
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

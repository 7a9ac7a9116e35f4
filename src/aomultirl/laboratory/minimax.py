"""The minimax regime (Section 3): worlds so close, lambda of order sqrt(SA / (HD)), that memory is of no use.

The regret of every agent is measured as it grows with the episodes K, and, for one episode, with H, D, S and A while
lambda is tied to them.  Beside it are the lemma's lower bound, what is lost without ever finding the special action,
and UCRL2's upper bound.  Intervals are over runs.

The lower bound is judged from below, at every point.  Exponents over sizes to which lambda is tied are shown and not
judged: whoever never finds the special action loses lambda D H / 32 to first order, which is of order sqrt(DSAH)
because of that tie alone.  Nor is it judged that agents without a memory lose the same in every episode, or agents that
are :class:`Random` to the bit: nothing else is possible.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.phrases import listed
from aomultirl.analysis.rules import Bounded, Exponent, Measurement, computed
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.exponents import (
    fits,
    fitted,
    intervals,
    level,
    line_through,
    mean_of,
    points,
    slope_of,
    slopes,
    summed,
    theory,
    worst_of,
)
from aomultirl.laboratory.findings import LEMMA_5, UCRL2, Findings, carry_out
from aomultirl.laboratory.jao_trials import (
    CONSTANT,
    LEARNER,
    ORACLE,
    PLAIN,
    POOLED,
    RANDOM,
    RECALL,
    SEQUENTIAL,
    TREE,
    TWO_STATES,
    UCRL,
    Trial,
    TrialRegrets,
    TrialSweep,
    per_episode,
)

BLIND, LEARNING = (PLAIN, UCRL), (LEARNER, RECALL)
"""Agents that hardly learn anything within H steps, and agents that do."""
REMEMBERING = (RECALL, SEQUENTIAL)
"""Agents that are not told the task, keep what earlier episodes taught, and act on it."""
RANDOMLY = (PLAIN, POOLED)
"""Agents whose bonus is above its cap in all that is run here, so that they are :class:`Random` to the bit."""
LEAST, DISTANCE = 10, 20.0
"""S = A and D where they are not varied: the smallest of the lemma."""
SMALLEST = (2, 4, 8.0)
"""S, A and D of two actions and diameter 2, where UCRL2's bound is soonest below H."""
UCRL_CONSTANTS = (16.0, 32.0, 64.0, 128.0)
"""lambda / sqrt(SA / (HD)) of UCRL2 in the smallest family: the worst for it at the horizons of the sweep."""
PER_EPISODE = "regret of an episode"
KEY = 12
"""Of this experiment's randomness."""
AT_RANDOM = f"{' and '.join(RANDOMLY)} are Random to the bit, as their bonus stays above its cap"
TIED = (
    "Slopes are not judged: lambda is tied to the sizes, so whoever never finds the special action loses "
    "lambda D H / 32 to first order, which is of order sqrt(DSAH) by that alone"
)
SHARE = f"{' and '.join(BLIND)} hardly learn within H, and lose a share of H in a tree, where most actions pay nothing"
AT_LEAST_LINEAR = Exponent(1.0, "0.05 for chance, as tasks are drawn afresh", least=0.95)
DOUBLING = 0.1
"""Added to the exponent of UCRL2's bound: samples double between two policies, a factor up to 2 over two decades."""
JaoSizes = tuple[int, int, float, int]
"""S, A, D, H."""


class MinimaxSizes(NamedTuple):
    """What is swept; by default the sizes of a quick run.

    episodes, told_episodes, many: K, K of the agent that is told the task, and runs, of the sweep over K.
    runs, each: runs, and episodes of a run, at every point of the other sweeps; a third of the runs for agents that
        hardly learn, whose regret is much the same in every one.
    horizons, diameters, pairs: H; D; (S, A) in families of two states.
    states, actions: S and A in trees.
    constants: lambda / sqrt(SA / (HD)).
    long_horizons: H for UCRL2 in the smallest family.
    thorough: whether slow agents are in every sweep where they can be.
    """

    episodes: int = 40
    told_episodes: int = 120
    many: int = 4
    runs: int = 12
    each: int = 1
    horizons: tuple[int, ...] = (2000, 8000, 32_000)
    diameters: tuple[float, ...] = (20.0, 40.0, 80.0, 120.0)
    pairs: tuple[tuple[int, int], ...] = ((10, 10), (10, 20), (20, 20), (20, 40))
    states: tuple[int, ...] = (10, 24, 60)
    actions: tuple[int, ...] = (11, 24, 51)
    constants: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    long_horizons: tuple[int, ...] = (40_000, 160_000, 640_000, 2_560_000)
    thorough: bool = False

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents of most sweeps."""
        return BLIND + (LEARNING if self.thorough else (LEARNER,))


QUICK = MinimaxSizes()
FULL = MinimaxSizes(
    episodes=256,
    told_episodes=512,
    many=8,
    runs=24,
    each=2,
    horizons=(2000, 4000, 8000, 16_000, 32_000, 64_000),
    diameters=(20.0, 40.0, 80.0, 200.0),
    pairs=((10, 10), (10, 20), (20, 20), (20, 50)),
    states=(10, 20, 40, 100),
    actions=(11, 21, 51, 101),
    long_horizons=(100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    thorough=True,
)


def powers(sizes: MinimaxSizes) -> Iterator[TrialSweep]:
    """Over H, D, SA, S and A; H is nowhere below D S A."""

    def sweep(axis: str, agents: Sequence[str], places: Sequence[JaoSizes], family: str = TWO_STATES) -> TrialSweep:
        runs = {name: max(2, sizes.runs // 3) if name in BLIND else sizes.runs for name in agents}
        rows = {name: tuple(Trial(name, *at, runs[name], sizes.each, family) for at in places) for name in agents}
        return TrialSweep(f"minimax_{axis}", axis, rows)

    near = [(LEAST, LEAST, DISTANCE, horizon) for horizon in sizes.horizons]
    yield sweep("horizon", (*sizes.agents, SEQUENTIAL) if sizes.thorough else sizes.agents, near)
    horizon = round(LEAST**2 * max(sizes.diameters))
    yield sweep("diameter", sizes.agents, [(LEAST, LEAST, diameter, horizon) for diameter in sizes.diameters])
    horizon = round(DISTANCE * max(states * actions for states, actions in sizes.pairs))
    wide = [(states, actions, DISTANCE, horizon) for states, actions in sizes.pairs]
    yield sweep("pairs", (*BLIND, LEARNER) if sizes.thorough else BLIND, wide)
    fewest, twice = min(sizes.actions), 2.0 * DISTANCE
    deep = [(states, fewest, twice, round(twice * max(sizes.states) * fewest)) for states in sizes.states]
    yield sweep("states", sizes.agents, deep, TREE)
    horizon = round(DISTANCE * LEAST * max(sizes.actions))
    yield sweep("actions", sizes.agents, [(LEAST, actions, DISTANCE, horizon) for actions in sizes.actions], TREE)


def over_episodes(sizes: MinimaxSizes) -> TrialSweep:
    """One trial an agent: K grows within a run."""
    point = (LEAST, LEAST, DISTANCE, min(sizes.horizons), sizes.many)
    agents = (*BLIND, RANDOM, *(LEARNING if sizes.thorough else (RECALL,)), SEQUENTIAL, POOLED)
    lengths = dict.fromkeys(agents, sizes.episodes) | {ORACLE: sizes.told_episodes}
    return TrialSweep("minimax_episodes", "episodes", {name: (Trial(name, *point, k),) for name, k in lengths.items()})


def over_constants(sizes: MinimaxSizes) -> TrialSweep:
    """lambda = c sqrt(SA / (HD)) with other c."""
    point = (LEAST, LEAST, DISTANCE, max(sizes.horizons) // 2, sizes.runs, sizes.each, TWO_STATES)
    rows = {name: tuple(Trial(name, *point, constant) for constant in sizes.constants) for name in sizes.agents}
    return TrialSweep("minimax_constant", "constant", rows)


def over_long_horizons(sizes: MinimaxSizes) -> TrialSweep:
    """UCRL2 in the smallest family, for several c."""
    rows = {
        f"c = {constant:g}": tuple(
            Trial(UCRL, *SMALLEST, horizon, sizes.runs // 2, 1, TWO_STATES, constant) for horizon in sizes.long_horizons
        )
        for constant in UCRL_CONSTANTS
    }
    return TrialSweep("minimax_ucrl2", "horizon", rows)


def measure(quick: bool, seed: int, executor: Executor, sizes: MinimaxSizes | None = None) -> Findings:
    """All claims on the minimax regime, with the sizes of a quick or of a full run, or with others."""
    sizes = sizes or (QUICK if quick else FULL)
    powered, episodes = list(powers(sizes)), over_episodes(sizes)
    constants, long = over_constants(sizes), over_long_horizons(sizes)
    slowest_first = [episodes, *reversed(powered), constants, long]
    results = carry_out([trial for sweep in slowest_first for trial in sweep.trials()], KEY, seed, executor)
    findings = _linear(episodes, results)
    for sweep in powered:
        findings += _power(sweep, results)
    findings += _above([trial for sweep in powered for trial in sweep.trials()], results)
    findings += _hardest(constants, results) + _ucrl2(long, results)
    return (findings + _within(results) + _no_room(powered)).of_group("minimax")


def _linear(sweep: TrialSweep, results: TrialRegrets) -> Findings:
    """Regret summed up to K, within the same runs."""
    x, samples = {}, {}
    for name, (trial,) in sweep.rows.items():
        x[name], samples[name] = summed(results[trial])
    lines, series = fits(x, samples)
    some, whole = sweep.first[0], [min(min(row) for row in x.values()), max(max(row) for row in x.values())]
    for label, bound in (("lower bound", some.lower_bound()), ("UCRL2's upper bound", some.upper_bound())):
        series.append(theory(label, whole, [k * bound for k in whole]))
    remembering = slopes({name: lines[name] for name in REMEMBERING if name in lines})
    told = Claim(
        f"{ORACLE}, which is told the task, profits from earlier episodes",
        LEMMA_5,
        Bounded(1.0, "the slope", side="<"),
        {ORACLE: lines[ORACLE].exponent},
        remark="the contrast to the others: the task is what earlier episodes do not tell",
    )
    others = [name for name in lines if name not in (*REMEMBERING, ORACLE)]
    caption = (
        f"{some.sizes}; lambda = {some.separation:.3g}, {some.pairs // 4} worlds. Not judged: {listed(others)}, which "
        f"keep nothing from one episode to the next or act at random throughout, so that nothing else was possible; "
        f"{AT_RANDOM}."
    )
    figure = Chart(sweep.figure, "Regret against episodes", "K", "regret", series, caption=caption, to_scale=False)
    return Findings.shown(figure, _no_use(remembering), told)


def _no_use(remembering: Mapping[str, Measurement]) -> Claim:
    """What agents make of earlier episodes that know only what these taught."""
    statement = (
        "Where worlds are too alike to be told apart within an episode, remembering earlier episodes does not help "
        "whoever is not told which world it is in"
    )
    costs = [
        f"{10.0**one.value:.3g} times ({10.0**one.low:.3g} to {10.0**one.high:.3g}) as much for {name}"
        for name, one in remembering.items()
    ]
    return Claim(
        f"{listed(list(remembering))}: regret grows at least linearly in K, whatever they remember",
        LEMMA_5,
        AT_LEAST_LINEAR,
        remembering,
        plain=Plain(statement, f"ten times as many episodes cost {listed(costs)}"),
    )


def _power(sweep: TrialSweep, results: TrialRegrets) -> Findings:
    """The regret of an episode along one size, with slopes that are shown and not judged."""
    _, series = fits(dict.fromkeys(sweep.rows, sweep.x), sweep.samples(results))
    row = sweep.first
    in_trees = row[0].family == TREE
    series.append(theory("lower bound, 0.015 sqrt(DSAH) - D / 8", sweep.x, map(Trial.lower_bound, row)))
    if not in_trees:
        series.append(theory("never the special action", sweep.x, map(Trial.never_special, row)))
    title = f"Regret of an episode against {sweep.letter}, {'trees' if in_trees else 'two states'}"
    caption = f"{row[-1].sizes} at the right end; lambda = {CONSTANT:g} sqrt(SA / (HD)) everywhere. {TIED}. "
    caption += f"{SHARE}." if in_trees else f"{AT_RANDOM}."
    return Findings.shown(Chart(sweep.figure, title, sweep.letter, PER_EPISODE, series, caption=caption))


def _above(trials: Sequence[Trial], results: TrialRegrets) -> Findings:
    """All points against the lower bound."""
    ratios = {trial: mean_of(per_episode(results[trial]) / trial.lower_bound()) for trial in trials}
    statement = "no agent's regret is below 0.015 sqrt(DSAH) - D / 8 an episode"
    estimates = {f"{trial.agent}, {trial.family}, {trial.sizes}": ratio for trial, ratio in ratios.items()}
    claim = Claim(statement, LEMMA_5, Bounded(1.0, side=">="), estimates, unit="in multiples of it")
    title = "Regret of an episode, in multiples of the lower bound"
    words = "All points of the sweeps over H, D, SA, S and A."
    figure = Chart("minimax_above", title, "sqrt(DSAH)", "regret / bound", [], caption=words)
    return Findings.shown(_scattered(figure, ratios, "unit"), claim)


def _within(results: TrialRegrets) -> Findings:
    """All trials of UCRL2 against its bound, in families of two states; judged are those whose bound is below H."""
    trials = [trial for trial in results if trial.agent == UCRL and trial.family == TWO_STATES]
    shares = {trial: mean_of(per_episode(results[trial]) / trial.upper_bound()) for trial in trials}
    telling = [trial for trial in trials if trial.upper_bound() < trial.horizon]
    says = "the bound exceeds H everywhere here, so it says nothing"
    if telling:
        says = (
            f"the bound says something from H = {min(trial.horizon for trial in telling):,} on; elsewhere it exceeds H"
        )
    statement = "UCRL2 in every episode stays within 34 D S sqrt(2 A H ln H) + D + 1"
    estimates = {
        f"{trial.sizes}, c = {trial.constant:g}, {trial.runs} runs of {trial.episodes}": shares[trial]
        for trial in telling
    }
    rule = Bounded(1.0, "where the bound is below H", side="<=")
    claim = Claim(statement, UCRL2, rule, estimates, remark=says, unit="as a share of it")
    title, words = "UCRL2's regret of an episode, as a share of its bound", "All points of UCRL2, two states."
    figure = Chart("minimax_within", title, "H", "regret / bound", [], caption=words)
    return Findings.shown(_scattered(figure, shares, "horizon"), claim)


def _scattered(chart: Chart, ratios: Mapping[Trial, Measurement], axis: str) -> Chart:
    """The chart with ratios by agent along a size of the trials, against a line at 1."""
    places = sorted((float(getattr(trial, axis)), ratio, trial.agent) for trial, ratio in ratios.items())
    series = []
    for agent in dict.fromkeys(trial.agent for trial in ratios):
        own = [(x, ratio) for x, ratio, whose in places if whose == agent]
        series.append(intervals(agent, [x for x, _ in own], [ratio for _, ratio in own]))
    return chart._replace(series=[*series, level("the bound", [x for x, *_ in places], 1.0)])


def _hardest(sweep: TrialSweep, results: TrialRegrets) -> Findings:
    """How the constant of lambda matters: too close to be worth finding, far enough to be found."""
    row, x = sweep.first, sweep.x
    samples = {name: [runs / row[0].unit for runs in rows] for name, rows in sweep.samples(results).items()}
    limit = row[0].lower_bound() / row[0].unit
    series = [points(name, x, rows) for name, rows in samples.items()]
    series.append(level("lower bound at the hardest lambda", x, limit))
    series.append(theory("never the special action", x, [trial.never_special() / trial.unit for trial in row]))
    best = [min((mean_of(rows[i]), name) for name, rows in samples.items()) for i in range(len(x))]
    (hardest, name), at = max(zip(best, x, strict=True), key=lambda place: place[0][0].low)
    statement = "there is a lambda of order sqrt(SA / (HD)) at which the best agent loses that much, too"
    rule = Bounded(limit, "of the best agent, at the hardest c", side=">=")
    remark = f"hardest at c = {at:g}, for {name}; with smaller c there is less to lose, with larger c less to search"
    claim = Claim(statement, LEMMA_5, rule, {name: hardest}, remark=remark, unit="in multiples of sqrt(DSAH)")
    title = "Regret of an episode against c, lambda = c sqrt(SA / (HD))"
    y = f"{PER_EPISODE} / sqrt(DSAH)"
    return Findings.shown(Chart(sweep.figure, title, "c", y, series, caption=row[0].sizes + "."), claim)


def _ucrl2(sweep: TrialSweep, results: TrialRegrets) -> Findings:
    """UCRL2 at the c that is worst for it at each H."""
    samples, row, x = sweep.samples(results), sweep.first, sweep.x
    line = line_through(x, worst_of(samples.values()))
    series = [points(name, x, rows) for name, rows in samples.items()]
    series.append(fitted("the worst c", x, line))
    series.append(theory("34 D S sqrt(2 A H ln H) + D + 1", x, map(Trial.upper_bound, row)))
    series.append(theory("all that there is, H", x, x))
    bound = slope_of(x, map(Trial.upper_bound, row)).slope
    rule = Exponent(
        bound,
        f"the slope of its bound over these H, and {DOUBLING:g}, as samples double between two policies, which may "
        "make a factor 2 over two decades",
        most=bound + DOUBLING,
    )
    statement = "UCRL2's regret of an episode grows no faster than sqrt(H ln H), at the lambda that is worst for it"
    claim = Claim(statement, UCRL2, rule, {UCRL: line.exponent})
    caption = "Two states, two actions, diameter 2; lambda = c / sqrt(H)."
    title = "UCRL2: regret of an episode against H"
    return Findings.shown(Chart(sweep.figure, title, "H", PER_EPISODE, series, caption=caption), claim)


def _no_room(powered: Sequence[TrialSweep]) -> Findings:
    """H0 / H at the points of all sweeps in families of two states."""
    series: list[Series] = []
    for sweep in powered:
        row, x = sweep.first, sweep.x
        if row[0].family == TWO_STATES:
            ratios = [trial.clustering_horizon() / trial.horizon for trial in row]
            label = f"{sweep.letter} varied, {x[0]:,g} to {x[-1]:,g}"
            series.append(Series(label, [float(trial.horizon) for trial in row], ratios))
    statement = "where lambda is so small, AOMultiRL's clustering phase does not fit into an episode"
    rule = Bounded(1.0, "at every point", side=">", by="computed")
    estimates = computed(min(min(one.y) for one in series))
    remark = "of order D^2, whatever H: with lambda tied to H so is H0; AOMultiRL refuses such a horizon"
    claim = Claim(statement, LEMMA_5, rule, estimates, remark=remark, unit="as H0 / H")
    series.append(level("H0 = H", [x for one in series for x in one.x], 1.0))
    tied = f"Two states, lambda = {CONSTANT:g} sqrt(SA / (HD))"
    caption = f"{tied}; D = {DISTANCE:g} and SA = {LEAST**2} where they are not varied; computed."
    title = "AOMultiRL's clustering phase, in episodes"
    return Findings.shown(Chart("minimax_room", title, "H", "H0 / H", series, caption=caption), claim)

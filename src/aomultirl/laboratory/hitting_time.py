"""Why a finite hitting time (Assumption 12): 2-JAO worlds have none, and what ExploreID and GOSPRL do there.

H0 = 12 D |Gamma| N needs a bound D on the time in which *every* policy meets any state, and on 2-JAO worlds left
actions alone never meet the right state, so H0 is void.  Run with a finite guess for D, ExploreID may have its samples
all the same, since it walks at random where it sees nothing to do.  In a lock it has not: states 0 to L, the first
action one further, the second back to 0, and samples are wanted in state L.  The diameter of a lock is L; a random walk
takes 2^L.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import agents
from aomultirl import theory as bounds
from aomultirl.agents.base import NOTHING, Setting
from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import Exactly, Exponent, Measurement, Rate, computed, exact
from aomultirl.engine.counts import CountTable, visits_of
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase
from aomultirl.experiments.episodes import simulated
from aomultirl.laboratory.exponents import Fit, Floats, fit_of, intervals, level, line_through, rate, slope_of, theory
from aomultirl.laboratory.findings import APPENDIX_G, ASSUMPTION_12, LEMMA_14, Findings
from aomultirl.laboratory.jao_trees import EXPLORE_ID, EXPLORERS, FAILURE, GOSPRL
from aomultirl.mdp import MDP
from aomultirl.refusals import Refusal
from aomultirl.worlds.jao import HUB, two_jao
from aomultirl.worlds.jao_tree import two_jao_tree

TWO_JAO, LOCK = "2-JAO", "lock"
ACTIONS, LEVEL = 4, 0.5
"""Left actions of the 2-JAO world; lambda."""
DIAMETER = 40.0
"""D of the 2-JAO worlds of what is computed."""
STEPS = (1, 3, 10, 30, 100, 300, 1000)
"""At which waiting is cut off."""
SHARES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
"""Of actions that are taken at random."""
PLACES = {EXPLORE_ID: LEMMA_14, GOSPRL: APPENDIX_G}
GATHERS = Rate(
    1.0 - FAILURE, "1 - p, which the lemma promises where the hitting time is finite", reached=1.0 - FAILURE, limit=0.75
)
FALLS_SHORT = Rate(FAILURE, "p; if a diameter would do, the lemma would promise 1 - p", reached=FAILURE, limit=0.25)
GROWTH: dict[str, tuple[str, Callable[[float], float], str]] = {
    EXPLORE_ID: ("2^L", lambda length: 2.0**length, "it sees one step ahead, and walks at random else"),
    GOSPRL: ("L + 1", lambda length: length + 1.0, "it plans; learning the way is part of it"),
}
"""What the steps for a sample grow like in a lock of L, in words and as a function, and why."""


@lru_cache(maxsize=16)
def world(name: str, size: int) -> MDP:
    """A 2-JAO world of diameter at most ``size``, or a lock of so many steps."""
    if name == TWO_JAO:
        return next(iter(two_jao(ACTIONS, float(size), LEVEL)))
    table = [[{min(state + 1, size): 1.0}, {0: 1.0}] for state in range(size)]
    return MDP([*table, [{0: 1.0}, {0: 1.0}]], np.zeros((size + 1, 2)))


class Gathered(NamedTuple):
    """What R episodes gathered, (R,) each: steps; and samples of pairs of Gamma, N of each at the most."""

    steps: Floats
    samples: Floats

    @property
    def steps_a_sample(self) -> Floats:
        """Steps for a sample, (R,)."""
        return np.asarray(self.steps / np.maximum(self.samples, 1.0))


@dataclass(frozen=True)
class Gathering:
    """Episodes in which an explorer has H0 steps to get the paper's N samples of every pair of Gamma.

    size: D of a 2-JAO world, L of a lock.
    guess: in place of the hitting time.
    """

    explorer: str
    world: str
    size: int
    guess: float
    repetitions: int

    @property
    def targets(self) -> NDArray[np.bool_]:
        """Gamma: the left pairs of the hub, or the first pair of the last state."""
        model = world(self.world, self.size)
        mask = np.zeros((model.n_states, model.n_actions), bool)
        if self.world == TWO_JAO:
            mask[HUB, :ACTIONS] = True
        else:
            mask[-1, 0] = True
        return mask

    @property
    def needed(self) -> int:
        """N."""
        return bounds.samples_needed(len(self.targets), int(self.targets.sum()), LEVEL, 1, FAILURE)

    @property
    def wanted(self) -> int:
        """|Gamma| N."""
        return int(self.targets.sum()) * self.needed

    @property
    def horizon(self) -> int:
        """H0 with the guess."""
        sizes = (len(self.targets), int(self.targets.sum()))
        return bounds.clustering_horizon(*sizes, LEVEL, self.guess, 1, FAILURE)

    def play(self, seed: int) -> Gathered:
        """Play the episodes."""
        model, targets, needed, horizon = world(self.world, self.size), self.targets, self.needed, self.horizon
        rows = []
        for source in streams(np.random.SeedSequence(seed), 2 * self.repetitions).reshape(-1, 2, 4):
            counts = CountTable(targets.size)
            explorer = EXPLORERS[self.explorer](targets, needed)
            steps = simulated(model, 0, *source).run(Phase(explorer, horizon, counts, NOTHING)).steps
            visits = (visits_of(counts.record, int(pair)) for pair in np.flatnonzero(targets))
            rows.append((steps, sum(min(count, needed) for count in visits)))
        steps, samples = np.array(rows, float).T
        return Gathered(steps, samples)


class GatheringSizes(NamedTuple):
    """How much explorers are run.

    diameter, shares: D of the 2-JAO world, and guesses in multiples of it, the last 1.
    locks: their lengths, ascending.
    repetitions, judged: episodes a point; and of the last guess and of the longest lock, whose rates are claimed.
    """

    diameter: int
    shares: tuple[float, ...]
    locks: tuple[int, ...]
    repetitions: int
    judged: int

    def guess(self, explorer: str, share: float) -> Gathering:
        """On the 2-JAO world."""
        episodes = self.judged if share == self.shares[-1] else self.repetitions
        return Gathering(explorer, TWO_JAO, self.diameter, share * self.diameter, episodes)

    def lock(self, explorer: str, length: int) -> Gathering:
        """In a lock, with its length for the hitting time."""
        episodes = self.judged if length == self.locks[-1] else self.repetitions
        return Gathering(explorer, LOCK, length, float(length), episodes)

    def tasks(self) -> Iterator[Gathering]:
        """All that is run."""
        for name in GROWTH:
            yield from (self.guess(name, share) for share in self.shares)
            yield from (self.lock(name, length) for length in self.locks)


QUICK = GatheringSizes(64, (1 / 512, 1 / 128, 1 / 32, 1.0), (4, 6, 8, 10), repetitions=4, judged=32)
FULL = GatheringSizes(
    160, (1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 16, 1.0), (4, 6, 8, 10, 12), repetitions=20, judged=48
)


def measure(sizes: GatheringSizes, results: Mapping[Any, Gathered]) -> Findings:
    """The claims on the hitting time, with what came of all tasks."""
    guessed = {name: {share: results[sizes.guess(name, share)] for share in sizes.shares} for name in GROWTH}
    locked = {name: {length: results[sizes.lock(name, length)] for length in sizes.locks} for name in GROWTH}
    lines = {
        name: line_through([GROWTH[name][1](length) for length in row], [one.steps_a_sample for one in row.values()])
        for name, row in locked.items()
    }
    findings = compute() + Findings.shown(_guess_chart(sizes, guessed), *_guess(sizes, results))
    return findings + Findings.shown(_lock_chart(locked, lines), *_growth(sizes, lines), *_locked(sizes, results))


def compute() -> Findings:
    """The claims that nothing needs to be run for."""
    return _no_hitting_time() + _no_horizon()


def expected_times(model: MDP, steps: Sequence[int], *, slowest: bool) -> list[float]:
    """max over s != s' of the expected time from s to s', cut off at so many steps, by the slowest or quickest way."""
    table, size, shown = model.transitions, model.n_states, []
    times = np.zeros((size, size))
    for step in range(1, max(steps) + 1):
        ahead = 1.0 + table @ times
        times = ahead.max(axis=1) if slowest else ahead.min(axis=1)
        np.fill_diagonal(times, 0.0)
        if step in steps:
            shown.append(float(times.max()))
    return shown


def _no_hitting_time() -> Findings:
    hard: Mapping[str, Sequence[MDP]] = {
        "2-JAO worlds": list(two_jao(ACTIONS, DIAMETER, LEVEL)),
        "2-JAO trees": list(two_jao_tree(12, 13, 16.0, LEVEL)),
    }
    models = [model for family in hard.values() for model in family]
    statement = "no 2-JAO world has a finite hitting time, although all have a finite diameter"
    estimates = {
        "worlds of finite hitting time": exact(sum(bool(np.isfinite(model.hitting_time())) for model in models)),
        "worlds of infinite diameter": exact(sum(not np.isfinite(model.diameter()) for model in models)),
    }
    remark = (
        f"{' and '.join(f'{len(family)} {name}' for name, family in hard.items())}; the paper's own hard worlds "
        "break its assumption"
    )
    claim = Claim(statement, ASSUMPTION_12, Exactly(0.0), estimates, remark=remark, unit="in worlds")
    sets = {**hard, "JAO trees": list(two_jao_tree(8, 5, 16.0, LEVEL, kind="jao")), "locks": [world(LOCK, 8)]}
    last = {name: family[-1] for name, family in sets.items()}
    waits = [expected_times(model, STEPS, slowest=True) for model in last.values()]
    series = [Series("the slowest policy, in all of them", STEPS, np.min(waits, axis=0).tolist())]
    for name, model in last.items():
        quick = expected_times(model, STEPS, slowest=False)
        series.append(Series(f"the quickest, {name}: diameter {model.diameter():.3g}", STEPS, quick))
    series.append(theory("T: never met", (STEPS[0], STEPS[-1]), (STEPS[0], STEPS[-1])))
    title = "Expected time until a state is met, cut off at T, for the two states for which it is longest"
    caption = (
        "One world of each kind; of the slowest policy the least of all worlds is shown. Computed, over all "
        "policies: the quickest ends at the diameter, the slowest at the hitting time, here never."
    )
    figure = Chart("assumptions_times", title, "T", "steps", series, caption=caption)
    return Findings.shown(figure, claim)


def _begin(make: Callable[..., agents.Agent]) -> None:
    """Let an agent that is to find the hitting time by itself choose its H0."""
    models = two_jao(ACTIONS, DIAMETER, LEVEL)
    agent = make(models, LEVEL - 1e-6, None, FAILURE, horizon=10**9)
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, 1))


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "theory.clustering_horizon": lambda: bounds.clustering_horizon(3, ACTIONS, LEVEL, np.inf, 1, FAILURE),
    "AOMultiRL": lambda: _begin(agents.AOMultiRL),
    "TwoStageAOMultiRL": lambda: _begin(agents.TwoStageAOMultiRL),
}
"""Who is asked for an H0 without a finite hitting time."""


def _is_refused(attempt: Callable[[], Any]) -> bool:
    """Whether it is refused because of the hitting time, and of nothing else."""
    try:
        attempt()
    except ValueError as error:
        return isinstance(error, Refusal) and error.argument == "hitting_time"
    return False


def _no_horizon() -> Findings:
    """H0 where actions are random now and then, so that the hitting time is finite."""
    statement = "there is no H0 for an infinite hitting time, and ExploreID's agents refuse to choose one"
    rule = Exactly(len(ATTEMPTS), "refused, with the infinite hitting time as the reason")
    estimates = computed(sum(map(_is_refused, ATTEMPTS.values())))
    claim = Claim(statement, LEMMA_14, rule, estimates, remark=f"tried: {', '.join(ATTEMPTS)}", unit="in attempts")

    def horizon(time: float) -> float:
        return float(bounds.clustering_horizon(3, ACTIONS, LEVEL, time, 1, FAILURE))

    plain = two_jao(ACTIONS, DIAMETER, LEVEL)[0]
    horizons = [horizon(_shaken(plain, share).hitting_time()) for share in SHARES]
    line = slope_of(SHARES, horizons)
    series = [
        Series("H0", SHARES, horizons),
        fit_of("H0", f"slope {line.slope:.2f}", SHARES, [line(share) for share in SHARES]),
        level("H0 with the diameter in place of the hitting time", SHARES, horizon(plain.diameter())),
    ]
    title = "A 2-JAO world: ExploreID's H0, a share of the actions being random"
    caption = (
        f"H0 = 12 D |Gamma| N with the hitting time for D, which is finite if actions are random now and then; "
        f"D = {DIAMETER:g}, lambda = {LEVEL:g}. Without random actions there is no H0, and it is refused."
    )
    figure = Chart("assumptions_void", title, "share of random actions", "steps", series, caption=caption)
    return Findings.shown(figure, claim)


def _shaken(model: MDP, share: float) -> MDP:
    """The same world in which, whatever is chosen, such a share of the actions is random."""
    table = model.transitions
    return MDP((1.0 - share) * table + share * table.mean(axis=1, keepdims=True), model.rewards)


def _guess(sizes: GatheringSizes, results: Mapping[Any, Gathered]) -> Iterator[Claim]:
    for name in GROWTH:
        task = sizes.guess(name, sizes.shares[-1])
        spent = results[task].steps.mean() / task.horizon
        explored = name == EXPLORE_ID
        luck = "a guess that works, and no theorem says so" if explored else "the appendix leaves the factor open"
        statement = f"{name} has its N samples within H0 on a 2-JAO world, with D in place of the hitting time"
        estimates = {name: rate(results[task].samples == task.wanted)}
        remark = (
            f"{task.repetitions} episodes, D = {sizes.diameter}, N = {task.needed}; it takes {spent:.1%} of H0, "
            f"as a sample takes 1 + D / 8 steps; {luck}"
        )
        yield Claim(statement, PLACES[name], GATHERS, estimates, remark=remark, unit="as a share of episodes")


def _growth(sizes: GatheringSizes, lines: Mapping[str, Fit]) -> Iterator[Claim]:
    for name, (words, _, why) in GROWTH.items():
        statement = f"in a lock {name} takes steps of order {words} for a sample"
        rule = Exponent.near(1.0, 0.1, f"as an exponent of {words}, the rest being the first way there")
        remark = f"L from {min(sizes.locks)} to {max(sizes.locks)}; {why}"
        yield Claim(statement, ASSUMPTION_12, rule, {name: lines[name].exponent}, remark=remark)


def _locked(sizes: GatheringSizes, results: Mapping[Any, Gathered]) -> Iterator[Claim]:
    for name, often, rule in ((EXPLORE_ID, "seldom", FALLS_SHORT), (GOSPRL, "mostly", GATHERS)):
        task = sizes.lock(name, sizes.locks[-1])
        share = spread(results[task].samples / task.wanted)
        statement = f"in a lock, with L for the hitting time, {name} {often} has its N samples"
        estimates = {name: rate(results[task].samples == task.wanted)}
        remark = (
            f"{task.repetitions} episodes in a lock of L = {task.size}, N = {task.needed}, H0 = "
            f"{task.horizon:,}; it has {share.value:.1%} of them, from {share.low:.1%} to {share.high:.1%}"
        )
        yield Claim(statement, PLACES[name], rule, estimates, remark=remark, unit="as a share of episodes")


def spread(values: Floats) -> Measurement:
    """The mean, the least and the most."""
    low, high = float(values.min()), float(values.max())
    return Measurement(min(max(float(values.mean()), low), high), low, high)


def _guess_chart(sizes: GatheringSizes, guessed: Mapping[str, Mapping[float, Gathered]]) -> Chart:
    series = []
    for name, row in guessed.items():
        wanted = sizes.guess(name, 1.0).wanted
        series.append(intervals(name, list(row), [spread(gathered.samples / wanted) for gathered in row.values()]))
    enough = (1.0 + sizes.diameter / 8.0) / (12.0 * sizes.diameter)
    series.append(theory("enough for 1 + D / 8 steps a sample", [enough, enough], [0.0, 1.0]))
    return Chart(
        "assumptions_guess",
        "A 2-JAO world: what is gathered within H0, with a guess in place of the infinite hitting time",
        "guess / D",
        "share of the samples wanted",
        series,
        log_y=False,
        caption=f"N samples of each left pair; D = {sizes.diameter}; bars from the least to the most.",
    )


def _lock_chart(locked: Mapping[str, Mapping[int, Gathered]], lines: Mapping[str, Fit]) -> Chart:
    series = []
    for name, row in locked.items():
        locks, (words, size, _), line = [float(length) for length in row], GROWTH[name], lines[name]
        series.append(intervals(name, locks, [spread(gathered.steps_a_sample) for gathered in row.values()]))
        series.append(fit_of(name, f"({words})^{line.slope:.2f}", locks, [line(size(length)) for length in locks]))
    series.append(theory("2^L", locks, [2.0**length for length in locks]))
    series.append(theory("H0 / N with the diameter, 12 L", locks, [12.0 * length for length in locks]))
    title = "A lock: steps for a sample of its last state"
    caption = "Above the line of H0 the samples are not to be had in time; bars from the least to the most."
    return Chart("assumptions_lock", title, "L, the diameter", "steps a sample", series, log_x=False, caption=caption)

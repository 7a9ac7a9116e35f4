"""Why a finite diameter (Assumption 4, Figure 4): non-communicating 2-JAO worlds.

What can be told from the adversary's start is computed; what becomes of agents there is run (:mod:`.blocked_worlds`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from aomultirl import theory as bounds
from aomultirl.analysis.charts import Chart, Series
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.phrases import listed
from aomultirl.analysis.rules import Bounded, Exactly, Measurement, Rate, computed, exact
from aomultirl.laboratory.blocked_worlds import (
    AGENTS,
    DIAMETER,
    FAILURE,
    INFORMED,
    LOOKING,
    NAMING,
    WORLDS,
    CourseRecord,
    CourseResults,
    CourseSizes,
    told,
    worlds,
)
from aomultirl.laboratory.exponents import diagonal, fit_of, intervals, level, mean_of, slope_of, theory
from aomultirl.laboratory.findings import FIGURE_4, Findings
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.jao import HUB, LEFT

LEVELS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
"""lambda of the charts of what is computed."""
STEPS = (1, 2, 3, 5, 10, 20, 50, 100)
"""At which the probability to have reached a state is shown."""
MARGIN = 0.15
"""From a share that is claimed to the limit of its interval, where nothing else suggests itself."""
CHANCE, SAME = 1.0 / WORLDS, 1.0 - 1.0 / WORLDS
"""How often worlds are named by chance, and what always the same right action loses."""
NAMES = Rate(
    1.0 - FAILURE,
    "the interval of who is right in three of five begins below",
    reached=1.0 - FAILURE,
    limit=1.0 - FAILURE - MARGIN,
)
BY_CHANCE = Rate(
    CHANCE,
    "who names by chance is above 1 / M every second time, 2 / M is no chance",
    reached=CHANCE + MARGIN,
    limit=2.0 * CHANCE,
)
LOSES = Rate(
    SAME,
    "who remembers one right action loses just that, up to chance; who knows every second world is far below",
    reached=SAME - MARGIN / 3.0,
    limit=SAME - MARGIN,
    slack=0.02,
    interval="Student",
)

QUICK = CourseSizes(levels=(0.75, 0.95), courses=4, slow=1, blocks=4)
FULL = CourseSizes(levels=(0.4, 0.55, 0.75, 0.95), courses=6, slow=2, blocks=4)


def measure(sizes: CourseSizes, results: Mapping[Any, Any]) -> Findings:
    """The claims on the diameter, with what came of all tasks."""
    most = sizes.levels[-1]
    blocked, free = ({one: worlds(one, most, there) for one in (*LEVELS, most)} for there in (False, True))
    horizon = told(most, False).horizon
    findings = _reach(blocked, free[LEVELS[0]]) + _apart(most, horizon, blocked) + _needed(horizon, blocked, free)
    courses = CourseResults(sizes, results)
    findings += Findings.shown(_visits_chart(courses), _untouched(courses))
    findings += Findings.shown(_naming_chart(courses), *_naming(courses))
    return findings + Findings.shown(_losing_chart(courses), _losing(courses))


def reachable(model: MDP, start: int) -> set[int]:
    """The states that some policy reaches from ``start`` with positive probability."""
    return set(breadth_first_order(model.transitions.max(axis=1), start, return_predecessors=False).tolist())


def chances(model: MDP, start: int, goal: int, steps: Sequence[int]) -> list[float]:
    """The largest probability, over all policies, of having been in ``goal`` after so many steps from ``start``."""
    table, values, shown = model.transitions, np.zeros(model.n_states), []
    values[goal] = 1.0
    for step in range(1, max(steps) + 1):
        values = (table @ values).max(axis=1)
        values[goal] = 1.0
        if step in steps:
            shown.append(float(values[start]))
    return shown


def _reach(blocked: Mapping[float, ModelSet], free: ModelSet) -> Findings:
    closed = [model for models in blocked.values() for model in models]
    never, soon = (np.max([chances(model, HUB, LEFT, STEPS) for model in models], axis=0) for models in (closed, free))
    span = f"lambda from {min(blocked):g} to {max(blocked):g}"
    statement = "from the adversary's start no policy reaches the state in which the worlds differ by lambda"
    rule = Exactly(0.0, "over all policies and worlds")
    estimates = {
        f"the largest probability within {max(STEPS)} steps": exact(float(never.max())),
        "worlds in which a path leads there": exact(sum(LEFT in reachable(model, HUB) for model in closed)),
        "worlds of finite diameter": exact(sum(model.is_communicating() for model in closed)),
    }
    claim = Claim(statement, FIGURE_4, rule, estimates, remark=f"{len(closed)} worlds, {span}")
    series = [
        Series("non-communicating 2-JAO", STEPS, never.tolist()),
        Series(f"2-JAO, lambda = {LEVELS[0]:g}", STEPS, soon.tolist()),
        theory("1 - (1/2 - lambda / 2)^t", STEPS, [1.0 - (0.5 - LEVELS[0] / 2.0) ** t for t in STEPS]),
        level("never: 0", STEPS, 0.0),
    ]
    figure = Chart(
        "assumptions_reach",
        "2-JAO worlds: how likely a policy reaches the left state from the hub",
        "steps t",
        "probability, the best policy",
        series,
        log_y=False,
        caption=f"D = {DIAMETER:g}; the largest over all policies and worlds, non-communicating for all {span}; "
        "computed.",
    )
    return Findings.shown(figure, claim)


def _apart(most: float, horizon: int, blocked: Mapping[float, ModelSet]) -> Findings:
    inside = sorted(reachable(blocked[most][0], HUB))
    seen = {one: _separation(models, inside) for one, models in blocked.items()}
    gap = 2.0 * float(blocked[most][0].transitions[HUB, WORLDS, 1] - 4.0 / DIAMETER)
    statement = "where the learner can be, worlds are only 2 Delta apart, however large lambda is"
    rule = Exactly(gap, "for every lambda", rounding=1e-12)
    estimates = {f"lambda = {one:g}": exact(apart) for one, apart in seen.items()}
    remark = f"Delta = sqrt(S A / (3 H D)) / 20 with H = {horizon:,}, D = {DIAMETER:g}, S A = {12 * WORLDS}"
    claim = Claim(statement, FIGURE_4, rule, estimates, remark=remark, unit="as an l1 distance")
    series = [
        Series("all states", LEVELS, [blocked[one].separation() for one in LEVELS]),
        Series("states that can be reached from the hub", LEVELS, [seen[one] for one in LEVELS]),
        diagonal("lambda", LEVELS),
        level("2 Delta", LEVELS, gap),
    ]
    title = "Non-communicating 2-JAO worlds: how far apart they are"
    caption = f"The smallest of all pairs of worlds; H = {horizon:,}, D = {DIAMETER:g}; computed."
    return Findings.shown(Chart("assumptions_apart", title, "lambda", "l1 distance", series, caption=caption), claim)


def _separation(models: ModelSet, states: list[int]) -> float:
    apart = models.distances()[:, :, states].max(axis=(2, 3))
    return float(apart[~np.eye(len(models), dtype=bool)].min())


def _needed(horizon: int, blocked: Mapping[float, ModelSet], free: Mapping[float, ModelSet]) -> Findings:
    hard, easy = (
        {one: float(bounds.identification_lower_bound(models, failure=FAILURE).min()) for one, models in sets.items()}
        for sets in (blocked, free)
    )
    least = min(hard.values())
    claim = Claim(
        f"whoever is wrong with probability {FAILURE:g} at most needs more steps than an episode has, all worlds known",
        FIGURE_4,
        Bounded(1.0, "a linear program, for every lambda", side=">", by="computed"),
        computed(least / horizon),
        remark=f"{least:,.0f} steps, H = {horizon:,}; where the left state can be reached the same bound is "
        f"{min(easy.values()):,.0f} to {max(easy.values()):,.0f} steps, lambda from {max(easy):g} to {min(easy):g}",
        unit="in multiples of H",
    )
    within, line = "left state within reach", slope_of(LEVELS, [easy[one] for one in LEVELS])
    series = [
        Series("left state out of reach", LEVELS, [hard[one] for one in LEVELS]),
        Series(within, LEVELS, [easy[one] for one in LEVELS]),
        fit_of(within, f"slope {line.slope:.2f}", LEVELS, [line(one) for one in LEVELS]),
        level("H", LEVELS, horizon),
    ]
    title = f"2-JAO worlds: the least steps in which anybody can be wrong with probability {FAILURE:g} at most"
    sizes = f"M = {WORLDS}, D = {DIAMETER:g}, H = {horizon:,}"
    caption = f"All worlds known, computed by a linear program; {sizes}."
    return Findings.shown(Chart("assumptions_needed", title, "lambda", "steps", series, caption=caption), claim)


def _untouched(courses: CourseResults) -> Claim:
    """What no agent can do, whatever it does: be in the left state, or act on how far the worlds differ there."""
    least, most = courses.sizes.levels[0], courses.sizes.levels[-1]
    runs = [run for name in AGENTS for run in courses.runs(name)]
    apart = (
        float(np.abs(one.astype(float) - other.astype(float)).max())
        for name in AGENTS
        for one, other in zip(*courses.pair(name), strict=True)
    )
    estimates = {
        "visits of the left state": exact(sum(int(run.left.sum()) for run in runs)),
        f"the largest difference in reward, cluster or visits between lambda = {least:g} and {most:g}": exact(
            max(apart)
        ),
    }
    steps, episodes = sum(int(run.steps.sum()) for run in runs), courses.sizes.blocks * WORLDS
    return Claim(
        "no agent ever was in the left state, and with the same randomness each does the same, whatever lambda is",
        FIGURE_4,
        Exactly(0.0),
        estimates,
        remark=f"{steps:,} steps, and {episodes} episodes with either lambda, of {len(AGENTS)} agents that were told "
        f"lambda = {most:g}: {', '.join(AGENTS)}",
    )


def _naming(courses: CourseResults) -> Iterator[Claim]:
    levels, unit = courses.sizes.levels, "as a share of episodes"
    rates = {name: courses.named(name, levels, False) for name in NAMING}
    statement = "no agent names worlds better than by chance, 1 / M"
    blind = Claim(statement, FIGURE_4, BY_CHANCE, rates, remark=f"all lambda together; {_shares(rates)}", unit=unit)
    yield replace(blind, plain=_out_of_sight(blind))
    rates = {f"{name} at {one:g}": courses.named(name, (one,), True) for name in LOOKING for one in levels}
    recall = courses.named("Recall", levels, True)
    yield Claim(
        f"where the left state can be reached {listed(LOOKING)} name worlds with probability 1 - p, at every lambda",
        FIGURE_4,
        NAMES,
        rates,
        remark=f"{_shares(rates)}; with fewer samples of a pair than the paper's N; Recall is out, as it looks for "
        f"reward and not for what tells worlds apart: {recall.value:.0%} ({recall.low:.0%} to {recall.high:.0%})",
        unit=unit,
    )


def _out_of_sight(blind: Claim) -> Plain:
    statement = "Where no way leads to the place at which the worlds differ, no agent can tell which world it is in"
    best = f"the best of {len(blind.estimates)} agents named {blind.measured:.0%} of the worlds rightly"
    return Plain(statement, f"{best}, and who guesses names {CHANCE:.0%}")


def _shares(rates: Mapping[str, Measurement]) -> str:
    return "; ".join(f"{name} {share.value:.0%}" for name, share in rates.items())


def _losing(courses: CourseResults) -> Claim:
    lost = {name: _mean_lost(courses.runs(name)) for name in AGENTS}
    statement = "every agent that is not told the world loses at least as much as always the same right action does"
    estimates = {name: mean for name, mean in lost.items() if name not in INFORMED}
    remark = "; ".join(f"{name} {mean.value:.2f}" for name, mean in lost.items())
    unit = "in multiples of what never taking the special action loses"
    return Claim(statement, FIGURE_4, LOSES, estimates, remark=remark, unit=unit)


def _mean_lost(runs: Sequence[CourseRecord]) -> Measurement:
    """What is lost, in the mean over blocks of M episodes."""
    return mean_of(np.concatenate([run.lost.reshape(-1, WORLDS).mean(axis=1) for run in runs]))


def _visits_chart(courses: CourseResults) -> Chart:
    names = list(AGENTS)

    def shares(agents: Sequence[str], there: bool) -> list[float]:
        runs = [courses.runs(name, there=there) for name in agents]
        return [float(sum(run.left.sum() for run in row) / sum(run.steps.sum() for run in row)) for row in runs]

    return Chart(
        "assumptions_visits",
        "2-JAO worlds: the share of steps that agents spend in the left state",
        "agent",
        "share of steps",
        [
            Series("left state out of reach", range(len(names)), shares(names, False)),
            Series("left state within reach", [names.index(name) for name in NAMING], shares(NAMING, True)),
            level("the paper, out of reach: none", [-0.5, len(names) - 0.5], 0.0),
        ],
        log_x=False,
        log_y=False,
        caption=f"M = {WORLDS}, D = {DIAMETER:g}, lambda = {courses.sizes.levels[-1]:g}, every episode from the hub. "
        "Out of reach all agents were run, within reach those that put episodes in clusters.",
        names=names,
    )


def _naming_chart(courses: CourseResults) -> Chart:
    series, levels, ends = [], courses.sizes.levels, [-0.5, len(NAMING) - 0.5]
    for there, words in ((False, "out of reach"), (True, "within reach")):
        for place, separation in enumerate(levels):
            x = [number + (place + 0.5) / len(levels) * 0.6 - 0.3 for number in range(len(NAMING))]
            rates = [courses.named(name, (separation,), there) for name in NAMING]
            series.append(intervals(f"lambda = {separation:g}, left state {words}", x, rates))
    series += [level("chance, 1 / M", ends, CHANCE), level("1 - p", ends, 1.0 - FAILURE)]
    return Chart(
        "assumptions_blocked",
        "2-JAO worlds: how often an episode is put in the cluster of its world",
        "agent",
        "share of episodes",
        series,
        log_x=False,
        log_y=False,
        caption=f"M = {WORLDS}, D = {DIAMETER:g}, p = {FAILURE:g}, every episode from the hub; 95 % intervals (Clopper "
        "and Pearson). Where SequentialAOMultiRL has no proof it names nothing.",
        names=list(NAMING),
    )


def _losing_chart(courses: CourseResults) -> Chart:
    levels, series, ends = courses.sizes.levels, [], [-0.5, len(AGENTS) - 0.5]
    for run, separation in enumerate((levels[0], levels[-1])):
        x = [number + (run - 0.5) / 4.0 for number in range(len(AGENTS))]
        lost = [_mean_lost([courses.pair(name)[run]]) for name in AGENTS]
        series.append(intervals(f"lambda = {separation:g}", x, lost))
    series.append(level("1 - 1 / M: always the same right action", ends, SAME))
    series.append(level("1 - 1 / (2 M): at random", ends, 1.0 - 0.5 / WORLDS))
    return Chart(
        "assumptions_lost",
        "Non-communicating 2-JAO worlds: what agents lose, whatever lambda is",
        "agent",
        "share lost",
        series,
        log_x=False,
        log_y=False,
        caption="In multiples of what never taking the special action loses; means over blocks of M episodes, with "
        f"95 % intervals, of the course that was run with both; M = {WORLDS}, D = {DIAMETER:g}. "
        f"{listed(INFORMED)} are told the world.",
        names=list(AGENTS),
    )

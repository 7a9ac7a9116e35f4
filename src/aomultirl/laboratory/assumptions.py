"""Why the assumptions: what becomes of learners where the diameter or the hitting time is infinite, and why worlds are
separated by lambda and not by entropy.

A finite diameter (Assumption 4, Figure 4) is here, in :mod:`.assumptions_reach` and in :mod:`.assumptions_blocked`, a
finite hitting time in :mod:`.assumptions_void` and :mod:`.assumptions_hitting`, the entropy pair (Appendix B) in
:mod:`.assumptions_entropy`; :mod:`.assumptions_rates` says how what is sampled is judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import (
    assumptions_entropy,
    assumptions_hitting,
    assumptions_reach,
    assumptions_void,
)
from aomultirl.laboratory.assumptions_blocked import (
    AGENTS,
    DIAMETER,
    FAILURE,
    NAMING,
    SEQUENTIAL,
    WORLDS,
    Course,
    Pairing,
    Played,
)
from aomultirl.laboratory.assumptions_gathering import Gathering
from aomultirl.laboratory.assumptions_rates import CHANCE, LOSES, NAMES, STUDENT, judge, rate
from aomultirl.laboratory.findings import Claim, Figure, Findings, Series
from aomultirl.laboratory.paper_places import FIGURE_4 as PLACE
from aomultirl.laboratory.sweeps import Mean, mean_of
from aomultirl.laboratory.tasks import carry_out

KEY = 10
NAMED, VISITS, LOST = "assumptions_blocked", "assumptions_visits", "assumptions_lost"
LOOKING = tuple(name for name in NAMING if name != "Recall")
"""Agents that look for what tells worlds apart, and succeed where it can be reached; Recall looks for reward."""
INFORMED = ("OracleUCBVI", "OracleLearner", "Optimal")
"""Agents that are told the world."""


class Sizes(NamedTuple):
    """levels: lambda of the figure, ascending, the last that of all agents; courses: of each agent, at each level;
    slow: of SequentialAOMultiRL out of reach, where it is slow; blocks: of M episodes in a course, of which the first
    makes clusters and is not judged; longest: trajectories of the entropy pair; hitting: sizes of the claims on the
    hitting time."""

    levels: tuple[float, ...]
    courses: int
    slow: int
    blocks: int
    longest: int
    hitting: assumptions_hitting.Sizes

    def blocked(self, agent: str) -> int:
        """Courses out of reach."""
        return self.slow if agent == SEQUENTIAL else self.courses

    def pairing(self, agent: str) -> Pairing:
        """The first course out of reach at the last level, run with the first level too."""
        return Pairing(agent, self.levels[0], self.levels[-1], self.blocks)

    def course(self, agent: str, level: float, there: bool, number: int) -> Course:
        """Of an agent that is told its lambda."""
        return Course(agent, level, level, there, self.blocks, number)


QUICK = Sizes(
    (0.75, 0.95), 4, 1, 4, 8, assumptions_hitting.Sizes(64, (1 / 512, 1 / 128, 1 / 32, 1.0), (4, 6, 8, 10), 4, 32)
)
FULL = Sizes(
    (0.4, 0.55, 0.75, 0.95),
    6,
    2,
    4,
    10,
    assumptions_hitting.Sizes(160, (1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 16, 1.0), (4, 6, 8, 10, 12), 20, 48),
)

Found = Mapping[Any, Any]
"""What each task found."""


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on the assumptions."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: Sizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    found = carry_out(_tasks(sizes), KEY, seed, executor)
    blocked = [*_blocked(sizes, found), *_lost(sizes, found)]
    return (
        assumptions_reach.measure(sizes.levels[-1])
        + Findings(blocked, [_visits_figure(sizes, found), _figure(sizes, found), _lost_figure(sizes, found)])
        + assumptions_void.measure()
        + assumptions_hitting.measure(sizes.hitting, found)
        + assumptions_entropy.measure(sizes.longest)
    )


def _tasks(sizes: Sizes) -> Iterator[Course | Pairing | Gathering]:
    """What takes long comes first."""
    for name in sorted(AGENTS, key=lambda name: name != SEQUENTIAL):
        yield sizes.pairing(name)
        for level in sizes.levels if name in NAMING else sizes.levels[-1:]:
            first = int(level == sizes.levels[-1])
            yield from (sizes.course(name, level, False, number) for number in range(first, sizes.blocked(name)))
    for name in NAMING:
        yield from (
            sizes.course(name, level, True, number) for level in sizes.levels for number in range(sizes.courses)
        )
    yield from assumptions_hitting.tasks(sizes.hitting)


def _runs(sizes: Sizes, found: Found, agent: str, level: float, there: bool) -> list[Played]:
    """All courses of an agent at a level, within or out of reach of the left state."""
    number = sizes.courses if there else sizes.blocked(agent)
    paired = not there and level == sizes.levels[-1]
    runs = [found[sizes.pairing(agent)][1]] if paired else []
    return runs + [found[sizes.course(agent, level, there, one)] for one in range(len(runs), number)]


def _named(sizes: Sizes, found: Found, agent: str, levels: tuple[float, ...], there: bool) -> Mean:
    """How often the world was named after the first block of a course."""
    runs = (run for level in levels for run in _runs(sizes, found, agent, level, there))
    return rate(np.concatenate([run.named[WORLDS:] for run in runs]))


def _blocked(sizes: Sizes, found: Found) -> Iterator[Claim]:
    runs = {name: _runs(sizes, found, name, sizes.levels[-1], False) for name in AGENTS}
    visits, steps = (
        float(sum(getattr(run, what).sum() for played in runs.values() for run in played)) for what in ("left", "steps")
    )
    yield Claim(
        "no agent ever was in the left state, whatever it did",
        PLACE,
        0.0,
        visits,
        visits,
        visits,
        visits == 0.0,
        "counted; none may be",
        f"{steps:,.0f} steps of {len(runs)} agents: {', '.join(runs)}",
        VISITS,
        unit="in steps",
    )
    rates = {name: _named(sizes, found, name, sizes.levels, False) for name in NAMING}
    yield judge(
        "no agent names worlds better than by chance, 1 / M",
        PLACE,
        CHANCE,
        rates,
        NAMED,
        "as a share of episodes",
        f"all lambda together; {_shares(rates)}",
    )
    rates = {
        f"{name} at {level:g}": _named(sizes, found, name, (level,), True) for name in LOOKING for level in sizes.levels
    }
    recall = _named(sizes, found, "Recall", sizes.levels, True)
    yield judge(
        f"where the left state can be reached {', '.join(LOOKING[:-1])} and {LOOKING[-1]} name worlds with "
        "probability 1 - p, at every lambda",
        PLACE,
        NAMES,
        rates,
        NAMED,
        "as a share of episodes",
        f"{_shares(rates)}; Recall is out, as it looks for reward and not for what tells worlds apart: "
        f"{recall.mean:.0%} ({recall.low:.0%} to {recall.high:.0%})",
    )


def _shares(rates: Mapping[str, Mean]) -> str:
    return "; ".join(f"{name} {one.mean:.0%}" for name, one in rates.items())


def _lost(sizes: Sizes, found: Found) -> Iterator[Claim]:
    """What it costs, and that lambda makes no difference."""
    lost = {name: _mean_lost(_runs(sizes, found, name, sizes.levels[-1], False)) for name in AGENTS}
    yield judge(
        "every agent that is not told the world loses at least as much as always the same right action does",
        PLACE,
        LOSES,
        {name: mean for name, mean in lost.items() if name not in INFORMED},
        LOST,
        "in multiples of what never taking the special action loses",
        "; ".join(f"{one} {value.mean:.2f}" for one, value in lost.items()),
        STUDENT,
    )
    pairs = [found[sizes.pairing(name)] for name in AGENTS]
    apart = max(
        float(np.abs(one.astype(float) - two.astype(float)).max())
        for least, most in pairs
        for one, two in zip(least, most, strict=True)
    )
    yield Claim(
        f"lambda makes no difference: with {sizes.levels[0]:g} and {sizes.levels[-1]:g} every agent does the same",
        PLACE,
        0.0,
        apart,
        apart,
        apart,
        apart == 0.0,
        "run with the same randomness; the largest difference in reward, cluster or visits of any episode must be 0",
        f"{len(pairs)} agents, {sizes.blocks * WORLDS} episodes each, all told lambda = {sizes.levels[-1]:g}",
        LOST,
    )


def _mean_lost(runs: list[Played]) -> Mean:
    """Over blocks of M episodes."""
    return mean_of(np.concatenate([run.lost.reshape(-1, WORLDS).mean(axis=1) for run in runs]))


def _visits_figure(sizes: Sizes, found: Found) -> Figure:
    most, names = sizes.levels[-1], list(AGENTS)

    def shares(agents: tuple[str, ...], there: bool) -> list[float]:
        runs = [_runs(sizes, found, name, most, there) for name in agents]
        return [float(sum(run.left.sum() for run in one) / sum(run.steps.sum() for run in one)) for one in runs]

    return Figure(
        VISITS,
        "2-JAO worlds: the share of steps that agents spend in the left state",
        "agent",
        "share of steps",
        [
            Series("left state out of reach", range(len(names)), shares(tuple(names), False)),
            Series("left state within reach", [names.index(name) for name in NAMING], shares(NAMING, True)),
            Series("the paper, out of reach: none", [-0.5, len(names) - 0.5], [0.0, 0.0], kind="theory"),
        ],
        log_x=False,
        log_y=False,
        caption=f"M = {WORLDS}, D = {DIAMETER:g}, lambda = {most:g}, every episode from the hub. Out of reach all "
        "agents were run, within reach those that put episodes in clusters.",
        names=names,
    )


def _lost_figure(sizes: Sizes, found: Found) -> Figure:
    pairs = {name: found[sizes.pairing(name)] for name in AGENTS}
    series = []
    for run, level in enumerate((sizes.levels[0], sizes.levels[-1])):
        mean, low, high = zip(*(_mean_lost([pair[run]]) for pair in pairs.values()), strict=True)
        x = [number + (run - 0.5) / 4.0 for number in range(len(pairs))]
        series.append(Series(f"lambda = {level:g}", x, mean, low, high))
    for label, level in (
        ("1 - 1 / M: always the same right action", 1.0 - 1.0 / WORLDS),
        ("1 - 1 / (2 M): at random", 1.0 - 0.5 / WORLDS),
    ):
        series.append(Series(label, [-0.5, len(pairs) - 0.5], [level, level], kind="theory"))
    return Figure(
        LOST,
        "Non-communicating 2-JAO worlds: what agents lose, whatever lambda is",
        "agent",
        "share lost",
        series,
        log_x=False,
        log_y=False,
        caption="In multiples of what never taking the special action loses; means over blocks of M episodes, with "
        f"95 % intervals, of the course that was run with both; M = {WORLDS}, D = {DIAMETER:g}. "
        f"{', '.join(INFORMED[:-1])} and {INFORMED[-1]} are told the world.",
        names=list(pairs),
    )


def _figure(sizes: Sizes, found: Found) -> Figure:
    series = []
    for there, words in ((False, "out of reach"), (True, "within reach")):
        for place, level in enumerate(sizes.levels):
            rates = [_named(sizes, found, name, (level,), there) for name in NAMING]
            share, low, high = zip(*rates, strict=True)
            x = [number + (place + 0.5) / len(sizes.levels) * 0.6 - 0.3 for number in range(len(NAMING))]
            series.append(Series(f"lambda = {level:g}, left state {words}", x, share, low, high))
    for label, height in (("chance, 1 / M", 1.0 / WORLDS), ("1 - p", 1.0 - FAILURE)):
        series.append(Series(label, [-0.5, len(NAMING) - 0.5], [height, height], kind="theory"))
    return Figure(
        NAMED,
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

"""A very long run of ``Recall`` on the paper's grid: does an episode cost more as there are more, in time or memory?

The run is that of :func:`aomultirl.run` to the bit, from the same random streams, but for its history: of an episode
nothing is kept but the counts below.  What grows all the same is then memory of the agent.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl import streams as tasks
from aomultirl.agents import Recall
from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.benchmarks.sweep import megabytes
from aomultirl.experiments.episodes import PURPOSES, EpisodeLoop, begin_in, play, simulated
from aomultirl.experiments.judge import is_misclustered
from aomultirl.streams import Past
from aomultirl.worlds import gridworld

FAILURE = 0.05
"""The agent's p."""
STEP = 10.0**0.5
"""By which factor the numbers of episodes grow at which the run is looked at: two looks a decade."""
FIRST = 100
"""Episodes before the first look, beside the very first, whose memory is that of a process that has just begun."""
TOLERATED = 1.05
"""How much memory may grow from the look at a tenth of the episodes to the last, as a factor, to be called flat."""


class Look(NamedTuple):
    """The run after so many episodes.

    episodes
        how many are over.
    megabytes
        memory of this process; NaN where the system does not tell it.
    microseconds
        CPU time of an episode, on average since the last look.
    placed, wrong
        episodes that were put in a cluster on proof, and those of them that were put in a wrong one; since the start.
    sure, mistaken
        episodes that were taken for a world of which the agent was 99 % sure, proven or not, and those of them that
        were of another world than most that were taken for it; since the start.
    clusters, worlds
        how many worlds are proven, and how many the agent believes in.
    """

    episodes: int
    megabytes: float
    microseconds: float
    placed: int
    wrong: int
    sure: int
    mistaken: int
    clusters: int
    worlds: int


class _Forgotten(Sequence[Past]):
    """A past of which nothing is kept but how long it is, which is all that a stream of uniform tasks may ask for."""

    def __init__(self) -> None:
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: Any) -> Any:
        raise LookupError("the past of this run is not kept")


def looks_at(episodes: int) -> list[int]:
    """After how many episodes the run is looked at: in geometric steps, and at the end.

    Examples
    --------
    >>> looks_at(2000)
    [1, 100, 316, 1000, 2000]
    """
    steps = range(int(np.log(max(1.0, episodes / FIRST)) / np.log(STEP) + 1e-9) + 1)
    between = [round(FIRST * STEP**step) for step in steps]
    return sorted({1, *(count for count in between if count < episodes), episodes})


def run(episodes: int, horizon: int, seed: int = 0) -> Iterator[Look]:
    """Run ``Recall`` for so many episodes of ``horizon`` steps, and look at it now and then."""
    models, agent, stream = gridworld(), Recall(FAILURE, horizon=horizon), tasks.uniform()
    loop = EpisodeLoop(agent, episodes, seed)
    begin_in(agent, models, loop.episodes)
    draws = np.random.default_rng(np.random.SeedSequence(loop.seed, spawn_key=(PURPOSES.index("stream"),)))
    stream.begin(models, loop.episodes, draws)
    past, stands_for = _Forgotten(), dict[int, int]()
    placed = wrong = 0
    taken: dict[int, NDArray[np.int64]] = {}
    looks, last, begin = looks_at(loop.episodes), 0, time.process_time()
    for number in range(loop.episodes):
        task, start = stream.next(past)
        sources = loop.world_streams[number], loop.agent_streams[number]
        report, _ = play(agent, simulated(models[task], start, *sources), start, sources[1], task)
        placed += report.cluster >= 0
        wrong += is_misclustered(task, report, stands_for)
        if report.sure >= RESOLVED:
            taken.setdefault(report.world, np.zeros(len(models), np.int64))[task] += 1
        past.length += 1
        if past.length == looks[0]:
            now = time.process_time()
            each = 1e6 * (now - begin) / (past.length - last)
            yield Look(
                episodes=past.length,
                megabytes=megabytes(),
                microseconds=each,
                placed=placed,
                wrong=wrong,
                sure=sum(int(counts.sum()) for counts in taken.values()),
                mistaken=sum(int(counts.sum() - counts.max()) for counts in taken.values()),
                clusters=agent.clusters,
                worlds=len(agent.worlds),
            )
            looks, last, begin = looks[1:], past.length, time.process_time()


def check(episodes: int, horizon: int) -> None:
    """Refuse numbers that cannot be meant."""
    checks.integer("endurance", episodes, least=1, limit=10**9)
    checks.integer("horizon", horizon, least=1, limit=10**6)


COLUMNS = (
    ("episodes", 11),
    ("MB", 7),
    ("µs each", 9),
    ("in clusters", 12),
    ("wrong", 6),
    ("99 % sure", 11),
    ("wrong", 6),
    ("clusters", 9),
    ("worlds", 7),
)
"""What stands above the numbers of a look, and how wide it is."""


def headings() -> str:
    """The line above those of the looks."""
    return "".join(f"{name:>{width}}" for name, width in COLUMNS)


def line(look: Look) -> str:
    """A look as a line for people."""
    return "".join(f"{value:>{width},.0f}" for value, (_, width) in zip(look, COLUMNS, strict=True))


def verdict(looks: list[Look]) -> str:
    """Whether memory was flat, in a sentence."""
    last = looks[-1]
    since = [look for look in looks if 10 * look.episodes <= last.episodes][-1:] or looks[:1]
    growth = last.megabytes / since[0].megabytes
    flat = "flat" if growth <= TOLERATED else "not flat"
    return (
        f"Memory is {flat}: {since[0].megabytes:,.0f} MB after {since[0].episodes:,} episodes, "
        f"{last.megabytes:,.0f} MB after {last.episodes:,}."
    )

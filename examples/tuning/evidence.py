"""Search or evidence: is what Recall takes for worlds likelier than the true worlds are?

    python examples/tuning/evidence.py doors
    python examples/tuning/evidence.py sparse

After some numbers of episodes in development worlds the past is grouped in two ways: as Recall has grouped it, and by
the task that each episode was.  In both, every episode then chooses the world in which it is likeliest, a few times,
and the prior is learned anew.  The script prints how much likelier all episodes are in the first grouping, in nats.
Where that is above 0, no search would find the true worlds: the episodes do not hold the evidence.  It also prints how
much of the optimum was earned from look to look.  A few minutes.
"""

import copy
import sys
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import aomultirl as ao
from aomultirl.agents.grouping import Grouping
from aomultirl.agents.past_episodes import PastEpisode
from aomultirl.agents.rereading import Rereading

SEEDS = range(200, 210)
"""Of the worlds and of the runs."""
LOOKS = (20, 40, 80, 120, 200, 300, 400)
"""Episodes after which the two groupings are compared; up to 500 are kept by themselves."""
SWEEPS = 6
"""How often every episode chooses its world."""


class Development(NamedTuple):
    """Worlds with short lives: how a seed makes them, and H."""

    worlds: Callable[[int], ao.ModelSet]
    horizon: int


TASKS = {
    "doors": Development(lambda _: ao.worlds.doors(), 10),
    "sparse": Development(lambda seed: ao.worlds.sparse_random(seed=seed), 10),
    "slippery": Development(lambda seed: ao.worlds.frozen_lakes(slippery=True, seed=seed), 100),
}


class Look(NamedTuple):
    """The two groupings after some episodes.

    worlds
        in which Recall believes.
    found, true
        ln of how likely the episodes are, grouped as Recall has and by their tasks.
    """

    worlds: int
    found: float
    true: float


def group_by_task(grouping: Grouping, tasks: list[int], settled: int, models: int) -> None:
    """Put every past episode in a world of its task, and what is settled in that of the task ``settled``."""
    memory, before = grouping.memory, len(grouping.memory.worlds)
    for _ in range(models):
        grouping.found(memory.worlds[0].values)
    for past, task in zip(memory.past, tasks, strict=True):
        grouping.move([past], past.world, before + task)
    true = memory.worlds[before:]
    for world in list(memory.worlds):
        if world.episodes == 0:
            grouping.remove(memory.worlds.index(world))
        elif world not in true:  # founded by proof in the first episode, which is never read again
            grouping.make_one(memory.worlds.index(world), memory.worlds.index(true[settled]))


def settle(grouping: Grouping) -> float:
    """Have every episode choose the world in which it is likeliest, a few times; ln of how likely all of them are."""
    for _ in range(SWEEPS):
        grouping.rows.fit()
        for past in grouping.memory.past:
            grouping.put(past, past.world, -1)
            past.world = int(np.argmax(grouping.scores(past)[:-1]))
            grouping.put(past, past.world)
    grouping.rows.fit()
    return grouping.joint()


def looks(development: Development, seed: int) -> tuple[list[Look], list[float]]:
    """The two groupings after LOOKS, and the share of the optimum that was earned from look to look, in per cent."""
    models, episodes = development.worlds(seed), max(LOOKS)
    tasks = ao.run(ao.agents.Random(1), models, ao.streams.uniform(), episodes, seed=seed, record=())["task"].tolist()
    met: list[PastEpisode] = []
    seen: list[Look] = []
    take_in, look_back = Rereading.take_in, Rereading.look_back

    def note(reading: Rereading, *what: Any) -> PastEpisode:
        met.append(take_in(reading, *what))
        return met[-1]

    def look(reading: Rereading, stream: Any) -> None:
        look_back(reading, stream)
        if reading.memory.met in LOOKS:
            task_of = dict(zip(map(id, met), tasks, strict=False))
            found, true = copy.deepcopy(reading), copy.deepcopy(reading)
            group_by_task(true, [task_of[id(past)] for past in reading.memory.past], tasks[0], len(models))
            seen.append(Look(len(reading.memory.worlds), settle(found), settle(true)))

    agent = ao.agents.Recall(0.03, development.horizon, rewards="unknown")
    with patch.multiple(Rereading, take_in=note, look_back=look):
        history = ao.run(agent, models, ao.streams.uniform(), episodes, seed=seed, record=())
    best = np.array([world.first_values(development.horizon) for world in models])[history["task"], history["start"]]
    parts = [slice(first, last) for first, last in zip((0, *LOOKS[:-1]), LOOKS, strict=True)]
    return seen, [100.0 * history.reward[part].sum() / best[part].sum() for part in parts]


def main() -> None:
    """Print the tables of the worlds that are named on the command line."""
    for name in sys.argv[1:] or TASKS:
        runs = [looks(TASKS[name], seed) for seed in SEEDS]
        sys.stdout.write(f"{name}: {len(runs)} runs\n{'episodes':>10}{'worlds':>8}{'found - true':>14}")
        sys.stdout.write(f"{'found likelier':>16}{'earned since, %':>17}\n")
        for i, episodes in enumerate(LOOKS):
            seen, earned = [run[0][i] for run in runs], np.mean([run[1][i] for run in runs])
            gaps = np.array([one.found - one.true for one in seen])
            worlds, likelier = np.mean([one.worlds for one in seen]), f"{(gaps > 0.0).sum()} of {len(runs)}"
            sys.stdout.write(f"{episodes:>10}{worlds:>8.1f}{gaps.mean():>14.1f}{likelier:>16}{earned:>17.1f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

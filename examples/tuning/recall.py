"""How the numbers of Recall were chosen: those of its learner and of its memory, one at a time over development worlds.

    python examples/tuning/recall.py
    python examples/tuning/recall.py doors sparse --memory

prints, for every setting, the share of the optimal reward that Recall earns in each world: in the first third of the
episodes, in all, and in the last quarter.  With ``--memory`` the settings are those of what is read again
(:mod:`aomultirl.agents.rereading`).  The random worlds here have seeds that no suite reports (``docs/suites.md``);
grids of 6 x 6 and 10 x 10 stand in for those of the paper and of the suites.  Some ten minutes.
"""

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

import aomultirl as ao
from aomultirl.agents import rereading

SEEDS = (20, 21, 22, 23)
"""Of the worlds and of the runs."""
SETTINGS: tuple[Mapping[str, float], ...] = (
    {},
    {"level": 0.2},
    {"level": 0.4},
    {"future": 0.0},
    {"future": 0.25},
    {"novelty": 0.25},
    {"discount": 0.99},
)
"""What is tried of the learner beside the defaults."""
MEMORY_SETTINGS: tuple[Mapping[str, float], ...] = (
    {},
    {"MARGIN": 0.2},
    {"MARGIN": 1.38},
    {"UNSURE": 0.7},
    {"UNSURE": 0.99},
    {"GATHERED": 24},
    {"GATHERED": 160},
    {"GATHERINGS": 1},
    {"GATHERINGS": 6},
    {"REREAD": 2},
    {"REREAD": 18},
    {"EASE": 3},
    {"EASE": 20},
    {"REREAD": 18, "EASE": 20},
)
"""What is tried of the memory: constants of :mod:`aomultirl.agents.rereading`."""


class Development(NamedTuple):
    """A task that numbers are chosen on.

    name
        what the table calls it.
    worlds
        makes its hidden worlds from a seed.
    horizon
        H.
    episodes
        K.
    rewards
        "known" or "unknown".
    """

    name: str
    worlds: Callable[[int], ao.ModelSet]
    horizon: int
    episodes: int
    rewards: str


TASKS = (
    Development("doors", lambda _: ao.worlds.doors(), 10, 600, "unknown"),
    Development("slippery lakes", lambda s: ao.worlds.frozen_lakes(slippery=True, seed=s), 100, 600, "unknown"),
    Development("lakes", lambda s: ao.worlds.frozen_lakes(seed=s), 100, 300, "unknown"),
    Development("sparse", lambda s: ao.worlds.sparse_random(seed=s), 10, 500, "unknown"),
    Development("rare pair", lambda s: ao.worlds.rare_pair(seed=s), 500, 100, "known"),
    Development("grid 6x6", lambda _: ao.worlds.gridworld(6), 500, 80, "known"),
    Development("grid 10x10", lambda _: ao.worlds.gridworld(10), 500, 80, "known"),
)


def shares(task: Development, setting: Mapping[str, float], seed: int) -> list[float]:
    """Of the optimal reward, in per cent: in the first third, in all, in the last quarter."""
    models, learner = task.worlds(seed), {name: value for name, value in setting.items() if name.islower()}
    agent = ao.agents.Recall(0.05, task.horizon, rewards=task.rewards, learner=ao.learning.Practical(**learner))
    with ExitStack() as patches:
        for name in set(setting) - set(learner):
            patches.enter_context(patch.object(rereading, name, setting[name]))
        history = ao.run(agent, models, ao.streams.uniform(), task.episodes, seed=seed, record=())
    best = np.array([world.first_values(task.horizon) for world in models])[history["task"], history["start"]]
    earned, count = history["clustering_reward"] + history["learning_reward"], task.episodes
    parts = (slice(count // 3), slice(count), slice(3 * count // 4, count))
    return [100.0 * earned[part].sum() / best[part].sum() for part in parts]


def main() -> None:
    """Print the table; words on the command line choose tasks by name."""
    words = [word for word in sys.argv[1:] if word != "--memory"]
    tasks = [task for task in TASKS if not words or any(word in task.name for word in words)]
    for setting in MEMORY_SETTINGS if "--memory" in sys.argv else SETTINGS:
        sys.stdout.write((", ".join(f"{name} = {value:g}" for name, value in setting.items()) or "defaults") + "\n")
        for task in tasks:
            mean = np.mean([shares(task, setting, seed) for seed in SEEDS], axis=0)
            sys.stdout.write(f"  {task.name:16}" + "".join(f"{share:8.1f}" for share in mean) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

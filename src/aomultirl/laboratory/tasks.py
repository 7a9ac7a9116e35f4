"""Tasks of an experiment, each with randomness of its own, so that who carries them out makes no difference."""

from collections.abc import Hashable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

from aomultirl.experiments.executors import Executor


class Playable(Hashable, Protocol):
    """Something to be done: plain data that can be sent to another process."""

    def play(self, seed: int) -> Any:
        """Do it, and say what was found."""
        ...


T = TypeVar("T", bound=Playable)


def carry_out(tasks: Iterable[T], key: int, seed: int, executor: Executor) -> dict[T, Any]:
    """What each task found, the same one only once.

    Parameters
    ----------
    key
        tells experiments apart that share a seed.
    """
    listed = list(dict.fromkeys(tasks))
    own = [int(np.random.SeedSequence(seed, spawn_key=(key, i)).generate_state(1)[0]) for i in range(len(listed))]
    items = [(i, task, mine) for i, (task, mine) in enumerate(zip(listed, own, strict=True))]
    found = dict(executor.map(_play, items))
    return {task: found[i] for i, task in enumerate(listed)}


def _play(item: tuple[int, Playable, int]) -> tuple[int, Any]:
    number, task, seed = item
    return number, task.play(seed)

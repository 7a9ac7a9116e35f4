"""Who comes next: the adversary's choice of a world, and of a start state, for every episode.

A stream is a small object.  ``ao.run`` gives it the worlds, the number of episodes and a random source of its own, and
asks it before each episode.  It may look at what happened before, never at what the learner is going to draw.

Starts.  Every stream takes ``start``: None draws from the world's own start, a state fixes it, a list gives one for
each episode, a function of the past chooses it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from aomultirl import checks, descriptions, plugins
from aomultirl.model_set import ModelSet


class Past(NamedTuple):
    """One past episode: the world it was, where it started, and the cluster it was put in (-1: none)."""

    task: int
    start: int
    cluster: int


Start: TypeAlias = int | Sequence[int] | Callable[[Sequence[Past]], int] | None


class Stream:
    """Base of all streams: :meth:`task` says which world comes next."""

    def __init__(self, start: Start = None) -> None:
        self.start = start

    def __repr__(self) -> str:
        return descriptions.call(descriptions.without_defaults(descriptions.describe(self), type(self)))

    def begin(self, models: ModelSet, episodes: int, rng: np.random.Generator) -> None:
        """A new run."""
        self.models, self.episodes, self.rng = models, episodes, rng
        if isinstance(self.start, Sequence) and len(self.start) < episodes:
            raise checks.Refusal("start", f"has {len(self.start)} states, but there are {episodes} episodes")

    def task(self, past: Sequence[Past]) -> int:
        """The number of the world of episode ``len(past)``, from 0."""
        raise NotImplementedError

    def next(self, past: Sequence[Past]) -> tuple[int, int]:
        """(task, start) of the next episode."""
        most = len(self.models) - 1
        task = checks.integer(f"the task of episode {len(past)}", self.task(past), least=0, most=most)
        world, start = self.models[task], self.start
        if start is None:
            if isinstance(world.start, int):
                return task, world.start
            return task, int(self.rng.choice(world.n_states, p=world.start_distribution))
        state = start(tuple(past)) if callable(start) else start[len(past)] if isinstance(start, Sequence) else start
        return task, checks.integer(f"the start of episode {len(past)}", state, least=0, most=world.n_states - 1)


class sequence(Stream):  # noqa: N801
    """The worlds in this order."""

    def __init__(self, tasks: Sequence[int], start: Start = None) -> None:
        super().__init__(start)
        self.tasks: list[int] = checks.items("tasks", tasks, "numbers of worlds")

    def begin(self, models: ModelSet, episodes: int, rng: np.random.Generator) -> None:
        super().begin(models, episodes, rng)
        if len(self.tasks) < episodes:
            raise checks.Refusal("tasks", f"has {len(self.tasks)} entries, but there are {episodes} episodes")

    def task(self, past: Sequence[Past]) -> int:
        return self.tasks[len(past)]


class uniform(Stream):  # noqa: N801
    """Every world equally likely, each episode anew."""

    def task(self, past: Sequence[Past]) -> int:
        return int(self.rng.integers(len(self.models)))


class round_robin(Stream):  # noqa: N801
    """One world after the other, again and again."""

    def task(self, past: Sequence[Past]) -> int:
        return len(past) % len(self.models)


class blocks(Stream):  # noqa: N801
    """Each world for ``length`` episodes, then the next."""

    def __init__(self, length: int, start: Start = None) -> None:
        super().__init__(start)
        self.length = checks.integer("length", length, least=1)

    def task(self, past: Sequence[Past]) -> int:
        return len(past) // self.length % len(self.models)


class paper(Stream):  # noqa: N801
    """The paper's Section 5: the last world alone for a while, twice, and before and between uniformly the others.

    Of K = 200 episodes, numbered from 0, those in [100, 150) and [180, 200) are m4, the others m1 to m3 at random; for
    another K the same shares.  With ``each_first`` every world comes once before that, in order, as in the stage 1 of
    the paper's second agent; then K counts the episodes after these.
    """

    def __init__(self, each_first: bool = False, start: Start = None) -> None:
        super().__init__(start)
        self.each_first = checks.truth("each_first", each_first)

    def task(self, past: Sequence[Past]) -> int:
        count = len(self.models)
        before = count if self.each_first else 0
        if len(past) < before:
            return len(past)
        k, total = len(past) - before, self.episodes - before
        alone = total // 2 <= k < total * 3 // 4 or k >= total * 9 // 10
        return count - 1 if alone or count == 1 else int(self.rng.integers(count - 1))


class adaptive(Stream):  # noqa: N801
    """The adversary: ``choose(past)`` sees every past task, start and cluster, and names the next world."""

    def __init__(self, choose: Callable[[Sequence[Past]], int], start: Start = None) -> None:
        super().__init__(start)
        if not callable(choose):
            raise checks.Refusal("choose", f"is {checks.shown(choose)}, not a function of the past episodes")
        self.choose: Any = choose

    def task(self, past: Sequence[Past]) -> int:
        return self.choose(tuple(past))  # type: ignore[no-any-return]


plugins.offer_own("stream", Stream, (sequence, uniform, round_robin, blocks, paper, adaptive))

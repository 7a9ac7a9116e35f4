"""What :class:`aomultirl.agents.Recall` remembers of each world that it has met, and what an episode says of it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.tracing import Traces
from aomultirl.engine.counts import CountTable
from aomultirl.learning.base import rescaled
from aomultirl.records import Shape, Within

COVER = 0.8
"""Share of an episode's steps that must lie at certified pairs for it to be proven."""


class Verdict(NamedTuple):
    """What an episode says of the world that it is in.

    likely
        the number of the likeliest world, W for a new one.
    sure
        whether it is almost certain to be that.
    survivors
        worlds with clusters that are not rejected.
    certified
        (S * A,), the pairs at which the only survivor is proven.
    cover
        the share of the steps at certified pairs.
    """

    likely: int
    sure: bool
    survivors: list[int]
    certified: NDArray[np.bool_]
    cover: float

    @property
    def proven(self) -> bool:
        """The episode belongs to the only surviving cluster."""
        return self.sure and self.survivors == [self.likely] and self.cover >= COVER


@dataclass(eq=False)
class World:
    """One world that was met.

    counts
        all that is believed of it.
    sums
        (S * A,), the rewards that were earned in it, added up; empty where they are known.
    values
        (S,), where planning begins.
    met
        how often lately.
    tries
        episodes that spent steps on proof in vain.
    proven
        what is certain of it; None where it is no cluster.
    number
        of its cluster; -1 where it is none.
    """

    counts: CountTable
    sums: Annotated[NDArray[np.float64], Within(0.0)]
    values: Annotated[NDArray[np.float64], Shape("states")]
    met: Annotated[float, Within(0.0)] = 1.0
    tries: Annotated[int, Within(0)] = 0
    proven: CountTable | None = None
    number: Annotated[int, Within(-1)] = -1

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Rewards are shown as ``times`` what they were, ``plus`` so much: bring the sums to it."""
        self.sums[:] = rescaled(self.sums, self.counts, times, plus)


@dataclass
class RecallMemory:
    """All that Recall remembers.

    worlds
        everything that was met.
    met
        how many episodes.
    abstentions
        episodes that were put in no cluster.
    traces
        the evidence of some episodes.
    """

    worlds: Annotated[list[World], Within(most="episodes")] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    abstentions: Annotated[int, Within(0, "episodes")] = 0
    traces: Traces = field(default_factory=Traces)

    def check(self) -> None:
        """Refuse clusters that are not numbered from 0 on, and numbers of worlds that are none."""
        for place, world in enumerate(self.worlds):
            if world.proven is None and world.number != -1:
                raise ValueError(f"memory.worlds[{place}].number must be -1, not {world.number}: it is no cluster")
        numbers = sorted(world.number for world in self.worlds if world.proven is not None)
        if numbers != list(range(len(numbers))):
            raise ValueError(f"memory.worlds has clusters with the numbers {numbers!r:.80}")


def add_since(target: CountTable, before: Any, counts: CountTable, pairs: NDArray[np.bool_]) -> None:
    """Add what was counted since ``before`` at these pairs."""
    starts, states, visits = before
    old = {
        (pair, int(states[i])): int(visits[i])
        for pair in np.flatnonzero(pairs).tolist()
        for i in range(starts[pair], starts[pair + 1])
    }
    starts, states, visits = counts.to_lists()
    for pair in np.flatnonzero(pairs).tolist():
        for i in range(starts[pair], starts[pair + 1]):
            new = int(visits[i]) - old.get((pair, int(states[i])), 0)
            if new > 0:
                target.count(pair, int(states[i]), new)

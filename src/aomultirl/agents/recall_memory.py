"""What :class:`aomultirl.agents.Recall` remembers: worlds, past episodes, and what an episode says of them."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.past_episodes import PastEpisode
from aomultirl.agents.tracing import Traces
from aomultirl.engine.counts import CountTable
from aomultirl.learning.novelty import LEVEL
from aomultirl.learning.reward_levels import EXTREMES, MOST_LEVELS
from aomultirl.learning.row_layout import places_of
from aomultirl.learning.row_likelihoods import LEAST_SHARED, LEAST_SPREAD, MOST_SHARED, MOST_SPREAD
from aomultirl.learning.row_parents import TRUSTS
from aomultirl.records import Shape, Within

RESOLVED = 0.99
"""Posterior probability above which it is said to be resolved which world an episode was."""


@dataclass(eq=False)
class World:
    """One world that was met.

    counts
        all that is believed of it.
    sums
        (S * A,), the rewards that were earned in it, added up; with V > 2 levels (S * A * V,), how often pairs paid
        each; empty where they are known.
    values
        (S,), where planning begins.
    alone
        (R,), the sum over its episodes of ln ML of their rows.
    episodes
        how many are held to be it.
    met
        how often lately.
    tries
        episodes that spent steps on proof in vain.
    proven
        what is certain of it; None where it is no cluster.
    number
        of its cluster; -1 where it is none.
    name
        a number of its own, which no other world has had.
    told
        in which accounts of others it was (:meth:`Recall.remember`): those of one account are different worlds.
    """

    counts: CountTable
    sums: Annotated[NDArray[np.float64], Within(0.0)]
    values: Annotated[NDArray[np.float64], Shape("states")]
    alone: NDArray[np.float64]
    episodes: Annotated[int, Within(0)] = 0
    met: Annotated[float, Within(0.0)] = 0.0
    tries: Annotated[int, Within(0)] = 0
    proven: CountTable | None = None
    number: Annotated[int, Within(-1)] = -1
    name: Annotated[int, Within(0)] = 0
    told: list[int] = field(default_factory=list)

    def may_be(self, other: "World") -> bool:
        """Whether nothing says that it is another: no proof, and nobody who told of both."""
        return (self.proven is None or other.proven is None) and not set(self.told) & set(other.told)


@dataclass
class RecallMemory:
    """All that Recall remembers.

    worlds
        everything that was met.
    past
        the episodes that are read again, the oldest first.
    transitions
        where transitions stand (:attr:`aomultirl.learning.row_layout.Layout.keys`); empty before there is any.
    spreads
        (R,), theta of every row; empty before there is any.
    parents, trust
        what rows of transitions lean on at their places, and (S * A,), how far
        (:mod:`aomultirl.learning.row_parents`); empty before there is any.
    levels
        (V,), the rewards that occur where they are not known, falling from 1 to 0; empty where there are many, so that
        they are taken for means (:mod:`aomultirl.learning.reward_levels`).
    sharing
        (3,), how often worlds share transitions, ends and rewards.
    kinship
        visits that the average of a state's other actions is worth.
    vectors
        those of :mod:`aomultirl.learning.alpha_vectors` after the last episode, (S * (C + 1) * C,); empty where there
        are none.
    vectors_of
        the names of the worlds that they are for.
    met
        how many episodes.
    named
        how many names worlds have been given.
    next_review
        the number of episodes at which all worlds are gone through.
    abstentions
        episodes that were put in no cluster.
    new
        episodes that were found to be of no world in memory.
    traces
        the evidence of some episodes.
    """

    worlds: list[World] = field(default_factory=list)
    past: Annotated[list[PastEpisode], Within(most="episodes")] = field(default_factory=list)
    transitions: Annotated[NDArray[np.int64], Within(0)] = field(default_factory=lambda: np.empty(0, np.int64))
    spreads: Annotated[NDArray[np.float64], Within(0.0)] = field(default_factory=lambda: np.empty(0))
    parents: Annotated[NDArray[np.float64], Within(0.0)] = field(default_factory=lambda: np.empty(0))
    trust: Annotated[NDArray[np.float64], Within(0.0)] = field(default_factory=lambda: np.empty(0))
    levels: Annotated[NDArray[np.float64], Within(0.0)] = field(default_factory=EXTREMES.copy)
    sharing: Annotated[NDArray[np.float64], Shape(3), Within(0.0, 1.0)] = field(default_factory=lambda: np.full(3, 0.5))
    kinship: Annotated[float, Within(0.0)] = 0.0
    vectors: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    vectors_of: list[int] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    named: Annotated[int, Within(0)] = 0
    next_review: Annotated[int, Within(0)] = 4
    abstentions: Annotated[int, Within(0, "episodes")] = 0
    new: Annotated[int, Within(0, "episodes")] = 0
    traces: Traces = field(default_factory=Traces)

    def findings(self) -> dict[str, Any]:
        """How many worlds there are, what they share, and what is unresolved."""
        return {
            "worlds": len(self.worlds),
            "shared": dict(zip(("transitions", "ends", "rewards"), self.sharing.round(4).tolist(), strict=True)),
            "novelty": {"level": LEVEL, "episodes": self.new},
            "unresolved": sum(past.sure < RESOLVED for past in self.past),
            "abstentions": self.abstentions,
            "evidence": {"episodes": self.traces.as_dicts()},
        }

    def check(self, n_states: int, n_pairs: int, learns_rewards: bool) -> None:
        """Refuse what no run can have left, beyond what the types of the fields say."""
        n_rows, levels = n_pairs + n_states + (n_pairs if learns_rewards else 0), self._check_levels(learns_rewards)
        for place, world in enumerate(self.worlds):
            _check_size(world.sums, n_pairs * (1 if levels == 2 else levels), f"memory.worlds[{place}].sums")
            if world.proven is None and world.number != -1:
                raise ValueError(f"memory.worlds[{place}].number must be -1, not {world.number}: it is no cluster")
            _check_size(world.alone, n_rows, f"memory.worlds[{place}].alone")
        numbers = sorted(world.number for world in self.worlds if world.proven is not None)
        if numbers != list(range(len(numbers))):
            raise ValueError(f"memory.worlds has clusters with the numbers {numbers!r:.80}")
        names = [world.name for world in self.worlds]
        if len(set(names)) < len(names) or max(names, default=-1) >= self.named:
            raise ValueError(f"memory.worlds has names that are not different and below {self.named}: {names!r:.80}")
        if not self.worlds:
            if self.past or any(map(len, (self.transitions, self.spreads, self.parents, self.trust))):
                raise ValueError("memory.past and what rows are must be empty where there are no worlds")
            return
        self._check_places(n_states, n_pairs)
        _check_size(self.spreads, n_rows, "memory.spreads")
        _check_range(self.spreads, LEAST_SPREAD, MOST_SPREAD, "memory.spreads")
        _check_size(self.parents, len(self.transitions), "memory.parents")
        _check_size(self.trust, n_pairs, "memory.trust")
        _check_range(self.parents, 0.0, 1.0, "memory.parents")
        if not np.isin(self.trust, (0.0, *TRUSTS)).all():
            raise ValueError("memory.trust holds what no row can have")
        if not (self.parents[np.isin(self.transitions // (n_states + 1), np.flatnonzero(self.trust))] > 0.0).all():
            raise ValueError("memory.parents must be above 0 where memory.trust is")
        _check_range(self.sharing, LEAST_SHARED, MOST_SHARED, "memory.sharing")
        places = len(self.transitions) + 2 * n_states + levels * n_pairs
        for number, past in enumerate(self.past):
            past.check(len(self.worlds), places, f"memory.past[{number}]")
        for place, world in enumerate(self.worlds):
            least = max(1, sum(past.world == place for past in self.past))
            if world.episodes < least:
                raise ValueError(f"memory.worlds[{place}].episodes is {world.episodes}, but it holds at least {least}")

    def _check_levels(self, learns_rewards: bool) -> int:
        """V, of levels that must fall from 1 to 0; 0 where rewards are known."""
        levels = self.levels
        most = MOST_LEVELS if learns_rewards else len(EXTREMES)
        if levels.ndim != 1 or len(levels) > most:
            raise ValueError(f"memory.levels must be a list of at most {most} rewards")
        if len(levels) and (levels[0] != 1.0 or levels[-1] != 0.0 or (np.diff(levels) >= 0.0).any()):
            raise ValueError("memory.levels must fall from 1 to 0")
        return (len(levels) or len(EXTREMES)) if learns_rewards else 0

    def _check_places(self, n_states: int, n_pairs: int) -> None:
        """Places must rise, have one for what nobody has seen in every row, and one for all that worlds hold."""
        keys = self.transitions
        if len(keys) == 0 or (np.diff(keys) <= 0).any() or keys[-1] >= n_pairs * (n_states + 1):
            raise ValueError(f"memory.transitions must rise from 0 to {n_pairs * (n_states + 1) - 1}")
        held = [world.counts for world in self.worlds]
        held += [world.proven for world in self.worlds if world.proven is not None]
        if not np.isin(places_of(held, n_states, n_pairs), keys).all():
            raise ValueError("memory.transitions has no place for a transition that a world in memory.worlds holds")


def _check_size(array: NDArray[np.float64], size: int, place: str) -> None:
    if array.shape != (size,):
        raise ValueError(f"{place} must have {size} entries, not {array.shape}")


def _check_range(array: NDArray[np.float64], least: float, most: float, place: str) -> None:
    if not ((array >= least) & (array <= most)).all():
        raise ValueError(f"{place} must lie in [{least:g}, {most:g}]")


def with_since(known: CountTable, before: Any, counts: CountTable, pairs: NDArray[np.bool_]) -> CountTable:
    """A new table: what is known, and what was counted since ``before`` at these pairs."""
    target = CountTable(len(known.record.heads))
    target.add(known)
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
    return target

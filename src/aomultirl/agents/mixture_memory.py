"""What :class:`aomultirl.agents.MixtureOfMDPs` remembers: components, and an archive of episodes assigned to them."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import Packed, pack_counts, table_of
from aomultirl.identifying.marginal_likelihood import EpisodeSeen
from aomultirl.learning import Known
from aomultirl.learning.posterior import WATCHED_SUMS
from aomultirl.learning.psrl import rescaled_watched
from aomultirl.records import Within


@dataclass(eq=False)
class Component:
    """One world that the mixture believes in.

    known
        what the episodes assigned to it have shown.
    episodes
        how many are assigned to it, those that have left the archive included.
    last
        the number of the last episode that was assigned to it as it was met.
    number
        of its cluster in reports; -1 where no episode was reported to be it yet.
    """

    known: Known
    episodes: Annotated[int, Within(0)] = 0
    last: Annotated[int, Within(0)] = 0
    number: Annotated[int, Within(-1)] = -1


@dataclass(eq=False)
class ArchivedEpisode:
    """One episode of the past that may be assigned to another component.

    component
        the place of its component in the list of components.
    pairs
        (n,), of every transition seen the pair, ascending.
    states
        (n,), its successor, ascending for each pair.
    visits
        (n,), how often it was seen.
    ended
        the state in which the episode ended; -1 where nothing ended it.
    watched
        (3, visited pairs), how many rewards each visited pair earned, their sums, and the sums of their squares; (3, 0)
        where rewards are known.
    """

    component: Annotated[int, Within(0)]
    pairs: Annotated[NDArray[np.int64], Within(0)]
    states: Annotated[NDArray[np.int32], Within(0)]
    visits: Annotated[NDArray[np.int64], Within(1)]
    ended: Annotated[int, Within(-1)]
    watched: Annotated[NDArray[np.float64], Within(0.0)]

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Rewards are shown as ``times`` what they were, ``plus`` so much: bring what was watched to it."""
        self.watched = rescaled_watched(self.watched, times, plus)

    def watched_by_pair(self, n_pairs: int) -> NDArray[np.float64]:
        """What was watched, of every pair, (3, S * A); (3, 0) where rewards are known."""
        if self.watched.shape[1] == 0:
            return np.zeros((3, 0))
        whole = np.zeros((3, n_pairs))
        whole[:, np.unique(self.pairs)] = self.watched
        return whole

    def seen(self, n_pairs: int) -> EpisodeSeen:
        """What the episode has shown, as its likelihood is worked out from it."""
        sums = self.watched_by_pair(n_pairs)[WATCHED_SUMS]
        return EpisodeSeen(self.pairs, self.states, self.visits, sums, self.ended)

    def check(self, place: str, n_pairs: int, n_states: int, learns_rewards: bool) -> None:
        """Refuse what no episode can have shown."""
        if not (self.pairs.ndim == 1 and self.pairs.shape == self.states.shape == self.visits.shape):
            raise ValueError(f"{place} has lists of transitions that differ in length")
        keys = self.pairs * n_states + self.states
        watched = (3, len(np.unique(self.pairs)) if learns_rewards else 0)
        if len(keys) and (self.pairs.max() >= n_pairs or self.states.max() >= n_states or (np.diff(keys) <= 0).any()):
            raise ValueError(f"{place} has transitions that are not in ascending order, or of no pair or state")
        if self.ended >= n_states:
            raise ValueError(f"{place}.ended is {self.ended}, but states are 0 to {n_states - 1}")
        if self.watched.shape != watched:
            raise ValueError(f"{place}.watched must be of shape {watched}, not {self.watched.shape}")


def archived(counts: CountTable, watched: NDArray[np.float64], component: int) -> ArchivedEpisode:
    """An episode for the archive; ``watched`` is (3, S * A), or (3, 0) where rewards are known."""
    starts, states, visits = counts.to_lists()
    pairs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    visited = watched[:, np.unique(pairs)] if watched.shape[1] else watched
    return ArchivedEpisode(component, pairs, states, visits, next(iter(counts.ends), -1), visited)


def give(known: Known, episode: ArchivedEpisode) -> None:
    """Add what an episode has shown to what is known of a world."""
    n_pairs = len(known.counts.record.heads)
    filled = np.bincount(episode.pairs, minlength=n_pairs).astype(np.int32)
    terminal = np.array([episode.ended] if episode.ended >= 0 else [], np.int32)
    packed = Packed(filled, episode.states, episode.visits, terminal, np.ones(len(terminal), np.int64))
    known.counts.add(table_of(packed, n_pairs))
    watched = episode.watched_by_pair(len(known.sums))
    if watched.shape[1]:
        known.sums += watched[WATCHED_SUMS]
        known.own["watched"] = known.own["watched"] + watched


def take(known: Known, episode: ArchivedEpisode, n_states: int) -> None:
    """Take what an episode has shown out of what is known of a world; ValueError where it was never in."""
    packed = pack_counts(known.counts)
    n_pairs = len(packed.filled)
    owners, visits = np.repeat(np.arange(n_pairs), packed.filled), packed.visits.copy()
    keys, wanted = owners * n_states + packed.states, episode.pairs * n_states + episode.states
    places = np.flatnonzero(np.isin(keys, wanted, assume_unique=True))
    if len(places) < len(wanted) or (visits[places] < episode.visits).any():
        raise ValueError("an archived episode has transitions that its component does not have")
    visits[places] -= episode.visits
    left = visits > 0
    ends = {**known.counts.ends}
    if episode.ended >= 0:
        ends[episode.ended] = ends.get(episode.ended, 0) - 1
        if ends[episode.ended] < 0:
            raise ValueError("an archived episode ended where no episode of its component did")
    ends = {state: times for state, times in ends.items() if times > 0}
    filled = np.bincount(owners[left], minlength=n_pairs).astype(np.int32)
    terminal, times = np.array(sorted(ends), np.int32), np.array([ends[s] for s in sorted(ends)], np.int64)
    known.counts = table_of(Packed(filled, packed.states[left], visits[left], terminal, times), n_pairs)
    watched = episode.watched_by_pair(len(known.sums))
    if watched.shape[1]:
        seen = filled > 0  # what is left of sums elsewhere is rounding
        known.sums = np.where(seen, np.maximum(known.sums - watched[WATCHED_SUMS], 0.0), 0.0)
        known.own["watched"] = np.where(seen, np.maximum(known.own["watched"] - watched, 0.0), 0.0)


@dataclass
class MixtureMemory:
    """All that the mixture remembers.

    components
        the worlds that it believes in.
    archive
        the last episodes, oldest first.
    met
        how many episodes there were.
    clusters
        how many components were reported as new.
    moves
        how often an episode was assigned to another component than before.
    shared
        what the learner knows of all worlds alike.
    """

    components: Annotated[list[Component], Within(most="episodes")] = field(default_factory=list)
    archive: Annotated[list[ArchivedEpisode], Within(most="episodes")] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    clusters: Annotated[int, Within(0, "episodes")] = 0
    moves: Annotated[int, Within(0)] = 0
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)

    def drop(self, place: int) -> None:
        """Forget a component, and the episodes of the archive that are assigned to it."""
        del self.components[place]
        self.archive = [episode for episode in self.archive if episode.component != place]
        for episode in self.archive:
            episode.component -= episode.component > place

    def check(self, n_states: int) -> None:
        """Refuse numbers that do not fit together, and components without the episodes that are assigned to them."""
        numbers = [component.number for component in self.components if component.number >= 0]
        if len(set(numbers)) < len(numbers) or max(numbers, default=-1) >= self.clusters:
            raise ValueError(f"memory.components has clusters with the numbers {numbers!r:.80}")
        for place, episode in enumerate(self.archive):
            if episode.component >= len(self.components):
                raise ValueError(f"memory.archive[{place}].component is {episode.component}, but there is none")
        for place, component in enumerate(self.components):
            own = [episode for episode in self.archive if episode.component == place]
            if component.episodes < max(1, len(own)):
                raise ValueError(f"memory.components[{place}].episodes is {component.episodes}, less than it has")
            rest = replace(component.known, own=dict(component.known.own))
            for episode in own:
                take(rest, episode, n_states)

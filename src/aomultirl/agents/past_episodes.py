"""Past episodes, which are read again as evidence grows, and put together when there are many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.learning.row_layout import Layout
from aomultirl.learning.row_likelihoods import Floats
from aomultirl.learning.world_rows import WorldRows
from aomultirl.records import Within


@dataclass(eq=False)
class PastEpisode:
    """An episode that may be assigned again, or several old ones of one world, which are assigned together.

    places, counts
        (n,), its counts and where they stand (:class:`aomultirl.learning.row_layout.Entries`).
    world
        the place of its world in the list of worlds.
    sure
        how probable that world was when it was last read.
    episodes
        how many there are.
    """

    places: Annotated[NDArray[np.int64], Within(0)]
    counts: Annotated[NDArray[np.float64], Within(0.0)]
    world: Annotated[int, Within(0)]
    sure: Annotated[float, Within(0.0, 1.0)]
    episodes: Annotated[int, Within(1)] = 1

    def check(self, worlds: int, places: int, name: str) -> None:
        """Refuse an episode that could not be taken out of its world; there are so many worlds and places."""
        if self.world >= worlds:
            raise ValueError(f"{name}.world is {self.world}, but there are {worlds} worlds")
        if self.places.shape != self.counts.shape or self.places.ndim != 1:
            raise ValueError(f"{name}.places and counts must be lists of one length")
        if len(self.places) and ((np.diff(self.places) <= 0).any() or self.places[-1] >= places):
            raise ValueError(f"{name}.places must rise, up to {places - 1}")

    def joined(self, other: "PastEpisode") -> "PastEpisode":
        """Both together, in the world of this one."""
        at = np.searchsorted(self.places, other.places)
        new = np.append(self.places, -1)[at] != other.places
        places = np.insert(self.places, at[new], other.places[new])  # no sorting: the first may be long
        counts = np.insert(self.counts, at[new], 0.0)
        counts[np.searchsorted(places, other.places)] += other.counts
        return PastEpisode(places, counts, self.world, 1.0, self.episodes + other.episodes)


def make_places(past: Sequence[PastEpisode], rows: WorldRows, table: CountTable) -> None:
    """Make places in the rows for all that a table has counted; where past episodes have theirs, they move."""
    moved = rows.make_places(table)
    if moved is not None:
        for episode in past:
            episode.places = moved[episode.places]


def fold(past: list[PastEpisode], most: int, most_entries: int) -> None:
    """Put old episodes of a world together, where there are more than ``most``, or more entries."""
    entries = sum(len(episode.places) for episode in past)
    while len(past) > most or entries > most_entries:
        pair = _two_to_join(past)
        if pair is None:
            return
        block = pair[0].joined(pair[1])
        entries += len(block.places) - sum(len(episode.places) for episode in pair)
        for episode in pair:
            past.remove(episode)
        past.insert(0, block)


def _two_to_join(past: list[PastEpisode]) -> tuple[PastEpisode, PastEpisode] | None:
    """The oldest episode that stands alone and is not the last of its world, and what it is put together with."""
    first: dict[int, PastEpisode] = {}
    for episode in sorted(past, key=lambda episode: episode.episodes == 1):  # those that are together already first
        if episode.world in first:
            return first[episode.world], episode
        first[episode.world] = episode
    return None


def check_fit(past: Sequence[PastEpisode], counts: Floats, layout: Layout) -> None:
    """Refuse past episodes that could not be taken out of their worlds, whose counts are (W, P)."""
    pairs, rewards = layout.first[[layout.n_pairs, layout.n_pairs + layout.n_states]]
    left, above = counts[:, :rewards].copy(), False
    for episode in past:
        visits = episode.places < rewards
        left[episode.world, episode.places[visits]] -= episode.counts[visits]
        moves = episode.places < pairs
        most = np.bincount(layout.owners[episode.places[moves]], episode.counts[moves], layout.n_pairs)
        if (episode.counts[visits] % 1.0).any():
            raise ValueError("memory.past holds parts of visits")
        paying = (episode.places[~visits] - rewards) // max(1, len(layout.levels))
        above |= bool((np.bincount(paying, episode.counts[~visits], layout.n_pairs) > most + 1e-6).any())
    if (left < 0.0).any():
        raise ValueError("memory.past holds more than the worlds in memory.worlds")
    if above:
        raise ValueError("memory.past holds rewards above 1")

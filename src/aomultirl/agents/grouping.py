"""Which past episode is held to be of which world, and what follows from it for the rows of the worlds.

:class:`Grouping` keeps three things in step: the episodes and worlds of a memory, which files keep; the rows that they
make up (:class:`aomultirl.learning.world_rows.WorldRows`); and how likely all of it is.  What moves when is decided by
:mod:`.rereading`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from aomultirl.agents.past_episodes import PastEpisode, check_fit
from aomultirl.agents.recall_levels import levels_of
from aomultirl.agents.recall_memory import RecallMemory, World
from aomultirl.agents.tracing import Traces
from aomultirl.learning.regrouping import score_episode
from aomultirl.learning.row_layout import Entries
from aomultirl.learning.row_likelihoods import NONE_LEFT, Floats, ln_joint
from aomultirl.learning.world_rows import WorldRows


@lru_cache(maxsize=1024)
def _ln_joining(sizes: tuple[float, ...], episodes: int) -> Floats:
    """(W + 1,), ln of a Chinese restaurant: G(n + m) / G(n) for m episodes that join n, and G(m) for a new world."""
    tables = np.append(sizes, 1.0)
    joining = gammaln(tables + episodes) - gammaln(tables)
    joining[-1] = gammaln(episodes)
    joining.setflags(write=False)
    return np.asarray(joining)


class Grouping:
    """The worlds and the past episodes of a memory, with the rows that they make up.

    Parameters
    ----------
    memory
        which is changed between episodes.
    n_states, n_actions, learns_rewards
        of the run.
    """

    def __init__(self, memory: RecallMemory, n_states: int, n_actions: int, learns_rewards: bool) -> None:
        self.memory = memory
        keys = memory.transitions if len(memory.transitions) else None
        self.rows = WorldRows(n_states, n_actions, learns_rewards, keys, levels_of(memory))
        for place, world in enumerate(memory.worlds):
            self.rows.add_table(world.counts, world.sums)
            self.rows.alone[place] = world.alone
        if len(memory.spreads):
            self.rows.spreads[:], self.rows.shared[:] = memory.spreads, memory.sharing
            self.rows.means[:], self.rows.trust[:] = memory.parents, memory.trust
            self.rows.kinship = memory.kinship
        self.rows.weigh()
        self.changed: set[int] = set()
        check_fit(memory.past, self.rows.counts, self.rows.layout)

    def scores(self, past: PastEpisode) -> Floats:
        """(W + 1,), ln of prior times likelihood of an episode that is in no world."""
        rows, layout = self.rows, self.rows.layout
        numbers = (rows.own, rows.together, rows.pooled, rows.theta, rows.alpha, rows.shared)
        scores = score_episode(
            layout.owners, layout.kinds, rows.counts, rows.masses, *numbers, past.places, past.counts
        )
        return np.asarray(scores + _ln_joining(tuple(self.sizes.tolist()), past.episodes))

    def found(self, values: Floats) -> int:
        """One more world, of which nothing was counted; its place.  values: (S,), where planning begins."""
        memory, place = self.memory, self.rows.add_world()
        table, sums = self.rows.table(place)
        alone = np.zeros(len(self.rows.theta))
        memory.worlds.append(World(table, sums, values.copy(), alone, name=memory.named))
        memory.named += 1
        return place

    def put(self, past: PastEpisode, place: int, sign: int = 1) -> None:
        """Add an episode to a world, or take it away with a sign of -1."""
        self.rows.put(Entries(past.places, past.counts), place, float(sign))
        self.memory.worlds[place].episodes += sign * past.episodes
        self.changed.add(place)

    def take_out(self, past: PastEpisode) -> None:
        """Take an episode out of its world, to put it elsewhere or, unless anything changes meanwhile, back again."""
        self.rows.take_out(Entries(past.places, past.counts), past.world)
        self.memory.worlds[past.world].episodes -= past.episodes

    def put_back(self, past: PastEpisode) -> None:
        """Put the episode that was taken out last back in its world, which is as it was, to the last bit."""
        self.rows.put_back(Entries(past.places, past.counts), past.world)
        self.memory.worlds[past.world].episodes += past.episodes

    def move(self, episodes: Sequence[PastEpisode], old: int, new: int) -> None:
        """Have episodes of one world be of another."""
        for past in episodes:
            self.put(past, old, -1)
            self.put(past, new)
            past.world = new

    def remove(self, place: int) -> None:
        """Forget a world that no episode is held to be any more."""
        self.rows.remove_world(place)
        del self.memory.worlds[place]
        for past in self.memory.past:
            past.world -= past.world > place
        self.changed = set(range(len(self.memory.worlds)))

    def withdraw(self, place: int) -> None:
        """Forget the world that was founded last, and that nobody has seen: its name is free again."""
        self.remove(place)
        self.memory.named -= 1

    def make_one(self, place: int, other: int) -> None:
        """Make one of two worlds; it is where the first was."""
        one, two = self.memory.worlds[place], self.memory.worlds[other]
        counts, alone = self.rows.counts[other].copy(), self.rows.alone[place] + self.rows.alone[other]
        places = np.flatnonzero(counts)
        self.rows.put(Entries(places, counts[places]), place)
        self.rows.alone[place] = alone
        if two.episodes > one.episodes:
            one.values = two.values
        one.episodes += two.episodes
        one.met += two.met
        one.told = sorted({*one.told, *two.told})
        if two.proven is not None:
            one.proven, one.number, one.tries = two.proven, two.number, two.tries
        for past in self.memory.past:
            if past.world == other:
                past.world = place
        self.remove(other)

    def sum_alone(self) -> None:
        """Sum ln ML of the past episodes' own rows anew, with the prior as it is; what is settled counts in full."""
        rows, first = self.rows, self.rows.layout.first[:-1]
        for place in range(rows.count):
            settled = self.settled_in(place, [past for past in self.memory.past if past.world == place])
            rows.alone[place] = rows.weigh_counts(settled) - np.log(np.maximum(1.0, np.add.reduceat(settled, first)))
        for past in self.memory.past:
            rows.add_alone(Entries(past.places, past.counts), past.world)

    def settled_in(self, place: int, members: Sequence[PastEpisode]) -> Floats:
        """(P,), the counts of a world beyond those of its past episodes."""
        settled: Floats = np.array(self.rows.counts[place])
        for past in members:
            settled[past.places] -= past.counts
        settled[settled < NONE_LEFT] = 0.0
        return settled

    @property
    def sizes(self) -> Floats:
        """(W,), the episodes of every world, and at least 1."""
        return np.array([max(world.episodes, 1) for world in self.memory.worlds], np.float64)

    def joint(self) -> float:
        """ln of how likely all episodes are in their worlds."""
        rows = self.rows
        return float(ln_joint(rows.layout.kinds, rows.own, rows.together, rows.shared, self.sizes))

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Keep what is done within, or, where that fails half-way, leave everything as it was: Ctrl-C may come here.

        Tables of what is proven must not be added to within, but replaced.
        """
        memory, changed = self.memory, set(self.changed)
        fields = vars(memory) | {"traces": Traces(list(memory.traces.kept))}
        held = [(record, dict(vars(record))) for record in (*memory.worlds, *memory.past)]
        worlds, past = list(memory.worlds), list(memory.past)
        rows = {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in vars(self.rows).items()}
        try:
            yield
        except BaseException:
            for record, old in held:
                vars(record).update(old)
            vars(memory).update(fields | {"worlds": worlds, "past": past})
            vars(self.rows).update(rows)
            self.changed = changed
            raise

    def write_down(self) -> None:
        """Bring what files keep to the rows as they are."""
        memory, rows = self.memory, self.rows
        if not memory.worlds:  # nothing has been met: files keep no rows
            return
        memory.transitions = rows.layout.keys
        memory.spreads, memory.sharing, memory.kinship = rows.spreads.copy(), rows.shared.copy(), rows.kinship
        memory.parents, memory.trust = rows.means.copy(), rows.trust.copy()
        for place in sorted(self.changed):
            memory.worlds[place].counts, memory.worlds[place].sums = rows.table(place)
        for place, world in enumerate(memory.worlds):
            world.alone = rows.alone[place].copy()
        self.changed = set()

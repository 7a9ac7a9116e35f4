"""A memory that re-reads its past: episodes are assigned to worlds again as evidence grows.

Every episode is put in a world by a draw from its posterior, and kept with its counts; it founds a world only where it
is new (:mod:`aomultirl.learning.novelty`).  After every episode a few past ones are taken out and drawn again.  Ever
more rarely, all worlds are gone through: how spread and how shared rows are is learned anew, worlds merge where the
joint likelihood rises, and those that are in truth several are parted (:mod:`aomultirl.learning.regrouping`).  So a
mistake of an early day is mended when more is known, and a world that was none dissolves.

Which world an episode was can be a matter of taste once a policy has settled: where a sign names the world and the
agent follows it, one world with an unreliable sign explains everything as well as several do, but acting needs to tell
them apart.  So worlds become one only where that gains MARGIN for each episode of the smaller one.

Bounded: when there are more than MOST_PAST episodes, or entries than MOST_ENTRIES, the oldest ones of each world are
put together, and are assigned together from then on.  None of this proves anything, and worlds that are proven to
differ never become one.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from aomultirl import checks
from aomultirl.agents.parting import ways_to_part
from aomultirl.agents.past_episodes import PastEpisode, check_fit, fold, make_places
from aomultirl.agents.recall_levels import earned, levels_of, rescale, sums_at, take_levels, take_sums
from aomultirl.agents.recall_memory import RecallMemory, World
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.learning.regrouping import ln_gain_of_merging, score_episode
from aomultirl.learning.reward_levels import Notes
from aomultirl.learning.row_layout import Entries
from aomultirl.learning.row_likelihoods import NONE_LEFT, Floats, ln_joint
from aomultirl.learning.world_rows import WorldRows

MOST_PAST = 500
"""Episodes that can be read again."""
MOST_ENTRIES = 2_000_000
"""Entries of them, of 16 bytes each."""
MOST_WORLDS = 32
"""Worlds; of more, those that clusters stand on are kept, however many, and no others."""
MARGIN = 0.2
"""ln of the joint likelihood, for each episode of the smaller of two worlds, that making one of them must gain."""
REREAD = 6
"""Past episodes that are drawn again after every episode."""
REREAD_AT_REVIEW = 200
"""The same after all worlds were gone through."""
EASE = 8
"""All worlds are gone through when there is an eighth more episodes than the last time."""
FADING = 0.98
"""A world met so many episodes ago counts so much less in the prior, to this power."""
LOT = 2**31


class Rereading:
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
        self._changed: set[int] = set()
        check_fit(memory.past, self.rows.counts, self.rows.layout)

    # -- one episode --------------------------------------------------------------------------------------

    def take_in(
        self,
        table: CountTable,
        sums: Floats,
        notes: Notes,
        values: Floats,
        stream: RandomStream,
        barred: Sequence[World] = (),
        is_new: bool = True,
    ) -> PastEpisode:
        """Put an episode in a world, drawn from the posterior; :meth:`look_back` must follow.

        Parameters
        ----------
        sums, notes
            what it earned: (S * A,), or empty, and what it paid where rewards are not known.
        values
            (S,), what a new world begins with.
        barred
            worlds that the episode is proven not to be.
        is_new
            whether it may be of a world that is not in memory (:mod:`aomultirl.learning.novelty`).
        """
        memory, rows = self.memory, self.rows
        make_places(memory.past, rows, table)
        self._note_change(take_levels(memory, rows, notes))
        entries = rows.entries(table, earned(rows, notes, sums))
        for world in memory.worlds:
            world.met *= FADING
        episode = PastEpisode(entries.places, entries.counts, world=-1, sure=0.0)
        episode.world, episode.sure = self._draw(episode, values, stream, barred, is_new)
        self._put(episode, episode.world)
        memory.worlds[episode.world].met += 1.0
        memory.past.append(episode)
        memory.met += 1
        return episode

    def begin_with(self, known: Sequence[tuple[CountTable, Floats]], values: Floats) -> None:
        """Add worlds of which this was counted and earned, by others; values, (S,): where planning begins."""
        there = len(self.memory.worlds)
        if there + len(known) > MOST_WORLDS:
            beside = f", and {there} are in memory" if there else ""
            raise checks.Refusal("groups", f"has {len(known)} worlds{beside}: at most {MOST_WORLDS} are kept")
        self._note_change(take_sums(self.memory, self.rows, known))
        for table, sums in known:
            make_places(self.memory.past, self.rows, table)
            place, entries = self._found(values), self.rows.entries(table, sums_at(self.rows, table, sums))
            self.rows.put(entries, place)
            self.memory.worlds[place].episodes = 1
            self._changed.add(place)
        self.rows.fit()
        self._sum_alone()
        self._write_down()

    def settle(self, episode: PastEpisode, world: World) -> None:
        """The episode that was taken in last is proven to be of this world, and is never read again."""
        old = self.memory.worlds[episode.world]
        self._move([episode], episode.world, self.memory.worlds.index(world))
        self.memory.past.remove(episode)
        if old.episodes == 0:
            self._remove(self.memory.worlds.index(old))

    def look_back(self, stream: RandomStream) -> None:
        """Read some of the past again, and bring memory within its bounds."""
        memory = self.memory
        self._reread_some(REREAD, stream)
        if memory.met >= memory.next_review:
            memory.next_review = memory.met + max(1, memory.met // EASE)
            self.review(stream)
        fold(memory.past, MOST_PAST, MOST_ENTRIES)
        self._forget()
        self._write_down()

    def _scores(self, past: PastEpisode) -> Floats:
        """(W + 1,), ln of prior times likelihood of an episode that is in no world."""
        rows, layout = self.rows, self.rows.layout
        numbers = (rows.own, rows.together, rows.pooled, rows.theta, rows.alpha, rows.shared)
        scores = score_episode(
            layout.owners, layout.kinds, rows.counts, rows.masses, *numbers, past.places, past.counts
        )
        sizes = np.append(self._sizes, 1.0)  # a Chinese restaurant: G(n + m) / G(n) for m that join n, else G(m)
        joining = gammaln(sizes + past.episodes) - gammaln(sizes)
        joining[-1] = gammaln(past.episodes)
        return np.asarray(scores + joining)

    def _draw(
        self,
        past: PastEpisode,
        values: Floats,
        stream: RandomStream,
        barred: Sequence[World] = (),
        is_new: bool = False,
    ) -> tuple[int, float]:
        """The place of a world for an episode that is in none, drawn from the posterior, and how probable it is.

        A world is founded only where the episode is new, or where there is no world that it may be.
        """
        scores, worlds = self._scores(past), self.memory.worlds
        empty = [place for place, world in enumerate(worlds) if world.episodes == 0]
        for place in [*empty, *map(worlds.index, barred)]:
            scores[place] = -np.inf
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        chances = shares
        if not is_new and not empty and np.isfinite(scores[:-1]).any():
            chances = np.exp(scores - scores[:-1].max())
            chances[-1] = 0.0
        chances = chances / chances.sum()
        place = int(np.searchsorted(chances.cumsum(), draw_below(LOT, stream) / LOT, side="right"))
        place = min(place, len(chances) - 1 if chances[-1] > 0.0 else len(chances) - 2)
        sure = float(shares[place])
        if place == len(worlds):
            place = empty[0] if empty else self._found(values)  # one that has just been left keeps its name
        return place, sure

    def _found(self, values: Floats) -> int:
        memory, place = self.memory, self.rows.add_world()
        table, sums = self.rows.table(place)
        alone = np.zeros(len(self.rows.theta))
        memory.worlds.append(World(table, sums, values.copy(), alone, name=memory.named))
        memory.named += 1
        return place

    def _put(self, past: PastEpisode, place: int, sign: int = 1) -> None:
        """Add an episode to a world, or take it away with a sign of -1."""
        self.rows.put(Entries(past.places, past.counts), place, float(sign))
        self.memory.worlds[place].episodes += sign * past.episodes
        self._changed.add(place)

    def _reread_some(self, times: int, stream: RandomStream) -> None:
        """Draw a world for so many of the past episodes again, each chosen at random."""
        for _ in range(times if self.memory.past else 0):
            self._reread(self.memory.past[draw_below(len(self.memory.past), stream)], stream)

    def _reread(self, past: PastEpisode, stream: RandomStream) -> None:
        """Take a past episode out of its world, and draw one for it again."""
        old, before = self.memory.worlds[past.world], self._changed.copy()
        self._put(past, past.world, -1)
        world, past.sure = self._draw(past, old.values, stream)
        self._put(past, world)
        if world == past.world and not self.rows.learns_rewards:  # fractions may differ in their last bit
            self._changed = before
        past.world = world
        if old.episodes == 0:
            self._remove(self.memory.worlds.index(old))

    def _remove(self, place: int) -> None:
        """Forget a world that no episode is held to be any more."""
        self.rows.remove_world(place)
        del self.memory.worlds[place]
        for past in self.memory.past:
            past.world -= past.world > place
        self._changed = set(range(len(self.memory.worlds)))

    # -- all of them --------------------------------------------------------------------------------------

    def review(self, stream: RandomStream) -> None:
        """Go through all worlds: learn the prior, merge, part, merge, and read much of the past again."""
        self.rows.fit()
        self._sum_alone()
        self.memory.vectors = np.empty(0)
        self._merge()
        waiting = list(self.memory.worlds)
        while waiting and len(self.memory.worlds) < MOST_WORLDS:
            world = waiting.pop()
            new = self._part(world, stream)
            if new is not None:
                waiting += [world, new]
        self._merge()
        self._reread_some(min(REREAD_AT_REVIEW, 4 * len(self.memory.past)), stream)
        self._changed = set(range(len(self.memory.worlds)))

    def _sum_alone(self) -> None:
        """Sum ln ML of the past episodes' own rows anew, with the prior as it is; what is settled counts in full."""
        rows, first = self.rows, self.rows.layout.first[:-1]
        for place in range(rows.count):
            settled = self._settled(place, [past for past in self.memory.past if past.world == place])
            rows.alone[place] = rows.weigh_counts(settled) - np.log(np.maximum(1.0, np.add.reduceat(settled, first)))
        for past in self.memory.past:
            rows.add_alone(Entries(past.places, past.counts), past.world)

    def _settled(self, place: int, members: Sequence[PastEpisode]) -> Floats:
        """(P,), the counts of a world beyond those of its past episodes."""
        settled: Floats = np.array(self.rows.counts[place])
        for past in members:
            settled[past.places] -= past.counts
        settled[settled < NONE_LEFT] = 0.0
        return settled

    @property
    def _sizes(self) -> Floats:
        return np.array([max(world.episodes, 1) for world in self.memory.worlds], np.float64)

    def _joint(self) -> float:
        rows = self.rows
        return float(ln_joint(rows.layout.kinds, rows.own, rows.together, rows.shared, self._sizes))

    def _merge(self) -> None:
        """Make one of the two worlds that gain most by it, until none do."""
        worlds, rows = self.memory.worlds, self.rows
        while True:
            best, pair, sizes = 0.0, None, self._sizes
            numbers = (rows.own, rows.together, rows.theta, rows.alpha, rows.shared, sizes)
            for i in range(len(worlds)):
                for j in range(i):
                    if worlds[i].proven is not None and worlds[j].proven is not None:
                        continue
                    gain = ln_gain_of_merging(rows.layout.first, rows.layout.kinds, rows.counts, *numbers, i, j)
                    gain -= MARGIN * min(sizes[i], sizes[j])
                    if gain > best:
                        best, pair = gain, (j, i)
            if pair is None:
                return
            self._make_one(*pair)

    def _make_one(self, place: int, other: int) -> None:
        one, two = self.memory.worlds[place], self.memory.worlds[other]
        counts, alone = self.rows.counts[other].copy(), self.rows.alone[place] + self.rows.alone[other]
        places = np.flatnonzero(counts)
        self.rows.put(Entries(places, counts[places]), place)
        self.rows.alone[place] = alone
        if two.episodes > one.episodes:
            one.values = two.values
        one.episodes += two.episodes
        one.met += two.met
        if two.proven is not None:
            one.proven, one.number, one.tries = two.proven, two.number, two.tries
        for past in self.memory.past:
            if past.world == other:
                past.world = place
        self._remove(other)

    def _part(self, world: World, stream: RandomStream) -> World | None:
        """Part a world where the joint likelihood rises by it; the new one."""
        memory, rows = self.memory, self.rows
        place = memory.worlds.index(world)
        members = [past for past in memory.past if past.world == place]
        if len(members) < 2:
            return None
        settled, before, shared = self._settled(place, members), self._joint(), rows.shared.copy()
        for part in ways_to_part(rows, place, members, settled, stream):
            if part.min() == part.max():
                continue
            new = self._found(world.values)
            self._move([past for past, q in zip(members, part.tolist(), strict=True) if q], place, new)
            rows.fit_sharing()
            if self._joint() > before:
                memory.worlds[new].met = world.met * memory.worlds[new].episodes / sum(p.episodes for p in members)
                world.met = max(0.0, world.met - memory.worlds[new].met)
                self._sum_alone()
                return memory.worlds[new]
            self._move([past for past in memory.past if past.world == new], new, place)
            self._remove(new)
            rows.shared[:] = shared
        return None

    def _move(self, episodes: list[PastEpisode], old: int, new: int) -> None:
        for past in episodes:
            self._put(past, old, -1)
            self._put(past, new)
            past.world = new

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Bring all rewards to another range."""
        rescale(self.memory, self.rows, times, plus)
        self._note_change(True)
        self._write_down()

    def _note_change(self, changed: bool) -> None:
        """Whether rewards are taken for something else than before."""
        if changed:
            self._sum_alone()
            self._changed = set(range(len(self.memory.worlds)))

    # -- bounds -------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Drop the worlds met least lately that no cluster stands on, so that an episode's cost stays bounded."""
        worlds = self.memory.worlds
        while len(worlds) > MOST_WORLDS:
            loose = [world for world in worlds if world.proven is None]
            if not loose:
                return
            place = worlds.index(min(loose, key=lambda world: world.met))
            self.memory.past[:] = [past for past in self.memory.past if past.world != place]
            self._remove(place)

    def _write_down(self) -> None:
        """Bring what files keep to the rows as they are."""
        memory, rows = self.memory, self.rows
        memory.transitions = rows.layout.keys
        memory.spreads, memory.sharing, memory.kinship = rows.spreads.copy(), rows.shared.copy(), rows.kinship
        memory.parents, memory.trust = rows.means.copy(), rows.trust.copy()
        for place in sorted(self._changed):
            memory.worlds[place].counts, memory.worlds[place].sums = rows.table(place)
        for place, world in enumerate(memory.worlds):
            world.alone = rows.alone[place].copy()
        self._changed = set()

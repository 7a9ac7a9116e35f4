"""A memory that re-reads its past: episodes are assigned to worlds again as evidence grows.

Every episode is put in a world by a draw from its posterior, and kept with its counts; it founds a world only where it
is new (:mod:`aomultirl.learning.novelty`).  After every episode a few past ones are taken out and drawn again.  Ever
more rarely, all worlds are gone through: how spread and how shared rows are is learned anew, worlds merge where the
joint likelihood rises, those that are in truth several are parted (:mod:`aomultirl.learning.regrouping`), and episodes
of several worlds that none of them explains well are gathered into one of their own.  So a mistake of an early day is
mended when more is known, and a world that was none dissolves.

Gathering finds what parting cannot.  A world that was never recognised is spread over those that are known: of four
doors with a sign each, three are known, and whoever sees the fourth sign is taken for one of the three at random.  No
single world is likelier without its few, but all of them together make a world that explains them better.

Which world an episode was can be a matter of taste once a policy has settled: where a sign names the world and the
agent follows it, one world with an unreliable sign explains everything as well as several do, but acting needs to tell
them apart.  So worlds become one only where that gains MARGIN for each episode of the smaller one, and episodes that
were put together leave their world only where it gains as much for each of them.

Bounded: when there are more than MOST_PAST episodes, or entries than MOST_ENTRIES, the oldest ones of each world are
put together, and are assigned together from then on.  None of this proves anything.  Worlds that are proven to
differ never become one, nor do those that somebody told of as different.
"""

from collections.abc import Sequence

import numpy as np

from aomultirl import checks
from aomultirl.agents.grouping import Grouping
from aomultirl.agents.parting import ways_to_part
from aomultirl.agents.past_episodes import PastEpisode, fold, make_places
from aomultirl.agents.recall_levels import earned, rescale, sums_at, take_levels, take_sums
from aomultirl.agents.recall_memory import World
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.learning.regrouping import ln_gain_of_merging
from aomultirl.learning.reward_levels import Notes
from aomultirl.learning.row_likelihoods import Floats

MOST_PAST = 500
"""Episodes that can be read again."""
MOST_ENTRIES = 2_000_000
"""Entries of them, of 16 bytes each."""
MOST_WORLDS = 32
"""Worlds; of more, those that clusters stand on or others have told of are kept, however many, and no others."""
MARGIN = 0.69
"""ln of the joint likelihood, for each episode of the smaller of two worlds, that making one of them must gain: half of
what two halves of one world gain, 2 ln 2."""
REREAD = 6
"""Past episodes that are drawn again after every episode."""
REREAD_AT_REVIEW = 200
"""The same after all worlds were gone through."""
UNSURE = 0.9
"""An episode that was less probable in its world when it was last read may be gathered into another."""
GATHERED, GATHERINGS = 64, 3
"""Episodes that are gathered at most, drawn at random; how often each of them chooses its world."""
EASE = 8
"""All worlds are gone through when there is an eighth more episodes than the last time."""
FADING = 0.98
"""A world met so many episodes ago counts so much less in the prior, to this power."""
LOT = 2**31


class Rereading(Grouping):
    """The worlds and the past episodes of a memory, which are read again and again."""

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
        self.put(episode, episode.world)
        memory.worlds[episode.world].met += 1.0
        memory.past.append(episode)
        memory.met += 1
        return episode

    def begin_with(self, known: Sequence[tuple[CountTable, Floats]], values: Floats) -> None:
        """Add worlds of which this was counted and earned, by others; values, (S,): where planning begins.

        They are different worlds, since somebody told of them one by one, and never become one.
        """
        there = len(self.memory.worlds)
        account = 1 + max((number for world in self.memory.worlds for number in world.told), default=0)
        if there + len(known) > MOST_WORLDS:
            beside = f", and {there} are in memory" if there else ""
            raise checks.Refusal("groups", f"has {len(known)} worlds{beside}: at most {MOST_WORLDS} are kept")
        self._note_change(take_sums(self.memory, self.rows, known))
        for table, sums in known:
            make_places(self.memory.past, self.rows, table)
            place, entries = self.found(values), self.rows.entries(table, sums_at(self.rows, table, sums))
            self.rows.put(entries, place)
            self.memory.worlds[place].episodes, self.memory.worlds[place].told = 1, [account]
            self.changed.add(place)
        self.rows.fit()
        self.sum_alone()

    def settle(self, episode: PastEpisode, world: World) -> None:
        """The episode that was taken in last is proven to be of this world, and is never read again."""
        old = self.memory.worlds[episode.world]
        self.move([episode], episode.world, self.memory.worlds.index(world))
        self.memory.past.remove(episode)
        if old.episodes == 0:
            self.remove(self.memory.worlds.index(old))

    def look_back(self, stream: RandomStream) -> None:
        """Read some of the past again, and bring memory within its bounds."""
        memory = self.memory
        self._reread_some(REREAD, stream)
        if memory.met >= memory.next_review:
            memory.next_review = memory.met + max(1, memory.met // EASE)
            self.review(stream)
        fold(memory.past, MOST_PAST, MOST_ENTRIES)
        self._forget()

    def _draw(
        self,
        past: PastEpisode,
        values: Floats,
        stream: RandomStream,
        barred: Sequence[World] = (),
        is_new: bool = False,
    ) -> tuple[int, float]:
        """The place of a world for an episode that is in none, drawn from the posterior, and how probable it is.

        A world is founded only where the episode is new, or where there is no world that it may be.  Several that were
        put together leave the world that they were in only as worlds become one: where that gains MARGIN for each.
        """
        scores, worlds = self.scores(past), self.memory.worlds
        empty = [place for place, world in enumerate(worlds) if not world.episodes]
        if past.episodes > 1:
            scores[len(worlds) if past.world in empty else past.world] += MARGIN * past.episodes
        for place in [*empty, *map(worlds.index, barred)]:
            scores[place] = -np.inf
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        chances, known = shares, scores[:-1]
        if not is_new and not empty and len(worlds) and (most := known.max()) > -np.inf:
            chances = np.zeros(len(scores))
            np.exp(known - most, out=chances[:-1])
        chances = chances / chances.sum()
        place = int(chances.cumsum().searchsorted(draw_below(LOT, stream) / LOT, side="right"))
        place = min(place, len(chances) - 1 if chances[-1] > 0.0 else len(chances) - 2)
        sure = float(shares[place])
        if place == len(worlds):
            place = empty[0] if empty else self.found(values)  # one that has just been left keeps its name
        return place, sure

    def _reread_some(self, times: int, stream: RandomStream) -> None:
        """Draw a world for so many of the past episodes again, each chosen at random."""
        for _ in range(times if self.memory.past else 0):
            self._reread(self.memory.past[draw_below(len(self.memory.past), stream)], stream)

    def _reread(self, past: PastEpisode, stream: RandomStream) -> None:
        """Take a past episode out of its world, and draw one for it again."""
        old = self.memory.worlds[past.world]
        self.take_out(past)
        world, past.sure = self._draw(past, old.values, stream)
        if world == past.world and not self.rows.learns_rewards:  # fractions may differ in their last bit
            self.put_back(past)
            return
        self.changed.add(past.world)
        self.put(past, world)
        past.world = world
        if old.episodes == 0:
            self.remove(self.memory.worlds.index(old))

    # -- all of them --------------------------------------------------------------------------------------

    def review(self, stream: RandomStream) -> None:
        """Go through all worlds: learn the prior, merge, part, gather, merge, and read much of the past again."""
        self.rows.fit()
        self.sum_alone()
        self.memory.vectors = np.empty(0)
        self._merge()
        waiting = list(self.memory.worlds)
        while waiting and len(self.memory.worlds) < MOST_WORLDS:
            world = waiting.pop()
            new = self._part(world, stream)
            if new is not None:
                waiting += [world, new]
        self._gather(stream)
        self._merge()
        self._reread_some(min(REREAD_AT_REVIEW, 4 * len(self.memory.past)), stream)
        self.changed = set(range(len(self.memory.worlds)))

    def _merge(self) -> None:
        """Make one of the two worlds that gain most by it, until none do."""
        worlds, rows = self.memory.worlds, self.rows
        while True:
            best, pair, sizes = 0.0, None, self.sizes
            numbers = (rows.own, rows.together, rows.theta, rows.alpha, rows.shared, sizes)
            for i in range(len(worlds)):
                for j in range(i):
                    if not worlds[i].may_be(worlds[j]):
                        continue
                    gain = ln_gain_of_merging(rows.layout.first, rows.layout.kinds, rows.counts, *numbers, i, j)
                    gain -= MARGIN * min(sizes[i], sizes[j])
                    if gain > best:
                        best, pair = gain, (j, i)
            if pair is None:
                return
            self.make_one(*pair)

    def _part(self, world: World, stream: RandomStream) -> World | None:
        """Part a world where the joint likelihood rises by it; the new one."""
        memory, rows = self.memory, self.rows
        place = memory.worlds.index(world)
        members = [past for past in memory.past if past.world == place]
        if len(members) < 2:
            return None
        settled, before, shared = self.settled_in(place, members), self.joint(), rows.shared.copy()
        for part in ways_to_part(rows, place, members, settled, stream):
            if part.min() == part.max():
                continue
            new = self.found(world.values)
            self.move([past for past, q in zip(members, part.tolist(), strict=True) if q], place, new)
            rows.fit_sharing()
            if self.joint() > before:
                memory.worlds[new].met = world.met * memory.worlds[new].episodes / sum(p.episodes for p in members)
                world.met = max(0.0, world.met - memory.worlds[new].met)
                self.sum_alone()
                return memory.worlds[new]
            self.move([past for past in memory.past if past.world == new], new, place)
            self.withdraw(new)
            rows.shared[:] = shared
        return None

    def _gather(self, stream: RandomStream) -> None:
        """Make a world of episodes of several worlds that none of them explains well, where the joint likelihood rises.

        Parting alone does not find it: of each world too few episodes would leave to be worth a world of their own.
        """
        memory, rows = self.memory, self.rows
        unsure = [past for past in memory.past if past.sure < UNSURE and past.episodes == 1]
        if len(unsure) < 2 or len(memory.worlds) >= MOST_WORLDS:
            return
        some = [unsure.pop(draw_below(len(unsure), stream)) for _ in range(min(GATHERED, len(unsure)))]
        homes, before, shared = [past.world for past in some], self.joint(), rows.shared.copy()
        met = [memory.worlds[home].met / memory.worlds[home].episodes for home in homes]
        new = self.found(memory.worlds[homes[0]].values)
        self.move(some[:1], homes[0], new)
        for sweep in range(GATHERINGS):
            for past in some[1:]:
                self.put(past, past.world, -1)
                scores = self.scores(past)[:-1]
                if sweep == 0:  # a world of one episode is improbable, however well it explains them
                    scores -= np.log(self.sizes)
                scores[[world.episodes == 0 for world in memory.worlds]] = -np.inf
                past.world = int(np.argmax(scores))
                self.put(past, past.world)
        rows.fit_sharing()
        if self.joint() > before:
            for past, home, much in zip(some, homes, met, strict=True):
                memory.worlds[home].met = max(0.0, memory.worlds[home].met - much)
                memory.worlds[past.world].met += much
            for world in [world for world in memory.worlds if world.episodes == 0]:
                self.remove(memory.worlds.index(world))
            self.sum_alone()
            return
        for past, home in zip(some, homes, strict=True):
            self.move([past], past.world, home)
        self.withdraw(new)
        rows.shared[:] = shared

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Bring all rewards to another range."""
        rescale(self.memory, self.rows, times, plus)
        self._note_change(True)

    def _note_change(self, changed: bool) -> None:
        """Whether rewards are taken for something else than before."""
        if changed:
            self.sum_alone()
            self.changed = set(range(len(self.memory.worlds)))

    # -- bounds -------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Drop the worlds met least lately of which all may be read again, so that an episode's cost stays bounded.

        Those that clusters stand on, or that others have told of, are kept.
        """
        worlds = self.memory.worlds
        while len(worlds) > MOST_WORLDS:
            held = [0] * len(worlds)
            for past in self.memory.past:
                held[past.world] += past.episodes
            loose = [w for w, count in zip(worlds, held, strict=True) if w.proven is None and w.episodes == count]
            if not loose:
                return
            place = worlds.index(min(loose, key=lambda world: world.met))
            self.memory.past[:] = [past for past in self.memory.past if past.world != place]
            self.remove(place)

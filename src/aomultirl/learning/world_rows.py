"""What is believed of the rows of each world in memory, side by side.

:class:`WorldRows` holds the counts of W worlds at the same places (:mod:`.row_layout`), what they say of each row
(:mod:`.row_likelihoods`), and what to plan with (:mod:`.planning_counts`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.knowledge import Knowledge
from aomultirl.learning.kinship import fit_kinship
from aomultirl.learning.planning_counts import fill_planning_counts
from aomultirl.learning.reward_levels import EXTREMES
from aomultirl.learning.row_counting import add_alone, count, nothing_taken, put_back, refresh, take_out
from aomultirl.learning.row_layout import Entries, Layout, layout_of, places_of, transition_keys
from aomultirl.learning.row_likelihoods import (
    EARNED,
    ENDS,
    HALF,
    LEAST_REACH,
    REWARD,
    TRANSITION,
    UNEARNED,
    Floats,
    Integers,
    fit_sharing,
    fit_spreads,
    weigh_rows,
)
from aomultirl.learning.row_parents import fit_parents, parents_of_more


class WorldRows:
    """The counts of W worlds at the same places, and what they say of each row.

    Attributes
    ----------
    layout
        where outcomes stand.
    counts, alone, own
        (W, P), the counts of each world; (W, R), the sum over its episodes of ln ML(e_k); (W, R), ln ML(d_w).
    masses
        (W, R), the sums of the counts over rows.
    pooled, together
        (P,), the counts of all worlds; (R,), their ln ML.
    theta, alpha
        (R,) and (P,), the prior.
    spreads
        (R,), how spread each row is: theta of rows that have no parents.
    means, trust
        the parents of rows of transitions at their places, and (S * A,), how far they are trusted
        (:mod:`.row_parents`); 0 for rows that have none.
    shared
        (3,), rho of each kind of row.
    kinship
        visits that the average of a state's other actions is worth (:mod:`.kinship`).
    """

    def __init__(
        self,
        n_states: int,
        n_actions: int,
        learns_rewards: bool,
        keys: Integers | None = None,
        levels: Floats = EXTREMES,
    ) -> None:
        """Rows of no world yet, with places for these transitions (:attr:`Layout.keys`), or none, and these levels."""
        n_pairs = n_states * n_actions
        if keys is None:
            keys = places_of((), n_states, n_pairs)
        self.layout = layout_of(keys, n_states, n_pairs, np.array(levels if learns_rewards else ()))
        n_rows, n_places = len(self.layout.kinds), len(self.layout.outcomes)
        self._counts, self._alone, self._own, self._masses = (
            np.zeros((2, size)) for size in (n_places, n_rows, n_rows, n_rows)
        )
        self.count = 0
        self.pooled, self.together = np.zeros(n_places), np.zeros(n_rows)
        self.theta, self.alpha, self.spreads = np.ones(n_rows), np.ones(n_places), np.ones(n_rows)
        self.means, self.trust = np.zeros(self.layout.first[n_pairs]), np.zeros(n_pairs)
        self.shared, self.kinship = np.full(3, 0.5), 0.0
        self._make_room()
        self._set_priors()

    @property
    def counts(self) -> Floats:
        return self._counts[: self.count]

    @property
    def alone(self) -> Floats:
        return self._alone[: self.count]

    @property
    def own(self) -> Floats:
        return self._own[: self.count]

    @property
    def masses(self) -> Floats:
        return self._masses[: self.count]

    @property
    def steps(self) -> Floats:
        """(W,), the steps that were taken in each world."""
        return np.asarray(self.masses[:, : self.layout.n_pairs].sum(axis=1))

    @property
    def learns_rewards(self) -> bool:
        """Whether there are rows of rewards."""
        return len(self.layout.levels) > 0

    def _set_priors(self) -> None:
        layout = self.layout
        self.spreads[layout.kinds == REWARD] = HALF * len(layout.levels)
        self.theta = self.spreads.copy()
        sizes, wide = np.diff(layout.first), np.full(len(self.theta), 2.0)
        seen, reach = sizes[: layout.n_pairs] - 1, np.repeat(layout.reach, layout.n_pairs // layout.n_states)
        likely = seen + (reach - seen) * np.exp(-seen / self.theta[: layout.n_pairs])
        wide[: layout.n_pairs] = 1.0 + np.maximum(likely, np.minimum(reach, LEAST_REACH))
        each = np.where(layout.kinds == REWARD, HALF, self.theta / wide)
        self.alpha = np.repeat(each, sizes)
        others = wide[: layout.n_pairs] - sizes[: layout.n_pairs] + 1  # outcomes that the row itself has not shown
        self.alpha[layout.first[1 : layout.n_pairs + 1] - 1] = each[: layout.n_pairs] * others
        has_parent = self.trust > 0.0
        if has_parent.any():
            self.theta[: layout.n_pairs] = np.where(has_parent, self.trust, self.theta[: layout.n_pairs])
            trust = np.repeat(self.trust, sizes[: layout.n_pairs])
            leaning = np.flatnonzero(trust)
            self.alpha[leaning] = trust[leaning] * self.means[leaning]

    # -- places -------------------------------------------------------------------------------------------

    def entries(self, table: CountTable, sums: Floats) -> Entries:
        """The counts of an episode, or of a world, at their places, all of which must be there.

        ``sums`` is what was earned, (S * A,), or of more than two levels how often pairs paid each, (S * A * V,).
        """
        layout = self.layout
        wanted, visits = transition_keys(table, layout.n_states)
        places, counts = [np.searchsorted(layout.keys, wanted)], [visits.astype(np.float64)]
        by_pair = np.bincount(wanted // (layout.n_states + 1), visits, layout.n_pairs)
        acted = by_pair.reshape(layout.n_states, -1).sum(axis=1)
        ended = np.zeros(layout.n_states)
        for state, times in table.ends.items():
            ended[state] = times
        begin = layout.first[layout.n_pairs]
        two = np.stack((acted, ended), axis=1).ravel()
        places.append(begin + np.flatnonzero(two))
        counts.append(two[two > 0.0])
        if self.learns_rewards:
            paid = sums
            if len(layout.levels) == 2:
                paid = np.stack((sums, np.maximum(by_pair - sums, 0.0)), axis=1).ravel()
            places.append(layout.rewards_at + np.flatnonzero(paid))
            counts.append(paid[paid > 0.0])
        return Entries(np.concatenate(places).astype(np.int64), np.concatenate(counts))

    def make_places(self, table: CountTable) -> Integers | None:
        """Make places for all that a table has counted; where the old ones stand now, (P,), or None: they stay."""
        old = self.layout
        keys, wanted = old.keys, transition_keys(table, old.n_states)[0]
        new = wanted[keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] != wanted]
        if len(new) == 0:
            return None
        every = np.insert(keys, np.searchsorted(keys, new), new)
        self.layout = layout_of(every, old.n_states, old.n_pairs, old.levels)
        begin = old.first[old.n_pairs]
        moved = np.concatenate(
            (np.searchsorted(every, keys), np.arange(begin, len(old.outcomes)) + len(every) - len(keys))
        )
        n_places = len(self.layout.outcomes)
        counts = np.zeros((len(self._counts), n_places))
        counts[:, moved] = self._counts
        pooled = np.zeros(n_places)
        pooled[moved] = self.pooled
        self._counts, self.pooled = counts, pooled
        self._make_room()
        self.means = parents_of_more(keys, self.means, every, old.n_states, old.n_pairs // old.n_states)
        self._set_priors()
        further = np.repeat(self.layout.reach != old.reach, old.n_pairs // old.n_states)
        self._refresh(self.layout.first[np.flatnonzero(further | self._wider_than(old))])
        return moved

    def use_levels(self, layout: Layout, counts: Floats) -> None:
        """Take rewards for other levels: the layout with them, and the counts of all worlds, (W, P), at its places."""
        self.layout = layout
        self._make_room()
        self._counts = np.zeros((len(self._counts), len(layout.outcomes)))
        self.counts[:] = counts
        if len(layout.levels) == 2:
            visits = np.add.reduceat(counts[:, : layout.first[layout.n_pairs]], layout.first[: layout.n_pairs], axis=1)
            two = self.counts[:, layout.rewards_at :]
            two[:, UNEARNED::2] = np.maximum(0.0, visits - two[:, EARNED::2])
        self.weigh()

    def _wider_than(self, old: Layout) -> NDArray[np.bool_]:
        """(S * A,), the pairs whose rows have more places than in another layout."""
        sizes, before = (np.diff(layout.first[: old.n_pairs + 1]) for layout in (self.layout, old))
        return np.asarray(sizes != before)

    # -- worlds -------------------------------------------------------------------------------------------

    def add_world(self) -> int:
        """One more world, of which nothing was counted; its number."""
        if self.count == len(self._counts):
            for name in ("_counts", "_alone", "_own", "_masses"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate((array, np.zeros_like(array))))
        for array in (self._counts, self._alone, self._own, self._masses):
            array[self.count] = 0.0
        self.count += 1
        return self.count - 1

    def add_table(self, table: CountTable, sums: Floats) -> None:
        """One more world, of which this was counted and earned, as in :meth:`entries`; :meth:`weigh` must follow."""
        entries, world = self.entries(table, sums), self.add_world()
        self._counts[world, entries.places] = entries.counts

    def remove_world(self, world: int) -> None:
        """Forget a world and its counts; those after it move up."""
        for array in (self._counts, self._alone, self._own, self._masses):
            array[world : self.count - 1] = array[world + 1 : self.count]
        self.count -= 1
        self.weigh()

    def put(self, entries: Entries, world: int, sign: float = 1.0) -> None:
        """Add an episode to a world, or take it away with a sign of -1."""
        layout = self.layout
        count(layout.first, layout.kinds, layout.n_pairs, self._counts[world], *entries, sign)
        self.add_alone(entries, world, sign)
        self._refresh(entries.places, world)

    def take_out(self, entries: Entries, world: int) -> None:
        """Take an episode out of its world; unless it is put elsewhere, :meth:`put_back` may follow at once."""
        layout = self.layout
        where, prior = (layout.first, layout.owners, layout.kinds, layout.n_pairs), (self.theta, self.alpha)
        numbers = (self.own, self.together, self.masses, self.alone)
        take_out(*where, self.counts, self.pooled, *prior, *numbers, self._room, *entries, world, self._taken)

    def put_back(self, entries: Entries, world: int) -> None:
        """Put the episode that was taken out last back; only where rewards are known, so that all counts are whole."""
        layout, numbers = self.layout, (self.own, self.together, self.masses, self.alone)
        put_back(layout.first, layout.owners, self.counts, self.pooled, *numbers, *entries, world, self._taken)

    def _make_room(self) -> None:
        """Room to work in, for the places as they are."""
        self._room = np.zeros(len(self.layout.outcomes))
        self._taken = nothing_taken(len(self.layout.kinds), len(self.layout.outcomes))

    def add_alone(self, entries: Entries, world: int, sign: float = 1.0) -> None:
        """Add ln ML of an episode's own rows to the sums of its world."""
        layout = self.layout
        add_alone(layout.first, layout.owners, self.theta, self.alpha, self._alone[world], self._room, *entries, sign)

    def _refresh(self, places: Integers, world: int = -1) -> None:
        layout, numbers = self.layout, (self.theta, self.alpha, self.own, self.together, self.masses)
        refresh(layout.first, layout.owners, self.counts, self.pooled, *numbers, places, world)

    def weigh(self) -> None:
        """Work out anew what all rows say, for the prior as it is."""
        self.pooled = self.counts.sum(axis=0)
        self.masses[:] = np.add.reduceat(self.counts, self.layout.first[:-1], axis=1) if self.count else 0.0
        self._set_priors()
        numbers = (self.theta, self.alpha, self.own, self.together)
        weigh_rows(self.layout.first, self.counts, self.pooled, *numbers)

    def weigh_counts(self, counts: Floats) -> Floats:
        """(R,), ln ML of the rows of counts, (P,)."""
        own: Floats = np.zeros((1, len(self.theta)))
        weigh_rows(self.layout.first, counts[None], counts, self.theta, self.alpha, own, np.zeros(len(self.theta)))
        return np.asarray(own[0])

    def fit(self) -> None:
        """Learn the prior from all counts: how spread rows are, their parents, and how often worlds share them."""
        layout, n_pairs = self.layout, self.layout.n_pairs
        self.pooled, self.trust[:] = self.counts.sum(axis=0), 0.0
        fit_spreads(layout.first, layout.kinds, self.counts, self.pooled, self.spreads)
        self.weigh()
        self.fit_sharing()
        starts = layout.first[: n_pairs + 1]
        states = layout.outcomes[: starts[-1]]
        wide = bool((layout.reach > LEAST_REACH).any())
        counts = self.pooled[None] if wide else self.counts
        self.kinship = fit_kinship(starts, states, counts, self.spreads[:n_pairs], layout.n_states)
        if self.kinship > 0.0 and wide:
            rho = self.shared[TRANSITION]
            fit_parents(starts, states, self.counts, self.pooled, layout.reach, rho, self.means, self.trust)
            self.weigh()
            self.fit_sharing()

    def fit_sharing(self) -> None:
        """Learn how often worlds share rows."""
        fit_sharing(self.layout.first, self.layout.kinds, self.counts, self.own, self.together, self.shared)

    def sharing_between(self, parts: Floats) -> Floats:
        """(3,), how often two parts of a world, with the counts (2, P), would share rows."""
        own, together, shared = np.zeros((2, len(self.theta))), np.zeros(len(self.theta)), np.full(3, 0.5)
        layout = self.layout
        weigh_rows(layout.first, parts, parts.sum(axis=0), self.theta, self.alpha, own, together)
        fit_sharing(layout.first, layout.kinds, parts, own, together, shared)
        return shared

    # -- what follows ------------------------------------------------------------------------------------

    def to_plan_with(self, doubts: bool) -> Floats:
        """(W + 1, P), the counts to plan with in each world and in one that nobody has met.

        Parameters
        ----------
        doubts
            whether episodes may have been put in a wrong world.
        """
        out = np.empty((self.count + 1, len(self.pooled)))
        numbers = (self.own, self.together, self.alone, self.shared, self.trust)
        fill_planning_counts(
            self.layout.first,
            self.layout.kinds,
            self.counts,
            self.masses,
            self.pooled,
            *numbers,
            self.layout.n_pairs // self.layout.n_states,
            doubts,
            out,
        )
        return out

    def table(self, world: int) -> tuple[CountTable, Floats]:
        """The counts of a world as a table, and what was earned, as in :meth:`entries`, or empty."""
        from aomultirl.engine.packed_counts import Packed, unpack_counts

        layout, counts = self.layout, self._counts[world]
        visits = counts[: layout.first[layout.n_pairs]]
        seen = np.flatnonzero(visits)
        filled = np.bincount(layout.owners[seen], minlength=layout.n_pairs).astype(np.int32)
        begin = layout.first[layout.n_pairs]
        ends = counts[begin + ENDS : begin + 2 * layout.n_states : 2]
        terminal = np.flatnonzero(ends)
        table = unpack_counts(
            Packed(
                filled,
                layout.outcomes[seen],
                visits[seen].astype(np.int64),
                terminal.astype(np.int32),
                ends[terminal].astype(np.int64),
            ),
            layout.n_pairs,
            layout.n_states,
        )
        paid = counts[layout.rewards_at :]
        return table, paid[EARNED::2].copy() if len(layout.levels) == 2 else paid.copy()

    def knowledge(self) -> Knowledge:
        """The transitions of all worlds, as proofs and bets take them."""
        first = self.layout.first[: self.layout.n_pairs + 1].copy()
        seen = self.counts[:, : first[-1]].astype(np.int64)
        visits = np.add.reduceat(seen, first[:-1], axis=1) if self.count else np.zeros((0, len(first) - 1), np.int64)
        states = self.layout.outcomes[: first[-1]].copy()
        return Knowledge(first, states, seen, np.ascontiguousarray(visits, np.int64))


def rows_of(
    tables: Sequence[tuple[CountTable, Floats]], n_states: int, n_actions: int, learns_rewards: bool
) -> WorldRows:
    """The rows of worlds of which this was counted and earned, with a prior learned from them."""
    keys = places_of([table for table, _ in tables], n_states, n_states * n_actions)
    rows = WorldRows(n_states, n_actions, learns_rewards, keys)
    for table, sums in tables:
        rows.add_table(table, sums)
    if tables:
        rows.fit()
    return rows

"""Where the outcomes of the rows of several worlds stand, so that their counts lie side by side.

A place is made for every transition that any world has shown, and one in each row for all that none has.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import NOVEL
from aomultirl.learning.row_likelihoods import END, REWARD, TRANSITION, Floats, Integers


class Layout(NamedTuple):
    """Where the outcomes of every row stand: S * A rows of transitions, S of ends, S * A of rewards that are not known.

    first
        (R + 1,), the first place of each row.
    outcomes
        (P,), of transitions the successor, ascending in each row, and NOVEL at its last place, for all that nobody has
        seen; of other rows 0, 1 and so on.
    kinds
        (R,), TRANSITION, END or REWARD.
    owners
        (P,), the row that a place belongs to.
    n_states
        S.
    n_pairs
        S * A.
    reach
        (S,), how many different successors the actions of a state have shown.
    levels
        (V,), the rewards that the outcomes of a row of rewards stand for, falling from 1 to 0 (:mod:`.reward_levels`);
        empty where there are no such rows.
    """

    first: Integers
    outcomes: NDArray[np.int32]
    kinds: NDArray[np.int8]
    owners: Integers
    n_states: int
    n_pairs: int
    reach: Integers
    levels: Floats

    @property
    def keys(self) -> Integers:
        """Of every place of a transition, pair * (S + 1) + successor, with S for NOVEL; ascending."""
        return _keys(self.first, self.outcomes, self.n_states, self.n_pairs)

    @property
    def rewards_at(self) -> int:
        """The first place of rewards."""
        return int(self.first[self.n_pairs + self.n_states])


class Entries(NamedTuple):
    """The counts of an episode.

    places
        (n,), where they stand, ascending.
    counts
        (n,), how many there are; those of rewards are fractions.
    """

    places: Integers
    counts: Floats


def _keys(first: Integers, outcomes: NDArray[np.int32], n_states: int, n_pairs: int) -> Integers:
    states = outcomes[: first[n_pairs]]
    pairs = np.repeat(np.arange(n_pairs), np.diff(first[: n_pairs + 1]))
    return pairs * (n_states + 1) + np.where(states == NOVEL, n_states, states)


@kernel
def count_reached(origins: Integers, states: Integers, n_states: int) -> Integers:
    """(S,), how many states each leads to, of transitions that are sorted by where they begin; S stands for none."""
    reach, last, spent = np.zeros(n_states, np.int64), np.full(n_states, -1), 0
    for i in range(len(states)):
        spent = serve_signals(spent, 1)
        if states[i] < n_states and last[states[i]] != origins[i]:
            last[states[i]] = origins[i]
            reach[origins[i]] += 1
    return reach


def layout_of(keys: Integers, n_states: int, n_pairs: int, levels: Floats) -> Layout:
    """The layout with these transitions, the last place of every row among them, and these levels of rewards."""
    pairs, states = np.divmod(keys, n_states + 1)
    rows, ends = (n_pairs if len(levels) else 0), np.full(n_states, 2)
    sizes = np.concatenate((np.bincount(pairs, minlength=n_pairs), ends, np.full(rows, len(levels))))
    kinds = np.full(len(sizes), REWARD, np.int8)
    kinds[:n_pairs], kinds[n_pairs : n_pairs + n_states] = TRANSITION, END
    reach = count_reached(pairs // (n_pairs // n_states), states, n_states)
    states[states == n_states] = NOVEL
    return Layout(
        first=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        outcomes=np.concatenate((states, np.tile([0, 1], n_states), np.tile(np.arange(len(levels)), rows))).astype(
            np.int32
        ),
        kinds=kinds,
        owners=np.repeat(np.arange(len(sizes)), sizes),
        n_states=n_states,
        n_pairs=n_pairs,
        reach=reach,
        levels=levels,
    )


def places_of(tables: Sequence[CountTable], n_states: int, n_pairs: int) -> Integers:
    """:attr:`Layout.keys` with a place for all that tables have counted."""
    every = [np.arange(n_pairs, dtype=np.int64) * (n_states + 1) + n_states]
    keys = np.concatenate(every + [transition_keys(table, n_states)[0] for table in tables])
    keys.sort(kind="stable")  # which is quick where parts are sorted
    return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])])


def transition_keys(table: CountTable, n_states: int) -> tuple[Integers, NDArray[np.int64]]:
    """(keys, visits) of what a table has counted, ascending."""
    starts, states, visits = table.to_lists()
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * (n_states + 1) + states, visits

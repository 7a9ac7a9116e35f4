"""What :class:`aomultirl.agents.Recall` takes unknown rewards for, as its worlds and past episodes show them.

The levels are those of :mod:`aomultirl.learning.reward_levels`.  They change after an episode that paid a reward which
is none yet, and where the range of rewards widens; then all counts move to them, and means are kept.
"""

from collections.abc import Sequence

import numpy as np

from aomultirl.agents.recall_memory import RecallMemory
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.learning.reward_levels import (
    EXTREMES,
    MOST_LEVELS,
    NOTHING_NOTED,
    Notes,
    counts_at,
    empty_notes,
    levels_after,
    regraded,
    with_levels,
)
from aomultirl.learning.row_layout import layout_of
from aomultirl.learning.row_likelihoods import NONE_LEFT, Floats
from aomultirl.learning.world_rows import WorldRows


def levels_of(memory: RecallMemory) -> Floats:
    """Those of the rows of rewards."""
    return memory.levels if len(memory.levels) else EXTREMES


def notes_for(memory: RecallMemory, rows: WorldRows, here: Floats) -> Notes:
    """To note what an episode pays, whose counts, (P,), are ``here``; nothing where rewards are known, or means."""
    return empty_notes(rows.layout, here) if rows.learns_rewards and len(memory.levels) else NOTHING_NOTED


def take_levels(memory: RecallMemory, rows: WorldRows, notes: Notes) -> bool:
    """Take rewards for what they were before and what an episode has paid; whether that changes anything."""
    if len(notes.levels) == 0:
        return False
    levels = levels_after(notes)
    if levels is not None and len(levels) == len(rows.layout.levels):
        return False
    _change(memory, rows, levels, rows.layout.levels)
    return True


def earned(rows: WorldRows, notes: Notes, sums: Floats) -> Floats:
    """What an episode earned, as :meth:`WorldRows.entries` takes it; sums: (S * A,)."""
    return sums if len(rows.layout.levels) <= len(EXTREMES) else counts_at(notes, rows.layout.levels)


def take_sums(memory: RecallMemory, rows: WorldRows, known: Sequence[tuple[CountTable, Floats]]) -> bool:
    """Take rewards for means if sums alone, (S * A,), do not say which occurred; whether that changes anything.

    A pair that has earned 0 or 1 at all its visits has paid nothing else; any other may have paid what nobody knows.
    """
    parts = (((sums > 0.0) & (sums < visits_by_pair(table))).any() for table, sums in known if len(sums))
    if len(memory.levels) == 0 or not any(parts):
        return False
    _change(memory, rows, None, rows.layout.levels)
    return True


def sums_at(rows: WorldRows, table: CountTable, sums: Floats) -> Floats:
    """Sums, (S * A,), as :meth:`WorldRows.entries` takes them, after :func:`take_sums`."""
    count = len(rows.layout.levels)
    if count <= len(EXTREMES):
        return sums
    paid = np.zeros((len(sums), count))
    paid[:, 0], paid[:, -1] = sums, visits_by_pair(table) - sums
    return paid.ravel()


def added_up(rows: WorldRows, table: CountTable, paid: Floats) -> Floats:
    """(S * A,), the rewards of all visits added up, or empty, from what :meth:`WorldRows.table` gives.

    Visits whose rewards were not noted have earned what the others of their pair have, in the mean.
    """
    levels = rows.layout.levels
    if len(levels) <= len(EXTREMES):
        return paid
    counts = paid.reshape(-1, len(levels))
    return np.asarray(visits_by_pair(table) * (counts @ levels) / np.maximum(counts.sum(axis=1), NONE_LEFT))


def rescale(memory: RecallMemory, rows: WorldRows, times: float, plus: float) -> None:
    """Every reward r is ``times * r + plus`` instead; levels that nothing counts at are dropped."""
    old = rows.layout.levels
    rewards, levels = np.clip(times * old + plus, 0.0, 1.0), None
    if len(memory.levels):
        paid = rows.pooled[rows.layout.rewards_at :].reshape(-1, len(old)).any(axis=0)
        levels = with_levels(EXTREMES, rewards[paid])
    _change(memory, rows, levels if levels is not None and len(levels) <= MOST_LEVELS else None, rewards)


def _change(memory: RecallMemory, rows: WorldRows, levels: Floats | None, rewards: Floats) -> None:
    """Move all counts to other levels, or to means with None; ``rewards``, (V,), is what the old levels are now."""
    old = rows.layout
    memory.levels = np.empty(0) if levels is None else levels
    new = layout_of(old.keys, old.n_states, old.n_pairs, np.array(EXTREMES if levels is None else levels))
    left = rows.counts.copy()
    for past in memory.past:
        left[past.world, past.places] -= past.counts
    left[left < NONE_LEFT] = 0.0
    counts = np.zeros((rows.count, len(new.outcomes)))
    for place in range(rows.count):
        counts[place] = regraded(left[place], old, new, rewards)
    for past in memory.past:
        dense = np.zeros(len(old.outcomes))
        dense[past.places] = past.counts
        dense = regraded(dense, old, new, rewards)
        counts[past.world] += dense
        past.places = np.flatnonzero(dense)
        past.counts = dense[past.places]
    rows.use_levels(new, counts)


def level_values(memory: RecallMemory) -> list[float] | str:
    """What findings say of rewards that are not known: the values, ascending, or "means"."""
    return memory.levels[::-1].round(9).tolist() if len(memory.levels) else "means"

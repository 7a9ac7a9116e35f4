"""How the episodes of a world may be parted, where it may be several in truth.

Four ways are tried, one after the other: by how alike all pairs of episodes are
(:func:`aomultirl.learning.episode_affinity.split_in_two`); and by two episodes that are far apart, between which the
others choose, with the rows that vary between episodes, with all rows, and with those of ends alone
(:mod:`aomultirl.learning.regrouping`).  Whether parts are worlds of their own is then decided by the joint likelihood.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.learning.episode_affinity import (
    LEAST_COMPARED,
    Counted,
    furthest_apart,
    split_in_two,
    to_compare,
)
from aomultirl.learning.regrouping import ALIKE, choose_parts, find_telling_rows, part_episodes
from aomultirl.learning.row_layout import Entries
from aomultirl.learning.row_likelihoods import END, Floats, Integers
from aomultirl.learning.world_rows import WorldRows

CANDIDATES = 14
"""Long episodes among which the two that found parts are looked for."""
TELLING = 2.0
"""ln of the evidence above which a row is held to vary between episodes, and half of ln R more."""


def ways_to_part(
    rows: WorldRows, place: int, members: Sequence[Counted], settled: Floats, stream: RandomStream
) -> Iterator[Integers]:
    """Parts of the episodes of a world, 0 or 1 for each, that may be worlds of their own.

    Parameters
    ----------
    rows
        of all worlds.
    place
        of the world.
    members
        its episodes, at least two.
    settled
        (P,), counts of the world that cannot be parted from it: they stay in part 0.
    """
    layout = rows.layout
    starts = np.concatenate(([0], np.cumsum([len(one.places) for one in members])))
    entries = Entries(*(np.concatenate([getattr(one, name) for one in members]) for name in Entries._fields))
    order = np.argsort([-one.counts.sum() for one in members], kind="stable")
    where, prior = (layout.owners, layout.first, layout.kinds), (rows.theta, rows.alpha, rows.shared)
    every = np.ones(len(layout.kinds), bool)
    if len(members) >= LEAST_COMPARED:
        fixed: list[Counted] = [Entries(np.flatnonzero(settled), settled[settled > 0.0])] if settled.any() else []
        some = [*range(len(fixed)), *(len(fixed) + number for number in to_compare(members))]
        part = split_in_two(layout, rows.counts[place], [*fixed, *members], some)[len(fixed) :].copy()
        parts = np.stack((settled, np.zeros(len(settled))))
        for one, q in zip(members, part.tolist(), strict=True):
            if q >= 0:
                parts[q, one.places] += one.counts
        shared = rows.sharing_between(parts)
        choose_parts(*where, *prior[:2], shared, every, settled, starts, *entries, order, part, ALIKE)
        yield part
    gains = find_telling_rows(layout.owners, len(layout.kinds), starts, *entries)
    telling = gains > TELLING + 0.5 * np.log(len(layout.kinds))
    for counts in (telling, every, layout.kinds == END):
        if not counts.any():
            continue
        longest = order[: max(2 * CANDIDATES, len(order) // 2)].tolist()
        some = [longest.pop(draw_below(len(longest), stream)) for _ in range(min(CANDIDATES, len(longest)))]
        seeds = furthest_apart(layout, rows.theta, rows.alpha, counts, members, some)
        yield part_episodes(*where, *prior, counts, settled, starts, *entries, order, seeds)

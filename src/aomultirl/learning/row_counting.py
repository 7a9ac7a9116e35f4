"""Kernels that change the counts of rows in a world, and bring what the rows say up to date."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing
from aomultirl.learning.row_likelihoods import EARNED, NONE_LEFT, REWARD, UNEARNED, Floats, Integers, ln_ml


class Taken(NamedTuple):
    """What the rows of an episode said before it was taken out of its world; the other entries mean nothing.

    own, together, masses, pooled
        (R,), (R,), (R,) and (P,), as in :class:`.world_rows.WorldRows`.
    alone
        (R,), ln ML of the episode's own rows.
    """

    own: Floats
    together: Floats
    masses: Floats
    pooled: Floats
    alone: Floats


def nothing_taken(n_rows: int, n_places: int) -> Taken:
    """Room for rows and places as there are."""
    own, together, masses, alone = np.zeros((4, n_rows))
    return Taken(own=own, together=together, masses=masses, pooled=np.zeros(n_places), alone=alone)


@borrowing
def take_out(
    first: Integers,
    owners: Integers,
    kinds: NDArray[np.int8],
    n_pairs: int,
    counts: Floats,
    pooled: Floats,
    theta: Floats,
    alpha: Floats,
    own: Floats,
    together: Floats,
    masses: Floats,
    alone: Floats,
    room: Floats,
    places: Integers,
    more: Floats,
    world: int,
    taken: Taken,
) -> None:
    """Take an episode out of its world, and write down what that changes."""
    for i in range(len(places)):
        room[places[i]] = more[i]
    last = -1
    for place in places:
        x = owners[place]
        if x != last:
            taken.alone[x] = ln_ml(room, alpha, theta[x], first[x], first[x + 1])
            alone[world, x] -= taken.alone[x]
            taken.own[x], taken.together[x], taken.masses[x] = own[world, x], together[x], masses[world, x]
            for p in range(first[x], first[x + 1]):
                taken.pooled[p] = pooled[p]
            last = x
    for place in places:
        room[place] = 0.0
    count(first, kinds, n_pairs, counts[world], places, more, -1.0)
    refresh(first, owners, counts, pooled, theta, alpha, own, together, masses, places, world)


@borrowing
def put_back(
    first: Integers,
    owners: Integers,
    counts: Floats,
    pooled: Floats,
    own: Floats,
    together: Floats,
    masses: Floats,
    alone: Floats,
    places: Integers,
    more: Floats,
    world: int,
    taken: Taken,
) -> None:
    """Put the episode that was taken out last back in its world: its rows say what they said.  Counts are whole."""
    for i in range(len(places)):
        counts[world, places[i]] += more[i]
    last = -1
    for place in places:
        x = owners[place]
        if x != last:
            alone[world, x] += taken.alone[x]
            own[world, x], together[x], masses[world, x] = taken.own[x], taken.together[x], taken.masses[x]
            for p in range(first[x], first[x + 1]):
                pooled[p] = taken.pooled[p]
            last = x


@borrowing
def count(
    first: Integers, kinds: NDArray[np.int8], n_pairs: int, counts: Floats, places: Integers, more: Floats, sign: float
) -> None:
    """Add or take away entries.

    Of two levels, what is not earned follows from the visits, so that it is the same however it came.
    """
    for i in range(len(places)):
        left = counts[places[i]] + sign * more[i]
        counts[places[i]] = left if left > NONE_LEFT else 0.0
    x = -1
    for i in range(len(places)):
        while first[x + 1] <= places[i]:
            x += 1
        if kinds[x] == REWARD and first[x + 1] - first[x] == 2:
            pair, n = x - (len(kinds) - n_pairs), 0.0
            for p in range(first[pair], first[pair + 1]):
                n += counts[p]
            counts[first[x] + UNEARNED] = max(0.0, n - counts[first[x] + EARNED])


@borrowing
def refresh(
    first: Integers,
    owners: Integers,
    counts: Floats,
    pooled: Floats,
    theta: Floats,
    alpha: Floats,
    own: Floats,
    together: Floats,
    masses: Floats,
    places: Integers,
    world: int,
) -> None:
    """What the rows of these places say, after they were changed in one world, or in all of them with -1."""
    last = -1
    for place in places:
        x = owners[place]
        if x == last:
            continue
        last = x
        alone = world
        for p in range(first[x], first[x + 1]):
            pooled[p] = 0.0
            for w in range(len(counts)):
                pooled[p] += counts[w, p]
            if world >= 0 and pooled[p] != counts[world, p]:
                alone = -1
        together[x] = ln_ml(pooled, alpha, theta[x], first[x], first[x + 1])
        for w in range(len(counts)):
            if world >= 0 and w != world:
                continue
            if w == alone:  # no other world has shown the row
                own[w, x] = together[x]
            else:
                own[w, x] = ln_ml(counts[w], alpha, theta[x], first[x], first[x + 1])
            masses[w, x] = 0.0
            for p in range(first[x], first[x + 1]):
                masses[w, x] += counts[w, p]


@borrowing
def add_alone(
    first: Integers,
    owners: Integers,
    theta: Floats,
    alpha: Floats,
    alone: Floats,
    room: Floats,
    places: Integers,
    counts: Floats,
    sign: float,
) -> None:
    """Add ln ML of every row of an episode to ``alone``, (R,), or take it away; ``room``, (P,), is 0 at both times."""
    for i in range(len(places)):
        room[places[i]] = counts[i]
    last = -1
    for place in places:
        x = owners[place]
        if x != last:
            alone[x] += sign * ln_ml(room, alpha, theta[x], first[x], first[x + 1])
            last = x
    for place in places:
        room[place] = 0.0

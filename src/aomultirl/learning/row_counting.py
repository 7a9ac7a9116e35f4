"""Kernels that change the counts of rows in a world, and bring what the rows say up to date."""

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.learning.row_likelihoods import EARNED, NONE_LEFT, REWARD, UNEARNED, Floats, Integers, ln_ml


@kernel
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


@kernel
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
        for p in range(first[x], first[x + 1]):
            pooled[p] = 0.0
            for w in range(len(counts)):
                pooled[p] += counts[w, p]
        together[x] = ln_ml(pooled, alpha, theta[x], first[x], first[x + 1])
        for w in range(len(counts)):
            if world >= 0 and w != world:
                continue
            own[w, x] = ln_ml(counts[w], alpha, theta[x], first[x], first[x + 1])
            masses[w, x] = 0.0
            for p in range(first[x], first[x + 1]):
                masses[w, x] += counts[w, p]


@kernel
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

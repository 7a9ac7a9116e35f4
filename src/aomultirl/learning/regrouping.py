"""Which episodes were one world: how well they fit, and how to part those that were taken for one.

Everything here is about the joint likelihood of all episodes, each in one of W worlds (:mod:`.row_likelihoods`), with
the prior of a Chinese restaurant.  Drawing assignments anew, one episode at a time, does not find that a world is in
truth two: in a mixed world, rows that differ look shared.  So worlds are parted on purpose: two episodes that are far
apart found two parts, and the others choose between them, the longest first.  In the first sweeps the rows that may
tell them apart count alike, later ones as far as the two parts do not share them.  Which rows may tell episodes apart
is tried in three ways: those that vary between episodes more than chance allows (:func:`find_telling_rows`), which is
all that matters in large worlds; all rows; and the rows of ends alone, which decide where episodes are short.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.log_gamma import ln_gamma
from aomultirl.learning.row_likelihoods import (
    NONE_LEFT,
    Floats,
    Integers,
    ln_mixture,
    ln_ml,
    ln_ml_of_sum,
    probability_shared,
)

SPREADS = (2.0, 8.0, 32.0)
"""How much rows of episodes may vary about their common mean: visits that the mean is worth, to be tried."""
SWEEPS, ALIKE, SOME = 10, 3, 5
"""Sweeps of a parting; those in which rows count alike; those in which only some kinds of rows count."""


@borrowing
def _ln_gain(
    counts: Floats, mass: float, more: Floats, places: Integers, theta: float, alpha: Floats, i: int, j: int
) -> float:
    """ln ML(d + e) / ML(d) of one row; its entries e are ``places[i:j]``."""
    total, n = 0.0, 0.0
    for k in range(i, j):
        known = counts[places[k]] + alpha[places[k]]
        total += ln_gamma(known + more[k]) - ln_gamma(known)
        n += more[k]
    return total + ln_gamma(mass + theta) - ln_gamma(mass + n + theta)


@borrowing
def end_of_row(owners: Integers, places: Integers, i: int) -> int:
    """The first entry after ``i`` that belongs to another row."""
    j = i + 1
    while j < len(places) and owners[places[j]] == owners[places[i]]:
        j += 1
    return j


@kernel
def score_episode(
    owners: Integers,
    kinds: NDArray[np.int8],
    counts: Floats,
    masses: Floats,
    own: Floats,
    together: Floats,
    pooled: Floats,
    theta: Floats,
    alpha: Floats,
    shared: Floats,
    places: Integers,
    more: Floats,
) -> Floats:
    """(W + 1,): ln of the likelihood of an episode in each world, and in a new one; it is in none of them.

    ``pooled`` and ``together`` are those of the worlds, without the episode.
    """
    count, i = len(counts), 0
    scores = np.zeros(count + 1)
    while i < len(places):
        x, j = owners[places[i]], end_of_row(owners, places, i)
        apart, mass = 0.0, 0.0
        for w in range(count):
            apart += own[w, x]
            mass += masses[w, x]
        sigma = probability_shared(shared[kinds[x]], together[x], apart)
        alike = _ln_gain(pooled, mass, more, places, theta[x], alpha, i, j)
        fresh, n = 0.0, 0.0
        for k in range(i, j):
            prior = alpha[places[k]]
            fresh += ln_gamma(prior + more[k]) - ln_gamma(prior)
            n += more[k]
        fresh += ln_gamma(theta[x]) - ln_gamma(n + theta[x])
        unknown = ln_mixture(sigma, alike, fresh)
        for w in range(count + 1):
            if w == count or masses[w, x] == 0.0:  # nothing is known of the row there
                scores[w] += unknown
                continue
            gain = alike
            if masses[w, x] != mass:  # otherwise no other world has shown the row
                gain = _ln_gain(counts[w], masses[w, x], more, places, theta[x], alpha, i, j)
            scores[w] += ln_mixture(sigma, alike, gain)
        i = j
    return scores


@kernel
def find_telling_rows(owners: Integers, n_rows: int, starts: Integers, places: Integers, more: Floats) -> Floats:
    """(R,): ln of how much better rows that vary between episodes explain them than one row for all, 0 at least.

    Episode k has the entries ``starts[k]:starts[k + 1]`` of ``places`` and ``more``.  A row that varies is a Dirichlet
    with the mean of all episodes, which is worth one of SPREADS visits.
    """
    pooled, mass = np.zeros(len(owners)), np.zeros(n_rows)
    for i in range(len(places)):
        pooled[places[i]] += more[i]
        mass[owners[places[i]]] += more[i]
    gains, spent = np.zeros((len(SPREADS), n_rows)), 0
    for k in range(len(starts) - 1):
        i = starts[k]
        while i < starts[k + 1]:
            x, j, n = owners[places[i]], i, 0.0
            while j < starts[k + 1] and owners[places[j]] == x:
                n += more[j]
                j += 1
            spent = serve_signals(spent, 256 * (j - i))
            for t in range(len(SPREADS)):
                gain = ln_gamma(SPREADS[t]) - ln_gamma(SPREADS[t] + n)
                for p in range(i, j):
                    mean = SPREADS[t] * pooled[places[p]] / mass[x]
                    gain += ln_gamma(mean + more[p]) - ln_gamma(mean) - more[p] * math.log(mean / SPREADS[t])
                gains[t, x] += gain
            i = j
    best = np.zeros(n_rows)
    for x in range(n_rows):
        for t in range(len(SPREADS)):
            best[x] = max(best[x], gains[t, x])
    return best


@borrowing
def _weigh_parts(
    first: Integers,
    kinds: NDArray[np.int8],
    theta: Floats,
    alpha: Floats,
    shared: Floats,
    parts: Floats,
    weights: Floats,
) -> None:
    """How probable it is for each row that the two parts do not share it, (R,)."""
    spent = 0
    for x in range(len(kinds)):
        a, b = first[x], first[x + 1]
        spent = serve_signals(spent, 128 * (b - a))
        apart = ln_ml(parts[0], alpha, theta[x], a, b) + ln_ml(parts[1], alpha, theta[x], a, b)
        together = ln_ml_of_sum(parts[0], parts[1], alpha, theta[x], a, b)
        weights[x] = 1.0 - probability_shared(shared[kinds[x]], together, apart)


@kernel
def part_episodes(
    owners: Integers,
    first: Integers,
    kinds: NDArray[np.int8],
    theta: Floats,
    alpha: Floats,
    shared: Floats,
    counts: NDArray[np.bool_],
    settled: Floats,
    starts: Integers,
    places: Integers,
    more: Floats,
    order: Integers,
    seeds: Integers,
) -> NDArray[np.int64]:
    """0 or 1 for every episode: the part that it chooses.

    Parameters
    ----------
    counts
        (R,), the rows that count in the first SOME sweeps.
    settled
        (P,), counts of the world that cannot be parted from it: they stay in part 0, as does the episode that found a
        part and is nearer to them.
    starts, places, more
        the entries of the episodes, as in :func:`find_telling_rows`.
    order
        in which they choose.
    seeds
        the two that found the parts.
    """
    part, nothing, nearer = np.full(len(starts) - 1, -1), np.zeros(len(owners)), 0.0
    for q in range(2):
        i = starts[seeds[q]]
        while i < starts[seeds[q] + 1]:
            x, j, mass = owners[places[i]], i + 1, 0.0
            while j < starts[seeds[q] + 1] and owners[places[j]] == x:
                j += 1
            if counts[x]:
                for p in range(first[x], first[x + 1]):
                    mass += settled[p]
                gain = _ln_gain(settled, mass, more, places, theta[x], alpha, i, j)
                gain -= _ln_gain(nothing, 0.0, more, places, theta[x], alpha, i, j)
                nearer += gain if q == 0 else -gain
            i = j
    for q in range(2):
        part[seeds[q]] = q if nearer >= 0.0 else 1 - q
    choose_parts(owners, first, kinds, theta, alpha, shared, counts, settled, starts, places, more, order, part, 0)
    return part


@kernel
def choose_parts(
    owners: Integers,
    first: Integers,
    kinds: NDArray[np.int8],
    theta: Floats,
    alpha: Floats,
    shared: Floats,
    counts: NDArray[np.bool_],
    settled: Floats,
    starts: Integers,
    places: Integers,
    more: Floats,
    order: Integers,
    part: NDArray[np.int64],
    begin: int,
) -> None:
    """Have every episode choose its part, 0 or 1, again and again.

    Parameters
    ----------
    part
        (n,), where each begins, or -1; filled in.
    begin
        the sweep that is the first: with ALIKE, rows count as far as the two parts do not share them at once.
    """
    parts, masses, weights = np.zeros((2, len(owners))), np.zeros((2, len(kinds))), np.ones(len(kinds))
    rows, ends = owners[places], np.empty(len(places), np.int64)
    fresh, visits, spent = np.empty(len(places)), np.empty(len(places)), 0
    for k in range(len(part)):
        i = starts[k]
        while i < starts[k + 1]:
            j, n = i, 0.0
            while j < starts[k + 1] and rows[j] == rows[i]:
                prior = alpha[places[j]]
                fresh[j] = ln_gamma(prior + more[j]) - ln_gamma(prior)
                n += more[j]
                j += 1
            ends[i], visits[i] = j, n
            i = j
    for p in range(len(owners)):
        parts[0, p] = settled[p]
        masses[0, owners[p]] += settled[p]
    for k in range(len(part)):
        if part[k] >= 0:
            for i in range(starts[k], starts[k + 1]):
                parts[part[k], places[i]] += more[i]
                masses[part[k], owners[places[i]]] += more[i]
    for sweep in range(begin, SWEEPS):
        if sweep >= ALIKE:
            _weigh_parts(first, kinds, theta, alpha, shared, parts, weights)
        moved = 0
        for k in order:
            a, b, old = starts[k], starts[k + 1], part[k]
            spent = serve_signals(spent, 128 * (b - a))
            if old >= 0:
                for i in range(a, b):
                    left = parts[old, places[i]] - more[i]
                    parts[old, places[i]] = left if left > NONE_LEFT else 0.0
                    masses[old, rows[i]] -= more[i]
            lead, i = 0.0, a
            while i < b:
                x, j = rows[i], ends[i]
                if sweep >= SOME or counts[x]:
                    gain = 0.0
                    for q in range(2):
                        total, mass = 0.0, max(0.0, masses[1 - q, x])
                        for e in range(i, j):
                            seen = parts[1 - q, places[e]]
                            if seen == 0.0:
                                total += fresh[e]
                            else:
                                known = seen + alpha[places[e]]
                                total += ln_gamma(known + more[e]) - ln_gamma(known)
                        total = total + ln_gamma(mass + theta[x]) - ln_gamma(mass + visits[i] + theta[x])
                        gain = total if q == 0 else gain - total
                    lead += weights[x] * gain
                i = j
            new = 1 if lead > 0.0 else 0
            moved += new != old
            part[k] = new
            for i in range(a, b):
                parts[new, places[i]] += more[i]
                masses[new, rows[i]] += more[i]
        if moved == 0 and sweep > SOME:
            break


@borrowing
def ln_gain_of_merging(
    first: Integers,
    kinds: NDArray[np.int8],
    counts: Floats,
    own: Floats,
    together: Floats,
    theta: Floats,
    alpha: Floats,
    shared: Floats,
    sizes: Floats,
    i: int,
    j: int,
) -> float:
    """By how much the joint likelihood rises when worlds i and j become one."""
    total = math.lgamma(sizes[i] + sizes[j]) - math.lgamma(sizes[i]) - math.lgamma(sizes[j])
    spent = 0
    for x in range(len(kinds)):
        if own[i, x] == 0.0 or own[j, x] == 0.0:  # one of them has not shown the row
            continue
        a, b = first[x], first[x + 1]
        spent = serve_signals(spent, 64 * (b - a))
        apart = 0.0
        for w in range(len(own)):
            apart += own[w, x]
        merged = apart - own[i, x] - own[j, x] + ln_ml_of_sum(counts[i], counts[j], alpha, theta[x], a, b)
        rho = shared[kinds[x]]
        total += ln_mixture(rho, together[x], merged) - ln_mixture(rho, together[x], apart)
    return total

"""What unknown rewards are taken for: the values that occur where they are few, and means where they are many.

A row of rewards says what a pair pays.  Its outcomes are *levels*: V rewards from 1 down to 0, both of which are always
among them.  As long as a task has paid at most MOST_LEVELS different rewards, 0 and 1 included, these are the levels,
so a reward of 0.3 that never varies is one outcome that never varies.  Where more occur, the levels are 1 and 0 for
good, and a reward in between counts at both, in parts that keep its mean (of all rewards with the same mean those that
are 0 or 1 vary most, so evidence that is reckoned in this way errs towards too little):

    r = weight * upper + (1 - weight) * lower    counts ``weight`` at ``upper`` and the rest at ``lower``.

What holds for 1 and 0 holds for any two neighbouring levels: so a reward that is no level yet counts in the episode
that shows it first, and so means are kept when levels change.

With two levels the counts follow from the visits of a pair and its rewards added up.  With more, they are those of the
steps that the behaviour attends to (:class:`Notes`).  After 16 visits of a pair it attends to some of them only; but
which ones is settled before they are seen, so they are a fair sample of what the pair pays.  Rewards that occur at
other steps alone are not found.
"""

from typing import NamedTuple

import numpy as np

from aomultirl.engine.compiling import borrowing, inlined
from aomultirl.learning.row_layout import Layout
from aomultirl.learning.row_likelihoods import EARNED, UNEARNED, Floats, Integers

MOST_LEVELS = 8
"""Rewards that are told apart, 0 and 1 included; where more occur, means are kept.

No outcome of tuning: Gymnasium's toy texts pay three or fewer, and where the range of rewards is learned, those that
were cut off leave a level or two behind each time that it widens.
"""
CLOSE = 1e-9
"""Rewards that differ by no more are the same."""
EXTREMES = np.array([1.0, 0.0])
"""The levels where rewards are means, or none but 0 and 1 was seen."""
EXTREMES.setflags(write=False)

FOUND, MORE = range(2)
"""Cells of ``state``."""


class Notes(NamedTuple):
    """What an episode pays, as far as its steps are attended to.

    levels
        (V,), those of the rows of rewards; empty where nothing is noted: rewards are known, or means.
    paid
        (S * A * V,), the counts of the episode in these rows, which are a part of those that the planner has; empty
        where there are two levels, since counts follow from sums.
    others
        (MOST_LEVELS - V,), rewards that are no levels, in the order in which they came.
    counts
        (MOST_LEVELS, S * A), how often pairs paid the levels, and then the others.
    state
        (2,): how many others were FOUND, and whether there were MORE than there is room for.
    """

    levels: Floats
    paid: Floats
    others: Floats
    counts: Floats
    state: Integers


NOTHING_NOTED = Notes(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros(0, np.int64))
"""In place of notes where nothing is noted."""


def empty_notes(layout: Layout, here: Floats) -> Notes:
    """For an episode whose counts, (P,), are ``here``."""
    count = len(layout.levels)
    return Notes(
        levels=layout.levels.copy(),
        paid=here[layout.rewards_at :] if count > 2 else np.zeros(0),
        others=np.zeros(MOST_LEVELS - count),
        counts=np.zeros((MOST_LEVELS, layout.n_pairs)),
        state=np.zeros(2, np.int64),
    )


@borrowing
def split(levels: Floats, reward: float) -> tuple[int, float]:
    """(the number of a level, what counts there); the rest counts at the next level below."""
    for i in range(len(levels) - 1):
        if reward >= levels[i] - CLOSE:
            return i, 1.0
        if reward > levels[i + 1] + CLOSE:
            return i, (reward - levels[i + 1]) / (levels[i] - levels[i + 1])
    return len(levels) - 1, 1.0


@borrowing
def note_reward(notes: Notes, pair: int, reward: float) -> None:
    """Note what a pair has paid at a step."""
    count, state = len(notes.levels), notes.state
    if count == 0:
        return
    i, weight = split(notes.levels, reward)
    if len(notes.paid) > 0:
        notes.paid[count * pair + i] += weight
        if weight < 1.0:
            notes.paid[count * pair + i + 1] += 1.0 - weight
    if weight < 1.0:
        i = 0
        while i < state[FOUND] and abs(notes.others[i] - reward) > CLOSE:
            i += 1
        if i == len(notes.others):
            state[MORE] = 1
            return
        if i == state[FOUND]:
            notes.others[i] = reward
            state[FOUND] += 1
        i += count
    notes.counts[i, pair] += 1.0


@inlined
def mean_paid(counted: Floats, here: Floats, levels: Floats, c: int, first: int) -> float:
    """The mean of what a pair has paid under hypothesis c, whose counts are (C, P), and in the episode, (P,).

    ``first`` is the first place of the pair's row.
    """
    earned = counted[c, first + EARNED] + here[first + EARNED]
    n = earned
    for i in range(1, len(levels)):
        earned += levels[i] * (counted[c, first + i] + here[first + i])
        n = n + counted[c, first + i] + here[first + i]
    return earned / n if n > 0.0 else 0.0


def with_levels(levels: Floats, more: Floats) -> Floats:
    """These levels, 1 and 0, and more rewards, in [0, 1], as far as they differ; falling."""
    kept = EXTREMES.tolist()
    for reward in (*levels.tolist(), *more.tolist()):
        if min(abs(reward - other) for other in kept) > CLOSE:
            kept.append(reward)
    return np.array(sorted(kept, reverse=True))


def levels_after(notes: Notes) -> Floats | None:
    """The levels with all that an episode has paid; None where there are too many."""
    return None if notes.state[MORE] else with_levels(notes.levels, notes.others[: notes.state[FOUND]])


def counts_at(notes: Notes, levels: Floats) -> Floats:
    """(S * A * V,), what was noted, at levels that all of it has a place among."""
    out = np.zeros((notes.counts.shape[1], len(levels)))
    for i, reward in enumerate((*notes.levels, *notes.others[: notes.state[FOUND]])):
        out[:, split(levels, reward)[0]] += notes.counts[i]
    return out.ravel()


def regraded(counts: Floats, old: Layout, new: Layout, rewards: Floats) -> Floats:
    """Counts at the places of another layout, which differs in its levels alone; means are kept.

    Parameters
    ----------
    counts
        (P,), at the places of ``old``.
    rewards
        (V,), what the levels of ``old`` are now: themselves, or where the range of rewards has changed.
    """
    begin, count = old.rewards_at, len(old.levels)
    paid, out = counts[begin:].reshape(-1, count), np.zeros((old.n_pairs, len(new.levels)))
    for i, reward in enumerate(rewards.tolist()):
        place, weight = split(new.levels, reward)
        out[:, place] += weight * paid[:, i]
        if weight < 1.0:
            out[:, place + 1] += (1.0 - weight) * paid[:, i]
    if len(new.levels) == len(EXTREMES):  # all visits count, also those that were not attended to
        visits = np.add.reduceat(counts[: old.first[old.n_pairs]], old.first[: old.n_pairs])
        mass = out.sum(axis=1)
        out[:, EARNED] = visits * np.divide(out[:, EARNED], mass, out=np.zeros_like(mass), where=mass > 0.0)
        out[:, UNEARNED] = np.maximum(0.0, visits - out[:, EARNED])
    return np.concatenate((counts[:begin], out.ravel()))

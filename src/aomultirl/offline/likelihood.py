"""Trajectories grouped by likelihood, with rows that worlds may share; how many groups there are is found.

This is the memory of :class:`aomultirl.agents.Recall` (:mod:`aomultirl.agents.rereading`), all at once.  A climb goes
in rounds: how spread and how shared rows are is learned anew, groups merge where the joint likelihood rises, those that
are in truth several are parted, trajectories that no group explains well are gathered into one of their own, and every
trajectory goes to the group in which it is likeliest, given all others.  It ends when QUIET_ROUNDS rounds have gained
nothing.

The first climb begins with all trajectories in one group.  Two worlds that differ from a third, known one alike may be
taken for one for ever: whatever parts them must move many trajectories at once.  So further climbs begin with the
groups of expectation maximisation (:mod:`.expectation`), one more than the last climb has found, as long as that leads
somewhere likelier.  Where somebody knows the number, groups that are too many are made one, the two that lose least by
it first; where they are too few, the logs do not tell as many worlds apart by this likelihood, and the groups are those
of expectation maximisation.

There is no guarantee: it climbs the joint likelihood from a few starts.  Where trajectories are short and few, one
group may be likelier than the true ones, and then it is what is found.
"""

import numpy as np
from scipy.special import logsumexp

from aomultirl.agents.past_episodes import PastEpisode, make_places
from aomultirl.agents.recall_levels import sums_at, take_sums
from aomultirl.agents.recall_memory import RecallMemory
from aomultirl.agents.rereading import MOST_WORLDS, Rereading
from aomultirl.engine.random import RandomStream
from aomultirl.learning.regrouping import ln_gain_of_merging
from aomultirl.learning.row_likelihoods import Floats
from aomultirl.offline.expectation import likeliest_start
from aomultirl.offline.trajectories import Integers, Logs

MOST_ROUNDS = 60
QUIET_ROUNDS = 2
"""Rounds that must gain nothing: parting and gathering draw at random."""
LEAST_GAIN = 1e-6
"""Of the joint likelihood, in nats, that counts as one."""


def by_likelihood(
    logs: Logs, groups: int | None, stream: RandomStream, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """(Group of every trajectory, how probable it is there); ``groups``: how many there are, where that is known."""
    reading = _likeliest_climb(logs, stream, rng)
    if groups is not None and len(reading.memory.worlds) < groups:
        weights = likeliest_start(logs, groups, rng)
        return np.asarray(weights.argmax(axis=1), np.int64), weights.max(axis=1)
    while groups is not None and len(reading.memory.worlds) > groups:
        _merge_two(reading)
        _settle(reading)
    past = reading.memory.past
    return np.array([one.world for one in past]), np.array([one.sure for one in past])


def _likeliest_climb(logs: Logs, stream: RandomStream, rng: np.random.Generator) -> Rereading:
    """Climb from one group, and then from one more than were found, as long as that leads somewhere likelier."""
    best = _climb(logs, np.zeros(len(logs), np.int64), stream)
    while (count := len(best.memory.worlds)) < min(MOST_WORLDS, len(logs)):
        other = _climb(logs, likeliest_start(logs, count + 1, rng).argmax(axis=1), stream)
        if other.joint() <= best.joint() + LEAST_GAIN:
            break
        best = other
    return best


def _climb(logs: Logs, begin: Integers, stream: RandomStream) -> Rereading:
    """From these groups of the trajectories, (N,), to those that are likelier, however many."""
    reading = _take_all(logs, begin)
    best, quiet = -np.inf, 0
    for _ in range(MOST_ROUNDS):
        reading.review(stream)
        _settle(reading)
        joint = reading.joint()
        quiet = quiet + 1 if joint <= best + LEAST_GAIN else 0
        best = max(best, joint)
        if quiet >= QUIET_ROUNDS:
            break
    return reading


def _take_all(logs: Logs, begin: Integers) -> Rereading:
    """All trajectories, in the worlds that they begin in, (N,)."""
    tables, sums = [logs.table([n]) for n in range(len(logs))], [logs.sums([n]) for n in range(len(logs))]
    reading = Rereading(RecallMemory(), logs.n_states, logs.n_actions, logs.rewards is not None)
    memory, rows = reading.memory, reading.rows
    take_sums(memory, rows, list(zip(tables, sums, strict=True)))
    make_places(memory.past, rows, logs.table(range(len(logs))))
    _, places = np.unique(begin, return_inverse=True)
    for _ in range(int(places.max()) + 1):
        reading.found(np.zeros(logs.n_states))
    for table, earned, place in zip(tables, sums, places.tolist(), strict=True):
        entries = rows.entries(table, sums_at(rows, table, earned))
        past = PastEpisode(entries.places, entries.counts, place, 1.0)
        reading.put(past, place)
        memory.past.append(past)
    memory.met = len(logs)
    return reading


def _settle(reading: Rereading) -> None:
    """Every trajectory goes to the group in which it is likeliest; groups that nobody is left in are no more."""
    worlds = reading.memory.worlds
    for past in reading.memory.past:
        reading.put(past, past.world, -1)
        *scores, alone = reading.scores(past)
        for place, world in enumerate(worlds):
            if world.episodes == 0:
                scores[place] = alone if place == past.world else -np.inf
        past.world = int(np.argmax(scores))
        past.sure = float(np.exp(scores[past.world] - logsumexp(scores)))
        reading.put(past, past.world)
    for world in [world for world in worlds if world.episodes == 0]:
        reading.remove(worlds.index(world))


def _merge_two(reading: Rereading) -> None:
    """Make one of the two groups that lose least by it."""
    rows, sizes, count = reading.rows, reading.sizes, len(reading.memory.worlds)
    numbers = (rows.own, rows.together, rows.theta, rows.alpha, rows.shared, sizes)
    pairs = [(j, i) for i in range(count) for j in range(i)]
    gains = [ln_gain_of_merging(rows.layout.first, rows.layout.kinds, rows.counts, *numbers, i, j) for j, i in pairs]
    reading.make_one(*pairs[int(np.argmax(gains))])

"""The loops that walk through a world: steps that need no more than the table of a behaviour, and their counts.

The table (:mod:`.behaviours`) is all that they know: they walk, count and decrement, and leave when an entry is
missing, when one needs a look, or when a transition is seen for the first time.

Draws.  One 64-bit draw of the world's stream a step (two where rewards are noisy).  The agent's stream is drawn from
where a table says "at random".

The inner loops are functions of their own that count no references (:func:`.compiling.borrowing`): with calls left in
them, or references counted at every step, they cost a factor of four to ten.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import Table
from aomultirl.engine.compiling import borrowing, callee, inlined
from aomultirl.engine.counts import SHORT, VISITS, Counts, find, insert
from aomultirl.engine.random import RandomStream, below, draw
from aomultirl.engine.sampling import pick_entry
from aomultirl.engine.signals import serve_signals

U = np.uint64
UNSEEN, LOOK, MISSING, END = 1, 2, 4, 8
"""What a step needs beside the table: a transition seen for the first time, a look, an entry that is missing; or the
episode ended with it."""

STEP, STATE, ACTION, SUCCESSOR, ENDED = range(5)
"""Cells of a walk's place: steps taken, the state it is in, the last step's action and successor, and whether the world
ended the episode."""

NOWHERE: NDArray[np.bool_] = np.empty(0, np.bool_)
"""In place of a mask of terminal states, where there are none."""

NOTHING_KNOWN: NDArray[np.uint32] = np.empty(0, np.uint32)
"""In place of the slots of all entries, in phases so short that most entries come up once or never."""


class SimulatedEpisode(NamedTuple):
    """What an episode is simulated with: the world that it is in, and where draws come from.

    One flat record, because every record more costs most of a microsecond a phase when Python hands it over.

    heads, cells, width
        of the world's :class:`AliasTables`.
    rewards
        (S * A,), the mean of what each pair earns.
    noisy
        rewards are 0 or 1 with that mean.
    terminal
        (S,), arriving here ends the episode; empty where nothing does.
    world
        uint64 (4,), the world's stream: one draw a step, two where rewards are noisy.
    agent
        uint64 (4,), drawn from where a table says "at random", and by ``prepare``.
    """

    heads: NDArray[np.uint64]
    cells: NDArray[np.uint64]
    width: int
    rewards: NDArray[np.float64]
    noisy: bool
    terminal: NDArray[np.bool_]
    world: RandomStream
    agent: RandomStream


@callee
def _walk(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    last: int,
    total: float,
) -> tuple[int, float, float]:
    """Walk until a step needs more than the table; ``place`` in and out.

    known: (cells,), of every entry of the alias tables the slot that counts it, or 0 where that is to be found; empty
    where it is to be found at every step.

    Returns what the last step needs, a sum of UNSEEN, LOOK, MISSING and END, what it earned, and ``total`` with the
    rewards added one by one, as a loop from outside would add them.
    """
    heads, cells, width = episode.heads, episode.cells, episode.width
    rewards, noisy, world, agent = episode.rewards, episode.noisy, episode.world, episode.agent
    terminal = episode.terminal
    ends, remembers = len(terminal) > 0, len(known) > 0
    plan, stride, budget, watch = table.plan, table.stride, table.budget, table.watch
    count_heads, slots = counts.heads, counts.slots
    w0, w1, w2, w3 = world[0], world[1], world[2], world[3]
    a0, a1, a2, a3 = agent[0], agent[1], agent[2], agent[3]
    n_actions = U(len(rewards) // len(budget))
    step, s, s2, a, pair = place[STEP], U(place[STATE]), U(place[STATE]), np.int64(0), U(0)
    row = U(step * stride)
    needs, reward = 0, 0.0
    while step < last:
        a = np.int64(plan[row + s])
        if a < 0:
            needs = MISSING
            break
        random = U(a) == n_actions
        if random:
            bits, a0, a1, a2, a3 = draw(a0, a1, a2, a3)
            a = below(n_actions, bits)
        pair = s * n_actions + U(a)
        bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
        k = U(width)
        first = pair << k
        if width < 0:
            k = heads[pair] & U(63)
            first = heads[pair] >> U(6)
        s2, entry = pick_entry(cells, U(2) * first, k, bits)
        reward = rewards[pair]
        if noisy:
            bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
            reward = 1.0 if np.float64(bits >> U(11)) * 2.0**-53 < reward else 0.0
        total += reward
        if len(sums) > 0:
            sums[pair] += reward
        step += 1
        row += U(stride)
        left = budget[s] - 1
        budget[s] = left
        slot = U(known[entry]) if remembers else U(0)
        seen = slot != U(0)
        if not seen:
            slot = find(count_heads, slots, pair, s2)
            seen = slots[slot] >= 0
            if seen and remembers:
                known[entry] = slot
        if seen:
            slots[slot + U(VISITS)] += 1
        look = (left == 0) | (random & watch[s2])
        over = ends and terminal[s2]
        if look | (not seen) | over:
            needs = LOOK * look + UNSEEN * (not seen) + END * over
            break
        s = s2
    world[0], world[1], world[2], world[3] = w0, w1, w2, w3
    agent[0], agent[1], agent[2], agent[3] = a0, a1, a2, a3
    place[STEP], place[STATE], place[ACTION], place[SUCCESSOR] = step, np.int64(s), a, np.int64(s2)
    return needs, reward, total


@callee
def _follow(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    place: NDArray[np.int64],
    last: int,
    total: float,
) -> tuple[int, float]:
    """:func:`_walk` where nothing needs a look: a plan that is the same at every step, in a world of the plainest kind.

    That is one with a single width of alias tables, certain rewards that nobody sums up by pair, and without terminal
    states; and ``known`` is not empty.  Returns UNSEEN or 0, and the total.  Apart from the walk's own loop, because
    what that one holds in registers leaves none for the streams.
    """
    cells, rewards, k = episode.cells, episode.rewards, U(episode.width)
    world, agent, plan, slots = episode.world, episode.agent, table.plan, counts.slots
    w0, w1, w2, w3 = world[0], world[1], world[2], world[3]
    a0, a1, a2, a3 = agent[0], agent[1], agent[2], agent[3]
    n_actions = U(len(rewards) // len(table.budget))
    stride = U(2) * (n_actions << k)  # words of a state: its cells are found without a look at the pair
    step, s, s2, a, needs = place[STEP], U(place[STATE]), U(place[STATE]), U(0), 0
    while step < last:
        a = U(plan[s])
        if a == n_actions:
            bits, a0, a1, a2, a3 = draw(a0, a1, a2, a3)
            a = U(below(n_actions, bits))
        pair = s * n_actions + a
        bits, w0, w1, w2, w3 = draw(w0, w1, w2, w3)
        s2, entry = pick_entry(cells, s * stride + U(2) * (a << k), k, bits)
        total += rewards[pair]
        step += 1
        slot = U(known[entry])
        if slot == U(0):
            slot = find(counts.heads, slots, pair, s2)
            if slots[slot] < 0:
                needs = UNSEEN
                break
            known[entry] = slot
        slots[slot + U(VISITS)] += 1
        s = s2
    world[0], world[1], world[2], world[3] = w0, w1, w2, w3
    agent[0], agent[1], agent[2], agent[3] = a0, a1, a2, a3
    place[STEP], place[STATE], place[ACTION], place[SUCCESSOR] = step, np.int64(s), np.int64(a), np.int64(s2)
    return needs, total


@borrowing
def walk_and_count(
    episode: SimulatedEpisode,
    table: Table,
    counts: Counts,
    known: NDArray[np.uint32],
    sums: NDArray[np.float64],
    place: NDArray[np.int64],
    last: int,
    stretch: int,
    total: float,
    looks: bool,
) -> tuple[int, float, float, bool]:
    """Walk, and count what is seen for the first time, until the behaviour is needed, or more room.

    looks: some steps need a look.

    stretch: steps after which the inner loop is left, at the latest, to look for signals.

    Returns what :func:`_walk` says of the last step, and whether the counts want more room.  A step that needs a look
    is not over: the place still says where it began, until the behaviour has looked.
    """
    needs, reward, crowded, spent = 0, 0.0, False, 0
    n_actions = len(counts.heads) // len(table.budget)
    plainly = len(known) > 0 and not looks and table.stride == 0 and len(sums) == 0
    plainly &= episode.width >= 0 and not episode.noisy and len(episode.terminal) == 0
    while place[STEP] < last and not (crowded or place[ENDED]) and needs & (LOOK | MISSING) == 0:
        begin = place[STEP]
        end = begin + stretch if begin + stretch < last else last
        if plainly:
            needs, total = _follow(episode, table, counts, known, place, end, total)
        else:
            needs, reward, total = _walk(episode, table, counts, known, sums, place, end, total)
        if needs & UNSEEN:
            pair = place[STATE] * n_actions + place[ACTION]
            head = counts.heads[pair]
            crowded = insert(counts, pair, place[SUCCESSOR])
            if len(known) > 0 and (counts.heads[pair] != head or counts.filled[pair] <= SHORT):
                _forget_slots(episode, known, pair)
        if needs & (UNSEEN | END) and not needs & LOOK:
            arrive(place, needs)
        spent = serve_signals(spent, place[STEP] - begin + 1)
    return needs, reward, total, crowded


@inlined
def arrive(place: NDArray[np.int64], needs: int) -> None:
    """A step is over: the next one begins where it led, unless the episode ended there."""
    place[STATE], place[ENDED] = place[SUCCESSOR], needs & END > 0


@callee
def _forget_slots(episode: SimulatedEpisode, known: NDArray[np.uint32], pair: int) -> None:
    """The counts of a pair may have moved to other slots."""
    head = episode.heads[pair]
    first, n = head >> U(6), U(1) << (head & U(63))
    for entry in range(U(2) * first, U(2) * (first + n)):
        known[entry] = 0

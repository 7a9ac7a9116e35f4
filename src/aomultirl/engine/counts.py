"""Transition counts as a learner keeps them: hashed rows that grow with what was seen.

Each pair owns a small open-addressing table (linear probing, Fibonacci hashing), absent until the pair is
first visited and doubled when three quarters full.  All rows live in one arena.  A kernel adds transitions
in the slots that it :func:`find` s, and leaves its hot loop to :func:`insert` one seen for the first time; only the
Python owner, :class:`CountTable`, enlarges the arena, because a record grown behind its owner's back would dangle.

The table knows nothing of the world's support, so a learner inside the simulator sees no more than one
that talks to a real environment.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import borrowing, callee, inlined, kernel
from aomultirl.engine.signals import serve_signals

U = np.uint64
EMPTY = -1
HASH = 0x9E3779B1
WORDS, VISITS = 2, 1
"""A slot is so many words in ``slots``: a successor, and its count at VISITS behind it."""
TAKEN, LONGEST = range(2)
"""Cells of ``used``."""
PAIR, SLOT = range(2)
"""Cells of the place at which the addition of a table goes on."""
SHORT = 8
MANY = 24
"""Rows up to this long are sorted by insertion."""


class Counts(NamedTuple):
    """The counts N(s, a, s') as hashed rows; pairs not yet seen share slot 0, which stays empty.

    heads
        (S * A,): first slot * 4096 + 64 k + shift for a row of 2**k slots.
    filled
        (S * A,): successors seen of each pair.
    slots
        (WORDS * capacity,): of every slot the successor, or EMPTY, and how often it was seen.
    used
        (2,): slots TAKEN, and slots of the LONGEST row.
    """

    heads: NDArray[np.uint64]
    filled: NDArray[np.int64]
    slots: NDArray[np.int64]
    used: NDArray[np.int64]


@inlined
def find(heads: NDArray[np.uint64], slots: NDArray[np.int64], pair: np.uint64, successor: np.uint64) -> np.uint64:
    """Where the successor of ``pair`` stands in ``slots``, its count behind it, or the empty slot where it would."""
    head = heads[pair]
    first = head >> U(12)
    mask = (U(1) << ((head >> U(6)) & U(63))) - U(1)
    place = (((successor * U(HASH)) & U(0xFFFFFFFF)) >> (head & U(63))) & mask
    slot = U(WORDS) * (first + place)
    key = np.int64(successor)
    while slots[slot] != key and slots[slot] != EMPTY:
        place = (place + U(1)) & mask
        slot = U(WORDS) * (first + place)
    return U(slot)


@callee
def span(counts: Counts, pair: int) -> tuple[np.int64, np.int64]:
    """The slots of a pair's row: first, and one past the last."""
    head = counts.heads[pair]
    first = np.int64(head >> U(12))
    return first, first + (np.int64(1) << np.int64((head >> U(6)) & U(63)))


@borrowing
def visits_of(counts: Counts, pair: int) -> int:
    """How often the pair was visited."""
    total = 0
    for slot in range(*span(counts, pair)):
        if counts.slots[WORDS * slot] != EMPTY:
            total += counts.slots[WORDS * slot + VISITS]
    return total


@callee
def write_row(counts: Counts, pair: int, keys: NDArray[np.int64], visits: NDArray[np.int64], first: int) -> int:
    """Write what was seen of a pair, by ascending successors, to the entries from ``first`` on; one past the last."""
    at = first
    for slot in range(*span(counts, pair)):
        if counts.slots[WORDS * slot] != EMPTY:
            keys[at], visits[at] = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
            at += 1
    _sort(keys, visits, first, at - first)
    return at


@callee
def _sort(keys: NDArray[np.int64], visits: NDArray[np.int64], first: int, n: int) -> None:
    """Sort ``n`` entries from ``first`` on by their keys, all different: by insertion, or as a heap if many.

    The routines that Numba has for sorting take seconds to compile.
    """
    if n <= MANY:
        for end in range(first + 1, first + n):
            key, number, place = keys[end], visits[end], end
            while place > first and keys[place - 1] > key:
                keys[place], visits[place] = keys[place - 1], visits[place - 1]
                place -= 1
            keys[place], visits[place] = key, number
        return
    # Every inner node is sifted down, from the last one on; then the largest entry goes to the end, n - 1 times.
    for turn in range(n + n // 2 - 1, 0, -1):
        place, last = turn - n, n
        if turn < n:
            place, last = 0, turn
            keys[first], keys[first + turn] = keys[first + turn], keys[first]
            visits[first], visits[first + turn] = visits[first + turn], visits[first]
        key, number = keys[first + place], visits[first + place]
        child = 2 * place + 1
        while child < last:
            if child + 1 < last and keys[first + child + 1] > keys[first + child]:
                child += 1
            if keys[first + child] <= key:
                break
            keys[first + place], visits[first + place] = keys[first + child], visits[first + child]
            place, child = child, 2 * child + 1
        keys[first + place], visits[first + place] = key, number


@kernel
def sorted_row(counts: Counts, pair: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(successors, counts) seen of a pair, by ascending successors."""
    keys, visits = np.empty(counts.filled[pair], np.int64), np.empty(counts.filled[pair], np.int64)
    write_row(counts, pair, keys, visits, 0)
    return keys, visits


@inlined
def _clear(slots: NDArray[np.int64], first: np.int64, last: np.int64) -> None:
    """Empty the slots from ``first`` to before ``last``, word by word, as whoever scans them expects."""
    for word in range(WORDS * first, WORDS * last):
        slots[word] = EMPTY


@borrowing
def insert(counts: Counts, pair: int, successor: int) -> bool:
    """Count a successor seen for the first time.  True: the arena must be enlarged before the next insertion."""
    if counts.filled[pair] == 0:
        first = counts.used[TAKEN]
        counts.used[TAKEN] += 8
        _clear(counts.slots, first, first + 8)
        counts.heads[pair] = U(first << 12 | 3 << 6 | 29)
    head = counts.heads[pair]
    k = np.int64((head >> U(6)) & U(63))
    slot = find(counts.heads, counts.slots, U(pair), U(successor))
    straight = U(WORDS) * (
        (head >> U(12)) + (((U(successor * HASH) & U(0xFFFFFFFF)) >> (head & U(63))) & U((1 << k) - 1))
    )
    roomy = 4 * (counts.filled[pair] + 1) <= 3 << k
    if roomy and (slot == straight or counts.filled[pair] >= SHORT):
        counts.slots[slot], counts.slots[slot + U(VISITS)] = successor, 1
        counts.filled[pair] += 1
    else:
        _rebuild(counts, pair, successor)
    return is_crowded(counts)


@borrowing
def is_crowded(counts: Counts) -> bool:
    """The arena must be enlarged before the next insertion."""
    return bool(WORDS * (counts.used[TAKEN] + 8 * counts.used[LONGEST]) > len(counts.slots))


@callee
def _rebuild(counts: Counts, pair: int, successor: int) -> None:
    """Make room for one more successor, and count it.

    The row doubles where it would be more than three quarters full.  A short row takes the hash's bits from where no
    two successors collide, doubling once or twice more if need be, so that the hot loop finds each at the first look.
    """
    n = counts.filled[pair] + 1
    source, last = span(counts, pair)
    old = np.int64((counts.heads[pair] >> U(6)) & U(63))
    k = old if old > 3 else np.int64(3)
    while 4 * n > 3 << k:
        k += 1
    shift = np.int64(32) - k
    if n <= SHORT:
        for longer in range(3):
            found = _without_collision(counts, pair, successor, k + longer) if k + longer < 6 else np.int64(-1)
            if found >= 0:
                k, shift = k + longer, found
                break
    first = source
    if k != old:
        first = counts.used[TAKEN]
        counts.used[TAKEN] += 1 << k
        if counts.used[LONGEST] < 1 << k:
            counts.used[LONGEST] = 1 << k
    else:  # in its place, from a copy in the arena's free part, which is longer than any row
        free = counts.used[TAKEN]
        for word in range(WORDS << k):
            counts.slots[WORDS * free + word] = counts.slots[WORDS * source + word]
        source, last = free, free + last - source
    _clear(counts.slots, first, first + (1 << k))
    counts.heads[pair] = U(first << 12 | k << 6 | shift)
    for place in range(source, last + 1):
        key, number = np.int64(successor), np.int64(1)
        if place < last:
            key, number = counts.slots[WORDS * place], counts.slots[WORDS * place + VISITS]
        if key != EMPTY:
            slot = find(counts.heads, counts.slots, U(pair), U(key))
            counts.slots[slot], counts.slots[slot + U(VISITS)] = key, number
    counts.filled[pair] = n


@callee
def _without_collision(counts: Counts, pair: int, successor: int, k: np.int64) -> np.int64:
    """A shift of the hash at which its k bits differ for a pair's successors and one more, or -1."""
    first, last = span(counts, pair)
    for shift in range(32 - k, -1, -1):
        taken = np.int64(0)
        for place in range(first, last + 1):
            key = counts.slots[WORDS * place] if place < last else np.int64(successor)
            if key != EMPTY:
                bit = np.int64(1) << ((((key * HASH) & 0xFFFFFFFF) >> shift) & ((1 << k) - 1))
                if taken & bit:
                    taken = np.int64(-1)
                    break
                taken |= bit
        if taken >= 0:
            return np.int64(shift)
    return np.int64(-1)


@kernel
def _collect(counts: Counts, states: NDArray[np.int64], visits: NDArray[np.int64]) -> None:
    at = spent = 0
    for pair in range(len(counts.heads)):
        spent = serve_signals(spent, 16 * counts.filled[pair])
        at = write_row(counts, pair, states, visits, at)


@kernel
def _add(target: Counts, source: Counts, place: NDArray[np.int64]) -> bool:
    """Add the rows of ``source`` from ``place`` on; True: enlarge the target, then go on from there."""
    for pair in range(place[PAIR], len(source.heads)):
        first, last = span(source, pair)
        if pair == place[PAIR] and first < place[SLOT]:
            first = place[SLOT]
        for slot in range(first, last):
            key, visits = source.slots[WORDS * slot], source.slots[WORDS * slot + VISITS]
            if key != EMPTY and add_visits(target, pair, key, visits):
                place[PAIR], place[SLOT] = pair, slot + 1
                return True
    return False


@borrowing
def add_visits(counts: Counts, pair: int, successor: int, visits: int) -> bool:
    """Add visits of one transition; True: enlarge the arena now."""
    crowded = False
    at = find(counts.heads, counts.slots, U(pair), U(successor))
    if counts.slots[at] != successor:
        crowded = insert(counts, pair, successor)
        at = find(counts.heads, counts.slots, U(pair), U(successor))
        visits -= 1
    counts.slots[at + U(VISITS)] += visits
    return crowded


def merged(tables: "Sequence[CountTable]") -> "CountTable":
    """All counts together; the table itself where there is only one."""
    if len(tables) == 1:
        return tables[0]
    total = CountTable(len(tables[0].record.heads))
    for table in tables:
        total.add(table)
    return total


def visits_by_pair(counts: "CountTable") -> NDArray[np.int64]:
    """How often every pair was visited, (S * A,)."""
    starts, _, visits = counts.to_lists()
    return np.diff(np.concatenate(([0], np.cumsum(visits)))[starts])


class CountTable:
    """Owner of the counts N(s, a, s') of one learner.

    Parameters
    ----------
    n_pairs
        S * A.

    Attributes
    ----------
    ends
        how many episodes ended on arriving in a state, by state; those in which none did are left out.
    """

    def __init__(self, n_pairs: int) -> None:
        self.ends: dict[int, int] = {}
        self.record = Counts(
            heads=np.zeros(n_pairs, np.uint64),
            filled=np.zeros(n_pairs, np.int64),
            slots=np.full(WORDS * (128 + min(10 * n_pairs, 10_000)), EMPTY, np.int64),
            used=np.array([1, 8], np.int64),
        )

    def make_room(self) -> None:
        """Double the arena.  Kernels must be given the new ``record``."""
        old = self.record.slots
        slots = np.full(2 * len(old), EMPTY, np.int64)
        slots[: len(old)] = old
        self.record = self.record._replace(slots=slots)

    def make_room_if_crowded(self) -> None:
        """Double the arena where it could not take one more row of the longest kind."""
        if is_crowded(self.record):
            self.make_room()

    def to_lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """(starts, states, visits): what was seen of each pair, as successor lists with ascending states."""
        starts = np.concatenate(([0], np.cumsum(self.record.filled)))
        states, visits = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
        _collect(self.record, states, visits)
        return starts, states.astype(np.int32), visits

    def count(self, pair: int, successor: int, visits: int) -> None:
        """Add so many visits of one transition."""
        if add_visits(self.record, pair, successor, visits):
            self.make_room()

    def end(self, state: int, times: int = 1) -> None:
        """So many episodes ended on arriving in a state."""
        self.ends[state] = self.ends.get(state, 0) + times

    def going_on(self, n_states: int) -> NDArray[np.float64]:
        """Of every state, the share of arrivals after which the episode went on, (S,).

        0 in a terminal state, 1 where no episode ended.  Where only some of the ways into a state end the episode, the
        state is taken for one that ends it so often.
        """
        share = np.ones(n_states)
        if self.ends:
            states = np.fromiter(self.ends, np.int64, len(self.ends))
            ended = np.fromiter(self.ends.values(), np.int64, len(self.ends))
            starts, _, visits = self.to_lists()
            acted = np.diff(np.concatenate(([0], np.cumsum(visits)))[starts[:: (len(starts) - 1) // n_states]])[states]
            share[states] = acted / (acted + ended)
        return share

    def add(self, other: "CountTable") -> None:
        """Add the counts of another table over the same pairs."""
        for state, times in other.ends.items():
            self.end(state, times)
        place = np.zeros(2, np.int64)
        while _add(self.record, other.record, place):
            self.make_room()

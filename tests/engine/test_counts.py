from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable, find, insert, visits_of


@kernel
def _add(record, pair, successor):
    slot = find(record.heads, record.slots, np.uint64(pair), np.uint64(successor))
    if record.slots[slot] == successor:
        record.slots[slot + np.uint64(1)] += 1
        return False
    return insert(record, pair, successor)


def fill(table, transitions):
    for pair, successor in transitions:
        if _add(table.record, pair, successor):
            table.make_room()


def as_dict(table):
    starts, states, visits = table.to_lists()
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert all((np.diff(states[lo:hi]) > 0).all() for lo, hi in pairwise(starts))
    return {(int(p), int(s)): int(n) for p, s, n in zip(owners, states, visits, strict=True)}


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**31 - 1) | st.integers(0, 9)), max_size=200))
def test_equals_a_dict(transitions):
    table = CountTable(6)
    fill(table, transitions)
    slow = {}
    for key in transitions:
        slow[key] = slow.get(key, 0) + 1
    assert as_dict(table) == slow


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), max_size=60), st.integers(1, 60))
def test_tables_are_added(transitions, split):
    whole, one, other = CountTable(3), CountTable(3), CountTable(3)
    fill(whole, transitions)
    fill(one, transitions[:split])
    fill(other, transitions[split:])
    one.add(other)
    assert as_dict(one) == as_dict(whole)
    for pair in range(3):
        assert visits_of(one.record, pair) == sum(p == pair for p, _ in transitions)


def test_adding_makes_room():
    one, other = CountTable(2), CountTable(2)
    fill(one, [(0, 5)])
    fill(other, [(1, s) for s in range(5000)] + [(0, 5), (0, 6)])
    one.add(other)
    assert as_dict(one) == {(0, 5): 2, (0, 6): 1} | {(1, s): 1 for s in range(5000)}


@settings(deadline=None)
@given(st.sets(st.integers(0, 2**31 - 1), min_size=1, max_size=8))
def test_short_rows_have_no_collisions(successors):
    """Up to eight successors are found at the first look in nearly all cases; then the hot loop never probes."""
    table = CountTable(1)
    fill(table, [(0, s) for s in successors])
    head = int(table.record.heads[0])
    first, k, shift = head >> 12, head >> 6 & 63, head & 63
    places = {((s * 0x9E3779B1) & 0xFFFFFFFF) >> shift & ((1 << k) - 1) for s in successors}
    assert k <= 5
    if len(places) == len(successors):
        for s in successors:
            place = ((s * 0x9E3779B1) & 0xFFFFFFFF) >> shift & ((1 << k) - 1)
            assert table.record.slots[2 * (first + place)] == s
    else:
        assert len(successors) > 5


def test_grows_with_what_is_seen_and_loses_nothing():
    table = CountTable(3)
    first = len(table.record.slots)
    rng = np.random.default_rng(0)
    successors = rng.permutation(100_000)[:20_000]
    fill(table, [(1, s) for s in successors] + [(1, s) for s in successors] + [(2, 7)])
    found = as_dict(table)
    assert len(table.record.slots) > first
    assert found.pop((2, 7)) == 1
    assert found == {(1, int(s)): 2 for s in successors}


def test_unseen_pairs_take_no_slots():
    assert CountTable(1000).record.used[0] == 1
    assert as_dict(CountTable(1000)) == {}

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable, count, insert


@kernel
def _add(record, pair, successor):
    if count(record, pair, successor):
        return False
    return insert(record, pair, successor)


def fill(table, transitions):
    for pair, successor in transitions:
        if _add(table.record, np.uint64(pair), np.uint64(successor)):
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

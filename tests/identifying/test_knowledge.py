from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.knowledge import NOVEL, knowledge, place_of


def table(seen, n_pairs):
    """A count table of {(pair, successor): visits}."""
    counts = CountTable(n_pairs)
    for (pair, successor), visits in seen.items():
        counts.count(pair, successor, visits)
    return counts


@st.composite
def memories(draw):
    """(clusters as dicts, S * A, S)."""
    n_states, n_actions = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    n_pairs = n_states * n_actions
    keys = st.tuples(st.integers(0, n_pairs - 1), st.integers(0, n_states - 1))
    rows = st.dictionaries(keys, st.integers(1, 50), max_size=20)
    return draw(st.lists(rows, max_size=4)), n_pairs, n_states


@settings(deadline=None)
@given(memories())
def test_equals_dicts(memory):
    clusters, n_pairs, n_states = memory
    known = knowledge([table(seen, n_pairs) for seen in clusters], n_pairs, n_states)
    assert known.seen.shape == (len(clusters), len(known.states))
    assert known.visits.shape == (len(clusters), n_pairs)
    assert (known.starts[0], known.starts[-1]) == (0, len(known.states))
    for pair, (first, last) in enumerate(pairwise(known.starts)):
        every = sorted({s for seen in clusters for p, s in seen if p == pair})
        assert known.states[first:last].tolist() == [*every, NOVEL]
        for c, seen in enumerate(clusters):
            assert known.seen[c, first:last].tolist() == [*(seen.get((pair, s), 0) for s in every), 0]
            assert known.visits[c, pair] == sum(n for (p, _), n in seen.items() if p == pair)


@settings(deadline=None)
@given(memories())
def test_places(memory):
    clusters, n_pairs, n_states = memory
    known = knowledge([table(seen, n_pairs) for seen in clusters], n_pairs, n_states)
    for pair, (first, last) in enumerate(pairwise(known.starts)):
        row = known.states[first:last].tolist()
        for successor in range(n_states):
            slow = first + (row.index(successor) if successor in row else len(row) - 1)
            assert place_of(known.starts, known.states, pair, successor) == slow


def test_nobody_knows_anything():
    known = knowledge([], 6, 3)
    assert known.starts.tolist() == list(range(7))
    assert (known.states == NOVEL).all()
    assert known.seen.shape == (0, 6)
    assert known.visits.shape == (0, 6)
    assert [place_of(known.starts, known.states, 4, s) for s in range(3)] == [4, 4, 4]


def test_arrays_are_as_the_kernels_want_them():
    known = knowledge([table({(0, 1): 3, (2, 0): 4}, 4)], 4, 2)
    assert [array.dtype for array in known] == [np.int64, np.int32, np.int64, np.int64]
    assert all(array.flags.c_contiguous for array in known)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine import packed_counts
from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import Packed

TRANSITIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2**31 - 2) | st.integers(0, 40), st.integers(1, 9)), max_size=150
)


def filled_with(transitions, n_pairs=4):
    table = CountTable(n_pairs)
    for pair, successor, visits in transitions:
        table.count(pair, successor, visits)
    return table


def lists(table):
    return [part.tolist() for part in table.to_lists()]


@settings(deadline=None, max_examples=40)
@given(TRANSITIONS, TRANSITIONS)
def test_a_table_comes_back_and_grows_on_in_the_same_way(before, after):
    table = filled_with(before)
    table.ends = {state: visits for _, state, visits in before[:5]}
    again = packed_counts.unpack_counts(packed_counts.pack_counts(table), 4, 2**31 - 1)
    assert lists(again) == lists(table)
    assert again.ends == table.ends
    for pair, successor, visits in after:
        table.count(pair, successor, visits)
        again.count(pair, successor, visits)
    assert lists(again) == lists(table)


@settings(deadline=None, max_examples=40)
@given(TRANSITIONS, st.randoms())
def test_the_same_counts_are_the_same_bytes_in_whatever_order_they_were_seen(transitions, random):
    shuffled = list(transitions)
    random.shuffle(shuffled)
    tables = packed_counts.pack_counts(filled_with(transitions)), packed_counts.pack_counts(filled_with(shuffled))
    assert [array.tobytes() for array in tables[0]] == [array.tobytes() for array in tables[1]]


def test_a_large_table_has_room_to_grow():
    table = filled_with([(s % 3, s, 1) for s in range(9000)])
    again = packed_counts.unpack_counts(packed_counts.pack_counts(table), 4, 30_000)
    for s in range(9000, 30_000):
        again.count(s % 4, s, 2)
    assert again.to_lists()[2].sum() == 9000 + 2 * 21_000


def changed(packed, name, place, value):
    array = getattr(packed, name).copy()
    array[place] = value
    return packed._replace(**{name: array})


TABLE = filled_with([(0, 3, 2), (0, 7, 1), (2, 5, 4), (2, 1, 1), (2, 9, 1)])
TABLE.ends = {9: 1, 7: 2}
PACKED = packed_counts.pack_counts(TABLE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (changed(PACKED, "states", 0, 10), r"states\[0\] is 10, but states are 0 to 9"),
        (changed(PACKED, "states", 1, -1), r"states\[1\] is -1, but states are 0 to 9"),
        (changed(PACKED, "visits", 4, 0), r"visits\[4\] is 0, not positive"),
        (changed(PACKED, "visits", 4, -3), r"visits\[4\] is -3, not positive"),
        (changed(PACKED, "visits", 0, 2**62), "visits are too many to be true"),
        (changed(PACKED, "states", 1, int(PACKED.states[0])), "states must rise in every row"),
        (changed(PACKED, "states", 1, 2), "states must rise in every row"),
        (changed(PACKED, "filled", 0, 3), "do not fit filled"),
        (changed(PACKED, "filled", 0, -2), "filled holds a negative number"),
        (changed(PACKED, "terminal", 0, 10), r"terminal must rise"),
        (changed(PACKED, "terminal", 1, 10), r"terminal\[1\] is 10, but states are 0 to 9"),
        (changed(PACKED, "ends", 1, 0), r"ends\[1\] is 0, not positive"),
        (changed(PACKED, "ends", 1, 2**62), "ends are too many to be true"),
        (PACKED._replace(ends=PACKED.ends[:1]), "terminal and ends differ in length"),
        (PACKED._replace(filled=PACKED.filled[:3]), "filled must have 4 entries, not 3"),
        (PACKED._replace(visits=PACKED.visits[:3]), "do not fit filled"),
        (PACKED._replace(states=PACKED.states.astype(np.int64)), "states must be a list of int32, not int64"),
        (PACKED._replace(states=PACKED.states[None]), r"states must be a list of int32, not int32 of shape \(1, 5\)"),
    ],
)
def test_what_no_table_could_hold_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        packed_counts.unpack_counts(wrong, 4, 10)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_whatever_is_accepted_is_found_again(data):
    """One entry changed anywhere: either it is refused, or every successor is where a search finds it."""
    full = filled_with([(0, s, 1) for s in range(0, 60, 3)] + [(1, 4, 2), (1, 6, 1), (3, 5, 5)])
    full.end(6, 2)
    packed = packed_counts.pack_counts(full)
    name = data.draw(st.sampled_from(Packed._fields))
    place = data.draw(st.integers(0, len(getattr(packed, name)) - 1))
    wrong = changed(packed, name, place, data.draw(st.integers(-3, 70)))
    try:
        table = packed_counts.unpack_counts(wrong, 4, 64)
    except ValueError:
        return
    before = table.record.filled.copy()
    starts, states, _ = table.to_lists()
    for pair in range(4):
        for state in states[starts[pair] : starts[pair + 1]]:
            table.count(pair, int(state), 1)
    assert np.array_equal(table.record.filled, before)  # no successor was taken for a new one

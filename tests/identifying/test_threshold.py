import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aomultirl import theory
from aomultirl.engine.counts import CountTable, find, insert
from aomultirl.identifying.threshold import distance, identify_cluster


def fill(table, rows):
    """Put ``rows``, {pair: {successor: visits}}, into an empty table."""
    for pair, row in rows.items():
        for successor, visits in row.items():
            if insert(table.record, pair, successor):
                table.make_room()
            slot = find(table.record.heads, table.record.slots, np.uint64(pair), np.uint64(successor))
            table.record.slots[slot + np.uint64(1)] = visits
    return table


def explored(rows, n_pairs=3):
    return fill(CountTable(n_pairs), rows)


def slow_distance(one, other):
    """l1 distance of two empirical rows, {successor: visits}."""
    if not one or not other:
        return 0.0
    n, m = sum(one.values()), sum(other.values())
    return sum(abs(one.get(key, 0) / n - other.get(key, 0) / m) for key in one.keys() | other.keys())


successors = st.integers(0, 6) | st.integers(0, 60) | st.integers(0, 2**31 - 1)
empirical_rows = st.dictionaries(successors, st.integers(1, 2000), max_size=20)
"""Short rows and long ones, whose successors collide; neighbours' numbers, and far apart."""

STATES = st.dictionaries(st.integers(0, 3), st.integers(1, 5), max_size=4)
TABLES = st.fixed_dictionaries(dict.fromkeys(range(3), STATES))


def assert_distance_equals_slow_twin(one, other):
    a, b = explored({1: one}), explored({0: {1: 5}, 1: other, 2: {0: 1}})
    assert distance(a.record, b.record, 1) == pytest.approx(slow_distance(one, other), abs=1e-12)
    assert distance(b.record, a.record, 1) == pytest.approx(slow_distance(one, other), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(empirical_rows, empirical_rows)
def test_distance_equals_slow_twin(one, other):
    assert_distance_equals_slow_twin(one, other)


@pytest.mark.long
@settings(deadline=None, max_examples=200)
@given(empirical_rows, empirical_rows)
def test_distance_equals_slow_twin_on_many_rows(one, other):
    assert_distance_equals_slow_twin(one, other)


@settings(deadline=None, max_examples=50)
@given(empirical_rows.filter(bool), st.integers(1, 1000))
def test_distance_does_not_depend_on_the_number_of_visits(row, times):
    many = {key: times * visits for key, visits in row.items()}
    assert distance(explored({0: row}).record, explored({0: many}).record, 0) == pytest.approx(0.0, abs=1e-12)


def test_rows_that_share_nothing_are_2_apart():
    assert distance(explored({0: {1: 3, 2: 1}}).record, explored({0: {0: 4, 5: 9}}).record, 0) == pytest.approx(2.0)


def test_an_unvisited_pair_says_nothing():
    visited, not_visited = {0: {0: 9}, 1: {2: 4}}, {0: {0: 5}}
    for here, there in ((visited, not_visited), (not_visited, visited)):
        assert distance(explored(here).record, explored(there).record, 1) == 0.0
        assert identify_cluster(explored(here), [explored(there)], np.arange(3), 0.0) == 0
    assert identify_cluster(explored({}), [explored(visited)], np.arange(3), 0.0) == 0


@given(empirical_rows.filter(bool))
def test_the_papers_zero_vector_would_found_a_cluster(row):
    """Of an unvisited pair, at distance 1 from every row: above delta = 0.975 and 0.325, which the grids have."""
    shares = np.array(list(row.values())) / sum(row.values())
    assert np.abs(shares - 0.0).sum() == pytest.approx(1.0)
    assert 1.0 > theory.threshold(1.3, 1.3) > theory.threshold(0.65, 1.3)
    assert identify_cluster(explored({}), [explored({0: row})], np.array([0]), theory.threshold(1.3, 1.3)) == 0


def test_first_match_wins_though_a_later_one_is_closer():
    clusters = [explored({0: {0: 1, 1: 9}}), explored({0: {0: 8, 1: 2}}), explored({0: {0: 9, 1: 1}})]
    assert identify_cluster(explored({0: {0: 90, 1: 10}}), clusters, np.array([0]), 0.5) == 1
    assert identify_cluster(explored({0: {0: 90, 1: 10}}), clusters, np.array([0]), 0.1) == 2
    assert identify_cluster(explored({0: {0: 90, 1: 10}}), clusters, np.array([0]), 2.0) == 0
    assert identify_cluster(explored({0: {0: 50, 1: 50}}), clusters, np.array([0]), 0.1) == -1


def test_no_cluster_yet():
    assert identify_cluster(explored({0: {0: 1}}), [], np.array([0]), 2.0) == -1


def test_only_the_given_pairs_are_tested():
    here, there = {0: {0: 1}, 1: {0: 1}, 2: {0: 1}}, {0: {0: 1}, 1: {1: 1}, 2: {0: 1}}
    for pairs, number in (([0], 0), ([2], 0), ([0, 2], 0), ([1], -1), ([0, 1], -1), ([1, 2], -1), ([], 0)):
        assert identify_cluster(explored(here), [explored(there)], np.array(pairs, np.int64), 1.0) == number


@settings(deadline=None, max_examples=50)
@given(empirical_rows, empirical_rows, st.randoms())
def test_distance_is_the_same_to_the_last_bit_in_whatever_order_successors_were_seen(one, other, random):
    shuffled = list(one.items())
    random.shuffle(shuffled)
    rows = [explored({1: dict(items)}).record for items in (one.items(), shuffled)]
    there = explored({1: other}).record
    assert distance(rows[0], there, 1) == distance(rows[1], there, 1)


def test_a_distance_equal_to_the_threshold_is_the_same_world():
    clusters = [explored({0: {0: 3, 1: 1}})]
    assert identify_cluster(explored({0: {0: 1}}), clusters, np.array([0]), 0.5) == 0
    assert identify_cluster(explored({0: {0: 1}}), clusters, np.array([0]), np.nextafter(0.5, 0)) == -1


def test_the_papers_threshold():
    """lambda = alpha = 1.3: delta = 0.975."""
    delta = theory.threshold(1.3, 1.3)
    assert delta == pytest.approx(0.975)
    sure = {2: {7: 400}}
    for apart, number in ((0.97, 0), (0.98, -1)):
        moved = round(1000 * apart / 2)
        there = {2: {7: 1000 - moved, 3: moved}}
        assert distance(explored(sure).record, explored(there).record, 2) == pytest.approx(apart)
        assert identify_cluster(explored(sure), [explored(there)], np.array([2]), delta) == number


def assert_identify_cluster_equals_slow_twin(here, known, pairs, threshold):
    """Thresholds keep away from where rounding decides; 0 is met exactly by rows of the same shares."""
    apart = [max((slow_distance(here[pair], there[pair]) for pair in pairs), default=0.0) for there in known]
    assume(all(abs(one - threshold) > 1e-9 or one == threshold == 0.0 for one in apart))
    wanted = next((number for number, one in enumerate(apart) if one <= threshold), -1)
    clusters = [explored(there) for there in known]
    assert identify_cluster(explored(here), clusters, np.array(sorted(pairs), np.int64), threshold) == wanted


QUESTIONS = (
    TABLES,
    st.lists(TABLES, max_size=4),
    st.sets(st.integers(0, 2)),
    st.sampled_from([0.0, 0.3, 0.7, 1.1, 1.9]),
)
"""What was seen here, what was seen in the clusters, the pairs that are compared, and the threshold."""


@settings(deadline=None, max_examples=60)
@given(*QUESTIONS)
def test_identify_cluster_equals_slow_twin(here, known, pairs, threshold):
    assert_identify_cluster_equals_slow_twin(here, known, pairs, threshold)


@pytest.mark.long
@settings(deadline=None, max_examples=200)
@given(*QUESTIONS)
def test_identify_cluster_equals_slow_twin_on_many_tables(here, known, pairs, threshold):
    assert_identify_cluster_equals_slow_twin(here, known, pairs, threshold)

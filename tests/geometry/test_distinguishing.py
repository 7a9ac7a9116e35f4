import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.geometry.distinguishing import smallest_set


def brute_force(table):
    """Size of a smallest set of columns that hits every row."""
    for size in range(table.shape[1] + 1):
        for columns in combinations(range(table.shape[1]), size):
            if table[:, list(columns)].any(axis=1).all():
                return size
    return None


@st.composite
def tables(draw):
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.random((rows, columns)) < draw(st.sampled_from([0.15, 0.4]))
    table[~table.any(axis=1), rng.integers(0, columns)] = True
    return table


@settings(deadline=None)
@given(tables())
def test_smallest_set_equals_brute_force(table):
    exact = smallest_set(table)
    assert table[:, exact].any(axis=1).all()
    assert len(exact) == brute_force(table)
    assert (np.diff(exact) > 0).all()
    greedy = smallest_set(table, exact=False)
    assert table[:, greedy].any(axis=1).all()
    assert len(exact) <= len(greedy) <= (1 + np.log(len(table))) * len(exact)


def test_greedy_can_be_larger_than_exact():
    """Greedy takes the third column, which hits most rows, and then needs both others."""
    table = np.array([[1, 0, 0], [1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 1, 0]], bool)
    assert smallest_set(table).tolist() == [0, 1]
    assert smallest_set(table, exact=False).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("states", "seconds"), [(500, 7.5), pytest.param(2000, 30.0, marks=pytest.mark.long)])
def test_many_kinds_of_pairs_are_no_trouble(states, seconds):
    """Thousands of pairs, four for each state, that tell apart nearly as many different groups of worlds."""
    models = ao.worlds.random_models(states, 4, 20, 5, 1.0, 0)
    begin = time.process_time()
    for method in ("exact", "greedy"):
        assert models.is_distinguishing(models.distinguishing_set(0.5, method=method), 0.5)
    assert time.process_time() - begin < seconds


def test_a_program_that_takes_too_long_says_so():
    models = ao.worlds.random_models(100, 4, 40, 5, 1.0, 0)
    with pytest.raises(TimeoutError, match=r'was not found in 0\.01 s; method="greedy" finds a small one'):
        models.distinguishing_set(time_limit=0.01)
    assert models.is_distinguishing(models.distinguishing_set(method="greedy"), models.default_level())


def test_sets_of_random_worlds_are_distinguishing():
    models = ao.worlds.random_models(20, 3, 7, 4, 0.8, rng=3)
    for level in (None, 0.4):
        for method in ("exact", "greedy"):
            chosen = models.distinguishing_set(level, method=method)
            assert models.is_distinguishing(chosen, models.separation() - 1e-6 if level is None else level)
            assert not models.is_distinguishing(chosen, 2.0)

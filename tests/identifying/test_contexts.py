"""Which context an episode is of: the fast functions are their slow twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.counts import CountTable
from aomultirl.identifying.contexts import Placed, apart, ln_likelihood, place

STATES, ACTIONS = 3, 2
visits = st.lists(
    st.tuples(st.integers(0, STATES * ACTIONS - 1), st.integers(0, STATES - 1), st.integers(1, 9)), max_size=14
)


def table(samples):
    counts = CountTable(STATES * ACTIONS)
    for pair, successor, times in samples:
        counts.count(pair, successor, times)
    return counts


def rows(samples):
    """Visits of every transition, (S A, S)."""
    found = np.zeros((STATES * ACTIONS, STATES))
    for pair, successor, times in samples:
        found[pair, successor] += times
    return found


def slow_apart(episode, context, needed):
    mine, theirs = rows(episode), rows(context)
    distances = [
        np.abs(a / a.sum() - b / b.sum()).sum()
        for a, b in zip(mine, theirs, strict=True)
        if min(a.sum(), b.sum()) >= needed
    ]
    return max(distances) if distances else None


def slow_place(episode, contexts, needed, threshold):
    distances = [slow_apart(episode, context, needed) for context in contexts]
    for number, distance in enumerate(distances):
        if distance is not None and distance < threshold:
            return number, False
    return -1, None in distances


def slow_ln_likelihood(episode, context):
    total, known = 0.0, rows(context)
    for pair, successor, times in episode:
        n = known[pair].sum()
        share = known[pair, successor] / n if n else 0.0
        total += times * math.log(max(share, 1.0 / (n + STATES)))
    return total


@settings(deadline=None)
@given(visits, visits, st.integers(1, 12))
def test_distances_are_those_of_the_slow_twin(episode, context, needed):
    fast, slow = apart(table(episode), table(context), needed), slow_apart(episode, context, needed)
    assert (fast is None) == (slow is None)
    assert slow is None or fast == pytest.approx(slow)


@settings(deadline=None)
@given(visits, st.lists(visits, max_size=4), st.integers(1, 6), st.floats(0.05, 1.95))
def test_episodes_are_placed_as_by_the_slow_twin(episode, contexts, needed, threshold):
    assert place(table(episode), [table(one) for one in contexts], needed, threshold) == slow_place(
        episode, contexts, needed, threshold
    )


@settings(deadline=None)
@given(visits, visits)
def test_likelihoods_are_those_of_the_slow_twin(episode, context):
    assert ln_likelihood(table(episode), table(context), STATES) == pytest.approx(slow_ln_likelihood(episode, context))


def test_a_distance_of_just_the_threshold_is_too_far():
    episode, context = table([(0, 0, 4)]), table([(0, 0, 3), (0, 1, 1)])
    assert apart(episode, context, 4) == 0.5
    assert place(episode, [context], 4, 0.5) == Placed(-1, False)
    assert place(episode, [context], 4, 0.51) == Placed(0, False)


def test_who_joins_is_sure_and_who_could_not_be_compared_is_not():
    episode, like, other, elsewhere = ([(0, 0, 9)], [(0, 0, 8)], [(0, 1, 8)], [(1, 0, 8)])
    for contexts, expected in (
        ([], (-1, False)),
        ([like], (0, False)),
        ([other], (-1, False)),
        ([elsewhere], (-1, True)),
        ([elsewhere, other], (-1, True)),
        ([elsewhere, other, like, like], (2, False)),
    ):
        assert place(table(episode), [table(one) for one in contexts], 8, 0.5) == expected
    assert place(table(episode), [table(like)], 9, 0.5) == (-1, True)


def test_the_floor_is_one_in_visits_and_states():
    context = table([(0, 0, 7)])
    assert ln_likelihood(table([(0, 1, 2)]), context, STATES) == pytest.approx(2 * math.log(1 / 10))
    assert ln_likelihood(table([(1, 1, 1)]), context, STATES) == pytest.approx(math.log(1 / 3))
    assert ln_likelihood(table([(0, 0, 5)]), context, STATES) == 0.0
    assert ln_likelihood(table([]), table([]), STATES) == 0.0

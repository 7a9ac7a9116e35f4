import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.geometry.separation import distances
from strategies import dense_worlds, ending_sets, outcomes


@settings(deadline=None)
@given(dense_worlds(max_states=6), st.integers(0, 2**32 - 1))
def test_distances_and_separation_equal_slow_twin(world, seed):
    transitions, rewards = world
    rng = np.random.default_rng(seed)
    tables = [transitions]
    for _ in range(2):
        other = transitions.copy()
        s, a = rng.integers(0, rewards.shape[0]), rng.integers(0, rewards.shape[1])
        other[s, a] = rng.dirichlet(np.ones(len(other)))
        tables.append(other)
    models = ao.ModelSet([ao.MDP(t, rewards) for t in tables])
    slow = np.array([[np.abs(a - b).sum(axis=2) for b in tables] for a in tables])
    np.testing.assert_allclose(models.distances(), slow, atol=1e-14)
    smallest = min(slow[i, j].max() for i in range(3) for j in range(i))
    assert models.separation() == pytest.approx(smallest, abs=1e-14)
    for level in (0.0, 0.3):
        found = models.distinguishing_pairs(0, 1, level)
        assert found == [tuple(map(int, p)) for p in np.argwhere(models.distances()[0, 1] > level)]


def test_hundred_thousand_states():
    models = ao.worlds.random_models(100_000, 2, 3, 4, 0.9, rng=0)
    assert models.separation() == pytest.approx(0.9, abs=1e-9)
    assert len(models.distinguishing_set()) <= 3


def slow_distance(one, two, s, a):
    """Of what is seen after a pair: the successor, and whether the episode ended."""
    p, q = outcomes(one, s, a), outcomes(two, s, a)
    return sum(abs(p.get(o, 0.0) - q.get(o, 0.0)) for o in {*p, *q}) if p and q else 0.0


@settings(deadline=None, max_examples=60)
@given(ending_sets(), st.sampled_from([0.0, 0.3, 1.0]))
def test_worlds_whose_episodes_end_are_as_far_apart_as_in_the_slow_twin(models, level):
    n_states, n_actions = models.n_states, models.n_actions
    slow = np.array(
        [
            [[[slow_distance(one, two, s, a) for a in range(n_actions)] for s in range(n_states)] for two in models]
            for one in models
        ]
    )
    np.testing.assert_allclose(models.distances(), slow, atol=1e-14)
    apart = [slow[i, j].max() for i in range(len(models)) for j in range(i)]
    assert models.separation() == pytest.approx(min(apart), abs=1e-14)
    found = models.distances()
    assert models.distinguishing_pairs(1, 0, level) == [tuple(p) for p in np.argwhere(found[1, 0] > level).tolist()]
    if min(apart) > level + 1e-9:
        chosen = models.distinguishing_set(level)
        assert models.is_distinguishing(chosen, level)
        for i in range(len(models)):
            for j in range(i):
                assert max(slow[i, j][pair] for pair in chosen) > level
    elif min(apart) < level - 1e-9 or min(apart) == level == 0.0:
        with pytest.raises(ValueError, match="differ nowhere by more than"):
            models.distinguishing_set(level)


def test_one_arrival_tells_a_world_that_ends_there_from_one_that_does_not():
    """Equal rows; state 1 is terminal in one world: both ways into it tell, what is done in it does not."""
    rows, rewards = np.array([[[0.5, 0.5, 0.0]], [[0.5, 0.0, 0.5]], [[0.75, 0.25, 0.0]]]), np.zeros((3, 1))
    models = ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(rows, rewards, terminal=[1])])
    assert models.distances()[0, 1].ravel().tolist() == [1.0, 0.0, 0.5]
    assert models.separation() == 1.0
    assert models.distinguishing_set() == [(0, 0)]
    assert models.distinguishing_pairs(0, 1, 0.0) == [(0, 0), (2, 0)]
    assert not models.is_distinguishing([(1, 0)], 0.0)


def test_masks_without_a_terminal_state_change_no_bit():
    one, two = ao.worlds.random_models(50, 3, 2, 4, 0.9, rng=1)
    before = distances(one.successors, two.successors)
    assert (distances(one.successors, two.successors, np.zeros(50, bool), one.ends) == before).all()
    assert (distances(one.successors, two.successors, one.terminal, two.terminal) == before).all()


@given(ending_sets())
@settings(max_examples=60, deadline=None)
def test_the_separation_everywhere_is_the_least_distance_where_anybody_acts(models):
    apart, found = models.distances(), []
    for i in range(len(models)):
        for j in range(i):
            acts = ~(models[i].terminal | models[j].terminal)
            found += apart[i, j][acts].ravel().tolist()
    assert models.separation_everywhere() == min(found, default=math.inf)

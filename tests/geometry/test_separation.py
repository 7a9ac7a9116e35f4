import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from strategies import dense_worlds


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

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao


@settings(deadline=None, max_examples=150)
@given(
    st.integers(2, 20),
    st.integers(1, 4),
    st.integers(2, 6),
    st.floats(1e-6, 1.999),
    st.floats(0.05, 1.0),
    st.data(),
)
def test_separation_is_exact_and_worlds_communicate(states, actions, models, separation, differing, data):
    successors = data.draw(st.integers(2, states))
    digits = int(np.ceil(np.log(models) / np.log(successors) - 1e-9))
    if digits > states * actions:
        return
    made = ao.worlds.random_models(states, actions, models, successors, separation, 7, differing=differing)
    assert (len(made), made.n_states, made.n_actions) == (models, states, actions)
    assert made.separation() == pytest.approx(separation, abs=1e-9)
    for world in made:
        assert world.is_communicating()
        assert (np.diff(world.successors.starts) == successors).all()


def test_share_of_differing_pairs():
    models = ao.worlds.random_models(200, 5, 3, 4, 0.5, 1, differing=0.1)
    share = (models.distances()[0, 1] > 0).mean()
    assert 0.06 < share < 0.14
    everywhere = ao.worlds.random_models(200, 5, 3, 4, 0.5, 1)
    assert (everywhere.distances()[0, 1] > 0).all()


def test_reproducible():
    one, same, other = (ao.worlds.random_models(rng=rng) for rng in (3, np.random.default_rng(3), 4))
    assert all(np.array_equal(a.transitions, b.transitions) for a, b in zip(one, same, strict=True))
    assert np.array_equal(one.rewards, same.rewards)
    assert not np.array_equal(one[0].transitions, other[0].transitions)


def test_supports_spread_over_all_states():
    """Every state is a successor about equally often, save for the cycle; 6 standard deviations."""
    world = ao.worlds.random_models(50, 4, 1, 3, rng=5)[0]
    entered = np.bincount(world.successors.states, minlength=50)
    assert abs(entered - 12).max() < 6 * np.sqrt(12)


@pytest.mark.parametrize(("states", "seconds"), [(20_000, 4.0), pytest.param(100_000, 20.0, marks=pytest.mark.long)])
def test_many_states_in_seconds(states, seconds):
    begin = time.process_time()
    models = ao.worlds.random_models(states, 4, 10, 5, 0.8, rng=0)
    assert models.separation() == pytest.approx(0.8, abs=1e-9)
    assert models[9].is_communicating()
    assert models[0].optimal_values(3).shape == (4, states)
    assert time.process_time() - begin < seconds


def test_a_single_world_may_be_deterministic():
    world = ao.worlds.random_models(9, 2, 1, 1)[0]
    assert world.is_communicating()
    assert set(world.successors.probs) == {1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": 1}, "states must be at least 2, not 1"),
        ({"successors": 1}, "successors must be between 2 and 16, not 1"),
        ({"successors": 17}, "successors must be between 2 and 16, not 17"),
        ({"separation": 2.0}, "separation must be below 2, not 2"),
        ({"separation": float("nan")}, "separation must be finite, not nan"),
        ({"differing": 0.0}, "differing must be above 0, not 0"),
        ({"concentration": -1.0}, "concentration must be above 0, not -1"),
        (
            {"states": 2, "actions": 1, "models": 9, "successors": 2, "separation": 1.9},
            "9 worlds need 4 pairs to differ at, but there are 2",
        ),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.random_models(**arguments)

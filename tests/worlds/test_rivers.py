import numpy as np
import pytest

import aomultirl as ao
from aomultirl.worlds.rivers import AHEAD, SMALL, STAY


def test_worlds_differ_at_the_spring_alone():
    worlds = ao.worlds.rivers(states=6, models=3, separation=1.2)
    distances = worlds.distances()
    elsewhere = np.ones((6, 2), bool)
    elsewhere[5, 1] = False
    assert np.all(distances[:, :, elsewhere] == 0.0)
    np.testing.assert_allclose(distances[0, :, 5, 1], [0.0, 0.6, 1.2])
    assert all(world.is_communicating() for world in worlds)


def test_rows_by_hand():
    first, last = ao.worlds.rivers(states=3, separation=1.0)
    table = first.transitions
    np.testing.assert_allclose(table[0, 1], [1.0 - AHEAD, AHEAD, 0.0])
    np.testing.assert_allclose(table[1, 1], [1.0 - AHEAD - STAY, STAY, AHEAD])
    np.testing.assert_allclose(table[:, 0], [[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(table[2, 1], [0.25, 0.0, 0.75])
    np.testing.assert_allclose(last.transitions[2, 1], [0.75, 0.0, 0.25])
    assert first.rewards.tolist() == [[SMALL, 0.0], [0.0, 0.0], [0.0, 1.0]]


def test_the_spring_is_hard_to_reach_at_random_and_near_for_who_plans():
    worlds = ao.worlds.rivers(states=10, separation=1.5)
    assert worlds[0].diameter() < 3.0 * 10
    visited = ao.run(ao.agents.Random(5_000), worlds, ao.streams.uniform(), episodes=20).reward
    assert np.median(visited) < SMALL * 5_000  # drifting at the mouth would earn that


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": 2}, "states must be at least 3, not 2"),
        ({"models": 1}, "models must be at least 2, not 1"),
        ({"separation": 2.0}, "separation must be"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.rivers(**arguments)

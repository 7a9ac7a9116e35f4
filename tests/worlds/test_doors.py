import numpy as np
import pytest

import aomultirl as ao


def test_the_sign_names_the_door_and_the_hall_forgets_it():
    models = ao.worlds.doors(3, 0.8)
    entrance, hall, treasure, out = 0, 4, 5, 6
    for right, world in enumerate(models):
        signs = world.transitions[entrance, 0, 1:4]
        assert signs[right] == pytest.approx(0.8)
        assert np.delete(signs, right) == pytest.approx([0.1, 0.1])
        assert (world.transitions[1:4, :, hall] == 1.0).all()
        assert [int(row.argmax()) for row in world.transitions[hall]] == [
            treasure if door == right else out for door in range(3)
        ]
        assert np.flatnonzero(world.terminal).tolist() == [out]
        assert world.first_values(4)[0] == 1.0
        assert world.first_values(3)[0] == 0.0


def test_chance_opens_the_right_door_once_in_m():
    world = ao.worlds.doors(4)[2]
    assert world.policy_values(np.full((8, 4), 0.25), 10)[0, 0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 1}, "models must be between 2 and 200, not 1"),
        ({"sign": 0.2}, "sign must be at least 0.25, not 0.2"),
        ({"sign": 1.1}, "sign must be at most 1, not 1.1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.doors(**arguments)

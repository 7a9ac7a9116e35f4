import numpy as np
import pytest

import aomultirl as ao


@pytest.mark.parametrize("separation", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("communicating", [False, True])
def test_only_one_pair_differs(separation, communicating):
    first, second = models = ao.worlds.entropy_pair(separation, communicating)
    assert models.separation() == pytest.approx(separation)
    assert models.distinguishing_set() == [(0, 0)]
    assert np.argwhere(first.transitions != second.transitions).tolist() == [[0, 0, 1], [0, 0, 2]]
    assert [world.is_communicating() for world in models] == [communicating] * 2


def test_blind_policy_has_the_same_values_in_both():
    first, second = ao.worlds.entropy_pair()
    blind = np.array([1, 0, 0])
    assert np.array_equal(first.policy_values(blind, 20), second.policy_values(blind, 20))
    seeing = np.array([0, 0, 0])
    assert not np.array_equal(first.policy_values(seeing, 20), second.policy_values(seeing, 20))


def test_bad_input():
    with pytest.raises(ValueError, match="separation must be below 1, not 1"):
        ao.worlds.entropy_pair(1.0)

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.worlds.rare_pair import LIKELY


@pytest.mark.parametrize("seed", range(3))
def test_worlds_differ_at_the_rare_pair_alone(seed):
    models = ao.worlds.rare_pair(seed=seed)
    gate = 26
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert np.argwhere(models.distances()[i, j] > 0).tolist() == [[gate, 0]]
    for world, likely in zip(models, (27, 28, 29), strict=True):
        assert world.is_communicating()
        assert world.transitions[gate, 0, likely] == pytest.approx(LIKELY)


def test_one_pair_leads_to_the_gate_so_chance_hardly_ever_does():
    world = ao.worlds.rare_pair()[0]
    assert (world.transitions[:, :, 26] > 0).sum() == 1
    chain = world.transitions.mean(axis=1)
    share = np.linalg.matrix_power(chain, 5000)[0]
    assert share[26] / 4 < 0.002


def test_the_pair_matters():
    first, second, _ = models = ao.worlds.rare_pair()
    assert first.first_values(500)[0] > 1.3 * second.first_values(500)[0]
    astray = first.optimal_policy(500)
    assert second.policy_values(astray)[0, 0] < 0.8 * second.first_values(500)[0]
    assert len(models) == 3


def test_the_smallest_world():
    assert ao.worlds.rare_pair(2, states=6, actions=2, successors=2)[1].is_communicating()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 4}, "models must be between 2 and 3, not 4"),
        ({"states": 5}, "states must be between 6 and 2000, not 5"),
        ({"actions": 1}, "actions must be between 2 and 100, not 1"),
        ({"successors": 27}, "successors must be between 1 and 26, not 27"),
        ({"ordinary": 1.5}, "ordinary must be at most 1, not 1.5"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.rare_pair(**arguments)

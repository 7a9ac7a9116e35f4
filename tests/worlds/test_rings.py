import numpy as np
import pytest

import aomultirl as ao


@pytest.mark.parametrize("separation", [0.5, 1.0, 1.9])
@pytest.mark.parametrize("models", [2, 4, 8])
def test_worlds_differ_by_lambda_wherever_they_disagree(models, separation):
    worlds = ao.worlds.rings(models=models, separation=separation, seed=3)
    distances = worlds.distances()
    assert np.all(np.isclose(distances, 0.0) | np.isclose(distances, separation))
    assert worlds.separation() == pytest.approx(separation)
    assert all(world.is_communicating() for world in worlds)


@pytest.mark.parametrize("seed", range(3))
def test_what_all_worlds_show_together_is_the_same_for_both_actions(seed):
    together = np.mean([world.transitions for world in ao.worlds.rings(seed=seed)], axis=0)
    np.testing.assert_allclose(together[:, 0], together[:, 1])


def test_best_policies_differ_and_one_for_all_worlds_earns_little():
    worlds = ao.worlds.rings(states=9, separation=1.2)
    policies = [world.optimal_policy(100) for world in worlds]
    for i, world in enumerate(worlds):
        best = world.first_values(100)[0]
        others = [world.policy_values(policy)[0, 0] for j, policy in enumerate(policies) if j != i]
        assert np.mean(others) < 0.6 * best


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 3}, "models is 3, and must be even"),
        ({"models": 200, "states": 3}, "models is 200, too many for 3 states"),
        ({"states": 2}, "states must be at least 3, not 2"),
        ({"separation": 2.0}, "separation must be"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.rings(**arguments)

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


def test_a_ring_that_drifts_goes_to_the_opposite_in_equal_steps():
    worlds = ao.worlds.drifting_rings(models=5, separation=0.8)
    distances = worlds.distances().max(axis=(2, 3))
    np.testing.assert_allclose(np.diag(distances, 1), 0.2)
    assert distances[0, 4] == pytest.approx(0.8)
    np.testing.assert_allclose(worlds[0].transitions[:, 0], worlds[4].transitions[:, 1])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (ao.worlds.rings, {"models": 3}, "models is 3, and must be even"),
        (ao.worlds.rings, {"models": 200, "states": 3}, "models is 200, too many for 3 states"),
        (ao.worlds.rings, {"states": 2}, "states must be at least 3, not 2"),
        (ao.worlds.rings, {"separation": 2.0}, "separation must be"),
        (ao.worlds.drifting_rings, {"models": 1}, "models must be at least 2, not 1"),
    ],
)
def test_what_cannot_be_made_is_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)

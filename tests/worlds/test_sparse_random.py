import numpy as np
import pytest

import aomultirl as ao


@pytest.mark.parametrize(("states", "paying"), [(20, 3), (40, 5), (7, 1)])
def test_one_state_in_eight_pays(states, paying):
    models = ao.worlds.sparse_random(states)
    assert sorted(set(models.rewards.ravel())) == [0.0, 1.0]
    assert (models.rewards.min(axis=1) == 1.0).sum() == paying
    assert (models.rewards == models.rewards[:, :1]).all()


def test_worlds_share_their_successors_and_nothing_else():
    models = ao.worlds.sparse_random(seed=2)
    assert all(np.array_equal(world.successors.states, models[0].successors.states) for world in models)
    assert all(world.is_communicating() for world in models)
    assert (models.distances()[0, 1] > 0).all()


@pytest.mark.parametrize(("horizon", "share"), [(10, 0.92), (30, 0.97), (100, 0.99)])
def test_whoever_knows_the_worlds_earns_what_the_docstring_says(horizon, share):
    """The mean over ten sets, of which each is sampled with an error of half a point."""
    shares = [ao.theory.qmdp_reward(ao.worlds.sparse_random(seed=seed), horizon, 1000).share for seed in range(10)]
    assert np.mean(shares) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": 1}, "states must be at least 2, not 1"),
        ({"successors": 1}, "successors must be between 2 and 20, not 1"),
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"states": 10**12}, "states is 1000000000000: making 4 worlds with 4 actions and 3 successors takes"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.sparse_random(**arguments)

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.worlds.bandits import means_of

MEANS = [[0.9, 0.5, 0.0], [0.1, 1.0, 0.7]]


def test_arms_lead_to_being_paid_from_either_state():
    models = ao.worlds.bandits(MEANS)
    for world, means in zip(models, MEANS, strict=True):
        for state in range(2):
            assert world.transitions[state, :, 1] == pytest.approx(np.array(means))
        assert world.start == 0
        assert world.rewards.tolist() == [[0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize("pulls", [1, 2, 50])
def test_the_optimum_is_the_best_arm_for_all_pulls_but_the_last(pulls):
    for world, means in zip(ao.worlds.bandits(MEANS), MEANS, strict=True):
        assert world.first_values(pulls)[0] == pytest.approx((pulls - 1) * max(means))
        assert (world.optimal_policy(pulls)[:-1] == np.argmax(means)).all()


def test_drawn_means_and_where_they_come_from():
    models = ao.worlds.bandits(models=4, arms=6, seed=3)
    assert (len(models), models.n_actions) == (4, 6)
    assert np.linalg.matrix_rank(means_of(models)) == 4
    assert models.origin == {"name": "bandits", "parameters": {"means": None, "models": 4, "arms": 6, "seed": 3}}
    assert ao.worlds.bandits(np.array(MEANS)).origin["parameters"]["means"] == MEANS
    assert not np.array_equal(means_of(ao.worlds.bandits(seed=1)), means_of(ao.worlds.bandits(seed=2)))


def test_means_can_be_read_off_bandits_alone():
    assert means_of(ao.worlds.bandits(MEANS)) == pytest.approx(np.array(MEANS))
    assert means_of(ao.worlds.gridworld()) is None
    assert means_of(ao.worlds.jao(3)) is None
    world = ao.worlds.bandits(MEANS)[0]
    assert means_of(ao.ModelSet([ao.MDP(world.successors, world.rewards, terminal=[1])])) is None
    rows = world.transitions
    rows[1, 0] = [0.5, 0.5]
    assert means_of(ao.ModelSet([ao.MDP(rows, world.rewards)])) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": [0.5, 0.1]}, r"means must have shape \(M, K\), a row for every model, not \(2,\)"),
        ({"means": [[0.5, 1.1]]}, r"means\[0, 1\] is 1.1, outside \[0, 1\]"),
        ({"means": [[]]}, r"means must have shape \(M, K\)"),
        ({"means": np.zeros((1, 10_001))}, "means has 10,001 arms; at most 10,000 can be"),
        ({"models": 0}, "models must be between 1 and 10000, not 0"),
        ({"arms": 0}, "arms must be between 1 and 10000, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.bandits(**arguments)

import numpy as np
import pytest
from gymnasium.envs.toy_text.taxi import TaxiEnv

import aomultirl as ao
from aomultirl.worlds.swapped_taxis import ORDERS, REWARD_RANGE

LOW, HIGH = REWARD_RANGE


def test_worlds_are_gymnasiums_taxi_with_moves_swapped():
    plain = ao.worlds.from_gymnasium(TaxiEnv(), terminal="end", rescale=REWARD_RANGE)[0]
    models = ao.worlds.swapped_taxis()
    for order, world in zip(ORDERS, models, strict=True):
        assert np.array_equal(world.transitions, plain.transitions[:, order])
        assert np.array_equal(world.terminal, plain.terminal)
        assert np.array_equal(world.rewards, plain.rewards)


def test_a_passenger_is_worth_what_gymnasium_pays_at_best():
    world = ao.worlds.swapped_taxis()[3]
    best = float(world.start_distribution @ world.first_values(200))
    assert (HIGH - LOW) * best + 200 * LOW == pytest.approx(7.93, abs=0.01)


def test_restarting_taxis_are_communicating():
    assert ao.worlds.swapped_taxis(2, terminal="restart")[1].is_communicating()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 5}, "models must be between 1 and 4, not 5"),
        ({"terminal": "absorb"}, "terminal must be one of 'end', 'restart', not 'absorb'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.swapped_taxis(**arguments)

import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv, is_valid

import aomultirl as ao
from aomultirl.worlds.frozen_lakes import random_maps


def test_each_world_is_gymnasiums_lake_on_a_map_of_its_own():
    maps = random_maps(4, 8, 0.85, seed=3)
    assert len({"".join(rows) for rows in maps}) == 4
    models = ao.worlds.frozen_lakes(4, seed=3, slippery=True)
    for rows, world in zip(maps, models, strict=True):
        assert is_valid([list(row) for row in rows], 8)
        letters = np.array(list("".join(rows)))
        assert np.array_equal(world.terminal, np.isin(letters, ["H", "G"]))
        table = FrozenLakeEnv(desc=rows, is_slippery=True).P
        for state in np.flatnonzero(~world.terminal):
            for action in range(4):
                row, reward = np.zeros(64), 0.0
                for chance, successor, gain, _ in table[state][action]:
                    row[successor] += chance
                    reward += chance * gain
                assert world.transitions[state, action] == pytest.approx(row)
                assert models.rewards[state, action] == pytest.approx(reward)


def test_more_models_only_add_maps():
    few, many = random_maps(2, 8, 0.85, seed=5), random_maps(5, 8, 0.85, seed=5)
    assert many[:2] == few


def test_one_life_earns_at_most_one_and_restarting_earns_on():
    life, lives = (ao.worlds.frozen_lakes(seed=1, terminal=terminal) for terminal in ("end", "restart"))
    assert [world.first_values(100)[0] for world in life] == [1.0, 1.0, 1.0]
    assert all(world.is_communicating() for world in lives[:1])
    assert min(world.first_values(100)[0] for world in lives) >= 6.0
    assert not lives[0].terminal.any()


def test_a_cell_next_to_the_goal_may_be_a_hole_in_one_world_only():
    """Seed 9 has such a set; the rewards are shared all the same, whatever episodes do at their end."""
    corners = [rows[-1][-2] + rows[-2][-1] for rows in random_maps(6, 4, 0.7, seed=9)]
    assert len(set(corners)) > 1
    for terminal in ("end", "restart"):
        assert len(ao.worlds.frozen_lakes(6, 4, frozen=0.7, seed=9, terminal=terminal)) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 0}, "models must be between 1 and 100, not 0"),
        ({"size": 2}, "size must be between 3 and 32, not 2"),
        ({"frozen": 0.3}, "frozen must be at least 0.65, not 0.3"),
        ({"frozen": 1.0}, "frozen must be below 1, not 1"),
        ({"slippery": 1}, "slippery must be True or False, not 1"),
        ({"terminal": "absorb"}, "terminal must be one of 'end', 'restart', not 'absorb'"),
        ({"frozen": 0.9999999, "size": 3}, "models is 3, but 60 draws gave 1 different maps of 3 x 3 cells, 1 of them"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.frozen_lakes(**arguments)

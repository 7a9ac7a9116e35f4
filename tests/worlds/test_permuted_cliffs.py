import numpy as np
import pytest
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv

import aomultirl as ao
from aomultirl.worlds.permuted_cliffs import REWARD_RANGE

LOW, HIGH = REWARD_RANGE


def in_own_units(rewards):
    return LOW + (HIGH - LOW) * rewards


def walk(world, actions):
    """What a walk earns in the environment's units, and where it ends; falls take a step of their own."""
    state, earned = 36, 0.0
    for action in actions:
        earned += in_own_units(world.rewards[state, action])
        state = int(world.transitions[state, action].argmax())
        if state in range(37, 47):
            earned += in_own_units(world.rewards[state, 0])
            state = int(world.transitions[state, 0].argmax())
    return earned, state


def test_the_first_world_earns_what_gymnasium_pays():
    """Two hundred random walks of thirty steps, or until the goal."""
    env, world = CliffWalkingEnv(), ao.worlds.permuted_cliffs()[0]
    rng = np.random.default_rng(0)
    for _ in range(200):
        state, _ = env.reset(seed=0)
        actions, earned, over = [], 0.0, False
        while len(actions) < 30 and not over:
            actions.append(int(rng.choice(4, p=[0.3, 0.4, 0.2, 0.1])))
            state, reward, over, *_ = env.step(actions[-1])
            earned += reward
        assert walk(world, actions) == (pytest.approx(earned), state)


def test_the_others_are_the_same_but_for_the_order_of_actions():
    models = ao.worlds.permuted_cliffs(6, seed=4)
    orders = set()
    for world in models:
        moves = {tuple(int(s) for s in world.transitions[state].argmax(axis=1)) for state in (13,)}
        orders |= moves
        assert {*next(iter(moves))} == {1, 12, 14, 25}
        best = world.first_values(100)[36]
        assert 100 * best - 100 * 100 == pytest.approx(-13.0)
    assert len(orders) == 6


def test_no_action_goes_up_in_one_world_and_into_the_cliff_in_another():
    for seed in range(20):
        reached = [world.transitions[36].argmax(axis=1) for world in ao.worlds.permuted_cliffs(4, seed)]
        upwards = {int(np.flatnonzero(row == 24)[0]) for row in reached}
        falls = {int(np.flatnonzero(row == 37)[0]) for row in reached}
        assert not upwards & falls


def test_walks_restart():
    world = ao.worlds.permuted_cliffs(terminal="restart")[1]
    assert world.transitions[47, :, 36].tolist() == [1.0] * 4
    assert not world.terminal.any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 7}, "models must be between 1 and 6, not 7"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"terminal": "absorb"}, "terminal must be one of 'end', 'restart', not 'absorb'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.permuted_cliffs(**arguments)

import numpy as np
import pytest
from hypothesis import assume, given, settings

import aomultirl as ao
from aomultirl import theory
from strategies import deterministic_policies, worlds


def average_reward(chain, rewards):
    """Of a chain, from each state: the limit of the lazy chain's powers, by squaring."""
    lazy = (chain + np.eye(len(chain))) / 2.0
    for _ in range(60):
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return lazy @ rewards


@settings(deadline=None, max_examples=60)
@given(worlds(max_states=4))
def test_the_gain_is_that_of_the_best_policy_and_the_bias_solves_its_equation(world):
    assume(world.is_communicating())
    found = theory.optimal_gain(world, 1e-10)
    states = np.arange(world.n_states)
    every = [
        average_reward(world.transitions[states, policy], world.rewards[states, policy]).max()
        for policy in deterministic_policies(world.n_states, world.n_actions)
    ]
    assert found.gain == pytest.approx(max(every), abs=1e-8)
    best = (world.rewards + world.transitions @ found.bias).max(axis=1)
    assert best - found.bias == pytest.approx(found.gain, abs=1e-8)
    assert found.bias.min() == 0.0


@pytest.mark.parametrize(("diameter", "separation"), [(40, 0.1), (4000, 0.001), (8, 0.8)])
def test_jao_worlds_have_a_closed_form(diameter, separation):
    """rho* = (delta + lambda/2) / (2 delta + lambda/2), and the bias of state 1 is 1 / (2 delta + lambda/2)."""
    delta, bias = 4 / diameter, separation / 2
    found = theory.optimal_gain(ao.worlds.jao(3, diameter, separation)[1])
    assert found.gain == pytest.approx((delta + bias) / (2 * delta + bias), abs=1e-9)
    assert found.bias == pytest.approx([0.0, 1 / (2 * delta + bias)], rel=1e-5)


def test_a_world_that_goes_round_in_a_circle_has_a_gain():
    world = ao.MDP([[{(s + 1) % 5: 1.0}] for s in range(5)], [[1.0], [0.0], [0.0], [0.0], [0.0]])
    assert theory.optimal_gain(world).gain == pytest.approx(0.2, abs=1e-9)


def test_long_run_values_grow_with_the_gain():
    world = ao.worlds.gridworld()[0]
    gain, bias = theory.optimal_gain(world)
    values = world.first_values(5000)
    assert values - values.min() == pytest.approx(bias, abs=1e-6)
    assert world.first_values(5001) - values == pytest.approx(gain, abs=1e-9)


def test_span():
    assert theory.span([3.0, 1.0, 2.0]) == 2.0
    assert theory.span([[3.0, 1.0], [5.0, 0.5], [1.0, 1.0]]) == 4.5


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: theory.optimal_gain(ao.worlds.two_jao_noncommunicating()[0]), "the world is not communicating"),
        (lambda: theory.optimal_gain(ao.worlds.jao()[0], 0.0), "tolerance must be above 0, not 0"),
        (lambda: theory.optimal_gain(ao.worlds.jao(2, 4e7, 1e-9)[0], 1e-16), "tolerance = 1e-16 is too small"),
        (lambda: theory.span([1.0, np.nan]), r"values\[1\] is nan"),
    ],
)
def test_bad_input(call, told):
    with pytest.raises(ValueError, match=told):
        call()

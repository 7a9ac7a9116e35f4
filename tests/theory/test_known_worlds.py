"""Planners that know the worlds, against expectations over every history of tiny worlds."""

import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from strategies import ending_sets
from told_nothing import deterministic_sets, slow_planner, slow_value


@given(deterministic_sets(), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_optimum_is_that_over_all_histories(models, horizon):
    planned = ao.theory.told_nothing_optimum(models, horizon)
    assert planned.reward == pytest.approx(slow_value(models, horizon, None), abs=1e-12)
    assert planned.error == 0.0
    best = np.mean([world.first_values(horizon)[0] for world in models])
    assert planned.optimum == pytest.approx(best)
    assert planned.reward <= best + 1e-12


@given(ending_sets(max_states=3), st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_planners_earn_what_they_do_over_all_histories(models, horizon, seed):
    """Six standard errors: a false alarm in 10^7 examples; ties are told apart by rounding in both alike."""
    optimum = np.mean([world.first_values(horizon)[0] for world in models])
    for planner, is_qmdp in ((ao.theory.qmdp_reward, True), (ao.theory.likeliest_world_reward, False)):
        planned = planner(models, horizon, 3000, seed)
        exact = slow_value(models, horizon, slow_planner(models, horizon, is_qmdp))
        assert planned.reward == pytest.approx(exact, abs=6 * planned.error + 0.02)
        assert planned.optimum == pytest.approx(optimum)


def test_qmdp_cannot_decide_where_the_likeliest_world_goes_and_sees():
    """On the grid of 12 x 12 cells QMDP stays where it is about equally far from all corners."""
    models = ao.worlds.gridworld(12)
    assert ao.theory.qmdp_reward(models, 500, 80).share < 0.7
    assert ao.theory.likeliest_world_reward(models, 500, 80).share > 0.9


def test_the_sign_of_the_doors_is_worth_what_it_says():
    """Four standard errors of 20,000 episodes are 0.8 %."""
    assert ao.theory.qmdp_reward(ao.worlds.doors(sign=0.9), 10, 20_000).share == pytest.approx(0.9, abs=0.009)
    assert ao.theory.told_nothing_optimum(ao.worlds.doors(sign=1.0), 10).share == 1.0


def test_starts_are_evidence_and_are_drawn():
    """Two worlds that start in different states need not be told apart; one state pays three times the other."""
    rows = [[{2: 1.0}, {2: 1.0}], [{2: 1.0}, {2: 1.0}], [{2: 1.0}, {2: 1.0}]]
    rewards = [[0.9, 0.0], [0.0, 0.3], [0.0, 0.0]]
    models = ao.ModelSet([ao.MDP(rows, rewards, start=0), ao.MDP(rows, rewards, start=[0.0, 1.0, 0.0])])
    assert ao.theory.qmdp_reward(models, 1, 10).reward == pytest.approx(0.6)
    with pytest.raises(ValueError, match="models has a world 1 that starts otherwise than world 0"):
        ao.theory.told_nothing_optimum(models, 3)
    mixed = ao.ModelSet([ao.MDP(rows, rewards, start=[0.5, 0.5, 0.0])])
    assert ao.theory.told_nothing_optimum(mixed, 3).reward == pytest.approx(0.6)
    assert ao.theory.qmdp_reward(mixed, 3, 4000).reward == pytest.approx(0.6, abs=0.02)


def test_lakes_without_a_safe_way_in_common_have_a_ceiling():
    """Two lakes of 3 x 3 cells whose holes leave one way each, and not the same one: half of the lives are lost."""
    open_below, open_above = ["SHF", "FHF", "FFG"], ["SFF", "HHF", "FFG"]
    lakes = [FrozenLakeEnv(desc=rows, is_slippery=False) for rows in (open_below, open_above)]
    models = ao.worlds.from_gymnasium(lakes, terminal="end")
    assert ao.theory.told_nothing_optimum(models, 20).share == 0.5
    assert ao.theory.qmdp_reward(models, 20, 10).share == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ao.theory.told_nothing_optimum(ao.worlds.doors(), 5),
            "models has a world 0 that is not determinist",
        ),
        (lambda: ao.theory.told_nothing_optimum(ao.worlds.doors(sign=1.0), 0), "horizon must be at least 1, not 0"),
        (lambda: ao.theory.told_nothing_optimum("lakes", 5), "models is 'lakes', not a ModelSet"),
        (lambda: ao.theory.qmdp_reward(ao.worlds.doors(), 5, 0), "episodes must be at least 1, not 0"),
        (lambda: ao.theory.qmdp_reward(ao.worlds.doors(), 5, 10**12), "episodes is 1000000000000: the rewards of so"),
        (lambda: ao.theory.qmdp_reward(ao.worlds.doors(), 10**12), "horizon is 1000000000000: a table of all worlds"),
        (lambda: ao.theory.qmdp_reward(ao.worlds.doors(), 5, seed=-1), "seed must be at least 0, not -1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine import planning
from strategies import dense_worlds


def slow_plan(transitions, gains, horizon, caps):
    """The recursion as printed, one number after the other."""
    n_states, n_actions, _ = transitions.shape
    values = np.zeros((horizon + 1, n_states))
    policy = np.zeros((horizon, n_states), int)
    for h in reversed(range(horizon)):
        for s in range(n_states):
            q = []
            for a in range(n_actions):
                total = 0.0
                for t in range(n_states):
                    if transitions[s, a, t] > 0.0:
                        total += transitions[s, a, t] * values[h + 1, t]
                q.append(min(caps[h], gains[s, a] + total))
            policy[h, s] = int(np.argmax(q))
            values[h, s] = max(q)
    return values, policy


def slow_values(transitions, rewards, policy, horizon):
    """policy: probabilities (H, S, A)."""
    values = np.zeros((horizon + 1, len(rewards)))
    for h in reversed(range(horizon)):
        q = rewards + transitions @ values[h + 1]
        values[h] = (policy[h] * q).sum(axis=1)
    return values


@settings(deadline=None)
@given(dense_worlds(max_states=6), st.integers(0, 7), st.sampled_from([None, 1.5]))
def test_backward_induction_equals_slow_twin_to_the_bit(world, horizon, cap):
    transitions, rewards = world
    caps = np.full(horizon, np.inf if cap is None else cap)
    values, policy = slow_plan(transitions, rewards, horizon, caps)
    plan = planning.backward_induction(ao.MDP(transitions, rewards).planning_tables, rewards, horizon, caps)
    assert np.array_equal(plan.values, values)
    assert np.array_equal(plan.policy[:horizon], policy)


@pytest.mark.parametrize("with_policy", [True, False])
@pytest.mark.parametrize("part", [1, 100, 1000])
def test_planning_in_parts_gives_the_same_bits(monkeypatch, part, with_policy):
    world = ao.worlds.random_models(6, 3, 1, 4)[0]
    arguments = world.planning_tables, world.gains, 25, np.linspace(1.0, 3.0, 25)
    whole = planning.backward_induction(*arguments, with_policy=with_policy)
    monkeypatch.setattr(planning, "PART", part)
    parts = planning.backward_induction(*arguments, with_policy=with_policy)
    assert np.array_equal(parts.values, whole.values)
    assert np.array_equal(parts.policy, whole.policy)


@pytest.mark.parametrize(("n_states", "n_actions"), [(32, 3), (37, 1), (70, 5), (1200, 2)])
def test_columns_give_the_same_bits_as_rows(n_states, n_actions):
    rng = np.random.default_rng(n_states)
    transitions = rng.dirichlet(np.ones(n_states), (n_states, n_actions))
    transitions[rng.random(transitions.shape) < 0.2] = 0.0
    transitions /= transitions.sum(axis=2, keepdims=True)
    rewards = rng.random((n_states, n_actions))
    tables = ao.MDP(transitions, rewards).planning_tables
    assert tables.columns.shape == (n_states, n_states * n_actions)
    by_columns = planning.backward_induction(tables, rewards, 12)
    by_rows = planning.backward_induction(tables._replace(columns=np.empty((0, 0))), rewards, 12)
    assert np.array_equal(by_columns.values, by_rows.values)
    assert np.array_equal(by_columns.policy, by_rows.policy)


@settings(deadline=None)
@given(dense_worlds(max_states=6), st.integers(1, 6))
def test_dense_sparse_and_lists_plan_the_same(world, horizon):
    transitions, rewards = world
    n_states, n_actions = rewards.shape
    sparse = sp.coo_array(transitions.reshape(n_states * n_actions, n_states))
    lists = [[[(t, p) for t, p in enumerate(row) if p > 0] for row in rows] for rows in transitions]
    expected = ao.MDP(transitions, rewards).optimal_values(horizon)
    for form in (sparse, lists, ao.MDP(transitions, rewards).successors):
        assert np.array_equal(ao.MDP(form, rewards).optimal_values(horizon), expected)


@settings(deadline=None)
@given(dense_worlds(max_states=5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_policy_values_equal_slow_twin(world, horizon, seed):
    transitions, rewards = world
    n_states, n_actions = rewards.shape
    rng = np.random.default_rng(seed)
    mdp = ao.MDP(transitions, rewards)
    mixture = rng.dirichlet(np.ones(n_actions), (horizon, n_states))
    np.testing.assert_allclose(
        mdp.policy_values(mixture), slow_values(transitions, rewards, mixture, horizon), atol=1e-12
    )
    np.testing.assert_allclose(
        mdp.policy_values(mixture[0], horizon),
        slow_values(transitions, rewards, np.repeat(mixture[:1], horizon, 0), horizon),
        atol=1e-12,
    )
    actions = rng.integers(0, n_actions, (horizon, n_states))
    certain = np.eye(n_actions)[actions]
    np.testing.assert_allclose(
        mdp.policy_values(actions), slow_values(transitions, rewards, certain, horizon), atol=1e-12
    )
    np.testing.assert_allclose(
        mdp.policy_values(actions[0], horizon),
        slow_values(transitions, rewards, np.repeat(certain[:1], horizon, 0), horizon),
        atol=1e-12,
    )


@settings(deadline=None)
@given(dense_worlds(max_states=5), st.integers(1, 8))
def test_optimal_policy_attains_the_optimal_values(world, horizon):
    mdp = ao.MDP(*world)
    np.testing.assert_allclose(mdp.policy_values(mdp.optimal_policy(horizon)), mdp.optimal_values(horizon), atol=1e-12)


@settings(deadline=None)
@given(dense_worlds(max_states=5), st.integers(0, 9))
def test_first_values_are_the_first_row(world, horizon):
    mdp = ao.MDP(*world)
    for _ in range(2):
        assert np.array_equal(mdp.first_values(horizon), mdp.optimal_values(horizon)[0])


def test_first_values_of_a_dense_world():
    rng = np.random.default_rng(0)
    mdp = ao.MDP(rng.dirichlet(np.ones(40), (40, 3)), rng.random((40, 3)))
    assert len(mdp.planning_tables.columns) == 40
    assert np.array_equal(mdp.first_values(31), mdp.optimal_values(31)[0])


def test_a_bonus_without_bound_is_worth_the_cap():
    gains = np.array([[np.inf, 0.2], [0.1, 0.0]])
    tables = ao.MDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2))).planning_tables
    plan = planning.backward_induction(tables, gains, 3, np.array([3.0, 2.0, 1.0]))
    assert plan.values[:3, 0].tolist() == [3.0, 2.0, 1.0]
    assert plan.policy[:, 0].tolist() == [0, 0, 0]


def precise_first_values(world, horizon):
    """Step by step in extended precision."""
    transitions, values = world.transitions.astype(np.longdouble), np.zeros(world.n_states, np.longdouble)
    for _ in range(horizon):
        values = (world.rewards + transitions @ values).max(axis=1)
    return values


def turning(chances):
    """Round and round through three states, with a chance to stay; reward in the first."""
    table = np.zeros((3, 1, 3))
    for s, stay in enumerate(chances):
        table[s, 0, s] += stay
        table[s, 0, (s + 1) % 3] += 1.0 - stay
    return ao.MDP(table, [[1.0], [0.0], [0.0]])


@pytest.mark.parametrize(
    "world",
    [
        ao.worlds.gridworld(edges="stay")[3],
        ao.worlds.random_models(states=8, rng=4)[0],
        turning([0.0, 0.0, 0.0]),  # periodic: no step more is ever worth the same everywhere
        turning([0.5, 0.0, 0.0]),
        ao.worlds.two_jao_noncommunicating()[0],
        ao.MDP([[[1.0, 0.0]], [[0.0, 1.0]]], [[0.25], [0.75]]),  # two worlds apart: never the same everywhere
    ],
    ids=["grid", "random", "periodic", "turning", "transient", "apart"],
)
@pytest.mark.parametrize("horizon", [planning.LONG - 1, planning.LONG, planning.LONG + 1, 30_050])
def test_values_of_long_horizons_are_those_of_single_steps(world, horizon):
    found = planning.first_values(world.planning_tables, world.gains, horizon)
    assert np.abs(found - precise_first_values(world, horizon)).max() <= 1e-11 * horizon


def test_a_long_horizon_costs_hardly_more_than_a_short_one():
    world = ao.worlds.gridworld()[0]
    long = planning.first_values(world.planning_tables, world.gains, 10**12)  # a million seconds step by step
    longer = planning.first_values(world.planning_tables, world.gains, 2 * 10**12)
    gain = (longer - long) / 10**12
    assert np.ptp(gain) < 1e-9
    assert gain[0] == pytest.approx(0.706, abs=0.001)

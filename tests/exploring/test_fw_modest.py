import math

import numpy as np
import pytest
from explorations import Run, chosen, corridor, cycle, every, table_of, tasks
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

import aomultirl as ao
from aomultirl.exploring import FWModest, WeightedMaxEnt
from aomultirl.exploring.fw_modest import EPISODE, FLOOR, TO_GO, best_occupancy, gradient, noise

BOTH = [FWModest(), WeightedMaxEnt()]


@st.composite
def counted(draw):
    """Visits (S, A, S): none of some pairs and many of others."""
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(n_states, 0.4), (n_states, n_actions))
    return rng.multinomial(rng.choice([0, 1, 4, 30, 100], (n_states, n_actions)), rows)


def estimated(visits):
    """P = (n(s, a, s') + 1 / S) / (n(s, a) + 1)."""
    return (visits + 1.0 / len(visits)) / (visits.sum(axis=2, keepdims=True) + 1.0)


def stationary(rows):
    """Equality constraints of the occupancies of a world: flow in each state, and a sum of one."""
    n_states, n_actions = rows.shape[:2]
    leaving = np.repeat(np.eye(n_states), n_actions, axis=1)
    flow = leaving - rows.reshape(-1, n_states).T
    return np.vstack([flow, np.ones(n_states * n_actions)]), np.append(np.zeros(n_states), 1.0)


@settings(deadline=None, max_examples=60)
@given(counted(), st.integers(0, 2**32 - 1))
def test_the_direction_is_that_of_a_linear_programme(visits, seed):
    n_states, n_actions = visits.shape[:2]
    weights = np.random.default_rng(seed).random(n_states * n_actions) ** 4
    matrix, right = stationary(estimated(visits))
    best = -linprog(-weights, A_eq=matrix, b_eq=right).fun
    plan = np.zeros(n_states, np.int32)
    gain = best_occupancy(table_of(visits).record, weights, np.zeros(n_states), plan, 1e-5)
    assert gain == pytest.approx(best, rel=1e-4)
    chain = estimated(visits)[np.arange(n_states), plan]
    shares = np.linalg.lstsq(np.vstack([chain.T - np.eye(n_states), np.ones(n_states)]), right, rcond=None)[0]
    assert shares @ weights.reshape(n_states, -1)[np.arange(n_states), plan] == pytest.approx(best, rel=1e-4)


def test_the_direction_of_a_world_with_a_period():
    """On a certain cycle the values of plain value iteration would go round with it for ever."""
    world = cycle(4)
    visits = np.round(10_000 * world.transitions).astype(np.int64)
    gain = best_occupancy(table_of(visits).record, np.array([1.0, 0, 0, 0]), np.zeros(4), np.zeros(4, np.int32), 1e-4)
    assert gain == pytest.approx(0.25, rel=1e-3)


@settings(deadline=None, max_examples=60)
@given(counted(), st.sampled_from([0.01, 0.5]))
def test_noise_is_that_of_the_formula(visits, failure):
    n_states, n_actions = visits.shape[:2]
    record = table_of(visits).record
    for s, a in np.ndindex(n_states, n_actions):
        n = int(visits[s, a].sum())
        expected = n_states / 2
        if n > 0:
            radius = math.sqrt(2 * math.log(2 * n_states * n_actions * n / failure) / n)
            expected = sum(min(0.5, math.sqrt(k / n * (1 - k / n)) + radius) for k in visits[s, a].tolist())
        found = noise(record, s * n_actions + a, n_states, 2 * n_states * n_actions / failure)
        assert found == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(counted(), st.sampled_from(BOTH), st.integers(0, 2**32 - 1))
def test_the_weights_are_the_slope_of_the_objective(visits, explorer, seed):
    """By central differences, at the frequencies so far; up to the scale."""
    n_states, n_actions = visits.shape[:2]
    targets = np.random.default_rng(seed).random((n_states, n_actions)) < 0.7
    targets[0, 0] = True
    behaviour, record = explorer.behaviour(targets, 101, 0.1), table_of(visits).record
    found = gradient(behaviour, record)
    shares = visits.sum(axis=2).reshape(-1) / (visits.sum() + 1.0)
    shares = np.maximum(shares, FLOOR / targets.size)
    noises = [noise(record, pair, n_states, behaviour.confidence) for pair in range(targets.size)]

    def worth(pair, x):
        return noises[pair] * (-2.0 / math.sqrt(x) if isinstance(explorer, FWModest) else x * (1.0 - math.log(x)))

    slopes = np.array([(worth(i, x * 1.0001) - worth(i, x / 1.0001)) / (x * 2e-4) for i, x in enumerate(shares)])
    slopes *= targets.reshape(-1)
    assert found == pytest.approx(slopes / slopes.max(), rel=1e-4, abs=1e-9)


def test_what_is_no_target_or_has_its_visits_weighs_nothing():
    visits = np.array([[[5, 5], [9, 0]], [[3, 3], [0, 10]]])
    targets = np.array([[True, True], [False, True]])
    weights = gradient(FWModest().behaviour(targets, 10, 0.1), table_of(visits).record)
    assert (weights > 0.0).tolist() == [False, True, False, False]


@pytest.mark.parametrize("explorer", BOTH)
def test_a_symmetric_chain_is_occupied_uniformly(explorer):
    rows = [[{0: 0.8, 1: 0.2}, {0: 0.2, 1: 0.8}], [{0: 0.2, 1: 0.8}, {0: 0.8, 1: 0.2}]]
    world = ao.MDP(rows, np.zeros((2, 2)))
    run = Run(explorer, world, every(world), 10**9, 1_000_000)
    assert run.visits / 1_000_000 == pytest.approx(0.25, abs=0.02)


def test_the_objective_falls_towards_that_of_a_convex_programme():
    """V+ approaches V, and the frequencies those that scipy finds for the true world; the mean of five seeds.

    Before, while V+ is the same for all pairs, it may well rise above that of the random beginning.
    """
    rng = np.random.default_rng(7)
    rows = rng.dirichlet(np.full(3, 0.5), (3, 2))
    world = ao.MDP(rows, np.zeros((3, 2)))
    noises = np.sqrt(rows * (1.0 - rows)).sum(axis=2).reshape(-1)
    matrix, right = stationary(rows)
    best = minimize(
        lambda x: (noises / np.sqrt(x)).mean(),
        np.full(6, 1 / 6),
        bounds=[(1e-4, 1.0)] * 6,
        constraints={"type": "eq", "fun": lambda x: matrix[1:] @ x - right[1:]},
    )
    assert best.success
    runs, taken, objectives = [Run(FWModest(), world, every(world), 10**9, 0, seed=seed) for seed in range(5)], 0, []
    for steps in (3_000, 30_000, 300_000):
        for run in runs:
            run.go(steps - taken)
        taken = steps
        objectives.append(np.mean([(noises / np.sqrt(run.visits.reshape(-1) / taken)).mean() for run in runs]))
    assert objectives[0] > objectives[1] > objectives[2]
    assert objectives[2] == pytest.approx(best.fun, rel=0.01)


def test_the_first_episode_is_random_and_the_others_grow():
    world = ao.worlds.gridworld()[0]
    run, ends = Run(FWModest(7), world, every(world), 10**6, 0, 5), []
    for step in range(1, 7 * 27):
        run.go(1)
        random = (run.behaviour.table.plan == 4).all()
        assert random == (step < 7)
        if run.behaviour.task[TO_GO] == 0:
            ends.append((step, int(run.behaviour.task[EPISODE])))
    run.go(1)
    assert [*ends, (7 * 27, 3)] == [(7, 1), (7 * 8, 2), (7 * 27, 3)]
    assert (run.behaviour.task == [3, 0]).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(1, 40), st.sampled_from(BOTH))
def test_a_cycle_takes_one_round_a_sample(n_states, needed, explorer):
    run = Run(explorer, cycle(n_states), np.ones((n_states, 1), bool), needed)
    assert (run.outcome.steps, run.outcome.finished) == (n_states * needed, True)
    assert (run.visits == needed).all()


@settings(deadline=None, max_examples=40)
@given(tasks(), st.integers(1, 6), st.sampled_from(BOTH), st.integers(0, 10**6))
def test_ends_at_the_very_step_that_completes_the_last_target(task, needed, explorer, seed):
    world, targets, state = task
    run = Run(explorer, world, targets, needed, 500, state, seed)
    missing = np.where(targets, np.maximum(needed - run.visits, 0), 0)
    assert run.visits.sum() == run.outcome.steps
    assert run.outcome.finished == (missing.sum() == 0)
    assert run.behaviour.open.tolist() == [*(missing > 0).sum(axis=1).tolist(), (missing > 0).sum()]
    if run.outcome.finished:
        assert run.visits[targets].min() == needed


@pytest.mark.parametrize("explorer", BOTH)
def test_the_far_end_of_a_corridor_is_found_and_then_walked_to(explorer):
    """The shortest way takes 12 steps a visit; until it is known some more."""
    world = corridor(12)
    run = Run(explorer, world, chosen(world, [(11, 0)]), 200)
    assert run.outcome.finished
    assert 12 * 200 <= run.outcome.steps < 12 * 200 + 500


@pytest.mark.parametrize("explorer", BOTH)
def test_infinite_hitting_times_are_no_obstacle(explorer):
    world = ao.worlds.two_jao(2, 16)[0]
    run = Run(explorer, world, every(world), 20)
    assert run.outcome.finished
    assert run.visits.min() == 20


@pytest.mark.parametrize("explorer", [FWModest(), WeightedMaxEnt(50)])
def test_keeps_the_contract(explorer):
    ao.check_explorer(explorer)


@pytest.mark.parametrize("explorer", [FWModest, WeightedMaxEnt])
def test_bad_parameters(explorer):
    targets = np.ones((3, 2), bool)
    with pytest.raises(ValueError, match=r"^first must be at least 1, not 0$"):
        explorer(0).behaviour(targets, 5, 0.1)
    with pytest.raises(ValueError, match=r"^first must be a whole number, not 1\.5$"):
        explorer(1.5).behaviour(targets, 5, 0.1)
    with pytest.raises(ValueError, match=r"^failure must be "):
        explorer().behaviour(targets, 5, 1.0)

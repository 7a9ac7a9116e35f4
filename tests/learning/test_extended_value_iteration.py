import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl import theory
from aomultirl.engine.successors import read
from aomultirl.learning.extended_value_iteration import extended_value_iteration, greatest_mean, sort_row
from slow_ucrl2 import slow_inner_maximum, slow_iteration
from strategies import dense_worlds


def inner_maximum(row, radius, values):
    """The kernel on one dense row."""
    states, probs = np.flatnonzero(row).astype(np.int32), row[row > 0]
    sort_row(states, probs, 0, len(states), values)
    assert (np.diff(values[states]) >= 0).all()
    return greatest_mean(states, probs, 0, len(states), radius, values, values.max())


def iterate(transitions, radii, rewards, accuracy):
    """The kernel on dense arrays; rows of zeros are pairs that nobody has visited."""
    n_states, n_actions, _ = transitions.shape
    seen = np.where(transitions.sum(axis=2, keepdims=True) > 0, transitions, np.eye(n_states)[:1])
    starts, states, probs = read(seen, n_actions)
    kept = np.repeat(transitions.sum(axis=2).reshape(-1) > 0, np.diff(starts))
    lengths = np.diff(starts) * (transitions.sum(axis=2).reshape(-1) > 0)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return extended_value_iteration(
        starts, states[kept], probs[kept], radii.reshape(-1), rewards.reshape(-1), n_states, accuracy
    )


@st.composite
def estimates(draw):
    """(transitions, radii, rewards): a random estimate, some rows unknown."""
    transitions, rewards = draw(dense_worlds(max_states=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    radii = rng.random(rewards.shape) * draw(st.sampled_from([0.3, 1.0, 3.0])) + 0.05
    unknown = rng.random(rewards.shape) < 0.2
    transitions[unknown], radii[unknown] = 0.0, 2.0
    return transitions, radii, rewards


@pytest.mark.parametrize(
    ("row", "radius", "found"), [((0.5, 0.3, 0.2), 0.4, (0.3, 0.3, 0.4)), ((0.1, 0.3, 0.6), 1.0, (0.0, 0.0, 1.0))]
)
def test_golden_rows(row, radius, found):
    values = np.array([0.0, 1.0, 2.0])
    assert slow_inner_maximum(np.array(row), radius, values) == pytest.approx(found)
    assert inner_maximum(np.array(row), radius, values) == pytest.approx(np.array(found) @ values)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.floats(0.0, 2.5), st.integers(0, 2**32 - 1))
def test_the_inner_maximum_is_that_of_the_linear_program(size, radius, seed):
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    row, values = rng.dirichlet(np.ones(size)), rng.random(size) * 10.0
    row = np.where(rng.random(size) < 0.3, 0.0, row) + 1e-12
    row /= row.sum()
    # p = row + more - less
    found = linprog(
        np.concatenate([-values, values]),
        A_ub=[np.ones(2 * size)],
        b_ub=[radius],
        A_eq=[np.concatenate([np.ones(size), -np.ones(size)])],
        b_eq=[0.0],
        bounds=[(0.0, None)] * size + [(0.0, p) for p in row],
    )
    exact = pytest.approx(row @ values - found.fun, abs=1e-5)  # the solver allows 1e-7 in each constraint
    assert inner_maximum(row, radius, values) == exact
    assert slow_inner_maximum(row, radius, values) @ values == exact


@settings(deadline=None, max_examples=100)
@given(estimates(), st.sampled_from([1.0, 0.1, 1e-3]))
def test_the_kernel_is_the_slow_twin(estimate, accuracy):
    values, q, low, high, sweeps = iterate(*estimate, accuracy)
    slow = slow_iteration(*estimate, accuracy)
    assert sweeps == slow[4]
    assert values == pytest.approx(slow[0], abs=1e-9)
    assert q == pytest.approx(slow[1].reshape(-1), abs=1e-9)
    assert (low, high) == pytest.approx(slow[2:4], abs=1e-9)


def test_the_estimate_is_left_as_it_was():
    starts, states, probs = read(ao.worlds.gridworld()[0].transitions, 4)
    before = states.copy(), probs.copy()
    extended_value_iteration(starts, states, probs, np.full(64, 0.3), np.linspace(1, 0, 64), 16, 0.01)
    assert np.array_equal(states, before[0])
    assert np.array_equal(probs, before[1])


@settings(deadline=None, max_examples=60)
@given(dense_worlds(max_states=4), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_a_world_that_is_allowed_is_not_better_than_promised(world, samples, seed):
    """The promised gain is at least the true one, and the promised values differ by at most the true diameter."""
    transitions, rewards = world
    truth = ao.MDP(transitions, rewards)
    assume(truth.is_communicating())
    drawn = np.random.default_rng(seed).multinomial(samples, transitions) / samples
    radii = np.abs(drawn - transitions).sum(axis=2) + 1e-3
    values, _, _, high, _ = iterate(drawn, radii, rewards, 1e-4)
    assert high >= theory.optimal_gain(truth).gain - 1e-9
    assert theory.span(values) <= truth.diameter() + 1e-9


def test_without_doubt_the_gain_is_the_true_one():
    """JAO: 0.6."""
    world = ao.worlds.jao(5, 40, 0.1)[2]
    *_, low, high, _ = iterate(world.transitions, np.zeros((2, 5)), world.rewards, 1e-9)
    assert low <= 0.6 + 1e-12
    assert high >= 0.6 - 1e-12
    assert high - low < 1e-9


def test_pairs_that_may_lead_anywhere_promise_the_same_to_the_last_bit():
    """Visited or not: only then are ties broken at random."""
    rng = np.random.default_rng(0)
    transitions = rng.dirichlet(np.ones(4), (4, 3))
    transitions[:, 2] = 0.0
    _, q, *_ = iterate(transitions, np.full((4, 3), 2.0), np.repeat(rng.random((4, 1)), 3, axis=1), 0.01)
    assert (np.ptp(q.reshape(4, 3), axis=1) == 0.0).all()

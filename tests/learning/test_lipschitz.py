"""Bounds on how far values of two tasks are apart: closed forms, a slow twin, and the optimum of random worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.learning.lipschitz import (
    Metric,
    bounds_from,
    joined,
    largest_distances,
    pair_distances,
    task_gaps,
    task_model,
    value_gaps,
)
from counted_tasks import GRAIN, count_exactly, grained_rows, optimal_q

NOTHING = np.empty(0)


def metric(n_pairs, discount, error=0.0, limits=None, sweeps=20_000, tolerance=1e-12):
    low, high = np.zeros(n_pairs), np.ones(n_pairs)
    vmax = 1 / (1 - discount)
    prior = largest_distances(low, high, discount, vmax)
    return Metric(low, high, prior if limits is None else limits, discount, vmax, error, error, tolerance, sweeps)


def model(world, mask, values):
    return task_model(count_exactly(world, mask), world.rewards.reshape(-1).copy(), NOTHING, GRAIN, world.rest, values)


def values_of(q):
    return q.max(axis=1)


def all_pairs(world):
    return np.ones(world.rewards.shape, bool)


def test_the_prior_is_that_of_the_paper():
    assert metric(3, 0.9).limits == pytest.approx(np.full(3, 1.9 / 0.1))


@pytest.mark.parametrize(("one", "two", "discount"), [(0.25, 0.75, 0.9), (1.0, 0.125, 0.5), (0.5, 0.5, 0.99)])
def test_one_state_is_a_closed_form(one, two, discount):
    """d = |R - R'| / (1 - g), which is exactly how far the values are apart."""
    tasks = [ao.MDP(np.ones((1, 1, 1)), np.array([[reward]])) for reward in (one, two)]
    best = [optimal_q(task, discount) for task in tasks]
    models = [model(task, all_pairs(task), values_of(q)) for task, q in zip(tasks, best, strict=True)]
    gaps = task_gaps(*models, metric(1, discount))
    assert gaps == pytest.approx([abs(one - two) / (1 - discount)])
    assert gaps == pytest.approx(np.abs(best[0] - best[1])[0], abs=1e-6)


def test_equal_tasks_are_not_apart_after_one_sweep():
    world = ao.worlds.random_models(5, 3, 1, 3, 1.0, 2)[0]
    world = ao.MDP(grained_rows(np.random.default_rng(0), 5, 3), world.rewards)
    same = model(world, all_pairs(world), np.full(5, 100.0))
    assert task_gaps(same, same, metric(15, 0.99, sweeps=1)) == pytest.approx(np.zeros(15), abs=1e-9)
    apart = task_gaps(same, same, metric(15, 0.99, error=0.01))
    assert apart == pytest.approx(np.full(15, 100.0))  # what estimates may be wrong by is more than Vmax already


def slow_distances(one, two, masks, values, given):
    """D of every pair for the values of one of both tasks, on dense arrays."""
    out = np.array(given.limits).reshape(one.rewards.shape)
    margin = given.reward_error + given.discount * given.error * given.vmax
    low, high = given.low.reshape(out.shape), given.high.reshape(out.shape)
    for s, a in np.ndindex(*out.shape):
        rows = [task.transitions[s, a] for task in (one, two)]
        rewards = [task.rest if task.terminal[s] else task.rewards[s, a] for task in (one, two)]
        known = [mask[s, a] or task.terminal[s] for mask, task in zip(masks, (one, two), strict=True)]
        if all(known):
            far = abs(rewards[0] - rewards[1]) + given.discount * values @ np.abs(rows[0] - rows[1]) + 2 * margin
        elif any(known):
            k = known.index(True)
            far = max(rewards[k] - low[s, a], high[s, a] - rewards[k]) + margin
            far += given.discount * (values @ rows[k] + values.max())
        else:
            continue
        out[s, a] = min(out[s, a], far)
    return out


def slow_gaps(task, mask, distances, given):
    """d by plain sweeps from above, without taking off anything at once."""
    gaps = np.full(distances.shape, given.vmax)
    for _ in range(int(25 / (1 - given.discount * (1 + given.error))) + 1):
        worst = gaps.max(axis=1)
        ahead = np.where(
            mask | task.terminal[:, None], task.transitions @ worst + given.error * worst.max(), worst.max()
        )
        gaps = np.minimum(given.vmax, distances + given.discount * ahead)
    return gaps


@st.composite
def two_tasks(draw):
    """Two worlds of one size, close or not, one of them perhaps with a terminal state, and what is known of each."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows, rewards = grained_rows(rng, n_states, n_actions), rng.random((n_states, n_actions))
    tasks = []
    for _ in range(2):
        other, gains = rows.copy(), np.clip(rewards + draw(st.sampled_from([0.0, 0.02])) * rng.random(), 0.0, 1.0)
        if draw(st.booleans()):
            pair = rng.integers(n_states), rng.integers(n_actions)
            other[pair] = rng.multinomial(GRAIN, np.ones(n_states) / n_states) / GRAIN
        last = [n_states - 1] if n_states > 1 and draw(st.booleans()) else []
        tasks.append(ao.MDP(other, gains, terminal=last, rest=0.25 if last else 0.0))
    share = draw(st.sampled_from([0.0, 0.5, 1.0]))
    masks = [rng.random((n_states, n_actions)) < max(share, other) for other in (0.0, 0.7)]
    return tasks, masks, rng


@settings(deadline=None, max_examples=80)
@given(two_tasks(), st.floats(0.1, 0.95), st.sampled_from([0.0, 0.01]))
def test_distances_and_gaps_are_those_of_a_slow_twin(drawn, discount, error):
    (one, two), masks, rng = drawn
    n_states, n_actions = one.rewards.shape
    limits = rng.random(n_states * n_actions) * 3 / (1 - discount)
    given_metric = metric(n_states * n_actions, discount, error, limits)
    values = [rng.random(n_states) / (1 - discount) for _ in range(2)]
    models = [model(*each) for each in zip((one, two), masks, values, strict=True)]
    found = pair_distances(*models, given_metric)
    wanted = [slow_distances(one, two, masks, weights, given_metric) for weights in (values[1], values[0])]
    assert found.reshape(2, n_states, n_actions) == pytest.approx(np.array(wanted))
    slow = [slow_gaps(*each, given_metric) for each in zip((one, two), masks, wanted, strict=True)]
    for i in range(2):
        gaps = value_gaps(models[i], found[i], given_metric)
        assert gaps.reshape(n_states, n_actions) == pytest.approx(slow[i], abs=1e-6 / (1 - discount))
        early = value_gaps(models[i], found[i], given_metric._replace(sweeps=3))
        assert (early >= gaps - 1e-9).all()
    assert task_gaps(*models, given_metric) == pytest.approx(np.minimum(*slow).reshape(-1), abs=1e-6 / (1 - discount))


def true_distances(tasks, discount):
    """Dmax as somebody would know it who knows all tasks: the largest D of two of them at each pair."""
    best = [optimal_q(task, discount).max(axis=1) for task in tasks]
    gains = [np.where(task.terminal[:, None], task.rest, task.rewards) for task in tasks]
    far = [
        np.abs(gains[i] - gains[j]) + discount * np.abs(tasks[i].transitions - tasks[j].transitions) @ best[j]
        for i in range(len(tasks))
        for j in range(len(tasks))
    ]
    return np.max(far, axis=0).reshape(-1)


@settings(deadline=None, max_examples=80)
@given(two_tasks(), st.floats(0.1, 0.95), st.booleans())
def test_no_value_is_further_apart_than_the_bound_says(drawn, discount, prior):
    """With exact estimates of some pairs, exact values or higher ones, and no prior or a true one."""
    (one, two), masks, rng = drawn
    n_states, n_actions = one.rewards.shape
    best = [optimal_q(task, discount) for task in (one, two)]
    vmax = 1 / (1 - discount)
    values = [np.minimum(vmax, values_of(q) + rng.random() * rng.random(n_states)) for q in best]
    models = [model(*each) for each in zip((one, two), masks, values, strict=True)]
    limits = true_distances((one, two), discount) if prior else None
    measured = metric(n_states * n_actions, discount, limits=limits, sweeps=int(rng.integers(1, 50)), tolerance=1e-3)
    gaps = task_gaps(*models, measured).reshape(n_states, n_actions)
    assert (np.abs(best[0] - best[1]) <= gaps + 1e-6).all()
    upper = np.minimum(vmax, best[1] + rng.random(best[1].shape)).reshape(-1)
    tasks = joined([models[1], models[1]], [upper, np.full_like(upper, vmax)])
    bounds = bounds_from(models[0], tasks, measured)
    assert (bounds.reshape(best[0].shape) >= best[0] - 1e-6).all()
    assert bounds == pytest.approx(np.minimum(vmax, upper + gaps.reshape(-1)))


def test_many_tasks_give_the_least_of_their_bounds():
    rng = np.random.default_rng(3)
    rewards = rng.random((4, 2))
    rows = grained_rows(rng, 4, 2)
    worlds = [ao.MDP(rows, np.clip(rewards + shift, 0.0, 1.0)) for shift in (0.0, 0.01, -0.02, 0.03)]
    best = [optimal_q(world, 0.9) for world in worlds]
    masks = [rng.random((4, 2)) < 0.7 for _ in worlds]
    models = [model(*each) for each in zip(worlds, masks, map(values_of, best), strict=True)]
    measured = metric(8, 0.9, limits=np.full(8, 0.05))
    uppers = [q.reshape(-1) for q in best[1:]]
    together = bounds_from(models[0], joined(models[1:], uppers), measured)
    apart = [
        bounds_from(models[0], joined([each], [upper]), measured)
        for each, upper in zip(models[1:], uppers, strict=True)
    ]
    assert together == pytest.approx(np.min(apart, axis=0))
    assert (together < 10.0).all()
    assert len({tuple(each) for each in apart}) == 3

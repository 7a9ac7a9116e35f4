"""Policies without memory for known worlds, against plain loops and against every policy of tiny worlds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.theory.multi_model import mean_world
from strategies import dense_worlds, ending_sets, outcomes

PLANNERS = (ao.theory.weight_select_update, ao.theory.coordinate_ascent, ao.theory.mean_value_problem)
GOLDEN = ao.ModelSet(
    ao.MDP([[[p, 1 - p] for p in row] for row in rows], [[0.0, 0.1], [0.8, 0.7]])
    for rows in ([[0.0, 0.9], [0.1, 1.0]], [[1.0, 0.5], [1.0, 0.4]])
)


def slow_values(world, policy):
    """V of every step and state by the policy (H, S): a plain loop."""
    horizon, n_states = policy.shape
    values = np.zeros((horizon + 1, n_states))
    for h in reversed(range(horizon)):
        for s in range(n_states):
            a = policy[h, s]
            values[h, s] = world.gains[s, a] + world.transitions[s, a] @ values[h + 1]
    return values


def worth(models, policy, weights):
    return sum(
        w * (world.start_distribution @ slow_values(world, policy)[0]) for w, world in zip(weights, models, strict=True)
    )


def wait_and_see(models, horizon, weights):
    firsts = [world.start_distribution @ world.first_values(horizon) for world in models]
    return float(np.dot(weights, firsts))


def slow_pass(models, horizon, weights, policy=None):
    """One backward pass: weight, select, update where there is no policy, and otherwise a sweep of CADP from it."""
    n_states = models.n_states
    transitions = [world.transitions for world in models]
    values, chosen = np.zeros((len(models), n_states)), np.zeros((horizon, n_states), int)
    reach = [world.start_distribution * w for w, world in zip(weights, models, strict=True)]
    reached = [reach]
    for h in range(horizon - 1 if policy is not None else 0):
        reach = [
            sum(before[s] * rows[s, policy[h, s]] for s in range(n_states))
            for before, rows in zip(reach, transitions, strict=True)
        ]
        reached.append(reach)
    for h in reversed(range(horizon)):
        new = values.copy()
        for s in range(n_states):
            b = np.array(weights) if policy is None else np.array([one[s] for one in reached[h]])
            if b.sum() == 0.0:
                b = np.array(weights)
            q = np.array([w.gains[s] + p[s] @ v for w, p, v in zip(models, transitions, values, strict=True)])
            totals = b @ q
            best = totals.max()
            old = None if policy is None else policy[h, s]
            near = np.flatnonzero(totals >= best - 1e-12)
            chosen[h, s] = old if old in near else near[0]
            new[:, s] = q[:, chosen[h, s]]
        values = new
    return chosen


def every_policy(horizon, n_states, n_actions):
    for actions in product(range(n_actions), repeat=horizon * n_states):
        yield np.array(actions).reshape(horizon, n_states)


@st.composite
def weighed_sets(draw):
    """Sets with weights, some of them 0; and every now and then with starts of their own."""
    models = draw(ending_sets(max_states=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.dirichlet(np.ones(len(models)))
    if draw(st.booleans()):
        weights[0] = 0.0
        weights /= weights.sum()
    if draw(st.booleans()):
        worlds = []
        for world in models:
            start = rng.dirichlet(np.ones(models.n_states)) * ~world.terminal
            worlds.append(
                ao.MDP(
                    world.successors, models.rewards, start / start.sum(), terminal=np.flatnonzero(world.terminal),
                    rest=0.25,
                )
            )  # fmt: skip
        models = ao.ModelSet(worlds)
    return models, weights


def test_golden():
    plans = [planner(GOLDEN, 3) for planner in PLANNERS]
    assert plans[0].policy.tolist() == [[0, 0], [0, 0], [1, 0]]
    assert [plan.value for plan in plans] == pytest.approx([0.815, 1.04, 0.815], abs=1e-12)
    assert plans[1].ascent == pytest.approx((0.815, 1.04), abs=1e-12)
    best = max(worth(GOLDEN, policy, (0.5, 0.5)) for policy in every_policy(3, 2, 2))
    assert best == pytest.approx(1.04, abs=1e-12)
    assert wait_and_see(GOLDEN, 3, (0.5, 0.5)) == pytest.approx(1.2575, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(weighed_sets(), st.integers(1, 5))
def test_what_a_plan_says_it_is_worth_is_what_its_policy_is_worth(given, horizon):
    models, weights = given
    for planner in PLANNERS:
        plan = planner(models, horizon, weights)
        assert plan.policy.shape == (horizon, models.n_states)
        for world, value in zip(models, plan.by_world, strict=True):
            assert value == pytest.approx(world.start_distribution @ slow_values(world, plan.policy)[0], abs=1e-10)
        assert plan.value == pytest.approx(weights @ plan.by_world, abs=1e-12) == pytest.approx(plan.ascent[-1])


@settings(max_examples=60, deadline=None)
@given(weighed_sets(), st.integers(1, 4))
def test_policies_are_those_of_the_slow_twin(given, horizon):
    models, weights = given
    slow = slow_pass(models, horizon, weights)
    values = [worth(models, slow, weights)]
    assert ao.theory.weight_select_update(models, horizon, weights).value == pytest.approx(values[0], abs=1e-10)
    for _ in range(50):
        slow = slow_pass(models, horizon, weights, slow)
        values.append(worth(models, slow, weights))
        assert values[-1] >= values[-2] - 1e-12
        if values[-1] <= values[-2] + 1e-11:
            break
    assert ao.theory.coordinate_ascent(models, horizon, weights).value == pytest.approx(values[-1], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(weighed_sets(), st.integers(1, 3))
def test_wsu_cadp_the_optimum_and_wait_and_see(given, horizon):
    models, weights = given
    if models.n_actions ** (models.n_states * horizon) > 600:
        horizon = 1
    first, second, third = (planner(models, horizon, weights).value for planner in PLANNERS)
    best = max(worth(models, policy, weights) for policy in every_policy(horizon, *models.rewards.shape))
    assert first <= second + 1e-12
    assert max(second, third) <= best + 1e-10
    assert best <= wait_and_see(models, horizon, weights) + 1e-10
    if horizon == 1:
        assert first == pytest.approx(best) == pytest.approx(second) == pytest.approx(third)


@settings(max_examples=30, deadline=None)
@given(dense_worlds(), st.integers(1, 6))
def test_one_world_is_solved_by_all(given, horizon):
    models = ao.ModelSet([ao.MDP(*given)])
    for planner in PLANNERS:
        assert planner(models, horizon).value == pytest.approx(models[0].first_values(horizon)[0], abs=1e-10)


def test_the_ascent_never_falls_and_no_change_at_one_place_helps():
    rose = 0
    for seed in range(8):
        models = ao.worlds.random_models(4, 3, 3, 2, 1.5, seed)
        plan = ao.theory.coordinate_ascent(models, 4, [3, 2, 1])
        assert all(np.diff(plan.ascent) > 0.0)
        assert plan.ascent[0] == ao.theory.weight_select_update(models, 4, [3, 2, 1]).value
        rose += len(plan.ascent) > 1
        for place in product(range(4), range(4)):
            for action in range(3):
                other = plan.policy.copy()
                other[place] = action
                assert worth(models, other, np.array([3, 2, 1]) / 6) <= plan.value + 1e-10
    assert rose >= 1


@settings(max_examples=40, deadline=None)
@given(weighed_sets())
def test_the_mean_world_has_the_mean_of_what_happens(given):
    models, weights = given
    mean, over = mean_world(models, weights), models.n_states
    assert np.flatnonzero(mean.terminal).tolist() == [over]
    assert mean.start_distribution[:over] == pytest.approx(
        sum(w * world.start_distribution for w, world in zip(weights, models, strict=True))
    )
    for s in range(models.n_states):
        acting = [w for w, world in zip(weights, models, strict=True) if not world.terminal[s]]
        if sum(acting) == 0.0:
            continue
        for a in range(models.n_actions):
            row = np.zeros(over + 1)
            for w, world in zip(weights, models, strict=True):
                for (successor, ended), chance in outcomes(world, s, a).items():
                    row[over if ended else successor] += w * chance / sum(acting)
            assert mean.transitions[s, a] == pytest.approx(row)


def test_a_hole_in_one_of_two_maps_is_avoided():
    """Straight ahead ends half of all episodes; the way around takes longer and ends none."""
    rewards = [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    rows = [[{1: 1.0}, {2: 1.0}], [{3: 1.0}, {3: 1.0}], [{0: 0.5, 3: 0.5}] * 2, [{3: 1.0}] * 2]
    models = ao.ModelSet([ao.MDP(rows, rewards, terminal=hole) for hole in ([1], None)])
    for planner in PLANNERS:
        plan = planner(models, 12)
        assert (plan.policy[:6, 0] == 1).all()
        assert plan.by_world.min() > 7.5


def test_weights_are_in_proportion():
    for planner in PLANNERS:
        one, other = planner(GOLDEN, 3, [1, 3]), planner(GOLDEN, 3, [0.25, 0.75])
        assert one.value == pytest.approx(other.value)
    assert ao.theory.weight_select_update(GOLDEN, 3, [0, 1]).value == pytest.approx(GOLDEN[1].first_values(3)[0])
    assert ao.theory.weight_select_update(GOLDEN, 3, [1e308, 1e308]).value == pytest.approx(0.815)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": GOLDEN[0]}, r"models is MDP\(.*\), not a ModelSet"),
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"horizon": 10**12}, r"horizon is 1000000000000: a plan of all steps and states takes .* smaller"),
        ({"weights": [1.0]}, r"weights must have shape \(2,\), one for every world, not \(1,\)"),
        ({"weights": [1.0, -1.0]}, r"weights\[1\] is -1, negative"),
        ({"weights": [0.0, 0.0]}, "weights are all 0: some world must be possible"),
        ({"weights": "x"}, "weights is not an array of real numbers"),
    ],
)
def test_bad_input(planner, arguments, message):
    with pytest.raises(ValueError, match=message):
        planner(**{"models": GOLDEN, "horizon": 3, **arguments})

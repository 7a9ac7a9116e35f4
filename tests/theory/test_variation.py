from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.theory import full_set_bound, restart_q_bound, restart_q_epochs, variation_budget

MODELS = ao.worlds.random_models(5, 3, 3, 3, 1.0, 4)
GRID = {"states": 16, "actions": 4, "horizon": 200}


def slow_budget(models, tasks, horizon):
    """Delta_p and Delta_r from dense arrays, episode by episode."""
    p, r = [np.array(world.transitions) for world in models], [np.array(world.rewards) for world in models]
    moves = sum(np.abs(p[b] - p[a]).sum(axis=2).max() for a, b in pairwise(tasks))
    rewards = sum(np.abs(r[b] - r[a]).max() for a, b in pairwise(tasks))
    return horizon * rewards, horizon * moves


@settings(deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(1, 50))
def test_the_budget_is_that_of_a_slow_twin(tasks, horizon):
    assert variation_budget(MODELS, tasks, horizon) == pytest.approx(slow_budget(MODELS, tasks, horizon))


def test_worlds_of_a_plain_list_may_differ_in_rewards():
    """Those of a set cannot, and their Delta_r is 0."""
    other = ao.MDP(MODELS[1].successors, 1.0 - MODELS.rewards)
    budget = variation_budget([MODELS[0], other], [0, 1, 1, 0], 10)
    assert budget == pytest.approx(slow_budget([MODELS[0], other], [0, 1, 1, 0], 10))
    assert budget.rewards > 0.0
    assert budget.total == budget.rewards + budget.transitions
    assert variation_budget(MODELS, [0, 1, 2, 0], 10).rewards == 0.0


def test_where_an_episode_ends_counts_as_a_transition():
    worlds = [ao.MDP(MODELS[0].successors, MODELS.rewards, terminal=last) for last in ([4], [3, 4])]
    distance = ao.ModelSet(worlds).distances()[0, 1].max()
    assert distance > 0.0
    assert variation_budget(worlds, [0, 1], 7) == pytest.approx((0.0, 7 * distance))


@pytest.mark.parametrize("episodes", [2, 100, 1001])
def test_alternating_tasks_vary_in_proportion_to_episodes_horizon_and_separation(episodes):
    models = MODELS[:2]
    budget = variation_budget(models, np.arange(episodes) % 2, 30)
    assert budget.total == pytest.approx((episodes - 1) * 30 * models.separation())


def test_the_bounds_are_the_formulas_of_the_paper():
    """At sizes whose cube roots are whole."""
    size = {"states": 8, "actions": 27, "episodes": 1000, "horizon": 8, "variation": 64.0}
    assert restart_q_bound(**size, variant="hoeffding") == pytest.approx(2 * 3 * 4 * 32 * 400)
    assert restart_q_bound(**size, variant="freedman") == pytest.approx(2 * 3 * 4 * 8 * 400)
    assert restart_q_bound(**size) == restart_q_bound(**size, variant="freedman")
    assert restart_q_epochs(**size, variant="hoeffding") == pytest.approx(16 * 20 / (2 * 3 * 4))
    assert restart_q_epochs(**size, variant="freedman") == pytest.approx(16 * 20 / (2 * 3))


def test_a_world_that_never_changes_has_one_epoch():
    size = {"states": 8, "actions": 2, "episodes": 100, "horizon": 4, "variation": 0.0}
    assert restart_q_epochs(**size) == restart_q_epochs(**size, variant="hoeffding") == 1.0
    assert restart_q_bound(**size) == pytest.approx((16 * 16 * 400) ** 0.5)
    assert restart_q_bound(**size, variant="hoeffding") == pytest.approx((256 * 16 * 400) ** 0.5)


def test_there_are_no_more_epochs_than_episodes():
    assert restart_q_epochs(states=2, actions=2, episodes=50, horizon=10, variation=1e6) == 50.0


@pytest.mark.parametrize("variant", ["hoeffding", "freedman"])
def test_the_remark_on_merging_where_tasks_alternate(variant):
    """The remark's (lambda S A)^(1/3) H^2 K, which is above the trivial K H."""
    grid, episodes = ao.worlds.gridworld()[:2], 2000
    level = grid.separation()
    variation = variation_budget(grid, np.arange(episodes) % 2, GRID["horizon"]).total
    bound = restart_q_bound(**GRID, episodes=episodes, variation=variation, variant=variant)
    remark = (level * 16 * 4) ** (1 / 3) * 200**2 * episodes
    worse = 200 ** (2 / 3) if variant == "hoeffding" else 1.0
    assert bound == pytest.approx(remark * worse, rel=1e-3)
    assert bound > episodes * GRID["horizon"]


def test_the_remark_on_merging_compared_with_clustering():
    """Tasks alternate for very many episodes: the corollary's bound is smaller, although it has all its constants."""
    known = {"states": 16, "actions": 4, "models": 2, "episodes": 10**10, "separation": 1.3, "failure": 0.03}
    clustering = full_set_bound(**known, learning_horizon=10**7, hitting_time=20.0).total
    size = {"states": 16, "actions": 4, "episodes": 10**10, "horizon": 10**7}
    assert clustering < restart_q_bound(**size, variation=1.3 * 10**10 * 10**7)


def test_the_remark_on_merging_where_tasks_change_rarely():
    """Delta = o(K): sub-linear in K, like K^(2/3) for one change, and below K H in the end."""
    variation = 200 * 1.3
    bounds = [restart_q_bound(**GRID, episodes=k, variation=variation) for k in (10**9, 8 * 10**9)]
    assert bounds[1] / bounds[0] == pytest.approx(4.0)
    assert bounds[1] < 8 * 10**9 * 200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: variation_budget(MODELS, [0, 3], 5), r"tasks\[1\] must be between 0 and 2, not 3"),
        (lambda: variation_budget(MODELS, [], 5), "tasks is empty"),
        (lambda: variation_budget([], [0], 5), "models is empty"),
        (lambda: variation_budget([3], [0], 5), r"models\[0\] is 3, not an MDP"),
        (lambda: variation_budget([MODELS[0], ao.worlds.gridworld()[0]], [0], 5), r"models\[1\] has \(16, 4\)"),
        (lambda: variation_budget(MODELS, [0], 0), "horizon must be at least 1"),
        (lambda: restart_q_bound(**GRID, episodes=5, variation=-1.0), "variation must be at least 0"),
        (lambda: restart_q_bound(**GRID, episodes=5, variation=1.0, variant="bernstein"), "variant must be one of"),
        (lambda: restart_q_bound(**GRID, episodes=5, variation=1e300), "beyond what numbers can hold"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()

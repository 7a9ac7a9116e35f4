import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import aomultirl as ao
from strategies import dense_worlds

HALVES = np.full((2, 2, 2), 0.5)
NOTHING = np.zeros((2, 2))


def changed(place, value):
    array = HALVES.copy()
    array[place] = value
    return array


@settings(deadline=None)
@given(dense_worlds(max_states=6))
def test_every_form_of_input_is_the_same_world(world):
    transitions, rewards = world
    n_states, n_actions = rewards.shape
    flat = transitions.reshape(n_states * n_actions, n_states)
    mdp = ao.MDP(transitions, rewards)
    assert np.array_equal(mdp.transitions, transitions)
    assert (mdp.successors.probs > 0).all()
    pairs = [[[(t, row[t]) for t in reversed(range(n_states))] for row in rows] for rows in transitions]
    dicts = [[dict(row) for row in rows] for rows in pairs]
    starts = np.arange(0, flat.size + 1, n_states)
    record = ao.Successors(starts, np.tile(np.arange(n_states), len(flat)), flat.ravel())
    for form in (sp.csc_array(flat), sp.csr_matrix(flat), pairs, dicts, record, transitions.tolist()):
        other = ao.MDP(form, rewards)
        assert (other.n_states, other.n_actions) == (n_states, n_actions)
        assert all(np.array_equal(a, b) for a, b in zip(other.successors, mdp.successors, strict=True))
    assert np.array_equal(mdp.sparse_transitions.toarray(), flat)


def test_repeated_successors_are_added():
    mdp = ao.MDP([[[(0, 0.25), (1, 0.5), (0, 0.25)]], [[(1, 1.0)]]], [[0.0], [0.0]])
    assert mdp.transitions[0, 0].tolist() == [0.5, 0.5]


def test_input_is_copied_and_rewards_are_read_only():
    transitions, rewards = HALVES.copy(), NOTHING.copy()
    mdp = ao.MDP(transitions, rewards)
    transitions[:] = rewards[:] = 7.0
    assert mdp.transitions.max() == 0.5
    assert mdp.rewards.max() == 0.0
    with pytest.raises(ValueError, match="read-only"):
        mdp.rewards[0, 0] = 1.0


@pytest.mark.parametrize(
    ("transitions", "rewards", "start", "message"),
    [
        (changed((1, 0, 0), 0.47), NOTHING, 0, r"transitions\[1, 0\] sums to 0\.97, not 1"),
        (changed((1, 1, 0), -0.5), NOTHING, 0, r"transitions\[1, 1, 0\] is -0\.5, negative"),
        (changed((0, 1, 1), np.nan), NOTHING, 0, r"transitions\[0, 1, 1\] is nan"),
        (changed((0, 1, 1), np.inf), NOTHING, 0, r"transitions\[0, 1, 1\] is inf"),
        (np.zeros((2, 3, 4)), NOTHING, 0, r"transitions must have shape \(S, A, S\), not \(2, 3, 4\)"),
        (np.zeros((2, 2)), NOTHING, 0, r"transitions must have shape \(S, A, S\), not \(2, 2\)"),
        ("grid", NOTHING, 0, "transitions is not an array of real numbers: it holds"),
        (HALVES, np.zeros((2, 3)), 0, "transitions have 2 actions, rewards have 3"),
        (HALVES, np.zeros((3, 2)), 0, "rewards have 3 states, transitions have 2"),
        (HALVES, np.zeros(2), 0, r"rewards must have shape \(S, A\), not \(2,\)"),
        (HALVES, [[0, 1.5], [0, 0]], 0, r"rewards\[0, 1\] is 1\.5, outside \[0, 1\]"),
        (HALVES, [[0, 0], [-0.1, 0]], 0, r"rewards\[1, 0\] is -0\.1, outside \[0, 1\]"),
        (HALVES, [[0, np.nan], [0, 0]], 0, r"rewards\[0, 1\] is nan"),
        (HALVES, NOTHING, 2, r"start is 2, neither a state \(0 to 1\) nor a distribution"),
        (HALVES, NOTHING, -1, "start is -1, neither a state"),
        (HALVES, NOTHING, 0.5, "start is 0.5, neither a state"),
        (HALVES, NOTHING, "hub", "start is 'hub', neither a state"),
        (HALVES, NOTHING, [0.5, 0.4], r"start sums to 0\.9, not 1"),
        (HALVES, NOTHING, [1.5, -0.5], r"start\[1\] is -0\.5, negative"),
        (HALVES, NOTHING, [1.0, 0.0, 0.0], r"start must be a state or have shape \(2,\), not \(3,\)"),
        (sp.csr_array(np.full((4, 3), 1 / 3)), NOTHING, 0, r"shape \(S\*A, S\) with A = 2 as in rewards, not \(4, 3\)"),
        (sp.csr_array([[0.5, 0.4], [1, 0], [1, 0], [1, 0]]), NOTHING, 0, r"transitions\[0, 0\] sums to 0\.9, not 1"),
        (sp.csr_array([[1, 0], [2, -1], [1, 0], [1, 0]]), NOTHING, 0, r"transitions\[0, 1, 1\] is -1, negative"),
        ([[[(0, 1.0)], [(2, 1.0)]], [[(0, 1.0)], [(1, 1.0)]]], NOTHING, 0, r"transitions\[0, 1\] leads to 2, but"),
        (
            [[[(0, 1.0)]], [[(0, 1.0)], [(1, 1.0)]]],
            NOTHING,
            0,
            r"transitions\[0\] has 1 actions, rewards have 2 actions",
        ),
        ([[[(0, 1.0, 3)], [(1, 1.0)]]], NOTHING, 0, r"transitions\[0, 0\] holds \(0, 1\.0, 3\), not \(successor"),
        ([[{0: 1.0}, {}], [{0: 1.0}, {1: 1.0}]], NOTHING, 0, r"transitions\[0, 1\] sums to 0, not 1"),
        (ao.Successors([0, 1, 2, 3], [0, 0, 0], [1.0, 1.0, 1.0]), NOTHING, 0, r"starts must hold S\*A \+ 1 numbers"),
        (ao.Successors([0, 1, 2, 3, 5], [0] * 4, [1.0] * 4), NOTHING, 0, "starts must rise from 0 to 4"),
        (
            ao.Successors([0, 1, 2, 3, 4], [0] * 4, [1.0] * 3),
            NOTHING,
            0,
            "probs must be a list of 4 numbers like states",
        ),
    ],
)
def test_bad_input_is_named(transitions, rewards, start, message):
    with pytest.raises(ValueError, match=message):
        ao.MDP(transitions, rewards, start)


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        ([[{0.7: 1.0}]], r"transitions\[0, 0\] holds \(0\.7, 1\.0\), not \(successor, probability\)"),
        (ao.Successors([0, 1], [0.7], [1.0]), "states must be a list of whole numbers"),
        (ao.Successors([0, 2], [0, 0], [1.5, -0.5]), r"transitions\[0, 0, 0\] is -0\.5, negative"),
        (ao.Successors(3, [0], [1.0]), "starts must be a list of whole numbers, not 3"),
        ([[{2**40: 1.0}]], r"transitions\[0, 0\] leads to 1099511627776, but states are 0 to 0"),
        ([[[(0, 1.0)]], 3], r"transitions\[1\] has 3, rewards have 1 actions"),
        ([[{0: 1.0}], [7]], r"transitions\[1, 0\] is 7, not a list of"),
        (np.array([[[1j]]]), "transitions is not an array of real numbers: it holds complex128"),
        (sp.csr_array([[1j]]), "transitions is not an array of real numbers: it holds complex128"),
        (sp.coo_array(([1.0], ([0],)), shape=(1,)), r"sparse transitions must have shape \(S\*A, S\)"),
        (None, "transitions is not an array of real numbers"),
    ],
)
def test_odd_input_is_named(transitions, message):
    with pytest.raises(ValueError, match=message):
        ao.MDP(transitions, [[0.0]])


def test_single_precision_is_accepted_and_normalised():
    rows = np.array([[[0.1, 0.2, 0.7]]] * 3, np.float32)
    world = ao.MDP(rows, np.zeros((3, 1)))
    assert world.transitions.sum(axis=2) == pytest.approx(1.0, abs=1e-15)
    with pytest.raises(ValueError, match=r"transitions\[0, 0\] sums to 0\.99"):
        ao.MDP(rows * np.float32(0.99), np.zeros((3, 1)))


def test_rewards_that_are_missing():
    with pytest.raises(ValueError, match="rewards is not an array of real numbers"):
        ao.MDP(HALVES, None)


def test_layout_and_labels_must_fit():
    with pytest.raises(ValueError, match=r"layout \(2, 2\) has 4 cells, the world has 2 states"):
        ao.MDP(HALVES, NOTHING, layout=(2, 2))
    with pytest.raises(ValueError, match=r"layout is 3, not \(rows, columns\)"):
        ao.MDP(HALVES, NOTHING, layout=3)
    with pytest.raises(ValueError, match=r"labels must have shape \(2,\), not \(3,\)"):
        ao.MDP(HALVES, NOTHING, labels=[1, 2, 3])


def test_start_distribution():
    assert ao.MDP(HALVES, NOTHING, 1).start_distribution.tolist() == [0.0, 1.0]
    assert ao.MDP(HALVES, NOTHING, [0.25, 0.75]).start_distribution.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("policy", "horizon", "message"),
    [
        ([[0, 2]], None, "policy of step 0 is 2 in state 1, but actions are 0 to 1"),
        ([[0, 1, 0]], None, r"a policy of actions must have shape \(2,\) or \(H, \.\.\.\), not \(1, 3\)"),
        ([0, 1], None, "horizon is needed: this policy is the same at every step"),
        (np.full((2, 2), 0.5), None, "horizon is needed"),
        (np.full((2, 2), 0.4), 3, "policy of step 0 sums to 0.8 in state 0, not 1"),
        ([[1.0, np.nan], [0.5, 0.5]], 3, r"policy\[0, 1\] is nan"),
        ([[0, 1], [0, 1]], 3, "horizon is 3, but the policy has 2 steps"),
        ([[0, 1]], 5, "horizon is 5, but the policy has 1 steps"),
        ([[0, 1], [0]], 2, "policy is not an array: its rows differ in length"),
        ([0, 1], -1, "horizon must be at least 0, not -1"),
        ([0, 1], 2.5, "horizon must be a whole number, not 2.5"),
    ],
)
def test_bad_policy_is_named(policy, horizon, message):
    with pytest.raises(ValueError, match=message):
        ao.MDP(HALVES, NOTHING).policy_values(policy, horizon)


def test_rollout_walks_the_world():
    world = ao.worlds.gridworld()[0]
    plan = world.optimal_policy(200)
    walk = world.rollout(plan, seed=1)
    assert walk.counts.to_lists()[2].sum() == 200
    again = world.rollout(plan, seed=1)
    assert (walk.state, walk.reward) == (again.state, again.reward)
    assert world.rollout(plan, 3, seed=1).counts.to_lists()[2].sum() == 3
    mean = np.mean([world.rollout(plan, seed=seed).reward for seed in range(2000)])
    spread = np.std([world.rollout(plan, seed=seed).reward for seed in range(2000)]) / np.sqrt(2000)
    assert abs(mean - world.optimal_values(200)[0, 5]) < 4 * spread  # false-alarm rate below 0.01 %


def test_rollout_says_no():
    world = ao.worlds.gridworld()[0]
    with pytest.raises(ValueError, match="steps is needed"):
        world.rollout(np.zeros(16, int))
    with pytest.raises(ValueError, match="steps must be between 0 and 5, not 6"):
        world.rollout(np.zeros((5, 16), int), 6)
    with pytest.raises(ValueError, match="policy of actions, not of probabilities"):
        world.rollout(np.full((16, 4), 0.25), 6)
    with pytest.raises(ValueError, match="start must be between 0 and 15, not 16"):
        world.rollout(np.zeros(16, int), 6, start=16)


class TestModelSet:
    def test_is_a_sequence(self):
        models = ao.worlds.gridworld()
        assert len(models) == 4
        assert list(models)[2] is models[2]
        assert models[-1] is models[3]
        assert isinstance(models[1:3], ao.ModelSet)
        assert list(models[1:3]) == [models[1], models[2]]
        assert models.rewards.shape == (16, 4)

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (
                ao.MDP(np.full((3, 2, 3), 1 / 3), np.zeros((3, 2))),
                r"models\[1\]\.n_states is 3, models\[0\]\.n_states is 2",
            ),
            (
                ao.MDP(np.full((2, 3, 2), 0.5), np.zeros((2, 3))),
                r"models\[1\]\.n_actions is 3, models\[0\]\.n_actions is 2",
            ),
            (ao.MDP(HALVES, [[0, 0], [0.5, 0]]), r"models\[1\]\.rewards\[1, 0\] is 0\.5, that of models\[0\] is 0;"),
            ("world", r"models\[1\] is 'world', not an MDP"),
        ],
    )
    def test_worlds_that_do_not_fit(self, other, message):
        with pytest.raises(ValueError, match=message):
            ao.ModelSet([ao.MDP(HALVES, NOTHING), other])

    def test_the_default_level_lies_between_half_the_separation_and_the_separation(self):
        close = ao.worlds.random_models(separation=5e-7, differing=0.1)
        assert close.default_level() == pytest.approx(2.5e-7)
        assert close.is_distinguishing(close.distinguishing_set(), 2.5e-7)
        same = ao.worlds.gridworld()[0]
        with pytest.raises(ValueError, match=r"models\[0\] and models\[1\] differ nowhere by more than level = 0"):
            ao.ModelSet([same, same]).distinguishing_set()

    def test_not_a_list(self):
        for wrong in (3, ao.MDP(HALVES, NOTHING)):
            with pytest.raises(ValueError, match=r"models is .*, not a list of worlds"):
                ao.ModelSet(wrong)

    def test_empty(self):
        with pytest.raises(ValueError, match="models is empty"):
            ao.ModelSet([])

    def test_one_world_is_separated_from_nothing(self):
        single = ao.ModelSet([ao.MDP(HALVES, NOTHING)])
        assert single.separation() == float("inf")
        assert single.distinguishing_set() == []
        assert single.is_distinguishing([], 1.0)

    def test_bad_questions(self):
        models = ao.worlds.gridworld()
        with pytest.raises(ValueError, match=r"models\[0\] and models\[1\] differ nowhere by more than level = 1\.5"):
            models.distinguishing_set(1.5)
        with pytest.raises(ValueError, match="j must be between 0 and 3, not 4"):
            models.distinguishing_pairs(0, 4, 1.0)
        with pytest.raises(ValueError, match=r"pairs\[1\] state must be between 0 and 15, not 16"):
            models.is_distinguishing([(0, 0), (16, 0)], 1.0)
        with pytest.raises(ValueError, match=r"pairs\[0\] is 3, not \(state, action\)"):
            models.is_distinguishing([3], 1.0)
        with pytest.raises(ValueError, match="level must be a number, not 'a'"):
            models.distinguishing_set("a")
        with pytest.raises(
            ValueError, match="method must be one of 'exact', 'greedy', not 'greddy'; did you mean 'greedy'"
        ):
            models.distinguishing_set(method="greddy")

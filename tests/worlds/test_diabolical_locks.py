import itertools

import numpy as np
import pytest

import aomultirl as ao

TREASURE, TRINKET, TURN, OUT = range(21, 25)


def open_the_lock(world, lock, length=5, actions=4):
    """The slow twin of a code: the right action in every state of a lock, found by trying all."""
    code = {}
    for layer in range(length):
        for side in range(2):
            state = 1 + 4 * layer + 2 * lock + side
            right = [a for a in range(actions) if world.transitions[state, a, TURN] == 0.0]
            assert len(right) == 1
            code[state] = right[0]
    return code


@pytest.mark.parametrize("seed", range(3))
def test_the_code_of_a_lock_leads_through_its_layers_to_its_prize(seed):
    for number, world in enumerate(ao.worlds.diabolical_locks(seed=seed)):
        for lock in range(2):
            reached = world.transitions[0, 2 * lock]
            for layer in range(5):
                states = [1 + 4 * layer + 2 * lock + side for side in range(2)]
                assert reached[states].tolist() == [0.5, 0.5]
                code = open_the_lock(world, lock)
                rows = [world.transitions[state, code[state]] for state in states]
                assert np.array_equal(*rows)
                reached = rows[0]
            assert reached[TREASURE if lock == number % 2 else TRINKET] == 1.0


def test_every_wrong_action_is_a_wrong_turn_and_all_ends_lead_out():
    for world in ao.worlds.diabolical_locks():
        assert (world.transitions[1:TREASURE, :, TURN].sum(axis=1) == 3.0).all()
        assert (world.transitions[TREASURE:OUT, :, OUT] == 1.0).all()
        assert np.flatnonzero(world.terminal).tolist() == [OUT]
        assert world.rewards.max(axis=1).tolist() == [0.0] * TREASURE + [1.0, 0.25, 0.05, 0.0]


def test_actions_at_the_start_are_shared_between_the_locks():
    for actions, half in ((2, 1), (3, 2), (5, 3)):
        world = ao.worlds.diabolical_locks(1, 1, actions)[0]
        assert [int(row.argmax()) for row in world.transitions[0]] == [1] * half + [3] * (actions - half)


def test_an_episode_earns_the_treasure_if_it_is_long_enough_and_chance_hardly_anything():
    for world in ao.worlds.diabolical_locks():
        assert world.first_values(7)[0] == 1.0
        assert world.first_values(6)[0] == 0.05
        luck = 4.0**-5
        expected = 0.5 * luck * (1.0 + 0.25) + (1.0 - luck) * 0.05
        assert world.policy_values(np.full((25, 4), 0.25), 7)[0, 0] == pytest.approx(expected)


def test_the_wrong_lock_pays_the_small_prize():
    models = ao.worlds.diabolical_locks(2, codes="shared")
    first, second = models
    assert second.policy_values(first.optimal_policy(7))[0, 0] == 0.25
    differing = np.argwhere(models.distances()[0, 1] > 0)
    assert sorted(set(differing[:, 0].tolist())) == [17, 18, 19, 20]  # the last layer
    assert len(differing) == 4


def test_worlds_with_codes_of_their_own_are_all_different():
    models = ao.worlds.diabolical_locks(32, 1, 2)  # as many as there are
    for first, second in itertools.combinations(models, 2):
        assert not np.array_equal(first.transitions, second.transitions)


def test_seeds_make_codes():
    one, same, other = (ao.worlds.diabolical_locks(seed=seed)[0].transitions for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_again_makes_the_worlds_communicating_and_the_locks_are_tried_many_times():
    models = ao.worlds.diabolical_locks(again=True)
    for world in models:
        assert world.n_states == 24
        assert not world.terminal.any()
        assert world.is_communicating()
        assert world.first_values(70)[0] == 10.0
        assert world.diameter() < np.inf


@pytest.mark.parametrize("again", [False, True])
def test_agents_run_there_and_who_knows_the_code_has_it_all(again):
    models = ao.worlds.diabolical_locks(2, 2, 2, again=again)
    history = ao.run(ao.agents.Optimal(4), models, ao.streams.uniform(), 20)
    assert history["learning_reward"].tolist() == [1.0] * 20
    learned = ao.run(ao.agents.Told(ao.learning.PSRL(), 4), models, ao.streams.uniform(), 400)
    assert learned["learning_reward"][200:].mean() > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": 0}, "models must be between 1 and 200, not 0"),
        ({"models": 3, "codes": "shared"}, "models must be between 1 and 2, not 3"),
        ({"models": 33, "length": 1, "actions": 2}, "models must be between 1 and 32, not 33"),
        ({"length": 0}, "length must be between 1 and 1000, not 0"),
        ({"actions": 1}, "actions must be between 2 and 100, not 1"),
        ({"trinket": 1.5}, "trinket must be at most 1, not 1.5"),
        ({"temptation": 0.3}, "temptation must be at most 0.25, not 0.3"),
        ({"codes": "none"}, "codes must be one of 'own', 'shared', not 'none'"),
        ({"again": 2}, "again must be True or False, not 2"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ao.worlds.diabolical_locks(**arguments)

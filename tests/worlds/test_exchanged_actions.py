from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from aomultirl.worlds.exchanged_actions import exchange_actions


def test_actions_do_what_others_did():
    before, order = FrozenLakeEnv().P, (2, 0, 3, 1)
    after = exchange_actions(FrozenLakeEnv(), order).P
    assert after.keys() == before.keys()
    for state, rows in before.items():
        assert after[state] == {action: rows[meant] for action, meant in enumerate(order)}


def test_the_order_that_there_was_changes_nothing():
    assert exchange_actions(FrozenLakeEnv(), range(4)).P == FrozenLakeEnv().P

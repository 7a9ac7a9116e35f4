"""Specifications of good form that could not run: refused when they are read, with one sentence."""

import pytest

from specifications import AOMULTIRL, BASE, WORLDS, check, message


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '["stay", "third"]',
            '["stay", "thrid"]',
            "worlds[0].edges must be one of 'third', 'stay', not 'thrid'; did you mean 'third'?",
        ),
        ("edges", "size = 2\nedges", "worlds[0].size must be at least 3, not 2"),
        ("0.03", "[0.03, 3]", "agents[0].failure must be below 1, not 3"),
        (
            "500",
            '500\nrewards = "unknwon"',
            "agents[0].rewards must be one of 'known', 'unknown', not 'unknwon'; did you mean 'unknown'?",
        ),
        (
            "[[agents]]",
            AOMULTIRL + "horizon = 2000\nclustering_horizon = 2000\n[[agents]]",
            "agents[0] (AOMultiRL) in worlds[0] (gridworld, edges=stay): the clustering phase takes H0 = 2,000 steps, "
            "but horizon is 2,000",
        ),
        (
            "[[agents]]",
            AOMULTIRL + "learning_horizon = 9\nhitting_time = 7\ndistinguishing_set = [[1, 0], [99, 0]]\n[[agents]]",
            "agents[0].distinguishing_set[1] state must be between 0 and 15, not 99 "
            "in worlds[0] (gridworld, edges=stay)",
        ),
        (
            "[[agents]]",
            '[[streams]]\nname = "sequence"\ntasks = [0, 1]\n[[agents]]',
            "streams[0].tasks has 2 entries, but there are 60 episodes",
        ),
        (
            "[[agents]]",
            f'[[streams]]\nname = "sequence"\ntasks = {[0] * 59 + [4]}\n[[agents]]',
            "streams[0] (sequence) in worlds[0] (gridworld, edges=stay): the task of episode 59 must be between 0 and "
            "3, not 4",
        ),
        (
            "[[agents]]",
            '[[streams]]\nname = "uniform"\nstart = 16\n[[agents]]',
            "streams[0] (uniform) in worlds[0] (gridworld, edges=stay): the start of episode 0 must be between 0 and "
            "15, not 16",
        ),
        (
            "[[agents]]",
            AOMULTIRL + "hitting_time = 7\n[[agents]]",
            "agents[0] (AOMultiRL) in worlds[0] (gridworld, edges=stay): give either horizon (H) or "
            "learning_horizon (H1)",
        ),
        ("runs = 2", 'name = "../other"', "name is '../other', and a folder cannot be called that"),
    ],
)
def test_what_worlds_streams_and_agents_refuse(old, new, words):
    check(old, new, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[[agents]]",
            AOMULTIRL + "learning_horizon = 9\n[[agents]]",
            "agents[0] (AOMultiRL) needs hitting_time, and worlds[0] (gridworld, edges=stay) has none: it is infinite; "
            "give one, or take another agent",
        ),
        (
            WORLDS,
            '[[worlds]]\nname = "jao"\n[[worlds]]\nname = "two_jao"\n' + AOMULTIRL + "learning_horizon = [8, 9]\n",
            "agents[0] (AOMultiRL, learning_horizon=8) needs hitting_time, and worlds[1] (two_jao) has none: it is "
            "infinite; give one, or take another agent",
        ),
        (
            WORLDS,
            '[[worlds]]\nname = "random_models"\nmodels = 1\n' + AOMULTIRL + "learning_horizon = 9\n",
            "agents[0] (AOMultiRL) needs separation, and worlds[0] (random_models) has none: it is a single world; "
            "give one, or take another agent",
        ),
        (
            WORLDS,
            '[[worlds]]\nname = "from_gymnasium"\nenvs = ["FrozenLake-v1", "FrozenLake-v1"]\nterminal = "restart"\n'
            + AOMULTIRL
            + "learning_horizon = 9\n",
            "agents[0] (AOMultiRL) needs separation, and worlds[0] (from_gymnasium) has none: two of its worlds are "
            "the same; give one, or take another agent",
        ),
        (
            "[[agents]]",
            AOMULTIRL
            + 'learning_horizon = 9\nseparation = 1.5\ndistinguishing_set = "world"\nhitting_time = 7\n[[agents]]',
            "agents[0] (AOMultiRL) needs distinguishing_set, and worlds[0] (gridworld, edges=stay) has none: models[0] "
            "and models[1] differ nowhere by more than level = 1.5; give one, or take another agent",
        ),
    ],
)
def test_what_the_worlds_cannot_say(old, new, words):
    check(old, new, words)


def test_a_world_asked_for_what_is_also_given_is_the_same_agent_twice():
    text = BASE.replace('["stay", "third"]', '"stay"') + (
        '[[agents]]\nname = "SequentialAOMultiRL"\nfailure = 0.03\nhorizon = 500\nseparation = ["world", 1.299999]\n'
    )
    assert message(text) == (
        "agents[1] (SequentialAOMultiRL, separation=1.299999) is the same as agents[1] (SequentialAOMultiRL, "
        "separation=world) in worlds[0] (gridworld); leave one out"
    )

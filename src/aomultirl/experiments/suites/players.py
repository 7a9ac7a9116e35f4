"""Who plays in the suites that measure reward: one table of agents, and one of planners that are ceilings."""

from typing import Any

Described = dict[str, Any]
"""{"name", "parameters"}, as in a cell."""
FAILURE = 0.03
"""p, the probability with which what agents prove may be wrong."""
RANDOM, ONE_EPISODE, POOLED, RECALL = "Random", "one-episode learner", "pooled learner", "Recall"
TOLD_THE_TASK, TOLD_NOTHING = "learner told the task", "optimum, told nothing"
QMDP, LIKELIEST = "QMDP, knows the worlds", "likeliest world, knows the worlds"
"""What rows are called."""


def players(horizon: int, rewards: str) -> dict[str, Described]:
    """The agents of a suite by what their rows are called; each plays every world.

    Parameters
    ----------
    horizon
        H.
    rewards
        "known" or "unknown" to the agents.
    """
    told: dict[str, Any] = {"horizon": horizon, "rewards": rewards}
    return {
        RANDOM: {"name": "Random", "parameters": {"horizon": horizon}},
        ONE_EPISODE: {"name": "OneEpisodeLearner", "parameters": told},
        POOLED: {"name": "Pooled", "parameters": {"learner": {"name": "Practical", "parameters": {}}, **told}},
        RECALL: {"name": "Recall", "parameters": {"failure": FAILURE, **told}},
        TOLD_THE_TASK: {"name": "OracleLearner", "parameters": told},
        **peers(told),
    }


def peers(told: dict[str, Any]) -> dict[str, Described]:
    """Learners of others by what their rows are called: a line each, with ``told`` among the parameters.

    `Recall` should earn more than each of them in the last column of every world, and the table says whether it does.
    """
    shapes = {"QLearning": "Q-learning", "PSRL": "PSRL"}
    rows = {
        f"{words}, {form}": {"name": kind, "parameters": {"learner": {"name": name, "parameters": {}}, **told}}
        for name, words in shapes.items()
        for form, kind in (("pooled", "Pooled"), ("fresh", "OneEpisode"))
    }
    return {**rows, "mixture of MDPs": {"name": "MixtureOfMDPs", "parameters": told}}


def planners(horizon: int, is_deterministic: bool) -> dict[str, Described]:
    """The planners that know the worlds, by what their rows are called.

    That which is exact is a ceiling for everybody who is told nothing, and is for worlds that are deterministic alone.
    The others are not: each of them can be beaten where one should act in order to find out.
    """
    names = {QMDP: "qmdp_reward", LIKELIEST: "likeliest_world_reward"}
    if is_deterministic:
        names[TOLD_NOTHING] = "told_nothing_optimum"
    return {label: {"name": name, "parameters": {"horizon": horizon}} for label, name in names.items()}

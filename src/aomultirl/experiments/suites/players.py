"""Who plays in the suites that measure reward: one table of agents, and one of planners that are ceilings."""

from typing import Any

Described = dict[str, Any]
"""{"name", "parameters"}, as in a cell."""
FAILURE = 0.03
"""p, the probability with which what agents prove may be wrong."""
RANDOM, ONE_EPISODE, POOLED, RECALL = "Random", "one-episode learner", "pooled learner", "Recall"
TOLD_THE_TASK, QMDP, TOLD_NOTHING = "learner told the task", "QMDP, knows the worlds", "optimum, told nothing"
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
        **_peers(told),
    }


def _peers(told: dict[str, Any]) -> dict[str, Described]:
    """Learners of others that `Recall` is compared with: a line each, with ``told`` among the parameters."""
    return {}


def planners(horizon: int, is_deterministic: bool) -> dict[str, Described]:
    """The ceilings by what their rows are called; the exact one is for worlds that are deterministic alone."""
    qmdp = {QMDP: {"name": "qmdp_reward", "parameters": {"horizon": horizon}}}
    exact = {TOLD_NOTHING: {"name": "told_nothing_optimum", "parameters": {"horizon": horizon}}}
    return {**qmdp, **exact} if is_deterministic else qmdp

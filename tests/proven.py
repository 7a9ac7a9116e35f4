"""Worlds so small, and so easy to tell apart, that the paper's own constants take no time: Theorem 16 holds in them."""

import aomultirl as ao

LAMBDA, HITTING_TIME = 1.6 - 1e-6, 10.0


def proven_worlds():
    """Two worlds of two states and two actions, 1.6 apart at (0, 0); ten steps lead from anywhere to anywhere."""
    even = [0.5, 0.5]
    rewards = [[0.0, 0.2], [1.0, 0.5]]
    return ao.ModelSet([ao.MDP([[[1.0 - up, up], even], [even, even]], rewards) for up in (0.1, 0.9)])


def proven_agent(**changes):
    """What is told the truth about them."""
    told = {"models": 2, "separation": LAMBDA, "hitting_time": HITTING_TIME, "failure": 0.5, "learning_horizon": 20}
    return ao.agents.AOMultiRL(**{**told, "distinguishing_set": [(0, 0)], **changes})

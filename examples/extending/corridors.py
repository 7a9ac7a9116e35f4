"""Worlds of one's own in one file: corridors, each with its reward behind a wind of another strength."""

import numpy as np

from aomultirl.extending import MDP, ModelSet, checks

__all__ = ["corridors"]


def corridors(length: int = 5, winds: int = 2) -> ModelSet:
    """Corridors of so many cells; action 1 goes forward, unless the wind blows one back; action 0 goes back.

    Parameters
    ----------
    length
        cells; being in the last one earns 1.
    winds
        how many worlds there are, each with another wind.
    """
    length = checks.integer("length", length, least=2)
    winds = checks.integer("winds", winds, least=2)
    rewards = np.zeros((length, 2))
    rewards[-1] = 1.0
    worlds = []
    for wind in np.linspace(0.0, 0.8, winds):
        transitions = np.zeros((length, 2, length))
        for cell in range(length):
            back, forward = max(0, cell - 1), min(length - 1, cell + 1)
            transitions[cell, 0, back] += 1.0
            transitions[cell, 1, forward] += 1.0 - wind
            transitions[cell, 1, back] += wind
        worlds.append(MDP(transitions, rewards))
    return ModelSet(worlds)

"""The suite ``drift``: a bandit that drifts, two that come in blocks, and two that alternate.

Bandits, and episodes of six steps, because RestartQ-UCB keeps a table for every step: in larger worlds and longer
episodes it learns nothing within any number of episodes that a laptop plays.
"""

import numpy as np

from aomultirl import theory
from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest
from aomultirl.experiments.suites.scenes import world
from aomultirl.worlds import bandits

EPISODES, HORIZON = 2_000, 6
STATES, ACTIONS = 2, 2
GOOD, BAD = 0.9, 0.1
"""How often the better arm pays, and the other one; in the opposite bandit it is the other way round."""
DRIFTING, BLOCKS, ALTERNATING = "a bandit that drifts", "two bandits in blocks", "two bandits that alternate"
WORLDS = {DRIFTING: 20, BLOCKS: 2, ALTERNATING: 2}
"""Bandits between one and its opposite, both included."""
LENGTHS = {DRIFTING: EPISODES // WORLDS[DRIFTING], BLOCKS: EPISODES // 8, ALTERNATING: 1}
"""Episodes until the next one comes."""
CLUSTERING_HORIZON = 3
"""H0: half of an episode, enough for one sample of a pair."""


def drift_suite() -> list[SuiteCase]:
    """Three streams over bandits with two arms, with everybody for whom six steps are enough."""
    places = []
    for name in WORLDS:
        variation = variation_of(name)
        epochs = theory.restart_q_epochs(
            states=STATES, actions=ACTIONS, episodes=EPISODES, horizon=HORIZON, variation=variation
        )
        contest = Contest(
            HORIZON,
            EPISODES,
            1,
            CLUSTERING_HORIZON,
            STATES * ACTIONS,
            variation=variation,
            epochs=epochs,
            bandits=WORLDS[name],
        )
        places.append(Place(name, world("bandits", means=means(name)), stream("blocks", length=LENGTHS[name]), contest))
    return [case for place in places for case in place.cases()]


def means(name: str) -> list[list[float]]:
    """How often the two arms pay in every bandit of a stream: from one to its opposite in equal steps."""
    first = np.linspace(GOOD, BAD, WORLDS[name])
    return [[round(float(one), 9), round(float(other), 9)] for one, other in zip(first, first[::-1], strict=True)]


def variation_of(name: str) -> float:
    """The variation budget of a stream, exact."""
    tasks = [episode // LENGTHS[name] % WORLDS[name] for episode in range(EPISODES)]
    return float(theory.variation_budget(bandits(means(name)), tasks, HORIZON).total)


def bound_share(name: str) -> float:
    """The order of the bound of RestartQ-UCB for a stream, as a multiple of K H, which everybody has."""
    bound = theory.restart_q_bound(
        states=STATES, actions=ACTIONS, episodes=EPISODES, horizon=HORIZON, variation=variation_of(name)
    )
    return float(bound) / (EPISODES * HORIZON)

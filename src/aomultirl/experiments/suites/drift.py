"""The suite ``drift``: one world that drifts, two that come in blocks, and two that alternate.

The worlds are tiny and episodes have four steps, because RestartQ-UCB keeps a table for every step: in longer ones it
learns nothing within any number of episodes that a laptop plays, and its bound is above K H in all three streams.
"""

from aomultirl import theory
from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest
from aomultirl.experiments.suites.scenes import world
from aomultirl.worlds import drifting_rings

EPISODES, HORIZON = 10_000, 4
STATES, ACTIONS, SEPARATION = 3, 2, 1.5
DRIFTING, BLOCKS, ALTERNATING = "a ring that drifts", "two rings in blocks", "two rings that alternate"
WORLDS = {DRIFTING: 25, BLOCKS: 2, ALTERNATING: 2}
LENGTHS = {DRIFTING: EPISODES // 25, BLOCKS: EPISODES // 8, ALTERNATING: 1}
"""Episodes until the next world comes."""
CLUSTERING_HORIZON = 2
"""H0: half of an episode, enough for one sample of a pair."""


def drift_suite() -> list[SuiteCase]:
    """Three streams over rings of three states, with everybody for whom four steps are enough."""
    places = []
    for name, count in WORLDS.items():
        variation = variation_of(name)
        contest = Contest(
            HORIZON,
            EPISODES,
            1,
            CLUSTERING_HORIZON,
            STATES * ACTIONS,
            variation=variation,
            epochs=theory.restart_q_epochs(
                states=STATES, actions=ACTIONS, episodes=EPISODES, horizon=HORIZON, variation=variation
            ),
        )
        rings = world("drifting_rings", states=STATES, models=count, separation=SEPARATION)
        places.append(Place(name, rings, stream("blocks", length=LENGTHS[name]), contest))
    return [case for place in places for case in place.cases()]


def variation_of(name: str) -> float:
    """The variation budget of a stream, exact."""
    count, length = WORLDS[name], LENGTHS[name]
    tasks = [episode // length % count for episode in range(EPISODES)]
    return float(theory.variation_budget(drifting_rings(STATES, count, SEPARATION), tasks, HORIZON).total)


def bound_share(name: str) -> float:
    """The order of the bound of RestartQ-UCB for a stream, as a multiple of K H, which everybody has."""
    bound = theory.restart_q_bound(
        states=STATES, actions=ACTIONS, episodes=EPISODES, horizon=HORIZON, variation=variation_of(name)
    )
    return float(bound) / (EPISODES * HORIZON)

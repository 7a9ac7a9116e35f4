"""The suite ``hard``: worlds that are hard to tell apart, worlds whose best policies differ, and worlds in which what
differs is hard to reach."""

from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest, enough_samples
from aomultirl.experiments.suites.scenes import world

EPISODES, TREE_EPISODES = 200, 100
RING_STATES = 9
"""An odd number: on an even one every policy goes round with period two, and averages of reward hardly settle."""
RING, RIVER, TREE = "rings", "rivers", "2-JAO tree"
"""What places are called, or begin with."""
RINGS = ((1.0, 4), (1.0, 8), (0.5, 4))
"""lambda and M of the rings."""
RING_HORIZONS = {1.0: 1_000, 0.5: 3_000}
"""H for each lambda: a pair is sampled four times as often where lambda is half as large."""
TREE_STATES, TREE_SEPARATION, TREE_HORIZON = 9, 0.5, 6_000
"""States, and actions, lambda and H of the 2-JAO trees."""
RIVER_STATES, RIVER_SEPARATION, RIVER_HORIZON, RIVER_SAMPLES = 8, 1.5, 4_000, 20
"""S, lambda and H of the rivers, and how often the spring, the one pair that differs, is visited."""
CLUSTERING_SHARE = 0.75
"""H0 as a share of H."""


def hard_suite() -> list[SuiteCase]:
    """Rings at several lambda and M, on which learners that are pooled must lose, 2-JAO trees, and rivers."""
    places = [
        Place(
            f"{RING}, lambda = {separation:g}, M = {models}",
            world("rings", states=RING_STATES, separation=separation, models=models),
            stream("uniform"),
            _contest(RING_HORIZONS[separation], separation, 2 * RING_STATES),
        )
        for separation, models in RINGS
    ]
    tree = world(
        "two_jao_tree", states=TREE_STATES, actions=TREE_STATES, diameter=16.0, separation=TREE_SEPARATION, models=6
    )
    branches = _contest(TREE_HORIZON, TREE_SEPARATION, TREE_STATES**2, TREE_EPISODES)
    places.append(Place(TREE, tree, stream("uniform"), branches))
    springs = Contest(RIVER_HORIZON, EPISODES, RIVER_SAMPLES, int(CLUSTERING_SHARE * RIVER_HORIZON), 2 * RIVER_STATES)
    places.append(
        Place(RIVER, world("rivers", states=RIVER_STATES, separation=RIVER_SEPARATION), stream("uniform"), springs)
    )
    return [case for place in places for case in place.cases()]


def _contest(horizon: int, separation: float, pairs: int, episodes: int = EPISODES) -> Contest:
    return Contest(horizon, episodes, enough_samples(separation), int(CLUSTERING_SHARE * horizon), pairs)

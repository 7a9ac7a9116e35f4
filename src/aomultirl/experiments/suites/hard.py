"""The suite ``hard``: worlds that are hard to tell apart, worlds whose best policies differ, and a pair that is hard to
reach."""

from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest, enough_samples
from aomultirl.experiments.suites.scenes import world

EPISODES = 200
RING, RARE_PAIR, TREE = "rings", "rare pair", "2-JAO tree"
"""What places are called, or begin with."""
RINGS = ((1.0, 4), (1.0, 8), (0.5, 4))
"""lambda and M of the rings."""
RING_HORIZONS = {1.0: 1_000, 0.5: 3_000}
"""H for each lambda: a pair is sampled four times as often where lambda is half as large."""
TREE_SEPARATION, TREE_HORIZON = 0.5, 20_000
"""lambda and H of the 2-JAO trees."""
RARE_HORIZON, RARE_SAMPLES = 2_000, 30
"""H where worlds differ at a pair that is hard to reach, and how often it is visited: lambda is 1.4."""
CLUSTERING_SHARE = 0.75
"""H0 as a share of H."""


def hard_suite() -> list[SuiteCase]:
    """Rings at several lambda and M, on which learners that are pooled must lose, 2-JAO trees, and a rare pair."""
    places = [
        Place(
            f"{RING}, lambda = {separation:g}, M = {models}",
            world("rings", separation=separation, models=models),
            stream("uniform"),
            _contest(RING_HORIZONS[separation], separation),
        )
        for separation, models in RINGS
    ]
    tree = world("two_jao_tree", states=9, actions=9, diameter=16.0, separation=TREE_SEPARATION, models=6)
    places.append(Place(TREE, tree, stream("uniform"), _contest(TREE_HORIZON, TREE_SEPARATION)))
    rare = Contest(RARE_HORIZON, EPISODES, RARE_SAMPLES, int(CLUSTERING_SHARE * RARE_HORIZON))
    places.append(Place(RARE_PAIR, world("rare_pair"), stream("uniform"), rare))
    return [case for place in places for case in place.cases()]


def _contest(horizon: int, separation: float) -> Contest:
    return Contest(horizon, EPISODES, enough_samples(separation), int(CLUSTERING_SHARE * horizon))

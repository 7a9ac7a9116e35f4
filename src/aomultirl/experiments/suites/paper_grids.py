"""The suite ``paper``: everybody on the paper's grids, in the paper's stream."""

from aomultirl.experiments.paper import SEPARATION
from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest, enough_samples
from aomultirl.experiments.suites.scenes import world

EPISODES, HORIZON = 200, 2_000
"""K as in the paper; H so long that a phase of clustering fits in."""
PAIRS = 64
"""S A."""
CLUSTERING_HORIZON = 1_500
"""H0: some 40 visits of each of three pairs take a few hundred steps."""


def paper_suite() -> list[SuiteCase]:
    """Both grids: that of the text, and that which the authors ran."""
    contest = Contest(HORIZON, EPISODES, enough_samples(SEPARATION), CLUSTERING_HORIZON, PAIRS)
    return [
        case
        for edges in ("third", "stay")
        for case in Place(f"grid, {edges}", world("gridworld", edges=edges), stream("paper"), contest).cases()
    ]

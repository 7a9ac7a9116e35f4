"""Which 2-JAO trees are swept, by whom, and with how many episodes: S, A, D and lambda of the claims on clustering."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from aomultirl.laboratory.exponents import Floats
from aomultirl.laboratory.jao_trees import (
    EXPLORE_ID,
    EXPLORERS,
    FAILURE,
    GOSPRL,
    LIKELIHOOD,
    THRESHOLD,
    TOLD_LEVEL,
    TOLD_WORLDS,
    NamingTask,
    Reading,
    Tree,
    line,
)

SCALES = (0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0)
"""N lambda^2 at which rules are tried; the last serves probabilities above 1/2."""
SOME_SCALES = {False: (2.0, 16.0), True: (2.0, 36.0)}
"""The same for GOSPRL, whose steps grow along a line; the second serves probabilities above 1/2."""
HALF, SURE = 0.5, 1.0 - FAILURE
SWEPT = {"separation": "lambda", "diameter": "D", "states": "S", "actions": "A"}
"""What is varied, and its letter."""


class TreeSweep(NamedTuple):
    """Trees that differ along an axis, for one explorer.

    name: sweeps of one name share a chart.
    axis, explorer, trees: the field of a tree that is varied, who explores, and the trees.
    repetitions, ways: episodes a point, of ExploreID with every N; and the same of GOSPRL.
    levels: probabilities of success.
    short: why the values do not span a decade.  Then exponents of S and A are shown and not judged, since steps that
        have nothing to do with S or A cannot be told from those that have.
    """

    name: str
    axis: str
    explorer: str
    trees: tuple[Tree, ...]
    repetitions: int
    ways: int = 0
    levels: tuple[float, ...] = (HALF, SURE)
    short: str = ""

    @property
    def readings(self) -> list[Reading]:
        """What is read off at every point."""
        readings = [Reading(self.explorer, THRESHOLD, level) for level in self.levels]
        if self.explorer == EXPLORE_ID:
            readings.insert(1, Reading(self.explorer, LIKELIHOOD, HALF))
        return readings

    @property
    def is_judged(self) -> bool:
        """Whether the sweep is long enough for its exponents to be judged."""
        return not self.short or self.axis in ("separation", "diameter")

    @property
    def x(self) -> Floats:
        """Where the trees are on the axis, (points,)."""
        return np.array([getattr(tree, self.axis) for tree in self.trees], np.float64)

    def exponent(self, of: Callable[[Tree], float]) -> float:
        """The exponent of something that can be computed for every tree, along the axis."""
        return line(self.x, np.array([[of(tree)] for tree in self.trees], np.float64)).slope

    def tasks(self) -> Iterator[NamingTask]:
        """What is run; what takes long comes first."""
        sure = SURE in self.levels
        for tree in reversed(self.trees):
            if self.explorer in EXPLORERS:
                scales = SCALES if sure else SCALES[:-1]
                if self.explorer == GOSPRL:
                    yield from (NamingTask(GOSPRL, tree, self.ways, scale) for scale in SOME_SCALES[sure])
                elif self.axis == "separation":
                    scales = (0.0, *scales)
                yield from (NamingTask(EXPLORE_ID, tree, self.repetitions, scale) for scale in scales)
            else:
                yield NamingTask(self.explorer, tree, self.repetitions)


def along(axis: str, base: Tree, *values: Any) -> tuple[Tree, ...]:
    """Trees that differ from ``base`` along an axis."""
    return tuple(base._replace(**{axis: value}) for value in values)


SMALL, LARGE, STOPPING = Tree(12, 13, 16.0, 0.1), Tree(21, 21, 16.0, 0.1), Tree(12, 13, 16.0, 0.5)
DECADE, LESS, WIDE = (0.5, 0.25, 0.1, 0.05), (0.5, 0.3, 0.18, 0.1), (0.5, 0.36, 0.25, 0.18)
DEEP, DEEPER = (0.5, 0.1, 0.05, 0.02), (0.5, 0.25, 0.1, 0.05, 0.02, 0.01)
"""For GOSPRL: at the first of them learning the ways takes most of the steps, at the last hardly any."""
FAR, NEAR = (16.0, 40.0, 80.0, 160.0), (16.0, 24.0, 40.0, 64.0)
HASTE = "a quick run has no time for more"
PLANNING = "GOSPRL plans anew so often that an episode with more states takes a minute"
BETTING = "told M, a step weighs bets of every world against every other at every pair, of order S^3 A^3"
QUICK = (
    TreeSweep("lambda", "separation", EXPLORE_ID, along("separation", SMALL, *DECADE), 60),
    TreeSweep("lambda_gosprl", "separation", GOSPRL, along("separation", SMALL, *DEEP), 30, 3, (HALF,)),
    TreeSweep("D", "diameter", EXPLORE_ID, along("diameter", SMALL, *FAR), 40, 0, (HALF,)),
    TreeSweep("D", "diameter", GOSPRL, along("diameter", SMALL, *NEAR), 40, 3, (HALF,), HASTE),
    TreeSweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 40, 0, (HALF,)),
    TreeSweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 40, 0, (HALF,)),
    TreeSweep(
        "lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *LESS), 24, 0, (HALF,), HASTE
    ),
    TreeSweep(
        "lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *WIDE), 10, 0, (HALF,), HASTE
    ),
    TreeSweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *NEAR), 10, 0, (HALF,), HASTE),
    TreeSweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 15, 18, 27), 16, 0, (HALF,), HASTE),
    TreeSweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 17, 21, 29), 16, 0, (HALF,), HASTE),
)
FULL = (
    TreeSweep("lambda", "separation", EXPLORE_ID, along("separation", LARGE, *DECADE), 300),
    TreeSweep("lambda_gosprl", "separation", GOSPRL, along("separation", SMALL, *DEEPER), 60, 6),
    TreeSweep("D", "diameter", EXPLORE_ID, along("diameter", LARGE, *FAR), 300),
    TreeSweep("D", "diameter", GOSPRL, along("diameter", LARGE, *FAR), 300, 3),
    TreeSweep("S", "states", EXPLORE_ID, along("states", SMALL, 12, 24, 48, 120), 300),
    TreeSweep("S", "states", GOSPRL, along("states", SMALL, 12, 24, 36, 60), 300, 4, short=PLANNING),
    TreeSweep("A", "actions", EXPLORE_ID, along("actions", SMALL, 13, 25, 61, 133), 300),
    TreeSweep("A", "actions", GOSPRL, along("actions", SMALL, 13, 25, 61, 133), 300, 3),
    TreeSweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", STOPPING, *DECADE), 60),
    TreeSweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", STOPPING, *DECADE), 24),
    TreeSweep("D_sequential", "diameter", TOLD_WORLDS, along("diameter", STOPPING, *FAR), 120),
    TreeSweep("D_sequential", "diameter", TOLD_LEVEL, along("diameter", STOPPING, *FAR), 24),
    TreeSweep("S_sequential", "states", TOLD_WORLDS, along("states", STOPPING, 12, 18, 24, 36), 80, short=BETTING),
    TreeSweep("S_sequential", "states", TOLD_LEVEL, along("states", STOPPING, 12, 24, 48, 120), 10),
    TreeSweep("A_sequential", "actions", TOLD_WORLDS, along("actions", STOPPING, 13, 21, 29, 37), 80, short=BETTING),
    TreeSweep("A_sequential", "actions", TOLD_LEVEL, along("actions", STOPPING, 13, 25, 61, 133), 10),
)

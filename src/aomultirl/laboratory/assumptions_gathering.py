"""What is run for the claims on the hitting time: an explorer, and H0 steps in which to get N samples of every pair.

The worlds are a 2-JAO world, and a lock: states 0 to L, the first action one further, the second back to 0, and samples
are wanted in state L.  The diameter of a lock is L; a random walk takes 2^L.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import theory
from aomultirl.agents.base import NOTHING
from aomultirl.engine.counts import CountTable, visits_of
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring import explore_id, gosprl
from aomultirl.mdp import MDP
from aomultirl.worlds.jao import HUB, two_jao

EXPLORE_ID, GOSPRL = "ExploreID", "GOSPRL"
TWO_JAO, LOCK = "2-JAO", "lock"
ACTIONS, LEVEL, FAILURE = 4, 0.5, 0.1
"""Left actions of the 2-JAO world; lambda; p."""


class Gathered(NamedTuple):
    """Of R episodes: steps, and samples of pairs of Gamma, N of each at the most, (R,)."""

    steps: NDArray[np.float64]
    samples: NDArray[np.float64]


@dataclass(frozen=True)
class Gathering:
    """Episodes in which an explorer has H0 steps to get the paper's N samples of every pair of Gamma.

    size
        D of a 2-JAO world, L of a lock.
    guess
        in place of the hitting time.
    """

    explorer: str
    world: str
    size: int
    guess: float
    repetitions: int

    @property
    def targets(self) -> NDArray[np.bool_]:
        """Gamma: the left pairs of the hub, or the first pair of the last state."""
        model = world(self.world, self.size)
        mask = np.zeros((model.n_states, model.n_actions), bool)
        if self.world == TWO_JAO:
            mask[HUB, :ACTIONS] = True
        else:
            mask[-1, 0] = True
        return mask

    @property
    def needed(self) -> int:
        """N."""
        return theory.samples_needed(len(self.targets), int(self.targets.sum()), LEVEL, 1, FAILURE)

    @property
    def wanted(self) -> int:
        """|Gamma| N."""
        return int(self.targets.sum()) * self.needed

    @property
    def horizon(self) -> int:
        """H0 with the guess."""
        sizes = (len(self.targets), int(self.targets.sum()))
        return theory.clustering_horizon(*sizes, LEVEL, self.guess, 1, FAILURE)

    def play(self, seed: int) -> Gathered:
        """What was gathered."""
        model, targets, needed, horizon = world(self.world, self.size), self.targets, self.needed, self.horizon
        rows = []
        for source in streams(np.random.SeedSequence(seed), 2 * self.repetitions).reshape(-1, 2, 4):
            counts = CountTable(targets.size)
            explorer = explore_id(targets, needed) if self.explorer == EXPLORE_ID else gosprl(targets, needed, FAILURE)
            simulator = Simulator(model.alias_tables, model.gains, 0, *source)
            steps = simulator.run(Phase(explorer, horizon, counts, NOTHING)).steps
            visits = (visits_of(counts.record, int(pair)) for pair in np.flatnonzero(targets))
            rows.append((steps, sum(min(count, needed) for count in visits)))
        steps, samples = np.array(rows, float).T
        return Gathered(steps, samples)


@lru_cache(maxsize=16)
def world(name: str, size: int) -> MDP:
    """A 2-JAO world of diameter at most ``size``, or a lock of so many steps."""
    if name == TWO_JAO:
        return next(iter(two_jao(ACTIONS, float(size), LEVEL)))
    table = [[{min(state + 1, size): 1.0}, {0: 1.0}] for state in range(size)]
    return MDP([*table, [{0: 1.0}, {0: 1.0}]], np.zeros((size + 1, 2)))

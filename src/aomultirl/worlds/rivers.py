"""Rivers, in which one has to swim upstream for long before worlds differ: RiverSwim with hidden springs.

Description
    S states along a river, 0 at the mouth and S - 1 at the spring.

Actions
    0 drifts downstream; 1 swims upstream.

Transitions
    Drifting leads one state downstream.  Swimming leads upstream with probability :data:`AHEAD`, stays with
    :data:`STAY` and is carried downstream otherwise; at the mouth the latter stays too.  At the spring swimming stays
    there, or is washed down to the mouth: in some worlds it mostly stays, in others it is mostly washed away, and these
    probabilities are all that differs.

Rewards
    :data:`SMALL` for drifting at the mouth, 1 for swimming at the spring, 0 everywhere else.

Worlds
    World m stays at the spring with probability 1/2 + lambda / 4 less m lambda / (2 (M - 1)): the first and the last
    are lambda apart.  Whoever acts at random hardly ever gets there: S steps upstream take a number of steps that grows
    exponentially with S, while who plans needs about 3 S.
"""

import numpy as np

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

AHEAD, STAY = 0.35, 0.6
"""How likely swimming leads upstream, and stays; the rest is carried downstream (Strehl and Littman 2008)."""
SMALL = 0.05
"""The reward of drifting at the mouth."""
TABLE_BYTES = 100
"""Memory for every pair of states, and world, with a margin."""


def rivers(states: int = 8, models: int = 2, separation: float = 1.0) -> ModelSet:
    """Worlds that differ at the spring alone, which is hard to reach.

    Parameters
    ----------
    states
        S, at least 3.
    models
        M.
    separation
        lambda between the first and the last world, below 2; neighbours are lambda / (M - 1) apart.

    Examples
    --------
    >>> worlds = rivers(separation=1.5)
    >>> worlds.separation(), worlds.distinguishing_set()
    (1.5, [(7, 1)])
    """
    made = origin("rivers", locals())
    n_states = checks.integer("states", states, least=3)
    count = checks.integer("models", models, least=2)
    level = checks.real("separation", separation, above=0.0, below=2.0)
    sizes.check(
        "states", n_states, float(TABLE_BYTES) * n_states * (n_states + count), f"making {count} worlds", "them"
    )
    here, spring = np.arange(n_states), n_states - 1
    table, rewards = np.zeros((n_states, 2, n_states)), np.zeros((n_states, 2))
    down = np.maximum(here - 1, 0)
    table[here, 0, down] = 1.0
    below = here[:-1]
    table[below, 1, below + 1] = AHEAD
    table[below, 1, below] = STAY
    table[below, 1, down[:-1]] += 1.0 - AHEAD - STAY
    rewards[0, 0], rewards[spring, 1] = SMALL, 1.0
    worlds = []
    for stays in 0.5 + level / 4.0 - level / 2.0 * np.linspace(0.0, 1.0, count):
        table[spring, 1, spring], table[spring, 1, 0] = stays, 1.0 - stays
        worlds.append(MDP(table, rewards))
    return ModelSet(worlds, made)

"""Worlds on a ring in which each state's two actions do opposite things, and worlds disagree which does what.

Description
    S states on a ring.

Transitions
    In every state one action goes forward, to the next state, with probability 1/2 + lambda / 4, and else back to the
    state before; the other action goes back with that probability, and else forward.  Worlds disagree which action is
    the one that goes forward: where two of them do, their rows differ by lambda.

Rewards
    1 in state 0, whatever is done there; 0 everywhere else.  So the best policy goes towards state 0 by the shorter
    way, and is another one in every world.

Worlds
    In every state half of the worlds, drawn at random, have each order.  What all of them together show is the same for
    both actions, so that a learner that takes them for one world has nothing to learn.
"""

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

LEAST_STATES = 3
"""On a ring of fewer both ways lead to the same state."""
TABLE_BYTES = 200
"""Memory for every state and world, with a margin."""
MOST_DRAWS = 1000
"""Draws of which action goes forward, until all worlds differ."""


def rings(states: int = 8, models: int = 4, separation: float = 1.0, seed: int = 0) -> ModelSet:
    """Worlds whose best policies differ, and of which a learner that takes them for one learns nothing.

    Parameters
    ----------
    states
        S, at least 3.
    models
        M, an even number, so that halves are exact.
    separation
        lambda, by which rows differ where worlds disagree, below 2.
    seed
        of which action goes forward.

    Examples
    --------
    >>> rings(separation=0.5).separation()
    0.5
    """
    made = origin("rings", locals())
    n_states = checks.integer("states", states, least=LEAST_STATES)
    count = checks.integer("models", models, least=2)
    level = checks.real("separation", separation, above=0.0, below=2.0)
    size = float(TABLE_BYTES) * n_states * (n_states + count)
    sizes.check("states", n_states, size, f"making {count} worlds", "states or models")
    if count % 2:
        raise checks.Refusal("models", f"is {count}, and must be even, so that halves of the worlds disagree")
    forward = _forward(n_states, count, np.random.default_rng(checks.seed("seed", seed)))
    return ModelSet(_worlds(np.where(forward, 1.0, -1.0), level), made)


def _forward(n_states: int, count: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Whether action 0 goes forward, (M, S): in half of the worlds of every state, and no two worlds alike."""
    halves = np.arange(count) < count // 2
    for _ in range(MOST_DRAWS):
        drawn = np.array([draw.permutation(halves) for _ in range(n_states)]).T
        if len(np.unique(drawn, axis=0)) == count:
            return drawn
    raise checks.Refusal("models", f"is {count}, too many for {n_states} states: two of them would be the same")


def _worlds(lean: NDArray[np.float64], separation: float) -> list[MDP]:
    """The worlds; ``lean``, (M, S), is 1 where action 0 goes forward, and -1 where action 1 does."""
    n_states = lean.shape[1]
    here = np.arange(n_states)
    rewards = np.zeros((n_states, 2))
    rewards[0] = 1.0
    worlds = []
    for row in lean:
        table = np.zeros((n_states, 2, n_states))
        for action, sign in ((0, 1.0), (1, -1.0)):
            forward = 0.5 + sign * row * separation / 4.0
            table[here, action, (here + 1) % n_states] = forward
            table[here, action, (here - 1) % n_states] = 1.0 - forward
        worlds.append(MDP(table, rewards))
    return worlds

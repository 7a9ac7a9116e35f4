"""Bandits: the arms are actions, and worlds differ in how often each arm pays.

Description
    State 0 is "not paid", where episodes start, and state 1 is "paid".  Worlds of a set share their rewards, so the
    arms of two worlds cannot differ in what they earn at once; here they differ in where they lead.

Actions
    K arms.

Transitions
    In world theta arm i leads to state 1 with probability mu_i(theta), and to state 0 otherwise, from either state.

Rewards
    1 for acting in state 1, 0 for acting in state 0: every pull is paid one step after it was made.  So an episode of n
    pulls earns what its first n - 1 pulls paid, and what its last pull paid is seen and not earned.

Worlds
    As many as there are rows of means.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

UNPAID, PAID = range(2)
"""The two states."""
MOST_MODELS, MOST_ARMS = 10_000, 10_000
MEAN_BYTES = 80
"""Memory for every arm of every world: four transitions, two rewards and the mean itself."""


def bandits(
    means: Sequence[Sequence[float]] | None = None, *, models: int = 3, arms: int = 5, seed: int = 0
) -> ModelSet:
    """Bandits with K arms each of which pays 1 or nothing; hidden is which of M vectors of means it is.

    Parameters
    ----------
    means
        (M, K), within [0, 1], how often every arm pays in every world; by default drawn uniformly.
    models, arms
        M and K of means that are drawn.
    seed
        of means that are drawn.

    Examples
    --------
    >>> models = bandits([[0.9, 0.1], [0.2, 0.6]])
    >>> models
    ModelSet(2 worlds, 2 states, 2 actions)
    >>> [round(float(world.first_values(11)[0]), 6) for world in models]  # ten pulls that pay
    [9.0, 6.0]
    """
    table = None if means is None else read_means(means)
    listed = None if table is None else table.tolist()
    made = origin("bandits", {"means": listed, "models": models, "arms": arms, "seed": seed})
    if table is None:
        count = checks.integer("models", models, least=1, most=MOST_MODELS)
        n_arms = checks.integer("arms", arms, least=1, most=MOST_ARMS)
        size = float(MEAN_BYTES) * count * n_arms
        sizes.check("arms", n_arms, size, f"making {count} bandits with so many", "models or arms")
        table = np.random.default_rng(checks.seed("seed", seed)).random((count, n_arms))
    rewards = np.zeros((2, table.shape[1]))
    rewards[PAID] = 1.0
    worlds = []
    for row in table:
        chances = np.stack([1.0 - row, row], axis=1)
        worlds.append(MDP(np.stack([chances, chances]), rewards, UNPAID))
    return ModelSet(worlds, made)


def read_means(means: object) -> NDArray[np.float64]:
    """The argument ``means``, (M, K), checked."""
    table = checks.finite_array("means", means, lowest=0.0, highest=1.0)
    if table.ndim != 2 or table.size == 0:
        raise checks.Refusal("means", f"must have shape (M, K), a row for every model, not {table.shape}")
    for name, size, most in (("rows", len(table), MOST_MODELS), ("arms", table.shape[1], MOST_ARMS)):
        if size > most:
            raise checks.Refusal("means", f"has {size:,} {name}; at most {most:,} can be")
    return table


def means_of(models: ModelSet) -> NDArray[np.float64] | None:
    """The means of worlds that are bandits, (M, K); None where one of them is none."""
    if models.n_states != 2 or (models.rewards[UNPAID] != 0.0).any() or (models.rewards[PAID] != 1.0).any():
        return None
    if any(len(world.ends) for world in models):
        return None
    rows = np.stack([world.transitions[:, :, PAID] for world in models])
    return np.array(rows[:, UNPAID]) if np.array_equal(rows[:, UNPAID], rows[:, PAID]) else None

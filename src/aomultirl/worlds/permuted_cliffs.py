"""Cliffs to walk along, where nobody says which action goes which way: Gymnasium's CliffWalking with permuted actions.

Description
    4 x 12 cells; state = 12 * row + column.  Episodes start in the bottom left corner; the goal is the bottom right
    one, and the cells between them are the cliff.

Actions
    In the first world 0 up, 1 right, 2 down, 3 left, as in Gymnasium; in the others they are permuted.

Transitions
    As in Gymnasium, but for the fall: whoever walks into the cliff stands in that cell for a step, in which every
    action leads to the start.  (In Gymnasium the fall leads to the start at once, and what it costs depends on the
    action.  The worlds of a set share their rewards, so here the cost belongs to a cell.)  The goal ends the episode
    (``terminal="end"``) or leads to the start (``terminal="restart"``).

Rewards
    -1 for every step and -99 for that in the cliff, so that a fall costs 100 as in Gymnasium, mapped from
    :data:`REWARD_RANGE` to [0, 1].  The best that whoever is told the world can earn in a life is -13.

Worlds
    Each has a permutation of its own.  No action goes up from the start in one world and into the cliff in another, so
    whoever knows the worlds can find out without a fall which one it is, at the price of about a step.
"""

from typing import TYPE_CHECKING

import numpy as np

from aomultirl import checks
from aomultirl.model_set import ModelSet
from aomultirl.worlds.exchanged_actions import exchange_actions
from aomultirl.worlds.gymnasium_import import from_gymnasium
from aomultirl.worlds.origin import origin

if TYPE_CHECKING:
    from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv

REWARD_RANGE = (-100.0, 0.0)
"""What 0 and 1 stand for in the environment's own units."""
FALL, STEP = -100, -1
"""Gymnasium's rewards for walking into the cliff and for any other step."""
START, CLIFF = 36, range(37, 47)
"""The state that walks start in, and those of the cliff."""
AHEAD = (-12, 1, 12, -1)
"""What Gymnasium's four actions add to the number of the state."""
UP, RIGHT, DOWN, LEFT = range(4)
"""Gymnasium's actions."""
MOST_MODELS = 6
"""Worlds of a set: so many permutations can be found in any order of drawing."""


def permuted_cliffs(models: int = 3, seed: int = 0, terminal: str = "end") -> ModelSet:
    """CliffWalking with its actions in another order in every world.

    Parameters
    ----------
    models
        M, at most 6; the first world has Gymnasium's order.
    seed
        of the permutations; more models with the same seed only add worlds.
    terminal
        "end", one walk is an episode; or "restart", the next walk begins at once.

    Examples
    --------
    >>> permuted_cliffs()
    ModelSet(3 worlds, 48 states, 4 actions)
    """
    made = origin("permuted_cliffs", locals())
    count = checks.integer("models", models, least=1, most=MOST_MODELS)
    seed = checks.seed("seed", seed)
    checks.choice("terminal", terminal, ("end", "restart"))
    from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv  # here, because importing it takes long

    walks = [exchange_actions(_with_falls(CliffWalkingEnv()), order) for order in _orders(count, seed)]
    return ModelSet(from_gymnasium(walks, terminal=terminal, rescale=REWARD_RANGE, unreachable="keep"), made)


def _with_falls(env: "CliffWalkingEnv") -> "CliffWalkingEnv":
    """The environment with a table in which a fall takes a step of its own."""
    for state, rows in env.P.items():
        for action, outcomes in rows.items():
            if state in CLIFF:
                rows[action] = [(1.0, START, FALL - STEP, False)]
            elif any(reward == FALL for _, _, reward, _ in outcomes):
                rows[action] = [(1.0, state + AHEAD[action], STEP, False)]
    return env


def _orders(models: int, seed: int) -> list[tuple[int, ...]]:
    """So many different permutations of the actions, the identity first, that leave a safe way to find out."""
    random = np.random.default_rng(seed)
    different: list[tuple[int, ...]] = [(UP, RIGHT, DOWN, LEFT)]
    while len(different) < models:
        drawn = [*different, tuple(random.permutation(4).tolist())]
        upwards, falls = ({order.index(move) for order in drawn} for move in (UP, RIGHT))
        if len(set(drawn)) == len(drawn) and not upwards & falls:
            different = drawn
    return different

"""Frozen lakes with holes in different places: Gymnasium's FrozenLake on random maps.

Description
    A size x size lake; state = row * size + column.  Episodes start in the top left corner, and the goal is in the
    bottom right one.  Each of the other cells is frozen with probability ``frozen`` and a hole otherwise; maps
    without a way to the goal are drawn again, by Gymnasium's own ``generate_random_map``.  With
    ``terminal="restart"`` cells that nobody can reach in any world are left out; ``MDP.labels`` have the numbers.

Actions
    0 left, 1 down, 2 right, 3 up.

Transitions
    As in Gymnasium: a move out of the lake stays; on slippery ice a move goes where it was meant to, or to either
    side of it, each with probability 1/3.  Holes and the goal end the episode (``terminal="end"``), or lead back to
    the start (``terminal="restart"``).

Rewards
    1 for reaching the goal.  With ``terminal="end"`` a pair earns the chance that it reaches the goal, as in
    Gymnasium; with "restart" the 1 is earned one step later, when acting at the goal, because a cell next to the goal
    may be a hole in another world and the worlds of a set share their rewards.

Worlds
    Each has a map of its own.
"""

import numpy as np

from aomultirl import checks
from aomultirl.model_set import ModelSet
from aomultirl.worlds.gymnasium_import import from_gymnasium
from aomultirl.worlds.origin import origin

LARGEST, MOST_MODELS = 32, 100
"""Rows and columns of a lake, and worlds of a set: Gymnasium takes a second for the largest of them."""
LEAST_FROZEN = 0.65
"""Where fewer cells are frozen, hardly a map has a way to the goal: on large maps there is none below 0.593."""
TRIES = 20
"""Maps that are drawn for every world, at most, until all are different."""


def frozen_lakes(
    models: int = 3,
    size: int = 8,
    slippery: bool = False,
    frozen: float = 0.85,
    seed: int = 0,
    terminal: str = "end",
) -> ModelSet:
    """Random maps of FrozenLake, a different one in every world.

    Parameters
    ----------
    models
        M, how many maps.
    size
        rows and columns, from 3 to 32.
    slippery
        whether moves go astray.
    frozen
        within [0.65, 1), the probability that a cell is frozen.
    seed
        of the maps; more models with the same seed only add maps.
    terminal
        "end", one life is an episode; or "restart", the next life begins at once.

    Raises
    ------
    ValueError
        anything invalid, and more models than different maps were found.

    Examples
    --------
    >>> frozen_lakes()
    ModelSet(3 worlds, 64 states, 4 actions)
    """
    made = origin("frozen_lakes", locals())
    count = checks.integer("models", models, least=1, most=MOST_MODELS)
    size = checks.integer("size", size, least=3, most=LARGEST)
    slippery = checks.truth("slippery", slippery)
    frozen = checks.real("frozen", frozen, least=LEAST_FROZEN, below=1.0)
    seed = checks.seed("seed", seed)
    checks.choice("terminal", terminal, ("end", "restart"))
    from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv  # here, because importing it takes long

    lakes = [FrozenLakeEnv(desc=rows, is_slippery=slippery) for rows in random_maps(count, size, frozen, seed)]
    lives = from_gymnasium(lakes, terminal=terminal, rewards="expected" if terminal == "end" else "arrival")
    return ModelSet(lives, made)


def random_maps(models: int, size: int, frozen: float, seed: int) -> list[list[str]]:
    """So many different maps, each a text a row with the letters S, F, H and G."""
    from gymnasium.envs.toy_text.frozen_lake import generate_random_map

    different: dict[str, list[str]] = {}
    # One at a time, so that sets with more models begin with the same maps.
    for child in np.random.SeedSequence(seed).spawn(TRIES * models):
        rows = generate_random_map(size=size, p=frozen, seed=int(child.generate_state(1)[0]))
        different.setdefault("".join(rows), rows)
        if len(different) == models:
            return list(different.values())
    raise checks.Refusal(
        "models",
        f"is {models}, but {TRIES * models:,} draws gave {len(different)} different maps of {size} x {size} cells, "
        f"{frozen:g} of them frozen",
    )

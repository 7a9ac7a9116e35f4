"""Taxis whose moves are swapped: Gymnasium's Taxi in four versions.

Description
    A taxi on 5 x 5 cells with walls fetches a passenger at one of four places and brings them to another one.  The 500
    states say where the taxi is, where the passenger is, and where they want to go.  With ``terminal="restart"`` those
    that nobody can reach are left out; ``MDP.labels`` have Gymnasium's numbers.

Actions
    In the first world 0 south, 1 north, 2 east, 3 west, 4 pick up, 5 drop off, as in Gymnasium.

Transitions
    As in Gymnasium.  Bringing the passenger to where they want to go ends the episode (``terminal="end"``), or the next
    passenger follows (``terminal="restart"``).

Rewards
    As in Gymnasium, -1 for every step, -10 for picking up or dropping off where that cannot be, 20 for the passenger
    who is brought home, mapped from :data:`REWARD_RANGE` to [0, 1].  Whoever is told the world earns 7.9 a passenger.

Worlds
    No move is swapped; south and north; east and west; both.
"""

from aomultirl import checks
from aomultirl.model_set import ModelSet
from aomultirl.worlds.exchanged_actions import exchange_actions
from aomultirl.worlds.gymnasium_import import from_gymnasium
from aomultirl.worlds.origin import origin

REWARD_RANGE = (-10.0, 20.0)
"""What 0 and 1 stand for in the environment's own units."""
ORDERS = ((0, 1, 2, 3, 4, 5), (1, 0, 2, 3, 4, 5), (0, 1, 3, 2, 4, 5), (1, 0, 3, 2, 4, 5))
"""What each action does in each world, as the number that Gymnasium has for it."""


def swapped_taxis(models: int = 4, terminal: str = "end") -> ModelSet:
    """Taxi with opposite moves swapped: none, south and north, east and west, both.

    Parameters
    ----------
    models
        M, the first so many of the four worlds.
    terminal
        "end", one passenger is an episode; or "restart", the next passenger follows.

    Examples
    --------
    >>> swapped_taxis()
    ModelSet(4 worlds, 500 states, 6 actions)
    """
    made = origin("swapped_taxis", locals())
    count = checks.integer("models", models, least=1, most=len(ORDERS))
    checks.choice("terminal", terminal, ("end", "restart"))
    from gymnasium.envs.toy_text.taxi import TaxiEnv  # here, because importing it takes long

    taxis = [exchange_actions(TaxiEnv(), order) for order in ORDERS[:count]]
    return ModelSet(from_gymnasium(taxis, terminal=terminal, rescale=REWARD_RANGE), made)

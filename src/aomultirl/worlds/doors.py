"""Doors, and a sign that names the right one: what was seen at the beginning matters at the end.

Description
    State 0 is the entrance, states 1 to M are signs, M + 1 is the hall, M + 2 the treasure and M + 3 the way out, which
    ends the episode.  Nothing but the sign tells the worlds apart before a door is opened, and the hall looks the same
    whatever the sign was: an agent has to remember it within the episode.

Actions
    M of them.  In the hall action a opens door a; elsewhere all actions do the same.

Transitions
    The entrance leads to a sign: in world m to sign m with probability ``sign``, and to each other one with the same
    share of the rest.  Every sign leads to the hall.  In world m door m leads to the treasure, every other door to
    the way out; so does the treasure.

Rewards
    1 for acting at the treasure, 0 everywhere else: an episode earns 1 or nothing, within four steps.

Worlds
    World m has its treasure behind door m.
"""

import numpy as np

from aomultirl import checks
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

MOST_MODELS = 200
"""Worlds of a set: each has M doors and M signs."""


def doors(models: int = 4, sign: float = 0.9) -> ModelSet:
    """As many worlds as doors, one with a treasure behind each, and a sign that mostly names it.

    Whoever knows the worlds, and not which one an episode is, earns ``sign`` of the optimum, which is 1.

    Parameters
    ----------
    models
        M, the number of doors and of worlds, at least 2.
    sign
        within [1 / M, 1], how likely the sign names the right door; at 1 / M it says nothing.

    Examples
    --------
    >>> doors()
    ModelSet(4 worlds, 8 states, 4 actions)
    """
    made = origin("doors", locals())
    count = checks.integer("models", models, least=2, most=MOST_MODELS)
    chance = checks.real("sign", sign, least=1.0 / count, most=1.0)
    hall, treasure, out = count + 1, count + 2, count + 3
    rewards = np.zeros((count + 4, count))
    rewards[treasure] = 1.0
    worlds = []
    for right in range(count):
        signs = {1 + named: chance if named == right else (1.0 - chance) / (count - 1) for named in range(count)}
        rows = [[signs] * count, *([[{hall: 1.0}] * count] * count)]
        rows.append([{treasure if door == right else out: 1.0} for door in range(count)])
        rows += [[{out: 1.0}] * count] * 2
        worlds.append(MDP(rows, rewards, terminal=[out]))
    return ModelSet(worlds, made)

"""Random worlds that differ at one pair, which is seldom visited and matters much.

Description
    Ordinary states 0, ..., S - 5 with random transitions; state S - 4, the gate; and three rooms behind it: S - 3, the
    treasure, S - 2, the trap, and S - 1, the passage.

Transitions
    An ordinary pair has ``successors`` ordinary successors with random probabilities, the same in all worlds; so have
    all pairs of the gate but one.  One ordinary pair leads to the gate, half of the time, and nothing else does.  The
    rare pair, action 0 at the gate, leads to one of the rooms with probability :data:`LIKELY`, and to the others with
    the same share of the rest; which room is likely is all that differs.  The treasure and the trap keep whoever is
    in them with probability :data:`STAY`; otherwise, and always from the passage, any ordinary state follows.  A
    cycle through all ordinary states runs along action 0, so every world is communicating.

Rewards
    1 at the treasure, ``ordinary`` in one ordinary state in six, 0 everywhere else.

Worlds
    The likely room is the treasure in the first world, the trap in the second and the passage in the third.  So it
    pays to go to the gate in the first one only.
"""

import numpy as np

from aomultirl import checks
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

ROOMS, GATES = 3, 1
"""How many of the states are rooms, and the gate."""
LIKELY = 0.8
"""How likely the rare pair leads to the room that it leads to in this world."""
STAY = 0.95
"""How likely the treasure and the trap keep whoever is in them."""
ENTRANCE = 0.5
"""How likely the one pair that leads to the gate does so."""
ONE_IN = 6
"""Ordinary states of which one pays."""
MOST_STATES, MOST_ACTIONS = 2000, 100


def rare_pair(
    models: int = 3, states: int = 30, actions: int = 4, successors: int = 4, ordinary: float = 0.7, seed: int = 0
) -> ModelSet:
    """Worlds that differ at one pair, behind which is a treasure, a trap or nothing.

    With the defaults acting at random earns about a third of the optimum, and in 500 steps a learner that begins anew
    in every episode about a half.

    Parameters
    ----------
    models
        M, 2 or 3.
    states, actions
        S and A, with at least two actions.
    successors
        of an ordinary pair, at most S - 4.
    ordinary
        within [0, 1], the reward of the ordinary states that pay.
    seed
        of the transitions and of the states that pay.

    Examples
    --------
    >>> models = rare_pair()
    >>> (models.distances()[0, 1] > 0).sum(), round(models.separation(), 6)
    (np.int64(1), 1.4)
    """
    made = origin("rare_pair", locals())
    count = checks.integer("models", models, least=2, most=ROOMS)
    n_states = checks.integer("states", states, least=ROOMS + GATES + 2, most=MOST_STATES)
    n_actions = checks.integer("actions", actions, least=2, most=MOST_ACTIONS)
    width = checks.integer("successors", successors, least=1, most=n_states - ROOMS - GATES)
    ordinary = checks.real("ordinary", ordinary, least=0.0, most=1.0)
    draw = np.random.default_rng(checks.seed("seed", seed))
    gate, treasure, trap, passage = range(n_states - ROOMS - GATES, n_states)

    rows = _ordinary_rows(gate, n_actions, width, draw)
    entrance = rows[int(draw.integers(gate))][int(draw.integers(1, n_actions))]
    for successor in entrance:
        entrance[successor] *= 1.0 - ENTRANCE
    entrance[gate] = ENTRANCE
    for room, stay in ((treasure, STAY), (trap, STAY), (passage, 0.0)):
        leaving = dict.fromkeys(range(gate), (1.0 - stay) / gate)
        rows.append([{**leaving, room: stay}] * n_actions)
    rewards = np.zeros((n_states, n_actions))
    rewards[draw.choice(gate, -(-gate // ONE_IN), replace=False)] = ordinary
    rewards[treasure] = 1.0
    worlds = []
    for likely in (treasure, trap, passage)[:count]:
        rare = {room: LIKELY if room == likely else (1.0 - LIKELY) / 2.0 for room in (treasure, trap, passage)}
        worlds.append(MDP([*rows[:gate], [rare, *rows[gate][1:]], *rows[gate + 1 :]], rewards))
    return ModelSet(worlds, made)


def _ordinary_rows(
    n_ordinary: int, n_actions: int, width: int, draw: np.random.Generator
) -> list[list[dict[int, float]]]:
    """{successor: probability} for every action in the ordinary states and, last, at the gate."""
    tour = draw.permutation(n_ordinary)
    following = dict(zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True))
    rows: list[list[dict[int, float]]] = []
    for state in range(n_ordinary + 1):
        rows.append([])
        for action in range(n_actions):
            reached = draw.choice(n_ordinary, width, replace=False).tolist()
            if action == 0 and state in following and following[state] not in reached:
                reached[0] = following[state]
            rows[-1].append(dict(zip(reached, draw.dirichlet(np.ones(width)).tolist(), strict=True)))
    return rows

"""Two combination locks side by side, and a temptation at every turn: the bidirectional diabolical combination lock.

Description
    State 0 is the start, between two locks of L layers.  Each layer of a lock has two states, 1 + 4 l + 2 b + j being
    state j of layer l in lock b; then come the treasure, the trinket, the wrong turn, and the way out, which ends the
    episode.  The only way to a prize is the whole code of a lock, and every wrong action is paid at once, a little:
    acting at random opens a lock with probability A^-L, and what is earned meanwhile leads away from both.

Actions
    A of them.  In a layer one action is right, by a code with an entry for each of its two states.  At the start the
    first half of the actions leads to lock 0, the other half to lock 1.  Elsewhere all actions do the same.

Transitions
    The start leads to one of the two states of a lock's first layer, each with probability 1/2; so does the right
    action to those of the next layer.  In the last layer it leads to the prize of the lock.  All other actions lead to
    the wrong turn.  The prizes and the wrong turn lead to the way out, or, with ``again``, back to the start.

Rewards
    1 for acting at the treasure, ``trinket`` at the trinket, ``temptation`` at the wrong turn, 0 everywhere else.  So
    an episode earns one of the three, within L + 2 steps; with ``again`` one after the other.

Worlds
    The treasure is behind lock 0 in worlds 0, 2, ... and behind lock 1 in the others; the trinket is behind the other
    lock.  Each world has codes of its own, or all have the same.
"""

import numpy as np

from aomultirl import checks
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

LOCKS, SIDES = 2, 2
"""How many locks there are, and states of a layer in each."""
MOST_MODELS, MOST_LENGTH, MOST_ACTIONS = 200, 1000, 100
OWN, SHARED = "own", "shared"
"""Whether each world has codes of its own."""


def diabolical_locks(
    models: int = 4,
    length: int = 5,
    actions: int = 4,
    trinket: float = 0.25,
    temptation: float = 0.05,
    codes: str = OWN,
    again: bool = False,
    seed: int = 0,
) -> ModelSet:
    """Worlds with a large prize behind one of two locks, and codes that nothing but trying reveals.

    Built after the usual description of a lock that is known from the literature on exploration, and from that on
    worlds that change (such as Nonaka and others 2025, who report on agents that restart).  Usually a lock has a dead
    state in every layer, for the rest of an episode; as nothing is earned there any more, one wrong turn stands for all
    of them.  Usually rewards change places, too; worlds of a set share their rewards, so here the prizes do.

    With the defaults acting at random earns 0.051 of the optimum, which is 1, nearly all of it for wrong turns.

    Parameters
    ----------
    models
        M; with shared codes there are two worlds at most.
    length
        L, the layers of a lock.
    actions
        A, at least two.
    trinket
        within [0, 1], the small prize.
    temptation
        within [0, trinket], what a wrong action earns.
    codes
        "own", drawn anew for every world, or "shared": then worlds differ in the last layers alone.
    again
        whether whoever is out is back at the start, so that an episode has many tries and the worlds are communicating.
    seed
        of the codes.

    Examples
    --------
    >>> models = diabolical_locks()
    >>> models, float(models[0].first_values(7)[0])
    (ModelSet(4 worlds, 25 states, 4 actions), 1.0)
    >>> diabolical_locks(2, codes="shared", again=True)[0].diameter()
    14.0
    """
    made = origin("diabolical_locks", locals())
    layers = checks.integer("length", length, least=1, most=MOST_LENGTH)
    n_actions = checks.integer("actions", actions, least=2, most=MOST_ACTIONS)
    own = checks.choice("codes", codes, (OWN, SHARED)) == OWN
    entries = LOCKS * SIDES * layers
    # Two worlds differ by the place of the treasure, others by their codes, of which there are A^(4 L).
    different = LOCKS * n_actions ** min(entries, 10) if own else LOCKS
    count = checks.integer("models", models, least=1, most=min(MOST_MODELS, different))
    small = checks.real("trinket", trinket, least=0.0, most=1.0)
    tempting = checks.real("temptation", temptation, least=0.0, most=small)
    returning = checks.truth("again", again)
    draw = np.random.default_rng(checks.seed("seed", seed))
    treasure = 1 + entries
    turn = treasure + LOCKS
    rewards = np.zeros((turn + (1 if returning else 2), n_actions))
    rewards[treasure], rewards[treasure + 1], rewards[turn] = 1.0, small, tempting
    drawn: list[tuple[int, ...]] = []
    worlds = []
    for number in range(count):
        if own or not drawn:
            drawn.append(_new_code(drawn[number % LOCKS :: LOCKS], entries, n_actions, draw))
        rows = _rows(drawn[-1], n_actions, layers, number % LOCKS, returning)
        worlds.append(MDP(rows, rewards, start=0, terminal=None if returning else [turn + 1]))
    return ModelSet(worlds, made)


def _new_code(known: list[tuple[int, ...]], entries: int, n_actions: int, draw: np.random.Generator) -> tuple[int, ...]:
    """The right action in every state of both locks, not the same as in a world with the treasure in the same place."""
    while True:
        code = tuple(draw.integers(n_actions, size=entries).tolist())
        if code not in known:
            return code


def _rows(
    code: tuple[int, ...], n_actions: int, layers: int, rich: int, returning: bool
) -> list[list[dict[int, float]]]:
    """{successor: probability} for every action in every state; ``rich`` is the lock with the treasure."""
    treasure = 1 + len(code)
    turn, half = treasure + LOCKS, -(-n_actions // 2)

    def layer(number: int, lock: int) -> dict[int, float]:
        if number == layers:
            return {treasure + (lock != rich): 1.0}
        first = 1 + number * LOCKS * SIDES + lock * SIDES
        return {first + side: 1.0 / SIDES for side in range(SIDES)}

    rows = [[layer(0, int(action >= half)) for action in range(n_actions)]]
    for place, right in enumerate(code):
        number, lock = place // (LOCKS * SIDES), place // SIDES % LOCKS
        rows.append([layer(number + 1, lock) if action == right else {turn: 1.0} for action in range(n_actions)])
    after = {0: 1.0} if returning else {turn + 1: 1.0}
    rows += [[after] * n_actions for _ in range(LOCKS + 1)]
    return rows if returning else [*rows, [after] * n_actions]

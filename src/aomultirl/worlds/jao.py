"""The small worlds of the paper's lower bounds (Section 3, Appendix C): JAO, 2-JAO and its broken variant.

JAO (Jaksch, Ortner, Auer).  Two states; acting in state 1 earns 1.  In state 0 every action leads to 1 with
probability delta, the special action i of world m_i with delta + lambda / 2; from 1 back to 0 with delta.

2-JAO.  A hub 0 between a reward state 1 on the right and an empty state 2 on the left.  Left actions lead to 2
with probability 1/2, the special one with 1/2 + lambda / 2; right actions lead to 1 with probability delta, the
special one with delta + gap.  Both sides fall back to the hub with delta.  The left side tells the worlds
apart and pays nothing; the right side pays and hardly tells them apart.

Throughout delta = 4 / D for the paper's D (the proof of the minimax bound prints D / 4, a slip), so a JAO
world has diameter D / 4.  World m_i of a set has special action i.  Left actions come first.
"""

import math
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

HUB, RIGHT, LEFT = 0, 1, 2
PAIR_BYTES = 45
"""Memory for a pair of a state and an action of one world, measured."""

Table: TypeAlias = list[list[dict[int, float]]]


def jao(actions: int = 5, diameter: float = 40.0, separation: float = 0.1) -> ModelSet:
    """JAO worlds, one for each action that may be the special one (the paper takes SA / 4 actions).

    Parameters
    ----------
    actions
        n, also the number of worlds.
    diameter
        the paper's D; delta = 4 / D.
    separation
        lambda; worlds i and j differ by it at (0, i) and (0, j).

    Examples
    --------
    >>> models = jao()
    >>> round(models[0].diameter(), 9)
    10.0
    """
    made = origin("jao", locals())
    actions = checks.integer("actions", actions, least=1)
    check_size(actions, 2 * actions)
    delta = read_delta(diameter)
    bias = checks.real("separation", separation, above=0.0, most=2.0) / 2.0
    check_probability("4 / diameter + separation / 2", delta + bias)
    rewards = np.zeros((2, actions))
    rewards[1] = 1.0
    worlds = []
    for special in range(actions):
        table = empty(2, actions)
        move(table, 0, range(actions), 1, delta)
        move(table, 0, [special], 1, delta + bias)
        move(table, 1, range(actions), 0, delta)
        worlds.append(MDP(table, rewards))
    return ModelSet(worlds, made)


def two_jao(
    actions: int = 4,
    diameter: float = 40.0,
    separation: float = 0.5,
    gap: float | None = None,
    horizon: int | None = None,
) -> ModelSet:
    """2-JAO worlds, one for each index that may be the special one.

    The greatest hitting time is infinite: a policy of left actions never meets the reward state.

    Parameters
    ----------
    actions
        n on each side, so 2 n in all (the paper takes n = SA / 12); also the number of worlds.
    diameter
        the paper's D, at least 16; delta = 4 / D.
    separation
        lambda, the distance at the left special pair.
    gap
        Delta, the advantage of the right special action; by default 0.01, or the paper's
        sqrt(SA / (3 H D)) / 20 with SA = 12 n where ``horizon`` is given.
    horizon
        H, for the paper's gap.

    Examples
    --------
    >>> round(two_jao()[0].diameter(), 4)
    19.0909
    """
    made = origin("two_jao", locals())
    actions = checks.integer("actions", actions, least=1)
    check_size(actions, 6 * actions)
    delta = read_delta(diameter, least=16.0)
    bias = checks.real("separation", separation, above=0.0, most=1.0) / 2.0
    gap = read_gap(gap, horizon, 12 * actions, diameter, delta)
    worlds = []
    for special in range(actions):
        table = empty(3, 2 * actions)
        fill_two_jao(table, (HUB, RIGHT, LEFT), actions, delta)
        mark_two_jao(table, (HUB, RIGHT, LEFT), special, actions, bias, delta, gap)
        worlds.append(MDP(table, _reward_right(2 * actions)))
    return ModelSet(worlds, made)


def two_jao_noncommunicating(
    actions: int = 4,
    diameter: float = 40.0,
    separation: float = 0.5,
    gap: float | None = None,
    horizon: int | None = None,
) -> ModelSet:
    """2-JAO worlds in which nothing leads from the hub to the left state.

    In state 2 every action leads to the hub with probability 1/2, left action i of world m_i with
    1/2 + lambda / 2: the worlds are lambda-separable there, but from the start, the hub, state 2 is out of
    reach, and what can be reached is separated by 2 gap only.  At the hub all left actions act like ordinary
    right ones.  Parameters as in :func:`two_jao`.

    Examples
    --------
    >>> two_jao_noncommunicating()[0].diameter()
    inf
    """
    made = origin("two_jao_noncommunicating", locals())
    actions = checks.integer("actions", actions, least=1)
    check_size(actions, 6 * actions)
    delta = read_delta(diameter, least=16.0)
    bias = checks.real("separation", separation, above=0.0, most=1.0) / 2.0
    gap = read_gap(gap, horizon, 12 * actions, diameter, delta)
    every = range(2 * actions)
    worlds = []
    for special in range(actions):
        table = empty(3, 2 * actions)
        move(table, HUB, every, RIGHT, delta)
        move(table, HUB, [actions + special], RIGHT, delta + gap)
        move(table, RIGHT, every, HUB, delta)
        move(table, LEFT, every, HUB, 0.5)
        move(table, LEFT, [special], HUB, 0.5 + bias)
        worlds.append(MDP(table, _reward_right(2 * actions)))
    return ModelSet(worlds, made)


def fill_two_jao(table: Table, place: tuple[int, int, int], actions: int, delta: float) -> None:
    """An ordinary 2-JAO world on the states ``place`` = (hub, right, left), without special actions."""
    hub, right, left = place
    both = range(2 * actions)
    move(table, hub, both[:actions], left, 0.5)
    move(table, hub, both[actions:], right, delta)
    move(table, right, both, hub, delta)
    move(table, left, both, hub, delta)


def mark_two_jao(
    table: Table,
    place: tuple[int, int, int],
    special: int,
    actions: int,
    bias: float,
    delta: float,
    gap: float,
) -> None:
    """Make left and right action number ``special`` the special ones."""
    hub, right, left = place
    move(table, hub, [special], left, 0.5 + bias)
    move(table, hub, [actions + special], right, delta + gap)


def move(table: Table, source: int, actions: Iterable[int], target: int, chance: float) -> None:
    """These actions lead from ``source`` to ``target`` with probability ``chance`` and otherwise stay."""
    for action in actions:
        table[source][action] = {source: 1.0} if source == target else {source: 1.0 - chance, target: chance}


def empty(n_states: int, n_actions: int) -> Table:
    """A table to fill: table[s][a] = {successor: probability}."""
    return [[{} for _ in range(n_actions)] for _ in range(n_states)]


def read_delta(diameter: float, least: float = 4.0) -> float:
    """delta = 4 / D."""
    return 4.0 / checks.real("diameter", diameter, least=least)


def read_gap(gap: float | None, horizon: int | None, pairs: int, diameter: float, delta: float) -> float:
    """Delta: as given, from the horizon by the paper's formula, or 0.01."""
    if gap is not None and horizon is not None:
        raise checks.Refusal(
            "gap",
            f"= {checks.shown(gap)} and horizon = {checks.shown(horizon)} exclude each other: "
            "the horizon stands for the paper's gap",
        )
    if horizon is not None:
        horizon = checks.integer("horizon", horizon, least=1)
        gap = math.sqrt(pairs / (3.0 * horizon * diameter)) / 20.0
    gap = checks.real("gap", 0.01 if gap is None else gap, least=0.0)
    check_probability("4 / diameter + gap", delta + gap)
    return gap


def check_size(actions: int, pairs: int) -> None:
    """Refuse as many worlds as there are actions, with so many pairs each, where they do not fit into the memory."""
    sizes.check("actions", actions, float(PAIR_BYTES) * actions * pairs, f"a set of {actions} worlds, one an action,")


def check_probability(name: str, value: float) -> None:
    if value > 1.0:
        raise checks.Refusal(name, f"is {value:g}, not a probability")


def _reward_right(n_actions: int) -> NDArray[np.float64]:
    rewards = np.zeros((3, n_actions))
    rewards[RIGHT] = 1.0
    return rewards

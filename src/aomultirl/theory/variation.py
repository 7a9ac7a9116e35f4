"""How much a stream of tasks varies, and what RestartQ-UCB promises for it (Mao et al. 2021; the remark of Section 4).

With m_k the world of episode k, T = K H, and worlds that are the same at every step::

    Delta_p = H sum_k max over (s, a) of ||P_{m_{k+1}}(s, a) - P_{m_k}(s, a)||_1,
    Delta_r = H sum_k max over (s, a) of |r_{m_{k+1}}(s, a) - r_{m_k}(s, a)|,      Delta = Delta_r + Delta_p.

RestartQ-UCB begins anew in each of D epochs.  D and the order of its regret are

    Hoeffding    D = (S A)^(-1/3) Delta^(2/3) H^(-2/3) T^(1/3),    (S A Delta)^(1/3) H^(5/3) T^(2/3)
    Freedman     D = (S A)^(-1/3) Delta^(2/3) T^(1/3),             (S A Delta)^(1/3) H T^(2/3)

The paper's remark on merging samples: if tasks alternate, Delta = Omega(K H lambda), and the bound of the second,
(lambda S A)^(1/3) H^2 K, is above the trivial K H; if Delta = o(K), it is sub-linear in K.

What was uncertain: the theorems hide constants and logarithms, and suppose that D is at least 1.  Here constants and
logarithms are 1, and for a budget so small that D would be below 1 there is one epoch, whose regret is of the order
sqrt(H^4 S A T) or sqrt(H^2 S A T): what both formulas above are at D = 1.
"""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aomultirl import checks
from aomultirl.geometry import separation
from aomultirl.mdp import MDP

VARIANTS = ("hoeffding", "freedman")
"""The two bonuses of RestartQ-UCB."""


class VariationBudget(NamedTuple):
    """How much the worlds of a stream of tasks vary, added up over all episodes and their H steps.

    rewards: Delta_r, 0 for worlds of one :class:`aomultirl.ModelSet`, which share their rewards.
    transitions: Delta_p.
    """

    rewards: float
    transitions: float

    @property
    def total(self) -> float:
        """Delta, the sum of both: what :class:`aomultirl.agents.RestartQUCB` takes as ``variation``."""
        return self.rewards + self.transitions


@checks.representable
def variation_budget(models: Iterable[MDP], tasks: Iterable[int], horizon: int) -> VariationBudget:
    """The variation budget of a stream of tasks.

    Where worlds have terminal states, distances are those of :meth:`aomultirl.ModelSet.distances`: whether the episode
    ended counts with the successor, and pairs of states that are terminal in either world count nothing.

    Parameters
    ----------
    models
        the worlds, of the same states and actions; those of a :class:`aomultirl.ModelSet` share their rewards, and
        those of a plain list may differ in them.
    tasks
        the number of the world of each of K episodes, such as ``history["task"]``.
    horizon
        H.

    Examples
    --------
    >>> import aomultirl as ao
    >>> grid = ao.worlds.gridworld()
    >>> budget = variation_budget(grid, [0, 0, 1, 0], horizon=200)
    >>> budget.rewards, round(budget.total, 6) >= round(2 * 200 * grid.separation(), 6)
    (0.0, True)
    """
    worlds, steps = _worlds(models), checks.integer("horizon", horizon, least=1)
    numbers = [
        checks.integer(f"tasks[{k}]", task, least=0, most=len(worlds) - 1)
        for k, task in enumerate(checks.items("tasks", tasks, "numbers of worlds"))
    ]
    if not numbers:
        raise checks.Refusal("tasks", "is empty: a stream has at least one episode")
    changes: dict[tuple[int, int], int] = {}
    for before, after in pairwise(numbers):
        if before != after:
            pair = min(before, after), max(before, after)
            changes[pair] = changes.get(pair, 0) + 1
    rewards = sum(times * _reward_distance(worlds[i], worlds[j]) for (i, j), times in changes.items())
    moves = sum(times * _transition_distance(worlds[i], worlds[j]) for (i, j), times in changes.items())
    return VariationBudget(float(steps * rewards), float(steps * moves))


def _worlds(models: Iterable[MDP]) -> list[MDP]:
    worlds = checks.items("models", models, "worlds")
    if not worlds:
        raise checks.Refusal("models", "is empty: there must be at least one world")
    for i, world in enumerate(worlds):
        if not isinstance(world, MDP):
            raise checks.Refusal(f"models[{i}]", f"is {checks.shown(world)}, not an MDP")
        sizes, first = (world.n_states, world.n_actions), (worlds[0].n_states, worlds[0].n_actions)
        if sizes != first:
            raise checks.Refusal(f"models[{i}]", f"has {sizes} states and actions, and models[0] has {first}")
    return worlds


def _reward_distance(a: MDP, b: MDP) -> float:
    """max |r_a - r_b| over the pairs of states in which somebody acts in both worlds."""
    return float(np.where((a.terminal | b.terminal)[:, None], 0.0, np.abs(a.gains - b.gains)).max())


def _transition_distance(a: MDP, b: MDP) -> float:
    """max ||P_a - P_b||_1 over all pairs."""
    return float(separation.distances(a.successors, b.successors, a.ends, b.ends).max())


@checks.representable
def restart_q_epochs(
    *, states: int, actions: int, episodes: int, horizon: int, variation: float, variant: str = "freedman"
) -> float:
    """D, how many epochs RestartQ-UCB has: the formula of the module, clipped to [1, K], and not rounded.

    Parameters
    ----------
    variation
        Delta.
    variant
        "hoeffding" or "freedman".

    Examples
    --------
    >>> size = dict(states=16, actions=4, episodes=200, horizon=200)
    >>> round(restart_q_epochs(variation=1300.0, **size), 1)
    200.0
    >>> round(restart_q_epochs(variation=1300.0, variant="hoeffding", **size), 1)
    29.8
    """
    epochs = _unclipped_epochs(states, actions, episodes, horizon, variation, variant)
    return min(float(episodes), max(1.0, epochs))


@checks.representable
def restart_q_bound(
    *, states: int, actions: int, episodes: int, horizon: int, variation: float, variant: str = "freedman"
) -> float:
    """The order of the regret bound of RestartQ-UCB: **without the constants and logarithms** that the theorems hide.

    ::

        hoeffding   S^(1/3) A^(1/3) Delta^(1/3) H^(5/3) T^(2/3)
        freedman    S^(1/3) A^(1/3) Delta^(1/3) H T^(2/3)  =  S^(1/3) A^(1/3) Delta^(1/3) H^(5/3) K^(2/3)

    and at least sqrt(H^4 S A T) and sqrt(H^2 S A T), the orders for a single epoch.  It can be compared with K H, and
    with itself for other sizes; it is no number that regret stays below.

    Parameters
    ----------
    variation
        Delta, such as ``variation_budget(...).total``.
    variant
        "hoeffding" or "freedman".

    Examples
    --------
    >>> round(restart_q_bound(states=8, actions=1, episodes=1000, horizon=8, variation=1.0))
    6400
    """
    epochs = _unclipped_epochs(states, actions, episodes, horizon, variation, variant)
    power = 4 if variant == "hoeffding" else 2
    one_epoch = math.sqrt(float(horizon) ** power * states * actions * episodes * horizon)
    return one_epoch * math.sqrt(max(1.0, epochs))


def _unclipped_epochs(states: int, actions: int, episodes: int, horizon: int, variation: float, variant: str) -> float:
    sizes = {"states": states, "actions": actions, "episodes": episodes, "horizon": horizon}
    n_states, n_actions, n_episodes, steps = (checks.integer(name, size, least=1) for name, size in sizes.items())
    budget = checks.real("variation", variation, least=0.0)
    times = float(steps) ** 2 if checks.choice("variant", variant, VARIANTS) == "hoeffding" else 1.0
    return math.pow(budget**2 * n_episodes * steps / (times * n_states * n_actions), 1.0 / 3.0)

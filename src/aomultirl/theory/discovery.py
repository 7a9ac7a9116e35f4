"""The online coupon collector: what it costs to discover worlds (Brunskill, Li 2015).

In round t = 1, ..., T an item has a type M_t that somebody has chosen.  Before seeing it one decides whether to explore
or to exploit; a type is discovered in the first of its rounds that explores.  A round costs::

                 type known    type not known
    exploit        rho_0           rho_3
    explore        rho_1           rho_2              rho_0 < rho_1 <= rho_2 < rho_3

Whoever sees the types beforehand explores each of the C* types once, at its first round, and pays
L* = rho_2 C* + rho_0 (T - C*).  The regret is what is paid beyond that::

    regret = (rho_1 - rho_0) (rounds that explore a known type) + (rho_3 - rho_0) (rounds that exploit one not known)
             - (rho_2 - rho_0) (types that were never discovered).

*ForcedExp* explores with probability eta_t = t^(-a), a = 1/2, whatever happened before.  As coins are not seen
beforehand, every round of an undiscovered type discovers it with probability at least eta_T, so at most 1 / eta_T of
its rounds are missed in the mean, also by an adversary who sees all that is past::

    E regret  <=  (rho_1 - rho_0) sum_t eta_t + (rho_3 - rho_0) C* / eta_T,

where sum_t eta_t is about 2 sqrt(T) and 1 / eta_T = sqrt(T): the order C* sqrt(T).  *ExpFirst* explores the first E
rounds.  If types come by chance, each with probability at least p_min, E = ceil(ln(C / p) / p_min) rounds show all of
them with probability at least 1 - p, as C (1 - p_min)^E <= C exp(-p_min E) <= p.  An adversary hides a type until
round E + 1, and exploits of it cost rho_3 for ever.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes


class DiscoveryCosts(NamedTuple):
    """What a round costs, ascending.

    exploit_known
        rho_0.
    explore_known
        rho_1.
    explore_new
        rho_2.
    exploit_new
        rho_3.
    """

    exploit_known: float
    explore_known: float
    explore_new: float
    exploit_new: float


class DiscoveryLoss(NamedTuple):
    """What the rounds of a sequence of types cost, or cost in the mean.

    total
        of all rounds.
    least
        L*, what is paid by whoever sees the types beforehand.
    discovered
        how many types were discovered.
    missed
        rounds that exploit a type which is not known.
    """

    total: float
    least: float
    discovered: float
    missed: float

    @property
    def regret(self) -> float:
        """What is paid beyond L*."""
        return self.total - self.least


def discovery_episodes(models: int, least_probability: float, failure: float) -> int:
    """T1 = ceil(ln(C / p) / p_min), rounds in which all C types appear with probability at least 1 - p.

    Parameters
    ----------
    models
        C.
    least_probability
        p_min, the probability of the rarest type.
    failure
        p.

    Examples
    --------
    >>> discovery_episodes(4, 0.25, 0.1)
    15
    """
    count = checks.integer("models", models, least=1)
    rarest = checks.real("least_probability", least_probability, above=0.0, most=1.0)
    chance = checks.real("failure", failure, above=0.0, below=1.0)
    rounds = (math.log(count) - math.log(chance)) / rarest
    if rounds > checks.LARGEST:
        raise checks.Refusal("least_probability", f"is {rarest:g}: that takes {rounds:.3g} rounds")
    return math.ceil(rounds)


def forced_exploration_chances(rounds: int, decay: float = 0.5) -> NDArray[np.float64]:
    """eta_t = t^(-a) for t = 1, ..., T: with which probability ForcedExp explores in each round, (T,).

    Examples
    --------
    >>> forced_exploration_chances(4)[[0, 3]].tolist()
    [1.0, 0.5]
    """
    count = checks.integer("rounds", rounds, least=1)
    exponent = checks.real("decay", decay, least=0.0, most=1.0)
    sizes.check("rounds", count, 16.0 * count, "a probability for each round")
    return np.asarray(np.arange(1, count + 1) ** -exponent, np.float64)


@checks.representable
def forced_exploration_bound(rounds: int, types: int, costs: DiscoveryCosts, decay: float = 0.5) -> float:
    """(rho_1 - rho_0) sum_t eta_t + (rho_3 - rho_0) C* / eta_T, a bound on the expected regret of ForcedExp.

    Parameters
    ----------
    rounds
        T.
    types
        C*, how many types appear.
    costs
        of a round.
    decay
        a.

    Examples
    --------
    >>> round(forced_exploration_bound(10_000, 4, DiscoveryCosts(0.0, 1.0, 1.0, 2.0)), 1)
    998.5
    """
    low, explore, _, high = _read(costs)
    chances = forced_exploration_chances(rounds, decay)
    count = checks.integer("types", types, least=1, most=len(chances))
    return float((explore - low) * chances.sum() + (high - low) * count / chances[-1])


@checks.representable
def discovery_loss(types: Iterable[int], explored: Iterable[bool], costs: DiscoveryCosts) -> DiscoveryLoss:
    """What a sequence of types costs with these decisions.

    Parameters
    ----------
    types
        M_t, a whole number for each round.
    explored
        whether each round explores.
    costs
        of a round.

    Examples
    --------
    >>> loss = discovery_loss([0, 0, 1, 1], [True, False, False, True], DiscoveryCosts(0.0, 1.0, 2.0, 10.0))
    >>> loss.total, loss.least, loss.missed  # one round of type 1 is missed
    (14.0, 4.0, 1.0)
    """
    decisions = checks.items("explored", explored, "decisions")
    chances = [float(checks.truth(f"explored[{t}]", decision)) for t, decision in enumerate(decisions)]
    return expected_discovery_loss(types, chances, costs)


@checks.representable
def expected_discovery_loss(types: Iterable[int], chances: Iterable[float], costs: DiscoveryCosts) -> DiscoveryLoss:
    """What a sequence of types costs in the mean, where each round explores with a probability of its own.

    The coins of the rounds are independent, so a type is still unknown in one of its rounds with the product of
    1 - eta over its rounds before: no simulation is needed.

    Parameters
    ----------
    types
        M_t, a whole number for each round.
    chances
        eta_t, with which probability each round explores.
    costs
        of a round.

    Examples
    --------
    >>> hidden = [0] * 100 + [1] * 900
    >>> costs = DiscoveryCosts(0.0, 1.0, 1.0, 2.0)
    >>> first = [1.0] * 50 + [0.0] * 950
    >>> expected_discovery_loss(hidden, first, costs).missed  # type 1 is never discovered
    900.0
    >>> round(expected_discovery_loss(hidden, forced_exploration_chances(1000), costs).missed, 1)
    9.5
    """
    low, explore_known, explore_new, high = _read(costs)
    numbers = checks.items("types", types, "types")
    given = checks.items("chances", chances, "probabilities")
    if len(numbers) != len(given):
        raise checks.Refusal("chances", f"has {len(given)} rounds, but types has {len(numbers)}")
    if not numbers:
        raise checks.Refusal("types", "is empty: there is at least one round")
    unknown: dict[int, float] = {}
    total = missed = 0.0
    for t, (number, chance) in enumerate(zip(numbers, given, strict=True)):
        kind = checks.integer(f"types[{t}]", number, least=0)
        eta = checks.real(f"chances[{t}]", chance, least=0.0, most=1.0)
        new = unknown.get(kind, 1.0)
        total += eta * (new * explore_new + (1.0 - new) * explore_known)
        total += (1.0 - eta) * (new * high + (1.0 - new) * low)
        missed += (1.0 - eta) * new
        unknown[kind] = new * (1.0 - eta)
    least = explore_new * len(unknown) + low * (len(numbers) - len(unknown))
    return DiscoveryLoss(total, least, len(unknown) - sum(unknown.values()), missed)


def _read(costs: DiscoveryCosts) -> tuple[float, float, float, float]:
    """The four costs; refuses those that are not ascending."""
    if not isinstance(costs, tuple) or len(costs) != len(DiscoveryCosts._fields):
        raise checks.Refusal("costs", f"is {checks.shown(costs)}, not ao.theory.DiscoveryCosts(...)")
    names = zip(DiscoveryCosts._fields, costs, strict=True)
    low, explore_known, explore_new, high = (checks.real(f"costs.{name}", value) for name, value in names)
    if not low < explore_known <= explore_new < high:
        words = f"must be exploit_known < explore_known <= explore_new < exploit_new, not {checks.shown(tuple(costs))}"
        raise checks.Refusal("costs", words)
    return low, explore_known, explore_new, high

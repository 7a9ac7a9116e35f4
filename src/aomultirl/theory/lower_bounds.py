"""The paper's lower bounds as numbers (Section 3 and Appendix C), in the names of :mod:`aomultirl.theory.bounds`.

They say what no algorithm of a class can beat on the hardest worlds of a size, and refuse sizes for which they are
not proved.
"""

import math
from typing import NamedTuple

from aomultirl import checks


class CoinFlips(NamedTuple):
    """How many flips hide the special row of the coin game.

    first: T1, flips of the first column up to which the row stays hidden.
    second: T2, likewise of the second column.
    """

    first: float
    second: float


@checks.representable
def minimax_lower_bound(*, states: int, actions: int, episodes: int, horizon: int, diameter: float) -> float:
    """The minimax lower bound on the expected regret of any algorithm, with UCRL2's constant.

    ::

        K ( 0.015 sqrt(D S A H)  -  D / 8 )        S, A >= 10,   D >= 20 log_A S,   H >= D S A

    It is met by S A / 4 worlds (E3) so close, lambda of order sqrt(S A / (H D)), that earlier episodes are of no use.
    D / 8 is the most by which V* falls short of H times the optimal gain, since delta = 4 / D (E2).
    """
    checks.integer("states", states, least=10)
    checks.integer("actions", actions, least=10)
    checks.integer("episodes", episodes, least=1)
    across = checks.real("diameter", diameter, least=20.0 * math.log(states) / math.log(actions))
    checks.integer("horizon", horizon, least=math.ceil(across * states * actions))
    return episodes * (0.015 * math.sqrt(across * states * actions * horizon) - across / 8.0)


@checks.representable
def identification_samples(*, states: int, actions: int, separation: float, diameter: float) -> float:
    """Samples of the first column without which some world is missed every second time.

    ::

        S A / (480 lambda^2)        S, A >= 20,   D >= 16 and 4 ceil(log_A' (S / 3)),   lambda in (0, 1/2]

    The lemma prints 180, its proof yields 480, and lambda above 1/2 is not covered (E4).  It is met by S A / 12
    2-JAO worlds, built as trees with A' = floor((A - 1) / 2) branches that must not be too deep (E5).
    """
    pairs = checks.integer("states", states, least=20) * checks.integer("actions", actions, least=20)
    depth = math.ceil(math.log(states / 3.0) / math.log((actions - 1) // 2) - 1e-12)
    checks.real("diameter", diameter, least=max(16.0, 4.0 * depth))
    level = checks.real("separation", separation, above=0.0, most=0.5)
    return pairs / (480.0 * level**2)


@checks.representable
def identification_steps(*, states: int, actions: int, separation: float, diameter: float) -> float:
    """Expected steps to gather the Z samples of :func:`identification_samples`, D S A / (3840 lambda^2) and a little.

    ::

        Z + (Z - 1) D / 8

    A sample leads away from the hub with probability at least 1/2, and the way back takes D / 4 steps on average.  The
    corollary gives the order only; this constant is for learners that never stop with fewer than Z samples.
    """
    needed = identification_samples(states=states, actions=actions, separation=separation, diameter=diameter)
    return needed + (needed - 1.0) * diameter / 8.0


@checks.representable
def identification_regret(*, states: int, actions: int, episodes: int, separation: float, diameter: float) -> float:
    """Expected regret of a learner that spends :func:`identification_steps` in every episode, at least 0.

    ::

        K ( steps / 2  -  D / 2 )

    The optimal gain is at least 1/2 and those steps bring no reward; D / 2 covers the difference between V* and H times
    the gain, and the way through the tree.  Of order K D S A / lambda^2, as in the corollary.
    """
    checks.integer("episodes", episodes, least=1)
    steps = identification_steps(states=states, actions=actions, separation=separation, diameter=diameter)
    return max(0.0, episodes * (steps - diameter) / 2.0)


@checks.representable
def coin_flips(*, rows: int, bias: float, base: float, base_bias: float) -> CoinFlips:
    """The lemma of the coin game: how many flips are too few to find the special one of Q rows of two coins.

    ::

        T1 = Q / (160 lambda^2),    T2 = Q (delta + eps) / (256 eps^2)        Q >= 12;  lambda, delta, eps <= 1/4

    With at most T1 flips of the first column (1/2, special row 1/2 + lambda) and T2 of the second (delta, special row
    delta + eps), at least Q / 6 rows are named with probability at most 1/2 when they are the special one.

    Parameters
    ----------
    rows
        Q.
    bias
        lambda; a 2-JAO world has half its separation here (E4).
    base
        delta.
    base_bias
        eps.
    """
    table = checks.integer("rows", rows, least=12)
    first = checks.real("bias", bias, above=0.0, most=0.25)
    chance = checks.real("base", base, above=0.0, most=0.25)
    second = checks.real("base_bias", base_bias, above=0.0, most=0.25)
    return CoinFlips(table / (160.0 * first**2), table * (chance + second) / (256.0 * second**2))


@checks.representable
def hidden_bias(*, rows: int, base: float, flips: int) -> float:
    """eps so small that H flips of the second column alone never reach T2 (corollary of the coin game).

    ::

        eps = (1/20) sqrt(Q delta / H)        so that T2 >= (400 / 256) H
    """
    table = checks.integer("rows", rows, least=12)
    chance = checks.real("base", base, above=0.0, most=0.25)
    return math.sqrt(table * chance / checks.integer("flips", flips, least=1)) / 20.0


@checks.representable
def separated_horizon(*, models: int, separation: float, failure: float) -> float:
    """Steps below which episodes of worlds that differ everywhere, and by so little, cannot be told apart; an order.

    ::

        ln(M / eps) / delta^2        delta = separation / 2,   eps = failure

    Latent MDPs whose worlds are delta apart at every pair are hard below a horizon of this order, and easy above it
    (Chen, Daskalakis, Golowich, Rakhlin 2024; nearly sharp).  Three things are uncertain, and so this is an order,
    not a bound.  Its constant is 1 here, and not the source's.  delta is taken to be the distance in total variation,
    half the l1 distance that this library has; with the l1 distance itself there would be a quarter of the steps.  And
    it is for the hardest worlds of their kind: where two worlds differ more at other pairs, a walk through these
    tells them apart sooner, and :func:`aomultirl.theory.identification_lower_bound` says how soon, for given worlds.

    Parameters
    ----------
    models
        M, how many worlds there are.
    separation
        the least l1 distance of two worlds at any pair, such as ``models.separation_everywhere()``.
    failure
        eps, how often an episode may be taken for another world.

    Examples
    --------
    >>> round(separated_horizon(models=4, separation=0.2, failure=0.03))
    489
    """
    count = checks.integer("models", models, least=1)
    level = checks.real("separation", separation, above=0.0, most=2.0)
    return math.log(count / checks.real("failure", failure, above=0.0, below=1.0)) / (level / 2.0) ** 2

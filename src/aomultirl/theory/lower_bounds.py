"""The paper's lower bounds as numbers (Sections 1 and 3, Appendix C), named as in :mod:`aomultirl.theory.bounds`.

They say what no algorithm of a class can beat on the hardest worlds of a size, and refuse sizes for which they are
not proved.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
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
def single_task_lower_bound(*, states: int, actions: int, episodes: int, horizon: int) -> float:
    """What any algorithm loses in expectation in K episodes of a single world, on the hardest world of this size.

    ::

        (1/20) (H - d - 1) min{ sqrt(L A K), K }        S >= 3,   A >= 2,   H >= d + 2

    Of order H sqrt(S A K).  The introduction cites Domingues, Menard, Kaufmann and Valko (2021), who prove
    sqrt(H^3 S A K) for transitions that may differ from step to step; those of a world here may not, and then one root
    of H less can be had.  The constant is for their tree without the waiting: L leaves at depth d with A arms each,
    above them the fewest states that lead there, below them a state that earns 1 for ever and one that earns 0.  All
    arms lead to the first with probability 1/2, one with eps more.  An episode is one pull of one of L A arms, worth
    H - d - 1 steps of reward, and 1/20 is the constant of the adversarial bandit's lower bound (Auer, Cesa-Bianchi,
    Freund, Schapire 2002, Theorem 5.1), with eps = (1/4) min{1, sqrt(L A / K)} and the arm drawn uniformly.

    Examples
    --------
    >>> round(single_task_lower_bound(states=11, actions=4, episodes=2400, horizon=10), 9)
    84.0
    """
    return multi_task_lower_bound(states=states, actions=actions, models=1, episodes=episodes, horizon=horizon)


@checks.representable
def multi_task_lower_bound(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    horizon: int,
    shares: Sequence[int] | None = None,
) -> float:
    """What a learner that is told the task of every episode loses in expectation all the same (Section 1).

    ::

        sum over m of single_task_lower_bound(K_m),    sum over m of sqrt(K_m) <= sqrt(M K)

    The arms of M worlds are drawn independently, so that nothing seen in one says anything of another, and what is lost
    adds up.  By Cauchy and Schwarz the sum of roots is the largest, sqrt(M K), where all worlds come equally often,
    which the adversary sees to: of order H sqrt(M S A K), as the learning phase of AOMultiRL loses at most, up to one
    root of H and logarithms.  Who is not told the task loses no less.

    Parameters
    ----------
    shares
        K_1 to K_M, the episodes of every world, K together; by default as equal as can be.

    Examples
    --------
    >>> size = dict(states=11, actions=4, models=4, episodes=2400, horizon=10)
    >>> round(multi_task_lower_bound(**size), 9)
    168.0
    >>> round(multi_task_lower_bound(**size, shares=[2400, 0, 0, 0]), 9)
    84.0
    """
    leaves, depth = arm_tree(states, actions)
    arms = leaves * int(actions)
    worlds, total = checks.integer("models", models, least=1), checks.integer("episodes", episodes, least=1)
    worth = checks.integer("horizon", horizon, least=depth + 2) - depth - 1
    if shares is None:
        each, more = divmod(total, worlds)
        return worth * (more * _pulls(arms, each + 1) + (worlds - more) * _pulls(arms, each))
    counts = [
        checks.integer(f"shares[{m}]", share, least=0)
        for m, share in enumerate(checks.items("shares", shares, "episodes of each world"))
    ]
    if len(counts) != worlds or sum(counts) != total:
        words = f"{worlds} numbers that add up to {total}, not {len(counts)} that add up to {sum(counts)}"
        raise checks.Refusal("shares", f"must be {words}")
    return worth * math.fsum(_pulls(arms, count) for count in counts)


def _pulls(arms: int, pulls: int) -> float:
    """What is lost in so many pulls of so many arms, in units of what a pull may win."""
    return min(math.sqrt(float(arms) * pulls), float(pulls)) / 20.0


def arm_tree(states: int, actions: int) -> tuple[int, int]:
    """L and d of the largest tree of :func:`single_task_lower_bound`: two of the S states are at its foot.

    Examples
    --------
    >>> arm_tree(11, 4)  # the root, two states below it, and six leaves
    (6, 2)
    """
    most, each = checks.integer("states", states, least=3) - 2, checks.integer("actions", actions, least=2)
    leaves = bisect_right(range(1, most + 1), most, key=lambda count: sum(tree_levels(count, each)))
    return leaves, len(tree_levels(leaves, each)) - 1


def tree_levels(leaves: int, actions: int) -> list[int]:
    """The fewest states, level by level from the root, that lead to so many leaves."""
    levels = [leaves]
    while levels[-1] > 1:
        levels.append(-(-levels[-1] // actions))
    return levels[::-1]


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

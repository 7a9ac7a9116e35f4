"""The paper's upper bounds as numbers (Section 4, its proofs, and the appendix on external samples).

The same names everywhere::

    states S    actions A    models M    episodes K    failure p    separation lambda    diameter D
    horizon H = clustering_horizon H0 + learning_horizon H1      hitting_time: the bound that H0 is made of (E7)

They hold with probability at least 1 - p and come as a :class:`RegretBound`.  A bound above K H says nothing, for no
regret exceeds K H.  "E" numbers are errata of the paper.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks
from aomultirl.theory.constants import SETS, clustering_horizon


class RegretBound(NamedTuple):
    """A bound on the regret of all K episodes, split by how each part grows with K.

    linear: the part that grows like K.
    root: the part that grows like sqrt(K), up to logarithms.
    constant: the part that grows like a power of ln K.
    """

    linear: float
    root: float
    constant: float

    @property
    def total(self) -> float:
        """The sum of the three parts."""
        return self.linear + self.root + self.constant

    def of_first(self, episodes: int, of: int) -> "RegretBound":
        """The bound on the regret of the first episodes of a run of ``of``, whose N, H0 and L are those of all."""
        return RegretBound(self.linear * (episodes / of), self.root * math.sqrt(episodes / of), self.constant)


@checks.representable
def logarithm(*, states: int, actions: int, models: int, episodes: int, horizon: int, failure: float) -> float:
    """L of Theorem 1 and of the bonus b', with the whole horizon in it (E8).

    ::

        L = ln(15 S A K H M / p) = ln(5 S A K H M / p_1),    p_1 = p / 3

    Examples
    --------
    >>> round(logarithm(states=16, actions=4, models=4, episodes=200, horizon=200, failure=0.03), 4)
    22.3564
    """
    states, actions, models, episodes, horizon = _counts(
        states=states, actions=actions, models=models, episodes=episodes, horizon=horizon
    )
    return logarithm_for(states * actions, models, episodes, horizon, _probability(failure))


def logarithm_for(pairs: int, models: int, episodes: int, steps: int, failure: float) -> float:
    """:func:`logarithm` where the numbers have been checked: S * A, M, K, H and p."""
    return math.log(15.0 * pairs * episodes * steps * models / failure)


@checks.representable
def bonus(
    visits: ArrayLike,
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    horizon: int,
    learning_horizon: int,
    failure: float,
    constants: str = "paper",
) -> NDArray[np.float64]:
    """What optimism adds to a pair seen n times: b' of the paper, or what the authors ran (E27).

    ::

        paper      7 H1 L / sqrt(n)
        released   H1 sqrt(2 H1 L / n) + 2 H1 L / (3 n)

    Parameters
    ----------
    visits
        n, a number or an array; n = 0 gives inf.
    constants
        "paper" or "released".

    Returns
    -------
    bonus
        of the shape of ``visits``.
    """
    log = logarithm(states=states, actions=actions, models=models, episodes=episodes, horizon=horizon, failure=failure)
    steps = _steps_of_bonus(learning_horizon, horizon, constants)
    seen = (
        np.asarray(checks.real("visits", visits, least=0.0))
        if checks.array_of("visits", visits).ndim == 0
        else checks.finite_array("visits", visits, lowest=0.0)
    )
    return bonus_for(seen, steps, log, constants)


def bonus_for(visits: NDArray[Any], steps: int, log: float, constants: str) -> NDArray[np.float64]:
    """:func:`bonus` where L is known: visits n, of any shape, H1 and L."""
    share = np.divide(log, visits, out=np.full(visits.shape, np.inf), where=visits > 0)
    if constants == "paper":
        return np.asarray(7.0 * steps * np.sqrt(log * share))
    return np.asarray(steps * np.sqrt(2.0 * steps * share) + 2.0 * steps * share / 3.0)


@checks.representable
def visits_until_informative(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    horizon: int,
    learning_horizon: int,
    failure: float,
    constants: str = "paper",
) -> int:
    """The visits after which a pair's bonus is below the cap H1; until then optimism cannot tell actions apart.

    ::

        paper      floor(49 L^2)
        released   floor( (b + sqrt(b^2 + 8 L / 3))^2 / 4 ),    b^2 = 2 H1 L

    Examples
    --------
    >>> size = dict(states=16, actions=4, models=4, episodes=200, failure=0.03)
    >>> visits_until_informative(horizon=200, learning_horizon=200, **size)
    24490
    """
    log = logarithm(states=states, actions=actions, models=models, episodes=episodes, horizon=horizon, failure=failure)
    steps = _steps_of_bonus(learning_horizon, horizon, constants)
    if constants == "paper":
        return math.floor(49.0 * log**2)
    square = 2.0 * steps * log
    return math.floor((math.sqrt(square) + math.sqrt(square + 8.0 * log / 3.0)) ** 2 / 4.0)


@checks.representable
def regret_bound(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    clustering_horizon: int,
    learning_horizon: int,
    failure: float,
    diameter: float | None = None,
) -> RegretBound:
    """Theorem 1: AOMultiRL with the H0 of :func:`clustering_horizon`.

    ::

        K (H0 + D)  +  67 H1^(3/2) L sqrt(M S A K)  +  15 M S^2 A H1^2 L^2

    The last term has S^2 A, not the S^2 A^2 of the lemma for one world (E6).  The proof's L >= 4 (E28) costs nothing:
    below it the bound exceeds K H.

    Parameters
    ----------
    diameter
        D; without it H0 stands in for it and the first term is 2 K H0.

    Examples
    --------
    >>> grid = dict(states=16, actions=4, models=4, episodes=200, failure=0.03)
    >>> regret_bound(clustering_horizon=610_848, learning_horizon=200, **grid).linear
    244339200.0
    """
    first = checks.integer("clustering_horizon", clustering_horizon, least=1)
    steps = checks.integer("learning_horizon", learning_horizon, least=1)
    lost = float(first) if diameter is None else checks.real("diameter", diameter, above=0.0)
    log = logarithm(
        states=states, actions=actions, models=models, episodes=episodes, horizon=first + steps, failure=failure
    )
    return RegretBound(episodes * (first + lost), *_learning(states, actions, models, episodes, steps, log))


@checks.representable
def full_set_bound(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    learning_horizon: int,
    separation: float,
    hitting_time: float,
    failure: float,
    diameter: float | None = None,
    constants: str = "paper",
) -> RegretBound:
    """The corollary of Theorem 1: nothing is known of the distinguishing set, so Gamma = S x A and alpha = lambda.

    Its first term is of order K D S^2 A / lambda^2 up to logarithms; the paper drops the S of max{S, ln} (E18).
    """
    pairs = math.prod(_counts(states=states, actions=actions))
    first = clustering_horizon(states, pairs, separation, hitting_time, episodes, failure, constants)
    return regret_bound(
        states=states,
        actions=actions,
        models=models,
        episodes=episodes,
        clustering_horizon=first,
        learning_horizon=learning_horizon,
        failure=failure,
        diameter=diameter,
    )


@checks.representable
def two_stage_bound(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    horizon: int,
    separation: float,
    hitting_time: float,
    failure: float,
    constants: str = "paper",
) -> RegretBound:
    """Theorem 2: the two-stage AOMultiRL, which finds its distinguishing set itself.

    ::

        4 K H0M  +  67 H^(3/2) L sqrt(2 M S A K)  +  30 M S^2 A H^2 L^2
        H0M = (3072 D M^2 / lambda^2) max{S, ln(3 K M^2 / p)}      (N rounded up, S not dropped: E18)

    Each stage may fail with probability p / 2, which takes the place of p in both formulas (E21).  Every world must
    come within the first K1 episodes, K1 S A < K - K1 (E17): at least M (S A + 1) + 1 episodes, not checked here (see
    :func:`.early_episodes`).  H must leave room for stage 1, whose clustering phase covers S x A.
    """
    states, actions, models = _counts(states=states, actions=actions, models=models)
    checks.integer("models", models, least=2, limit=math.isqrt(checks.LARGEST))
    half = _probability(failure) / 2.0
    known = separation, hitting_time, episodes, half, constants
    first_stage = clustering_horizon(states, states * actions, *known)
    checks.integer("horizon", horizon, least=first_stage + 1)
    log = logarithm(states=states, actions=actions, models=models, episodes=episodes, horizon=horizon, failure=half)
    root, constant = _learning(states, actions, models, episodes, horizon, log)
    second_stage = clustering_horizon(states, models**2, *known)
    return RegretBound(4.0 * episodes * second_stage, math.sqrt(2.0) * root, 2.0 * constant)


@checks.representable
def ucbvi_bound(
    *, states: int, actions: int, episodes: int, horizon: int, failure: float, models: int = 1
) -> RegretBound:
    """UCBVI-CH on one world, or on M worlds when it is told which one each episode is (E28 as in Theorem 1).

    ::

        67 H^(3/2) L sqrt(M S A K)  +  15 M S^2 A H^2 L^2,    L = ln(5 S A K H M / p)
    """
    sizes = _counts(states=states, actions=actions, models=models, episodes=episodes, horizon=horizon)
    log = math.log(5.0 * math.prod(sizes) / _probability(failure))
    return RegretBound(0.0, *_learning(states, actions, models, episodes, horizon, log))


@checks.representable
def external_samples_bound(
    *, states: int, actions: int, episodes: int, horizon: int, samples: int, failure: float
) -> RegretBound:
    """UCBVI-CH on one world, given N fresh samples of every pair before each episode (repaired: E11 to E13).

    ::

        S A H^2 / (N+1)  +  e (H+2) sqrt(K H L_N)  +  60 sqrt(c) H^(3/2) L_N sqrt(S A K)  +  15 c S^2 A H^2 L_N^2
        c = (2H-1) / (N+2H-1),    L_N = ln(5 S A K (H+N) / p)

    Parameters
    ----------
    samples
        N; 0 gives the form of :func:`ucbvi_bound`.
    """
    sizes = _counts(states=states, actions=actions, episodes=episodes, horizon=horizon)
    extra = checks.integer("samples", samples, least=0)
    log = math.log(5.0 * math.prod(sizes[:3]) * (sizes[3] + extra) / _probability(failure))
    return RegretBound(0.0, *_learning_with_samples(states, actions, 1, episodes, horizon, extra, log))


@checks.representable
def first_stage_bound(
    *,
    states: int,
    actions: int,
    models: int,
    episodes: int,
    clustering_horizon: int,
    learning_horizon: int,
    samples: int,
    failure: float,
    diameter: float | None = None,
    first_episodes: int | None = None,
) -> RegretBound:
    """Stage 1 of the two-stage agent, or AOMultiRL on S x A, when it learns from the samples of both phases.

    ::

        K1 (H0 + D)  +  the terms of external_samples_bound with H1 for H, sqrt(M K1) for sqrt(K), the others times M

    The paper prints K1 H0, sqrt(K) and N + H1 - 1 (E13).  L_N = ln(15 S A K (H+N) M / p), as in Theorem 1.

    Parameters
    ----------
    samples
        N, the visits to every pair in the clustering phase.
    diameter
        D; without it H0 stands in for it.
    first_episodes
        K1, by default all K.
    """
    first = checks.integer("clustering_horizon", clustering_horizon, least=1)
    steps = checks.integer("learning_horizon", learning_horizon, least=1)
    extra = checks.integer("samples", samples, least=0)
    lost = float(first) if diameter is None else checks.real("diameter", diameter, above=0.0)
    log = logarithm(
        states=states,
        actions=actions,
        models=models,
        episodes=episodes,
        horizon=first + steps + extra,
        failure=failure,
    )
    early = episodes
    if first_episodes is not None:
        early = checks.integer("first_episodes", first_episodes, least=1, most=episodes)
    return RegretBound(
        early * (first + lost), *_learning_with_samples(states, actions, models, early, steps, extra, log)
    )


@checks.representable
def ucrl2_bound(*, states: int, actions: int, episodes: int, horizon: int, diameter: float) -> RegretBound:
    """Learning every episode alone with UCRL2 and delta = 1 / H, in expectation (Section 3, after the minimax bound).

    ::

        K ( 34 D S sqrt(A H ln(H / delta))  +  D  +  1 )

    34 is UCRL2's own constant; V* exceeds H times the optimal gain by at most D, and a failure costs delta H = 1.
    """
    states, actions, episodes = _counts(states=states, actions=actions, episodes=episodes)
    checks.integer("horizon", horizon, least=2)
    across = checks.real("diameter", diameter, above=0.0)
    alone = 34.0 * across * states * math.sqrt(2.0 * actions * horizon * math.log(horizon))
    return RegretBound(episodes * (alone + across + 1.0), 0.0, 0.0)


def _learning(states: int, actions: int, models: int, episodes: int, horizon: int, log: float) -> tuple[float, float]:
    """The sqrt(K) term and the fixed term of UCBVI-CH, summed over the worlds by Cauchy-Schwarz."""
    states, actions, models, episodes, horizon = _counts(
        states=states, actions=actions, models=models, episodes=episodes, horizon=horizon
    )
    root = 67.0 * horizon**1.5 * log * math.sqrt(models * states * actions * episodes)
    return root, 15.0 * models * states**2 * actions * horizon**2 * log**2


def _learning_with_samples(
    states: int, actions: int, models: int, episodes: int, horizon: int, samples: int, log: float
) -> tuple[float, float]:
    """The same for UCBVI-CH with external samples."""
    states, actions, models, episodes, horizon = _counts(
        states=states, actions=actions, models=models, episodes=episodes, horizon=horizon
    )
    less = (2.0 * horizon - 1.0) / (samples + 2.0 * horizon - 1.0)
    chance = math.e * (horizon + 2.0) * math.sqrt(models * episodes * horizon * log)
    root = 60.0 * math.sqrt(less) * horizon**1.5 * log * math.sqrt(models * states * actions * episodes)
    rare = models * states * actions * horizon**2 / (samples + 1.0)
    return chance + root, rare + 15.0 * less * models * states**2 * actions * horizon**2 * log**2


def _steps_of_bonus(learning_horizon: int, horizon: int, constants: str) -> int:
    """H1, at most H; refuses constants that no bonus has."""
    steps = checks.integer("learning_horizon", learning_horizon, least=1, most=horizon)
    checks.choice("constants", constants, SETS)
    return steps


def _counts(**values: int) -> tuple[int, ...]:
    return tuple(checks.integer(name, value, least=1) for name, value in values.items())


def _probability(failure: float) -> float:
    return checks.real("failure", failure, above=0.0, below=1.0)

"""The numbers the paper's algorithms run on (Algorithm 1, Lemmas of Section 4; errata E7, E14, E15, E23).

With K episodes, a distinguishing set of ``|Gamma|`` pairs, p_1 = p / 3 and ``l = ln(K |Gamma| / p_1)``::

    paper      N = ceil( 256 / lambda^2 * max{S, l} )                 H0 = 12 D |Gamma| N
    released   N = floor( 128 / lambda^2 * (4 ln 2 + l) )             H0 = 2 D |Gamma| n,
               n = floor( 2 (N + l) + 2 sqrt(2 N l + l^2) )

``"released"`` is what the authors ran; its 4 ln 2 is right only where every pair has at most four known successors.
D is the bound on the hitting time (Assumption 2 of the paper, although its formulas print the diameter's letter).
"""

import math

from aomultirl import checks

SETS = ("paper", "released")


@checks.representable
def samples_needed(
    states: int, pairs: int, separation: float, episodes: int, failure: float, constants: str = "paper"
) -> int:
    """N, how often each pair of the distinguishing set must be seen in an episode.

    Parameters
    ----------
    states
        S.
    pairs
        the size of the distinguishing set Gamma.
    separation
        lambda in (0, 2].
    episodes
        K.
    failure
        p in (0, 1); a third of it is spent here.
    constants
        "paper" or "released".

    Examples
    --------
    >>> samples_needed(16, 3, 1.3 - 1e-6, 200, 0.03)
    2424
    >>> samples_needed(16, 3, 1.3 - 1e-6, 200, 0.03, "released")
    1043
    """
    states = checks.integer("states", states, least=1)
    level = checks.real("separation", separation, above=0.0, most=2.0)
    union = _union(pairs, episodes, failure)
    if checks.choice("constants", constants, SETS) == "paper":
        return math.ceil(256.0 / level**2 * max(states, union))
    return math.floor(128.0 / level**2 * (4.0 * math.log(2.0) + union))


@checks.representable
def clustering_horizon(
    states: int,
    pairs: int,
    separation: float,
    hitting_time: float,
    episodes: int,
    failure: float,
    constants: str = "paper",
    samples: int | None = None,
) -> int:
    """H0, the length of the clustering phase; parameters as in :func:`samples_needed`, and N in place of its own.

    Examples
    --------
    >>> clustering_horizon(16, 3, 1.3 - 1e-6, 7, 200, 0.03)
    610848
    >>> clustering_horizon(16, 3, 1.3 - 1e-6, 7, 200, 0.03, "released")
    101262
    """
    needed = samples_needed(states, pairs, separation, episodes, failure, constants)
    if samples is not None:
        needed = checks.integer("samples", samples, least=1)
    time = checks.real("hitting_time", hitting_time, above=0.0)
    if constants == "paper":
        return math.ceil(12.0 * time * pairs * needed)
    union = _union(pairs, episodes, failure)
    blocks = math.floor(2.0 * (needed + union) + 2.0 * math.sqrt(2.0 * needed * union + union**2))
    return math.ceil(2.0 * time * pairs * blocks)


@checks.representable
def threshold(level: float, separation: float) -> float:
    """delta = alpha - lambda / 4: two estimates further apart than this belong to different worlds.

    Parameters
    ----------
    level
        alpha of the alpha-distinguishing set, at least lambda / 2.
    separation
        lambda in (0, 2].
    """
    separation = checks.real("separation", separation, above=0.0, most=2.0)
    return checks.real("level", level, least=separation / 2.0) - separation / 4.0


@checks.representable
def early_episodes(states: int, actions: int, episodes: int) -> int:
    """The most that K1 may be in Assumption 19: ``K1 S A < K - K1``, as its theorem's proof has it (E17).

    Every world must come within the first K1 episodes, so the assumption fails wherever this is less than M.

    Parameters
    ----------
    states, actions, episodes
        S, A and K.

    Examples
    --------
    The paper's experiment, in which two stages meet four worlds in 204 episodes:

    >>> early_episodes(16, 4, 204)
    3
    """
    pairs = checks.integer("states", states, least=1) * checks.integer("actions", actions, least=1)
    return (checks.integer("episodes", episodes, least=1) - 1) // (pairs + 1)


def _union(pairs: int, episodes: int, failure: float) -> float:
    """``l = ln(K |Gamma| / p_1)``."""
    pairs = checks.integer("pairs", pairs, least=1)
    episodes = checks.integer("episodes", episodes, least=1)
    return math.log(episodes * pairs / (checks.real("failure", failure, above=0.0, below=1.0) / 3.0))

"""Random sets of worlds with exactly the separation asked for.

All worlds share their support.  With a common base B and independent rows Q_i on the same successors,

    P_i = (1 - t) B + t Q_i      gives      P_i - P_j = t (Q_i - Q_j),

so the separation of the set is t times that of the Q_i, and t = separation / separation(Q) makes it exact.  Where
the Q_i happen to lie too close, some rows are replaced by certain successors, a different combination for each
world, which puts every two worlds at distance 2.

A random cycle through all states runs along action 0, so every world is communicating.
"""

import math

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.engine.successors import Successors
from aomultirl.geometry.separation import separation as separation_of
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

ONCE_BYTES, WORLD_BYTES = 30, 20
"""Memory for a transition: while the worlds are made, and in each of them; measured."""


def random_models(
    states: int = 16,
    actions: int = 4,
    models: int = 4,
    successors: int = 5,
    separation: float = 1.0,
    rng: int | np.random.Generator = 0,
    *,
    differing: float = 1.0,
    concentration: float = 1.0,
) -> ModelSet:
    """A random communicating set; sparse, and quick up to 100,000 states and more.

    Parameters
    ----------
    states, actions, models
        S, A, M.
    successors
        of every pair, at most S; at least 2 where there are several worlds.
    separation
        lambda in (0, 2); what :meth:`ModelSet.separation` will find, to rounding.
    rng
        a seed or a generator.
    differing
        the share of pairs at which the worlds differ at all, in (0, 1].
    concentration
        of the Dirichlet distribution of each row; small makes rows peaked.

    Examples
    --------
    >>> round(random_models(separation=0.7).separation(), 9)
    0.7
    """
    made = origin("random_models", locals())
    n_states = checks.integer("states", states, least=2)
    n_actions = checks.integer("actions", actions, least=1)
    count = checks.integer("models", models, least=1)
    width = checks.integer("successors", successors, least=1 if count == 1 else 2, most=n_states)
    level = checks.real("separation", separation, above=0.0, below=2.0)
    differing = checks.real("differing", differing, above=0.0, most=1.0)
    concentration = checks.real("concentration", concentration, above=0.0)
    draw = checks.random_source("rng", rng)
    size = float(n_states) * n_actions * width * (ONCE_BYTES + WORLD_BYTES * count)
    words = f"making {count} worlds with {n_actions} actions and {width} successors"
    sizes.check("states", n_states, size, words, "states, actions, models or successors")

    n_pairs = n_states * n_actions
    targets = supports(n_states, n_actions, width, draw)
    starts = np.arange(0, n_pairs * width + 1, width, dtype=np.int64)
    rewards = draw.random((n_states, n_actions))
    base = probability_rows(n_pairs, width, concentration, draw)
    if count == 1:
        return ModelSet([_world(starts, targets, base, rewards)], made)
    free = draw.random(n_pairs) < differing
    own = [np.where(free[:, None], probability_rows(n_pairs, width, concentration, draw), base) for _ in range(count)]
    reached = separation_of([Successors(starts, targets.ravel(), rows.ravel()) for rows in own])
    if reached < level:
        _plant(own, n_actions, draw)
        reached = 2.0
    t = level / reached
    return ModelSet([_world(starts, targets, (1.0 - t) * base + t * rows, rewards) for rows in own], made)


def _world(
    starts: NDArray[np.int64], targets: NDArray[np.int32], rows: NDArray[np.float64], rewards: NDArray[np.float64]
) -> MDP:
    return MDP(Successors(starts, targets.ravel(), (rows / rows.sum(axis=1, keepdims=True)).ravel()), rewards)


def probability_rows(n_pairs: int, width: int, concentration: float, draw: np.random.Generator) -> NDArray[np.float64]:
    """Dirichlet rows, bounded away from 0 so that every successor exists in every world."""
    rows = draw.standard_gamma(concentration, (n_pairs, width))
    rows = np.maximum(rows, 1e-6 * rows.max(axis=1, keepdims=True))
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def supports(n_states: int, n_actions: int, width: int, draw: np.random.Generator) -> NDArray[np.int32]:
    """Distinct ascending successors of every pair, (S*A, width); action 0 contains a cycle through all states."""
    n_pairs = n_states * n_actions
    targets = _distinct(n_pairs, n_states, width, draw)
    tour = draw.permutation(n_states)
    following = np.empty(n_states, np.int64)
    following[tour] = np.roll(tour, -1)
    first = np.arange(n_states) * n_actions
    missing = ~(targets[first] == following[:, None]).any(axis=1)
    targets[first[missing], draw.integers(0, width, missing.sum())] = following[missing]
    return np.sort(targets, axis=1).astype(np.int32)


def _distinct(rows: int, n_states: int, width: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """``width`` distinct states in each row."""
    if 2 * width * width > n_states:
        return np.array([draw.choice(n_states, width, replace=False, shuffle=False) for _ in range(rows)])
    targets = draw.integers(0, n_states, (rows, width))
    while True:
        ordered = np.sort(targets, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(again) == 0:
            return targets
        targets[again] = draw.integers(0, n_states, (len(again), width))


def _plant(own: list[NDArray[np.float64]], n_actions: int, draw: np.random.Generator) -> None:
    """Give every world its own combination of certain successors at a few pairs, in place.

    With one action these pairs lie on the cycle; the mixture with the base keeps it, because t < 1.
    """
    n_pairs, width = own[0].shape
    digits = math.ceil(math.log(len(own)) / math.log(width) - 1e-9)
    places = draw.choice(n_pairs, digits, replace=False) if digits <= n_pairs else None
    if places is None:
        raise ValueError(f"{len(own)} worlds need {digits} pairs to differ at, but there are {n_pairs}")
    for number, rows in enumerate(own):
        for digit, place in enumerate(places):
            rows[place] = 0.0
            rows[place, number // width**digit % width] = 1.0

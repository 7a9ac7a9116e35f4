"""How many steps it takes to recognise a world, at the least.

Whoever is wrong in an episode with probability at most q, whatever the world, needs in world i, before deciding::

    sum over (s, a) of E[n(s, a)] KL(P_i(s, a) || Q(s, a)) >= kl(1 - q, q)    for every Q that calls for another answer,

and visits come from walking: what enters a state leaves it, except where the walk starts and ends.  The least number of
steps under both is a linear program.  Which Q call for another answer depends on what the learner is told:

* that the world is one of those it knows: the other worlds of the set;
* only that worlds are lambda apart: every Q that agrees with P_i but for one pair of the distinguishing set, where it
  is lambda away.  Then each pair has a constraint of its own, with the nearest such row,
  ``min over events A of kl(P_i(A), P_i(A) + lambda / 2)``.

Where arriving in some states ends the episode, all this is within one episode, as the world of the next one may be
another.  P(s, a) is then the distribution of the successor together with whether the episode ended there, nobody acts
in a terminal state, and a walk that arrives in one is over: nothing more is learned, and whoever is to be right has to
decide with what was seen.  Worlds may be such that walks are over too soon, and then no number of steps is enough:
whoever is not to be wrong more often than q has to abstain at times.

The program is a relaxation (a walk may end anywhere, in expectation), so it stays below the truth.  With lambda it is
for a learner who knows this world and nothing of the others: one who knows them all can rule out a Q that is nearer
than lambda to one of them, and may do with less.
"""

import math
from collections.abc import Iterable
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import rel_entr

from aomultirl import checks, sizes
from aomultirl.engine.waiting import while_serving_signals
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

MOST_EVENTS = 12
"""Successors of a pair up to which all events are looked at; above, all of so many groups of successors."""
CERTAIN = 1e9
"""In place of an infinite divergence: one visit tells."""


@checks.representable
def identification_lower_bound(
    models: ModelSet,
    *,
    failure: float,
    episodes: int = 1,
    separation: float | None = None,
    distinguishing_set: Iterable[tuple[int, int]] | None = None,
) -> NDArray[np.float64]:
    """Expected steps in each world, (M,), that no learner can do with less; inf where it can never be sure.

    The steps are those of one episode.  An episode that a terminal state ends tells no more, so inf may also say that
    episodes are over too soon.  The first state of an episode is taken to tell nothing.

    Parameters
    ----------
    failure, episodes
        p and K: every episode may be wrong with probability q = p / K.
    separation
        lambda: a new world, at least so far from all others, must be told from the known ones.  None: there is none.
    distinguishing_set
        Gamma: the pairs at which worlds may differ; by default all.  Those of a state that is terminal in a world do
        not count there, as nobody acts in it; where all of them are such there is nothing to tell, and the bound is 0.

    Raises
    ------
    ValueError
        anything invalid, and a pair of ``distinguishing_set`` whose state is terminal in all worlds.

    Examples
    --------
    >>> import aomultirl as ao
    >>> grid = ao.worlds.gridworld()
    >>> identification_lower_bound(grid, failure=0.03, episodes=200).round(1).tolist()
    [18.1, 18.4, 18.4, 27.5]
    """
    if not isinstance(models, ModelSet):
        raise ValueError(f"models is {checks.shown(models)}, not a ModelSet")
    q = checks.real("failure", failure, above=0.0, below=1.0) / checks.integer("episodes", episodes, least=1)
    needed = (1.0 - 2.0 * q) * math.log((1.0 - q) / q) if q < 0.5 else 0.0
    if separation is None:
        if len(models) < 2:
            return np.zeros(len(models))
        size = 24.0 * models.n_states * models.n_actions * models.n_states
        sizes.check("models", models, size, "comparing two worlds by dense arrays (S, A, S)", "the worlds")
        return np.array(
            [_least_steps(world, _rivals(models, i), needed, _idle(models, i)) for i, world in enumerate(models)]
        )
    gap = checks.real("separation", separation, above=0.0, most=2.0) / 2.0
    mask = np.ones((models.n_states, models.n_actions), bool)
    if distinguishing_set is not None:
        mask = checks.pairs("distinguishing_set", distinguishing_set, models.n_states, models.n_actions)
        _check_some_act(models, mask)
    return np.array(
        [_least_steps(world, _nearest(world, mask, gap), needed, _idle(models, i)) for i, world in enumerate(models)]
    )


def _check_some_act(models: ModelSet, mask: NDArray[np.bool_]) -> None:
    """Refuse pairs, (S, A), of states that are terminal in all worlds."""
    never = np.argwhere(mask & np.all([world.terminal for world in models], axis=0)[:, None])
    if len(never):
        state, action = never[0].tolist()
        raise checks.Refusal(
            "distinguishing_set",
            f"has ({state}, {action}), but state {state} is terminal in all worlds: nobody acts there",
        )


def _idle(models: ModelSet, i: int) -> NDArray[np.bool_]:
    """The states of world i in which nobody ever acts, (S,): terminal ones, and those that no walk meets.

    Where no world of the set has a terminal state none is named: the program may then circle where no walk comes, and
    is a bound all the same.
    """
    world: MDP = models[i]
    idle = np.zeros(models.n_states, bool)
    if not any(len(each.ends) for each in models):
        return idle
    edges = world.sparse_transitions
    met, fresh = idle, world.start_distribution > 0.0
    while fresh.any():
        met = met | fresh
        acting = np.repeat(fresh & ~world.terminal, models.n_actions)
        fresh = np.asarray(acting @ edges > 0.0) & ~met
    return world.terminal | ~met


def _rivals(models: ModelSet, i: int) -> sp.csr_array:
    """Divergences from the other worlds, a row each, (M - 1, S * A): of the successor and of whether the episode ended.

    Whoever acts where another world has a terminal state knows that this is not that world.
    """
    rows, terminal = [], models[i].terminal
    for j, other in enumerate(models):
        if j != i:
            shape = (models.n_states * models.n_actions, models.n_states)
            mine, theirs = (m.transitions.reshape(shape) for m in (models[i], other))
            if not np.array_equal(terminal, other.terminal):
                theirs[:, terminal != other.terminal] = 0.0  # what is seen there is never seen in the other world
                theirs[np.repeat(other.terminal, models.n_actions)] = 0.0
                mine[np.repeat(terminal, models.n_actions)] = 0.0
            rows.append(np.minimum(rel_entr(mine, theirs).sum(axis=1), CERTAIN))
    return sp.csr_array(np.array(rows))


def _nearest(world: MDP, mask: NDArray[np.bool_], gap: float) -> sp.csr_array:
    """For every pair of the set that can be acted at, its divergence from the nearest row that is lambda away.

    No row is nearer that ends episodes in other states: where this row never leads that changes nothing, and elsewhere
    the divergence is infinite.
    """
    starts, _, probs = world.successors
    pairs = np.flatnonzero(mask & ~world.terminal[:, None])
    least = [min(CERTAIN, nearest_divergence(probs[starts[p] : starts[p + 1]], gap, world.n_states)) for p in pairs]
    return sp.csr_array((least, (np.arange(len(pairs)), pairs)), shape=(len(pairs), mask.size))


def nearest_divergence(row: NDArray[np.float64], gap: float, n_states: int) -> float:
    """min KL(row || Q) over Q with ``||Q - row||_1 >= 2 gap``; inf if there is none; from above for long rows."""
    row = row[row > 0.0]
    whole = len(row) == n_states
    if len(row) > MOST_EVENTS:  # fewer events: the nearest of them is at least as far, so the bound stays one
        row = np.bincount(np.arange(len(row)) % MOST_EVENTS, np.sort(row)[::-1]).astype(np.float64)
    events = np.array([np.dot(choice, row) for choice in product((0.0, 1.0), repeat=len(row))])
    if whole:  # nothing lies outside, so the empty event cannot gain
        events = events[events > 0.0]
    events = events[events + gap <= 1.0 + 1e-12]
    if len(events) == 0:
        return math.inf
    raised = np.minimum(events + gap, 1.0)
    return float((rel_entr(events, raised) + rel_entr(1.0 - events, 1.0 - raised)).min())


def _least_steps(world: MDP, divergences: sp.csr_array, needed: float, idle: NDArray[np.bool_]) -> float:
    """The linear program: visits n(s, a), none in the states ``idle``, (S,), and where the walk ends."""
    from scipy.optimize import linprog  # here, because importing it takes long

    n_states, n_actions = world.n_states, world.n_actions
    n_pairs = n_states * n_actions
    owner = sp.csr_array((np.ones(n_pairs), (np.arange(n_pairs) // n_actions, np.arange(n_pairs))))
    balance = sp.hstack([owner - world.sparse_transitions.T, sp.eye_array(n_states)], format="csr")
    never = np.concatenate([np.repeat(idle, n_actions), np.zeros(n_states, bool)])
    within: list[tuple[float, float | None]] = [(0.0, 0.0 if none else None) for none in never.tolist()]
    cost = np.concatenate([np.ones(n_pairs), np.zeros(n_states)])
    told = sp.hstack([divergences, sp.csr_array((divergences.shape[0], n_states))], format="csr")
    found = while_serving_signals(
        lambda: linprog(
            cost,
            A_ub=-told,
            b_ub=np.full(told.shape[0], -needed),
            A_eq=balance,
            b_eq=world.start_distribution,
            bounds=within,
            method="highs",
        )
    )
    if found.status == 2:  # infeasible: no number of steps is enough
        return math.inf
    if found.status != 0 or found.fun is None:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    return float(found.fun)

"""Policies without memory for a set of known worlds: what the best policy earns that is the same in all of them.

An episode is in world m with probability w_m, and nobody says in which.  A policy without memory inside the episode
chooses by the step and the state alone, so it cannot use what the episode has shown of its world.  Its worth is

    sum over m of w_m V_m,     V_m the expected reward of the episode in world m,

and to find the best one is NP-hard (Steimle, Kaufman, Denton 2021, "multi-model Markov decision processes").  It is
what a learner that pools all worlds, and remembers nothing inside an episode, can expect at most where tasks are drawn
independently with these weights; planners with beliefs are in :mod:`aomultirl.theory.known_worlds`.  Three ways
to a good policy are here, h = H-1, ..., 0:

* **The mean-value problem**: the optimal policy of one world whose rows are the means of the rows.
* **Weight, select, update** (Steimle and others): with Q_m(h, s, a) = r(s, a) + sum_s' P_m(s' | s, a) V_m(h+1, s'),

      pi_h(s) = argmax over a of  sum_m w_m Q_m(h, s, a),      V_m(h, s) = Q_m(h, s, pi_h(s))  for every m.

* **CADP** (Su, Petrik 2023: coordinate ascent and dynamic programming), from the policy of weight, select, update on:
  the same backward pass, with w_m replaced by

      b_m(h, s) = w_m times the probability of being in s at step h in world m, under the policy so far.

  For any step the worth of a policy is sum_s sum_m b_m(h, s) Q_m(h, s, pi_h(s)) and what the earlier steps earn.
  b depends on earlier steps alone and Q on later ones alone, so no change of pi_h by the backward pass makes the policy
  worse.  It ends at a policy that no change at a single step improves, which may be below the optimum.

Guarantee: all three are optimal for one world, and for one step, because worlds share their rewards.  CADP is never
below weight, select, update; nothing is known of how far any of them is below the optimum.  The optimum is at most
sum_m w_m V*_m, what is earned by somebody who is told the world ("wait and see").

What was uncertain, and how it was settled.  Ties change results: the first of the best actions is taken, and CADP keeps
the action that it has where that is among the best.  Where the policy so far reaches a state at a step in no world, all
b are 0 and every action is as good for now; CADP weighs with w_m there, so that Q of states that another action may
reach is not that of an accident.  Where worlds have terminal states, every step after the end earns ``rest``.  The mean
world's rows are then the means of the pairs (successor, whether the episode ended there), and at a state that
is terminal in some worlds over the other ones, since only there somebody acts in it.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks, sizes
from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

MOST_SWEEPS = 10_000
"""Backward passes after which CADP ends in any case; a dozen are many."""
GAIN = 1e-12
"""The share of its worth by which a policy must gain for another backward pass: less may be rounding."""


class MemorylessPlan(NamedTuple):
    """A policy without memory inside the episode, and what it is worth.

    policy
        int32 (H, S), an action for every step and state.
    by_world
        (M,), the expected reward of an episode in every world, V_m.
    value
        sum over m of w_m V_m.
    ascent
        what the policies on the way were worth, the last of them being this one.
    """

    policy: NDArray[np.int32]
    by_world: NDArray[np.float64]
    value: float
    ascent: tuple[float, ...]


def weight_select_update(models: ModelSet, horizon: int, weights: ArrayLike | None = None) -> MemorylessPlan:
    """The policy of weight, select, update: one backward pass over all worlds at once.

    Parameters
    ----------
    models
        the worlds.
    horizon
        H, the steps of an episode.
    weights
        (M,), how probable every world is, or how often it was met; by default all are as probable.

    Examples
    --------
    >>> import aomultirl as ao
    >>> float(ao.theory.weight_select_update(ao.worlds.doors(), horizon=4).value)  # one door of four, whatever the sign
    0.25
    """
    task = _read(models, horizon, weights)
    policy = np.zeros((task.horizon, models.n_states), np.int32)
    return _backward(task, policy, np.empty((0, len(models), models.n_states)))


def coordinate_ascent(models: ModelSet, horizon: int, weights: ArrayLike | None = None) -> MemorylessPlan:
    """The policy of CADP, which begins with that of :func:`weight_select_update` and is never worth less.

    Parameters as in :func:`weight_select_update`.

    Examples
    --------
    >>> import aomultirl as ao
    >>> models = ao.worlds.gridworld()
    >>> plan = ao.theory.coordinate_ascent(models, horizon=50)
    >>> plan.ascent[0] == ao.theory.weight_select_update(models, horizon=50).value <= plan.value
    True
    """
    task = _read(models, horizon, weights)
    size = 8.0 * task.horizon * len(models) * models.n_states
    sizes.check("horizon", task.horizon, size, "a table of all worlds, steps and states")
    reach = np.zeros((task.horizon, len(models), models.n_states))
    best = weight_select_update(models, horizon, weights)
    for _ in range(MOST_SWEEPS):
        _reach(task.worlds, task.firsts, best.policy, reach)
        following = _backward(task, best.policy.copy(), reach)
        gained = following.value - best.value
        if gained <= GAIN * abs(best.value):
            return best
        best = following._replace(ascent=(*best.ascent, following.value))
    return best


def mean_value_problem(models: ModelSet, horizon: int, weights: ArrayLike | None = None) -> MemorylessPlan:
    """The policy that is optimal in the mean world, and what it is worth in the worlds themselves.

    Parameters as in :func:`weight_select_update`.

    Examples
    --------
    >>> import aomultirl as ao
    >>> float(ao.theory.mean_value_problem(ao.worlds.doors(), horizon=4).value)
    0.25
    """
    task = _read(models, horizon, weights)
    policy = mean_world(models, task.weights).optimal_policy(task.horizon)[:, :-1].copy()
    by_world = np.array(
        [world.start_distribution @ world.policy_values(policy)[0] for world in models]  # (H + 1, S) for each in turn
    )
    value = float(task.weights @ by_world)
    return MemorylessPlan(policy, by_world, value, (value,))


def mean_world(models: ModelSet, weights: NDArray[np.float64]) -> MDP:
    """The world whose rows are the means of the rows, with one more state, the last one: the episode has ended."""
    n_states, n_actions = models.n_states, models.n_actions
    shares = weights[:, None] * np.array([~world.terminal for world in models])
    shares[:, shares.sum(axis=0) == 0.0] = 1.0  # terminal wherever it can be met: nobody acts there, any row will do
    shares /= shares.sum(axis=0)
    pairs = n_states * n_actions + np.arange(n_actions)
    shape = ((n_states + 1) * n_actions, n_states + 1)
    total = sp.csr_array((np.ones(n_actions), (pairs, np.full(n_actions, n_states))), shape)
    for world, share in zip(models, shares, strict=True):
        owners, (_, states, probs) = world.successors.owners(), world.successors
        arrived = np.where(world.terminal[states], n_states, states)
        total = total + sp.csr_array((probs * share[owners // n_actions], (owners, arrived)), shape)
    total.eliminate_zeros()
    total.data /= np.repeat(total.sum(axis=1), np.diff(total.indptr))
    rewards = np.vstack([models.rewards, np.full(n_actions, models.rest)])
    start = np.append(weights @ np.stack([world.start_distribution for world in models]), 0.0)
    return MDP(total, rewards, start, terminal=[n_states], rest=models.rest)


class _Worlds(NamedTuple):
    """All worlds of a set as the kernels read them.

    starts
        (M, S * A + 1), where the successors of every pair begin, in the two lists of all worlds together.
    states, probs
        the successors and their probabilities, one world after the other.
    gains
        (M, S * A), what every pair earns; in a terminal state, what every step after the end is worth.
    weights
        (M,), with the sum 1.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    gains: NDArray[np.float64]
    weights: NDArray[np.float64]


class _Task(NamedTuple):
    """The arguments, read: the worlds, their start distributions (M, S), their weights (M,), and H."""

    worlds: _Worlds
    firsts: NDArray[np.float64]
    weights: NDArray[np.float64]
    horizon: int


def read_weights(weights: ArrayLike | None, count: int) -> NDArray[np.float64]:
    """The weights of so many worlds, with the sum 1; refuses what are none."""
    if weights is None:
        return np.full(count, 1.0 / count)
    given = checks.finite_array("weights", weights, lowest=0.0)
    if given.shape != (count,):
        raise checks.Refusal("weights", f"must have shape ({count},), one for every world, not {given.shape}")
    if given.max() <= 0.0:
        raise checks.Refusal("weights", "are all 0: some world must be possible")
    given = given / given.max()
    return np.asarray(given / given.sum())


def _read(models: ModelSet, horizon: int, weights: ArrayLike | None) -> _Task:
    if not isinstance(models, ModelSet):
        raise checks.Refusal("models", f"is {checks.shown(models)}, not a ModelSet")
    steps = checks.integer("horizon", horizon, least=1)
    sizes.check("horizon", steps, 4.0 * steps * models.n_states, "a plan of all steps and states")
    shares = read_weights(weights, len(models))
    lengths = np.array([len(world.successors.probs) for world in models])
    worlds = _Worlds(
        starts=np.stack([world.successors.starts for world in models]) + (np.cumsum(lengths) - lengths)[:, None],
        states=np.concatenate([world.successors.states for world in models]),
        probs=np.concatenate([world.successors.probs for world in models]),
        gains=np.stack([world.gains.reshape(-1) for world in models]),
        weights=shares,
    )
    return _Task(worlds, np.stack([world.start_distribution for world in models]), shares, steps)


def _backward(task: _Task, policy: NDArray[np.int32], reach: NDArray[np.float64]) -> MemorylessPlan:
    """The policy of one backward pass, written over ``policy``, and its worth."""
    values = np.zeros((len(task.firsts), task.firsts.shape[1]))
    _select(task.worlds, reach, policy, values)
    by_world = (task.firsts * values).sum(axis=1)
    value = float(task.weights @ by_world)
    return MemorylessPlan(policy, by_world, value, (value,))


@kernel
def _select(
    worlds: _Worlds, reach: NDArray[np.float64], policy: NDArray[np.int32], values: NDArray[np.float64]
) -> None:
    """One backward pass.

    Parameters
    ----------
    worlds
        the worlds.
    reach
        (H, M, S), b; empty for weights that are the same everywhere.
    policy
        (H, S), the policy so far, and afterwards the new one.  Where ``reach`` is empty, nothing is read of it.
    values
        (M, S), zeros, and afterwards the values of the first step.
    """
    n_worlds, n_states = values.shape
    n_actions = worlds.gains.shape[1] // n_states
    q, shares, current = np.empty((n_worlds, n_actions)), worlds.weights.copy(), np.empty((n_worlds, n_states))
    spent = 0
    for h in range(len(policy) - 1, -1, -1):
        spent = serve_signals(spent, len(worlds.probs))
        for s in range(n_states):
            for m in range(n_worlds):
                for a in range(n_actions):
                    pair = s * n_actions + a
                    expected = 0.0
                    for i in range(worlds.starts[m, pair], worlds.starts[m, pair + 1]):
                        expected += worlds.probs[i] * values[m, worlds.states[i]]
                    q[m, a] = worlds.gains[m, pair] + expected
            before = 0
            if len(reach) > 0:
                before = policy[h, s]
                total = 0.0
                for m in range(n_worlds):
                    shares[m] = reach[h, m, s]
                    total += shares[m]
                if total == 0.0:
                    shares[:] = worlds.weights
            best, chosen = -np.inf, 0
            for a in range(n_actions):
                worth = 0.0
                for m in range(n_worlds):
                    worth += shares[m] * q[m, a]
                if worth > best or (worth == best and a == before):
                    best, chosen = worth, a
            policy[h, s] = chosen
            for m in range(n_worlds):
                current[m, s] = q[m, chosen]
        values[:] = current


@kernel
def _reach(worlds: _Worlds, firsts: NDArray[np.float64], policy: NDArray[np.int32], reach: NDArray[np.float64]) -> None:
    """Fill in b, (H, M, S), for a policy; ``firsts`` are the start distributions, (M, S)."""
    horizon, n_worlds, n_states = reach.shape
    n_actions, spent = worlds.gains.shape[1] // n_states, 0
    reach[1:] = 0.0
    for m in range(n_worlds):
        reach[0, m] = worlds.weights[m] * firsts[m]
        for h in range(horizon - 1):
            spent = serve_signals(spent, n_states)
            for s in range(n_states):
                if reach[h, m, s] > 0.0:
                    pair = s * n_actions + policy[h, s]
                    for i in range(worlds.starts[m, pair], worlds.starts[m, pair + 1]):
                        reach[h + 1, m, worlds.states[i]] += reach[h, m, s] * worlds.probs[i]

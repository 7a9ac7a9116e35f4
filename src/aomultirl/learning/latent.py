"""Act in a latent MDP: one of M contexts, unknown which, with a belief that is filtered at every step.

The belief is the posterior of the contexts (:mod:`aomultirl.engine.candidates` says how likely a step is in each),

    ln b(m)  =  ln prior(m) + sum over the steps so far of ln L_m(step),      up to a constant,

held as logarithms, so that a context that long looked impossible can come back.  A step that is impossible in every
context that is left says nothing, and is passed over.  Two planners choose actions, ties broken at random.

* **QMDP**: the greatest sum over m of b(m) Q_m(h, s, a).  Q_m is planned before the episode, for every context alone.
* **Exact**: the greatest expectation over all histories that may follow (:mod:`.latent_histories`), for tiny horizons.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.candidates import Candidates, expected_q, step_likelihood
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable
from aomultirl.engine.planning import expect_row
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.greedy import draw_best
from aomultirl.learning.latent_histories import Histories, history_worth, room_for

U = np.uint64
NO_POLICY: NDArray[np.int32] = np.empty((0, 0), np.int32)
"""In place of a policy that nobody asks for."""


class LatentBehaviour(NamedTuple):
    """Act by the belief in the middle of an episode.

    table
        which action each state calls for; every entry is asked for anew.
    candidates
        the contexts.  The exact planner takes their rows to be of the same length, successor by successor.
    scores
        (M,), ln of prior times likelihood, up to a constant; -inf for what is impossible.
    shares
        (M,), the posterior b.
    chances
        (M,), room for how likely a step is in each.
    q
        (A,), room for what actions are worth.
    histories
        room for the exact planner; none for QMDP.
    rest
        what each step after the end of an episode is worth.
    """

    table: Table
    candidates: Candidates
    scores: NDArray[np.float64]
    shares: NDArray[np.float64]
    chances: NDArray[np.float64]
    q: NDArray[np.float64]
    histories: Histories
    rest: float


def act_on_posterior(
    candidates: Candidates, scores: NDArray[np.float64], rest: float, *, exact: bool
) -> LatentBehaviour:
    """The behaviour for one episode; ``scores``, (M,), is ln of the prior, finite somewhere."""
    n_contexts, n_states = candidates.going_on.shape
    shares = np.exp(scores - scores.max())
    return LatentBehaviour(
        table=empty_table(n_states),
        candidates=candidates,
        scores=scores.copy(),
        shares=shares / shares.sum(),
        chances=np.zeros(n_contexts),
        q=np.zeros(candidates.own.shape[1] // n_states),
        histories=room_for(len(candidates.caps) if exact else 0, n_contexts),
        rest=rest,
    )


@kernel
def plan_context(candidates: Candidates, context: int, rest: float, policy: NDArray[np.int32]) -> None:
    """Fill in the values of a context by backward induction.

    ``rest``: what each step after the end of an episode is worth; ``policy``, (H, S): filled in with the first of the
    best actions, or empty where nobody asks.
    """
    starts, states, probs = candidates.starts[context], candidates.states, candidates.probs
    going_on, own, values = candidates.going_on[context], candidates.own[context], candidates.values[context]
    shared, caps = candidates.shared, candidates.caps
    n_states, horizon, spent = values.shape[1], len(caps), 0
    n_actions = len(own) // n_states
    values[horizon] = 0.0
    for h in range(horizon - 1, -1, -1):
        spent = serve_signals(spent, 4 * len(own) + starts[-1] - starts[0])
        for s in range(n_states):
            best, chosen = -np.inf, 0
            for a in range(n_actions):
                pair = U(s * n_actions + a)
                worth = shared[pair] + min(caps[h], own[pair] + expect_row(starts, states, probs, values[h + 1], pair))
                if worth > best:
                    best, chosen = worth, a
            values[h, s] = going_on[s] * best + (1.0 - going_on[s]) * rest * (horizon - h)
            if len(policy) > 0:
                policy[h, s] = chosen


@kernel
def weigh_step(behaviour: LatentBehaviour, pair: int, successor: int, ended: bool) -> None:
    """The belief after one more step."""
    scores, shares, chances = behaviour.scores, behaviour.shares, behaviour.chances
    is_possible = False
    for m in range(len(scores)):
        chances[m] = step_likelihood(behaviour.candidates, m, pair, successor, ended)
        is_possible |= chances[m] > 0.0 and scores[m] > -np.inf
    if not is_possible:
        return
    for m in range(len(scores)):
        scores[m] += np.log(chances[m])
    top = scores.max()
    for m in range(len(scores)):
        shares[m] = np.exp(scores[m] - top)
    shares /= shares.sum()


@kernel
def rate_actions(behaviour: LatentBehaviour, step: int, state: int) -> None:
    """Fill in what actions are worth, ``q``, by the belief as it is."""
    candidates, q, histories = behaviour.candidates, behaviour.q, behaviour.histories
    if len(histories.weights) == 0:
        expected_q(candidates, behaviour.shares, step, state, q)
        return
    histories.weights[step] = behaviour.shares
    for a in range(len(q)):
        q[a] = history_worth(candidates, histories, behaviour.rest, step, state, a)


@kernel
def _prepare(behaviour: LatentBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    rate_actions(behaviour, step, state)
    behaviour.table.plan[state] = draw_best(behaviour.q, 0, len(behaviour.q), stream)


@kernel
def _attend(
    behaviour: LatentBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Filter the belief; every decision is made anew."""
    weigh_step(behaviour, state * len(behaviour.q) + action, successor, ended)
    behaviour.table.plan[state], behaviour.table.budget[state] = ASK, 1
    return False


register(LatentBehaviour, prepare=_prepare, attend=_attend)


def log_likelihoods(candidates: Candidates, explored: CountTable) -> NDArray[np.float64]:
    """ln of how likely what an episode has counted is in each context, (M,): the filter's sum, in any order."""
    n_contexts, n_states = candidates.going_on.shape
    starts, states, visits = explored.to_lists()
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    length, first = len(candidates.probs) // n_contexts, candidates.starts[0]
    known = np.repeat(np.arange(len(first) - 1), np.diff(first)) * n_states + candidates.states[:length]
    keys = owners * n_states + states
    places = np.searchsorted(known, keys)
    seen = np.append(known, -1)[places] == keys
    rows = np.append(candidates.probs.reshape(n_contexts, length), np.zeros((n_contexts, 1)), axis=1)
    chances = np.maximum(np.where(seen, rows[:, places], 0.0), candidates.row_floors[:, owners])
    ended = np.bincount([*explored.ends], [*explored.ends.values()], n_states)
    went_on = np.bincount(states, visits, n_states) - ended
    goes_on, floors = candidates.going_on, candidates.end_floors
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (np.log(chances) * visits).sum(axis=1)
        for times, chance in ((went_on, goes_on), (ended, 1.0 - goes_on)):
            total += np.where(times > 0.0, np.log(np.maximum(chance, floors)) * times, 0.0).sum(axis=1)
    return np.asarray(total)

"""UCRL2 (Jaksch, Ortner, Auer 2010) as a behaviour: optimism for the average reward, planned anew when visits double.

An epoch begins at step t (the first is 1) after n(s, a) visits.  Its policy is the best one in the best world within

    ||p - P(s, a)||_1 <= sqrt( 14 S ln(2 A t / delta) / max{1, n} ),
    r - R(s, a)       <= sqrt( 7 ln(2 S A t / delta) / (2 max{1, n}) )     where rewards are estimated, and r <= 1,

found by :mod:`.extended_value_iteration` to the accuracy 1 / sqrt(t).  It ends, as in the original's loop, when the
walk comes to a state whose pair has been visited max{1, n} times since the epoch began: elsewhere the old policy is
still followed.  P and R are empirical means; a pair never visited may lead anywhere, and earn 1 unless
rewards are known, whatever the scale of the radii.  Actions that promise the same are chosen between at random, once
an epoch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.learning.extended_value_iteration import extended_value_iteration


class Ucrl2Behaviour(NamedTuple):
    """UCRL2 in the middle of an episode.

    table
        the policy of the epoch, with the visits until it ends as budgets.
    rewards
        (S * A,), where they are known, else empty.
    sums
        (S * A,), rewards added up, where they are not known.
    epochs
        (), how many there were.
    failure
        delta.
    scale
        of both radii; 1 is faithful.
    """

    table: Table
    rewards: NDArray[np.float64]
    sums: NDArray[np.float64]
    epochs: NDArray[np.int64]
    failure: float
    scale: float


def ucrl2(
    n_states: int, rewards: NDArray[np.float64] | None, sums: NDArray[np.float64], failure: float, scale: float = 1.0
) -> Ucrl2Behaviour:
    """The behaviour; it learns from the counts of its phase, also from those that were there before.

    Parameters
    ----------
    rewards
        (S, A), or None where they are estimated from ``sums``, the sums of the phase.
    failure
        delta.
    scale
        multiplies both radii; 1 is faithful.
    """
    known = np.empty(0) if rewards is None else np.ascontiguousarray(rewards, np.float64).reshape(-1)
    return Ucrl2Behaviour(empty_table(n_states), known, sums, np.zeros((), np.int64), failure, scale)


@kernel
def transition_radius(visits: int, step: int, n_states: int, n_actions: int, failure: float) -> float:
    """How far the transitions of a pair may be from their estimate, in l1."""
    return float(np.sqrt(14.0 * n_states * np.log(2.0 * n_actions * step / failure) / max(1, visits)))


@kernel
def reward_radius(visits: int, step: int, n_states: int, n_actions: int, failure: float) -> float:
    """How far the reward of a pair may be above its mean."""
    return float(np.sqrt(7.0 * np.log(2.0 * n_states * n_actions * step / failure) / (2.0 * max(1, visits))))


@kernel
def _estimate(counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Successor lists, in no particular order, and visits of each pair."""
    n_pairs = len(counts.heads)
    starts, visits = np.zeros(n_pairs + 1, np.int64), np.zeros(n_pairs, np.int64)
    for pair in range(n_pairs):
        starts[pair + 1] = starts[pair] + counts.filled[pair]
    states, probs = np.empty(starts[n_pairs], np.int32), np.empty(starts[n_pairs])
    for pair in range(n_pairs):
        at = starts[pair]
        for slot in range(*span(counts, pair)):
            if counts.slots[WORDS * slot] != EMPTY:
                states[at], probs[at] = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
                visits[pair] += counts.slots[WORDS * slot + VISITS]
                at += 1
        for i in range(starts[pair], at):
            probs[i] /= visits[pair]
    return starts, states, probs, visits


@kernel
def _promised(
    behaviour: Ucrl2Behaviour, visits: NDArray[np.int64], step: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(radii of the transitions, upper bounds on the rewards), (S * A,); a pair never visited may be anything."""
    n_pairs, n_states = len(visits), len(behaviour.table.budget)
    n_actions = n_pairs // n_states
    known = len(behaviour.rewards) > 0
    radii, rewards = np.empty(n_pairs), np.ones(n_pairs)
    for pair in range(n_pairs):
        n = visits[pair]
        radii[pair] = 2.0
        if known:
            rewards[pair] = behaviour.rewards[pair]
        if n > 0:
            radii[pair] = behaviour.scale * transition_radius(n, step, n_states, n_actions, behaviour.failure)
            if not known:
                extra = behaviour.scale * reward_radius(n, step, n_states, n_actions, behaviour.failure)
                rewards[pair] = min(1.0, behaviour.sums[pair] / n + extra)
    return radii, rewards


@kernel
def _choose(q: NDArray[np.float64], first: int, last: int, stream: RandomStream) -> int:
    """The place of the greatest entry; of one of them at random where there are several."""
    best = q[first:last].max()
    tied = 0
    for i in range(first, last):
        tied += q[i] == best
    skip = 0 if tied == 1 else draw_below(tied, stream)
    for i in range(first, last):
        if q[i] == best:
            if skip == 0:
                return i - first
            skip -= 1
    return 0


@kernel
def _prepare(behaviour: Ucrl2Behaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """A new epoch."""
    table = behaviour.table
    n_states = len(table.budget)
    starts, states, probs, visits = _estimate(counts)
    n_actions = len(visits) // n_states
    step = 1 + int(visits.sum())
    radii, rewards = _promised(behaviour, visits, step)
    q = extended_value_iteration(starts, states, probs, radii, rewards, n_states, 1.0 / np.sqrt(step))[1]
    for s in range(n_states):
        action = _choose(q, s * n_actions, (s + 1) * n_actions, stream)
        table.plan[s], table.budget[s] = action, max(1, visits[s * n_actions + action])
    behaviour.epochs[()] += 1


@kernel
def _attend(
    behaviour: Ucrl2Behaviour, counts: Counts, step: int, state: int, action: int, successor: int, reward: float
) -> bool:
    """The measure of a pair is full: coming here again begins a new epoch."""
    behaviour.table.plan[state] = ASK
    return False


register(Ucrl2Behaviour, prepare=_prepare, attend=_attend)

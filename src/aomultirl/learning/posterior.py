"""A world drawn from the posterior of what was counted, and the plan that is best in it: compiled, and sparse.

Rows.  S is known, so the prior of every row is Dirichlet(prior / S) over all S states.  After visits to k
successors, n_i of them to successor i, these have the shares Dirichlet(n_i + prior / S), and all others together
(S - k) prior / S.  A draw spreads that remainder over very few of them, so it is put on one state, drawn uniformly with
the world: a row costs k + 1 numbers however many states there are.  A pair never visited leads to one such state.

Rewards, where they are not known.  Beta(reward_prior / 2 + heads, reward_prior / 2 + tails), where a reward r counts as
r of a head and 1 - r of a tail.  Rewards that vary less than coins of their mean tell more: with mean m and variance v,
estimated with one coin's variance added to those seen, a visit counts as m (1 - m) / v flips.

Ends, once an episode has ended in the world: arriving in a state ends the episode with a probability drawn from
Beta(prior / 2 + ends, prior / 2 + arrivals after which it went on).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, CountTable, span
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.variates import draw_beta, draw_gamma

WATCHED_VISITS, WATCHED_SUMS, WATCHED_SQUARES = range(3)
"""Rows of what was watched of unknown rewards: how many, their sum, and the sum of their squares."""
TOLERANCE = 1e-4
"""Change of a value, in rewards, below which value iteration ends: a hundredth of a step on a cliff whose fall costs
100 steps."""


class Earlier(NamedTuple):
    """What earlier episodes have shown of a world.

    starts, states, visits
        successor lists of every transition seen, states ascending, with visits in place of probabilities.
    ended
        (S,), how many episodes ended on arriving in each state.
    sums
        (S * A,), the rewards added up; empty where they are known.
    watched
        (3, S * A), of rewards that were seen one by one; (3, 0) where they are known.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    visits: NDArray[np.int64]
    ended: NDArray[np.int64]
    sums: NDArray[np.float64]
    watched: NDArray[np.float64]


class DrawnWorld(NamedTuple):
    """A world that was drawn from the posterior.

    starts, states, probs
        successor lists, as in :class:`aomultirl.Successors`, in no particular order.
    rewards
        (S * A,).
    going_on
        (S,), the probability that the episode goes on after an arrival.
    visits
        (S * A,), how often each pair was visited: what the draw was made from.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    going_on: NDArray[np.float64]
    visits: NDArray[np.int64]


def earlier(counts: CountTable, n_states: int, sums: NDArray[np.float64], watched: NDArray[np.float64]) -> Earlier:
    """What is remembered of a world, as the kernels take it."""
    ended = np.zeros(n_states, np.int64)
    for state, times in counts.ends.items():
        ended[state] = times
    return Earlier(*counts.to_lists(), ended, sums, watched)


@kernel
def _draw_rows(
    before: Earlier, counts: Counts, prior: float, stream: RandomStream
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """Successor lists of a draw from what was seen before and in this episode, and the visits of every pair."""
    n_pairs, n_states, spent = len(counts.heads), len(before.ended), 0
    starts, visits = np.zeros(n_pairs + 1, np.int64), np.zeros(n_pairs, np.int64)
    most = len(before.states) + counts.filled.sum() + n_pairs
    states, probs = np.empty(most, np.int32), np.empty(most)
    for pair in range(n_pairs):
        first = at = starts[pair]
        for i in range(before.starts[pair], before.starts[pair + 1]):
            states[at], probs[at] = before.states[i], before.visits[i]
            visits[pair] += before.visits[i]
            at += 1
        old = at
        for slot in range(*span(counts, pair)):
            successor, seen = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
            if successor != EMPTY:
                place = first + np.searchsorted(states[first:old], successor)
                if place == old or states[place] != successor:
                    place, at = at, at + 1
                    states[place], probs[place] = successor, 0.0
                probs[place] += seen
                visits[pair] += seen
        unseen, total = n_states - (at - first), 0.0
        for i in range(first, at):
            probs[i] = draw_gamma(probs[i] + prior / n_states, stream)
            total += probs[i]
        if unseen > 0:
            states[at] = draw_below(n_states, stream)
            probs[at] = draw_gamma(unseen * prior / n_states, stream) if at > first else 1.0
            total += probs[at]
            at += 1
        for i in range(first, at):
            probs[i] /= total
        starts[pair + 1] = at
        spent = serve_signals(spent, 64 * (at - first))
    return starts, states[: starts[n_pairs]], probs[: starts[n_pairs]], visits


@kernel
def coin_flips(n: float, mean: float, watched_visits: float, watched_sum: float, watched_squares: float) -> float:
    """How many flips of a coin of this mean ``n`` rewards tell as much as, from the variance of those watched."""
    coin = mean * (1.0 - mean)
    if watched_visits < 1.0 or coin <= 0.0:
        return n
    centre = watched_sum / watched_visits
    variance = max(0.0, watched_squares / watched_visits - centre * centre)
    return n * max(1.0, coin * (watched_visits + 1.0) / (watched_visits * variance + coin))


@kernel
def _draw_rewards(
    before: Earlier,
    sums: NDArray[np.float64],
    watched: NDArray[np.float64],
    visits: NDArray[np.int64],
    reward_prior: float,
    stream: RandomStream,
) -> NDArray[np.float64]:
    """The mean reward of every pair, (S * A,), drawn from its posterior."""
    rewards = np.empty(len(visits))
    for pair in range(len(visits)):
        n, flips, mean = visits[pair], 0.0, 0.0
        if n > 0:
            mean = min(1.0, max(0.0, (before.sums[pair] + sums[pair]) / n))
            flips = coin_flips(
                n,
                mean,
                before.watched[WATCHED_VISITS, pair] + watched[WATCHED_VISITS, pair],
                before.watched[WATCHED_SUMS, pair] + watched[WATCHED_SUMS, pair],
                before.watched[WATCHED_SQUARES, pair] + watched[WATCHED_SQUARES, pair],
            )
        half = 0.5 * reward_prior
        rewards[pair] = draw_beta(half + flips * mean, half + flips * (1.0 - mean), stream)
    return rewards


@kernel
def _draw_ends(before: Earlier, visits: NDArray[np.int64], prior: float, stream: RandomStream) -> NDArray[np.float64]:
    """The probability that the episode goes on after arriving in each state, (S,); 1 where none has ever ended."""
    n_states = len(before.ended)
    n_actions, going_on = len(visits) // n_states, np.ones(n_states)
    if before.ended.max() > 0:
        for s in range(n_states):
            went_on = visits[s * n_actions : (s + 1) * n_actions].sum()
            going_on[s] = draw_beta(0.5 * prior + went_on, 0.5 * prior + before.ended[s], stream)
    return going_on


@kernel
def draw_world(
    before: Earlier,
    counts: Counts,
    known_rewards: NDArray[np.float64],
    sums: NDArray[np.float64],
    watched: NDArray[np.float64],
    prior: float,
    reward_prior: float,
    stream: RandomStream,
) -> DrawnWorld:
    """A world from the posterior of what was seen before and in this episode.

    Parameters
    ----------
    before
        what earlier episodes have shown.
    counts
        what this episode has shown.
    known_rewards
        (S * A,); empty where they are not known.
    sums, watched
        the rewards of this episode, (S * A,) and (3, S * A), where they are not known.
    prior
        the mass of the prior of a row, and of an end.
    reward_prior
        the mass of the prior of a reward.
    """
    starts, states, probs, visits = _draw_rows(before, counts, prior, stream)
    rewards = known_rewards
    if len(known_rewards) == 0:
        rewards = _draw_rewards(before, sums, watched, visits, reward_prior, stream)
    return DrawnWorld(starts, states, probs, rewards, _draw_ends(before, visits, prior, stream), visits)


@kernel
def plan_in(
    world: DrawnWorld, rest: float, discount: float, sweeps: int, values: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The first of the best actions of every state, (S,), by discounted value iteration.

    Parameters
    ----------
    rest
        what each step after the end of an episode is worth.
    sweeps
        at most so many; fewer once no value changes by more than TOLERANCE.  They go up and down the states in turn.
    values
        (S,), where the iteration begins, and where it leaves its result.
    """
    n_states, spent = len(values), 0
    n_actions, plan = len(world.rewards) // n_states, np.zeros(n_states, np.int32)
    for sweep in range(sweeps):
        spent = serve_signals(spent, len(world.starts) + len(world.states))
        change = 0.0
        for place in range(n_states):
            s = place if sweep % 2 == 0 else n_states - 1 - place
            best = -np.inf
            for a in range(n_actions):
                pair, ahead = s * n_actions + a, 0.0
                for i in range(world.starts[pair], world.starts[pair + 1]):
                    ahead += world.probs[i] * values[world.states[i]]
                q = world.rewards[pair] + discount * ahead
                if q > best:
                    best, plan[s] = q, a
            value = world.going_on[s] * best + (1.0 - world.going_on[s]) * rest / (1.0 - discount)
            change = max(change, abs(value - values[s]))
            values[s] = value
        if change < TOLERANCE:
            break
    return plan

"""How probable an episode is in a world of which only counts are known: rows, rewards and ends integrated out.

With the priors of :mod:`aomultirl.learning.posterior`, a pair that a world has shown N times, n_i of them to successor
i, and the episode C times, c_i of them, contributes

    ln Gamma(prior + N) / Gamma(prior + N + C) + sum_i ln Gamma(prior / S + n_i + c_i) / Gamma(prior / S + n_i),

which is the product of the probabilities that the world gives to one transition after the other.  Unknown rewards
within [0, 1] count as so much of a head and the rest of a tail of a coin, and so does whether an arrival ended the
episode; with heads x before and u in the episode, and tails y and v, each coin contributes

    ln B(h + x + u, h + y + v) / B(h + x, h + y),        h half the mass of its prior.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import VISITS, Counts, CountTable, find, visits_of

U = np.uint64


class EpisodeSeen(NamedTuple):
    """What an episode has shown.

    pairs
        (n,), of every transition seen the pair, ascending.
    states
        (n,), its successor.
    visits
        (n,), how often it was seen.
    sums
        (S * A,), the rewards added up; empty where they are known.
    ended
        the state in which the episode ended; -1 where it has not.
    """

    pairs: NDArray[np.int64]
    states: NDArray[np.int32]
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]
    ended: int


class WorldSeen(NamedTuple):
    """What all episodes that are held to be one world have shown.

    counts
        every transition.
    ended
        (S,), how many episodes ended on arriving in each state.
    sums
        (S * A,), the rewards added up; empty where they are known.
    """

    counts: Counts
    ended: NDArray[np.int64]
    sums: NDArray[np.float64]


class Priors(NamedTuple):
    """Masses of the priors.

    row
        of a row, and of an end.
    reward
        of an unknown reward.
    ends
        whether it counts at all how episodes end: some have.
    """

    row: float
    reward: float
    ends: bool


def episode_seen(counts: CountTable, sums: NDArray[np.float64]) -> EpisodeSeen:
    """What the counts of one episode say."""
    starts, states, visits = counts.to_lists()
    pairs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return EpisodeSeen(pairs, states, visits, sums, next(iter(counts.ends), -1))


def world_seen(counts: CountTable, n_states: int, sums: NDArray[np.float64]) -> WorldSeen:
    """What the counts of a world say, as the kernels take it."""
    ended = np.zeros(n_states, np.int64)
    for state, times in counts.ends.items():
        ended[state] = times
    return WorldSeen(counts.record, ended, sums)


@kernel
def _ln_coin(heads: float, tails: float, more_heads: float, more_tails: float, half: float) -> float:
    """ln of the probability of more heads and tails after those before; sums of rewards may be off by rounding."""
    x, y = half + max(0.0, heads), half + max(0.0, tails)
    u, v = max(0.0, more_heads), max(0.0, more_tails)
    before = math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)
    return math.lgamma(x + u) + math.lgamma(y + v) - math.lgamma(x + y + u + v) - before


@kernel
def _ln_pair(episode: EpisodeSeen, world: WorldSeen, priors: Priors, first: int, last: int, included: bool) -> float:
    """What one pair contributes; its transitions are those from ``first`` to ``last`` in the episode."""
    pair, each = episode.pairs[first], priors.row / len(world.ended)
    before, here, total = visits_of(world.counts, pair), 0, 0.0
    for i in range(first, last):
        seen, slot = episode.visits[i], find(world.counts.heads, world.counts.slots, U(pair), U(episode.states[i]))
        known = world.counts.slots[slot + U(VISITS)] if world.counts.slots[slot] >= 0 else 0
        known -= seen if included else 0
        total += math.lgamma(each + known + seen) - math.lgamma(each + known)
        here += seen
    before -= here if included else 0
    total += math.lgamma(priors.row + before) - math.lgamma(priors.row + before + here)
    if len(world.sums) > 0:
        earned = episode.sums[pair]
        heads = world.sums[pair] - (earned if included else 0.0)
        total += _ln_coin(heads, before - heads, earned, here - earned, 0.5 * priors.reward)
    return total


@kernel
def _ln_end(world: WorldSeen, priors: Priors, state: int, went_on: int, ended: int, included: bool) -> float:
    """What the arrivals in one state contribute: after some the episode went on, and after one it may have ended."""
    n_actions = len(world.counts.heads) // len(world.ended)
    going, ends = 0, world.ended[state]
    for pair in range(state * n_actions, (state + 1) * n_actions):
        going += visits_of(world.counts, pair)
    if included:
        going, ends = going - went_on, ends - ended
    return _ln_coin(ends, going, ended, went_on, 0.5 * priors.row)


@kernel
def ln_marginal(episode: EpisodeSeen, world: WorldSeen, priors: Priors, included: bool) -> float:
    """ln of the probability of an episode in a world.

    Parameters
    ----------
    included
        the episode is among those that the world was counted from: judged is what the others say.
    """
    n_actions = len(world.counts.heads) // len(world.ended)
    total, first, went_on, arrived = 0.0, 0, 0, False
    while first < len(episode.pairs):
        pair, last = episode.pairs[first], first
        while last < len(episode.pairs) and episode.pairs[last] == pair:
            went_on += episode.visits[last]
            last += 1
        total += _ln_pair(episode, world, priors, first, last, included)
        state = pair // n_actions
        if priors.ends and (last == len(episode.pairs) or episode.pairs[last] // n_actions != state):
            arrived = arrived or state == episode.ended
            total += _ln_end(world, priors, state, went_on, int(state == episode.ended), included)
            went_on = 0
        first = last
    if priors.ends and episode.ended >= 0 and not arrived:
        total += _ln_end(world, priors, episode.ended, 0, 1, included)
    return total

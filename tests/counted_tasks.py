"""Small worlds whose rows counts can hold exactly, and their discounted optimum."""

import numpy as np
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.counts import CountTable

GRAIN = 16
"""Probabilities are multiples of 1 / GRAIN, so that GRAIN visits estimate a row exactly."""


def grained_rows(rng, n_states, n_actions):
    """Rows whose entries are multiples of 1 / GRAIN, (S, A, S)."""
    return rng.multinomial(GRAIN, rng.dirichlet(np.ones(n_states)), (n_states, n_actions)) / GRAIN


@st.composite
def grained_worlds(draw, max_states=4, max_actions=3):
    """Worlds with such rows; the last state may be terminal."""
    n_states, n_actions = draw(st.integers(1, max_states)), draw(st.integers(1, max_actions))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ends = n_states > 1 and draw(st.booleans())
    rows = grained_rows(rng, n_states, n_actions)
    return ao.MDP(rows, rng.random((n_states, n_actions)), terminal=[n_states - 1] if ends else [], rest=0.25 * ends)


def count_exactly(world, mask):
    """GRAIN visits of every pair of the mask, (S, A), in exact proportions, and an end in every terminal state."""
    n_states, n_actions = world.rewards.shape
    counts = CountTable(n_states * n_actions)
    for s, a in np.argwhere(mask & ~world.terminal[:, None]):
        for s2, chance in enumerate(world.transitions[s, a]):
            if chance > 0:
                counts.count(int(s * n_actions + a), s2, round(GRAIN * chance))
    for s in np.flatnonzero(world.terminal):
        counts.end(int(s))
    return counts


def optimal_q(world, discount):
    """The discounted optimum of every pair, (S, A); in a terminal state, what is left after the end."""
    q = np.zeros(world.rewards.shape)
    rest = world.rest / (1 - discount)
    for _ in range(int(20 / (1 - discount))):  # less than 1e-8 of it is left
        values = np.where(world.terminal, rest, q.max(axis=1))
        q = np.where(world.terminal[:, None], rest, world.rewards + discount * world.transitions @ values)
    return q


def sure_worlds(seed, count=3, n_states=5, n_actions=3, differing=2):
    """Worlds without chance, so that one visit tells all of a pair; the first action goes round through all states.

    They share rewards, and differ from the first in so many pairs of other actions each.
    """
    rng = np.random.default_rng(seed)
    successors = rng.integers(0, n_states, (n_states, n_actions))
    successors[:, 0] = (np.arange(n_states) + 1) % n_states
    rewards = np.round(rng.random((n_states, n_actions)), 3)
    models = []
    for number in range(count):
        own = successors.copy()
        for _ in range(differing * (number > 0)):
            own[rng.integers(n_states), rng.integers(1, n_actions)] = rng.integers(n_states)
        models.append(ao.MDP(np.eye(n_states)[own], rewards))
    return ao.ModelSet(models)

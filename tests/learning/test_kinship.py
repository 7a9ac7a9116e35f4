"""How much the actions of a state are alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from aomultirl.learning.kinship import ENOUGH, KAPPAS, LEAST_VISITS, fit_kinship


def lists(counts):
    """(starts, states, counts) of the counts of worlds, (W, S * A, S), with a place for others at the end of a row."""
    starts, states, listed = [0], [], []
    for rows in counts.swapaxes(0, 1):
        seen = np.flatnonzero(rows.any(axis=0))
        states += [*seen.tolist(), -1]
        listed += [*rows.T[seen].tolist(), [0.0] * len(counts)]
        starts.append(len(states))
    return np.array(starts), np.array(states, np.int32), np.ascontiguousarray(np.array(listed, np.float64).T)


def ln_dirichlet(counts, mean):
    """ln of the Dirichlet-multinomial likelihood of one order of the counts."""
    seen = counts > 0
    total = gammaln(mean.sum()) - gammaln(mean.sum() + counts.sum())
    return total + (gammaln(mean + counts) - gammaln(mean))[seen].sum()


def slow_kinship(counts, theta, n_states):
    """From the definition, over dense rows."""
    gains = sum(slow_gains(world.reshape(n_states, -1, n_states), theta, n_states) for world in counts)
    return KAPPAS[int(gains.argmax())] if gains.max() > 0.0 else 0.0


def slow_gains(table, theta, n_states):
    """Of one world with the counts (S, A, S)."""
    gains = np.zeros(len(KAPPAS))
    for s in range(n_states):
        n = table[s].sum(axis=1)
        parts = np.array([min(m, ENOUGH) * row / m if m else row for m, row in zip(n, table[s], strict=True)])
        for a in range(table.shape[1]):
            others = np.delete(parts, a, axis=0).sum(axis=0)
            if n[a] < LEAST_VISITS or others.sum() < LEAST_VISITS:
                continue
            own = ln_dirichlet(table[s, a], np.full(n_states, theta[s * table.shape[1] + a] / n_states))
            mean = (others + 1.0 / n_states) / (others.sum() + 1.0)
            gains += [ln_dirichlet(table[s, a], kappa * mean) - own for kappa in KAPPAS]
    return gains


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_it_is_the_likeliest_of_some(worlds, n_states, n_actions, seed):
    rng = np.random.default_rng(seed)
    shape = (worlds, n_states * n_actions, n_states)
    counts = rng.integers(0, 90, shape) * (rng.random(shape) < 0.6)
    theta = rng.random(n_states * n_actions) * 5 + 0.1
    assert fit_kinship(*lists(counts), theta, n_states) == slow_kinship(counts.astype(float), theta, n_states)


@pytest.mark.parametrize(("alike", "least", "most"), [(True, 64.0, 256.0), (False, 0.0, 0.0)])
def test_actions_that_do_the_same_are_found_out(alike, least, most):
    """20 states, 6 actions, 12 visits of each: rows of the state, or each action to a successor of its own."""
    rng = np.random.default_rng(0)
    counts = np.zeros((120, 20))
    for s in range(20):
        row = rng.dirichlet(np.full(20, 0.5))
        for a in range(6):
            counts[6 * s + a] = rng.multinomial(12, row) if alike else 12 * np.eye(20)[rng.integers(20)]
    assert least <= fit_kinship(*lists(counts[None]), np.full(120, 1.0), 20) <= most


def test_actions_that_worlds_exchange_are_not_alike():
    """In each of four worlds every action has a successor of its own; in all of them together, each has them all."""
    rng = np.random.default_rng(0)
    counts = np.zeros((4, 80, 20))
    for s in range(20):
        successors = rng.choice(20, 4, replace=False)
        for w in range(4):
            for a in range(4):
                counts[w, 4 * s + a, successors[(a + w) % 4]] = 12
    theta = np.full(80, 1.0)
    assert fit_kinship(*lists(counts.sum(axis=0)[None]), theta, 20) > 0.0, "if they were one world"
    assert fit_kinship(*lists(counts), theta, 20) == 0.0

"""Expectation maximisation for a mixture of worlds whose number is known: what most people take first.

The rows of group k are (n_k(s, a, s') + SMOOTHING) / (n_k(s, a) + m(s, a) SMOOTHING) with n_k the transitions of all
trajectories, weighted with how probable they are of the group, and m(s, a) how many successors any trajectory has; a
trajectory's weight is its likelihood there times the group's share.  Only transitions count: neither rewards nor ends.

There is no guarantee: it ends in a local maximum that depends on where it began, so the likeliest of STARTS is taken.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp, softmax

from aomultirl.learning.row_likelihoods import Floats
from aomultirl.offline.trajectories import Integers, Logs

SMOOTHING = 0.1
"""Added to every transition that some trajectory has."""
MOST_ROUNDS = 200
ACCURACY = 1e-4
"""Change of any weight below which rounds end."""
STARTS = 10
"""Random starts, of which the likeliest is kept."""


def transition_counts(logs: Logs) -> tuple[Any, Integers]:
    """(How often each trajectory has each transition that occurs, sparse (N, P); the pair of each of them, (P,))."""
    rows = sp.vstack([logs.counts([n]).reshape(1, -1) for n in range(len(logs))], format="csr")
    occurs = np.flatnonzero(np.asarray(rows.sum(axis=0)).ravel())
    return sp.csr_array(rows[:, occurs]), occurs // logs.n_states


def likeliest_start(logs: Logs, groups: int, rng: np.random.Generator) -> Floats:
    """The weights, (N, groups), of the likeliest of STARTS random starts."""
    found = [expectation_maximisation(logs, rng.dirichlet(np.ones(groups), len(logs))) for _ in range(STARTS)]
    return max(found, key=lambda one: one[1])[0]


def expectation_maximisation(logs: Logs, weights: Floats) -> tuple[Floats, float]:
    """(The weights, (N, groups), when they no longer change, from those given; ln of how likely the logs are)."""
    counts, pairs = transition_counts(logs)
    likely = -np.inf
    for _ in range(MOST_ROUNDS):
        seen = SMOOTHING + counts.T @ weights  # (P, groups)
        whole = np.zeros((logs.n_states * logs.n_actions, weights.shape[1]))
        np.add.at(whole, pairs, seen)
        scores = counts @ np.log(seen / whole[pairs]) + np.log(np.maximum(weights.mean(axis=0), 1e-12))
        likely = float(logsumexp(scores, axis=1).sum())
        fresh: Floats = np.asarray(softmax(scores, axis=1))
        moved, weights = np.abs(fresh - weights).max(), fresh
        if moved < ACCURACY:
            break
    return weights, likely

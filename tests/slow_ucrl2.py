"""Extended value iteration, slow and obvious."""

import numpy as np


def slow_inner_maximum(row, radius, values):
    """The original's own words: more for the best state, then less for the worst ones, until it is a distribution."""
    order = np.argsort(-values, kind="stable")
    p = np.array(row)
    p[order[0]] = min(1.0, row[order[0]] + radius / 2.0)
    for worst in order[::-1]:
        if p.sum() > 1.0:
            p[worst] = max(0.0, 1.0 - (p.sum() - p[worst]))
    return p


def slow_iteration(transitions, radii, rewards, accuracy):
    """Dense arrays: transitions (S, A, S), the others (S, A); (u, q, low, high, sweeps)."""
    u, sweeps = np.zeros(len(rewards)), 0
    while True:
        q = rewards.copy()
        for s, a in np.ndindex(q.shape):
            q[s, a] += slow_inner_maximum(transitions[s, a], radii[s, a], u) @ u
        increase, sweeps = q.max(axis=1) - u, sweeps + 1
        if np.ptp(increase) < accuracy:
            return u, q, increase.min(), increase.max(), sweeps
        u = q.max(axis=1) - q.max(axis=1).min()

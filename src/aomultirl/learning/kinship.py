"""How much the actions of a state are alike: what one leads to says something of what the others do.

The row of an action leans on its state's average over the other actions as if that were KAPPA visits.  How many is
learned from all counts: KAPPA is the one of KAPPAS under which each row is the likeliest, given the average of the rows
of the other actions in its state, and none where rows that know nothing of each other, with all states alike before
they are seen, explain the counts better.  With n_b the visits of action b and p_b its row, the average is

    m(s') ~ sum_b min{n_b, ENOUGH} p_b(s') + 1 / S        over the other actions b.

The counts are those of each world by itself.  Where worlds exchange actions, sums over worlds would show that all
actions of a state lead to the same places, in one world or another: on cliffs with permuted actions that made even the
learner told the task keep off the edge.  (Where rows are so wide that they may have parents, :mod:`.row_parents`, the
counts of one world say too little of an average, and those of all worlds together serve.)

In ICU-Sepsis, where most doses have the same effect, the average is worth some hundred visits; in a maze, where actions
lead to different places, nothing.
"""

import math

import numpy as np

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.row_likelihoods import Floats, Integers

KAPPAS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Visits that the average of the other actions may be worth."""
ENOUGH = 64.0
"""Visits of an action that count in the average, at most: no action outweighs all others."""
LEAST_VISITS = 2.0
"""Visits of a row for it to say anything."""
MOST_PLACES = 100_000
"""Places that are looked at: of larger worlds, every second or third state and so on."""


@kernel
def fit_kinship(
    starts: Integers, states: "np.ndarray[tuple[int], np.dtype[np.int32]]", counts: Floats, theta: Floats, n_states: int
) -> float:
    """KAPPA, from the counts of each world by itself; 0 for none.

    Parameters
    ----------
    starts, states
        where transitions stand: (S * A + 1,) and (places,).
    counts
        those of the worlds, (W, at least as many places).
    theta
        (S * A,), how spread each row is.
    """
    n_actions = (len(starts) - 1) // n_states
    stride = 1 + len(counts) * len(states) // MOST_PLACES
    average, gains, spent = np.zeros(n_states), np.zeros(len(KAPPAS)), 0
    mass = np.zeros(n_actions)
    for w in range(len(counts)):
        for s in range(0, n_states, stride):
            spent = serve_signals(spent, 256 * (starts[(s + 1) * n_actions] - starts[s * n_actions]))
            _add_gains(starts, states, counts[w], theta, s, average, mass, gains)
    best = 0
    for k in range(len(KAPPAS)):
        if gains[k] > gains[best]:
            best = k
    return KAPPAS[best] if gains[best] > 0.0 else 0.0


@kernel
def _add_gains(
    starts: Integers,
    states: "np.ndarray[tuple[int], np.dtype[np.int32]]",
    counts: Floats,
    theta: Floats,
    s: int,
    average: Floats,
    mass: Floats,
    gains: Floats,
) -> None:
    """Add how much likelier each KAPPA makes the rows of a state of one world.

    ``average`` is zero, and is left so; ``mass`` is overwritten.
    """
    n_states, n_actions, total = len(average), len(mass), 0.0
    for a in range(n_actions):
        pair = s * n_actions + a
        mass[a] = 0.0
        for p in range(starts[pair], starts[pair + 1] - 1):
            mass[a] += counts[p]
        if mass[a] > 0.0:
            part = min(mass[a], ENOUGH)
            total += part
            for p in range(starts[pair], starts[pair + 1] - 1):
                average[states[p]] += part * counts[p] / mass[a]
    for a in range(n_actions):
        pair, part = s * n_actions + a, min(mass[a], ENOUGH)
        if mass[a] < LEAST_VISITS or total - part < LEAST_VISITS:
            continue
        own = math.lgamma(theta[pair]) - math.lgamma(theta[pair] + mass[a])
        for p in range(starts[pair], starts[pair + 1] - 1):
            if counts[p] > 0.0:
                own += math.lgamma(theta[pair] / n_states + counts[p]) - math.lgamma(theta[pair] / n_states)
        for k in range(len(KAPPAS)):
            gain = math.lgamma(KAPPAS[k]) - math.lgamma(KAPPAS[k] + mass[a]) - own
            for p in range(starts[pair], starts[pair + 1] - 1):
                if counts[p] > 0.0:
                    others = max(0.0, average[states[p]] - part * counts[p] / mass[a])
                    mean = KAPPAS[k] * (others + 1.0 / n_states) / (total - part + 1.0)
                    gain += math.lgamma(mean + counts[p]) - math.lgamma(mean)
            gains[k] += gain
    for p in range(starts[s * n_actions], starts[(s + 1) * n_actions]):
        if states[p] >= 0:
            average[states[p]] = 0.0

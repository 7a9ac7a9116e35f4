"""Acting well before the world is known: point-based value iteration over what is believed of it.

The world of an episode is one of C hypotheses and never changes, so a belief is a point b of the simplex, and the
optimal value of arriving in a state is convex in it.  Taking the best action of each hypothesis's own plan, weighed by
belief (QMDP), assumes that the world is known after the next step: so with values that do not depend on the steps left
it waits for ever at the brink of what may be a hole, since next time it would know.  A few vectors for each state tell
the truth from below: vector j of state s,

    alpha_j(w) = the value in world w of arriving in s and doing what is best for the belief of point j,

is backed up at its own point.  With T_w(s, a, s') = discount (1 - k) P_w(s' | s, a) and c_w(s, a) the part of Q that
does not depend on what follows, of which hope is a part where pairs are little known (k = l / (n + l),
:mod:`.optimism`),

    alpha(w) = c_w(s, a) + sum_s' T_w(s, a, s') alpha_j(s')(w),    j(s') = argmax_j sum_w b(w) T_w(s, a, s') alpha_j(w),

for the action that is best at b.  The points are the belief that an episode begins with, and for every hypothesis one
that is almost sure of it.  On fourteen sets of FrozenLake maps with known worlds six more points, of beliefs that were
met, changed what was earned by -2.6 to 2.6 per cent of the optimum.

Episodes that end and small worlds need this, and can pay for it; elsewhere QMDP serves (:func:`is_worth_it`).
"""

from typing import NamedTuple

import numpy as np

from aomultirl.engine.compiling import borrowing
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import place_of
from aomultirl.learning.optimism import back_up, earned_by
from aomultirl.learning.planner import HOPED, LENT, MEAN, TOP, Planner
from aomultirl.learning.row_likelihoods import Floats

MOST_WORK = 100_000
"""Multiplications of one sweep up to which vectors are kept: a tenth of a millisecond or so."""
ALMOST_SURE = 0.95
"""The share of the hypothesis that a point is almost sure of; the belief at the start has the rest."""
FIRST_SWEEPS, LATER_SWEEPS = 150, 10
"""Sweeps at the start of an episode: over new vectors, and over those of the episode before."""
CLOSE = 1e-4
"""Sweeps end when no value changes by more."""
ROTATED = 8
"""States whose vectors are backed up after every step."""


class Vectors(NamedTuple):
    """The vectors of an episode; there are none where N = 0.

    points
        (N, C), the beliefs that vectors are for.
    alpha
        (S, N, C).
    weights, constants
        T, (C, places), and c, (C, S * A).
    place
        (2,): the state to be backed up after this one, and whether the weights are filled in.
    sweeps
        at the start of the episode, at most.
    room
        (4, C), to work in.
    """

    points: Floats
    alpha: Floats
    weights: Floats
    constants: Floats
    place: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    sweeps: int
    room: Floats


ROTATION, FILLED = range(2)
"""Cells of ``place``."""


def is_worth_it(ends: bool, n_actions: int, n_states: int, width: float, count: int) -> bool:
    """Whether an episode keeps vectors: some state has ended one, and a sweep is little work.

    Parameters
    ----------
    ends
        an episode has ended in a state.
    width
        successors of a pair, about.
    count
        C.
    """
    return ends and count > 1 and n_states * n_actions * width * (count + 1) ** 2 * count <= MOST_WORK


def vectors(planner: Planner, prior: Floats, old: Floats | None) -> Vectors:
    """Vectors for an episode that begins with this belief, (C,).

    Parameters
    ----------
    old
        (S, C + 1, C), those of an episode with the same hypotheses; None where there was none.
    """
    count, n_states = planner.values.shape
    points = np.vstack((prior, ALMOST_SURE * np.eye(count) + (1.0 - ALMOST_SURE) * prior))
    return Vectors(
        points=points,
        alpha=np.zeros((n_states, count + 1, count)) if old is None else old.copy(),
        weights=np.zeros((count, len(planner.states))),
        constants=np.zeros((count, len(planner.total))),
        place=np.zeros(2, np.int64),
        sweeps=FIRST_SWEEPS if old is None else LATER_SWEEPS,
        room=np.zeros((4, count)),
    )


def no_vectors(count: int) -> Vectors:
    """In place of vectors where there are none."""
    nothing = np.zeros((0, count))
    return Vectors(nothing, np.zeros((0, 0, count)), nothing, nothing, np.zeros(2, np.int64), 0, np.zeros((4, count)))


@borrowing
def tabulate(planner: Planner, vectors: Vectors, counts: Counts, state: int) -> None:
    """T and c of the pairs of a state, from the counts as they are."""
    starts, states, options = planner.starts, planner.states, planner.options
    n_actions, unknown = len(planner.means) - 1, len(planner.sums) > 0
    for c in range(len(vectors.weights)):
        back_up(planner, counts, c, state)
        hope = planner.means[n_actions]
        for a in range(n_actions):
            pair = state * n_actions + a
            lean = planner.leans[LENT, a]
            n, k = planner.mass[c, pair] + planner.total[pair] + lean, 1.0
            if n > 0.0:
                k = planner.leans[HOPED, a] / (n + planner.leans[HOPED, a])
            last, beyond = starts[pair + 1] - 1, 0.0
            leant = lean / n * (planner.leans[MEAN, a] + planner.tops[c, TOP]) if lean > 0.0 else 0.0
            for j in range(starts[pair], last):
                w = planner.counted[c, j] + planner.here[j]
                vectors.weights[c, j] = options.discount * (1.0 - k) * w / n if w > 0.0 else 0.0
            if planner.here[last] > 0.0:  # successors that memory does not know have no vectors, but values
                for slot in range(*span(counts, pair)):
                    key = counts.slots[WORDS * slot]
                    if key != EMPTY and place_of(starts, states, pair, key) == last:
                        beyond += counts.slots[WORDS * slot + VISITS] / n * planner.values[c, key]
            if unknown:
                own = 1.0 - lean / n if n > 0.0 else 0.0
                known = own * earned_by(planner, c, np.uint64(pair)) + options.discount * beyond + leant
                vectors.constants[c, pair] = (1.0 - k) * known + k * hope
            else:
                known = (1.0 - k) * (beyond + leant) + k * hope
                vectors.constants[c, pair] = planner.rewards[pair] + options.discount * known


@borrowing
def _back_up_vectors(planner: Planner, vectors: Vectors, state: int) -> float:
    """Back up all vectors of a state; the greatest change at their points."""
    points, alpha, weights, constants = vectors.points, vectors.alpha, vectors.weights, vectors.constants
    total, best, reached = vectors.room[0], vectors.room[1], vectors.room[2]
    n_points, count, n_actions = len(points), len(weights), len(planner.means) - 1
    ended = planner.rest / (1.0 - planner.options.discount)
    change = 0.0
    for i in range(n_points):
        most = -np.inf
        for a in range(n_actions):
            pair = state * n_actions + a
            for c in range(count):
                total[c] = constants[c, pair]
            for j in range(planner.starts[pair], planner.starts[pair + 1] - 1):
                s, mass = planner.states[j], 0.0
                for c in range(count):
                    reached[c] = points[i, c] * weights[c, j]
                    mass += reached[c]
                choice = i
                if mass > 0.0:
                    greatest = -np.inf
                    for v in range(n_points):
                        value = 0.0
                        for c in range(count):
                            value += reached[c] * alpha[s, v, c]
                        if value > greatest:
                            greatest, choice = value, v
                for c in range(count):
                    total[c] += weights[c, j] * alpha[s, choice, c]
            value = 0.0
            for c in range(count):
                value += points[i, c] * planner.going_on[c, state] * total[c]
            if value > most:
                most = value
                for c in range(count):
                    best[c] = total[c]
        for c in range(count):
            new = planner.going_on[c, state] * best[c] + (1.0 - planner.going_on[c, state]) * ended
            change = max(change, points[i, c] * abs(new - alpha[state, i, c]))
            alpha[state, i, c] = new
    return change


@borrowing
def fill_in(planner: Planner, vectors: Vectors, counts: Counts) -> None:
    """All weights, and sweeps over all states; once an episode."""
    n_states, spent = planner.values.shape[1], 0
    work = len(vectors.weights) ** 3 * len(planner.means) * 8
    for s in range(n_states):
        spent = serve_signals(spent, work)
        tabulate(planner, vectors, counts, s)
    for _ in range(vectors.sweeps):
        change = 0.0
        for s in range(n_states - 1, -1, -1):
            spent = serve_signals(spent, work)
            change = max(change, _back_up_vectors(planner, vectors, s))
        if change < CLOSE:
            break
    vectors.place[FILLED] = 1


@borrowing
def act_by_vectors(planner: Planner, vectors: Vectors, shares: Floats, state: int, means: Floats) -> None:
    """Back up some vectors, and fill in Q of every action in a state that the episode has arrived in, (A,)."""
    n_states, n_actions = planner.values.shape[1], len(planner.means) - 1
    place, alpha, weights = vectors.place, vectors.alpha, vectors.weights
    for _ in range(ROTATED):
        place[ROTATION] = place[ROTATION] - 1 if place[ROTATION] > 0 else n_states - 1
        _back_up_vectors(planner, vectors, place[ROTATION])
    for a in range(n_actions):
        pair = state * n_actions + a
        q = 0.0
        for c in range(len(shares)):
            q += shares[c] * vectors.constants[c, pair]
        for j in range(planner.starts[pair], planner.starts[pair + 1] - 1):
            greatest = -np.inf
            for v in range(alpha.shape[1]):
                value = 0.0
                for c in range(len(shares)):
                    value += shares[c] * weights[c, j] * alpha[planner.states[j], v, c]
                greatest = max(greatest, value)
            q += greatest
        means[a] = q


@borrowing
def note_step(planner: Planner, vectors: Vectors, counts: Counts, state: int) -> None:
    """The rows of a state have changed."""
    tabulate(planner, vectors, counts, state)
    _back_up_vectors(planner, vectors, state)

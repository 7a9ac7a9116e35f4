"""What it is worth to find out which world this is, where acting on the mean of Q (QMDP) would wait for ever.

QMDP takes the action that is best in the mean over worlds, as if the world were known after the next step.  So it never
goes anywhere in order to find out: in the hard corner of a large grid, where every step earns a little, it stays for
the rest of the episode, because leaving can always wait until the world is known.  With the true worlds it earns 44 %
of the optimum on a grid of 12 x 12 in 500 steps (suite ``reward``).  Here the world becomes known only where worlds
differ: with b the belief, pair (s, a) tells it with probability

    p(s, a) = min{1, I(s, a) / h(b)},

I the information in nats that its outcome holds about the world, as the belief itself would reckon it (transitions, the
ends of where they lead, and rewards that are not known, added up, which is an upper estimate), and h(b) the entropy of
the belief: about h / I visits tell it all.
The value of a state from which the world is not known is then

    U(s) = max_a  sum_w b(w) { r + discount sum_s' P_w(s') [ p V_w(s') + (1 - p) U(s') ] },

with the optimism of :mod:`.optimism` in V_w, and with hope as if the world were known.  Where p is 1 everywhere this is
QMDP; where p is 0, and nothing is hoped for, it is the best plan for the mean of the worlds.  So an episode begins with
a plan that goes where worlds differ, as long as it pays: what is known afterwards must be worth more than what the way
there costs.  It is never worth more not to know: where values that are not yet worked out would have it that
sum_w b(w) sum_s' P_w(s') U(s') exceeds sum_w b(w) sum_s' P_w(s') V_w(s'), it is taken for that.  (Values of a large
world fall slowly, and an agent that believed those of U avoided all that would have told it the world.)
"""

import math
from typing import NamedTuple

import numpy as np

from aomultirl.engine.compiling import borrowing, inlined
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.signals import serve_signals
from aomultirl.identifying.knowledge import place_of
from aomultirl.learning.kinship import ENOUGH
from aomultirl.learning.optimism import back_up, greatest_value, least_top
from aomultirl.learning.planner import HIGHEST, HOPED, LENT, TOP, Planner
from aomultirl.learning.row_likelihoods import ENDS, GOES_ON, Floats, Integers

PLAUSIBLE = 0.003
"""Posterior probability below which a hypothesis has no say."""
MOVED = 0.2
"""The belief has moved when its shares differ by so much in all from those that the information was worked out for."""
SWEEPS_WORK = 200_000
"""Successors, of all plausible hypotheses, that sweeps over all states look at when the belief has moved: 10 ms or so.

In worlds that are so large that not one sweep fits, values follow by the backups of each step alone.
"""
MOST_SWEEPS = 20
"""Sweeps over all states when the belief has moved, at most."""

NEXT, MOMENT = range(2)
"""Cells of ``state``."""


class Unresolved(NamedTuple):
    """Values while the world is not known; those of no state where there is one hypothesis.

    values
        (S,), U.
    information
        (S * A,), I in nats, for the belief of the moment.
    looked
        (S,), the moment that the information of a state was worked out at.
    of_ends
        (S,), the information that arriving in a state holds, by whether the episode ends there.
    reference
        (C,), the belief of the moment.
    state
        (2,): NEXT, the state to be backed up after this one, and the MOMENT: how often the belief has moved.
    room
        (5, A), to work in.
    predictions
        (2, C), to work in.
    """

    values: Floats
    information: Floats
    looked: Integers
    of_ends: Floats
    reference: Floats
    state: Integers
    room: Floats
    predictions: Floats


class Evidence(NamedTuple):
    """What information is reckoned with: see :class:`aomultirl.learning.beliefs.Beliefs`.

    shares
        (C,), the posterior.
    likelihoods
        (C + 1, R).
    counts, masses
        (C + 1, P) and (C + 1, R).
    sigma
        (R,).
    theta, alpha
        (R,) and (P,).
    """

    shares: Floats
    likelihoods: Floats
    counts: Floats
    masses: Floats
    sigma: Floats
    theta: Floats
    alpha: Floats


def unresolved(planner: Planner, prior: Floats) -> Unresolved:
    """Values to begin an episode with this belief, (C,): those of QMDP, from which sweeps take what is too much."""
    count, n_states = planner.values.shape
    n_actions = len(planner.means) - 1
    return Unresolved(
        values=prior @ planner.values,
        information=np.zeros(n_states * n_actions),
        looked=np.zeros(n_states, np.int64),
        of_ends=np.zeros(n_states),
        reference=np.zeros(count),
        state=np.zeros(2, np.int64),
        room=np.zeros((5, n_actions)),
        predictions=np.zeros((2, count)),
    )


def all_resolved(count: int) -> Unresolved:
    """In place of values where no hypothesis is compared with another."""
    nothing, none = np.zeros(0), np.zeros(0, np.int64)
    return Unresolved(
        values=nothing,
        information=nothing,
        looked=none,
        of_ends=nothing,
        reference=np.zeros(count),
        state=np.zeros(2, np.int64),
        room=np.zeros((5, 0)),
        predictions=np.zeros((2, 0)),
    )


@borrowing
def _row_information(
    planner: Planner, evidence: Evidence, room: Floats, x: int, first: int, last: int, visits: float
) -> float:
    """I of one row, whose places are ``first`` to ``last``, after so many visits of it in this episode.

    The hypotheses that are plausible are taken for all that there are.  ``room``, (2, C), is worked in.
    """
    count, total, share = len(evidence.shares), 0.0, 0.0
    sigma, theta, predicted, weights = evidence.sigma[x], evidence.theta[x], room[0], room[1]
    for c in range(count):
        if evidence.shares[c] > PLAUSIBLE:
            share += evidence.shares[c]
            most = max(evidence.likelihoods[count, x], evidence.likelihoods[c, x])
            alike = sigma * math.exp(evidence.likelihoods[count, x] - most)
            weights[c] = alike / (alike + (1.0 - sigma) * math.exp(evidence.likelihoods[c, x] - most))
    for p in range(first, last):
        here, mean = evidence.alpha[p] + planner.here[p], 0.0
        pooled = (evidence.counts[count, p] + here) / (evidence.masses[count, x] + theta + visits)
        for c in range(count):
            if evidence.shares[c] > PLAUSIBLE:
                own = (evidence.counts[c, p] + here) / (evidence.masses[c, x] + theta + visits)
                predicted[c] = weights[c] * pooled + (1.0 - weights[c]) * own
                mean += evidence.shares[c] / share * predicted[c]
        for c in range(count):
            if evidence.shares[c] > PLAUSIBLE:
                total += evidence.shares[c] / share * predicted[c] * math.log(predicted[c] / mean)
    return max(0.0, total)


@borrowing
def _inform(planner: Planner, evidence: Evidence, unresolved: Unresolved, state: int) -> None:
    """Work out the information of the pairs of a state for the belief as it is."""
    starts, n_actions, n_pairs = planner.starts, len(planner.means) - 1, len(planner.total)
    count = len(evidence.shares)
    for a in range(n_actions):
        pair = state * n_actions + a
        first, last, visits = starts[pair], starts[pair + 1], float(planner.total[pair])
        told = _row_information(planner, evidence, unresolved.predictions, pair, first, last, visits)
        seen = evidence.masses[count, pair] + visits
        if seen > 0.0:
            for p in range(first, last - 1):
                arrivals = evidence.counts[count, p] + planner.here[p]
                told += arrivals / seen * unresolved.of_ends[planner.states[p]]
        if len(planner.sums) > 0:
            x, levels = len(evidence.theta) - n_pairs + pair, len(planner.levels)
            place = len(planner.here) - levels * (n_pairs - pair)
            visits = 0.0
            for p in range(place, place + levels):
                visits += planner.here[p]
            told += _row_information(planner, evidence, unresolved.predictions, x, place, place + levels, visits)
        unresolved.information[pair] = told
    unresolved.looked[state] = unresolved.state[MOMENT]


@borrowing
def _entropy(shares: Floats) -> float:
    """h in nats, over the hypotheses that are plausible; a little more than 0 where there is one."""
    total, whole = 0.0, 0.0
    for share in shares:
        whole += share if share > PLAUSIBLE else 0.0
    for share in shares:
        if share > PLAUSIBLE:
            total -= share / whole * math.log(share / whole)
    return max(total, 1e-9)


@inlined
def _gaps(planner: Planner, counts: Counts, values: Floats, c: int, state: int, gaps: Floats) -> None:
    """Fill in what each action's successors are worth more in hypothesis c when it is known, (A,), in the mean."""
    starts, states, n_actions = planner.starts, planner.states, len(planner.means) - 1
    for a in range(n_actions):
        pair = state * n_actions + a
        n, total, last = planner.mass[c, pair] + planner.total[pair], 0.0, starts[pair + 1] - 1
        gaps[a] = 0.0
        if n == 0.0:
            continue
        for j in range(starts[pair], last):
            w = planner.counted[c, j] + planner.here[j]
            if w > 0.0:
                total += w * (planner.values[c, states[j]] - values[states[j]])
        if planner.here[last] > 0.0:
            for slot in range(*span(counts, pair)):
                key = counts.slots[WORDS * slot]
                if key != EMPTY and place_of(starts, states, pair, key) == last:
                    total += counts.slots[WORDS * slot + VISITS] * (planner.values[c, key] - values[key])
        gaps[a] = total / n


@inlined
def back_up_unresolved(
    planner: Planner,
    evidence: Evidence,
    unresolved: Unresolved,
    counts: Counts,
    state: int,
    entropy: float,
    means: Floats,
) -> None:
    """Back up U of a state, and V of every plausible hypothesis there; ``means`` is then what each action is worth.

    ``entropy``: h of the belief of the moment.
    """
    options, n_actions = planner.options, len(planner.means) - 1
    room = unresolved.room
    gaps, others, arriving, lost, later = room[0], room[1], room[2], room[3], room[4]
    if unresolved.looked[state] != unresolved.state[MOMENT]:
        _inform(planner, evidence, unresolved, state)
    ending, share = 0.0, 0.0
    for a in range(n_actions):
        means[a] = arriving[a] = lost[a] = later[a] = 0.0
    for c in range(len(evidence.shares)):
        belief = evidence.shares[c]
        if belief <= PLAUSIBLE:
            continue
        value, _, seen = back_up(planner, counts, c, state)
        planner.values[c, state] = value
        planner.tops[c, HIGHEST] = max(planner.tops[c, HIGHEST], seen)
        share += belief
        ending += belief * (1.0 - planner.going_on[c, state])
        _gaps(planner, counts, unresolved.values, c, state, gaps)
        whole, mean = 0.0, 0.0
        for a in range(n_actions):
            n = min(planner.mass[c, state * n_actions + a] + planner.total[state * n_actions + a], ENOUGH)
            whole += n
            mean += n * gaps[a]
        for a in range(n_actions):
            pair = state * n_actions + a
            n, lean = planner.mass[c, pair] + planner.total[pair], planner.leans[LENT, a]
            known = n + lean
            gap = 0.0
            if known > 0.0:
                rest = whole - min(n, ENOUGH)
                others[a] = (mean - min(n, ENOUGH) * gaps[a]) / rest if lean > 0.0 and rest > 0.0 else 0.0
                gap = (n * gaps[a] + lean * others[a]) / (known + planner.leans[HOPED, a])
            means[a] += belief * planner.means[a]
            lost[a] += belief * options.discount * gap
            arriving[a] += belief * planner.going_on[c, state] * planner.means[a]
            later[a] += belief * planner.going_on[c, state] * options.discount * gap
    best = -np.inf
    for a in range(n_actions):
        untold = 1.0 - min(1.0, unresolved.information[state * n_actions + a] / entropy)
        if lost[a] > 0.0:  # it is never worth more not to know
            means[a] -= untold * lost[a]
            arriving[a] -= untold * later[a]
        best = max(best, arriving[a])
    unresolved.values[state] = (best + ending * planner.rest / (1.0 - options.discount)) / share


@borrowing
def _move_on(planner: Planner, evidence: Evidence, unresolved: Unresolved) -> bool:
    """Whether the belief has moved; if so, this is another moment."""
    moved, n_pairs = 0.0, len(planner.total)
    for c in range(len(evidence.shares)):
        moved += abs(evidence.shares[c] - unresolved.reference[c])
    if moved <= MOVED:
        return False
    for c in range(len(evidence.shares)):
        unresolved.reference[c] = evidence.shares[c]
    unresolved.state[MOMENT] += 1
    for s in range(len(unresolved.of_ends)):
        place = len(planner.states) + 2 * s
        visits = planner.here[place + GOES_ON] + planner.here[place + ENDS]
        unresolved.of_ends[s] = _row_information(
            planner, evidence, unresolved.predictions, n_pairs + s, place, place + 2, visits
        )
    return True


@borrowing
def _bound(planner: Planner, evidence: Evidence, unresolved: Unresolved) -> int:
    """No state is worth more than if the world were known there, for the belief as it is; the plausible worlds."""
    plausible, total = 0, 0.0
    for share in evidence.shares:
        plausible += share > PLAUSIBLE
        total += share if share > PLAUSIBLE else 0.0
    for s in range(len(unresolved.values)):
        known = 0.0
        for c in range(len(evidence.shares)):
            known += evidence.shares[c] * planner.values[c, s] if evidence.shares[c] > PLAUSIBLE else 0.0
        unresolved.values[s] = min(unresolved.values[s], known / total)
    return plausible


@borrowing
def act_unresolved(
    planner: Planner,
    evidence: Evidence,
    unresolved: Unresolved,
    counts: Counts,
    state: int,
    backups: int,
    means: Floats,
) -> None:
    """Plan on, and fill in what each action is worth in a state that the episode has arrived in, (A,)."""
    n_states, cells, spent, rounds = planner.values.shape[1], unresolved.state, 0, backups
    if _move_on(planner, evidence, unresolved):
        plausible = _bound(planner, evidence, unresolved)
        sweeps = min(MOST_SWEEPS, SWEEPS_WORK // (plausible * len(planner.states) + 1))
        rounds = max(rounds, sweeps * n_states)
    entropy = _entropy(unresolved.reference)
    for step in range(rounds + 1):
        spent, at = serve_signals(spent, 128 * len(planner.means)), state
        if step == rounds:
            unresolved.looked[state] = -1  # what was counted here since tells less the next time
        else:
            cells[NEXT] -= 1
            if cells[NEXT] < 0:
                cells[NEXT] = n_states - 1
                for c in range(len(evidence.shares)):
                    if evidence.shares[c] > PLAUSIBLE:  # other rotations may have begun anew meanwhile
                        least = max(greatest_value(planner, c), least_top(planner))
                        planner.tops[c, TOP] = max(planner.tops[c, HIGHEST], least)
                        planner.tops[c, HIGHEST] = least_top(planner)
            at = cells[NEXT]
        back_up_unresolved(planner, evidence, unresolved, counts, at, entropy, means)

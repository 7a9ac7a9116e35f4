"""Identify while acting: act on what the evidence says this world probably is.

The hypotheses are the worlds in memory, and one that none of them is.  Each predicts a transition from its counts d
and the episode's b so far, (d_i + b_i + alpha_i) / (n_d + n_b + theta) over the successors that any of them knows
and one place for the rest (alpha, theta: :mod:`.shared_rows`); the product of the predictions is the Dirichlet marginal
likelihood of all that was seen.  A new world is thought to share each of its rows with one of the known ones with
probability rho, and to have one of its own otherwise, so its likelihood is the product over pairs of

    rho / C sum_c ML_c(row) + (1 - rho) ML_0(row),

C being the number of those that have shown it.  Of a row that a known world has not shown, no more is expected of it
than of a new one.  Rewards that are not known are rows of their own, of two outcomes, and tell worlds apart likewise.

The behaviour acts as the learner of :mod:`.optimism` does with the counts of the likeliest hypothesis and of the
episode. Nothing here is a proof: mistakes cost reward.  Proofs are :mod:`aomultirl.identifying.proof`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.behaviours import Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.identifying.knowledge import place_of
from aomultirl.learning.optimism import (
    GUIDE,
    SPENT,
    Planner,
    book_row,
    plan,
    remodel,
    reprice,
    sweep,
)
from aomultirl.learning.shared_rows import ALPHA, REST, THETA, ln_earned

SWEEPS = 20
"""Rotations over all states when the guide changes."""
PATIENCE = 16
"""An entry is kept for a sixteenth of the visits that its pair has had."""


NUMBER, LATEST = range(2)
"""Cells of ``switches``."""


class Beliefs(NamedTuple):
    """What is believed of the world of an episode.

    scores
        (C + 1,), ln of prior times likelihood, the new world last.
    rows
        (C + 1, rows), ln ML of each row, that of a row of its own last: one for every pair's successors, and one for
        its rewards where they are not known.
    mixed
        (rows,), ln ML of the new world's rows.
    values
        (C, S), where planning begins for each.
    switches
        (2,), the NUMBER of changes of the guide, and the step of the LATEST.
    """

    scores: NDArray[np.float64]
    rows: NDArray[np.float64]
    mixed: NDArray[np.float64]
    values: NDArray[np.float64]
    switches: NDArray[np.int64]


class BeliefBehaviour(NamedTuple):
    """Act as the likeliest hypothesis says.

    table
        which action each state calls for.
    planner
        values and the model of the hypothesis that guides.
    beliefs
        how likely each hypothesis is.
    """

    table: Table
    planner: Planner
    beliefs: Beliefs


def act_on_beliefs(planner: Planner, prior: NDArray[np.float64], values: NDArray[np.float64]) -> BeliefBehaviour:
    """Act in one of C known worlds or a new one; prior: (C + 1,), values: (C, S).

    With no known world this is the learner alone; with one and prior (1, 0) it learns on in that world.
    """
    count, n_rows = len(prior) - 1, len(planner.total) + len(planner.sums)
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    beliefs = Beliefs(
        scores, np.zeros((count + 1, n_rows)), np.zeros(n_rows), np.array(values, np.float64), np.zeros(2, np.int64)
    )
    return BeliefBehaviour(empty_table(len(planner.values)), planner, beliefs)


@kernel
def _score(planner: Planner, beliefs: Beliefs, counts: Counts, pair: int) -> None:
    """Book what came to a row since it was booked last.  Call before :func:`book_row`: the order does not matter."""
    known, here, rows = planner.known, planner.here, beliefs.rows
    seen, mass = planner.shared_rows.seen, planner.shared_rows.mass
    count = len(known.seen)
    last = known.starts[pair + 1] - 1
    prior = planner.shared_rows.prior
    alpha, rest, theta = prior[ALPHA, pair], prior[REST, pair], prior[THETA, pair]
    n = planner.total[pair]
    novel = spent = 0
    for slot in range(*span(counts, pair)):
        key = counts.slots[WORDS * slot]
        if key == EMPTY:
            continue
        place = place_of(known.starts, known.states, pair, key)
        visits = counts.slots[WORDS * slot + VISITS]
        if place == last:
            novel += visits
            continue
        for b in range(here[place], visits):
            spent = serve_signals(spent, 16 * (count + 1))
            for c in range(count):
                rows[c, pair] += math.log((seen[c, place] + b + alpha) / (mass[c, pair] + n + theta))
            rows[count, pair] += math.log((b + alpha) / (n + theta))
            n += 1
    for b in range(here[last], novel):
        spent = serve_signals(spent, 16 * (count + 1))
        for c in range(count):
            rows[c, pair] += math.log((b + rest) / (mass[c, pair] + n + theta))
        rows[count, pair] += math.log((b + rest) / (n + theta))
        n += 1


@kernel
def _score_rewards(planner: Planner, beliefs: Beliefs, pair: int) -> None:
    """ln ML of the rewards that a pair has earned in the episode, whose visits are booked."""
    shared, row = planner.shared_rewards, len(planner.total) + pair
    earned, n = planner.sums[pair], planner.total[pair]
    for c in range(len(shared.mass)):
        before, visits = (shared.sums[c, pair], shared.mass[c, pair]) if c < len(shared.mass) - 1 else (0.0, 0.0)
        beliefs.rows[c, row] = ln_earned(before + earned, visits + n) - ln_earned(before, visits)


@kernel
def _believe(
    beliefs: Beliefs, visits: NDArray[np.int64], pair: int, row: int, before: NDArray[np.float64], shared: float
) -> None:
    """The scores after the likelihoods of one of a pair's rows changed from ``before``."""
    scores, rows = beliefs.scores, beliefs.rows
    count = len(scores) - 1
    most, models = rows[count, row], 0
    for c in range(count):
        if visits[c, pair] > 0:
            models += 1
            most = max(most, rows[c, row])
    mixed = rows[count, row]
    if models > 0:
        total = (1.0 - shared) * math.exp(rows[count, row] - most)
        for c in range(count):
            if visits[c, pair] > 0:
                total += shared / models * math.exp(rows[c, row] - most)
        mixed = most + math.log(total)
    for c in range(count):
        scores[c] += rows[c, row] - before[c] if visits[c, pair] > 0 else mixed - beliefs.mixed[row]
    scores[count] += mixed - beliefs.mixed[row]
    beliefs.mixed[row] = mixed


@kernel
def _learn(behaviour: BeliefBehaviour, counts: Counts, pair: int) -> None:
    """Take a row over into beliefs and model."""
    planner, beliefs = behaviour.planner, behaviour.beliefs
    compares = len(beliefs.scores) > 1
    if compares:
        before = beliefs.rows[:, pair].copy()
        _score(planner, beliefs, counts, pair)
        _believe(beliefs, planner.known.visits, pair, pair, before, planner.shared_rows.shared)
    planner.state[SPENT] += book_row(planner, counts, pair)
    if compares and len(planner.sums) > 0:
        row = len(planner.total) + pair
        before = beliefs.rows[:, row].copy()
        _score_rewards(planner, beliefs, pair)
        _believe(beliefs, planner.known.visits, pair, row, before, planner.shared_rewards.shared)
    remodel(planner, pair)
    reprice(planner, pair)


@kernel
def _guide(scores: NDArray[np.float64]) -> int:
    """The likeliest hypothesis; the last for a new world."""
    best = len(scores) - 1
    for c in range(len(scores) - 1):
        if scores[c] > scores[best]:
            best = c
    return best


@kernel
def settle(behaviour: BeliefBehaviour, counts: Counts) -> None:
    """Take over all that was counted, by this behaviour or another; to be called when a phase has ended."""
    planner, table, spent = behaviour.planner, behaviour.table, 0
    for s in range(len(planner.lease)):
        planner.lease[s] = table.budget[s] = 1
    for pair in range(len(planner.total)):
        spent = serve_signals(spent, DECISION)
        if counts.filled[pair] > 0:
            _learn(behaviour, counts, pair)


@kernel
def _follow(behaviour: BeliefBehaviour, counts: Counts, guide: int, state: int) -> None:
    """Plan for another hypothesis, from what is known of its values."""
    table, planner, beliefs = behaviour.table, behaviour.planner, behaviour.beliefs
    settle(behaviour, counts)
    old = planner.state[GUIDE]
    if old < len(beliefs.values):
        beliefs.values[old] = planner.values
    planner.state[GUIDE] = guide
    spent = 0
    for pair in range(len(planner.total)):
        spent = serve_signals(spent, 16 + planner.known.starts[pair + 1] - planner.known.starts[pair])
        remodel(planner, pair)
        reprice(planner, pair)
    if guide < len(beliefs.values):
        planner.values[:] = beliefs.values[guide]
    else:
        planner.values[:] = planner.promise
    sweep(planner, table, counts, SWEEPS, state)


@kernel
def _prepare(behaviour: BeliefBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    _follow(behaviour, counts, _guide(behaviour.beliefs.scores), state)


@kernel
def _attend(
    behaviour: BeliefBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    table, planner, beliefs = behaviour.table, behaviour.planner, behaviour.beliefs
    pair = state * (len(planner.total) // len(planner.values)) + action
    planner.lease[state] = table.budget[state] = 1
    _learn(behaviour, counts, pair)
    guide = _guide(beliefs.scores)
    if guide != planner.state[GUIDE]:
        beliefs.switches[NUMBER] += 1
        beliefs.switches[LATEST] = planner.state[SPENT]
        _follow(behaviour, counts, guide, successor)
        return False
    plan(planner, table, counts, planner.options.backups, state)
    if successor != state:
        plan(planner, table, counts, 0, successor)
    lease = 1 + planner.total[pair] // PATIENCE
    if lease > 1 and table.plan[state] == action:
        planner.lease[state] = table.budget[state] = lease
    return False


register(BeliefBehaviour, prepare=_prepare, attend=_attend)

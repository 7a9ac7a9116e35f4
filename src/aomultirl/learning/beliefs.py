"""Identify while acting: act on what the evidence says this world probably is.

The hypotheses are the worlds in memory, and one that none of them is.  How likely the counts of the episode are under
each is the product over rows of

    sigma ML(D + e) / ML(D) + (1 - sigma) ML(d + e) / ML(d),

with d the counts of the hypothesis, none for a new world, D those of all worlds, and sigma the probability that the row
is shared by all of them (:mod:`.row_likelihoods`).  Transitions, ends and rewards that are not known have rows, and all
tell worlds apart.

The behaviour acts as the learner of :mod:`.optimism` does.  One rule chooses how: where one hypothesis is almost
certain (above SINGLE), by its plan alone; otherwise by all that are plausible, with the vectors of
:mod:`.alpha_vectors` where episodes end and the world is small, and elsewhere with what it is worth to find out which
of them it is (:mod:`.finding_out`).  Nothing here is a proof: mistakes cost reward.  Proofs are
:mod:`aomultirl.identifying.proof`.
"""

import math
from typing import NamedTuple

import numpy as np

from aomultirl.engine.behaviours import Table, empty_table, register
from aomultirl.engine.compiling import borrowing, inlined
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, CountTable, span
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import DECISION, serve_signals
from aomultirl.identifying.knowledge import place_of
from aomultirl.learning.alpha_vectors import FILLED, Vectors, act_by_vectors, fill_in, no_vectors, note_step
from aomultirl.learning.finding_out import PLAUSIBLE, Evidence, Unresolved, act_unresolved, all_resolved, unresolved
from aomultirl.learning.log_gamma import ln_gamma
from aomultirl.learning.optimism import best_of, plan, see_end, sweep
from aomultirl.learning.planner import READY, SPENT, Planner
from aomultirl.learning.reward_levels import NOTHING_NOTED, Notes, note_reward
from aomultirl.learning.row_likelihoods import (
    EARNED,
    GOES_ON,
    UNEARNED,
    Floats,
    Integers,
    ln_mixture,
    ln_rising,
    sharing_of_rows,
)
from aomultirl.learning.world_rows import WorldRows

SWEEPS, SWEPT, SWEPT_A_STEP = 20, 4_000_000, 2_000
"""Rotations over all states when a hypothesis is first planned with in an episode; and places of rows that they read at
most, in all and for each step of an episode, if the rotations are more than one: values are kept from episode to
episode, and backed up at every step."""
PATIENCE = 16
"""An entry is kept for a sixteenth of the visits that its pair has had."""
SINGLE = 0.99
"""Posterior probability above which a hypothesis guides alone."""

GUIDE, NUMBER, LATEST, PLACE, ENDED = range(5)
"""Cells of ``status``."""
BEGINNING = (-1, 0, 0, -1, 0)
"""``status`` of an episode that has not begun."""


class Beliefs(NamedTuple):
    """What is believed of the world of an episode.

    scores
        (C,), ln of prior times likelihood, the new world last.
    shares
        (C,), the posterior.
    likelihoods
        (C + 1, R), ln ML of the episode's counts of each row, given the hypothesis's own counts, and those of all
        worlds last; (0, 0) where there is nothing to compare.
    counts, masses
        (C + 1, P) and (C + 1, R): the counts that go with them, and their sums over rows.
    sigma
        (R,), how probable it is that the row is shared.
    theta, alpha
        (R,) and (P,), the prior of rows.
    status
        (5,): GUIDE, the hypothesis that guides alone or -1; the NUMBER of changes of it, and the step of the LATEST;
        PLACE, the state that the episode is in, or -1; whether it has ENDED.
    means
        (A,), room to work in.
    mixtures
        (C, R), how likely the episode's counts of each row are, if it may be shared: ln; nan where nobody has asked.
    """

    scores: Floats
    shares: Floats
    likelihoods: Floats
    counts: Floats
    masses: Floats
    sigma: Floats
    theta: Floats
    alpha: Floats
    status: Integers
    means: Floats
    mixtures: Floats


class BeliefBehaviour(NamedTuple):
    """Act as the hypotheses say.

    table
        which action each state calls for.
    planner
        values and counts of every hypothesis.
    beliefs
        how likely each is.
    vectors
        how to act on beliefs, where episodes end and the world is small.
    unresolved
        how to act on them elsewhere.
    notes
        what the episode pays, where rewards are not known.
    """

    table: Table
    planner: Planner
    beliefs: Beliefs
    vectors: Vectors
    unresolved: Unresolved
    notes: Notes


def act_alone(planner: Planner, notes: Notes = NOTHING_NOTED) -> BeliefBehaviour:
    """Act in the only world that there is a hypothesis of."""
    nothing = np.zeros((0, 0))
    means, status, none = np.zeros(len(planner.means) - 1), np.array(BEGINNING, np.int64), np.zeros(0)
    beliefs = Beliefs(np.zeros(1), np.ones(1), nothing, nothing, nothing, none, none, none, status, means, nothing)
    table = empty_table(planner.values.shape[1])
    return BeliefBehaviour(table, planner, beliefs, no_vectors(1), all_resolved(1), notes)


def act_on_beliefs(
    planner: Planner, rows: WorldRows, prior: Floats, vectors: Vectors | None = None, notes: Notes = NOTHING_NOTED
) -> BeliefBehaviour:
    """Act in one of the worlds of ``rows`` or a new one; prior: (C,)."""
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    first, nothing = rows.layout.first, np.zeros((1, len(rows.pooled)))
    counts = np.concatenate((rows.counts, nothing, rows.pooled[None]))
    beliefs = Beliefs(
        scores=scores,
        shares=np.array(prior, np.float64),
        likelihoods=np.zeros((len(counts), len(rows.theta))),
        counts=counts,
        masses=np.add.reduceat(counts, first[:-1], axis=1),
        sigma=sharing_of_rows(rows.layout.kinds, rows.shared, rows.together, rows.own),
        theta=rows.theta.copy(),
        alpha=rows.alpha.copy(),
        status=np.array(BEGINNING, np.int64),
        means=np.zeros(len(planner.means) - 1),
        mixtures=np.full((len(prior), len(rows.theta)), np.nan),
    )
    kept, table = no_vectors(len(prior)) if vectors is None else vectors, empty_table(planner.values.shape[1])
    return BeliefBehaviour(table, planner, beliefs, kept, unresolved(planner, prior), notes)


@inlined
def _look_at(beliefs: Beliefs, x: int) -> None:
    """See to it that it is known what a row says before its likelihoods change."""
    likelihoods, last = beliefs.likelihoods, len(beliefs.scores)
    for c in range(last):
        if math.isnan(beliefs.mixtures[c, x]):
            beliefs.mixtures[c, x] = ln_mixture(beliefs.sigma[x], likelihoods[last, x], likelihoods[c, x])


@inlined
def _believe(beliefs: Beliefs, x: int) -> None:
    """The scores after the likelihoods of a row changed; :func:`_look_at` came before."""
    likelihoods, last = beliefs.likelihoods, len(beliefs.scores)
    for c in range(last):
        now = ln_mixture(beliefs.sigma[x], likelihoods[last, x], likelihoods[c, x])
        beliefs.scores[c] += now - beliefs.mixtures[c, x]
        beliefs.mixtures[c, x] = now


@borrowing
def _weigh_row(planner: Planner, beliefs: Beliefs, first: int, last: int, x: int) -> None:
    """ln ML of a row of ends or rewards, whose counts in the episode are booked."""
    n = 0.0
    for p in range(first, last):
        n += planner.here[p]
    for c in range(len(beliefs.likelihoods)):
        total = ln_gamma(beliefs.masses[c, x] + beliefs.theta[x]) - ln_gamma(
            beliefs.masses[c, x] + n + beliefs.theta[x]
        )
        for p in range(first, last):
            known = beliefs.counts[c, p] + beliefs.alpha[p]
            total += ln_gamma(known + planner.here[p]) - ln_gamma(known)
        beliefs.likelihoods[c, x] = total


@borrowing
def _book_transitions(planner: Planner, beliefs: Beliefs, counts: Counts, pair: int) -> int:
    """Take over what came to a pair's row of transitions since it was booked last; how many visits that is."""
    here, starts = planner.here, planner.starts
    last, novel, n = starts[pair + 1] - 1, 0.0, planner.total[pair]
    compared, came = len(beliefs.likelihoods), 0
    for slot in range(*span(counts, pair)):
        key = counts.slots[WORDS * slot]
        if key == EMPTY:
            continue
        place, visits = place_of(starts, planner.states, pair, key), counts.slots[WORDS * slot + VISITS]
        if place == last:
            novel += visits
            continue
        more = visits - here[place]
        if more > 0.0:
            for c in range(compared):
                start = beliefs.counts[c, place] + beliefs.alpha[place] + here[place]
                beliefs.likelihoods[c, pair] += ln_rising(start, more)
            here[place] = visits
            came += int(more)
    more = novel - here[last]
    if more > 0.0:
        for c in range(compared):
            beliefs.likelihoods[c, pair] += ln_rising(beliefs.alpha[last] + here[last], more)
        here[last] = novel
        came += int(more)
    if came == 0:
        return 0
    for c in range(compared):
        beliefs.likelihoods[c, pair] -= ln_rising(beliefs.masses[c, pair] + beliefs.theta[pair] + n, float(came))
    planner.total[pair] += came
    planner.state[SPENT] += came
    return came


@borrowing
def _learn(behaviour: BeliefBehaviour, counts: Counts, pair: int) -> None:
    """Take over what an action has led to: into beliefs and counts."""
    planner, beliefs = behaviour.planner, behaviour.beliefs
    compares = len(beliefs.likelihoods) > 0
    if compares:
        _look_at(beliefs, pair)
    if _book_transitions(planner, beliefs, counts, pair) == 0:
        return
    if compares:
        _believe(beliefs, pair)
    if len(planner.sums) > 0:
        n_pairs, levels = len(planner.total), len(planner.levels)
        first = len(planner.here) - levels * (n_pairs - pair)
        if levels == 2:  # more are noted one by one
            planner.here[first + EARNED] = planner.sums[pair]
            planner.here[first + UNEARNED] = max(0.0, planner.total[pair] - planner.sums[pair])
        if compares:
            x = len(beliefs.theta) - n_pairs + pair
            _look_at(beliefs, x)
            _weigh_row(planner, beliefs, first, first + levels, x)
            _believe(beliefs, x)


@borrowing
def _learn_end(behaviour: BeliefBehaviour, state: int) -> None:
    """Take over whether the episode has gone on from a state: as often as it was left, and while it is there."""
    planner, beliefs = behaviour.planner, behaviour.beliefs
    n_pairs, n_actions = len(planner.total), len(planner.means) - 1
    left = 0
    for a in range(n_actions):
        left += planner.total[state * n_actions + a]
    there = beliefs.status[PLACE] == state
    over = 1.0 if there and beliefs.status[ENDED] else 0.0
    goes_on = left + (1.0 if there and not beliefs.status[ENDED] else 0.0)
    first = len(planner.states) + 2 * state
    if planner.here[first + GOES_ON] == goes_on and over == 0.0:
        return
    see_end(planner, state, goes_on, over)
    if len(beliefs.likelihoods) > 0:
        _look_at(beliefs, n_pairs + state)
        _weigh_row(planner, beliefs, first, first + 2, n_pairs + state)
        _believe(beliefs, n_pairs + state)


@borrowing
def _weigh_hypotheses(beliefs: Beliefs) -> int:
    """Fill in the posterior; the hypothesis that guides alone, or -1."""
    scores, shares = beliefs.scores, beliefs.shares
    most, total, best = scores[0], 0.0, 0
    for c in range(1, len(scores)):
        most = max(most, scores[c])
    for c in range(len(scores)):
        shares[c] = math.exp(scores[c] - most)
        total += shares[c]
        if scores[c] > scores[best]:
            best = c
    for c in range(len(scores)):
        shares[c] /= total
    return best if shares[best] > SINGLE else -1


@borrowing
def settle(behaviour: BeliefBehaviour, counts: Counts) -> None:
    """Take over all that was counted, by this behaviour or another; to be called when a phase has ended."""
    planner, table, spent = behaviour.planner, behaviour.table, 0
    n_actions = len(planner.means) - 1
    for s in range(len(planner.lease)):
        planner.lease[s] = table.budget[s] = 1
        spent = serve_signals(spent, DECISION)
        for a in range(n_actions):
            if counts.filled[s * n_actions + a] > 0:
                _learn(behaviour, counts, s * n_actions + a)
        _learn_end(behaviour, s)
    _weigh_hypotheses(behaviour.beliefs)


def settle_episode(behaviour: BeliefBehaviour, counts: CountTable) -> None:
    """Take over all that was counted in an episode, and its end, which may have come where no look was due."""
    for state in counts.ends:
        behaviour.beliefs.status[[PLACE, ENDED]] = state, 1
    settle(behaviour, counts.record)


@inlined
def _sweeps(planner: Planner) -> int:
    most = min(SWEPT, SWEPT_A_STEP * planner.horizon)
    return max(1, min(SWEEPS, most // (len(planner.states) + 1)))


@inlined
def _decide(behaviour: BeliefBehaviour, counts: Counts, state: int, backups: int) -> None:
    """Plan on, and fill in the entry of the state that the episode is in."""
    table, planner, beliefs, vectors, unsure, _ = behaviour
    guide = _weigh_hypotheses(beliefs)
    if guide != beliefs.status[GUIDE]:
        settle(behaviour, counts)  # entries were made for another
        guide = _weigh_hypotheses(beliefs)
        if beliefs.status[GUIDE] >= 0 or guide >= 0:
            beliefs.status[NUMBER] += planner.state[SPENT] > 0
            beliefs.status[LATEST] = planner.state[SPENT]
        beliefs.status[GUIDE] = guide
        if guide >= 0 and planner.rotation[guide, READY]:
            sweep(planner, table, counts, guide, 1, state, True)
    if guide >= 0:
        if not planner.rotation[guide, READY]:
            sweep(planner, table, counts, guide, _sweeps(planner), state, True)
        plan(planner, table, counts, guide, backups, state, True)
        return
    means = beliefs.means
    for c in range(len(beliefs.shares)):
        if not planner.rotation[c, READY] and (beliefs.shares[c] > PLAUSIBLE or len(vectors.points) > 0):
            sweep(planner, table, counts, c, _sweeps(planner), state, False)
    if len(vectors.points) > 0:
        if not vectors.place[FILLED]:
            fill_in(planner, vectors, counts)
        act_by_vectors(planner, vectors, beliefs.shares, state, means)
        table.plan[state] = best_of(planner, means, state)
        return
    evidence = Evidence(
        beliefs.shares, beliefs.likelihoods, beliefs.counts, beliefs.masses, beliefs.sigma, beliefs.theta, beliefs.alpha
    )
    act_unresolved(planner, evidence, unsure, counts, state, backups, means)
    table.plan[state] = best_of(planner, means, state)


@inlined
def _prepare(behaviour: BeliefBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    behaviour.beliefs.status[PLACE] = state
    _learn_end(behaviour, state)
    _decide(behaviour, counts, state, 0)


@inlined
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
    table, planner, beliefs, vectors, _, notes = behaviour
    pair = state * (len(planner.means) - 1) + action
    planner.lease[state] = table.budget[state] = 1
    beliefs.status[PLACE], beliefs.status[ENDED] = successor, ended
    note_reward(notes, pair, reward)
    _learn(behaviour, counts, pair)
    _learn_end(behaviour, state)
    _learn_end(behaviour, successor)
    guide = beliefs.status[GUIDE]
    if guide >= 0 and successor != state:
        plan(planner, table, counts, guide, 0, state, True)
    if len(vectors.points) > 0 and vectors.place[FILLED]:
        note_step(planner, vectors, counts, state)
    if ended:
        return False
    _decide(behaviour, counts, successor, planner.options.backups)
    guide = beliefs.status[GUIDE]
    lease = 1 + planner.total[pair] // PATIENCE
    if guide >= 0 and lease > 1 and table.plan[state] == action:
        planner.lease[state] = table.budget[state] = lease
    return False


register(BeliefBehaviour, prepare=_prepare, attend=_attend)

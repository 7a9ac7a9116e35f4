"""PAC-EXPLORE (Guo, Brunskill 2015): sample every unknown state, and plan the way out of the known ones.

A pair needs b(s, a) visits; a state is *known* when all its actions have theirs.  With n the visits of this episode::

    in an unknown state:  the action with the smallest n(s, a) among those with n(s, a) < b(s, a)
    in a known state:     follow for T steps, or until an unknown state is reached, the policy that maximises
                          the estimated probability of reaching an unknown state within T steps

The policy comes from finite-horizon dynamic programming, with t the steps to go::

    q_t(s) = 1 in unknown states;   in known ones q_0(s) = 0,   q_t(s) = max_a sum_s' n(s, a, s') / n(s, a) q_{t-1}(s')

Unknown states are absorbing, so their rows are never used.  Where another step to go does not make it likelier to get
out, the action stays the one of the step before: so the policy does not dawdle, and in a deterministic world it takes
the shortest way.  Where the probability is 0, which only a false estimate or too small a T can say, actions are drawn
uniformly at random for T steps, or until an unknown state is reached.

Setting
    One unknown communicating world, no rewards.  The paper explores many worlds concurrently and clusters them
    afterwards; here they come one after another, so each episode of the stream explores its world afresh and shares
    nothing with others.
What it must be told
    The targets and N, and T or nothing.  A bound D on the diameter would give T = 2 D: by Markov's inequality the best
    policy gets out within 2 D steps with probability at least 1/2.
Guarantee
    With b = m_e for all pairs, m_e of order S D**2 and T of order D, every pair has m_e visits after O~(S A D m_e)
    steps with high probability.  The constants are unknown to us, so there is no bound on the steps.

What the source leaves open, and what is done here.

* *Some pairs only.*  The paper samples all pairs, b = m_e.  Here b is N for the targets and min(N, ``enough``) for all
  other pairs, as their rows serve for travelling only.  With b = N for them too, three targets would cost as much as
  S A; with b = 0, rows that nobody has ever tried would have to be guessed.  It ends as soon as the targets have N.
  Of 1, 3, 10 and 30, ``enough=3`` took the fewest steps for three targets with N = 1043 on the paper's first grid.
* *T where nobody knows D* (``horizon=None``).  T is the smallest number of steps within which the estimated model gets
  out with probability at least 1/2, which is what T = 2 D is made to ensure; as q_t is worked out from t = 1 on, it is
  found by going on until q_t(s) >= 1/2.  Where no probability changes any more before that, or LONGEST_WAY steps are
  not enough, T is the number of steps looked ahead by then.  Acting at random lasts S steps.
* *Ties* between equally seldom tried actions are broken at random; in the dynamic programme the first action wins.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, visits_of
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.signals import serve_signals
from aomultirl.exploring.base import Explorer
from aomultirl.exploring.empirical import empirical_rows
from aomultirl.exploring.targets import open_targets

LIKELY = 0.5
"""Where T is not given, the way out is planned for so many steps that it is found with this probability."""
LONGEST_WAY = 1024
"""Where T is not given, plans look at most so many steps ahead, or S where there are more states than that."""
MOST_CELLS = 1 << 24
"""Entries of all the plans of an episode where T is not given: 64 MB, of which only those that are used take memory."""
LEFT, TO_GO, LOOKED, AT_RANDOM, BEGUN = range(5)
"""Cells of ``task``: targets without their visits, steps to go on the way out, how many steps the dynamic programme
looked ahead, 1 where these steps are taken at random, and 1 once the visits from before the phase are booked."""


class PACExploreBehaviour(NamedTuple):
    """PAC-EXPLORE in the middle of an episode.

    table
        table.watch[s]: s is unknown.
    targets
        (S * A,), the pairs to be sampled.
    required
        (S * A,), b(s, a).
    missing
        (S,), how many actions of each state have fewer visits than they need.
    task
        (5,), its cells are LEFT, TO_GO, LOOKED, AT_RANDOM and BEGUN.
    ways
        (T * S,), ways[(t - 1) * S + s] is the action in the known state s with t steps to go.
    horizon
        T; 0 where it is found by planning.
    """

    table: Table
    targets: NDArray[np.bool_]
    required: NDArray[np.int64]
    missing: NDArray[np.int64]
    task: NDArray[np.int64]
    ways: NDArray[np.int32]
    horizon: int


@kernel
def plan_escape(
    counts: Counts, unknown: NDArray[np.bool_], state: int, horizon: int, ways: NDArray[np.int32]
) -> tuple[int, int, float]:
    """Plan the way out of the known states.

    Parameters
    ----------
    counts
        of the episode.
    unknown
        (S,), the states to be reached.
    state
        a known one, from where the way begins.
    horizon
        T, or 0: as many steps as make it LIKELY.
    ways
        as in :class:`PACExploreBehaviour`, filled in.

    Returns
    -------
    (T, t, q): q is the probability of getting out of ``state`` within T steps, and the first t rows of ``ways`` are
    filled in.  Where t < T the row of t holds for more steps to go, too.
    """
    n_states = len(unknown)
    n_actions = len(counts.filled) // n_states
    most = len(ways) // n_states
    starts, states, visits = empirical_rows(counts, ~unknown)
    totals = np.zeros(len(starts) - 1)
    for pair in range(len(totals)):
        for i in range(starts[pair], starts[pair + 1]):
            totals[pair] += visits[i]
    values, fresh = unknown.astype(np.float64), unknown.astype(np.float64)
    spent, t, moved = 0, 0, True
    while moved and t < most:
        row, moved = t * n_states, False
        t += 1
        for s in range(n_states):
            if unknown[s]:
                continue
            spent = serve_signals(spent, starts[(s + 1) * n_actions] - starts[s * n_actions] + n_actions)
            best, action = values[s], np.int32(0) if t == 1 else ways[row - n_states + s]
            for a in range(n_actions):
                pair, q = s * n_actions + a, 0.0
                for i in range(starts[pair], starts[pair + 1]):
                    q += visits[i] / totals[pair] * values[states[i]]
                if q > best:
                    best, action, moved = q, np.int32(a), True
            fresh[s], ways[row + s] = best, action
        values, fresh = fresh, values
        if horizon == 0 and values[state] >= LIKELY:
            return t, t, values[state]
        if t >= n_states and values[state] == 0.0:
            break
    if horizon == 0:
        return (t if values[state] > 0.0 else n_states), t, values[state]
    return horizon, t, values[state]


@kernel
def _prepare(behaviour: PACExploreBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    table, task, ways = behaviour.table, behaviour.task, behaviour.ways
    n_states = len(table.budget)
    if not task[BEGUN]:
        _book_all(behaviour, counts)
    if table.watch[state]:
        _sample_here(behaviour, counts, state, stream)
        return
    if task[TO_GO] == 0:
        task[TO_GO], task[LOOKED], chance = plan_escape(counts, table.watch, state, behaviour.horizon, ways)
        task[AT_RANDOM] = chance == 0.0
    table.budget[state] = 1
    if task[AT_RANDOM]:
        table.plan[state] = len(behaviour.targets) // n_states
    else:
        table.plan[state] = ways[(min(task[TO_GO], task[LOOKED]) - 1) * n_states + state]


@kernel
def _book_all(behaviour: PACExploreBehaviour, counts: Counts) -> None:
    """Book what was visited before the phase: agents that ask for more visits go on with the counts they have."""
    table, task, required = behaviour.table, behaviour.task, behaviour.required
    n_actions = len(required) // len(table.budget)
    task[BEGUN], task[LEFT], behaviour.missing[:] = 1, 0, 0
    for pair in range(len(required)):
        if visits_of(counts, pair) < required[pair]:
            behaviour.missing[pair // n_actions] += 1
            task[LEFT] += behaviour.targets[pair]
    table.watch[:] = behaviour.missing > 0


@kernel
def _sample_here(behaviour: PACExploreBehaviour, counts: Counts, state: int, stream: RandomStream) -> None:
    """The least tried action that needs visits, until another one is tried as seldom or it has them all."""
    table, required = behaviour.table, behaviour.required
    n_actions = len(required) // len(table.budget)
    tried = np.empty(n_actions, np.int64)
    least = second = np.iinfo(np.int64).max
    tied = 0
    for action in range(n_actions):
        pair = state * n_actions + action
        n = visits_of(counts, pair)
        tried[action] = n if n < required[pair] else -1
        if n >= required[pair]:
            continue
        if n < least:
            least, second, tied = n, least, 1
        else:
            tied += n == least
            second = min(second, n)
    skip = 0 if tied == 1 else draw_below(tied, stream)
    for action in range(n_actions):
        if tried[action] == least:
            if skip == 0:
                table.plan[state] = action
                table.budget[state] = max(1, min(second, required[state * n_actions + action]) - least)
                return
            skip -= 1


@kernel
def _attend(
    behaviour: PACExploreBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Count the steps of a way out, which ends in an unknown state; book pairs that have their visits."""
    table, task = behaviour.table, behaviour.task
    table.plan[state] = ASK
    if not table.watch[state]:
        task[TO_GO] = 0 if table.watch[successor] else task[TO_GO] - 1
        return False
    pair = state * (len(behaviour.targets) // len(table.budget)) + action
    if visits_of(counts, pair) >= behaviour.required[pair]:
        behaviour.missing[state] -= 1
        task[LEFT] -= behaviour.targets[pair]
        table.watch[state] = behaviour.missing[state] > 0
    return bool(task[LEFT] == 0)


register(PACExploreBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class PACExplore(Explorer):
    """PAC-EXPLORE, which plans the way out of the states that it knows; no theory bounds its steps with constants.

    Parameters
    ----------
    horizon
        T, the steps for which a way out is planned and followed; twice the diameter where that is known.  None: the
        smallest number of steps within which an unknown state is reached with an estimated probability of at least 1/2.
    enough
        visits of a pair that is no target after which its estimated row may be travelled by; at most N are asked for.
    """

    horizon: int | None = None
    enough: int = 3

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> PACExploreBehaviour:
        n_states = len(targets)
        enough = min(checks.integer("enough", self.enough, least=1), needed)
        if self.horizon is None:
            horizon, rows = 0, min(max(LONGEST_WAY, n_states), max(1, MOST_CELLS // n_states))
        else:
            horizon = rows = checks.integer("horizon", self.horizon, least=1)
            sizes.check(
                "horizon", horizon, 4.0 * horizon * n_states, f"a plan for {horizon} steps in {n_states} states"
            )
        _, flat, _ = open_targets(targets)
        return PACExploreBehaviour(
            empty_table(n_states)._replace(watch=np.ones(n_states, np.bool_)),
            targets=flat,
            required=np.where(flat, needed, enough).astype(np.int64),
            missing=np.full(n_states, targets.shape[1], np.int64),
            task=np.array([flat.sum(), 0, 0, 0, 0], np.int64),
            ways=np.empty(rows * n_states, np.int32),
            horizon=horizon,
        )

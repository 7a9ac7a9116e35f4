"""FW-MODEST and Weighted-MaxEnt (Tarbouriech et al. 2020): occupancies that make estimates good, by Frank-Wolfe.

A stationary occupancy x(s, a) is the share of time that a policy spends on a pair.  With V(s, a) the noise of a row,
sum_s' sqrt(p (1 - p)), an estimate after n steps errs by about V(s, a) / sqrt(n x(s, a)).  The two explorers seek, over
the targets T that still miss visits::

    FW-MODEST         the smallest   sum_T V(s, a) / sqrt(x(s, a))            weights  V+ x^(-3/2)
    Weighted-MaxEnt   the largest    sum_T V(s, a) x(s, a) (1 - ln x(s, a))   weights  V+ (-ln x)

Time goes in episodes k = 1, 2, ... of tau_1 (3 k**2 - 3 k + 1) steps.  In the first one actions are drawn uniformly at
random.  Each later one begins with the weights w, which are the gradient (up to a factor) at the frequencies so far,
x = max(n(s, a) / (t + 1), eta), and follows a policy whose occupancy maximises the linear objective::

    max_y  sum_(s,a) w(s, a) y(s, a)    over the stationary occupancies y of the estimated world,

which is the direction of Frank-Wolfe; the mixture of all the episodes is its iterate.

That linear programme is an average-reward decision process with the rewards w: its largest gain is the objective, and
the occupancy of a policy with that gain attains it.  As compiled code can call no solver, it is solved by relative
value iteration, made aperiodic, started at the values of the time before::

    v(s) <- max_a { w(s, a) + LAZY v(s) + (1 - LAZY) sum_s' P(s' | s, a) v(s') } - min v,

until all values grow at the same rate up to ACCURACY of it.  The tests compare the objective with the one that a solver
for linear programmes finds.

Setting
    One unknown communicating world, no rewards.  The source estimates one world for its whole life, as well as possible
    on average over all pairs; here each episode of the stream explores its world afresh, and only until every target
    has N visits.
What it must be told
    The targets, N and the confidence delta.
Guarantee
    The source's objective approaches its optimum at a rate of about n**(-1/3) (the exponent is from memory).  Nothing
    is promised of the steps until every target has N visits, so there is no bound on them.

What the source leaves open, or was made for another aim, and what is done here.

* *Targets.*  The sums go over the targets that miss visits; a pair that is no target, or has its N, weighs nothing.
* *The length of the episodes* is the one of the earlier FW-AME, as a guess.  A direction can be of no use long before
  its episode is over, so a new one is also sought, within the same episode, when a target has its N visits, and when a
  pair has doubled its visits since the last one, by which the estimated world has changed.
* *Noise.*  V+(s, a) = sum_s' min(1/2, sqrt(phat (1 - phat)) + sqrt(2 ln(2 S A n / delta) / n)), the empirical standard
  deviations with their confidence (Maurer, Pontil 2009), and S / 2 of an unvisited pair.  It is never 0, so that
  targets with a certain outcome are sought, too.
* *The estimated world* is P = (n(s, a, s') + 1 / S) / (n(s, a) + 1): uniform where nothing was seen, as in the source.
  The one pseudo-count that stays has every state in reach, and every action is tried again where nothing else leads on;
  so it stands for the source's bound y >= eta and for its optimistic version, which are not implemented.
* *eta* is FLOOR / (S A), used in the weights only.
* *The entropy.*  The gradient of -V x ln x is -V (ln x + 1), negative where x > 1/e: a single target would be shunned
  for more than half of the time.  x - x ln x, whose gradient is -ln x, has the same maximum where all x sum to one and
  weigh the same.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span, visits_of
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.exploring.base import Explorer
from aomultirl.exploring.empirical import empirical_rows
from aomultirl.exploring.targets import open_targets

LAZY = 0.1
"""The share of staying where one is in value iteration, without which worlds with a period would make it swing."""
ACCURACY = 1e-2
"""Value iteration stops when the gains of all states agree up to this share of the largest."""
MOST_SWEEPS = 2_000
"""Value iteration stops after so many sweeps in any case; what it has found by then is best for as many steps."""
FLOOR = 0.1
"""eta * S * A: a frequency below this share of the uniform one weighs as much as this."""
MODEST, ENTROPY = range(2)
"""The objectives."""
EPISODE, TO_GO = range(2)
"""Cells of ``task``: k, and the steps to go of it."""


class FrankWolfeBehaviour(NamedTuple):
    """Frank-Wolfe over occupancies, in the middle of an episode of the stream.

    table
        table.plan is the direction's policy; every step needs a look.
    targets
        (S * A,), the pairs to be sampled.
    open
        (S + 1,), targets that miss visits in each s, and their sum.
    planned
        (S * A,), visits of each pair when the direction was worked out.
    values
        (S,), relative values of the last direction.
    task
        (2,), its cells are EPISODE and TO_GO.
    needed
        N, visits of every target.
    confidence
        2 S A / delta, in V+.
    first
        tau_1, steps of the first episode.
    objective
        MODEST or ENTROPY.
    """

    table: Table
    targets: NDArray[np.bool_]
    open: NDArray[np.int64]
    planned: NDArray[np.int64]
    values: NDArray[np.float64]
    task: NDArray[np.int64]
    needed: int
    confidence: float
    first: int
    objective: int


@kernel
def noise(counts: Counts, pair: int, n_states: int, confidence: float) -> float:
    """V+ of a pair."""
    n = visits_of(counts, pair)
    if n == 0:
        return 0.5 * n_states
    radius = np.sqrt(2.0 * np.log(confidence * n) / n)
    total, seen = 0.0, 0
    for slot in range(*span(counts, pair)):
        if counts.slots[WORDS * slot] != EMPTY:
            share = counts.slots[WORDS * slot + VISITS] / n
            total += min(0.5, np.sqrt(share * (1.0 - share)) + radius)
            seen += 1
    return float(total + (n_states - seen) * min(0.5, radius))


@kernel
def gradient(behaviour: FrankWolfeBehaviour, counts: Counts) -> NDArray[np.float64]:
    """The weights w, (S * A,), scaled to a largest of 1; 0 for all that is no target or has its visits."""
    n_states, n_pairs = len(behaviour.values), len(behaviour.targets)
    weights = np.zeros(n_pairs)
    steps = 1
    for pair in range(n_pairs):
        steps += visits_of(counts, pair)
    for pair in range(n_pairs):
        n = visits_of(counts, pair)
        if behaviour.targets[pair] and n < behaviour.needed:
            share = max(n / steps, FLOOR / n_pairs)
            slope = share**-1.5 if behaviour.objective == MODEST else -np.log(share)
            weights[pair] = noise(counts, pair, n_states, behaviour.confidence) * slope
    weights /= weights.max()
    return weights


@kernel
def best_occupancy(
    counts: Counts, weights: NDArray[np.float64], values: NDArray[np.float64], plan: NDArray[np.int32], accuracy: float
) -> float:
    """The policy whose stationary occupancy weighs most in the estimated world; its gain is that weight.

    Parameters
    ----------
    counts
        of the episode, for the estimated world.
    weights
        (S * A,), the linear objective.
    values
        (S,), relative values to start from; afterwards those of the policy.
    plan
        (S,), filled with the policy.
    accuracy
        how well the gains of all states must agree, as a share of the largest.
    """
    n_states = len(values)
    n_actions = len(weights) // n_states
    starts, states, visits = empirical_rows(counts, np.ones(n_states, np.bool_))
    scales = np.ones(len(weights))
    for pair in range(len(weights)):
        for i in range(starts[pair], starts[pair + 1]):
            scales[pair] += visits[i]
    fresh, spent, gain = np.empty(n_states), 0, 0.0
    for _ in range(MOST_SWEEPS):
        spent = serve_signals(spent, len(states) + 4 * len(weights))
        anywhere = values.mean()
        lowest, highest = np.inf, -np.inf
        for s in range(n_states):
            best = -np.inf
            for a in range(n_actions):
                pair, ahead = s * n_actions + a, anywhere
                for i in range(starts[pair], starts[pair + 1]):
                    ahead += visits[i] * values[states[i]]
                q = weights[pair] + (1.0 - LAZY) * ahead / scales[pair]
                if q > best:
                    best, plan[s] = q, a
            fresh[s] = best + LAZY * values[s]
            lowest, highest = min(lowest, fresh[s] - values[s]), max(highest, fresh[s] - values[s])
        values[:] = fresh - fresh.min()
        gain = 0.5 * (lowest + highest)
        if highest - lowest <= accuracy * highest:
            break
    return gain


@kernel
def _prepare(behaviour: FrankWolfeBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Begin the next episode where the last one is over, and work out the direction."""
    table, task = behaviour.table, behaviour.task
    if task[TO_GO] == 0:
        task[EPISODE] += 1
        k = task[EPISODE]
        task[TO_GO] = behaviour.first * (3 * k * k - 3 * k + 1)
    if task[EPISODE] == 1:
        table.plan[:] = len(behaviour.targets) // len(table.budget)
        return
    for pair in range(len(behaviour.planned)):
        behaviour.planned[pair] = visits_of(counts, pair)
    best_occupancy(counts, gradient(behaviour, counts), behaviour.values, table.plan, ACCURACY)


@kernel
def _attend(
    behaviour: FrankWolfeBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Count the step; forget the direction where it is over, or where what it was made from has changed."""
    table, task, left = behaviour.table, behaviour.task, behaviour.open
    table.budget[state] = 1
    pair = state * (len(behaviour.targets) // len(table.budget)) + action
    visits = visits_of(counts, pair)
    task[TO_GO] -= 1
    stale = task[TO_GO] == 0 or (task[EPISODE] > 1 and visits >= 2 * behaviour.planned[pair])
    if behaviour.targets[pair] and visits == behaviour.needed:
        left[state] -= 1
        left[-1] -= 1
        table.watch[state] = left[state] > 0
        stale = True
    if stale:
        table.plan[:] = ASK
    return bool(left[-1] == 0)


register(FrankWolfeBehaviour, prepare=_prepare, attend=_attend)


def _frank_wolfe(
    targets: NDArray[np.bool_], needed: int, failure: float, first: int | None, objective: int
) -> FrankWolfeBehaviour:
    """The behaviour of either explorer; done when every target has been visited ``needed`` times."""
    checks.real("failure", failure, above=0.0, below=1.0)
    first = len(targets) if first is None else checks.integer("first", first, least=1, limit=2**31 - 1)
    return FrankWolfeBehaviour(
        *open_targets(targets),
        planned=np.zeros(targets.size, np.int64),
        values=np.zeros(len(targets)),
        task=np.zeros(2, np.int64),
        needed=needed,
        confidence=2.0 * targets.size / failure,
        first=first,
        objective=objective,
    )


@dataclass(frozen=True)
class FWModest(Explorer):
    """FW-MODEST, which shares its time among the targets by how noisy they are and how seldom they were met.

    Parameters
    ----------
    first
        tau_1, steps of the first episode of Frank-Wolfe, in which actions are drawn at random; None for S.
    """

    first: int | None = None

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> FrankWolfeBehaviour:
        return _frank_wolfe(targets, needed, failure, self.first, MODEST)


@dataclass(frozen=True)
class WeightedMaxEnt(Explorer):
    """Weighted-MaxEnt, which spreads its time evenly over the targets, a little more of it where they are noisy.

    Parameters
    ----------
    first
        tau_1, steps of the first episode of Frank-Wolfe, in which actions are drawn at random; None for S.
    """

    first: int | None = None

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> FrankWolfeBehaviour:
        return _frank_wolfe(targets, needed, failure, self.first, ENTROPY)

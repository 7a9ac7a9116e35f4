"""ExploreID, Algorithm 2 of the paper.

With B the transitions of this episode and G(s) the actions a with (s, a) in Gamma and N_B(s, a) < N::

    if G(s) is not empty:  the action of G(s) with the largest N_B(s, a)
    else:                  the action with the largest  sum_s' P_B(s' | s, a) [G(s') is not empty]

It looks one step ahead and plans nothing.  Ties are broken at random (``ties="random"``): breaking them by the first
index can go round in circles for ever.  The authors' code takes the first of several equal *positive* scores
(``ties="released"``).  Where all scores are zero both act uniformly at random; the pseudo-code is silent.

Decisions are kept, not recomputed.  An under-sampled action stays the most advanced one until it has its N samples.
A moving action with score x / n stays the best against the second best y / m for as long as x / (n + j) > y / m, the
worst that j further visits can do to it; scores are compared as fractions of whole numbers, so ties are exact.  A
state without any score acts at random until it is first seen to lead to an under-sampled one.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, theory
from aomultirl.engine.behaviours import ASK, FOREVER, Table, register
from aomultirl.engine.compiling import callee
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span, visits_of
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.exploring.targets import book, forget_ways, open_targets

TIES = ("random", "released")


class ExploreIDBehaviour(NamedTuple):
    """ExploreID in the middle of an episode.

    table
        table.watch[s]: G(s) is not empty.
    targets
        (S * A,), the pairs of Gamma.
    open
        (S + 1,), the size of G(s) for each s, and their sum.
    needed
        N, visits of every pair of Gamma.
    first
        1 where ties go to the first action, else 0.
    """

    table: Table
    targets: NDArray[np.bool_]
    open: NDArray[np.int64]
    needed: int
    first: int


def explore_id(targets: NDArray[np.bool_], needed: int, ties: str = "random") -> ExploreIDBehaviour:
    """The behaviour; done when every target has been visited ``needed`` times.

    Parameters
    ----------
    targets
        (S, A), the pairs of Gamma.
    needed
        N.
    ties
        "random" or "released".
    """
    checks.choice("ties", ties, TIES)
    return ExploreIDBehaviour(*open_targets(targets), needed=needed, first=int(ties == "released"))


@callee
def _score(counts: Counts, watch: NDArray[np.bool_], pair: int) -> tuple[int, int]:
    """(x, n): of n visits of ``pair``, x led to an under-sampled state."""
    hits = total = 0
    for slot in range(*span(counts, pair)):
        successor, visits = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
        if successor != EMPTY:
            total += visits
            if watch[successor]:
                hits += visits
    return hits, total


@callee
def _prepare(behaviour: ExploreIDBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    if behaviour.table.watch[state]:
        _sample_here(behaviour, counts, state, stream)
    else:
        _move_on(behaviour, counts, state, stream)


@callee
def _sample_here(behaviour: ExploreIDBehaviour, counts: Counts, state: int, stream: RandomStream) -> None:
    """The most advanced action of G(s)."""
    table = behaviour.table
    n_actions = len(behaviour.targets) // len(table.budget)
    best, tied = -1, 0
    for action in range(n_actions):
        visits = _advance(behaviour, counts, state * n_actions + action)
        if visits > best:
            best, tied = visits, 1
        elif visits == best:
            tied += 1
    skip = 0 if behaviour.first or tied == 1 else draw_below(tied, stream)
    for action in range(n_actions):
        if _advance(behaviour, counts, state * n_actions + action) == best:
            if skip == 0:
                table.plan[state], table.budget[state] = action, behaviour.needed - best
                return
            skip -= 1


@callee
def _advance(behaviour: ExploreIDBehaviour, counts: Counts, pair: int) -> int:
    """How often a target was visited that needs more; -1 for any other pair."""
    if behaviour.targets[pair]:
        visits = visits_of(counts, pair)
        if visits < behaviour.needed:
            return visits
    return -1


@callee
def _move_on(behaviour: ExploreIDBehaviour, counts: Counts, state: int, stream: RandomStream) -> None:
    """The action most likely to lead to an under-sampled state."""
    table = behaviour.table
    n_actions = len(behaviour.targets) // len(table.budget)
    best, tied = -1, 0
    best_x, best_n, second_x, second_n = 0, 1, 0, 1
    for action in range(n_actions):
        x, n = _score(counts, table.watch, state * n_actions + action)
        if x > 0:
            lead = x * best_n - best_x * n
            if lead > 0:
                second_x, second_n = best_x, best_n
                best, best_x, best_n, tied = action, x, n, 1
            else:
                tied += lead == 0
                if x * second_n > second_x * n:
                    second_x, second_n = x, n
    if best < 0:
        table.plan[state], table.budget[state] = n_actions, FOREVER
    elif tied == 1:
        table.plan[state], table.budget[state] = best, FOREVER
        if second_x > 0:
            table.budget[state] = (best_x * second_n - 1) // second_x - best_n + 1
    else:
        skip = 0 if behaviour.first else draw_below(tied, stream)
        for action in range(n_actions):
            x, n = _score(counts, table.watch, state * n_actions + action)
            if x > 0 and x * best_n == best_x * n:
                if skip == 0:
                    table.plan[state], table.budget[state] = action, 1
                    return
                skip -= 1


@callee
def _attend(
    behaviour: ExploreIDBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Forget the entry of the state; where a target is complete, forget what depended on it."""
    behaviour.table.plan[state] = ASK
    if book(behaviour, counts, state, action):
        forget_ways(behaviour.table)
    return bool(behaviour.open[-1] == 0)


register(ExploreIDBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class ExploreID(Explorer):
    """The paper's explorer, which looks one step ahead and plans nothing.

    Parameters
    ----------
    ties
        "random", or "released": the authors' code takes the first of several equal positive scores.
    """

    needs_hitting_time: ClassVar[bool] = True

    ties: str = "random"

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> ExploreIDBehaviour:
        return explore_id(targets, needed, self.ties)

    def steps(self, exploration: Exploration) -> int:
        """H0 of the paper (Lemma 14), which needs a bound on the hitting time."""
        if exploration.hitting_time is None:
            raise checks.Refusal("hitting_time", "is needed: without it nobody knows how many steps ExploreID takes")
        return theory.clustering_horizon(
            exploration.n_states,
            exploration.pairs,
            exploration.separation,
            exploration.hitting_time,
            exploration.episodes,
            exploration.failure,
            exploration.constants,
            exploration.needed,
        )

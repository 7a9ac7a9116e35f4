"""beta-curious walking (Sun, Huang 2020): ExploreID with states that count as known early.

With n the visits of this episode, G(s) the target actions of s with n(s, a) < N, and a state *known* when the share
``beta`` of its target actions has N visits::

    if G(s) is not empty:  the action of G(s) with the largest n(s, a) (ties="most") or the smallest (ties="least")
    else:                  the action with the largest estimated probability of entering a state that is not known

It looks one step ahead and plans nothing.  With beta = 1 and ties = "most" it is ExploreID, draw for draw.

Setting
    One unknown world in which every policy reaches every state, no rewards.  The source walks through a single world
    for its whole life; here each episode of the stream walks through its world afresh.
What it must be told
    The targets and N; for a bound on the steps, a bound D on the hitting times.
Guarantee
    The source states one with the hitting time of unichain worlds, by the argument that is ExploreID's: every 2 D steps
    an under-sampled pair is met with probability at least 1/2.  That argument does not look at what draws the walk, so
    ExploreID's number of steps holds for all parameters.

What the source leaves open, and what is done here.

* *The role of beta.*  It says when a state stops to draw the walk, and nothing else: whoever stands in a state with an
  under-sampled target action takes it, known or not.  So a small beta first goes to where most is left.
* *Known states with something left.*  With beta < 1 these would draw nobody, and the last targets would be met by
  chance only.  Where no action was ever seen to enter a state that is not known, the action is taken that most
  likely enters one with an under-sampled target; where there is none either, actions are drawn uniformly at random.
* *Which action first.*  The source's rule is not known to us; the paper takes the most tried one and cites this line of
  work.  Equally often tried actions, and equal probabilities, are broken at random; probabilities are compared as
  fractions of whole numbers, so ties are exact.
* *A state without targets* is always known.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, FOREVER, Table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, span, visits_of
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.exploring.explore_id import ExploreID
from aomultirl.exploring.targets import book, open_targets

TIES = ("most", "least")
ROUNDING = 1e-9
"""A share of target actions that misses a whole number by less than this is that number: 0.1 * 30 is not."""


class CuriousWalkBehaviour(NamedTuple):
    """beta-curious walking in the middle of an episode.

    table
        table.watch[s]: G(s) is not empty.
    targets
        (S * A,), the pairs to be sampled.
    open
        (S + 1,), the size of G(s) for each s, and their sum.
    spare
        (S,), the largest size of G(s) at which s counts as known.
    needed
        N, visits of every target.
    least
        1 where the least tried action comes first, 0 where the most tried one does.
    """

    table: Table
    targets: NDArray[np.bool_]
    open: NDArray[np.int64]
    spare: NDArray[np.int64]
    needed: int
    least: int


@kernel
def _prepare(behaviour: CuriousWalkBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    table = behaviour.table
    n_actions = len(behaviour.targets) // len(table.budget)
    table.budget[state] = 1
    above, below = np.zeros(n_actions, np.int64), np.ones(n_actions, np.int64)
    if table.watch[state]:
        for action in range(n_actions):
            pair = state * n_actions + action
            visits = visits_of(counts, pair)
            if behaviour.targets[pair] and visits < behaviour.needed:
                above[action] = behaviour.needed - visits if behaviour.least else visits + 1
        table.plan[state] = _first_of_best(above, below, stream)
        return
    _rate_ways(behaviour, counts, state, above, below)
    if above.max() > 0:
        table.plan[state] = _first_of_best(above, below, stream)
    else:  # at random, until a watched state is met
        table.plan[state], table.budget[state] = n_actions, FOREVER


@kernel
def _rate_ways(
    behaviour: CuriousWalkBehaviour, counts: Counts, state: int, hits: NDArray[np.int64], totals: NDArray[np.int64]
) -> None:
    """hits / totals of each action: how likely it enters a state that is not known, or else one with a target left."""
    n_actions = len(hits)
    to_targets = np.zeros(n_actions, np.int64)
    for action in range(n_actions):
        total = 0
        for slot in range(*span(counts, state * n_actions + action)):
            successor, visits = counts.slots[WORDS * slot], counts.slots[WORDS * slot + VISITS]
            if successor != EMPTY:
                total += visits
                if behaviour.open[successor] > behaviour.spare[successor]:
                    hits[action] += visits
                if behaviour.open[successor] > 0:
                    to_targets[action] += visits
        totals[action] = max(total, 1)
    if hits.max() == 0:
        hits[:] = to_targets


@kernel
def _first_of_best(above: NDArray[np.int64], below: NDArray[np.int64], stream: RandomStream) -> int:
    """The action with the largest above / below; one of several, drawn at random."""
    best = tied = 0
    for action in range(len(above)):
        lead = above[action] * below[best] - above[best] * below[action]
        if lead > 0:
            best, tied = action, 1
        elif lead == 0:
            tied += 1
    skip = 0 if tied == 1 else draw_below(tied, stream)
    for action in range(best, len(above)):
        if above[action] * below[best] == above[best] * below[action]:
            if skip == 0:
                return action
            skip -= 1
    return best


@kernel
def _attend(
    behaviour: CuriousWalkBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Every decision is made anew; states that act at random have nothing near them, whatever is completed."""
    behaviour.table.plan[state] = ASK
    book(behaviour, counts, state, action)
    return bool(behaviour.open[-1] == 0)


register(CuriousWalkBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class CuriousWalk(Explorer):
    """beta-curious walking, which looks one step ahead and is drawn to states where much is left to be sampled.

    Parameters
    ----------
    beta
        the share of a state's target actions that must have their visits for the state to draw nobody any more;
        above 0, at most 1, which is ExploreID.
    ties
        "most" or "least": which under-sampled action of a state comes first, the most or the least tried one.
    """

    needs_hitting_time: ClassVar[bool] = True

    beta: float = 1.0
    ties: str = "most"

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> CuriousWalkBehaviour:
        beta = checks.real("beta", self.beta, above=0.0, most=1.0)
        checks.choice("ties", self.ties, TIES)
        table, flat, left = open_targets(targets)
        enough = np.ceil(beta * left[:-1] - ROUNDING).astype(np.int64)
        return CuriousWalkBehaviour(
            table, flat, left, spare=left[:-1] - enough, needed=needed, least=int(self.ties == "least")
        )

    def steps(self, exploration: Exploration) -> int:
        """H0 of the paper (Lemma 14), whose proof holds for any way of choosing among the under-sampled pairs."""
        return ExploreID().steps(exploration)

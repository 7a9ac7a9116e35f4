"""Plain Q-learning (Watkins 1989): a table of values, epsilon-greedy, from an optimistic start, updated at every step.

After a step from s by a that earned r and led to s', with the n-th update of the pair,

    Q(s, a) += max{1 / n, rate} (r - base + discount max_a' Q(s', a') - Q(s, a)),

where an arrival that ends the episode is worth ``(rest - base) / (1 - discount)`` in place of the maximum: every step
that is left earns the rest.  In every state a uniformly random action is taken with probability epsilon, otherwise one
of the best, at random where several are as good.

Rewards are measured from ``base``, which changes no policy: all values move by base / (1 - discount).  Where episodes
end, it is the rest, so that values are what can still be earned.  Until one has ended, it is the mean reward so far, if
that is more than the rest (reward centring; Naik, Wan, Tomar, Sutton 2024), so that in worlds that go on earning,
values are differences and not the sum of all rewards to come, which a start at anything else would take long to reach.
So one optimistic start serves both: before its first update every pair promises

    Q = optimism max{0, greatest reward - rest}.

Setting: one world, discounted.  Episodes here have H steps and no discount; the table is the same at every step, and
what lies beyond the last step is taken for as valuable as it would be earlier.

Must be told: nothing.

Guarantee: none.  With rates that fall like 1 / n (``rate=0``) and every pair visited for ever, Q converges to the
discounted optimum of one world; nothing is said of how soon, nor of several worlds behind one table.

What was uncertain, and how it was settled.  Rates, epsilon, the discount and the optimism are what everybody chooses
for themselves; these were chosen by trying (``examples/tuning/peers.py``).

Adapted to a stream of tasks: not at all.  Alone it begins anew in every episode, pooled it has one table for all
worlds, told one for each.  It learns from its own steps only: samples that an explorer gathered are counted, and no
value is learned from them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream, draw_below, draw_unit
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.learning.greedy import draw_best
from aomultirl.setting import Setting

STEPS, EARNED, ENDED = range(3)
"""Cells of what was seen so far: how many steps, the rewards added up, and how many episodes ended."""


class QLearningBehaviour(NamedTuple):
    """Q-learning in the middle of an episode.

    table
        asks for the action of every step, and looks at every step.
    q
        (S * A,), the value of every pair, of rewards measured from the base.
    updates
        (S * A,), how often each value was updated.
    so_far
        (3,), STEPS, EARNED and ENDED.
    epsilon
        the probability of a random action.
    rate
        below which the rate of updates does not fall.
    discount
        of the values.
    rest
        what each step after the end of an episode is worth.
    """

    table: Table
    q: NDArray[np.float64]
    updates: NDArray[np.int64]
    so_far: NDArray[np.float64]
    epsilon: float
    rate: float
    discount: float
    rest: float


@kernel
def _prepare(behaviour: QLearningBehaviour, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Choose the action of one step."""
    n_actions = len(behaviour.q) // len(behaviour.table.budget)
    if behaviour.epsilon > 0.0 and draw_unit(stream) < behaviour.epsilon:
        action = draw_below(n_actions, stream)
    else:
        action = draw_best(behaviour.q, state * n_actions, (state + 1) * n_actions, stream)
    behaviour.table.plan[state] = action


@kernel
def _baseline(behaviour: QLearningBehaviour, reward: float, ended: bool) -> float:
    """What rewards are measured from, with one more step: the rest, or their mean where that is more and none ended.

    When the first episode ends, the values that were learned are brought to the new base.
    """
    so_far = behaviour.so_far
    if ended and so_far[ENDED] == 0.0 and so_far[STEPS] > 0.0:
        moved = max(0.0, so_far[EARNED] / so_far[STEPS] - behaviour.rest) / (1.0 - behaviour.discount)
        for pair in range(len(behaviour.q)):
            if behaviour.updates[pair] > 0:
                behaviour.q[pair] += moved
    so_far[STEPS] += 1.0
    so_far[EARNED] += reward
    so_far[ENDED] += ended
    return behaviour.rest if so_far[ENDED] > 0.0 else max(behaviour.rest, so_far[EARNED] / so_far[STEPS])


@kernel
def _attend(
    behaviour: QLearningBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Update the value of the pair."""
    q, table = behaviour.q, behaviour.table
    n_actions = len(q) // len(table.budget)
    pair = state * n_actions + action
    base = _baseline(behaviour, reward, ended)
    ahead = (behaviour.rest - base) / (1.0 - behaviour.discount)
    if not ended:
        ahead = q[successor * n_actions : (successor + 1) * n_actions].max()
    behaviour.updates[pair] += 1
    rate = max(1.0 / behaviour.updates[pair], behaviour.rate)
    q[pair] += rate * (reward - base + behaviour.discount * ahead - q[pair])
    table.plan[state], table.budget[state] = ASK, 1
    return False


register(QLearningBehaviour, prepare=_prepare, attend=_attend)


@dataclass(frozen=True)
class QLearning(Learner):
    """Plain Q-learning, epsilon-greedy from an optimistic start: what most people compare with first; no guarantee.

    The formulas are in :mod:`aomultirl.learning.q_learning`.  The defaults were chosen on the development worlds
    of ``examples/tuning/peers.py``.

    Parameters
    ----------
    epsilon
        the probability of a uniformly random action.
    optimism
        how many of the greatest rewards a pair promises before it was tried.
    rate
        below which the rate of updates, 1 / visits, does not fall.
    discount
        of the values.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.QLearning(), horizon=100, rewards="unknown")
    >>> lake = ao.worlds.from_gymnasium("FrozenLake-v1", terminal="end")
    >>> len(ao.run(agent, lake, ao.streams.uniform(), episodes=3))
    3
    """

    pair_bytes: ClassVar[int] = 64

    epsilon: float = 0.01
    optimism: float = 0.5
    rate: float = 0.3
    discount: float = 0.98

    def begin(self, setting: Setting, horizon: int, share: Share | None = None) -> "QLearningRun":
        """Begin a run; nothing is promised, so no share of a union bound is needed."""
        checks.real("epsilon", self.epsilon, least=0.0, most=1.0)
        checks.real("optimism", self.optimism, least=0.0)
        checks.real("rate", self.rate, least=0.0, most=1.0)
        checks.real("discount", self.discount, least=0.0, below=1.0)
        return QLearningRun(setting, self)

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        steps, earned, ended = own["so_far"]
        return {**own, "q": times * own["q"], "so_far": np.array([steps, times * earned + plus * steps, ended])}


class QLearningRun(Learning):
    """Q-learning in a run: of each world it keeps the values and how often each was updated."""

    learner: QLearning

    def nothing(self) -> Known:
        """Every pair promises the same."""
        rewards, rest = self.setting.rewards, self.setting.rest
        greatest = 1.0 if rewards is None else float(rewards.max())
        known = super().nothing()
        known.own["q"] = np.full(self.setting.n_pairs, self.learner.optimism * max(0.0, greatest - rest))
        known.own["updates"] = np.zeros(self.setting.n_pairs, np.int64)
        known.own["so_far"] = np.zeros(3)
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> QLearningBehaviour:
        learner, own = self.learner, known.own
        return QLearningBehaviour(
            table=empty_table(self.setting.n_states),
            q=own["q"].copy(),
            updates=own["updates"].copy(),
            so_far=own["so_far"].copy(),
            epsilon=float(learner.epsilon),
            rate=float(learner.rate),
            discount=float(learner.discount),
            rest=float(self.setting.rest),
        )

    def learn(self, into: Known, ran: Ran) -> None:
        """Take over the values of the episode, unless somebody else acted in it."""
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, QLearningBehaviour):
            into.own.update(q=behaviour.q, updates=behaviour.updates, so_far=behaviour.so_far)

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The first of the best actions of every state, the same at every step, (S,)."""
        q = known.own["q"].reshape(self.setting.n_states, self.setting.n_actions)
        return np.asarray(q.argmax(axis=1), np.int32)

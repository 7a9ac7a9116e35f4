"""Optimistic Q-learning (Jin, Allen-Zhu, Bubeck, Jordan 2018): a table for every step, and a bonus in every update.

With T = K H, ``iota = ln(S A T M / p_1)`` and the t-th visit of (s, a) at step h, which earned r and led to s',

    Q_h(s, a) += a_t ( r + V_{h+1}(s') + b_t - Q_h(s, a) ),     a_t = (H + 1) / (H + t),
    V_h(s) = min{ H, max_a Q_h(s, a) },   V_H = 0,

from Q = H.  An arrival that ends the episode is worth what is left at rest.  UCB-H has ``b_t = c sqrt(H^3 iota / t)``.
UCB-B knows how much V_{h+1}(s') has varied: with W its empirical variance over the t visits, each as it was then,

    beta_t = min{ c ( sqrt((H / t) (W + H) iota) + sqrt(H^7 S A) iota / t ),  c sqrt(H^3 iota / t) },
    b_1 = beta_1 / 2,      b_t = ( beta_t - (1 - a_t) beta_{t-1} ) / (2 a_t).

Setting: one world that may differ from step to step, episodes of H steps; no model is kept.

Must be told: K, H and the failure probability.

Guarantee, for one world: regret of the order sqrt(H^4 S A T iota) for UCB-H, and sqrt(H^3 S A T iota) with terms of
lower order for UCB-B, for c large enough; the paper names no number, and c = 1 here unless told.

Adapted to a stream of tasks: M worlds that are told apart share the failure probability.  It learns from its own steps
only: samples that an explorer gathered are counted, and no value is learned from them.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Share
from aomultirl.learning.stepwise import TablesByStep, check_tables, choose_by_step, moved_to_range
from aomultirl.setting import Setting

MEAN, SQUARE, BETA = range(3)
"""What UCB-B keeps of every pair and step: V_{h+1}(s') and its square, added up, and beta of the last visit."""


class UcbQBehaviour(NamedTuple):
    """Optimistic Q-learning in the middle of an episode.

    table
        asks for the action of every step, and looks at every step.
    q
        (H, S * A).
    visits
        (H, S * A).
    moments
        (3, H, S * A), MEAN, SQUARE and BETA; (3, 0, 0) for UCB-H.
    iota
        the logarithm.
    scale
        c.
    rest
        what each step after the end of an episode is worth.
    """

    table: Table
    q: NDArray[np.float64]
    visits: NDArray[np.int64]
    moments: NDArray[np.float64]
    iota: float
    scale: float
    rest: float


@kernel
def bernstein_beta(horizon: int, n_pairs: int, t: int, mean: float, square: float, iota: float, scale: float) -> float:
    """beta_t, from V_{h+1}(s') and its square, added up over t visits."""
    varied = max(0.0, square / t - (mean / t) ** 2)
    wide = np.sqrt(horizon / t * (varied + horizon) * iota) + np.sqrt(float(horizon) ** 7 * n_pairs) * iota / t
    return float(scale * min(wide, np.sqrt(float(horizon) ** 3 * iota / t)))


@kernel
def _attend(
    behaviour: UcbQBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Update the value of the pair at this step."""
    q, visits, moments, table = behaviour.q, behaviour.visits, behaviour.moments, behaviour.table
    horizon, n_pairs = q.shape
    n_actions = n_pairs // len(table.budget)
    pair, ahead = state * n_actions + action, 0.0
    if ended:
        ahead = behaviour.rest * (horizon - 1 - step)
    elif step + 1 < horizon:
        ahead = min(float(horizon), q[step + 1, successor * n_actions : (successor + 1) * n_actions].max())
    visits[step, pair] += 1
    t = visits[step, pair]
    rate = (horizon + 1.0) / (horizon + t)
    if moments.shape[1] > 0:
        before = moments[BETA, step, pair]
        moments[MEAN, step, pair] += ahead
        moments[SQUARE, step, pair] += ahead * ahead
        mean, square = moments[MEAN, step, pair], moments[SQUARE, step, pair]
        beta = bernstein_beta(horizon, n_pairs, t, mean, square, behaviour.iota, behaviour.scale)
        moments[BETA, step, pair] = beta
        bonus = beta / 2.0 if t == 1 else (beta - (1.0 - rate) * before) / (2.0 * rate)
    else:
        bonus = behaviour.scale * np.sqrt(float(horizon) ** 3 * behaviour.iota / t)
    q[step, pair] += rate * (reward + ahead + bonus - q[step, pair])
    table.plan[state], table.budget[state] = ASK, 1
    return False


register(UcbQBehaviour, prepare=choose_by_step, attend=_attend)


@dataclass(frozen=True)
class QLearningUCBH(Learner):
    """Q-learning with a bonus by Hoeffding, of Jin, Allen-Zhu, Bubeck and Jordan.

    Guarantee, for one world and c large enough: regret of the order sqrt(H^4 S A T).
    The formulas are in :mod:`aomultirl.learning.ucb_q_learning`.

    Parameters
    ----------
    bonus_scale
        c.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.QLearningUCBH(bonus_scale=0.01), horizon=50, failure=0.1)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    plans_by_step: ClassVar[bool] = True
    by_bernstein: ClassVar[bool] = False

    bonus_scale: float = 1.0

    def begin(self, setting: Setting, horizon: int, share: Share) -> "UcbQLearning":
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        check_tables(horizon, setting, 5.0 if self.by_bernstein else 2.0)
        trials = setting.n_pairs * share.episodes * float(share.steps) * share.models
        return UcbQLearning(setting, self, horizon, math.log(3.0 * trials / share.failure))

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        """Values as if rewards had always been such; bonuses, which do not depend on them, stay in them."""
        moved = {**own, "q": moved_to_range(own["q"], times, plus)}
        if own["moments"].size > 0:
            mean, square, beta = own["moments"]
            visits, left = own["visits"], np.arange(len(mean) - 1, -1.0, -1.0)[:, None]
            more = plus * left
            square = times * times * square + 2.0 * times * more * mean + more * more * visits
            moved["moments"] = np.array([times * mean + more * visits, square, beta])
        return moved


@dataclass(frozen=True)
class QLearningUCBB(QLearningUCBH):
    """Q-learning with a bonus by Bernstein, of Jin, Allen-Zhu, Bubeck and Jordan.

    Guarantee, for one world and c large enough: regret of the order sqrt(H^3 S A T).
    The formulas are in :mod:`aomultirl.learning.ucb_q_learning`.

    Parameters
    ----------
    bonus_scale
        c.
    """

    by_bernstein: ClassVar[bool] = True


class UcbQLearning(TablesByStep):
    """Optimistic Q-learning in a run: of each world it keeps Q, visits and moments by step."""

    learner: QLearningUCBH

    def __init__(self, setting: Setting, learner: QLearningUCBH, horizon: int, iota: float) -> None:
        super().__init__(setting, learner, horizon)
        self._iota = iota

    def nothing(self) -> Known:
        known, shape = super().nothing(), (self._horizon, self.setting.n_pairs)
        known.own["q"] = np.full(shape, float(self._horizon))
        known.own["visits"] = np.zeros(shape, np.int64)
        known.own["moments"] = np.zeros((3, *shape) if self.learner.by_bernstein else (3, 0, 0))
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> UcbQBehaviour:
        return UcbQBehaviour(
            table=empty_table(self.setting.n_states),
            **self.last_steps(known, steps),
            iota=self._iota,
            scale=float(self.learner.bonus_scale),
            rest=float(self.setting.rest),
        )

    def learn(self, into: Known, ran: Ran) -> None:
        """Take over the values of the episode, unless somebody else acted in it."""
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, UcbQBehaviour):
            self.take_over(into, behaviour)

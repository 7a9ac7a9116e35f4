"""EULER (Zanette, Brunskill 2019) and StrongEuler (Simchowitz, Jamieson 2019): bounds from above and from below.

With n(s, a) visits, the empirical transitions P and rewards r, for h = H-1, ..., 0, values Up and Low of the successors
(of step h + 1) and d^2 = sum_y P(y) (Up(y) - Low(y))^2::

    Q_h(s, a) = min{ H - h, r + b_r + P Up + b(Up) + e },       Up_h(s) = max_a Q_h(s, a), at a*,
    Low_h(s)  = max{ 0, r - b_r + P Low - b(Low) - e }          at a*,

and Q = H - h, Low = 0 where n = 0.  Wider bounds from below make the one from above wider: what is not known of the
values of the successors is added to what is not known of the transitions.  EULER, with
``c = ln(4 S A T M / d)``, T = K H and d = p_1 / 7,

    b(V) = sqrt(2 c Var_P[V] / n) + H c / (3 max{1, n - 1}),     b_r = sqrt(2 c v / n) + 7 c / (3 max{1, n - 1}),
    e = sqrt(2 c d^2 / n) + (4 H c / 3 + H sqrt(2 c)) / n.

StrongEuler holds at any time, so it need not know K, and makes every one-step surplus at least 0 ("strong optimism"):
with ``l = ln(10 (S A H)^2 n M / p_1)`` in place of c,

    b(V) = sqrt(2 l Var_P[V] / n) + 8 H l / (3 max{1, n - 1}),     b_r = min{1, the same as above},
    e = sqrt(2 l d^2 / n) + 8 S H l / (3 max{1, n - 1}).

b_r is 0 where rewards are known.  Where they are not, v is r (1 - r), which no variance of rewards in [0, 1] with this
mean exceeds; the papers have the empirical one, which is smaller, and for which every reward would have to be kept.

Settled here, where the constants are uncertain: d is p_1 / 7, as many events as EULER's proof has; the logarithm and
the numbers of StrongEuler are those above, of which only the form is certain.

Setting: one world, stationary, episodes of H steps.

Must be told: H and the failure probability; EULER K as well.

Guarantee, for one world: EULER's regret is of the order sqrt(Q* S A T), at most sqrt(H S A T), and terms that do not
grow with the root of T; StrongEuler's grows with the logarithm of T where every action that is not optimal is worse by
a gap.  None where several worlds are behind one table.

Adapted to a stream of tasks: M worlds that are told apart share the failure probability.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import Fixed, follow
from aomultirl.engine.compiling import kernel
from aomultirl.engine.planning import Transitions
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.base import Known, Learner, Share
from aomultirl.learning.greedy import draw_best
from aomultirl.learning.ucbvi import Estimate, EstimatedLearning, estimate, mean_rewards
from aomultirl.setting import Setting


class Widths(NamedTuple):
    """How wide the bounds of every pair are, (S * A,).

    high, low
        bounds of its reward.
    logs
        what multiplies variances: c, or l.
    linear
        the terms of b and e that fall like 1 / n, together.
    visits
        n.
    """

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    logs: NDArray[np.float64]
    linear: NDArray[np.float64]
    visits: NDArray[np.int64]


@kernel
def plan_between(
    world: Transitions,
    widths: Widths,
    going_on: NDArray[np.float64],
    rest: float,
    scale: float,
    stream: RandomStream,
    plan: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Fill in the plan, (H, S); (Q, (H, S * A), Up and Low, (H + 1, S)).  ``scale`` multiplies b and e."""
    starts, states, probs = world.starts, world.states, world.probs
    horizon, n_states = plan.shape
    n_pairs, spent = len(widths.visits), 0
    n_actions = n_pairs // n_states
    q, lows = np.empty((horizon, n_pairs)), np.empty(n_actions)
    up, low = np.zeros((horizon + 1, n_states)), np.zeros((horizon + 1, n_states))
    for h in range(horizon - 1, -1, -1):
        most, above, below = float(horizon - h), up[h + 1], low[h + 1]
        spent = serve_signals(spent, 48 * n_pairs + 8 * len(probs))
        for s in range(n_states):
            for a in range(n_actions):
                pair = s * n_actions + a
                n = widths.visits[pair]
                if n == 0:
                    q[h, pair], lows[a] = most, 0.0
                    continue
                mean, square, least, least_square, apart = 0.0, 0.0, 0.0, 0.0, 0.0
                for i in range(starts[pair], starts[pair + 1]):
                    u, v = above[states[i]], below[states[i]]
                    mean += probs[i] * u
                    square += probs[i] * u * u
                    least += probs[i] * v
                    least_square += probs[i] * v * v
                    apart += probs[i] * (u - v) * (u - v)
                each = 2.0 * widths.logs[pair] / n
                extra = widths.linear[pair] + np.sqrt(each * apart)
                wide = np.sqrt(each * max(0.0, square - mean * mean)) + extra
                q[h, pair] = min(most, widths.high[pair] + mean + scale * wide)
                wide = np.sqrt(each * max(0.0, least_square - least * least)) + extra
                lows[a] = max(0.0, widths.low[pair] + least - scale * wide)
            action = draw_best(q[h], s * n_actions, (s + 1) * n_actions, stream)
            plan[h, s] = action
            ended = (1.0 - going_on[s]) * rest * most
            up[h, s] = going_on[s] * q[h, s * n_actions + action] + ended
            low[h, s] = going_on[s] * lows[action] + ended
    return q, up, low


@dataclass(frozen=True)
class EULER(Learner):
    """EULER of Zanette and Brunskill, whose bonus shrinks where the values of the successors are alike.

    Guarantee, for one world: regret of the order sqrt(H S A T), and less where the values of successors vary little.
    The formulas are in :mod:`aomultirl.learning.euler`.

    Parameters
    ----------
    bonus_scale
        multiplies every width; 1 is faithful.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.EULER(bonus_scale=0.1), horizon=50, failure=0.1)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    plans_by_step: ClassVar[bool] = True

    bonus_scale: float = 1.0

    def begin(self, setting: Setting, horizon: int, share: Share) -> "EulerLearning":
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        return EulerLearning(setting, self, horizon, share)

    def logarithms(self, visits: NDArray[np.int64], horizon: int, share: Share) -> NDArray[np.float64]:
        """What multiplies variances, of every pair."""
        steps = float(share.episodes) * share.steps
        return np.full(visits.shape, math.log(4.0 * visits.size * steps * share.models * 3.0 * 7.0 / share.failure))

    def linear(
        self, visits: NDArray[np.int64], n_states: int, horizon: int, logs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The terms of both widths that fall like 1 / n."""
        known = horizon * logs / (3.0 * np.maximum(visits - 1, 1))
        extra = (4.0 * horizon * logs / 3.0 + horizon * np.sqrt(2.0 * logs)) / np.maximum(visits, 1)
        return np.asarray(known + extra, np.float64)

    def reward_widths(self, widths: NDArray[np.float64]) -> NDArray[np.float64]:
        """b_r, from the sum of its two terms."""
        return widths


@dataclass(frozen=True)
class StrongEuler(EULER):
    """StrongEuler of Simchowitz and Jamieson: EULER that is optimistic at every step, at any time.

    Guarantee, for one world: regret that grows like the logarithm of T where actions differ by gaps.
    The formulas are in :mod:`aomultirl.learning.euler`.

    Parameters
    ----------
    bonus_scale
        multiplies every width; 1 is faithful.
    """

    def logarithms(self, visits: NDArray[np.int64], horizon: int, share: Share) -> NDArray[np.float64]:
        constant = 10.0 * (visits.size * horizon) ** 2 * share.models * 3.0 / share.failure
        return np.log(constant * np.maximum(visits, 1))

    def linear(
        self, visits: NDArray[np.int64], n_states: int, horizon: int, logs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return 8.0 * horizon * (1.0 + n_states) * logs / (3.0 * np.maximum(visits - 1, 1))

    def reward_widths(self, widths: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.minimum(1.0, widths)


class EulerLearning(EstimatedLearning):
    """EULER or StrongEuler in a run."""

    learner: EULER

    def __init__(self, setting: Setting, learner: EULER, horizon: int, share: Share) -> None:
        super().__init__(setting, learner, share.logarithm(setting.n_pairs))
        self._horizon, self._share = horizon, share

    def act(self, known: Known, steps: int, stream: RandomStream) -> Fixed:
        learned = estimate(self.setting.n_states, known.counts)
        plan = np.zeros((steps, self.setting.n_states), np.int32)
        scale, rest = float(self.learner.bonus_scale), self.setting.rest
        widths = self.widths(learned, known.sums)
        plan_between(learned.transitions, widths, learned.going_on, rest, scale, stream, plan)
        return follow(plan)

    def widths(self, learned: Estimate, sums: NDArray[np.float64]) -> Widths:
        """How wide the bounds are after what was learned."""
        visits, learner, known = learned.visits.reshape(-1), self.learner, self.setting.rewards
        logs = learner.logarithms(visits, self._horizon, self._share)
        linear = learner.linear(visits, self.setting.n_states, self._horizon, logs)
        if known is not None:
            rewards = np.ascontiguousarray(known, np.float64).reshape(-1)
            return Widths(rewards, rewards, logs, linear, visits)
        means = np.clip(mean_rewards(learned, sums).reshape(-1), 0.0, 1.0)
        widths = np.sqrt(2.0 * logs * means * (1.0 - means) / np.maximum(visits, 1))
        widths += 7.0 * logs / (3.0 * np.maximum(visits - 1, 1))
        widths = learner.bonus_scale * learner.reward_widths(widths)
        return Widths(np.minimum(1.0, means + widths), np.maximum(0.0, means - widths), logs, linear, visits)

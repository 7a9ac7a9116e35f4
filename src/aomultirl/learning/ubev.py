"""UBEV (Dann, Lattimore, Brunskill 2017): one run that is PAC for every accuracy, by bounds with an iterated logarithm.

Counts are kept for every step: n(s, a, h) visits, m(s, a, h, s') of them that led to s', and l(s, a, h) rewards added
up.  With ``llnp(x) = ln max{1, ln max{x, e}}`` and

    phi = sqrt( (2 llnp(n) + ln(18 S A H M / p_1)) / n ),     infinite where n = 0,

for h = H-1, ..., 0,

    Q_h(s, a) = min{1, l / n + phi} + min{ max V_{h+1}, (m / n) V_{h+1} + (H - 1 - h) phi },
    V_h(s)    = max_a Q_h(s, a).

Known rewards take the place of the first minimum.  H - 1 - h is the most that can be earned after the step, and
``max V_{h+1}`` the most that it can lead to.

Settled here: the constant in the logarithm is the 18 of the algorithm; code by its first author has 27 or 21.

Setting: one world that may differ from step to step, episodes of H steps.

Must be told: H and the failure probability, neither K nor an accuracy.

Guarantee, for one world: for all accuracies together, the number of episodes that are worse by more than eps is of the
order S A H^4 / eps^2 up to logarithms and terms of lower order, and the regret of the order H^2 sqrt(S A K).

Adapted to a stream of tasks: M worlds that are told apart share the failure probability.  Counts by step waste a factor
of H where the world is the same at every step, as all worlds here are: ``stationary=True`` counts all steps together.
That is no longer UBEV, and learns much sooner.  By step, only episodes in which this learner acted are counted: an
explorer's samples have no step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Share
from aomultirl.learning.greedy import draw_best
from aomultirl.learning.stepwise import ACTION, STATE, SUCCESSOR, StepwiseBehaviour, check_tables, follow_noting
from aomultirl.learning.ucbvi import EstimatedLearning
from aomultirl.setting import Setting

CONSTANT = 18.0
"""In the logarithm."""


@kernel
def iterated_logarithm(x: float) -> float:
    """llnp(x) = ln max{1, ln max{x, e}}."""
    return float(np.log(max(1.0, np.log(max(x, np.e)))))


@kernel
def radius(visits: float, logarithm: float) -> float:
    """phi after so many visits, ``logarithm`` being ln(18 S A H M / p_1)."""
    return float(np.sqrt((2.0 * iterated_logarithm(visits) + logarithm) / visits)) if visits > 0 else np.inf


@kernel
def plan_ubev(
    led: NDArray[np.int64],
    earned: NDArray[np.float64],
    rewards: NDArray[np.float64],
    going_on: NDArray[np.float64],
    rest: float,
    logarithm: float,
    scale: float,
    stream: RandomStream,
    plan: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Fill in the plan, (H, S); Q, (H, S * A).

    Parameters
    ----------
    led
        (H, S * A, S), m; or (1, S * A, S) for all steps together.
    earned
        (H or 1, S * A), l, where rewards are not known.
    rewards
        (S * A,) where they are known, else empty.
    scale
        of phi; 1 is faithful.
    """
    horizon, n_states = plan.shape
    n_pairs, known, spent = led.shape[1], len(rewards) > 0, 0
    n_actions = n_pairs // n_states
    q, following, values = np.empty((horizon, n_pairs)), np.zeros(n_states), np.zeros(n_states)
    for h in range(horizon - 1, -1, -1):
        row, top = min(h, len(led) - 1), following.max()
        spent = serve_signals(spent, n_pairs * (n_states + 16))
        for s in range(n_states):
            for pair in range(s * n_actions, (s + 1) * n_actions):
                n, ahead = 0, 0.0
                for y in range(n_states):
                    n += led[row, pair, y]
                    ahead += led[row, pair, y] * following[y]
                q[h, pair] = (rewards[pair] if known else 1.0) + top
                if n > 0:
                    phi = scale * radius(n, logarithm)
                    gain = rewards[pair] if known else min(1.0, earned[row, pair] / n + phi)
                    q[h, pair] = gain + min(top, ahead / n + (horizon - 1 - h) * phi)
            action = draw_best(q[h], s * n_actions, (s + 1) * n_actions, stream)
            plan[h, s] = action
            values[s] = going_on[s] * q[h, s * n_actions + action] + (1.0 - going_on[s]) * rest * (horizon - h)
        following, values = values, following
    return q


@dataclass(frozen=True)
class UBEV(Learner):
    """UBEV of Dann, Lattimore and Brunskill: counts by step, PAC for every accuracy in one run.

    Guarantee, for one world: at most about S A H^4 / eps^2 episodes are worse than the optimum by more than eps, for
    every eps.  The formulas are in :mod:`aomultirl.learning.ubev`.

    Parameters
    ----------
    bonus_scale
        multiplies phi; 1 is faithful.
    stationary
        whether all steps are counted together, which is no longer UBEV.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.UBEV(stationary=True), horizon=50, failure=0.1)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    plans_by_step: ClassVar[bool] = True

    bonus_scale: float = 1.0
    stationary: bool = False

    def begin(self, setting: Setting, horizon: int, share: Share) -> "UbevLearning":
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        checks.truth("stationary", self.stationary)
        check_tables(1 if self.stationary else horizon, setting, 1.0 + setting.n_states)
        return UbevLearning(setting, self, horizon, share)

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        if not own or own["earned"].size == 0:
            return own
        return {**own, "earned": np.maximum(times * own["earned"] + plus * own["led"].sum(axis=2), 0.0)}


class UbevLearning(EstimatedLearning):
    """UBEV in a run: of each world it keeps where every pair has led at every step, and what it has earned."""

    learner: UBEV

    def __init__(self, setting: Setting, learner: UBEV, horizon: int, share: Share) -> None:
        events = CONSTANT * setting.n_pairs * horizon * share.models
        super().__init__(setting, learner, float(np.log(3.0 * events / share.failure)))
        self._horizon = horizon

    def nothing(self) -> Known:
        known, horizon, setting = super().nothing(), self._horizon, self.setting
        if not self.learner.stationary:
            known.own["led"] = np.zeros((horizon, setting.n_pairs, setting.n_states), np.int64)
            known.own["earned"] = np.zeros((horizon, setting.n_pairs if setting.rewards is None else 0))
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> StepwiseBehaviour:
        setting, plan = self.setting, np.zeros((steps, self.setting.n_states), np.int32)
        if self.learner.stationary:
            led = np.zeros((1, setting.n_pairs, setting.n_states), np.int64)
            starts, states, visits = known.counts.to_lists()
            led[0, np.repeat(np.arange(setting.n_pairs), np.diff(starts)), states] = visits
            earned = known.sums[None]
        else:
            first = self._horizon - steps
            led, earned = known.own["led"][first:], known.own["earned"][first:]
        told = np.empty(0) if setting.rewards is None else np.ascontiguousarray(setting.rewards).reshape(-1)
        going_on, scale = known.counts.going_on(setting.n_states), float(self.learner.bonus_scale)
        plan_ubev(led, earned, told, going_on, setting.rest, self.logarithm, scale, stream, plan)
        return follow_noting(plan)

    def learn(self, into: Known, ran: Ran) -> None:
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, StepwiseBehaviour) and not self.learner.stationary:
            taken, walk = int(behaviour.taken), behaviour.walk
            rows = self._horizon - len(walk) + np.arange(taken)
            pairs = walk[:taken, STATE] * self.setting.n_actions + walk[:taken, ACTION]
            into.own["led"][rows, pairs, walk[:taken, SUCCESSOR]] += 1
            if self.setting.rewards is None:
                into.own["earned"][rows, pairs] += behaviour.earned[:taken]

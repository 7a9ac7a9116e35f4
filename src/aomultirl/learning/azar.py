"""UCBVI as its authors have it (Azar, Osband, Munos 2017): values never rise, and bonuses by Hoeffding or by Bernstein.

With n(s, a) visits, the empirical transitions P and Q' of the episode before, for h = H-1, ..., 0::

    Q_h(s, a) = min{ Q'_h(s, a), H, r(s, a) + P(s, a) V_{h+1} + b_h(s, a) }   where n(s, a) > 0,   H   elsewhere,
    V_h(s)    = max_a Q_h(s, a),     and what is left is worth in a terminal state, without a bonus,

transitions pooled over the steps.  UCBVI-CH has ``b = 7 H L / sqrt(n)``, and UCBVI-BF

    b = sqrt(8 L Var_{y ~ P}[V_{h+1}(y)] / n) + 14 H L / (3 n)
        + sqrt( (8 / n) sum_y P(y) min{ 100^2 H^3 S^2 A L^2 / N_{h+1}(y), H^2 } ),

where N_h(y) counts the earlier episodes that were in y at step h.  The last term is left out at the last step, after
which nothing is worth anything.  (The paper's algorithm has H^3 in it and parts of its proof H^2; H^2 outside is the
smaller one at any size that can be run, so nothing depends on it.)

Setting: one world, stationary, episodes of H steps, rewards known.

Must be told: K, H and the failure probability, in ``L = ln(5 S A K H M / p_1)``.

Guarantee, with probability 1 - p_1 and M = 1, of the regret in one world: 20 H^{3/2} L sqrt(S A K) + 250 H^2 S^2 A L^2
for UCBVI-CH, 30 H L sqrt(S A K) + 2500 H^2 S^2 A L^2 + 4 H^{3/2} sqrt(K L) for UCBVI-BF.  None where several worlds
are behind one table.

Adapted to a stream of tasks: M worlds that are told apart share the failure probability.  Unknown rewards are estimated
as :class:`aomultirl.learning.UCBVI` does.  N_h(y) counts episodes in which this learner acted: of samples that an
explorer gathered, the transitions count, and the steps at which they were gathered do not.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.compiling import kernel
from aomultirl.engine.planning import Transitions
from aomultirl.engine.random import RandomStream
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.stepping import Ran
from aomultirl.learning.base import Known, Learner, Share
from aomultirl.learning.greedy import draw_best
from aomultirl.learning.stepwise import STATE, StepwiseBehaviour, check_tables, follow_noting, moved_to_range
from aomultirl.learning.ucbvi import EstimatedLearning, estimate
from aomultirl.setting import Setting


@kernel
def plan_monotone(
    world: Transitions,
    rewards: NDArray[np.float64],
    visits: NDArray[np.int64],
    going_on: NDArray[np.float64],
    rest: float,
    logarithm: float,
    scale: float,
    occupied: NDArray[np.int64],
    stream: RandomStream,
    q: NDArray[np.float64],
    plan: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Lower ``q``, (H, S * A), that of the episode before, to that of this one, and fill in its plan; V, (H + 1, S).

    Parameters
    ----------
    rewards, visits
        (S * A,), upper bounds where they are not known; n.
    scale
        of the bonus; 1 is faithful.
    occupied
        (H, S), N_h(y), for the bonus by Bernstein; (0, 0) for that by Hoeffding.
    """
    starts, states, probs = world.starts, world.states, world.probs
    horizon, n_states = plan.shape
    n_actions, by_bernstein, spent = len(rewards) // n_states, len(occupied) > 0, 0
    most, values, doubt = float(horizon), np.zeros((horizon + 1, n_states)), np.zeros(n_states)
    unknown = 1e4 * most**3 * n_states**2 * n_actions * logarithm**2
    for h in range(horizon - 1, -1, -1):
        following = values[h + 1]
        spent = serve_signals(spent, 32 * len(rewards) + 4 * len(probs))
        if by_bernstein:
            for y in range(n_states):
                doubt[y] = 0.0 if h == horizon - 1 else most * most
                if h < horizon - 1 and occupied[h + 1, y] > 0:
                    doubt[y] = min(unknown / occupied[h + 1, y], most * most)
        for s in range(n_states):
            for pair in range(s * n_actions, (s + 1) * n_actions):
                n = visits[pair]
                if n == 0:
                    q[h, pair] = min(q[h, pair], most)
                    continue
                mean, square, doubted = 0.0, 0.0, 0.0
                for i in range(starts[pair], starts[pair + 1]):
                    v = following[states[i]]
                    mean += probs[i] * v
                    square += probs[i] * v * v
                    doubted += probs[i] * doubt[states[i]]
                if by_bernstein:
                    bonus = np.sqrt(8.0 * logarithm * max(0.0, square - mean * mean) / n)
                    bonus += 14.0 * most * logarithm / (3.0 * n) + np.sqrt(8.0 * doubted / n)
                else:
                    bonus = 7.0 * most * logarithm / np.sqrt(n)
                q[h, pair] = min(q[h, pair], most, rewards[pair] + mean + scale * bonus)
            action = draw_best(q[h], s * n_actions, (s + 1) * n_actions, stream)
            plan[h, s] = action
            ended = rest * (horizon - h)
            values[h, s] = going_on[s] * q[h, s * n_actions + action] + (1.0 - going_on[s]) * ended
    return values


@dataclass(frozen=True)
class UCBVICH(Learner):
    """UCBVI-CH of Azar, Osband and Munos, whose values never rise; :class:`UCBVI` is what the paper makes of it.

    Guarantee, for one world: regret of the order H^{3/2} L sqrt(S A K).
    The formulas are in :mod:`aomultirl.learning.azar`.

    Parameters
    ----------
    bonus_scale
        multiplies the bonus; 1 is faithful.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.Pooled(ao.learning.UCBVICH(bonus_scale=0.01), horizon=50, failure=0.1)
    >>> len(ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3))
    3
    """

    plans_by_step: ClassVar[bool] = True
    by_bernstein: ClassVar[bool] = False

    bonus_scale: float = 1.0

    def begin(self, setting: Setting, horizon: int, share: Share) -> "MonotoneLearning":
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        check_tables(horizon, setting, 1.0)
        return MonotoneLearning(setting, self, horizon, share.logarithm(setting.n_pairs))

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        return {**own, "q": moved_to_range(own["q"], times, plus)}


@dataclass(frozen=True)
class UCBVIBF(UCBVICH):
    """UCBVI-BF of Azar, Osband and Munos: the bonus knows how much the values of the successors vary.

    Guarantee, for one world: regret of the order H L sqrt(S A K).  The formulas are in :mod:`aomultirl.learning.azar`.

    Parameters
    ----------
    bonus_scale
        multiplies the bonus; 1 is faithful.
    """

    by_bernstein: ClassVar[bool] = True


class MonotoneLearning(EstimatedLearning):
    """UCBVI-CH or UCBVI-BF in a run: of each world it keeps Q and how often episodes were in a state at a step."""

    learner: UCBVICH

    def __init__(self, setting: Setting, learner: UCBVICH, horizon: int, logarithm: float) -> None:
        super().__init__(setting, learner, logarithm)
        self._horizon = horizon

    def nothing(self) -> Known:
        known, horizon = super().nothing(), self._horizon
        known.own["q"] = np.full((horizon, self.setting.n_pairs), float(horizon))
        known.own["occupied"] = np.zeros((horizon if self.learner.by_bernstein else 0, self.setting.n_states), np.int64)
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> StepwiseBehaviour:
        learned, own, first = estimate(self.setting.n_states, known.counts), known.own, self._horizon - steps
        q, plan = own["q"][first:].copy(), np.zeros((steps, self.setting.n_states), np.int32)
        plan_monotone(
            learned.transitions,
            np.ascontiguousarray(self.upper_rewards(learned, known.sums)).reshape(-1),
            learned.visits.reshape(-1),
            learned.going_on,
            self.setting.rest,
            self.logarithm,
            float(self.learner.bonus_scale),
            own["occupied"][first:],
            stream,
            q,
            plan,
        )
        return follow_noting(plan, q)

    def learn(self, into: Known, ran: Ran) -> None:
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, StepwiseBehaviour):
            own, taken = into.own, int(behaviour.taken)
            first = self._horizon - len(behaviour.q)
            own["q"] = np.concatenate([own["q"][:first], behaviour.q])
            if len(own["occupied"]) > 0:
                own["occupied"][first + np.arange(taken), behaviour.walk[:taken, STATE]] += 1

"""Optimistic Q-learning in stages: what RestartQ-UCB does within one of its epochs (Mao et al. 2021).

The visits of (s, a) at step h come in stages of e_1 = H, e_{i+1} = floor((1 + 1/H) e_i).  From Q_h = H - h + 1 on, the
values change when a stage ends, and from the samples of this stage alone.  With n_c visits in the stage, which earned r
and led to s', V_h = max_a Q_h and iota = ln(2 S A T M / p_1),

    Q_h(s, a) = min{ Q_h(s, a),  mean r + mean V_{h+1}(s') + b + 2 b_Delta },
    b = c ( sqrt(H^2 iota / n_c) + sqrt(iota / n_c) ).

The variant by Freedman has a second candidate in the minimum.  V_ref is V as it was when the state had been visited N_0
times at this step.  With n visits since the start, the mean and the variance v_ref of V_ref(s') over all of them, and
those of V(s') - V_ref(s') over the stage, v_adv,

    mean r + mean V_ref(s') + mean (V - V_ref)(s') + 2 b_2 + 4 b_Delta,
    b_2 = c ( 2 sqrt(v_ref iota / n) + 2 sqrt(v_adv iota / n_c) + sqrt(iota / n_c)
              + 5 H ( iota / n + iota / n_c + (iota / n)^(3/4) + (iota / n_c)^(3/4) ) ).

Setting: worlds that drift, and may differ from step to step; no model is kept.

Must be told: K, H, the failure probability, and b_Delta, a bound on what the drift since the start can do to the value
of a pair, 0 where there is none.

Guarantee: none by itself, see :mod:`aomultirl.agents.restart_q_ucb`.

Adapted to a stream of tasks: an arrival that ends the episode is worth what is left at rest, in V and in V_ref.  It
learns from its own steps only: samples that an explorer gathered are counted, and no value is learned from them.

What was uncertain, and how it was settled.  The paper's iota is ln(2 / delta), with a union bound outside; here it is
inside, p_1 = p / 3 as for all learners.  N_0 is of the order S A H^6 iota; here the factor is 1.  Until then V_ref is
H - h + 1 and not H, which is as optimistic, and less far off.  c multiplies all that optimism adds, b_Delta too.
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
from aomultirl.theory.variation import VARIANTS

IN_STAGE, LENGTH, VISITS = range(3)
"""Rows of what is counted of every pair and step: visits in this stage, the length of the stage, visits in all."""
REWARD, AHEAD = range(2)
"""Rows of what is added up in a stage: rewards, and V of the successors."""
REFERENCE, REFERENCE_SQUARE, ADVANTAGE, ADVANTAGE_SQUARE = range(4)
"""Rows of what Freedman adds up: V_ref and its square over all visits, V - V_ref and its square in the stage."""
LONGEST_WAIT = 2**62
"""Visits that no state gets: N_0 where the formula is beyond whole numbers."""


class StagedQBehaviour(NamedTuple):
    """Q-learning in stages, in the middle of an episode.

    table
        asks for the action of every step, and looks at every step.
    q
        (H, S * A).
    visits
        (3, H, S * A): IN_STAGE, LENGTH and VISITS.
    sums
        (2, H, S * A): REWARD and AHEAD.
    moments
        (4, H, S * A), as named above; (4, 0, 0) without Freedman.
    reference
        (H, S), V_ref; (0, 0) without Freedman.
    horizon
        H of the stages.
    freeze
        N_0, the visits of a state at a step at which its V_ref is settled.
    iota
        the logarithm.
    scale
        c.
    drift
        b_Delta.
    rest
        what each step after the end of an episode is worth.
    """

    table: Table
    q: NDArray[np.float64]
    visits: NDArray[np.int64]
    sums: NDArray[np.float64]
    moments: NDArray[np.float64]
    reference: NDArray[np.float64]
    horizon: int
    freeze: int
    iota: float
    scale: float
    drift: float
    rest: float


@kernel
def _variance(total: float, squares: float, count: float) -> float:
    return max(0.0, squares / count - (total / count) ** 2)


@kernel
def _freedman_candidate(behaviour: StagedQBehaviour, step: int, pair: int) -> float:
    """The second candidate of the minimum, at the end of a stage."""
    moments, horizon, iota = behaviour.moments, float(behaviour.horizon), behaviour.iota
    stage, n = float(behaviour.visits[IN_STAGE, step, pair]), float(behaviour.visits[VISITS, step, pair])
    reference, advantage = moments[REFERENCE, step, pair], moments[ADVANTAGE, step, pair]
    bonus = 2.0 * np.sqrt(_variance(reference, moments[REFERENCE_SQUARE, step, pair], n) * iota / n)
    bonus += 2.0 * np.sqrt(_variance(advantage, moments[ADVANTAGE_SQUARE, step, pair], stage) * iota / stage)
    bonus += 5.0 * horizon * (iota / n + iota / stage + (iota / n) ** 0.75 + (iota / stage) ** 0.75)
    bonus += np.sqrt(iota / stage)
    optimism = behaviour.scale * (2.0 * bonus + 4.0 * behaviour.drift)
    return float(behaviour.sums[REWARD, step, pair] / stage + reference / n + advantage / stage + optimism)


@kernel
def _end_stage(behaviour: StagedQBehaviour, step: int, pair: int) -> None:
    """Update the value of the pair at this step, and begin its next stage."""
    visits, sums, moments = behaviour.visits, behaviour.sums, behaviour.moments
    stage = float(visits[IN_STAGE, step, pair])
    root = np.sqrt(behaviour.iota / stage)
    optimism = behaviour.scale * (behaviour.horizon * root + root + 2.0 * behaviour.drift)
    value = (sums[REWARD, step, pair] + sums[AHEAD, step, pair]) / stage + optimism
    if moments.shape[1] > 0:
        value = min(value, _freedman_candidate(behaviour, step, pair))
        moments[ADVANTAGE, step, pair] = moments[ADVANTAGE_SQUARE, step, pair] = 0.0
    behaviour.q[step, pair] = min(behaviour.q[step, pair], value)
    sums[REWARD, step, pair] = sums[AHEAD, step, pair] = 0.0
    visits[IN_STAGE, step, pair] = 0
    visits[LENGTH, step, pair] += visits[LENGTH, step, pair] // behaviour.horizon


@kernel
def _attend(
    behaviour: StagedQBehaviour,
    counts: Counts,
    step: int,
    state: int,
    action: int,
    successor: int,
    reward: float,
    ended: bool,
) -> bool:
    """Add up what the step has shown; the value of the pair changes where its stage ends."""
    q, visits, moments, table = behaviour.q, behaviour.visits, behaviour.moments, behaviour.table
    steps, n_pairs = q.shape
    n_actions = n_pairs // len(table.budget)
    first, by_freedman = state * n_actions, moments.shape[1] > 0
    pair, ahead, reference = first + action, 0.0, 0.0
    if ended:
        ahead = behaviour.rest * (steps - 1 - step)
        reference = ahead
    elif step + 1 < steps:
        ahead = q[step + 1, successor * n_actions : (successor + 1) * n_actions].max()
        if by_freedman:
            reference = behaviour.reference[step + 1, successor]
    visits[IN_STAGE, step, pair] += 1
    visits[VISITS, step, pair] += 1
    behaviour.sums[REWARD, step, pair] += reward
    behaviour.sums[AHEAD, step, pair] += ahead
    if by_freedman:
        moments[REFERENCE, step, pair] += reference
        moments[REFERENCE_SQUARE, step, pair] += reference * reference
        moments[ADVANTAGE, step, pair] += ahead - reference
        moments[ADVANTAGE_SQUARE, step, pair] += (ahead - reference) ** 2
    if visits[IN_STAGE, step, pair] == visits[LENGTH, step, pair]:
        _end_stage(behaviour, step, pair)
    if by_freedman and visits[VISITS, step, first : first + n_actions].sum() == behaviour.freeze:
        behaviour.reference[step, state] = q[step, first : first + n_actions].max()
    table.plan[state], table.budget[state] = ASK, 1
    return False


register(StagedQBehaviour, prepare=choose_by_step, attend=_attend)


def stage_ends(horizon: int, count: int) -> list[int]:
    """The visits after which the first ``count`` stages end: e_1, e_1 + e_2, and so on.

    Examples
    --------
    >>> stage_ends(3, 8)
    [3, 7, 12, 18, 26, 36, 49, 66]
    """
    ends, total, length = [], 0, checks.integer("horizon", horizon, least=1)
    for _ in range(count):
        total += length
        length += length // horizon
        ends.append(total)
    return ends


@dataclass(frozen=True)
class StagedQLearning(Learner):
    """Q-learning in stages: a part of :class:`aomultirl.agents.RestartQUCB`, which says when to begin anew.

    Parameters
    ----------
    variant
        "hoeffding" or "freedman".
    bonus_scale
        c.
    drift
        b_Delta.
    reference_visits
        N_0; by default S A H^6 iota.
    """

    plans_by_step: ClassVar[bool] = True

    variant: str = "hoeffding"
    bonus_scale: float = 1.0
    drift: float = 0.0
    reference_visits: int | None = None

    def begin(self, setting: Setting, horizon: int, share: Share) -> "StagedQRun":
        by_freedman = checks.choice("variant", self.variant, VARIANTS) == "freedman"
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        checks.real("drift", self.drift, least=0.0)
        if self.reference_visits is not None:
            checks.integer("reference_visits", self.reference_visits, least=1)
        check_tables(horizon, setting, 22.0 if by_freedman else 12.0)
        trials = setting.n_pairs * share.episodes * float(share.steps) * share.models
        return StagedQRun(setting, self, horizon, math.log(2.0 * 3.0 * trials / share.failure))

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        """Values and sums as if rewards had always been such; bonuses, which do not depend on them, stay in them."""
        in_stage, _, visits = own["visits"]
        reward, ahead = own["sums"]
        more = plus * np.arange(len(reward) - 1, -1.0, -1.0)[:, None]
        moved = {**own, "q": moved_to_range(own["q"], times, plus)}
        moved["sums"] = np.array([times * reward + plus * in_stage, times * ahead + more * in_stage])
        if own["moments"].size > 0:
            reference, square, advantage, advantage_square = own["moments"]
            square = times * times * square + 2.0 * times * more * reference + more * more * visits
            reference = times * reference + more * visits
            moved["moments"] = np.array([reference, square, times * advantage, times * times * advantage_square])
            moved["reference"] = moved_to_range(own["reference"], times, plus)
        return moved


class StagedQRun(TablesByStep):
    """Q-learning in stages in a run: of each world it keeps Q, V_ref, and what the stages have counted and added up."""

    learner: StagedQLearning

    def __init__(self, setting: Setting, learner: StagedQLearning, horizon: int, iota: float) -> None:
        super().__init__(setting, learner, horizon)
        self._iota = iota
        wait = setting.n_pairs * float(horizon) ** 6 * iota
        self._freeze = learner.reference_visits or math.ceil(min(wait, float(LONGEST_WAIT)))

    def nothing(self) -> Known:
        known, shape = super().nothing(), (self._horizon, self.setting.n_pairs)
        left = np.arange(self._horizon, 0.0, -1.0)[:, None]
        by_freedman = self.learner.variant == "freedman"
        visits = np.zeros((3, *shape), np.int64)
        visits[LENGTH] = self._horizon
        known.own["q"] = np.broadcast_to(left, shape).copy()
        known.own["visits"] = visits
        known.own["sums"] = np.zeros((2, *shape))
        known.own["moments"] = np.zeros((4, *shape) if by_freedman else (4, 0, 0))
        known.own["reference"] = np.repeat(left, self.setting.n_states, axis=1) if by_freedman else np.zeros((0, 0))
        return known

    def act(self, known: Known, steps: int, stream: RandomStream) -> StagedQBehaviour:
        return StagedQBehaviour(
            table=empty_table(self.setting.n_states),
            **self.last_steps(known, steps),
            horizon=self._horizon,
            freeze=self._freeze,
            iota=self._iota,
            scale=float(self.learner.bonus_scale),
            drift=float(self.learner.drift),
            rest=float(self.setting.rest),
        )

    def learn(self, into: Known, ran: Ran) -> None:
        """Take over the values of the episode, unless somebody else acted in it."""
        super().learn(into, ran)
        behaviour = ran.phase.behaviour
        if isinstance(behaviour, StagedQBehaviour):
            self.take_over(into, behaviour)

"""UCBVI-CH as the paper uses it (Appendix F; errata E8, E9, E27).

With n(s, a) visits, the empirical transitions P and the bonus b(n), for h = H-1, ..., 0::

    Q_h(s, a) = min{ cap, r(s, a) + P(s, a) V_{h+1} + b(n(s, a)) }   where n(s, a) > 0,   cap   elsewhere,
    V_h(s)    = max_a Q_h(s, a),     and what is left is worth in a terminal state, without a bonus,

transitions pooled over the steps, planned once before the phase begins.  The cap is H (the paper), or H - h, which
is valid and tighter.  Unlike Azar et al. there is no minimum with the previous episode's Q.

Ties are broken at random.  A state and step is met at most once an episode, so breaking them while planning is the
same as breaking them while acting; where all actions tie, the plan says "at random" and the draw is left to the step.
A bonus at or above the cap everywhere makes every value the cap: then nothing is planned at all.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.behaviours import Fixed, follow
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable, merged
from aomultirl.engine.planning import Transitions, expect_row
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.signals import serve_signals
from aomultirl.learning.base import Known, Learner, Learning, Share
from aomultirl.setting import Setting
from aomultirl.theory.bounds import bonus_for

U = np.uint64


@dataclass(frozen=True)
class Estimate:
    """What was learned of one world.

    transitions
        the empirical ones.
    visits
        (S, A).
    going_on
        (S,), how often the episode goes on after an arrival; 0 in terminal states.
    """

    transitions: Transitions
    visits: NDArray[np.int64]
    going_on: NDArray[np.float64]


def estimate(n_states: int, *tables: CountTable) -> Estimate:
    """The estimate from all transitions in the tables together."""
    every = merged(tables)
    starts, states, counts = every.to_lists()
    visits = np.add.reduceat(np.append(counts, 0), starts[:-1]) * (np.diff(starts) > 0)
    probs = counts / np.repeat(visits, np.diff(starts))
    rows = Transitions(starts, states, probs, np.empty((0, 0)))
    return Estimate(rows, visits.reshape(n_states, -1), every.going_on(n_states))


@kernel
def _plan(
    world: Transitions,
    gains: NDArray[np.float64],
    caps: NDArray[np.float64],
    going_on: NDArray[np.float64],
    rest: float,
    stream: RandomStream,
    values: NDArray[np.float64],
    plan: NDArray[np.int32],
) -> None:
    starts, states, probs = world.starts, world.states, world.probs
    n_states = values.shape[1]
    n_actions = len(gains) // n_states
    q, spent = np.empty(n_actions), 0
    for h in range(len(caps) - 1, -1, -1):
        following = values[h + 1]
        spent = serve_signals(spent, 16 * len(gains) + len(probs))
        for s in range(n_states):
            best, tied, chosen = -np.inf, 0, 0
            for a in range(n_actions):
                pair = U(s * n_actions + a)
                worth = gains[pair] + expect_row(starts, states, probs, following, pair)
                q[a] = worth if worth < caps[h] else caps[h]
                if q[a] > best:
                    best, tied, chosen = q[a], 1, a
                elif q[a] == best:
                    tied += 1
            values[h, s] = going_on[s] * best + (1.0 - going_on[s]) * rest * (len(caps) - h)
            if tied == n_actions and n_actions > 1:
                chosen = n_actions
            elif tied > 1:
                skip = draw_below(tied, stream)
                for a in range(n_actions):
                    if q[a] == best:
                        if skip == 0:
                            chosen = a
                            break
                        skip -= 1
            plan[h, s] = chosen


@dataclass(frozen=True)
class UCBVI(Learner):
    """UCBVI-CH, the learner of the paper.

    Parameters
    ----------
    bonus
        "paper": 7 H L / sqrt(n); "released", what the authors ran: H sqrt(2 H L / n) + 2 H L / (3 n).
    bonus_scale
        multiplies the bonus; 1 is faithful, and at the paper's sizes it leaves the learner acting at random.
    cap
        "horizon": H; "remaining": H - h.
    """

    plans_by_step: ClassVar[bool] = True

    bonus: str = "paper"
    bonus_scale: float = 1.0
    cap: str = "horizon"

    def begin(self, setting: Setting, horizon: int, share: Share) -> "UCBVILearning":
        checks.choice("bonus", self.bonus, ("paper", "released"))
        checks.choice("cap", self.cap, ("horizon", "remaining"))
        checks.real("bonus_scale", self.bonus_scale, least=0.0)
        return UCBVILearning(setting, self, share.logarithm(setting.n_pairs))


class EstimatedLearning(Learning):
    """A learner that plans before every episode, in what was counted, with upper bounds.

    Unknown rewards are estimated by their means, and made optimistic with ``sqrt(L / (2 n))``: by Hoeffding's
    inequality a mean of n rewards in [0, 1] is off by more with probability ``2 exp(-L)``, so with
    ``L = ln(5 S A K H M / p_1)`` all pairs, numbers of visits and worlds together fail with probability below p_1.

    Attributes
    ----------
    logarithm
        L.
    """

    learner: Any

    def __init__(self, setting: Setting, learner: Any, logarithm: float) -> None:
        super().__init__(setting, learner)
        self.logarithm = logarithm

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        learned = estimate(self.setting.n_states, known.counts)
        rewards = self.setting.rewards
        return self.greedy(learned, mean_rewards(learned, known.sums) if rewards is None else rewards, steps, stream)

    def upper_rewards(self, learned: Estimate, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rewards where they are known, upper bounds on them where they are not, (S, A)."""
        if self.setting.rewards is not None:
            return self.setting.rewards
        radius = np.sqrt(self.logarithm / (2.0 * np.maximum(learned.visits, 1)))
        upper: NDArray[np.float64] = np.minimum(1.0, mean_rewards(learned, sums) + self.learner.bonus_scale * radius)
        return upper

    def greedy(
        self, learned: Estimate, rewards: NDArray[np.float64], horizon: int, stream: RandomStream
    ) -> NDArray[np.int32]:
        """The plan that is best for the estimate as it is, without a bonus, (H, S); unvisited pairs lead nowhere."""
        return self._planned(learned, rewards, np.full(horizon, np.inf), stream)

    def _planned(
        self, learned: Estimate, gains: NDArray[np.float64], caps: NDArray[np.float64], stream: RandomStream
    ) -> NDArray[np.int32]:
        values, plan = np.zeros((len(caps) + 1, len(gains))), np.zeros((len(caps), len(gains)), np.int32)
        flat = np.ascontiguousarray(gains).reshape(-1)
        _plan(learned.transitions, flat, caps, learned.going_on, self.setting.rest, stream, values, plan)
        return plan


class UCBVILearning(EstimatedLearning):
    """UCBVI in a run."""

    learner: UCBVI

    def act(self, known: Known, steps: int, stream: RandomStream) -> Fixed:
        learned = estimate(self.setting.n_states, known.counts)
        return follow(self.optimistic(learned, self.upper_rewards(learned, known.sums), steps, stream))

    def caps(self, horizon: int) -> NDArray[np.float64]:
        """Upper bounds on Q, (H,)."""
        return np.full(horizon, float(horizon)) if self.learner.cap == "horizon" else np.arange(horizon, 0, -1.0)

    def optimistic(
        self, learned: Estimate, rewards: NDArray[np.float64], horizon: int, stream: RandomStream
    ) -> NDArray[np.int32]:
        """The plan that the bonus makes optimistic, (H, S), or (S,) where it is the same at every step.

        ``rewards``, (S, A), are upper bounds where they are not known.
        """
        n_states, n_actions = rewards.shape
        blind = np.full(n_states, n_actions if n_actions > 1 else 0, np.int32)
        if horizon == 0:
            return blind
        extra = bonus_for(learned.visits, horizon, self.logarithm, self.learner.bonus)
        gains = rewards + (self.learner.bonus_scale * np.where(learned.visits > 0, extra, 0.0))
        gains[learned.visits == 0] = np.inf
        caps = self.caps(horizon)
        if gains.min() >= caps[0] and learned.going_on.min() == 1.0:
            return blind
        return self._planned(learned, gains, caps, stream)


def mean_rewards(learned: Estimate, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean reward of every pair, (S, A); 0 where it was never visited."""
    return sums.reshape(learned.visits.shape) / np.maximum(learned.visits, 1)

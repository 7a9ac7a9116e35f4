"""RestartQ-UCB (Mao, Zhang, Zhu, Simchi-Levi, Basar 2021): forget everything on a schedule.

The K episodes are cut into D epochs of ceil(K / D).  Each begins with empty tables and runs the Q-learning in stages of
:mod:`aomultirl.learning.restart_q`; D is chosen for the variation budget Delta
(:func:`aomultirl.theory.restart_q_epochs`): the more the world varies, the shorter the epochs.

Setting: one world that drifts, a little from episode to episode, or much and rarely; all is measured by Delta.

Must be told: Delta, K, H and the failure probability.

Guarantee: dynamic regret of the order S^(1/3) A^(1/3) Delta^(1/3) H^(5/3) T^(2/3) with bonuses by Hoeffding, and H in
place of H^(5/3) with those by Freedman, up to constants and logarithms (:func:`aomultirl.theory.restart_q_bound`), for
bonus_scale = 1 and budgets that are true in every epoch.

Adapted to a stream of tasks: the worlds of a stream are the drift, and ``theory.variation_budget(models, tasks, H)`` is
its Delta.  Where tasks alternate, Delta is of the order K H lambda, and the bound is above the trivial K H: this is the
paper's remark on merging samples, and the reason that this agent is a baseline here.  Worlds that come back are learned
anew each time.  Nothing is learned of a pair and a step before it was visited H times, the length of the first stage:
in 200 episodes of 200 steps the agent acts exactly as the random one does.

What was uncertain, and how it was settled.  b_Delta is Delta_r + H Delta_p of the epoch, which nobody knows beforehand;
here it is H Delta / D: an even share of the budget, all of it for transitions, because the worlds of a set share their
rewards.  It is true where the drift is even.  At laptop sizes H Delta / D is mostly above H, and then nothing is ever
learned.  Who wants b_Delta = 0, as the authors' experiments have it, gives ``variation=None``, unknown, and the number
of ``epochs``.  D is not rounded before K / D is.  The constants of Freedman's bonus are so large that it is below
Hoeffding's only after about 160,000 iota visits of a pair at a step: before that the variants differ in D alone.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from aomultirl import checks
from aomultirl.agents.alone import Learned, Pooled
from aomultirl.agents.base import read_failure
from aomultirl.learning import Known
from aomultirl.learning.restart_q import StagedQLearning
from aomultirl.records import Within
from aomultirl.setting import Setting
from aomultirl.theory import restart_q_epochs

MOST_VARIATION = 3.0
"""What a step of an episode can add to Delta at most: 1 by rewards, and 2 by transitions."""


@dataclass
class InEpochs(Learned):
    """What RestartQ-UCB remembers.

    since
        episodes of the present epoch that are over.
    episodes
        episodes of the run that are over.
    restarts
        the episodes, from 0, before which everything was forgotten.
    """

    since: Annotated[int, Within(0)] = 0
    episodes: Annotated[int, Within(0)] = 0
    restarts: list[Annotated[int, Within(0)]] = field(default_factory=list)


class RestartQUCB(Pooled):
    """Q-learning in stages that forgets everything every ceil(K / D) episodes, of Mao et al.

    The formulas are in :mod:`aomultirl.learning.restart_q`, D in :func:`aomultirl.theory.restart_q_epochs`.

    Parameters
    ----------
    horizon
        H, the steps of an episode.
    variation
        Delta, the variation budget of the run, such as ``theory.variation_budget(models, tasks, H).total``; None where
        it is unknown, and then b_Delta is 0 and ``epochs`` must be given.
    failure
        p, the probability with which the confidence may fail.
    variant
        "hoeffding" or "freedman".
    rewards
        "known" or "unknown", which is the same here: no model is kept, and rewards are averaged as they come.
    bonus_scale
        c, which multiplies all that optimism adds.
    epochs
        D, between 1 and K; by default the formula for ``variation``.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.RestartQUCB(20, None, failure=0.1, bonus_scale=0.01, epochs=3)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.blocks(10), episodes=30)
    >>> agent.findings()
    {'epochs': 3.0, 'epoch_episodes': 10, 'restarts': [10, 20]}
    """

    keeps: ClassVar[type] = InEpochs
    kept: InEpochs
    learner: StagedQLearning

    def __init__(
        self,
        horizon: int,
        variation: float | None,
        *,
        failure: float,
        variant: str = "hoeffding",
        rewards: str = "known",
        bonus_scale: float = 1.0,
        epochs: float | None = None,
    ) -> None:
        super().__init__(StagedQLearning(variant, bonus_scale), horizon, failure=failure, rewards=rewards)
        self.variation, self.epochs = variation, epochs

    def begin(self, setting: Setting) -> None:
        read_failure(self.failure)  # type: ignore[arg-type]  # None is refused in a sentence
        horizon = checks.integer("horizon", self.horizon, least=1)
        episodes = checks.integer("episodes", setting.episodes, least=1)
        self._epochs = self._read_epochs(setting, horizon)
        self._epoch_episodes = math.ceil(episodes / self._epochs)
        budget = 0.0 if self.variation is None else min(float(self.variation), MOST_VARIATION * horizon * episodes)
        drift = horizon * budget / self._epochs
        self.learner = replace(self.learner, drift=drift)
        super().begin(setting)
        self.kept = InEpochs(shared=self.learning.shared())

    def _read_epochs(self, setting: Setting, horizon: int) -> float:
        """D, as given or by its formula; refuses a variation that is no budget."""
        if self.epochs is not None:
            if self.variation is not None:
                checks.real("variation", self.variation, least=0.0)
            return checks.real("epochs", self.epochs, least=1.0, most=float(setting.episodes))
        if self.variation is None:
            raise checks.Refusal("variation", "is None, unknown, so epochs must be given")
        return restart_q_epochs(
            states=setting.n_states,
            actions=setting.n_actions,
            episodes=setting.episodes,
            horizon=horizon,
            variation=self.variation,
            variant=self.learner.variant,
        )

    def _ends_epoch(self) -> bool:
        """Whether everything is forgotten before the next episode."""
        return self.kept.since >= self._epoch_episodes

    def _recollect(self, world: int) -> Known:
        return self.learning.nothing() if self._ends_epoch() else super()._recollect(world)

    def _remember(self, world: int, known: Known) -> None:
        kept = self.kept
        if self._ends_epoch():
            kept.since = 0
            kept.restarts.append(kept.episodes)
        kept.since += 1
        kept.episodes += 1
        super()._remember(world, known)

    def findings(self) -> dict[str, Any]:
        """D, how many episodes an epoch has, and before which episodes everything was forgotten."""
        return {
            "epochs": self._epochs,
            "epoch_episodes": self._epoch_episodes,
            "restarts": list(self.kept.restarts),
            **super().findings(),
        }

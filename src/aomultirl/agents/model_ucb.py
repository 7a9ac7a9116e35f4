"""mUCB and umUCB (Azar, Lazaric, Brunskill 2013): bandits of which a finite set of models is known.

Every episode is a task, a bandit of K arms with n pulls, and one of m models of which the means of all arms are known,
exactly (mUCB) or up to an accuracy (umUCB).  At every pull the models that contradict what was paid are ruled out, and
the arm is pulled that the most promising of the others promises; the formulas are in
:mod:`aomultirl.learning.arm_models`.

Setting: bandits.  Here that is a world with one state, such as an environment with one observation, where an arm pays
what the step earns, within [0, 1]; or a world with two states as :func:`aomultirl.worlds.bandits` makes them, where
an arm pays 1 if it leads to state 1.  Worlds of a set share their rewards, so bandits with one state could not differ.
If the rows of two states differ, which nobody tells the agent, it takes the mean of them for the arm's.

Must be told: the means of all models, and H = n.  umUCB also how accurate they are.

Guarantee: with probability at least 1 - delta the true model is never ruled out, if the means are accurate.  With
delta = 1/n, the default, the expected regret of a task of mUCB with model theta is at most

    K + sum over arms i of 2 Delta_i ln(m n^3) / min Gamma_i(theta')^2,

where i runs over the arms that are best in models theta' which promise at least as much as theta does, Gamma_i(theta')
is how far mu_i is apart in theta' and theta, and the minimum is over these models.  Arms that are best in no such model
are never pulled while the true model is left.  The bound for umUCB lies between that one and UCB's, which it is where
the accuracy exceeds the Gamma; that bound is not restated here.  What is lost need not follow the bounds: with three
models umUCB lost less than mUCB in our tests.  Nothing holds for means that are wrong by more than the accuracy.

Adapted to a stream of tasks: one episode is one task, and what was paid is forgotten when it ends.  The order of tasks
does not matter.  Nothing is learned of the models: :class:`aomultirl.agents.TUCB` does that.

What was uncertain, and how it was settled.  If no model is left, the means were wrong or luck was bad; then
UCB's index, muhat_i + eps_i, chooses, until a model is possible again.  How often that happened is among the findings.
Episodes that somebody ends before n pulls keep n in the logarithm.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Report, read_failure, run_phase
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.arm_models import EMPTY, PULLS, ArmBehaviour, pull_arms
from aomultirl.records import Within
from aomultirl.setting import Setting
from aomultirl.worlds.bandits import PAID, UNPAID, read_means

MOST_ACCURACY = 1e6
"""From the width of all means on, it makes no difference any more."""


@dataclass
class PulledArms:
    """What an agent for bandits remembers.

    pulls
        those that models decided.
    empty
        those of them at which no model was left.
    scale, offset
        payoffs are shown as ``scale * payoff + offset``, where their range was widened.
    """

    pulls: Annotated[int, Within(0)] = 0
    empty: Annotated[int, Within(0)] = 0
    scale: Annotated[float, Within(0.0, 1.0)] = 1.0
    offset: Annotated[float, Within(0.0, 1.0)] = 0.0

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Every reward r is shown as ``times * r + plus`` from now on."""
        self.scale, self.offset = times * self.scale, times * self.offset + plus


class BanditAgent(Agent):
    """What the agents for bandits share: a task is an episode, and models say which arm is pulled."""

    keeps: ClassVar[type] = PulledArms
    kept: PulledArms
    horizon: int
    failure: float | None

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        self._check_bandit(setting)
        pulls = checks.integer("horizon", self.horizon, least=1)
        self._failure = 1.0 / max(2, pulls) if self.failure is None else read_failure(self.failure)

    def _check_bandit(self, setting: Setting) -> None:
        """Refuse worlds that are no bandits."""
        name, rewards = type(self).__name__, setting.rewards
        if setting.n_states > 2:
            words = f"is {setting.n_states}, but {name} is for bandits: one state, or two as ao.worlds.bandits has them"
            raise checks.Refusal("n_states", words)
        if setting.n_states == 2 and rewards is not None:
            least, most = rewards[PAID].min(), rewards[UNPAID].max()
            if not (least > most and np.ptp(rewards[PAID]) == np.ptp(rewards[UNPAID]) == 0.0):
                raise ValueError(f"{name} is for bandits: of two states, state 1 must pay more, whatever the arm")

    def _models(self) -> tuple[NDArray[np.float64], float]:
        """The means of the models, (m, K), as payoffs are shown, and their accuracy."""
        raise NotImplementedError

    @property
    def _rounds(self) -> int:
        """How often every arm is pulled first."""
        return 0

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        n_states, n_pairs, pulls = self.setting.n_states, self.setting.n_pairs, self.horizon
        means, accuracy = self._models()
        logarithm = math.log(len(means)) + 2.0 * math.log(pulls) - math.log(self._failure)
        behaviour = pull_arms(n_states, means, accuracy, logarithm, self._rounds)
        counts = CountTable(n_pairs)
        yield from run_phase(Phase(behaviour, pulls, counts, np.zeros(n_pairs)), start)
        self._remember(behaviour)
        best = np.argmax(behaviour.paid / np.maximum(1, behaviour.pulls))
        plan = np.full(n_states, best, np.int32)
        return Report(evaluation=plan, evaluation_horizon=pulls, samples=(counts,))

    def _remember(self, behaviour: ArmBehaviour) -> None:
        """Take over what a task has shown."""
        self.kept.pulls += int(behaviour.happened[PULLS])
        self.kept.empty += int(behaviour.happened[EMPTY])

    def rescale_rewards(self, times: float, plus: float, rest: float) -> None:
        kept = copy.deepcopy(self.kept)
        super().rescale_rewards(times, plus, rest)
        if self.setting.n_states > 1:  # an arm pays by the state that it leads to, whatever that is worth
            self.kept = kept

    def findings(self) -> dict[str, Any]:
        """How many pulls models decided, and at how many of them no model was left and UCB chose."""
        return {"pulls": self.kept.pulls, "without_a_model": self.kept.empty}


class UMUCB(BanditAgent):
    """umUCB of Azar, Lazaric and Brunskill: a bandit is one of several models whose means are nearly known.

    The formulas are in :mod:`aomultirl.learning.arm_models`.

    Parameters
    ----------
    horizon
        n, the pulls of a task.
    means
        (m, K), within [0, 1], how much every arm pays in every model.
    accuracy
        how far each of the means may be off; 0 makes it :class:`MUCB`, and from some 100 on it is UCB.
    failure
        delta, the probability with which the true model may be ruled out in a task; by default 1 / n.

    Examples
    --------
    >>> import aomultirl as ao
    >>> means = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.7]]
    >>> agent = ao.agents.UMUCB(200, [[0.88, 0.5, 0.1], [0.1, 0.52, 0.7]], accuracy=0.02)
    >>> history = ao.run(agent, ao.worlds.bandits(means), ao.streams.uniform(), episodes=20)
    >>> float(history.regret()[-1]) < 20 * 10
    True
    """

    def __init__(
        self, horizon: int, means: Sequence[Sequence[float]], accuracy: float, *, failure: float | None = None
    ) -> None:
        self.horizon, self.means, self.accuracy, self.failure = horizon, means, accuracy, failure

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        self._accuracy = checks.real("accuracy", self.accuracy, least=0.0, most=MOST_ACCURACY)
        self._means = read_means(self.means)
        if self._means.shape[1] != setting.n_actions:
            words = f"has {self._means.shape[1]} arms, but there are {setting.n_actions} actions"
            raise checks.Refusal("means", words)
        self.kept = PulledArms()

    def _models(self) -> tuple[NDArray[np.float64], float]:
        return self.kept.scale * self._means + self.kept.offset, self.kept.scale * self._accuracy


class MUCB(UMUCB):
    """mUCB of Azar, Lazaric and Brunskill: a bandit is one of several models whose means are known.

    The formulas are in :mod:`aomultirl.learning.arm_models`.

    Parameters
    ----------
    horizon
        n, the pulls of a task.
    means
        (m, K), within [0, 1], how much every arm pays in every model.
    failure
        delta, the probability with which the true model may be ruled out in a task; by default 1 / n.

    Examples
    --------
    >>> import aomultirl as ao
    >>> means = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.7]]
    >>> agent = ao.agents.MUCB(200, means)
    >>> history = ao.run(agent, ao.worlds.bandits(means), ao.streams.sequence([0] * 10), episodes=10)
    >>> agent.findings()
    {'pulls': 2000, 'without_a_model': 0}
    >>> bool(history["learning_reward"].mean() > 0.88 * 200)  # the first model promises most, and it is the true one
    True
    """

    def __init__(self, horizon: int, means: Sequence[Sequence[float]], *, failure: float | None = None) -> None:
        super().__init__(horizon, means, 0.0, failure=failure)

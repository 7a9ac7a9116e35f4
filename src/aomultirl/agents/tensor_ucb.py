"""tUCB (Azar, Lazaric, Brunskill 2013): bandits whose models are found across tasks, by their moments.

In every task each arm is first pulled 3 v times, which makes three independent estimates of all its means, the views
mu^1, mu^2 and mu^3.  After j tasks

    M2 = mean over tasks of mu^1 (x) mu^2,       M3 = mean over tasks of mu^1 (x) mu^2 (x) mu^3,

symmetrised, have the expectations sum p_i mu_i (x) mu_i and sum p_i mu_i (x) mu_i (x) mu_i, where p_i is how often
model i was met, and the decomposition of :mod:`aomultirl.learning.moments` finds the models.  The rest of the next task
is umUCB (:mod:`aomultirl.learning.arm_models`) with these models and the accuracy

    e_j = scale K sqrt(ln(K / delta) / (v j)).

In the first task, e being infinite, that is UCB.

Setting: as for mUCB (:mod:`aomultirl.agents.model_ucb`), with m <= K models whose means are linearly independent.

Must be told: m and H = n.

Guarantee: with ``scale`` large enough for the models, a number C(Theta) that grows with how nearly dependent they are,
e_j bounds the error of the estimates with high probability, and then the regret of a task goes from UCB's to mUCB's as
tasks are met.  Nobody knows C(Theta) beforehand, and its bounds are far too large for use: with the default nothing is
promised.  The first pulls cost 3 v pulls of every arm in every task for ever.

Adapted to a stream of tasks: an episode is a task.  The authors draw tasks independently; the moments need only
that each model is met in a share of them that does not vanish, in whatever order, because what is averaged away is
the noise of the pulls.

What was uncertain, and how it was settled.  The authors' C(Theta) is ``scale``.  v, one in their text, is ``views``:
moments of single pulls are so noisy that hundreds of tasks say little, and e_j falls with sqrt(v) as the noise does.
Views are made of the first pulls alone, though every pull could count: how often an arm is pulled later depends on what
it paid, so that means of all pulls are biased and views from them not independent.  Estimates are cut off to [0, 1].
Models that were found with too small an eigenvalue are dropped; if none is left, the task is UCB's.  A task that
somebody ends before the first pulls are over adds nothing to the moments.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.agents.model_ucb import BanditAgent, PulledArms
from aomultirl.learning.arm_models import VIEWS, ArmBehaviour
from aomultirl.learning.moments import decompose, symmetric_moments
from aomultirl.records import Within, check_like
from aomultirl.setting import Setting

ROUNDING = 1e-9
"""By which a sum of payoffs within [0, 1] may exceed their number."""


@dataclass
class ArmMoments(PulledArms):
    """What tUCB remembers.

    tasks
        how many tasks the moments are sums over.
    first, second, third
        (K,), (K, K) and (K, K, K), the sums over tasks of the moments of their views.
    """

    tasks: Annotated[int, Within(0, "episodes")] = 0
    first: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    second: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    third: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def rescale_rewards(self, times: float, plus: float) -> None:
        """The moments of ``times * payoff + plus``."""
        super().rescale_rewards(times, plus)
        ones = np.ones(len(self.first))
        outer = np.einsum("i,j", self.first, ones)
        pairs = np.einsum("ij,k", self.second, ones)
        singles = np.einsum("i,j,k", self.first, ones, ones)
        self.third = (
            times**3 * self.third
            + times**2 * plus * (pairs + pairs.transpose(0, 2, 1) + pairs.transpose(2, 0, 1))
            + times * plus**2 * (singles + singles.transpose(1, 0, 2) + singles.transpose(1, 2, 0))
            + plus**3 * self.tasks
        )
        self.second = times**2 * self.second + times * plus * (outer + outer.T) + plus**2 * self.tasks
        self.first = times * self.first + plus * self.tasks


class FoundModels(NamedTuple):
    """The models that the moments show: means (m, K), weights (m,), and how accurate the means are taken for."""

    means: NDArray[np.float64]
    weights: NDArray[np.float64]
    accuracy: float


class TUCB(BanditAgent):
    """tUCB of Azar, Lazaric and Brunskill: finds the models of bandits across tasks, and uses them in the next task.

    The formulas are in :mod:`aomultirl.agents.tensor_ucb`.

    Parameters
    ----------
    horizon
        n, the pulls of a task, at least 3 v K.
    models
        m, how many models there are, at most K.
    failure
        delta, the probability with which the true model may be ruled out in a task; by default 1 / n.
    views
        v, how many pulls of every arm each of the three views has.
    scale
        of the accuracy that the models' estimates are taken for: the smaller, the sooner they are relied on.

    Examples
    --------
    >>> import aomultirl as ao
    >>> means = [[0.9, 0.5, 0.1], [0.1, 0.3, 0.8]]
    >>> agent = ao.agents.TUCB(100, models=2, views=5)
    >>> _ = ao.run(agent, ao.worlds.bandits(means), ao.streams.round_robin(), episodes=1000)
    >>> abs(agent.findings()["means"] - np.array(means)).max() < 0.1
    np.True_
    """

    keeps = ArmMoments
    kept: ArmMoments

    def __init__(
        self, horizon: int, models: int, *, failure: float | None = None, views: int = 1, scale: float = 0.1
    ) -> None:
        self.horizon, self.models, self.failure, self.views, self.scale = horizon, models, failure, views, scale

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        n_arms = setting.n_actions
        checks.integer("models", self.models, least=1, most=n_arms)
        checks.integer("views", self.views, least=1)
        checks.real("scale", self.scale, least=0.0)
        needed = VIEWS * self.views * n_arms
        if self.horizon < needed:
            words = f"is {self.horizon}, but three views of {n_arms} arms take {needed} pulls with views={self.views}"
            raise checks.Refusal("horizon", words)
        sizes.check("n_actions", n_arms, 64.0 * n_arms**3, "third moments of all arms", "their number")
        moments = [np.zeros((n_arms,) * order) for order in (1, 2, 3)]
        self.kept = ArmMoments(first=moments[0], second=moments[1], third=moments[2])
        vars(self).pop("_found", None)

    @property
    def _rounds(self) -> int:
        return VIEWS * self.views

    @cached_property
    def _found(self) -> FoundModels:
        """What the moments of the tasks so far show."""
        kept, n_arms = self.kept, self.setting.n_actions
        if kept.tasks == 0:
            return FoundModels(np.zeros((0, n_arms)), np.zeros(0), math.inf)
        means, weights = decompose(kept.second / kept.tasks, kept.third / kept.tasks, self.models)
        logarithm = math.log(max(2, n_arms)) - math.log(self._failure)
        accuracy = self.scale * n_arms * math.sqrt(logarithm / (self.views * kept.tasks))
        return FoundModels(np.clip(means, 0.0, 1.0), weights, accuracy)

    def _models(self) -> tuple[NDArray[np.float64], float]:
        means, _, accuracy = self._found
        return (means, accuracy) if len(means) else (np.zeros((1, self.setting.n_actions)), math.inf)

    def _remember(self, behaviour: ArmBehaviour) -> None:
        super()._remember(behaviour)
        if behaviour.pulls.min() >= self._rounds:
            views = behaviour.views / self.views
            second, third = symmetric_moments(views)
            self.kept.tasks += 1
            self.kept.first += views.mean(axis=0)
            self.kept.second += second
            self.kept.third += third
            vars(self).pop("_found", None)

    def restore(self, kept: Any) -> None:
        names = ("first", "second", "third")
        blank = {name: getattr(self.kept, name) for name in names}
        check_like({name: getattr(kept, name) for name in names}, blank, "memory")
        for name in names:
            moment = getattr(kept, name)
            if moment.min() < 0.0 or moment.max() > kept.tasks * (1.0 + ROUNDING):
                raise ValueError(f"memory.{name} must be within [0, {kept.tasks}], the sum of so many moments")
        super().restore(kept)
        vars(self).pop("_found", None)

    def findings(self) -> dict[str, Any]:
        """The models that the moments show, by how often they were met, and how accurate they are taken for."""
        means, weights, accuracy = self._found
        return {
            **super().findings(),
            "tasks": self.kept.tasks,
            "means": means.tolist(),
            "weights": weights.tolist(),
            "accuracy": accuracy if self.kept.tasks else None,
        }

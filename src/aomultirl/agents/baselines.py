"""The agents that the paper compares with, or argues against."""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import NOTHING, Agent, Episode, Report, Setting, check_plan, known_rewards, read_failure
from aomultirl.agents.learner import Learner
from aomultirl.agents.state import Saved
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning.ucbvi import UCBVI


class Random(Agent):
    """Acts uniformly at random."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        plan = np.full(n_states, n_actions if n_actions > 1 else 0, np.int32)
        yield Phase(follow(plan), self.horizon, CountTable(n_states * n_actions), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: Saved) -> None:
        """Nothing is remembered."""


class Optimal(Agent):
    """Is told the worlds and the task of each episode, and acts optimally in it."""

    told: ClassVar[frozenset[str]] = frozenset({"task", "models"})

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        horizon = checks.integer("horizon", self.horizon, least=1)
        if setting.models is None:
            raise ValueError("Optimal must be told the worlds, and nobody knows them here")
        check_plan("horizon", horizon, setting, len(setting.models))
        self._models = setting.models
        self._plans: dict[int, NDArray[np.int32]] = {}

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        task = told_task(task)
        if task not in self._plans:
            self._plans[task] = self._models[task].optimal_policy(self.horizon)
        plan = self._plans[task]
        yield Phase(follow(plan), self.horizon, CountTable(self.setting.n_states * self.setting.n_actions), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: Saved) -> None:
        """Plans are made again."""


class _Learning(Agent):
    """UCBVI-CH over whole episodes; the kinds differ in whose samples they learn from.

    Parameters
    ----------
    failure
        p.
    horizon
        H.
    bonus, bonus_scale, cap
        as in :class:`aomultirl.learning.UCBVI`.
    rewards
        "known" or "unknown".
    """

    def __init__(
        self,
        failure: float,
        horizon: int,
        *,
        bonus: str = "paper",
        bonus_scale: float = 1.0,
        cap: str = "horizon",
        rewards: str = "known",
    ) -> None:
        self.failure, self.horizon = failure, horizon
        self.bonus, self.bonus_scale, self.cap, self.rewards = bonus, bonus_scale, cap, rewards

    def _tasks(self) -> int:
        """How many worlds the union bound runs over."""
        return 1

    def _episodes(self) -> int:
        return self.setting.episodes

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        failure = read_failure(self.failure)
        horizon = checks.integer("horizon", self.horizon, least=1)
        check_plan("horizon", horizon, setting)
        pairs = setting.n_states * setting.n_actions
        logarithm = math.log(15.0 * pairs * self._episodes() * horizon * self._tasks() / failure)
        self._learner = Learner(
            make_ucbvi(logarithm, self.bonus, self.bonus_scale, self.cap),
            known_rewards(self.rewards, setting),
            setting.n_states,
            setting.n_actions,
        )
        self._memory: dict[int, tuple[CountTable, np.ndarray]] = {}

    def _key(self, task: int | None) -> int:
        """Which samples this episode shares."""
        raise NotImplementedError

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learner, pairs = self._learner, self.setting.n_states * self.setting.n_actions
        key = self._key(task)
        counts, sums = self._memory.get(key, (CountTable(pairs), learner.sums()))
        plan = learner.act((counts,), sums, self.horizon, stream)
        seen, earned = CountTable(pairs), learner.sums()
        yield Phase(follow(plan), self.horizon, seen, earned)
        counts.add(seen)
        sums += earned
        self._memory = {**self._kept(), key: (counts, sums)}
        best = learner.best((counts,), sums, self.horizon, stream)
        return Report(evaluation=best, evaluation_horizon=self.horizon, samples=(counts,))

    def _kept(self) -> dict[int, tuple[CountTable, np.ndarray]]:
        return self._memory

    def state(self) -> dict[str, Any]:
        known = [{"key": key, "counts": counts, "sums": sums} for key, (counts, sums) in self._memory.items()]
        return {"known": known}

    def restore(self, saved: Saved) -> None:
        size = self._learner.sums().shape
        self._memory = {
            one.integer("key"): (one.counts("counts"), one.array("sums", size, least=0.0))
            for one in saved.each("known")
        }


class OneEpisodeUCBVI(_Learning):
    """Learns every episode afresh from its own samples alone (K = M = 1)."""

    def _episodes(self) -> int:
        return 1

    def _key(self, task: int | None) -> int:
        return 0

    def _kept(self) -> dict[int, tuple[CountTable, np.ndarray]]:
        return {}

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        self._memory = {}
        return (yield from super().episode(start, stream, task))


class PooledUCBVI(_Learning):
    """One learner for all episodes, as if they were one world: negative transfer."""

    def _key(self, task: int | None) -> int:
        return 0


class OracleUCBVI(_Learning):
    """Is told which world each episode is, and learns each: what clustering could at best achieve."""

    told: ClassVar[frozenset[str]] = frozenset({"task"})

    def __init__(
        self,
        failure: float,
        horizon: int,
        models: int = 1,
        *,
        bonus: str = "paper",
        bonus_scale: float = 1.0,
        cap: str = "horizon",
        rewards: str = "known",
    ) -> None:
        super().__init__(failure, horizon, bonus=bonus, bonus_scale=bonus_scale, cap=cap, rewards=rewards)
        self.models = models

    def _tasks(self) -> int:
        return checks.integer("models", self.models, least=1)

    def _key(self, task: int | None) -> int:
        return told_task(task)


def make_ucbvi(logarithm: float, bonus: str, bonus_scale: float, cap: str) -> UCBVI:
    """UCBVI with checked parameters."""
    checks.choice("bonus", bonus, ("paper", "released"))
    checks.choice("cap", cap, ("horizon", "remaining"))
    return UCBVI(logarithm, bonus, checks.real("bonus_scale", bonus_scale, least=0.0), cap)


def told_task(task: int | None) -> int:
    """The task, which must be told."""
    if task is None:
        raise ValueError("this agent must be told the task of each episode")
    return task

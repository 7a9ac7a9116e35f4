"""The two ends of what can be earned: acting at random, and acting optimally in worlds that are known."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import NOTHING, Agent, Episode, NoMemory, Report, check_plan, told_task
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.setting import Setting


class Random(Agent):
    """Acts uniformly at random."""

    keeps: ClassVar[type] = NoMemory

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)
        self.kept = NoMemory()

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        plan = np.full(n_states, n_actions if n_actions > 1 else 0, np.int32)
        yield Phase(follow(plan), self.horizon, CountTable(n_states * n_actions), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)


class Optimal(Agent):
    """Is told the worlds and the task of each episode, and acts optimally in it."""

    told: ClassVar[frozenset[str]] = frozenset({"task", "models"})
    keeps: ClassVar[type] = NoMemory

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
        self.kept = NoMemory()

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        task = told_task(task)
        if task not in self._plans:
            self._plans[task] = self._models[task].optimal_policy(self.horizon)
        plan = self._plans[task]
        yield Phase(follow(plan), self.horizon, CountTable(self.setting.n_pairs), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)

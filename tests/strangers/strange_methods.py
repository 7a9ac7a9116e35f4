"""A stranger's plug-in: a world, a stream and an agent."""

import numpy as np

from aomultirl import MDP, ModelSet, checks
from aomultirl.agents import Agent, Report
from aomultirl.agents.base import NOTHING, NoMemory
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.stepping import Phase
from aomultirl.streams import Stream

__all__ = ["Sticky", "backwards", "corridor"]


def corridor(length: int = 4, slip: float = 0.1) -> ModelSet:
    """Two corridors: the reward is at the right end, and steps slip to the left or to the right."""
    checks.integer("length", length, least=2)
    worlds = []
    for back in (slip, 1.0 - slip):
        lists = [[{max(i - 1, 0): back, min(i + 1, length - 1): 1.0 - back}] * 2 for i in range(length)]
        rewards = np.zeros((length, 2))
        rewards[-1] = 1.0
        worlds.append(MDP(lists, rewards))
    return ModelSet(worlds)


class backwards(Stream):  # noqa: N801
    """The worlds from the last to the first, again and again."""

    def task(self, past):
        return -(len(past) + 1) % len(self.models)


class Sticky(Agent):
    """Takes one action for ever."""

    keeps = NoMemory

    def __init__(self, horizon: int, action: int = 0) -> None:
        self.horizon, self.action = horizon, action

    def begin(self, setting):
        super().begin(setting)
        checks.integer("action", self.action, least=0, most=setting.n_actions - 1)
        self.kept = NoMemory()

    def episode(self, start, stream, task=None):
        plan = np.full(self.setting.n_states, self.action, np.int32)
        yield Phase(follow(plan), self.horizon, CountTable(self.setting.n_states * self.setting.n_actions), NOTHING)
        return Report(evaluation=plan, evaluation_horizon=self.horizon)

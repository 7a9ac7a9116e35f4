"""An agent of one's own in one file: it acts at random for a while, and then as all episodes so far say is best."""

from dataclasses import dataclass

import numpy as np

from aomultirl.extending import Agent, CountTable, Phase, Report, act_uniformly, checks, follow, greedy

__all__ = ["ExploreThenCommit"]


@dataclass
class Seen:
    counts: CountTable


class ExploreThenCommit(Agent):
    keeps = Seen  # what ao.save writes down

    def __init__(self, horizon: int, explore: int = 50) -> None:
        self.horizon, self.explore = horizon, explore

    def begin(self, setting):
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)
        checks.integer("explore", self.explore, least=0, most=self.horizon)
        self.kept = Seen(CountTable(setting.n_pairs))

    def episode(self, start, stream, task=None):
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        counts, nothing = CountTable(n_states * n_actions), np.empty(0)
        yield Phase(act_uniformly(n_states, n_actions), self.explore, counts, nothing)
        plan = self._plan(counts)
        yield Phase(follow(plan), self.horizon - self.explore, counts, nothing)
        self.kept.counts.add(counts)  # memory changes after the last step only
        return Report(evaluation=plan, evaluation_horizon=self.horizon, samples=(self.kept.counts,))

    def _plan(self, counts):
        total = CountTable(self.setting.n_pairs)
        total.add(self.kept.counts)
        total.add(counts)
        return greedy(total, self.setting.rewards, rest=self.setting.rest)

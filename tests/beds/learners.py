"""Who meets the beds: our agents, plain Q-learning, and learners that are told which variant an episode is."""

from collections.abc import Callable
from typing import Any

import numpy as np

import aomultirl as ao
from aomultirl.agents.base import Agent
from aomultirl.experiments.beds import Bed, Environment
from aomultirl.experiments.environments import Environments


class QLearning:
    """Plain Q-learning, epsilon-greedy with an optimistic start; what a stranger would write first.

    Parameters
    ----------
    bed
        that is met.
    seed
        of the exploration.
    """

    DISCOUNT, RATE, EPSILON = 0.99, 0.1, 0.05
    """What is usual; the rate of learning is 1 / visits until it falls to RATE."""

    def __init__(self, bed: Bed, seed: int) -> None:
        self.start, self.draws = float(bed.best), np.random.default_rng(seed)
        self.values: dict[int, Any] = {}
        self.visits: dict[tuple[int, int], int] = {}

    def episode(self, env: Environment, life: str, steps: int, seed: int) -> float:
        """Live through an episode, and learn; what it earned.

        As in ``ao.interact``, a restart after an end takes a step, and one after a limit of time takes none.
        """
        n_actions = int(env.action_space.n)  # type: ignore[attr-defined]
        (state, _), earned, ended, cut = env.reset(seed=seed), 0.0, False, False
        for _ in range(steps):
            if ended or cut:
                if life == "end":
                    break
                (state, _), waits = env.reset(), ended
                ended = cut = False
                if waits:
                    continue
            values = self.values.setdefault(state, np.full(n_actions, self.start))
            best = np.flatnonzero(values == values.max())
            explores = self.draws.random() < self.EPSILON
            action = int(self.draws.integers(n_actions) if explores else self.draws.choice(best))
            successor, reward, terminated, truncated, _ = env.step(action)
            ahead = 0.0 if terminated else self.values.setdefault(successor, np.full(n_actions, self.start)).max()
            visits = self.visits[state, action] = self.visits.get((state, action), 0) + 1
            values[action] += max(1 / visits, self.RATE) * (reward + self.DISCOUNT * ahead - values[action])
            state, earned, ended, cut = successor, earned + float(reward), bool(terminated), bool(truncated)
        return earned


class Meeting:
    """One run: a bed, a kind of life, and the hidden variant of each episode, which is the same for all learners.

    Parameters
    ----------
    bed
        that is met.
    life
        "end": an episode is one life.  "restart": it goes on after each life, in the same variant.
    seed
        of everything.
    quick
        few episodes.
    """

    def __init__(self, bed: Bed, life: str, seed: int, quick: bool) -> None:
        self.bed, self.life, self.seed, self.steps = bed, life, seed, bed.steps(life)
        self.envs = bed.make()
        count = max(bed.count(life) // 5, 4) if quick else bed.count(life)
        met = Environments(self.envs, seed)
        self.tasks = [met.task(k) for k in range(count)]

    def q_learning(self, key: Callable[[int, int], int]) -> list[float]:
        """What Q-learning earns in each episode, with one table for each ``key(episode, task)``."""
        tables: dict[int, QLearning] = {}
        earned = []
        for k, task in enumerate(self.tasks):
            table = tables.setdefault(key(k, task), QLearning(self.bed, self.seed * 100_003 + key(k, task)))
            earned.append(table.episode(self.envs[task], self.life, self.steps, self.seed * 100_003 + k))
        return earned

    def agent(self, agent: Agent) -> list[float]:
        """What an agent of ours earns in each episode; one that must be told the variant is told it."""
        history = ao.interact(
            agent,
            self.envs,
            len(self.tasks),
            self.steps,
            self.seed,
            reward_range=self.bed.reward_range,
            terminal=self.life,  # type: ignore[arg-type]
        )
        assert history["task"].tolist() == self.tasks
        return [float(reward) for reward in history.reward]

    def all(self) -> dict[str, list[float]]:
        """What everybody earns in each episode, by the name of the learner."""
        steps = self.steps
        return {
            "Random": self.agent(ao.agents.Random(steps)),
            "Q, fresh": self.q_learning(lambda k, task: k),
            "Q, pooled": self.q_learning(lambda k, task: 0),
            "Q, told": self.q_learning(lambda k, task: task),
            "OneEpisodeLearner": self.agent(ao.agents.OneEpisodeLearner(steps, rewards="unknown")),
            "Recall": self.agent(ao.agents.Recall(0.05, steps, rewards="unknown")),
            "Learner, told": self.agent(ao.agents.OracleLearner(steps, rewards="unknown")),
        }


LEARNERS = ["Random", "Q, fresh", "Q, pooled", "OneEpisodeLearner", "Recall", "Q, told", "Learner, told"]
"""In the order of the table; those that are told come last."""

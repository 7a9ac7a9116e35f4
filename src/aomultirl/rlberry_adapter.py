"""Our agents and hidden worlds in rlberry, the framework that the paper's experiment was written with.

:class:`RlberryAgent` makes any agent of ours one of rlberry's, and :class:`RlberryWorlds` makes hidden worlds an
environment of rlberry's; both work in its ``ExperimentManager``.  ``pip install 'aomultirl[rlberry]'`` brings rlberry.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents import Recall
from aomultirl.agents.base import Agent
from aomultirl.agents.interface import carried
from aomultirl.experiments.environments import EpisodeEnvironment
from aomultirl.experiments.episodes import check_is_agent
from aomultirl.experiments.history import History
from aomultirl.experiments.interaction import interact
from aomultirl.hidden_worlds import HiddenWorlds
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.streams import Stream

try:
    from rlberry.agents import AgentWithSimplePolicy
    from rlberry.envs import Wrapper
except ModuleNotFoundError as error:
    raise ImportError("aomultirl.rlberry_adapter needs rlberry: pip install 'aomultirl[rlberry]'") from error

__all__ = ["RlberryAgent", "RlberryWorlds"]


class RlberryWorlds(Wrapper):  # type: ignore[misc]  # rlberry has no types
    """Hidden worlds as an environment of rlberry's: a new world at each reset, and nobody says which.

    rlberry's managers take the pair ``(RlberryWorlds, {"worlds": ..., "horizon": ...})``.

    Parameters
    ----------
    worlds
        a :class:`aomultirl.ModelSet`, worlds, environments, or ids of them, with the same spaces.
    stream
        says which world comes next, such as ``ao.streams.blocks(10)``; uniformly by default.
    horizon
        truncates every episode after so many steps.  Our worlds seldom end an episode themselves, and most of rlberry's
        agents only go on to the next one, which may be another world, where an episode ends.
    reveal
        whether ``info["task"]`` says which world it is.
    """

    name = "HiddenWorlds"

    def __init__(
        self,
        worlds: "ModelSet | Sequence[MDP | gymnasium.Env[Any, Any] | str]",
        stream: Stream | None = None,
        horizon: int | None = None,
        reveal: bool = False,
    ) -> None:
        env: gymnasium.Env[Any, Any] = HiddenWorlds(worlds, stream, reveal)
        if horizon is not None:
            env = TimeLimit(env, checks.integer("horizon", horizon, least=1))
        # Some of rlberry's agents ask for its own spaces, which know only numbers from 0 on.
        spaces = env.observation_space, env.action_space
        super().__init__(env, wrap_spaces=all(isinstance(space, Discrete) and space.start == 0 for space in spaces))
        self.worlds, self.stream, self.horizon, self.reveal = worlds, stream, horizon, reveal
        if all(isinstance(world, MDP) for world in worlds):
            self.reward_range = (0.0, 1.0)


class RlberryAgent(AgentWithSimplePolicy):  # type: ignore[misc]  # rlberry has no types
    """An agent of ours as an agent of rlberry's.

    ``agent.agent`` is our agent with all that it remembers, which ``ao.save`` can write; ``agent.history`` is the
    :class:`aomultirl.History` of the last call of :meth:`fit`.  rlberry's writer gets the tags "episode_rewards" and
    "cluster", by the number of the episode from 1.

    Parameters
    ----------
    env
        an environment, or the pair (constructor, keywords) of one, whose hidden world may change at each reset.
    agent
        any agent of ours that need not be told the world.  It is copied; one that remembers something goes on from
        there.  By default ``ao.agents.Recall(failure=0.05, horizon=1000, rewards="unknown")``.
    episodes
        how many episodes all calls of :meth:`fit` will have together.  What an agent promises, it promises for these;
        up to so many, ``fit(a)`` and ``fit(b)`` are the same as ``fit(a + b)``, and after them the agent goes on.
    horizon, rewards, reward_range, terminal, states
        as :func:`aomultirl.interact` takes them.
    **options
        what every agent of rlberry's takes, such as ``eval_env`` and ``seeder``.
    """

    name = "aomultirl"

    def __init__(
        self,
        env: Any,
        agent: Agent | None = None,
        episodes: int = 1000,
        horizon: int | None = None,
        rewards: NDArray[np.float64] | None = None,
        reward_range: tuple[float, float] | Literal["learn"] | None = None,
        terminal: Literal["end", "restart"] = "end",
        states: Literal["grow"] | int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        self.agent: Agent = Recall(failure=0.05, horizon=1000, rewards="unknown") if agent is None else deepcopy(agent)
        check_is_agent(self.agent)
        self.episodes = checks.integer("episodes", episodes, least=1)
        self.horizon = None if horizon is None else checks.integer("horizon", horizon, least=1)
        self.rewards, self.reward_range, self.terminal, self.states = rewards, reward_range, terminal, states
        self.history: History | None = None
        self._seed = self._draw_seed()

    def fit(self, budget: int) -> None:
        """Have the agent play ``budget`` episodes in the environment, and learn from them."""
        before = self.agent.completed
        last = before + checks.integer("budget", budget, least=1)
        total = max(self.episodes, last)
        self.history = self._play(self.agent, _Unseeded(self.env), total - before, self._seed, self.horizon, last)
        if self.writer is not None:
            columns = self.history["episode"], self.history.reward, self.history["cluster"]
            for number, reward, cluster in zip(*(column.tolist() for column in columns), strict=True):
                self.writer.add_scalar("episode_rewards", reward, number + 1)
                self.writer.add_scalar("cluster", cluster, number + 1)

    def eval(self, eval_horizon: int = 10**5, n_simulations: int = 10, gamma: float = 1.0) -> float:
        """The mean, over ``n_simulations`` episodes in ``eval_env``, of the sum of ``gamma**t`` times the reward.

        Each of them is played by a copy of the agent as it is now, from recognising the world on, and forgotten.  An
        episode has at most ``eval_horizon`` steps, and no more than the agent's and those of ``fit``.
        """
        discount = checks.real("gamma", gamma, least=0.0, most=1.0)
        most = checks.integer("eval_horizon", eval_horizon, least=1)
        most = most if self.horizon is None else min(most, self.horizon)
        values = []
        for _ in range(checks.integer("n_simulations", n_simulations, least=1)):
            env = _Recorded(self.eval_env)
            self._play(deepcopy(self.agent), env, 1, self._draw_seed(), most)
            values.append(float(np.power(discount, np.arange(len(env.rewards))) @ env.rewards))
        return float(np.mean(values))

    def policy(self, observation: Any) -> Any:
        """The action with which the agent would begin an episode in ``observation``, before it knows the world.

        What our agents do later in an episode depends on all that they saw in it; :meth:`eval` plays them as they are.
        """
        if "setting" not in vars(self.agent):
            raise ValueError("policy is asked for before fit: the agent has not met an environment yet")
        agent = deepcopy(self.agent)
        interface = carried(agent, None, None)
        env = EpisodeEnvironment(self.env, agent.completed, interface.states)
        agent.interface = replace(interface, states=env.states, actions=env.actions)
        return agent.play(observation, seed=self._seed).act()

    def reseed(self, seed_seq: Any = None) -> None:
        """Begin with new random numbers, for the agent and its environments, as rlberry's managers do."""
        super().reseed(seed_seq)
        self._seed = self._draw_seed()

    def _draw_seed(self) -> int:
        return int(self.rng.integers(2**63))

    def _play(
        self, agent: Agent, env: "_Unseeded", episodes: int, seed: int, horizon: int | None, stop: int | None = None
    ) -> History:
        """The agent goes on for so many episodes, or until ``stop`` of them are over."""
        return interact(
            agent,
            env,
            episodes,
            horizon,
            seed,
            rewards=self.rewards,
            reward_range=self.reward_range,
            terminal=self.terminal,
            states=self.states,
            stop=stop,
            resume=True,
        )


class _Unseeded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that rlberry has seeded, and that goes on: its worlds come as they come, whoever plays."""

    def __init__(self, env: "gymnasium.Env[Any, Any]") -> None:
        super().__init__(env)
        self.metadata = {name: value for name, value in env.metadata.items() if name != "episode"}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(options=options)


class _Recorded(_Unseeded):
    """The environment of one episode; ``rewards`` are those of its steps, 0 for one that leads back to the start."""

    def __init__(self, env: "gymnasium.Env[Any, Any]") -> None:
        super().__init__(env)
        self.rewards: list[float] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if self.rewards:
            self.rewards.append(0.0)
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        answer = self.env.step(action)
        self.rewards.append(float(answer[1]))
        return answer

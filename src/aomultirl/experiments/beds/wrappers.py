"""Wrappers that make hidden variants of other people's environments, and observations that are one number."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete


class SwappedActions(gym.ActionWrapper[Any, Any, Any]):
    """Does another action than the one that was asked for: ``order[action]``; those beyond the list stay themselves."""

    def __init__(self, env: gym.Env[Any, Any], order: Sequence[int]) -> None:
        super().__init__(env)
        self.order = order

    def action(self, action: int) -> int:
        """The action that is done."""
        return self.order[action] if action < len(self.order) else int(action)


class NumberedEnvironment(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose observations and actions are numbers.

    Parameters
    ----------
    env
        the environment.
    n_states
        how many states there are.
    state
        the number of the state, from the environment and what it showed.
    actions
        what the environment calls each action, in the order of their numbers.
    """

    def __init__(
        self, env: gym.Env[Any, Any], n_states: int, state: Callable[[Any, Any], int], actions: Sequence[Any]
    ) -> None:
        super().__init__(env)
        self.state, self.actions = state, actions
        self.observation_space, self.action_space = Discrete(n_states), Discrete(len(actions))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """The first state."""
        shown, info = self.env.reset(seed=seed, options=options)
        return self.state(self.env, shown), info

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """The state and the reward that the action leads to."""
        shown, reward, terminated, truncated, info = self.env.step(self.actions[int(action)])
        return self.state(self.env, shown), float(reward), bool(terminated), bool(truncated), info


class SeededAnyMDP(gym.Wrapper[Any, Any, Any, Any]):
    """An environment of AnyMDP whose randomness follows from the seed, and whose noisy rewards stay within a range.

    AnyMDP draws a seed from the clock at each reset, which nobody could repeat, and sets numpy's global generator.
    """

    def __init__(self, env: gym.Env[Any, Any], low: float, high: float) -> None:
        super().__init__(env)
        self.low, self.high = low, high
        self.draws = np.random.default_rng(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """The first state."""
        if seed is not None:
            self.draws = np.random.default_rng(seed)
        next_seed = int(self.draws.integers(2**31))
        with self._seed_from(next_seed):
            return self.env.reset()

    @contextmanager
    def _seed_from(self, seed: int) -> Iterator[None]:
        """A block in which AnyMDP is given a seed in place of the clock's."""
        from xenoverse.anymdp import anymdp_env

        clock = anymdp_env.pseudo_random_seed
        anymdp_env.pseudo_random_seed = lambda *_, **__: seed
        try:
            yield
        finally:
            anymdp_env.pseudo_random_seed = clock

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """The state, and the reward within the range."""
        state, reward, terminated, truncated, info = self.env.step(int(action))
        return state, min(max(float(reward), self.low), self.high), bool(terminated), bool(truncated), info

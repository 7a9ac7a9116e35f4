"""Anyone's Gymnasium environments, met with caution: what they raise, or give that they should not, is one sentence.

Every sentence names the episode, and the step where there is one.  Environments are closed, whatever happens.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Agent, check_pairs
from aomultirl.engine.interacting import check_scaled

if TYPE_CHECKING:
    from gymnasium import Env

MOST_OPEN = 64
"""Environments that are kept open because they may come back; when more are met, the one met longest ago is closed."""
LONGEST_WAIT = 10**8
"""Steps that an agent may ask of an environment that nobody limits: at ten microseconds each, a quarter of an hour."""


class EpisodeEnvironment:
    """The environment of one episode.

    Parameters
    ----------
    env
        the environment.
    episode
        its number, from 0.
    """

    def __init__(self, env: Any, episode: int) -> None:
        self.env, self.episode = env, episode
        self.n_states = self._size("observation_space")
        self.n_actions = self._size("action_space")
        self.steps = 0

    def reset(self, seed: int) -> int:
        """Begin the episode: its first state."""
        answer = self._ask("reset", seed=seed)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"{self._who} answered reset with {checks.shown(answer)}, not (observation, info)")
        return self._state(answer[0], "at its start")

    def step(self, action: int, scaled: bool) -> tuple[int, float, bool]:
        """(state, reward, whether the environment ended the episode) after an action.

        ``scaled``: the reward must lie in [0, 1].
        """
        answer = self._ask("step", action)
        if not isinstance(answer, tuple) or len(answer) != 5:
            words = "not (observation, reward, terminated, truncated, info)"
            raise ValueError(f"{self._who} answered {self._when} with {checks.shown(answer)}, {words}")
        successor, reward, terminated, truncated, _ = answer
        state = self._state(successor, f"after {self._when}")
        if isinstance(reward, np.ndarray) and reward.ndim == 0:
            reward = reward.item()
        name = f"the reward of {self._when} in {self._who}"
        earned = checks.real(name, reward)
        if scaled:
            check_scaled(name, earned)
        over = self._flag("terminated", terminated) | self._flag("truncated", truncated)
        self.steps += 1
        return state, earned, over

    def check_memory(self, agent: Agent) -> None:
        """Refuse spaces of which an agent cannot keep every state and action."""
        space = f"the observation_space of {self._who}"
        check_pairs(agent, space, f"Discrete({self.n_states})", self.n_states, self.n_actions)

    @contextmanager
    def memory_named(self, agent: Agent) -> Iterator[None]:
        """A block in which memory that runs out, in spite of the estimate, becomes a sentence."""
        try:
            yield
        except MemoryError as error:
            sizes = f"{self.n_states} states and {self.n_actions} actions"
            words = f"{type(agent).__name__} ran out of memory in {self._who}, which has {sizes}"
            raise ValueError(words) from error

    def check_wait(self, steps: int) -> None:
        """Refuse an agent that would step for hours where neither it nor anybody else says when the episode ends."""
        if steps > LONGEST_WAIT:
            raise ValueError(
                f"horizon is None, {self._who} may never end, and the agent asks for {steps:,} steps; give a horizon"
            )

    @property
    def _who(self) -> str:
        return f"the environment of episode {self.episode}"

    @property
    def _when(self) -> str:
        return f"step {self.steps}"

    def _ask(self, name: str, *arguments: Any, **options: Any) -> Any:
        """What a method of the environment answers; whatever it raises, the sentence says where."""
        try:
            return getattr(self.env, name)(*arguments, **options)
        except Exception as error:
            where = self._when if name == "step" else name
            raise RuntimeError(f"{self._who} raised {_words(error)} in {where}") from error

    def _state(self, observation: Any, when: str) -> int:
        return checks.integer(f"the state of {self._who} {when}", observation, least=0, most=self.n_states - 1)

    def _flag(self, name: str, value: Any) -> bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise ValueError(f"{name} of {self._when} in {self._who} is {checks.shown(value)}, neither True nor False")

    def _size(self, noun: str) -> int:
        from gymnasium.spaces import Discrete

        try:
            space = getattr(self.env, noun, None)
        except Exception as error:
            raise RuntimeError(f"{self._who} raised {_words(error)} in {noun}") from error
        if not isinstance(space, Discrete) or space.start != 0:
            raise ValueError(f"{self._who} has the {noun} {checks.shown(space)}, not a Discrete one that begins at 0")
        return int(space.n)


class Environments:
    """The environments of a run: made by ``make_env(k)``, which may give the same one again, and closed in the end."""

    def __init__(self, make_env: "Callable[[int], Env[Any, Any]]") -> None:
        self.make_env = make_env
        self._open: OrderedDict[int, Any] = OrderedDict()

    def of_episode(self, episode: int) -> EpisodeEnvironment:
        """The environment of an episode."""
        try:
            env = self.make_env(episode)
        except Exception as error:
            raise RuntimeError(f"make_env raised {_words(error)} for episode {episode}") from error
        self._open[id(env)] = env
        self._open.move_to_end(id(env))
        if len(self._open) > MOST_OPEN:
            self._close(self._open.popitem(last=False)[1])
        return EpisodeEnvironment(env, episode)

    @contextmanager
    def closed_in_the_end(self) -> Iterator[None]:
        """A block after which all environments are closed, however it ends."""
        try:
            yield
        finally:
            while self._open:
                self._close(self._open.popitem()[1])

    def _close(self, env: Any) -> None:
        """An environment that cannot be closed does not cost anybody the history."""
        if not hasattr(env, "close"):
            return
        try:
            env.close()
        except Exception as error:
            warnings.warn(f"an environment raised {_words(error)} in close", stacklevel=2)


def _words(error: Exception) -> str:
    """An error of somebody else's code: its class and, cut to a line, what it says."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    return f"{type(error).__name__} ({said:.200})" if said else type(error).__name__

"""Anyone's Gymnasium environments, met with caution: what they raise, or give that they should not, is one sentence.

Every sentence names the episode, and the step where there is one.  Environments are closed, whatever happens.
"""

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Agent, check_pairs
from aomultirl.agents.reward_scale import RewardScale
from aomultirl.agents.spaces import MOST_STATES, Numbered, StateIndexer, digits_of
from aomultirl.worlds.gymnasium_import import make_registered

if TYPE_CHECKING:
    from gymnasium import Env

    MakeEnv = Callable[[int], Env[Any, Any]] | Env[Any, Any] | str | Sequence[Env[Any, Any] | str]

MAKE_ENV = "an environment, the id of one, several of these, or a function of the episode's number that gives one"
"""What ``make_env`` may be, in words."""
MOST_OPEN = 64
"""Environments that are kept open because they may come back; when more are met, the one met longest ago is closed."""
LONGEST_WAIT = 10**8
"""Steps that an agent may ask of an environment that nobody limits: at ten microseconds each, a quarter of an hour."""


class Move(NamedTuple):
    """What a step led to.

    state
        the state.
    reward
        as the environment gave it.
    shown
        the reward as the agent is shown it.
    terminated
        the state is terminal: the episode is over, and what is left is worth nothing.
    truncated
        somebody else ended the episode, such as a limit of time.
    """

    state: int
    reward: float
    shown: float
    terminated: bool
    truncated: bool


class EpisodeEnvironment:
    """The environment of one episode.

    Parameters
    ----------
    env
        the environment.
    episode
        its number, from 0.
    states
        numbers states in the order in which they are met; anything else for those of the observation space.
    scale
        of the rewards.
    restarts
        whether an episode that ends begins anew in the same world: the step after its end leads to the start.

    Attributes
    ----------
    is_over
        the world has ended, and the next step begins it anew.
    """

    def __init__(
        self,
        env: Any,
        episode: int,
        states: StateIndexer | None = None,
        scale: RewardScale | None = None,
        restarts: bool = False,
    ) -> None:
        self.env, self.episode = env, episode
        self.scale, self.restarts = RewardScale() if scale is None else scale, restarts
        if not isinstance(states, Numbered):
            states = digits_of(self._space("observation_space"), f"the observation_space of {self._who}")
        self.states = states
        self.actions = digits_of(self._space("action_space"), f"the action_space of {self._who}")
        self.n_states, self.n_actions = states.size, self.actions.size
        self.steps, self.is_over = 0, False

    def reset(self, seed: int, run: int = 0) -> int:
        """Begin the episode: its first state.

        An environment that has "episode" in its metadata is told its number, and the seed of the ``run``.
        """
        numbered = {"options": {"run": run, "episode": self.episode}} if self._knows("episode") else {}
        return self._begin("at its start", seed=seed, **numbered)

    def _knows(self, option: str) -> bool:
        """Whether the environment says that ``reset`` takes an option."""
        return option in (getattr(self.env, "metadata", None) or {})

    def _begin(self, when: str, **options: Any) -> int:
        answer = self._ask("reset", **options)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"{self._who} answered reset with {checks.shown(answer)}, not (observation, info)")
        return self._state(answer[0], when)

    def step(self, action: int, learning: bool) -> Move:
        """What an action leads to.

        ``learning``: the agent learns from the reward, which must lie in the range that was given.
        """
        if self.is_over:
            return self._restart()
        answer = self._ask("step", self.actions.value(action))
        if not isinstance(answer, tuple) or len(answer) != 5:
            words = "not (observation, reward, terminated, truncated, info)"
            raise ValueError(f"{self._who} answered {self._when} with {checks.shown(answer)}, {words}")
        successor, reward, terminated, truncated, _ = answer
        state = self._state(successor, f"after {self._when}")
        name = f"the reward of {self._when} in {self._who}"
        earned = checks.real(name, checks.bare(reward))
        ended, cut = self._flag("terminated", terminated), self._flag("truncated", truncated)
        shown = self.scale.shown(earned, name, learning)
        self.steps += 1
        self.is_over = self.restarts and ended
        return Move(state, earned, shown, ended and not self.restarts, cut)

    def _restart(self) -> Move:
        """The step after an end, whatever the action: it earns nothing, and leads to where the world begins."""
        state = self.begin_again()
        self.steps += 1
        return Move(state, 0.0, self.scale.rest, False, False)

    def begin_again(self) -> int:
        """Begin anew in the same world, after an end or a limit of time: the first state."""
        self.is_over = False
        same = {"options": {"restart": True}} if self._knows("restart") else {}
        return self._begin(f"after {self._when}", **same)

    def check_memory(self, agent: Agent) -> None:
        """Refuse spaces of which an agent cannot keep every state and action."""
        space = f"the observation_space of {self._who}"
        shown = checks.shown(self._space("observation_space"))
        check_pairs(agent, space, shown, self.n_states, self.n_actions)
        if self.n_states > MOST_STATES:
            raise ValueError(f'{space} is {shown}, with more states than can be numbered; states="grow" may help')

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
        return self.states.number(observation, f"the state of {self._who} {when}")

    def _flag(self, name: str, value: Any) -> bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise ValueError(f"{name} of {self._when} in {self._who} is {checks.shown(value)}, neither True nor False")

    def _space(self, noun: str) -> Any:
        try:
            return getattr(self.env, noun, None)
        except Exception as error:
            raise RuntimeError(f"{self._who} raised {_words(error)} in {noun}") from error


class Environments:
    """The environments of a run.

    Those that a function or an id makes are closed in the end; those that somebody made before stay open.

    Parameters
    ----------
    make_env
        a function of the episode's number, which may give the same environment again; an environment, or the id of one;
        or several of these, of which each episode is one at random.
    seed
        of the choice between several.

    Attributes
    ----------
    several
        how many there are to choose from; 0 where nobody knows.
    """

    def __init__(self, make_env: "MakeEnv", seed: int = 0) -> None:
        if isinstance(make_env, type):
            name = make_env.__name__
            words = f"is the class {name}; give an environment, {name}(...), or a function: lambda k: {name}(...)"
            raise checks.Refusal("make_env", words)
        self._open: OrderedDict[int, Any] = OrderedDict()
        self._seed, self.several, self._makes = seed, 0, False
        if isinstance(make_env, str) or _is_environment(make_env):
            given: list[Any] = [make_env]
        elif isinstance(make_env, Sequence) and len(make_env) > 0:
            given, self.several = list(make_env), len(make_env)
        elif callable(make_env):
            self._function, self._makes = make_env, True
            return
        else:
            raise checks.Refusal("make_env", f"is {checks.shown(make_env)}; it must be {MAKE_ENV}")
        for i, env in enumerate(given):
            place = f"make_env[{i}]" if self.several else "make_env"
            if isinstance(env, str):
                given[i] = self._open[i] = make_registered(place, env)
            elif not _is_environment(env):
                raise checks.Refusal(place, f"is {checks.shown(env)}, neither an environment nor the id of one")
        self._check_alike(given)
        self._function = lambda episode: given[max(self.task(episode), 0)]

    def _check_alike(self, given: list[Any]) -> None:
        """Refuse environments that no agent could play together: all must have the same actions."""
        for i, env in enumerate(given):
            mine, first = (getattr(one, "action_space", None) for one in (env, given[0]))
            if mine != first:
                words = f"has the action_space {checks.shown(mine)}, that of make_env[0] is {checks.shown(first)}"
                raise checks.Refusal(f"make_env[{i}]", words)

    def task(self, episode: int) -> int:
        """Which of several environments an episode has; -1 where nobody knows."""
        if not self.several:
            return -1
        return int(np.random.default_rng([self._seed, episode]).integers(self.several))

    def of_episode(self, episode: int) -> Any:
        """The environment of an episode."""
        try:
            env = self._function(episode)
        except Exception as error:
            hint = "" if _takes_one(self._function) else "; it must take the episode's number, as lambda k: ... does"
            raise RuntimeError(f"make_env raised {_words(error)} for episode {episode}{hint}") from error
        if not _is_environment(env):
            raise checks.Refusal("make_env", f"gave {checks.shown(env)} for episode {episode}, not an environment")
        if self._makes:
            self._open[id(env)] = env
            self._open.move_to_end(id(env))
            if len(self._open) > MOST_OPEN:
                self._close(self._open.popitem(last=False)[1])
        return env

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


def _is_environment(thing: Any) -> bool:
    return hasattr(thing, "reset") and hasattr(thing, "step")


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function can be called with one argument, as far as it says."""
    try:
        inspect.signature(function).bind(0)
    except TypeError:
        return False
    except ValueError:  # one that is not written in Python
        pass
    return True


def _words(error: Exception) -> str:
    """An error of somebody else's code: its class and, cut to a line, what it says."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    return f"{type(error).__name__} ({said:.200})" if said else type(error).__name__

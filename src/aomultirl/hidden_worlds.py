"""Hidden worlds as Gymnasium environments, for anybody's agent: a new world at each reset, and nobody says which.

Importing :mod:`aomultirl` registers ``aomultirl/HiddenWorlds-v0``, and one id for every set of worlds that needs no
more than numbers, such as ``aomultirl/Gridworld-v0``.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np

from aomultirl import checks, streams, worlds
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.streams import Past, Stream
from aomultirl.worlds import drawing
from aomultirl.worlds.environment import WorldEnv
from aomultirl.worlds.gymnasium_import import make_registered

LONGEST_RUN = 10**6
"""Episodes that a stream is told there will be, where nobody says how many."""


class HiddenWorlds(gymnasium.Env[Any, Any]):
    """One of several worlds, chosen anew at every reset.

    ``reset(options={"restart": True})`` begins again in the same world; ``reset(seed=...)`` begins a new run.  With
    ``options={"run": 3, "episode": 7}`` it is episode 7 of the stream that the seed 3 makes, from 0, whatever came
    before; then ``seed`` is that of the episode alone.  ``ao.interact`` asks so, and so follows the stream.

    Parameters
    ----------
    worlds
        a :class:`aomultirl.ModelSet`, worlds, environments, or ids of them, with the same spaces.
    stream
        who comes next, such as ``ao.streams.blocks(10)``; uniformly by default.
    reveal
        whether ``info["task"]`` says which world it is.
    render_mode
        "ansi" or "rgb_array", for worlds that are grids; None for no drawing.  Environments draw as they were made to.
    episodes
        how many episodes a run has, for streams that want to know; by default as many as a sequence has, and otherwise
        so many that nobody meets them all.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
        "restart": True,
        "episode": True,
    }

    def __init__(
        self,
        worlds: "ModelSet | Sequence[MDP | gymnasium.Env[Any, Any] | str]",
        stream: Stream | None = None,
        reveal: bool = False,
        render_mode: str | None = None,
        episodes: int | None = None,
    ) -> None:
        self.reveal = checks.truth("reveal", reveal)
        given = [worlds] if isinstance(worlds, str) else list(checks.items("worlds", worlds, "worlds or environments"))
        if not given:
            raise checks.Refusal("worlds", "is empty: there must be at least one")
        self._envs = [_environment(f"worlds[{i}]", world) for i, world in enumerate(given)]
        self.observation_space, self.action_space = self._envs[0].observation_space, self._envs[0].action_space
        for i, env in enumerate(self._envs):
            for name in ("observation_space", "action_space"):
                mine, first = getattr(env, name), getattr(self._envs[0], name)
                if mine != first:
                    raise checks.Refusal(f"worlds[{i}]", f"has the {name} {mine}, that of worlds[0] is {first}")
        self.render_mode = self._read_render_mode(render_mode)
        if stream is not None and not isinstance(stream, Stream):
            raise checks.Refusal("stream", f"is {checks.shown(stream)}, not a stream such as ao.streams.uniform()")
        self._stream = streams.uniform() if stream is None else deepcopy(stream)
        most = len(self._stream.tasks) if isinstance(self._stream, streams.sequence) else LONGEST_RUN
        self._episodes = checks.integer("episodes", most if episodes is None else episodes, least=1)
        self._past: list[Past] | None = None
        self._run: int | None = None
        self._task = 0

    def _read_render_mode(self, wanted: str | None) -> str | None:
        """The way of drawing, which must be one that all worlds have."""
        first = self._envs[0].unwrapped
        modes = self.metadata["render_modes"] if isinstance(first, WorldEnv) and first.world.layout else []
        if not isinstance(first, WorldEnv) and first.render_mode is not None:
            modes = [first.render_mode]
        self.metadata = {**self.metadata, "render_modes": modes}
        if wanted is not None and wanted not in modes:
            can = f"these worlds draw {' and '.join(modes)}" if modes else "these worlds cannot be drawn"
            raise checks.Refusal("render_mode", f"is {checks.shown(wanted)}, but {can}")
        return wanted

    @property
    def _env(self) -> "gymnasium.Env[Any, Any]":
        return self._envs[self._task]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        asked = options or {}
        if "episode" in asked:
            self._go_to(checks.seed("run", asked.get("run", 0)), checks.integer("episode", asked["episode"], least=0))
        elif seed is not None or self._past is None:
            self._begin(self.np_random)
            self._next()
        elif not asked.get("restart"):
            self._next()
        observation, info = self._env.reset(seed=int(self.np_random.integers(2**31)))
        return observation, self._told(info)

    def _begin(self, draws: np.random.Generator, run: int | None = None) -> list[Past]:
        self._past, self._run = [], run
        self._stream.begin(self._envs, self._episodes, draws)  # type: ignore[arg-type]  # their number
        return self._past

    def _next(self) -> None:
        """The world of the next episode."""
        assert self._past is not None, "the stream has begun"
        if len(self._past) >= self._episodes:
            words = f"is {self._episodes}, and they are over: reset(seed=...) begins a new run"
            raise checks.Refusal("episodes", words)
        number = f"the task of episode {len(self._past)}"
        self._task = checks.integer(number, self._stream.task(tuple(self._past)), least=0, most=len(self._envs) - 1)
        self._past.append(Past(self._task, -1, -1))

    def _go_to(self, run: int, episode: int) -> None:
        """The world of an episode of a run, by the stream from its first episode on."""
        past = self._past
        if past is None or self._run != run or len(past) > episode:
            past = self._begin(np.random.default_rng(run), run)
        while len(past) <= episode:
            self._next()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self._env.step(action)
        return observation, float(reward), terminated, truncated, self._told(info)

    def render(self) -> Any:
        env = self._env.unwrapped
        if not isinstance(env, WorldEnv):
            return self._env.render()
        if self.render_mode is None:
            return None
        draw = drawing.as_text if self.render_mode == "ansi" else drawing.as_image
        return draw(env.world, env.state)

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "task": self._task} if self.reveal else info


def _environment(place: str, world: Any) -> "gymnasium.Env[Any, Any]":
    if isinstance(world, MDP):
        return WorldEnv(world)
    if isinstance(world, str):
        return make_registered(place, world)
    if not isinstance(world, gymnasium.Env):
        raise checks.Refusal(place, f"is {checks.shown(world)}, neither a world nor an environment nor the id of one")
    return world


def make_set(
    name: str,
    *,
    stream: Stream | None = None,
    reveal: bool = False,
    render_mode: str | None = None,
    episodes: int | None = None,
    **parameters: Any,
) -> HiddenWorlds:
    """The hidden worlds of one of our sets; parameters other than those of :class:`HiddenWorlds` are the set's."""
    return HiddenWorlds(getattr(worlds, name)(**parameters), stream, reveal, render_mode, episodes)

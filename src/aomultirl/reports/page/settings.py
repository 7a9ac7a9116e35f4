"""What a run was run on: its world, its stream, and whether rewards were noisy.

Runs that differ in any of these are no repetitions of each other, whatever agent made them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aomultirl import descriptions, plugins
from aomultirl.experiments.history import History

UNKNOWN = "unknown"


class Setting(NamedTuple):
    """world: (name, parameters as JSON), stream: the call that makes it; both None where nobody knows."""

    world: tuple[str, str] | None
    stream: str | None
    noisy_rewards: bool


def of(history: History) -> Setting:
    """The setting that a history says it has."""
    about = history.about
    world = about.get("world")
    key = None if world is None else (str(world["name"]), json.dumps(world["parameters"]))
    stream = about.get("stream")
    return Setting(key, None if stream is None else stream_call(stream), bool(about.get("noisy_rewards")))


def agent_of(history: History) -> Mapping[str, Any]:
    """The description of the agent that a history says it is of; without a name where it does not say so."""
    return history.about.get("agent") or {"name": "", "parameters": {}}


def stream_call(stream: Mapping[str, Any]) -> str:
    """The call of :mod:`aomultirl.streams` that makes a stream, without arguments that are the defaults."""
    maker = plugins.find("stream", stream["name"]) if plugins.is_known("stream", stream["name"]) else None
    return descriptions.call(descriptions.without_defaults(stream, maker))


def world_call(world: tuple[str, str]) -> str:
    """The call of :mod:`aomultirl.worlds` that makes a world."""
    return descriptions.call({"name": world[0], "parameters": json.loads(world[1])})


def differences(mine: Setting, others: Iterable[Setting]) -> str:
    """In what a setting differs from others, as a label has it; empty where in nothing."""
    others = list(others)
    parts = []
    if any(other.world != mine.world for other in others):
        parts.append(f"world={_world(mine.world, [other.world for other in others])}")
    if any(other.stream != mine.stream for other in others):
        parts.append(f"stream={mine.stream or UNKNOWN}")
    if any(other.noisy_rewards != mine.noisy_rewards for other in others):
        parts.append(f"noisy_rewards={mine.noisy_rewards}")
    return ", ".join(parts)


def _world(mine: tuple[str, str] | None, others: Sequence[tuple[str, str] | None]) -> str:
    """The world's name, with the parameters in which worlds of this name differ."""
    if mine is None:
        return UNKNOWN
    parameters = json.loads(mine[1])
    alike = [json.loads(other[1]) for other in others if other is not None and other[0] == mine[0]]
    differing = {
        name: value
        for name, value in parameters.items()
        if any(name not in other or other[name] != value for other in alike)
    }
    return descriptions.call({"name": mine[0], "parameters": differing}) if differing else mine[0]

"""What a history says of its making: who acted, in which worlds, in which order, and whether rewards were noisy.

Runs that differ in world, stream or noise are no repetitions of each other, whatever agent made them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aomultirl import descriptions, plugins
from aomultirl.experiments.history import History

UNKNOWN = "unknown"


class RunSetting(NamedTuple):
    """What a run was run on.

    world
        (name, parameters as JSON); None where nobody knows it.
    stream
        the call that makes it; None where nobody knows it.
    noisy_rewards
        whether rewards were drawn, 0 or 1.
    """

    world: tuple[str, str] | None
    stream: str | None
    noisy_rewards: bool


def agent_of(history: History) -> Mapping[str, Any]:
    """The description of the agent that a history says it is of; without a name where it does not say so."""
    return history.about.get("agent") or {"name": "", "parameters": {}}


def setting_of(history: History) -> RunSetting:
    """The setting that a history says it has."""
    world, stream = history.about.get("world"), history.about.get("stream")
    key = None if world is None else (str(world["name"]), json.dumps(world["parameters"]))
    return RunSetting(
        key, shortest_call(stream, "stream") if stream else None, bool(history.about.get("noisy_rewards"))
    )


def shortest_call(description: Mapping[str, Any], kind: str) -> str:
    """The call that makes what is described, without arguments that are the defaults."""
    return descriptions.call(what_was_given(description, kind))


def what_was_given(description: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The description without parameters that are the defaults, as far as these are known here."""
    name = description["name"]
    maker = plugins.find(kind, name) if plugins.is_known(kind, name) else None
    return descriptions.without_defaults(description, maker)


def world_call(world: tuple[str, str]) -> str:
    """The call of :mod:`aomultirl.worlds` that makes a world."""
    return descriptions.call({"name": world[0], "parameters": json.loads(world[1])})


def differences(mine: RunSetting, others: Iterable[RunSetting]) -> str:
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
    alike = [json.loads(other[1]) for other in others if other is not None and other[0] == mine[0]]
    differing = {
        name: value
        for name, value in json.loads(mine[1]).items()
        if any(name not in other or other[name] != value for other in alike)
    }
    return descriptions.call({"name": mine[0], "parameters": differing}) if differing else mine[0]


def labels(histories: Sequence[History]) -> list[str]:
    """For each history the agent's class, with the parameters in which agents of that class differ."""
    agents = [agent_of(history) for history in histories]
    found = []
    for agent in agents:
        name, mine = agent["name"], agent["parameters"]
        alike = [other["parameters"] for other in agents if other["name"] == name]
        differing = {key: value for key, value in mine.items() if any(other.get(key) != value for other in alike)}
        found.append(f"{name} ({descriptions.words(differing)})" if differing else name)
    return found

"""What a history says of its making: who acted, in which worlds, in which order, and whether rewards were noisy.

Runs that differ in world, stream or noise are no repetitions of each other, whatever agent made them.
"""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aomultirl.experiments.history import History

UNKNOWN = "unknown"
LONGEST_LITERAL = 100_000
"""Characters of a parameter that is read back from a history; the longest of ours have far fewer."""


class Setting(NamedTuple):
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


class Agent(NamedTuple):
    """The class of an agent, and its parameters as JSON has them."""

    name: str
    parameters: dict[str, Any]


def agent_of(history: History) -> Agent:
    """The agent that made a history."""
    about = history.about
    parameters = {name: _value(text) for name, text in about.get("parameters", {}).items()}
    return Agent(str(about.get("agent", "Agent")), parameters)


def _value(text: Any) -> Any:
    """The value that a repr stands for; {"object": repr} where it stands for no constant."""
    try:
        if len(text) > LONGEST_LITERAL:
            raise ValueError(f"a parameter of {len(text):,} characters")
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {"object": text}


def setting_of(history: History) -> Setting:
    """The setting that a history says it has."""
    about = history.about
    world = about.get("world")
    key = None if world is None else (str(world["name"]), json.dumps(world["parameters"]))
    return Setting(key, about.get("stream"), bool(about.get("noisy_rewards")))


def code(value: Any) -> str:
    """A parameter as Python code."""
    return str(value["object"]) if isinstance(value, Mapping) and value.keys() == {"object"} else repr(value)


def call(name: str, parameters: Mapping[str, Any]) -> str:
    """A call in Python."""
    return f"{name}({', '.join(f'{key}={code(value)}' for key, value in parameters.items())})"


def world_call(world: tuple[str, str]) -> str:
    """The call of :mod:`aomultirl.worlds` that makes a world."""
    return call(world[0], json.loads(world[1]))


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
    alike = [json.loads(other[1]) for other in others if other is not None and other[0] == mine[0]]
    differing = {
        name: value
        for name, value in json.loads(mine[1]).items()
        if any(name not in other or other[name] != value for other in alike)
    }
    return call(mine[0], differing) if differing else mine[0]


def labels(histories: Sequence[History]) -> list[str]:
    """For each history the agent's class, with the parameters in which agents of that class differ."""
    agents = [agent_of(history) for history in histories]
    found = []
    for name, mine in agents:
        alike = [other.parameters for other in agents if other.name == name]
        differing = {key: value for key, value in mine.items() if any(other.get(key) != value for other in alike)}
        found.append(call(f"{name} ", differing) if differing else name)
    return found

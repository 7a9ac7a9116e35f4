"""The configuration of a cell: its world, stream, agent, episodes and seed; not which run it is, nor what is recorded.

It is written as one canonical text, with defaults where nobody gave a parameter, so that two ways to write the same
thing are the same.
"""

import inspect
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from aomultirl import agents, streams, worlds

PARTS = {"world": worlds, "stream": streams, "agent": agents}
RUN = ("episodes", "seed")


def configuration(specification: Mapping[str, Any]) -> str:
    """As JSON.

    Examples
    --------
    >>> world, stream, agent = ({"name": name, "parameters": {}} for name in ("gridworld", "uniform", "Random"))
    >>> given = {"world": world, "stream": stream, "agent": agent, "episodes": 60, "seed": 0}
    >>> read(configuration(given))["world"]
    {'name': 'gridworld', 'parameters': {'edges': 'third', 'size': 4}}
    """
    return _filled(json.dumps({name: specification[name] for name in (*PARTS, *RUN)}))


@lru_cache(maxsize=100_000)
def _filled(text: str) -> str:
    found = json.loads(text)
    for part in PARTS:
        name, given = found[part]["name"], found[part]["parameters"]
        found[part] = {"name": name, "parameters": {**defaults(part, name), **given}}
    return json.dumps(found, sort_keys=True)


@lru_cache(maxsize=100)
def defaults(part: str, name: str) -> dict[str, Any]:
    """Of the parameters of a world, a stream or an agent, as JSON has them; nobody may change it."""
    maker = getattr(PARTS[part], name, None)
    known = inspect.signature(maker).parameters if callable(maker) else {}
    values = {key: one.default for key, one in known.items() if one.default is not one.empty}
    return dict(json.loads(json.dumps(values, default=repr)))


@lru_cache(maxsize=100_000)
def read(text: str) -> dict[str, Any]:
    """What the text says; nobody may change it."""
    return dict(json.loads(text))

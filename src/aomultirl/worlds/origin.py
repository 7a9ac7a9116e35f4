"""Which function made a set of worlds, and with what: enough to make it again."""

import json
from collections.abc import Mapping
from typing import Any


def origin(name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """What :func:`aomultirl.descriptions.make` takes; None where an argument cannot be written down.

    Examples
    --------
    >>> origin("gridworld", {"size": 4, "edges": "stay"})
    {'name': 'gridworld', 'parameters': {'size': 4, 'edges': 'stay'}}
    >>> origin("from_gymnasium", {"envs": object()}) is None
    True
    """
    try:
        parameters = json.loads(json.dumps(dict(arguments), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None
    return {"name": name, "parameters": parameters}

"""Examples of how to use what can be made by name: in Python, in the file of an experiment, and on the command line.

What has no default gets a value that fits the worlds of the first examples: four grids, H = 500.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aomultirl import plugins

VALUES: Mapping[str, Any] = {
    "accuracy": 0.05,
    "batch": 20,
    "choose": {"function": "lambda past: len(past) % 4"},
    "envs": ["FrozenLake-v1"],
    "failure": 0.03,
    "first_episodes": 20,
    "hitting_time": 7.0,
    "horizon": 500,
    "learner": {"name": "Practical", "parameters": {}},
    "length": 10,
    "means": [[0.9, 0.1], [0.1, 0.9]],
    "models": 4,
    "rarest": 0.1,
    "samples": 100,
    "separation": 1.2,
    "tasks": [0, 1, 2, 3, 0],
    "variation": 2.0,
}
"""An example of each parameter that something of ours needs."""
OF_ONE: Mapping[str, Mapping[str, Any]] = {
    "AOMultiRL": {"learning_horizon": 200},
    "CECE": {"horizon": 50_000},
    "DoublingAOMultiRL": {"horizon": 200_000},
    "TwoStageAOMultiRL": {"learning_horizon": 200},
}
"""What some agents need besides, or in place of these: one of two parameters, or longer episodes."""
CLUSTERING = 80_000
"""Steps of a clustering phase, which no theory gives for some explorers; those of the paper's experiment."""
LONGEST = 76
"""Characters of a line."""
SEPARATOR = re.compile(r", (?=\w+=)(?![^()]*\))")
"""What is between two arguments of a call, outside the calls that are arguments of it."""
UNKNOWN = {"object": "..."}
"""The same for a parameter of a stranger's."""
Described = dict[str, Any]
"""{"name", "parameters"}, as everywhere."""


def examples(kind: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """Titles, and lines of an example each."""
    if kind == "suite":
        yield "For example", [f"aomultirl compare --suite {name} --quick"]
        return
    shown_kind, described = _example(kind, name)
    module = plugins.module_of(kind, name)
    brought = "import aomultirl as ao" if module is None else f"import aomultirl as ao, {module}"
    noun = {"world": "worlds"}.get(shown_kind, shown_kind)
    yield "In Python", [brought, *_lines(f"{noun} = ", python(shown_kind, described))]
    if _fits_a_file(described):
        option = "" if module is None else f" --plugin {module}"
        yield f"In the file of an experiment, for aomultirl run FILE.toml{option}", toml(shown_kind, described)
    if kind == "world":
        words = "".join(f" {key}={_word(value)}" for key, value in described["parameters"].items())
        option = "" if module is None else f" --plugin {module}"
        yield "On the command line", [f"aomultirl inspect {name}{words}{option}"]


def _example(kind: str, name: str) -> tuple[str, Described]:
    """What to show: the thing itself, or an agent that it is a part of."""
    from aomultirl import descriptions

    maker = plugins.find(kind, name)
    needed = [key for key, one in descriptions.signature(maker).parameters.items() if descriptions.is_needed(one)]
    given = {key: VALUES.get(key, UNKNOWN) for key in needed}
    described = {"name": name, "parameters": {**given, **(OF_ONE.get(name, {}) if kind == "agent" else {})}}
    if kind == "learner":
        told = {"learner": described, "horizon": VALUES["horizon"], "failure": VALUES["failure"]}
        return "agent", {"name": "Pooled", "parameters": told}
    if kind == "explorer":
        told = {key: VALUES[key] for key in ("models", "separation", "hitting_time", "failure")}
        told |= {**OF_ONE["AOMultiRL"], "clustering_horizon": CLUSTERING}
        return "agent", {"name": "AOMultiRL", "parameters": {**told, "explorer": described}}
    return kind, described


def python(kind: str, described: Described) -> str:
    """The call that makes it, with the modules that the names are in."""
    from aomultirl import descriptions

    name, given = described["name"], described["parameters"]
    kinds = descriptions.parameter_kinds(plugins.find(kind, name))
    parts = [
        f"{key}={python(kinds[key], value) if descriptions.is_description(value) else descriptions.code(value)}"
        for key, value in given.items()
    ]
    home = plugins.module_of(kind, name) or f"ao.{plugins.ROOMS[kind]}"
    return f"{home}.{name}({', '.join(parts)})"


def _lines(before: str, call: str) -> list[str]:
    """A call, with an argument a line where it is long."""
    if len(before + call) <= LONGEST:
        return [before + call]
    name, _, rest = call.removesuffix(")").partition("(")
    return [f"{before}{name}(", *(f"    {argument}," for argument in SEPARATOR.split(rest)), ")"]


def toml(kind: str, described: Described) -> list[str]:
    """The lines of the file; what an agent asks of the world need not stand there, and does."""
    lines = [f"[[{kind}s]]", f"name = {json.dumps(described['name'])}"]
    return [*lines, *(f"{key} = {_toml_value(value)}" for key, value in described["parameters"].items())]


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = {"name": value["name"], **value["parameters"]}
        return f"{{{', '.join(f'{key} = {_toml_value(one)}' for key, one in inside.items())}}}"
    return json.dumps(value)


def _fits_a_file(described: Described) -> bool:
    """Whether the example has nothing but what files can hold: no function, and nothing unknown."""
    return not any(isinstance(value, Mapping) and len(value) == 1 for value in described["parameters"].values())


def _word(value: Any) -> str:
    """A value as a command takes it."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)

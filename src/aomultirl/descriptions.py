"""One description of anything that was constructed: its name and its parameters as JSON, and the way back.

::

    {"name": "AOMultiRL", "parameters": {"failure": 0.03, "learner": {"name": "UCBVI", "parameters": {...}}, ...}}

Parameters that are themselves constructed are described in the same way.  A set of worlds is described by the call that
made it, where that is known (:mod:`aomultirl.worlds.origin`), and by its sizes and a digest of its content otherwise;
a long array by its shape and a digest; a function by its name.  These last three have no way back.

The same description gives one canonical text, with the defaults of all that was not given; labels, in words for people;
and the Python call that makes the thing.
"""

import hashlib
import inspect
import json
import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any

import numpy as np

from aomultirl import checks, plugins
from aomultirl.model_set import ModelSet
from aomultirl.plugins import Maker

LONGEST_ARRAY = 200
"""Entries of an array that is written out; a distinguishing set of a hundred pairs is."""
LONGEST_REPR = 1000
"""Characters of an object that has no description but its repr."""
Description: typing.TypeAlias = dict[str, Any]
"""{"name": ..., "parameters": {...}}, as JSON can hold it."""


def describe(thing: Any) -> Description:
    """The name and the parameters of something that was constructed.

    Examples
    --------
    >>> from aomultirl import agents, worlds
    >>> describe(agents.Random(horizon=20))
    {'name': 'Random', 'parameters': {'horizon': 20}}
    >>> describe(worlds.gridworld(edges="stay"))
    {'name': 'gridworld', 'parameters': {'size': 4, 'edges': 'stay'}}
    """
    if isinstance(thing, ModelSet):
        return dict(thing.origin) if thing.origin is not None else _worlds(thing)
    return {"name": type(thing).__name__, "parameters": {name: data(one) for name, one in parameters(thing).items()}}


def parameters(thing: Any) -> dict[str, Any]:
    """The parameters of something that was constructed, as far as it keeps them under their own names."""
    own = getattr(thing, "parameters", None)
    if callable(own):
        return dict(own())
    if hasattr(thing, "_asdict"):
        return dict(thing._asdict())
    return {name: getattr(thing, name) for name in inspect.signature(type(thing)).parameters if hasattr(thing, name)}


def data(value: Any) -> Any:
    """A value of a parameter as JSON can hold it; numbers that JSON does not have become text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return data(value.tolist()) if value.size <= LONGEST_ARRAY else _array(value)
    if isinstance(value, ModelSet) or is_made(value):
        return describe(value)
    if isinstance(value, list | tuple):
        return [data(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): data(one) for name, one in value.items()}
    if inspect.isroutine(value):
        return {"function": value.__name__}
    return {"object": repr(value)[:LONGEST_REPR]}


def is_made(value: Any) -> bool:
    """Whether a value was constructed with parameters that can be asked for."""
    if isinstance(value, type):
        return False
    return plugins.kind_of(value) is not None or is_dataclass(value) or hasattr(value, "_asdict")


def is_description(value: Any) -> bool:
    """Whether JSON data describes something that was constructed."""
    return (
        isinstance(value, Mapping)
        and value.keys() == {"name", "parameters"}
        and isinstance(value["name"], str)
        and isinstance(value["parameters"], Mapping)
    )


def make(description: Mapping[str, Any], kind: str) -> Any:
    """Make what is described; ``kind`` is one of :data:`aomultirl.plugins.KINDS`.

    Raises
    ------
    ValueError
        nothing of that kind has the name; a parameter does not exist, or is needed and missing; or what is made
        refuses its parameters.

    Examples
    --------
    >>> make({"name": "Random", "parameters": {"horizon": 20}}, "agent")
    Random(horizon=20)
    """
    name, given = description["name"], description["parameters"]
    maker = plugins.find(kind, name)
    known = signature(maker).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in given:
        if key not in known and not takes_any:
            hint = checks.closest(key, known) or f"it has {', '.join(known)}"
            raise ValueError(f"{kind} {name!r} has no parameter {key!r}; {hint}")
    for key, parameter in known.items():
        if is_needed(parameter) and key not in given:
            raise ValueError(f"{kind} {name!r} needs {key}=...")
    made = maker(**_inside(maker, given, make))
    if isinstance(made, ModelSet) and made.origin is None:
        made.origin = filled(description, kind)
    return made


def filled(description: Mapping[str, Any], kind: str) -> Description:
    """The description with the defaults of the parameters that were not given, at every level.

    What nobody here offers, such as an agent of a plug-in that is not loaded, stays as it is.
    """
    name, given = description["name"], description["parameters"]
    if not plugins.is_known(kind, name):
        return {"name": name, "parameters": dict(given)}
    maker = plugins.find(kind, name)
    return {"name": maker.__name__, "parameters": _inside(maker, {**defaults(maker), **given}, filled)}


def _inside(maker: Maker, given: Mapping[str, Any], change: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Parameters in which those that are described, and made by name, are changed by ``change(description, kind)``."""
    kinds = parameter_kinds(maker)
    return {
        key: change(value, kinds[key]) if key in kinds and is_description(value) else value
        for key, value in given.items()
    }


@cache
def defaults(maker: Maker) -> Mapping[str, Any]:
    """The defaults of the parameters that have one, as JSON; nobody may change it.

    Keywords that are unset by default, because they change a part that is a parameter too, have none.
    """
    known, unset = signature(maker).parameters, getattr(getattr(maker, "__init__", None), "unset", ())
    return {key: data(one.default) for key, one in known.items() if one.default is not one.empty and key not in unset}


@cache
def signature(maker: Maker) -> inspect.Signature:
    """The parameters that something is made with; annotations written as text are read where that can be done."""
    plain = inspect.signature(maker)
    if not any(isinstance(parameter.annotation, str) for parameter in plain.parameters.values()):
        return plain
    from gymnasium import Env  # the one name that only type checkers import here

    try:
        return inspect.signature(maker, eval_str=True, locals={"Env": Env})
    except Exception:  # a stranger's module may import names for type checkers only
        return plain


@cache
def parameter_kinds(maker: Maker) -> Mapping[str, str]:
    """The parameters whose values are themselves made by name, with their kinds, as the annotations say."""
    kinds: dict[str, str] = {}
    for name, parameter in signature(maker).parameters.items():
        for member in union_members(parameter.annotation):
            kind = plugins.kind_of(member) if isinstance(member, type) else None
            if kind is not None:
                kinds[name] = kind
    return kinds


def union_members(hint: Any) -> list[Any]:
    """The members of a union, or the one type that an annotation is."""
    return list(typing.get_args(hint)) if typing.get_origin(hint) in (typing.Union, UnionType) else [hint]


def is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a parameter must be given."""
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    )


def summary(maker: Maker) -> tuple[str, str]:
    """What a thing is, the beginning of its docstring, and what it is made with, name=value for all parameters.

    Examples
    --------
    >>> from aomultirl import worlds
    >>> summary(worlds.gridworld)
    ("The paper's four grids, start at row 1, column 1.", 'size=4 edges=third')
    """
    first = (inspect.getdoc(maker) or "").split("\n\n")[0].replace("\n", " ")
    known = defaults(maker)
    names = (name for name, one in signature(maker).parameters.items() if one.kind is not one.VAR_KEYWORD)
    return first, " ".join(f"{name}={_lower(known[name])}" if name in known else name for name in names)


def _lower(value: Any) -> str:
    """A default as a command takes it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return written(value) if is_description(value) else str(value)


def members(description: Mapping[str, Any], kind: str) -> typing.Iterator[tuple[str, str]]:
    """(kind, name) of what is described, and of everything in its parameters that is made by name."""
    name = description["name"]
    yield kind, name
    kinds = parameter_kinds(plugins.find(kind, name)) if plugins.is_known(kind, name) else {}
    for key, value in description["parameters"].items():
        if key in kinds and is_description(value):
            yield from members(value, kinds[key])


def text(described: Any) -> str:
    """The canonical text of JSON data: names in their order, so that the same data are the same text."""
    return json.dumps(described, sort_keys=True)


def digest(described: Any) -> str:
    """The SHA-256 of JSON data, as 64 hexadecimal digits."""
    compact = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()


def label(name: str, parameters: Mapping[str, Any]) -> str:
    """A name with parameters, in words for people.

    Examples
    --------
    >>> label("Recall", {"horizon": 500, "pairs": [[1, 0], [8, 3]]})
    'Recall, horizon=500, pairs=[[1,0],[8,3]]'
    """
    return f"{name}, {words(parameters)}" if parameters else name


def named(label: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The way back from :func:`label`: the name, and those of the parameters that the label shows, in its order.

    Examples
    --------
    >>> named("Recall, horizon=500", {"failure": 0.03, "horizon": 500})
    ('Recall', {'horizon': 500})
    """
    places, rest = {}, f"{label}, "
    for name, value in parameters.items():
        shown = f", {words({name: value})}, "
        if shown in rest:
            places[name] = label.index(shown[:-2])
            rest = rest.replace(shown, ", ", 1)
    return rest[:-2], {name: parameters[name] for name in sorted(places, key=places.__getitem__)}


def words(parameters: Mapping[str, Any]) -> str:
    """Parameters as labels show them.

    Examples
    --------
    >>> words({"edges": "stay", "learner": {"name": "UCBVI", "parameters": {"bonus": "paper"}}})
    'edges=stay, learner=UCBVI(bonus=paper)'
    """
    return ", ".join(f"{name}={written(value)}" for name, value in parameters.items())


def written(value: Any) -> str:
    """A value as labels show it: without quotes, and without spaces in lists."""
    if is_description(value):
        return f"{value['name']}({words(value['parameters'])})" if value["parameters"] else str(value["name"])
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def call(description: Mapping[str, Any]) -> str:
    """The Python call that makes what is described, without the module that the name is in.

    Examples
    --------
    >>> call({"name": "gridworld", "parameters": {"size": 4, "edges": "stay"}})
    "gridworld(size=4, edges='stay')"
    """
    return f"{description['name']}({', '.join(f'{k}={code(v)}' for k, v in description['parameters'].items())})"


def code(value: Any) -> str:
    """A value of a parameter as Python code; what has no way back is shown as it was described."""
    if is_description(value):
        return call(value)
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, words),) = value.items()
        if kind in ("function", "object") and isinstance(words, str):
            return words
    return repr(value)


def without_defaults(description: Mapping[str, Any], maker: Maker | None) -> Description:
    """The description without the parameters that have the defaults of what makes it; None where nobody knows that.

    Of a part, what differs from the default part stands as keywords where the maker takes them for it; keywords that
    change nothing are left out, and cells of earlier versions have them all.

    Examples
    --------
    >>> from aomultirl import agents, learning
    >>> told = {"failure": 0.1, "learner": describe(learning.UCBVI(bonus="released")), "ties": "random"}
    >>> without_defaults({"name": "AOMultiRL", "parameters": told}, agents.AOMultiRL)["parameters"]
    {'failure': 0.1, 'bonus': 'released'}
    """
    given, known = description["parameters"], {} if maker is None else defaults(maker)
    unset = getattr(getattr(maker, "__init__", None), "unset", ())
    parts = [part["parameters"] for part in {**known, **given}.values() if is_description(part)]
    kept: dict[str, Any] = {}
    for key, value in given.items():
        changes_nothing = key in unset and (value is None or any(part.get(key) == value for part in parts))
        if changes_nothing or (key in known and known[key] == value):
            continue
        usual = known.get(key, {})
        if is_description(value) and is_description(usual) and value["name"] == usual["name"]:
            changed = {name: one for name, one in value["parameters"].items() if usual["parameters"].get(name) != one}
            kept |= changed if changed.keys() <= set(unset) else {key: {**value, "parameters": changed}}
        else:
            kept[key] = value
    return {"name": description["name"], "parameters": kept}


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:20]
    return {"array": {"shape": list(array.shape), "type": array.dtype.name, "digest": content}}


def _worlds(models: ModelSet) -> Description:
    """Worlds that nobody can say the origin of: their sizes, and a digest of their transitions, rewards and starts."""
    content = hashlib.sha256(np.ascontiguousarray(models.rewards).tobytes())
    for world in models:
        for array in (*world.successors, world.start_distribution):
            content.update(np.ascontiguousarray(array).tobytes())
    sizes = {"worlds": len(models), "states": models.n_states, "actions": models.n_actions}
    return {"name": "ModelSet", "parameters": {**sizes, "digest": content.hexdigest()[:20]}}

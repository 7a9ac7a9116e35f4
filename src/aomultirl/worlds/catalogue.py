"""Worlds by name, for the command line and for files that describe experiments."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from aomultirl import checks, worlds
from aomultirl.mdp import ModelSet
from aomultirl.worlds.gymnasium_import import check_registered


def names() -> list[str]:
    """The names of all worlds."""
    return list(worlds.__all__)


def function(name: str) -> Callable[..., ModelSet]:
    """The function that makes the world called ``name``; hyphens count as underscores."""
    plain = name.replace("-", "_")
    if plain not in worlds.__all__:
        close = get_close_matches(plain, worlds.__all__, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(worlds.__all__)}"
        raise ValueError(f"there is no world {checks.shown(name)}; {hint}")
    made: Callable[..., ModelSet] = getattr(worlds, plain)
    return made


def make(name: str, parameters: Mapping[str, Any]) -> ModelSet:
    """The world called ``name``; parameters it does not have, or needs and is not given, raise a ValueError.

    The parameters are trusted: they are what a user typed.  Those that a file holds go to :func:`make_from_file`.
    """
    maker = function(name)
    known = inspect.signature(maker).parameters
    for key in parameters:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
            raise ValueError(f"world {name!r} has no parameter {key!r}; {hint}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise ValueError(f"world {name!r} needs {key}=...")
    return maker(**parameters)


def make_from_file(name: str, parameters: Mapping[str, Any]) -> ModelSet:
    """The same for parameters that somebody else may have written: none of them may have a module imported."""
    if needs_gymnasium(name):
        check_registered(parameters.get("envs"))
    return make(name, parameters)


def needs_gymnasium(name: str) -> bool:
    """Whether making the world called ``name`` makes Gymnasium environments, which runs the code that they are."""
    return function(name) is worlds.from_gymnasium


def describe(name: str) -> tuple[str, str]:
    """(first sentence of its docstring, parameters with their defaults)."""
    maker = function(name)
    summary = (inspect.getdoc(maker) or "").split("\n\n")[0].replace("\n", " ")
    parameters = (
        key if parameter.default is parameter.empty else f"{key}={_written(parameter.default)}"
        for key, parameter in inspect.signature(maker).parameters.items()
    )
    return summary, " ".join(parameters)


def parse(words: Iterable[str]) -> dict[str, Any]:
    """{name: value} from words ``name=value``; commas make a tuple."""
    parameters: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key or not text:
            raise ValueError(f"{checks.shown(word)} is not of the form name=value")
        if key in parameters:
            raise ValueError(f"{checks.shown(key)} is given twice")
        parts = [_value(part) for part in text.split(",")]
        parameters[key] = parts[0] if len(parts) == 1 else tuple(parts)
    return parameters


def _value(text: str) -> Any:
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _written(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)

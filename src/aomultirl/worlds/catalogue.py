"""Worlds by name, for the command line and for files that describe experiments."""

from collections.abc import Iterable, Mapping
from typing import Any

from aomultirl import checks, descriptions, plugins, worlds
from aomultirl.model_set import ModelSet
from aomultirl.worlds.gymnasium_import import check_registered


def make(name: str, parameters: Mapping[str, Any]) -> ModelSet:
    """The world called ``name``; parameters it does not have, or needs and is not given, raise a ValueError.

    The parameters are trusted: they are what a user typed.  Those that a file holds go to :func:`make_from_file`.
    """
    made: ModelSet = descriptions.make({"name": name, "parameters": parameters}, "world")
    return made


def make_from_file(name: str, parameters: Mapping[str, Any]) -> ModelSet:
    """The same for parameters that somebody else may have written: none of them may have a module imported."""
    if needs_gymnasium(name):
        check_registered(parameters.get("envs"))
    return make(name, parameters)


def make_again(world: Mapping[str, Any]) -> ModelSet | None:
    """The worlds that a file of results names, {"name", "parameters"}; None where they cannot be made here.

    Environments of Gymnasium are never made for it, because that runs their code.
    """
    try:
        if needs_gymnasium(world["name"]):
            return None
        return make_from_file(world["name"], world["parameters"])
    except (ImportError, OSError, ValueError):
        return None


def needs_gymnasium(name: str) -> bool:
    """Whether making the world called ``name`` makes Gymnasium environments, which runs the code that they are."""
    return plugins.find("world", name) is worlds.from_gymnasium


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

"""What a parameter of a world, a stream or an agent can be in a file, as the signature of what takes it says."""

import inspect
import math
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Any

from aomultirl import agents, checks, streams
from aomultirl.agents import Agent
from aomultirl.streams import Stream
from aomultirl.worlds import catalogue

NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
FACTS = ("models", "separation", "distinguishing_set", "hitting_time")
"""What an agent can be told about the worlds, and the worlds can say."""
ASK = "world"
"""The value that asks them."""


@dataclass(frozen=True)
class Parameter:
    """kinds: those of its values that a file can hold, of bool, int, float, str; is_list: a list is one of its values.

    required: it has no default.  is_fact: the worlds can say it.
    """

    kinds: tuple[type, ...]
    is_list: bool
    required: bool
    default: Any
    is_fact: bool

    @property
    def is_describable(self) -> bool:
        """A file can hold one of its values."""
        return bool(self.kinds) or self.is_list

    def read(self, key: str, value: Any) -> Any:
        """``value``, checked; a whole number becomes a float where only floats are taken."""
        if not self.is_describable:
            raise ValueError(f"{key} takes a Python object, which a file cannot describe")
        if self.is_fact and value == ASK:
            return value
        if self.is_list and isinstance(value, list):
            return [_read_inner(f"{key}[{place}]", item) for place, item in enumerate(value)]
        kind = float if type(value) is int and int not in self.kinds else type(value)
        if kind not in self.kinds:
            nouns = [noun for name, noun in NOUNS.items() if name in self.kinds]
            expected = [*nouns, *["a list"] * self.is_list, *[f'"{ASK}"'] * self.is_fact]
            raise ValueError(f"{key} must be {' or '.join(expected)}, not {checks.shown(value)}")
        return _finite(key, value, kind)


def _read_inner(key: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_read_inner(f"{key}[{place}]", item) for place, item in enumerate(value)]
    if type(value) not in NOUNS:
        raise ValueError(f"{key} must be a number, a text or a list, not {checks.shown(value)}")
    return _finite(key, value, type(value))


def _finite(key: str, value: Any, kind: type) -> Any:
    try:
        same = kind(value)
    except OverflowError:
        same = math.inf
    if isinstance(same, float) and not math.isfinite(same):
        raise ValueError(f"{key} must be finite, not {same}")
    if isinstance(same, int) and same.bit_length() > checks.SEED_BITS:  # longer ones cannot even be written down
        raise ValueError(f"{key} must be below 2**{checks.SEED_BITS}, not {checks.shown(same)}")
    return same


@cache
def parameters_of(maker: Callable[..., Any]) -> Mapping[str, Parameter]:
    """The parameters that a function, or a class, takes."""
    is_agent = isinstance(maker, type) and issubclass(maker, Agent)
    found = {}
    for name, parameter in _signature(maker).parameters.items():
        members, required = _members(parameter.annotation), parameter.default is parameter.empty
        found[name] = Parameter(
            tuple(kind for kind in NOUNS if kind in members),
            any((typing.get_origin(member) or member) in (list, tuple, Sequence, Iterable) for member in members),
            required,
            None if required else parameter.default,
            is_agent and name in FACTS,
        )
    return found


def _signature(maker: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(maker)
    if any(isinstance(parameter.annotation, str) for parameter in signature.parameters.values()):
        from gymnasium import Env  # the one name that only type checkers import

        return inspect.signature(maker, eval_str=True, locals={"Env": Env})
    return signature


def _members(hint: Any) -> list[Any]:
    """The members of a union, or the one type that it is."""
    return list(typing.get_args(hint)) if typing.get_origin(hint) in (typing.Union, UnionType) else [hint]


@cache
def makers(noun: str) -> dict[str, Callable[..., Any]]:
    """All worlds, streams or agents by name; ``noun`` is "world", "stream" or "agent"."""
    if noun == "world":
        return {name: catalogue.function(name) for name in catalogue.names()}
    module, base = (streams, Stream) if noun == "stream" else (agents, Agent)
    return {
        name: kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, base) and kind is not base
    }


def find(noun: str, key: str, name: str) -> Callable[..., Any]:
    """The world, stream or agent called ``name``; hyphens count as underscores."""
    known = makers(noun)
    plain = name.replace("-", "_")
    if plain not in known:
        close = closest(plain, known)
        raise ValueError(
            f"{key}.name is {checks.shown(name)}, and there is no such {noun}; {close or f'there are {_list(known)}'}"
        )
    return known[plain]


def check_known(key: str, name: str, owner: str, valid: Iterable[str]) -> None:
    """Refuse a key that nothing takes, with the closest one that is taken."""
    valid = list(valid)
    if name not in valid:
        place = f"{key}.{checks.cut(name)}" if key else checks.cut(name)
        raise ValueError(f"{place} is not known to {owner}; {closest(name, valid) or f'it takes {_list(valid)}'}")


def closest(name: str, valid: Iterable[str]) -> str:
    """A question whether the closest name was meant; empty where none is close."""
    known = {word.lower(): word for word in valid}
    close = get_close_matches(name[: checks.SHOWN].lower(), known, n=1)
    return f"did you mean {known[close[0]]!r}?" if close else ""


def _list(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))

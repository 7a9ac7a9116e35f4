"""What a parameter of a world, a stream, an agent, a learner or an explorer can be in a file, as its signature says."""

import math
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from aomultirl import checks, descriptions, plugins
from aomultirl.agents import Agent
from aomultirl.plugins import Maker

NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
FACTS = ("models", "separation", "distinguishing_set", "hitting_time", "means")
"""What an agent can be told about the worlds, and the worlds can say."""
FROM_WORLD = "world"
"""The value that asks them."""


@dataclass(frozen=True)
class Parameter:
    """A parameter.

    types
        those of its values that a file can hold, of bool, int, float and str.
    is_list
        a list is one of its values.
    made
        its values are things of this kind, made by name: "learner"; None where they are not.
    required
        it has no default.
    is_fact
        the worlds can say it.
    """

    types: tuple[type, ...]
    is_list: bool
    made: str | None
    required: bool
    is_fact: bool

    @property
    def is_describable(self) -> bool:
        """A file can hold one of its values."""
        return bool(self.types) or self.is_list or self.made is not None

    def read(self, key: str, value: Any) -> Any:
        """``value``, checked; a whole number becomes a float where only floats are taken."""
        if not self.is_describable:
            raise ValueError(f"{key} takes a Python object, which a file cannot describe")
        if self.is_fact and value == FROM_WORLD:
            return value
        if self.is_list and isinstance(value, list):
            return [_read_inner(f"{key}[{place}]", item) for place, item in enumerate(value)]
        kind = float if type(value) is int and int not in self.types else type(value)
        if kind not in self.types:
            nouns = [noun for name, noun in NOUNS.items() if name in self.types]
            made = [] if self.made is None else [f"the name of {checks.with_article(self.made)}", "a table with a name"]
            expected = [*nouns, *made, *["a list"] * self.is_list, *[f'"{FROM_WORLD}"'] * self.is_fact]
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
def parameters_of(maker: Maker) -> Mapping[str, Parameter]:
    """The parameters that a function, or a class, takes."""
    is_agent = isinstance(maker, type) and issubclass(maker, Agent)
    kinds = descriptions.parameter_kinds(maker)
    found = {}
    for name, parameter in descriptions.signature(maker).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        members = descriptions.union_members(parameter.annotation)
        is_fact = is_agent and name in FACTS
        found[name] = Parameter(
            types=tuple(kind for kind in NOUNS if kind in members),
            is_list=any((typing.get_origin(each) or each) in (list, tuple, Sequence, Iterable) for each in members),
            made=None if is_fact else kinds.get(name),
            required=descriptions.is_needed(parameter),
            is_fact=is_fact,
        )
    return found


def find(kind: str, key: str, name: Any) -> Maker:
    """What is called ``name`` of a kind such as "agent"; hyphens count as underscores."""
    try:
        return plugins.find(kind, name)
    except plugins.UnknownNameError as error:
        raise ValueError(f"{key}.name is {checks.shown(name)}, and there is no such {kind}; {error.hint}") from None


def check_key(key: str, name: str, owner: str, valid: Iterable[str]) -> None:
    """Refuse a key that nothing takes, with the closest one that is taken."""
    valid = list(valid)
    if name not in valid:
        place = f"{key}.{checks.cut(name)}" if key else checks.cut(name)
        hint = checks.closest(name, valid) or f"it takes {', '.join(sorted(valid))}"
        raise ValueError(f"{place} is not known to {owner}; {hint}")

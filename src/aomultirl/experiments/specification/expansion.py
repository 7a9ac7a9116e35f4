"""From one entry of a specification, such as ``[[agents]]``, to all that its lists stand for."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from aomultirl import checks, sizes
from aomultirl.descriptions import label, words, written
from aomultirl.experiments.specification.parameters import Parameter, check_key, find, parameters_of

MOST = 1_000_000
"""Cells of one experiment."""
CONFIGURATION_BYTES = 1000
"""Memory for a configuration and what describes it: twice the 480 bytes measured for two parameters that vary."""


@dataclass(frozen=True)
class Variant:
    """One world, stream or agent; key: where it is in the file, "agents[0]"; varied: what its entry's lists chose."""

    key: str
    name: str
    parameters: Mapping[str, Any]
    varied: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The key, with the name and what distinguishes it from others of the same entry."""
        return f"{self.key} ({checks.cut(label(self.name, self.varied))})"

    def described(self) -> dict[str, Any]:
        """As a cell holds it."""
        return {"name": self.name, "parameters": dict(self.parameters)}


def expand(
    noun: str,
    key: str,
    name: str,
    given: Mapping[str, Any],
    grid: Mapping[str, Any],
    zips: Sequence[Mapping[str, Any]],
    reserved: Iterable[str],
) -> list[Variant]:
    """Every combination of the values in an entry's lists.

    Parameters
    ----------
    noun
        "world", "stream", "agent", "learner" or "explorer".
    given
        the parameters in the entry: a list is one value where the parameter takes lists, and several elsewhere.
    grid
        lists of values, for any parameter.
    zips
        groups of parameters that vary together.
    reserved
        the other keys that an entry has, to suggest them.
    """
    maker = find(noun, key, name)
    known = parameters_of(maker)
    _check_names(key, maker.__name__, known, given, grid, zips, reserved)
    fixed: dict[str, Any] = {}
    axes: list[list[dict[str, Any]]] = []
    for parameter, value in given.items():
        where, kind = f"{key}.{parameter}", known[parameter]
        if kind.made is not None:
            values = _made(where, kind, value)
            steps = _steps(where, parameter, [each.described() for each in values])
            if isinstance(value, list) or any(each.varied for each in values):
                axes.append(steps)
            else:
                fixed |= steps[0]
        elif isinstance(value, list) and not kind.is_list and kind.is_describable:
            axes.append(_axis(where, parameter, value, known))
        else:
            fixed[parameter] = kind.read(where, value)
    axes += [_axis(f"{key}.grid.{parameter}", parameter, values, known) for parameter, values in grid.items()]
    for place, group in enumerate(zips):
        where = f"{key}.zip" if len(zips) == 1 else f"{key}.zip[{place}]"
        axes.append(_together(where, group, known))
    count = math.prod(map(len, axes))
    if count > MOST:
        number = f"{count:,}" if count <= checks.LARGEST else checks.shown(count)
        raise ValueError(f"{key} ({name}) makes {number} configurations; at most {MOST:,} may be")
    sizes.check(key, f"{count} configurations", float(CONFIGURATION_BYTES) * count, "describing them", "its lists")
    variants = []
    for choice in product(*axes):
        varied = {parameter: value for part in choice for parameter, value in part.items()}
        variants.append(Variant(key, maker.__name__, fixed | varied, varied))
    return variants


def _check_names(
    key: str,
    name: str,
    known: Mapping[str, Parameter],
    given: Mapping[str, Any],
    grid: Mapping[str, Any],
    zips: Sequence[Mapping[str, Any]],
    reserved: Iterable[str],
) -> None:
    """Refuse parameters that do not exist, are given twice, or are needed and missing."""
    for parameter in given:
        check_key(key, parameter, name, [*known, *reserved])
    told = dict.fromkeys(given, key)
    for where, group in [("grid", grid), *(("zip", group) for group in zips)]:
        for parameter in group:
            check_key(f"{key}.{where}", parameter, name, known)
            if parameter in told:
                raise ValueError(f"{key}.{where}.{parameter} is given twice, also as {told[parameter]}.{parameter}")
            told[parameter] = f"{key}.{where}"
    for parameter, kind in known.items():
        if kind.required and parameter not in told and not kind.is_fact:
            hint = "" if kind.is_describable else ", a Python object, which a file cannot describe"
            raise ValueError(f"{key} ({name}) needs {parameter}{hint}")


def _axis(key: str, parameter: str, values: list[Any], known: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    read = [each for place, value in enumerate(values) for each in _values(f"{key}[{place}]", known[parameter], value)]
    return _steps(key, parameter, read)


def _steps(key: str, parameter: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """The values of a parameter that varies, one dictionary for each."""
    check_list(key, values)
    return [{parameter: value} for value in values]


def _values(key: str, parameter: Parameter, value: Any) -> list[Any]:
    """What a value in a file stands for: itself, or all that its own lists make where it is made by name."""
    if parameter.made is None:
        return [parameter.read(key, value)]
    return [variant.described() for variant in _made(key, parameter, value)]


def _made(key: str, parameter: Parameter, value: Any) -> list[Variant]:
    """Things that are made by name: ``"UCRL2"``, ``{name = "UCBVI", bonus = ["paper", ...]}`` or a list of these."""
    if isinstance(value, list):
        return [each for place, inner in enumerate(value) for each in _made(f"{key}[{place}]", parameter, inner)]
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        parameter.read(key, value)
    given = {name: inner for name, inner in table.items() if name != "name"}
    return expand(str(parameter.made), key, table["name"], given, {}, (), ["name"])


def _together(key: str, group: Mapping[str, list[Any]], known: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    """The values of parameters that vary together, one dictionary for each step."""
    read = {
        parameter: [_one(f"{key}.{parameter}[{i}]", known[parameter], value) for i, value in enumerate(values)]
        for parameter, values in group.items()
    }
    if not read:
        raise ValueError(f"{key} is an empty table")
    for parameter, values in read.items():
        if not values:
            raise ValueError(f"{key}.{parameter} is an empty list")
    (first, values), *others = read.items()
    for parameter, theirs in others:
        if len(theirs) != len(values):
            raise ValueError(
                f"{key} holds lists of different lengths: {first} has {len(values)} values, {parameter} {len(theirs)}"
            )
    steps = [dict(zip(read, step, strict=True)) for step in zip(*read.values(), strict=True)]
    check_list(key, [words(step) for step in steps])
    return steps


def _one(key: str, parameter: Parameter, value: Any) -> Any:
    """The one value that an entry of a group of parameters stands for."""
    values = _values(key, parameter, value)
    if len(values) != 1:
        raise ValueError(f"{key} stands for {len(values)} values, and what varies together cannot vary by itself")
    return values[0]


def check_count(count: int) -> None:
    """Refuse an experiment of too many cells."""
    if count > MOST:
        number = f"{count:,}" if count <= checks.LARGEST else checks.shown(count)
        raise ValueError(f"this makes {number} cells, more than {MOST:,}")


def check_list(key: str, values: Sequence[Any]) -> None:
    """Refuse a list of values that is empty, or holds one twice."""
    if not values:
        raise ValueError(f"{key} is an empty list")
    seen = set()
    for value in map(written, values):
        if value in seen:
            raise ValueError(f"{key} holds {checks.cut(value)} twice")
        seen.add(value)

"""Typed records: dataclasses whose fields say what a file may hold, so that one reader serves them all.

A field's type is a number, a text, a truth, a list, a dictionary, an array (``NDArray[np.float64]``), a
:class:`~aomultirl.engine.counts.CountTable`, another such record, or one of these or None.  ``Annotated`` narrows it
down with :class:`Within` and :class:`Shape`.  :func:`write` turns a record into names and values, :func:`read` makes it
again from values that anybody may have changed: each is checked, and a ValueError names its place.

Examples
--------
>>> from dataclasses import dataclass
>>> @dataclass
... class Met:
...     worlds: list[str]
...     times: Annotated[int, Within(0, "episodes")] = 0
>>> write(Met(["first"], 3))
{'worlds': ['first'], 'times': 3}
>>> read(Met, {"worlds": ["first"], "times": 3}, {"episodes": 3})
Met(worlds=['first'], times=3)
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable

KEPT = "kept"
"""In the metadata of a field: False for what lasts no longer than an episode."""


@dataclasses.dataclass(frozen=True)
class Within:
    """Bounds of a number, of the length of a list, or of every entry of an array.

    least, most
        numbers, or names of sizes such as "episodes"; None for no bound.
    """

    least: float | None = None
    most: float | str | None = None


@dataclasses.dataclass(frozen=True)
class Shape:
    """The shape of an array: numbers, or names of sizes such as "states" and "pairs"."""

    axes: tuple[int | str, ...]

    def __init__(self, *axes: int | str) -> None:
        object.__setattr__(self, "axes", axes)


Sizes = Mapping[str, int]
"""What names of sizes stand for."""


@cache
def _fields(kind: type) -> dict[str, Any]:
    """The types of the fields that files keep, by name."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.metadata.get(KEPT, True)}


def write(record: Any) -> dict[str, Any]:
    """A record as names and values, and so are the records in it; arrays and count tables stay as they are."""
    return {name: _written(hint, getattr(record, name)) for name, hint in _fields(type(record)).items()}  # type: ignore[arg-type]


def _written(hint: Any, value: Any) -> Any:
    hint = _plain(hint)
    if dataclasses.is_dataclass(value):
        return write(value)
    parts = typing.get_args(hint)
    if isinstance(value, list):
        return [_written(parts[0] if parts else Any, entry) for entry in value]
    if isinstance(value, dict) and parts and _plain(parts[0]) is not str:
        return [[key, _written(parts[1], entry)] for key, entry in value.items()]
    if isinstance(value, dict):
        return {name: _written(parts[1] if parts else Any, entry) for name, entry in value.items()}
    return value


def _plain(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _spelt_out(hint: Any) -> Any:
    """What an alias of a type stands for: ``NDArray`` is one from NumPy 2.5 on."""
    value = getattr(typing.get_origin(hint), "__value__", None)
    return hint if value is None else value[typing.get_args(hint)]


def each(record: Any, method: str, *arguments: Any) -> None:
    """Call a method of every record that has it, in a record, its fields, and what lists and tables hold."""
    if hasattr(record, method):
        getattr(record, method)(*arguments)
    elif dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            each(getattr(record, field.name), method, *arguments)
    elif isinstance(record, list | dict):
        for inner in record.values() if isinstance(record, dict) else record:
            each(inner, method, *arguments)


def read(kind: Any, value: Any, sizes: Sizes, place: str = "memory") -> Any:
    """A value of the type ``kind``, checked.

    Parameters
    ----------
    sizes
        what the names of sizes in :class:`Within` and :class:`Shape` stand for.
    place
        what messages call the value.
    """
    narrow: list[Any] = []
    if typing.get_origin(kind) is Annotated:
        kind, *narrow = typing.get_args(kind)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        if value is None:
            return None
        (kind,) = (part for part in typing.get_args(kind) if part is not type(None))
    within = next((rule for rule in narrow if isinstance(rule, Within)), Within())
    least = within.least
    most = sizes[within.most] if isinstance(within.most, str) else within.most
    kind = _spelt_out(kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if kind is bool:
        return checks.truth(place, value)
    if kind is int:
        return checks.integer(place, value, least=int(least or 0), most=None if most is None else int(most))
    if kind is float:
        return checks.real(place, value, least=least, most=most)
    if kind is str:
        return _of(str, "a text", value, place)
    if kind is CountTable:
        return _of(CountTable, "a count table", value, place)
    if origin is np.ndarray:
        shape = next((rule for rule in narrow if isinstance(rule, Shape)), None)
        (scalar,) = typing.get_args(parts[1])
        dtype = None if scalar is Any else np.dtype(scalar)
        return _array(value, dtype, shape, sizes, place, -np.inf if least is None else least)
    if origin is list:
        entries = _list(value, most, place)
        return [read(parts[0], entry, sizes, f"{place}[{i}]") for i, entry in enumerate(entries)]
    if origin is tuple:
        entries = _of(tuple, "a tuple", value, place)
        if len(entries) != len(parts):
            raise ValueError(f"{place} must have {len(parts)} entries, not {len(entries)}")
        pairs = enumerate(zip(parts, entries, strict=True))
        return tuple(read(part, entry, sizes, f"{place}[{i}]") for i, (part, entry) in pairs)
    if origin is dict:
        return _dictionary(parts, value, most, sizes, place)
    return _record(kind, value, sizes, place)


def _of(kind: type, noun: str, value: Any, place: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{place} must be {noun}, not {checks.shown(value)}")
    return value


def _list(value: Any, most: float | None, place: str) -> list[Any]:
    if not isinstance(value, list) or (most is not None and len(value) > most):
        bound = "" if most is None else f" of at most {most} entries"
        got = f"one of {len(value)}" if isinstance(value, list) else checks.shown(value)
        raise ValueError(f"{place} must be a list{bound}, not {got}")
    return value


def _dictionary(parts: tuple[Any, ...], value: Any, most: float | None, sizes: Sizes, place: str) -> dict[Any, Any]:
    """By text, a table of names and values; by anything else, a list of pairs."""
    if parts[0] is str:
        names = _of(Mapping, "a table of names and values", value, place)
        return {name: read(parts[1], entry, sizes, f"{place}.{name}") for name, entry in names.items()}
    made: dict[Any, Any] = {}
    for i, pair in enumerate(_list(value, most, place)):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(f"{place}[{i}] must be a key and a value, not {checks.shown(pair)}")
        key = read(parts[0], pair[0], sizes, f"{place}[{i}][0]")
        if key in made:
            raise ValueError(f"{place} has the key {checks.shown(key)} twice")
        made[key] = read(parts[1], pair[1], sizes, f"{place}[{i}][1]")
    return made


def _array(
    array: Any, kind: np.dtype[Any] | None, shape: Shape | None, sizes: Sizes, place: str, least: float
) -> NDArray[Any]:
    """An array of this shape and dtype, or of any, with every entry finite and at least ``least``."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{place} must be an array, not {checks.shown(array)}")
    wanted = array.shape
    if shape is not None:
        wanted = tuple(sizes[axis] if isinstance(axis, str) else axis for axis in shape.axes)
    dtype = array.dtype if kind is None else kind
    if (array.dtype, array.shape) != (dtype, wanted):
        raise ValueError(f"{place} must be {dtype} of shape {wanted}, not {array.dtype} of shape {array.shape}")
    check_entries(array, place, least)
    return array


def check_entries(array: NDArray[Any], place: str, least: float = -np.inf) -> None:
    """Refuse an array with an entry that is not finite, or below ``least``."""
    bad = np.argwhere(~(np.isfinite(array) & (array >= least)))
    if len(bad):
        entry = tuple(int(i) for i in bad[0])
        raise ValueError(f"{place}[{', '.join(map(str, entry))}] is {array[entry]}, which it cannot be")


def check_like(arrays: Mapping[str, NDArray[Any]], model: Mapping[str, NDArray[Any]], place: str) -> None:
    """Refuse arrays by name that are not of the names, shapes and dtypes of ``model``, or not finite."""
    if set(arrays) != set(model):
        raise ValueError(f"{place} has the arrays {sorted(arrays)!r:.80}, not {sorted(model)}")
    for name, array in model.items():
        _array(arrays[name], array.dtype, Shape(*array.shape), {}, f"{place}.{name}", -np.inf)


def _record(kind: Any, value: Any, sizes: Sizes, place: str) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"{place} must be a table of names and values, not {checks.shown(value)}")
    hints = _fields(kind)
    for name in hints:
        if name not in value:
            raise ValueError(f"{place} has no {checks.shown(name)}")
    for name in value:
        if name not in hints:
            raise ValueError(f"{place} holds {checks.shown(name)}, which nobody asked for")
    return kind(**{name: read(hint, value[name], sizes, f"{place}.{name}") for name, hint in hints.items()})

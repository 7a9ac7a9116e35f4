"""Gymnasium's discrete spaces as numbers: one indexer turns what an environment shows into a state, and back.

A finite space is written out in digits: the values of all its parts, one after the other, each with a base of its own.
Where nobody knows the states beforehand, they are numbered in the order in which they are met, up to a limit.  Either
indexer is a record that files keep with an agent (:func:`as_json`, :func:`from_json`), so that tomorrow's numbers mean
what today's do.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aomultirl import checks

MOST_STATES = 2**31 - 1
"""Numbers of states are int32."""


@dataclass(frozen=True)
class Digits:
    """The values of a finite space as numbers.

    kind
        "number" or "array", which have digits; "tuple" or "dict", which have parts.
    lowest, bases
        of every digit: the least value, and how many there are.
    shape
        of an array.
    parts
        of a tuple or a dictionary, in their order.
    names
        of the parts of a dictionary.
    """

    kind: str
    lowest: tuple[int, ...] = ()
    bases: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    parts: tuple["Digits", ...] = ()
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many values there are."""
        return math.prod(self.bases) * math.prod(part.size for part in self.parts)

    def number(self, value: Any, name: str) -> int:
        """The number of a value; ``name`` says whose it is where it is none of the space."""
        if self.kind == "number":
            low = self.lowest[0]
            return checks.integer(name, value, least=low, most=low + self.bases[0] - 1) - low
        if self.parts:
            total = 0
            for part, inner, place in zip(self.parts, self._inner(value, name), self._places(name), strict=True):
                total = total * part.size + part.number(inner, place)
            return total
        total = 0
        for digit, low, base in zip(self._digits(value, name), self.lowest, self.bases, strict=True):
            if not low <= digit < low + base:
                raise ValueError(f"{name} is {checks.shown(value)}, outside {low} to {low + base - 1}")
            total = total * base + digit - low
        return total

    def value(self, number: int) -> Any:
        """The value that a number stands for, as the space gives it."""
        if self.parts:
            inner = []
            for part in reversed(self.parts):
                number, rest = divmod(number, part.size)
                inner.append(part.value(rest))
            inner.reverse()
            return dict(zip(self.names, inner, strict=True)) if self.kind == "dict" else tuple(inner)
        digits = []
        for low, base in zip(reversed(self.lowest), reversed(self.bases), strict=True):
            number, digit = divmod(number, base)
            digits.append(low + digit)
        digits.reverse()
        return digits[0] if self.kind == "number" else np.array(digits, np.int64).reshape(self.shape)

    def _digits(self, value: Any, name: str) -> list[int]:
        try:
            array = np.asarray(value)
        except Exception:  # whatever somebody's object raises
            array = np.array(None)
        if array.dtype.kind == "f" and (array == np.floor(array)).all():
            array = array.astype(np.int64)
        if array.dtype.kind not in "iub" or array.shape != self.shape:
            raise ValueError(f"{name} is {checks.shown(value)}, not whole numbers of shape {self.shape}")
        return [int(digit) for digit in array.reshape(-1)]

    def _inner(self, value: Any, name: str) -> list[Any]:
        if self.kind == "dict":
            if not isinstance(value, Mapping) or set(value) != set(self.names):
                raise ValueError(f"{name} is {checks.shown(value)}, not a dictionary of {', '.join(self.names)}")
            return [value[one] for one in self.names]
        if not isinstance(value, tuple | list) or len(value) != len(self.parts):
            raise ValueError(f"{name} is {checks.shown(value)}, not a tuple of {len(self.parts)}")
        return list(value)

    def _places(self, name: str) -> Iterator[str]:
        return (f"{name}[{one!r}]" for one in (self.names or range(len(self.parts))))


@dataclass
class Numbered:
    """States in the order in which they are met.

    most
        how many there may be.
    seen
        the number of each, by a digest of what was shown.
    """

    most: int
    seen: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many numbers there are, used or not."""
        return self.most

    def number(self, value: Any, name: str) -> int:
        """The number of a value, which is new where it was never met."""
        key = hashlib.blake2b(repr(_plain(value, name)).encode(), digest_size=10).hexdigest()
        if key not in self.seen:
            if len(self.seen) == self.most:
                raise ValueError(f"{name} is one more state than the {self.most:,} there is room for; raise states")
            self.seen[key] = len(self.seen)
        return self.seen[key]


StateIndexer = Digits | Numbered


def _plain(value: Any, name: str) -> Any:
    """What somebody's environment shows, as tuples of plain values."""
    if isinstance(value, Mapping):
        return tuple((str(one), _plain(value[one], f"{name}[{one!r}]")) for one in sorted(value, key=str))
    if isinstance(value, tuple | list):
        return tuple(_plain(inner, f"{name}[{i}]") for i, inner in enumerate(value))
    if isinstance(value, str | bytes | bool | int | float) or value is None:
        return value
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufSU":
        return (value.shape, tuple(value.reshape(-1).tolist())) if value.ndim else value.item()
    raise ValueError(f"{name} is {checks.shown(value)}, which cannot be told from other states")


def digits_of(space: Any, name: str) -> Digits:
    """The indexer of a Gymnasium space; one sentence for a space that is not finite."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        made = Digits("number", (int(space.start),), (int(space.n),))
    elif isinstance(space, spaces.MultiDiscrete):
        bases = tuple(map(int, space.nvec.reshape(-1)))
        made = Digits("array", tuple(map(int, space.start.reshape(-1))), bases, space.nvec.shape)
    elif isinstance(space, spaces.MultiBinary):
        count = math.prod(space.shape)
        made = Digits("array", (0,) * count, (2,) * count, tuple(space.shape))
    elif isinstance(space, spaces.Tuple) and space.spaces:
        made = Digits("tuple", parts=tuple(digits_of(one, f"{name}[{i}]") for i, one in enumerate(space.spaces)))
    elif isinstance(space, spaces.Dict) and space.spaces:
        parts = tuple(digits_of(one, f"{name}[{key!r}]") for key, one in space.spaces.items())
        made = Digits("dict", parts=parts, names=tuple(map(str, space.spaces)))
    else:
        whole = name.startswith("the observation_space") and not name.endswith("]")
        help_ = "; ao.wrappers.Discretise gives it bins" if isinstance(space, spaces.Box) and whole else ""
        raise ValueError(
            f"{name} is {checks.shown(space)}, which is not made of Discrete, MultiDiscrete and MultiBinary{help_}"
        )
    return made


def as_json(indexer: StateIndexer) -> dict[str, Any]:
    """An indexer as JSON can hold it."""
    if isinstance(indexer, Numbered):
        return {"most": indexer.most, "seen": list(indexer.seen)}
    return {
        "kind": indexer.kind,
        "lowest": list(indexer.lowest),
        "bases": list(indexer.bases),
        "shape": list(indexer.shape),
        "parts": [as_json(part) for part in indexer.parts],
        "names": list(indexer.names),
    }


def from_json(told: Any) -> StateIndexer:
    """The indexer again; ValueError for anything that :func:`as_json` does not give."""
    try:
        if "most" in told:
            most, seen = told["most"], told["seen"]
            if type(most) is not int or not 0 < most <= MOST_STATES or len(set(seen)) != len(seen) or len(seen) > most:
                raise ValueError
            if not all(isinstance(key, str) and len(key) == 20 for key in seen):
                raise ValueError
            return Numbered(most, {key: i for i, key in enumerate(seen)})
        lowest, bases, shape = (tuple(map(_whole, told[name])) for name in ("lowest", "bases", "shape"))
        parts = tuple(one for one in map(from_json, told["parts"]) if isinstance(one, Digits))
        made = Digits(str(told["kind"]), lowest, bases, shape, parts, tuple(map(str, told["names"])))
        sound = (
            made.kind in ("number", "array", "tuple", "dict")
            and len(made.lowest) == len(made.bases) == (0 if parts else math.prod(made.shape))
            and len(parts) == len(told["parts"])
            and bool(parts) == (made.kind in ("tuple", "dict"))
            and len(made.names) == (len(parts) if made.kind == "dict" else 0)
            and 0 < made.size <= MOST_STATES
            and all(base > 0 for base in made.bases)
        )
        if not sound:
            raise ValueError
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ValueError(f"the indexer of states is {checks.shown(told)}, which is none") from None
    return made


def _whole(number: Any) -> int:
    if type(number) is not int or abs(number) > MOST_STATES:
        raise ValueError
    return number

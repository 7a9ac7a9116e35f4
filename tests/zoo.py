"""Values that nobody means, for every argument of everything public."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np


class Nasty(str):
    """A text that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__


class Raising:
    """An object that raises whatever is asked of it."""

    def _raise(self, *_):
        raise RuntimeError("no")

    __repr__ = __str__ = __len__ = __iter__ = __getitem__ = __float__ = __index__ = __array__ = _raise


def deep(levels=10_000):
    """A list in a list in a list."""
    nested = []
    for _ in range(levels):
        nested = [nested]
    return nested


def circular():
    """A list that contains itself."""
    nested = [1]
    nested.append(nested)
    return nested


NUMBERS = [
    lambda: math.nan,
    lambda: math.inf,
    lambda: -math.inf,
    lambda: -1,
    lambda: 0,
    lambda: 1,
    lambda: 2,
    lambda: True,
    lambda: 0.5,
    lambda: -0.0,
    lambda: 1e308,
    lambda: 5e-324,
    lambda: 1e-160,
    lambda: 2**63,
    lambda: 2**63 - 1,
    lambda: 2**64,
    lambda: 10**12,
    lambda: 10**30,
    lambda: 10**400,
    lambda: -(10**400),
    lambda: 1 << 100_000,
]
"""Whole and real ones, from the smallest to what no array holds."""
PLAIN = [
    *NUMBERS,
    lambda: "x",
    lambda: "",
    lambda: "\0",
    lambda: "x" * 300,
    lambda: "x" * 100_000,
    lambda: "a\nb\nc\nd\ne",
    list,
    dict,
    lambda: [1, 2, 3],
    lambda: [[1, 0]],
    lambda: ["x"] * 10_000,
    lambda: {"x": {"x": 1}},
    lambda: datetime.date(2024, 1, 1),
]
"""What a TOML file can hold."""
OBJECTS = [
    lambda: None,
    lambda: b"x",
    lambda: (),
    object,
    lambda: Exception,
    lambda: lambda *_: None,
    lambda: (n for n in range(3)),
    lambda: range(3),
    lambda: {1, 2},
    lambda: 1j,
    lambda: Decimal("NaN"),
    lambda: Fraction(1, 3),
    lambda: np.float32("nan"),
    lambda: np.int64(3),
    lambda: np.bool_(True),
    lambda: np.array(3),
    lambda: np.array(2.5),
    lambda: np.array(None),
    lambda: np.zeros(0),
    lambda: np.zeros((2, 3, 4)),
    lambda: np.full((2, 2), np.nan),
    lambda: np.array(["a", "b"]),
    lambda: np.array([1 + 2j]),
    lambda: np.array([2**63], np.uint64),
    lambda: np.broadcast_to(0.5, (10**6, 1, 10**6)),
    lambda: np.zeros(3, "datetime64[s]"),
    lambda: [[1, 2], [3]],
    lambda: [10**400],
    deep,
    circular,
    lambda: Nasty("x"),
    Raising,
]
"""What only Python can hold."""
EVERYTHING = [*PLAIN, *OBJECTS]


def check_refusal(error, where):
    """A refusal is at most three lines of a terminal, about one thing."""
    text = str(error)
    assert text.strip(), f"{where}: an empty refusal"
    assert text.count("\n") < 3, f"{where}: {text.count(chr(10))} line ends in: {text[:300]!r}"
    assert len(text) <= 500, f"{where}: {len(text)} characters: {text[:300]!r}"

"""What is wrong with the kernels of somebody's behaviour, in one sentence.

A driver compiles the kernels of a behaviour into its own loop, so a mistake in one of them comes out as fifty lines of
Numba's about the driver.  Here each kernel is compiled by itself, with the types that the driver would hand over, to
find the one that fails; this is done only after a driver has failed, so it costs nothing otherwise.
"""

import re
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.errors import NumbaError

from aomultirl.engine.behaviours import kernels_of
from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""What Numba makes its messages colourful with."""
PIPELINE = "Failed in nopython mode pipeline"
"""The beginning of a line that tells nothing of the mistake."""
LONGEST = 300
"""Letters of Numba's reason that are kept: the types of records may go on for pages."""


class KernelError(ValueError):
    """A behaviour has a kernel, or a field, that a driver cannot work with; the message says which and why."""


FAULTS = (NumbaError, TypeError)
"""What a driver fails with where a kernel does not compile, or gives back what it must not."""


def refuse_kernel(error: Exception, behaviour: Any, counts: Counts, stream: RandomStream) -> None:
    """A driver failed with one of :data:`FAULTS`: refuse the kernel that is to blame, if one is."""
    words = fault_of(behaviour, counts, stream)
    if words is not None:
        raise KernelError(words) from error


def fault_of(behaviour: Any, counts: Counts, stream: RandomStream) -> str | None:
    """What a driver cannot work with in a behaviour; None where there is nothing."""
    name, kernels = type(behaviour).__name__, kernels_of(type(behaviour))
    for field, value in zip(behaviour._fields, behaviour, strict=True):
        try:
            _type_of(value)
        except (NumbaError, ValueError) as error:
            return f"the behaviour {name} has a field {field} that compiled code cannot take: {_reason(error)}"
    if kernels is None:
        return None
    asked = (behaviour, counts, 0, 0, stream)
    seen = (behaviour, counts, 0, 0, 0, 0, 0.0, False)
    for role, kernel, arguments in (("prepare", kernels.prepare, asked), ("attend", kernels.attend, seen)):
        if kernel is None:
            continue
        compiled: Any = kernel
        signature = tuple(map(_type_of, arguments))
        try:
            compiled.compile(signature)
        except NumbaError as error:
            place = _place(compiled.py_func, error)
            return f"the behaviour {name} has a kernel {place} for {role} that does not compile: {_reason(error)}"
        returned = compiled.overloads[signature].signature.return_type
        if role == "attend" and not isinstance(returned, types.Boolean | types.Integer):
            place = _place(compiled.py_func)
            return (
                f"the behaviour {name} has a kernel {place} for attend that returns {returned}: "
                "it must say whether the behaviour has reached its aim, True or False, wherever it ends"
            )
    return None


def _type_of(value: Any) -> Any:
    return numba.typeof(value)  # type: ignore[no-untyped-call]


def _place(function: Callable[..., Any], error: Exception | None = None) -> str:
    """The kernel with its file, and the line that an error is about where that is in it."""
    code, found = function.__code__, getattr(error, "loc", None)
    line = code.co_firstlineno
    if found is not None and found.filename == code.co_filename:
        line = found.line
    return f"{function.__name__} ({code.co_filename}:{line})"


def _reason(error: Exception) -> str:
    """The first line of an error that says something."""
    lines = (" ".join(line.split()) for line in COLOURS.sub("", str(error)).splitlines())
    said = next((line for line in lines if line and not line.startswith(PIPELINE)), type(error).__name__)
    return said[:LONGEST]

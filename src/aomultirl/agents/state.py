"""What an agent remembers, as it is read back from a file that anybody may have changed: every look is a check."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aomultirl import checks
from aomultirl.engine.counts import CountTable


class Saved:
    """What ``Agent.state`` gave; :meth:`Agent.restore` takes it apart.

    Each method raises a ValueError that names the place, unless the value is there and of the kind that is asked for.

    Parameters
    ----------
    values
        by name: what JSON can hold, arrays and count tables.
    place
        what messages call it.

    Examples
    --------
    >>> saved = Saved({"met": 3, "worlds": [{"seen": 2}]})
    >>> saved.integer("met"), [world.integer("seen") for world in saved.each("worlds")]
    (3, [2])
    >>> saved.integer("met", most=2)
    Traceback (most recent call last):
    ...
    aomultirl.refusals.Refusal: memory.met must be between 0 and 2, not 3
    """

    def __init__(self, values: Any, place: str = "memory") -> None:
        if not isinstance(values, Mapping):
            raise ValueError(f"{place} must be a table of names and values, not {checks.shown(values)}")
        self._values, self.place = values, place
        self._unread = set(values)
        self._parts: list[Saved] = []

    def value(self, name: str) -> Any:
        """As it is."""
        if name not in self._values:
            raise ValueError(f"{self.place} has no {checks.shown(name)}")
        self._unread.discard(name)
        return self._values[name]

    def integer(self, name: str, least: int = 0, most: int | None = None) -> int:
        """A whole number within bounds."""
        return checks.integer(f"{self.place}.{name}", self.value(name), least=least, most=most)

    def real(self, name: str, least: float | None = None, most: float | None = None) -> float:
        """A finite number within bounds."""
        return checks.real(f"{self.place}.{name}", self.value(name), least=least, most=most)

    def array(
        self, name: str, shape: tuple[int, ...], kind: DTypeLike = np.float64, least: float = -np.inf
    ) -> NDArray[Any]:
        """An array of this shape and dtype, every entry finite and at least ``least``."""
        array, told = self.value(name), f"{self.place}.{name}"
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
            found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else checks.shown(array)
            raise ValueError(f"{told} must be {np.dtype(kind)} of shape {shape}, not {found}")
        bad = np.argwhere(~(np.isfinite(array) & (array >= least)))
        if len(bad):
            place = tuple(int(i) for i in bad[0])
            raise ValueError(f"{told}[{', '.join(map(str, place))}] is {array[place]}, which it cannot be")
        return array

    def counts(self, name: str) -> CountTable:
        """A count table; those in files are checked against the setting as they are read."""
        table = self.value(name)
        if not isinstance(table, CountTable):
            raise ValueError(f"{self.place}.{name} must be a count table, not {checks.shown(table)}")
        return table

    def tables(self, name: str, most: int | None = None) -> list[CountTable]:
        """A list of count tables."""
        for i, table in enumerate(self.entries(name, most)):
            if not isinstance(table, CountTable):
                raise ValueError(f"{self.place}.{name}[{i}] must be a count table, not {checks.shown(table)}")
        return self.entries(name)

    def entries(self, name: str, most: int | None = None) -> list[Any]:
        """A list, not too long."""
        values = self.value(name)
        if not isinstance(values, list) or (most is not None and len(values) > most):
            bound = "" if most is None else f" of at most {most} entries"
            found = f"one of {len(values)}" if isinstance(values, list) else checks.shown(values)
            raise ValueError(f"{self.place}.{name} must be a list{bound}, not {found}")
        return values

    def part(self, name: str) -> "Saved":
        """What is below a name."""
        return self._below(self.value(name), name)

    def each(self, name: str, most: int | None = None) -> list["Saved"]:
        """What is below each entry of a list."""
        return [self._below(value, f"{name}[{i}]") for i, value in enumerate(self.entries(name, most))]

    def _below(self, values: Any, name: str) -> "Saved":
        self._parts.append(Saved(values, f"{self.place}.{name}"))
        return self._parts[-1]

    def unread(self) -> list[str]:
        """The names that nobody has asked for, in their order."""
        return [name for name in self._values if name in self._unread]

    def check_all_read(self) -> None:
        """Refuse what nobody asked for: it belongs to another agent, or to another version of this one."""
        if self._unread:
            raise ValueError(f"{self.place} holds {checks.shown(min(self._unread))}, which nobody asked for")
        for part in self._parts:
            part.check_all_read()

"""Values of agents as JSON and arrays: what has no form of its own in JSON is a table with one name, such as "$array".

Arrays, count tables and sets of worlds are listed once, however often they are used, and are one object again later.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, plugins, records
from aomultirl.agents import archive
from aomultirl.engine import packed_counts
from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import Packed
from aomultirl.engine.successors import Successors
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

Encoded = Any
"""What JSON can hold."""


PARTS = {"learner": "ao.learning", "explorer": "ao.exploring"}
"""The kinds of things that agents are put together from, and where ours are."""


@dataclasses.dataclass
class _World:
    """One world, encoded: its successor lists, start, layout and terminal states."""

    starts: Encoded
    states: Encoded
    probs: Encoded
    start: Encoded
    layout: Encoded
    terminal: Encoded


@dataclasses.dataclass
class _Models:
    """A set of worlds, encoded: the rewards that they share, also after the end, the set's origin, and each world."""

    rewards: Encoded
    rest: float
    origin: Encoded
    worlds: list[_World]


class Encoder:
    """Turns values into JSON; ``arrays``, ``tables`` and ``models`` are what it refers to."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.tables: list[Encoded] = []
        self.models: list[Encoded] = []
        self._places: dict[int, int] = {}
        self._held: list[Any] = []

    def encode(self, value: Any, place: str) -> Encoded:
        """``value`` as JSON; ``place`` is what messages call it."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, np.generic):
            return {"$scalar": self._array(np.asarray(value), place)}
        if isinstance(value, np.ndarray):
            return {"$array": self._once(value, lambda: self._array(value, place))}
        if isinstance(value, CountTable):
            return {"$counts": self._once(value, lambda: self._table(value, place))}
        if isinstance(value, ModelSet):
            return {"$models": self._once(value, lambda: self._worlds(value, place))}
        if (kind := plugins.kind_of(value)) in PARTS:
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return {f"${kind}": [type(value).__name__, self.encode(fields, place)]}
        if type(value) in (list, tuple):
            entries = [self.encode(one, f"{place}[{i}]") for i, one in enumerate(value)]
            return entries if isinstance(value, list) else {"$tuple": entries}
        if type(value) is dict:
            for name in value:
                if not isinstance(name, str) or name.startswith("$"):
                    raise ValueError(f"{place} has the name {checks.shown(name)}, which cannot be saved")
            return {name: self.encode(one, f"{place}.{name}") for name, one in value.items()}
        raise ValueError(f"{place} is {checks.shown(value)}, which cannot be saved")

    def _once(self, value: Any, put: Callable[[], int]) -> int:
        """The place of a value, which is put there at its first use."""
        if id(value) not in self._places:
            self._held.append(value)  # so that no other value gets its id
            self._places[id(value)] = put()
        return self._places[id(value)]

    def _array(self, array: NDArray[Any], place: str) -> int:
        if array.dtype.str not in archive.KINDS:
            raise ValueError(f"{place} is an array of {array.dtype}, which cannot be saved")
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _table(self, table: CountTable, place: str) -> int:
        self.tables.append([self._array(array, place) for array in packed_counts.pack_counts(table)])
        return len(self.tables) - 1

    def _worlds(self, models: ModelSet, place: str) -> int:
        worlds = [
            _World(
                **{name: self.encode(array, place) for name, array in world.successors._asdict().items()},
                start=self.encode(world.start, place),
                layout=self.encode(world.layout, place),
                terminal=self.encode(np.flatnonzero(world.terminal), place),
            )
            for world in models
        ]
        rewards, origin = self.encode(np.array(models.rewards), place), self.encode(models.origin, place)
        self.models.append(records.write(_Models(rewards, models.rest, origin, worlds)))
        return len(self.models) - 1


class Decoder:
    """Turns JSON into values again; every reference and every record is checked.

    Parameters
    ----------
    tables, models, arrays
        those of the encoder.
    own
        classes of somebody's own that learners and explorers may be of.
    """

    def __init__(
        self, tables: list[Encoded], models: list[Encoded], arrays: list[NDArray[Any]], own: Iterable[type] = ()
    ) -> None:
        self._arrays, self._tables, self._models, self._own = arrays, tables, models, list(own)
        self._made: dict[tuple[str, int], Any] = {}
        self.sizes: tuple[int, int] | None = None
        """(S, A), which count tables must fit; None as long as they are not known."""

    def decode(self, value: Encoded) -> Any:
        if isinstance(value, list):
            return [self.decode(one) for one in value]
        if not isinstance(value, dict):
            return value
        if not any(name.startswith("$") for name in value):
            return {name: self.decode(one) for name, one in value.items()}
        if len(value) > 1:
            raise ValueError(f"it holds a table with the names {', '.join(map(repr, value))}, which nothing has")
        ((name, content),) = value.items()
        if name == "$float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if name == "$scalar":
            return self._scalar(content)
        if name == "$array":
            return self._array(content)
        if name == "$counts":
            return self._once("table", content, self._tables, self._table)
        if name == "$models":
            return self._once("set of worlds", content, self._models, self._worlds)
        if name[1:] in PARTS and isinstance(content, list) and len(content) == 2:
            return self._part(name[1:], *content)
        if name == "$tuple" and isinstance(content, list):
            return tuple(self.decode(content))
        raise ValueError(f"it holds {checks.shown(name)} with something that cannot be: {checks.shown(content)}")

    def _part(self, kind: str, name: Any, fields: Any) -> Any:
        """A learner or an explorer, which its fields make."""
        own = {maker.__name__: maker for maker in self._own if plugins.kind_of(maker) == kind}
        try:
            maker = own.get(name) or plugins.find(kind, name)
        except plugins.UnknownNameError as error:
            where = f"neither in {PARTS[kind]} nor in agents=[...] nor in a plug-in that is loaded"
            raise ValueError(f"there is no {kind} {checks.shown(name)}, {where}; {error.hint}") from None
        given = self.decode(fields)
        if not isinstance(given, dict):
            raise ValueError(f"the parameters of {name} are not a table of names and values")
        return maker(**given)

    def _array(self, number: Any) -> NDArray[Any]:
        return self._arrays[checks.integer("the number of an array", number, least=0, most=len(self._arrays) - 1)]

    def _scalar(self, number: Any) -> Any:
        array = self._array(number)
        if array.shape != ():
            raise ValueError(f"it holds an array of shape {array.shape} in place of a number")
        return array[()]

    def _once(self, noun: str, number: Any, listed: list[Any], make: Callable[[Any], Any]) -> Any:
        number = checks.integer(f"the number of a {noun}", number, least=0, most=len(listed) - 1)
        if (noun, number) not in self._made:
            self._made[noun, number] = make(listed[number])
        return self._made[noun, number]

    def _table(self, numbers: Any) -> CountTable:
        if self.sizes is None:
            raise ValueError("it holds counts of an agent that has not begun")
        if not isinstance(numbers, list) or len(numbers) != len(Packed._fields):
            raise ValueError(f"a count table is {checks.shown(numbers)}, not {len(Packed._fields)} arrays")
        n_states, n_actions = self.sizes
        try:
            packed = Packed(*(self._array(number) for number in numbers))
            return packed_counts.unpack_counts(packed, n_states * n_actions, n_states)
        except ValueError as error:
            raise ValueError(f"a count table is wrong: {error}") from None

    def _worlds(self, described: Any) -> ModelSet:
        models: _Models = records.read(_Models, described, {}, "models")
        rewards, worlds = self.decode(models.rewards), []
        for world in models.worlds:
            arrays = Successors(*(self.decode(getattr(world, name)) for name in Successors._fields))
            if not all(isinstance(array, np.ndarray) for array in arrays):
                raise ValueError("a world has no successor lists")
            told = {name: self.decode(getattr(world, name)) for name in ("start", "layout", "terminal")}
            worlds.append(MDP(arrays, rewards, **told, rest=models.rest))
        origin = self.decode(models.origin)
        if origin is not None and not isinstance(origin, dict):
            raise ValueError(f"the origin of the worlds is {checks.shown(origin)}")
        return ModelSet(worlds, origin)

"""Behaviours: how to act, as records of arrays that compiled loops can follow.

A behaviour is a NamedTuple whose first field is a :class:`Table`.  The table says which action each state calls for,
and for how many more visits that holds; it is all that the inner loop of a driver looks at.  What happens when an
entry is missing or needs a look is the behaviour's own, in two kernels:

    @kernel
    def _prepare(behaviour, counts, step, state, stream): ...
    @kernel
    def _attend(behaviour, counts, step, state, action, successor, reward, ended) -> bool: ...

    register(QLearningBehaviour, prepare=_prepare, attend=_attend)

``prepare`` fills in the entry of ``state`` for ``step``, ``plan[step * stride + state]``, which is :data:`ASK`.
``attend`` comes after a visit that used up the budget of its state, or that went from a state that acts at random to
one that is watched; it says whether the behaviour has reached its aim.  ``step`` counts the steps of the phase from 0
and is the one that was taken; ``reward`` is what that step earned; ``ended`` says that the episode ended with it, so
nothing more can be earned from ``successor``.  A learner that updates at every step keeps the
budgets at 1; one that counts by step has a plan with a stride of S.

One registration is one class, looked up when Numba compiles a driver for it, so that machine code can be kept on disk.
Both kernels take what they write to from the record; neither may write outside the arrays.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from aomultirl.engine.counts import Counts
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stranger_sources import takes_part

ASK = -1
"""The entry of a state whose action is not known yet.  The number of actions stands for "uniformly at random"."""
FOREVER = 2**62
"""A budget that no phase uses up."""


class Table(NamedTuple):
    """What the inner loop needs to know of a behaviour.

    plan
        (S,) or (H * S,): the action at step h in state s is plan[h * stride + s].
    stride
        0 for a plan that is the same at every step, S for one by step.
    budget
        (S,): visits of each state after which its entry needs a look.
    watch
        (S,): arriving here from a state that acts at random needs a look.
    """

    plan: NDArray[np.int32]
    stride: int
    budget: NDArray[np.int64]
    watch: NDArray[np.bool_]


class Kernels(NamedTuple):
    """What was registered for a class of behaviours.

    prepare
        fills in entries; None where the table has no :data:`ASK`.
    attend
        looks at steps; None where nothing needs a look.
    """

    prepare: Callable[..., None] | None
    attend: Callable[..., bool] | None


_registered: dict[type[Any], Kernels] = {}


def prepare(behaviour: Any, counts: Counts, step: int, state: int, stream: RandomStream) -> None:
    """Fill in the table's entry of ``state`` at ``step``; in compiled code, by the kernel that was registered."""
    raise NotImplementedError


def attend(
    behaviour: Any, counts: Counts, step: int, state: int, action: int, successor: int, reward: float, ended: bool
) -> bool:
    """Look at what a step changed; True if the behaviour has reached its aim.  In compiled code, as registered."""
    raise NotImplementedError


_PREPARE = tuple(inspect.signature(prepare).parameters)
_ATTEND = tuple(inspect.signature(attend).parameters)


def register(
    record: type[Any], *, prepare: Callable[..., None] | None = None, attend: Callable[..., bool] | None = None
) -> None:
    """Make a class of behaviours known to both drivers.

    Parameters
    ----------
    record
        a NamedTuple whose first field is ``table``, a :class:`Table`.
    prepare
        a kernel (behaviour, counts, step, state, stream); None where the table never asks.  What comes is decided by
        the place: a kernel may call it otherwise, but not by the name of another.
    attend
        a kernel (behaviour, counts, step, state, action, successor, reward, ended) -> bool; None where nothing needs a
        look.
    """
    name = getattr(record, "__name__", repr(record))
    if not (isinstance(record, type) and issubclass(record, tuple) and hasattr(record, "_fields")):
        raise ValueError(f"{name} cannot be registered: a behaviour is a NamedTuple whose first field is table")
    if record._fields[:1] != ("table",):
        raise ValueError(f"{name} cannot be registered: its first field must be table, not {record._fields[0]}")
    if record in _registered:
        raise ValueError(f"{name} is registered already")
    for role, given, wanted in (("prepare", prepare, _PREPARE), ("attend", attend, _ATTEND)):
        if given is None:
            continue
        function: Callable[..., Any] | None = getattr(given, "py_func", None)
        if function is None:
            raise ValueError(f"{name} cannot be registered: its {role} must be compiled; decorate it with @kernel")
        taken = tuple(inspect.signature(function).parameters)
        if len(taken) != len(wanted):
            raise ValueError(
                f"{name} cannot be registered: its {role} takes {len(taken)} arguments, not the {len(wanted)} "
                f"({', '.join(wanted)})"
            )
        for theirs, ours in zip(taken, wanted, strict=True):
            if theirs != ours and theirs in wanted:
                raise ValueError(
                    f"{name} cannot be registered: its {role} takes {theirs} where {ours} comes; "
                    f"the order is ({', '.join(wanted)})"
                )
        takes_part(record, function)
    _registered[record] = Kernels(prepare, attend)


def kernels_of(record: Any) -> Kernels | None:
    """The kernels of a class of behaviours; None if it was never registered."""
    return _registered.get(record)


@overload(prepare, strict=False)
def _prepare_registered(behaviour: Any, counts: Any, step: Any, state: Any, stream: Any) -> Any:
    kernels = kernels_of(getattr(behaviour, "instance_class", None))
    if kernels is None:
        return None
    function = kernels.prepare
    if function is None:
        return lambda behaviour, counts, step, state, stream: None
    return lambda behaviour, counts, step, state, stream: function(behaviour, counts, step, state, stream)


@overload(attend, strict=False)
def _attend_registered(
    behaviour: Any, counts: Any, step: Any, state: Any, action: Any, successor: Any, reward: Any, ended: Any
) -> Any:
    kernels = kernels_of(getattr(behaviour, "instance_class", None))
    if kernels is None:
        return None
    function = kernels.attend
    if function is None:
        return lambda behaviour, counts, step, state, action, successor, reward, ended: False
    return lambda behaviour, counts, step, state, action, successor, reward, ended: function(
        behaviour, counts, step, state, action, successor, reward, ended
    )


class Fixed(NamedTuple):
    """Follow a plan; nothing ever needs a look."""

    table: Table


register(Fixed)


def follow(plan: NDArray[np.int32]) -> Fixed:
    """The behaviour that follows ``plan``: (S,) for the same at every step, or (H, S)."""
    n_states = plan.shape[-1]
    flat = np.ascontiguousarray(plan, np.int32).reshape(-1)
    return Fixed(Table(flat, 0 if plan.ndim == 1 else n_states, np.full(n_states, FOREVER), np.zeros(n_states, bool)))


def act_uniformly(n_states: int, n_actions: int) -> Fixed:
    """The behaviour that acts uniformly at random."""
    return follow(np.full(n_states, n_actions, np.int32))


def empty_table(n_states: int) -> Table:
    """The table that asks for every entry, looks at every visit unless ``prepare`` says less, and watches nothing."""
    return Table(np.full(n_states, ASK, np.int32), 0, np.ones(n_states, np.int64), np.zeros(n_states, bool))

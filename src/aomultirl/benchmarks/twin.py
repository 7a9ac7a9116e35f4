"""The C twin: ``twin.c`` compiled into a temporary folder, loaded, and called on our arrays.

Each method binds its arguments and returns a function without any, so that nothing but the call is timed.  C
writes its plans into memory that it keeps between calls; our engine returns new arrays every time.
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine import planning
from aomultirl.engine.random import RandomStream
from aomultirl.mdp import MDP

SOURCE = Path(__file__).with_name("twin.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
POINTER, WHOLE = ctypes.c_void_p, ctypes.c_int64
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "follow": (ctypes.c_double, [POINTER, POINTER, WHOLE, POINTER, POINTER, *[WHOLE] * 3, *[POINTER] * 3]),
    "explore": (ctypes.c_double, [*[POINTER] * 2, WHOLE, *[POINTER] * 2, *[WHOLE] * 4, *[POINTER] * 5]),
    "plan_by_rows": (None, [*[POINTER] * 5, *[WHOLE] * 3, POINTER, POINTER]),
    "plan_by_columns": (ctypes.c_int, [*[POINTER] * 3, *[WHOLE] * 4, POINTER, POINTER]),
}
"""What the functions of ``twin.c`` return and take."""


class NoTwinError(RuntimeError):
    """There is no C twin on this machine; the message is one sentence that says why."""


class Walked(NamedTuple):
    """A walk through a world.

    state, reward: where it ended, and the sum collected.
    counts: every transition seen; int64 (S * A, S) from C, a :class:`CountTable` from our engine.
    done: the steps until every target had its samples, where there are targets.
    """

    state: int
    reward: float
    counts: Any
    done: int = 0


def compiler() -> str | None:
    """gcc, or whatever C compiler the machine calls cc."""
    return shutil.which("gcc") or shutil.which("cc")


def compiler_version() -> str | None:
    """What the compiler says it is, or None without one."""
    command = compiler()
    if command is None:
        return None
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    return told.splitlines()[0] if told else None


def load(world: MDP | None = None) -> "Twin":
    """Compile and load the C twin.

    Parameters
    ----------
    world
        where one is given, exploring is compiled for worlds of its sizes alone: S, A and the width of its alias tables,
        which must be one for all pairs.

    Raises
    ------
    NoTwinError
        no compiler, or one that cannot compile it.
    """
    command = compiler()
    if command is None:
        raise NoTwinError("There is no C compiler (gcc or cc) on this machine, so the C column is empty.")
    # The library stays loaded when its file is gone, but not every system lets go of a loaded file.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder) / "twin.so"
        flags = [*FLAGS, *([] if world is None else _sizes_of(world))]
        made = subprocess.run([command, *flags, str(SOURCE), "-o", str(target)], capture_output=True, check=False)
        if made.returncode != 0:
            raise NoTwinError("The C compiler of this machine cannot compile the C twin, so the C column is empty.")
        return Twin(ctypes.CDLL(str(target)))


def _sizes_of(world: MDP) -> list[str]:
    """What tells the compiler the sizes of a world."""
    width = world.alias_tables.width
    if width < 0:
        raise ValueError(
            "the pairs of this world have alias tables of several widths: none can be told to the compiler"
        )
    return [f"-DSTATES={world.n_states}", f"-DACTIONS={world.n_actions}", f"-DWIDTH={width}"]


class Twin:
    """The functions of ``twin.c``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._library = library

    def follow(
        self, world: MDP, plan: NDArray[np.int32], steps: int, start: int, stream: RandomStream
    ) -> Callable[[], Walked]:
        """Follow ``plan``, (S,), for ``steps`` steps from ``start``; ``stream`` stays as it is."""
        tables, rewards = world.alias_tables, np.ascontiguousarray(world.rewards)
        shape = (world.n_states * world.n_actions, world.n_states)

        def call() -> Walked:
            state, words, counts = WHOLE(start), stream.copy(), np.zeros(shape, np.int64)
            reward = self._library.follow(
                *(_address(tables.heads), _address(tables.cells), tables.width, _address(rewards), _address(plan)),
                *(world.n_states, world.n_actions, steps),
                *(ctypes.addressof(state), _address(words), _address(counts)),
            )
            return Walked(state.value, reward, counts)

        return call

    def explore(
        self, world: MDP, targets: NDArray[np.bool_], needed: int, steps: int, start: int, sources: NDArray[np.uint64]
    ) -> Callable[[], list[Walked]]:
        """The clustering phase, ``steps`` long, once for each pair of streams in ``sources``, (n, 2, 4).

        targets: (S, A), each to be sampled ``needed`` times by ExploreID; after that actions are random.
        """
        tables, rewards = world.alias_tables, np.ascontiguousarray(world.rewards)
        wanted = np.ascontiguousarray(targets, np.bool_)
        shape = (world.n_states * world.n_actions, world.n_states)

        def once(streams: NDArray[np.uint64]) -> Walked:
            state, done, counts = WHOLE(start), WHOLE(), np.zeros(shape, np.int64)
            reward = self._library.explore(
                *(_address(tables.heads), _address(tables.cells), tables.width, _address(rewards), _address(wanted)),
                *(needed, world.n_states, world.n_actions, steps),
                *(ctypes.addressof(state), _address(streams[0]), _address(streams[1]), _address(counts)),
                ctypes.addressof(done),
            )
            if done.value < 0:
                raise MemoryError("the C twin has no memory for its decisions")
            return Walked(state.value, reward, counts, done.value)

        return lambda: [once(pair.copy()) for pair in sources]

    def plan_by_rows(
        self, world: MDP, gains: NDArray[np.float64], caps: NDArray[np.float64]
    ) -> Callable[[], planning.Plan]:
        """Plan over successor lists.  gains: (S, A); caps: (H,)."""
        return _planner(self._library.plan_by_rows, world, [*world.successors, gains, caps])

    def plan_by_columns(
        self, world: MDP, gains: NDArray[np.float64], caps: NDArray[np.float64]
    ) -> Callable[[], planning.Plan]:
        """Plan over the dense (S, S * A) array of columns.  gains: (S, A); caps: (H,)."""
        block = max(1, planning.BLOCK // world.n_actions)
        return _planner(self._library.plan_by_columns, world, [_columns(world), gains, caps], block)


def _planner(
    plan: Callable[..., int | None], world: MDP, inputs: list[NDArray[Any]], *more: int
) -> Callable[[], planning.Plan]:
    """A plan of C, from arrays of which the last are the caps, (H,), and with ``more`` sizes than S, A and H."""
    horizon = len(inputs[-1])
    values, policy = np.zeros((horizon + 1, world.n_states)), np.zeros((horizon, world.n_states), np.int32)
    sizes = (world.n_states, world.n_actions, horizon, *more)
    arguments = (*map(_address, inputs), *sizes, _address(values), _address(policy))

    def call(_alive: object = inputs) -> planning.Plan:
        if plan(*arguments):
            raise MemoryError("the C twin has no memory for its sums")
        return planning.Plan(values, policy)

    return call


def _address(array: NDArray[Any]) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("the C twin reads contiguous arrays only")
    return int(array.ctypes.data)


def _columns(world: MDP) -> NDArray[np.float64]:
    """columns[s', pair] = P(s' | pair), at a cache line: those of our engine, or made here where it has none."""
    held = world.planning_tables.columns
    if len(held):
        return held
    columns = planning.aligned(world.n_states, world.n_states * world.n_actions)
    columns[world.successors.states, world.successors.owners()] = world.successors.probs
    return columns

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


class NoTwinError(RuntimeError):
    """There is no C twin on this machine; the message is one sentence that says why."""


class DenseWalk(NamedTuple):
    """state: where it ended; reward: the sum collected; counts: int64 (S * A, S)."""

    state: int
    reward: float
    counts: NDArray[np.int64]


class DenseExploration(NamedTuple):
    """done: the steps until every target had its samples; walk: the whole phase."""

    done: int
    walk: DenseWalk


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


def load() -> "Twin":
    """Compile and load the C twin.

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
        made = subprocess.run([command, *FLAGS, str(SOURCE), "-o", str(target)], capture_output=True, check=False)
        if made.returncode != 0:
            raise NoTwinError("The C compiler of this machine cannot compile the C twin, so the C column is empty.")
        return Twin(ctypes.CDLL(str(target)))


class Twin:
    """The functions of ``twin.c``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._follow = library.follow
        self._follow.restype = ctypes.c_double
        self._follow.argtypes = [POINTER, POINTER, WHOLE, POINTER, POINTER, *[WHOLE] * 3, *[POINTER] * 3]
        self._explore = library.explore
        self._explore.restype = ctypes.c_double
        self._explore.argtypes = [*[POINTER] * 2, WHOLE, *[POINTER] * 2, *[WHOLE] * 4, *[POINTER] * 5]
        self._plan_by_rows = library.plan_by_rows
        self._plan_by_rows.restype = None
        self._plan_by_rows.argtypes = [*[POINTER] * 5, *[WHOLE] * 3, POINTER, POINTER]
        self._plan_by_columns = library.plan_by_columns
        self._plan_by_columns.restype = ctypes.c_int
        self._plan_by_columns.argtypes = [*[POINTER] * 3, *[WHOLE] * 4, POINTER, POINTER]

    def follow(
        self, world: MDP, plan: NDArray[np.int32], steps: int, start: int, stream: RandomStream
    ) -> Callable[[], DenseWalk]:
        """Follow ``plan``, (S,), for ``steps`` steps from ``start``; ``stream`` stays as it is."""
        tables, rewards = world.alias_tables, np.ascontiguousarray(world.rewards)
        shape = (world.n_states * world.n_actions, world.n_states)

        def call() -> DenseWalk:
            state, words, counts = WHOLE(start), stream.copy(), np.zeros(shape, np.int64)
            reward = self._follow(
                *(_address(tables.heads), _address(tables.cells), tables.width, _address(rewards), _address(plan)),
                *(world.n_states, world.n_actions, steps),
                *(ctypes.addressof(state), _address(words), _address(counts)),
            )
            return DenseWalk(state.value, reward, counts)

        return call

    def explore(
        self, world: MDP, targets: NDArray[np.bool_], needed: int, steps: int, start: int, sources: NDArray[np.uint64]
    ) -> Callable[[], list[DenseExploration]]:
        """The clustering phase, ``steps`` long, once for each pair of streams in ``sources``, (n, 2, 4).

        targets: (S, A), each to be sampled ``needed`` times by ExploreID; after that actions are random.
        """
        tables, rewards = world.alias_tables, np.ascontiguousarray(world.rewards)
        wanted = np.ascontiguousarray(targets, np.bool_)
        shape = (world.n_states * world.n_actions, world.n_states)

        def once(streams: NDArray[np.uint64]) -> DenseExploration:
            state, done, counts = WHOLE(start), WHOLE(), np.zeros(shape, np.int64)
            reward = self._explore(
                *(_address(tables.heads), _address(tables.cells), tables.width, _address(rewards), _address(wanted)),
                *(needed, world.n_states, world.n_actions, steps),
                *(ctypes.addressof(state), _address(streams[0]), _address(streams[1]), _address(counts)),
                ctypes.addressof(done),
            )
            if done.value < 0:
                raise MemoryError("the C twin has no memory for its decisions")
            return DenseExploration(done.value, DenseWalk(state.value, reward, counts))

        return lambda: [once(pair.copy()) for pair in sources]

    def plan_by_rows(
        self, world: MDP, gains: NDArray[np.float64], caps: NDArray[np.float64]
    ) -> Callable[[], planning.Plan]:
        """Plan over successor lists.  gains: (S, A); caps: (H,)."""
        inputs: list[NDArray[Any]] = [*world.successors, gains, caps]
        values, policy = _outputs(len(caps), world.n_states)
        sizes = (world.n_states, world.n_actions, len(caps))
        arguments = (*map(_address, inputs), *sizes, _address(values), _address(policy))

        def call(_alive: object = inputs) -> planning.Plan:
            self._plan_by_rows(*arguments)
            return planning.Plan(values, policy)

        return call

    def plan_by_columns(
        self, world: MDP, gains: NDArray[np.float64], caps: NDArray[np.float64]
    ) -> Callable[[], planning.Plan]:
        """Plan over the dense (S, S * A) array of columns.  gains: (S, A); caps: (H,)."""
        inputs = [_columns(world), gains, caps]
        values, policy = _outputs(len(caps), world.n_states)
        sizes = (world.n_states, world.n_actions, len(caps), max(1, planning.BLOCK // world.n_actions))
        arguments = (*map(_address, inputs), *sizes, _address(values), _address(policy))

        def call(_alive: object = inputs) -> planning.Plan:
            if self._plan_by_columns(*arguments) != 0:
                raise MemoryError("the C twin has no memory for its sums")
            return planning.Plan(values, policy)

        return call


def _address(array: NDArray[Any]) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("the C twin reads contiguous arrays only")
    return int(array.ctypes.data)


def _outputs(horizon: int, n_states: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    return np.zeros((horizon + 1, n_states)), np.zeros((horizon, n_states), np.int32)


def _columns(world: MDP) -> NDArray[np.float64]:
    """columns[s', pair] = P(s' | pair), at a cache line: those of our engine, or made here where it has none."""
    held = world.planning_tables.columns
    if len(held):
        return held
    columns = planning.aligned(world.n_states, world.n_states * world.n_actions)
    columns[world.successors.states, world.successors.owners()] = world.successors.probs
    return columns

"""Compile a function with Numba and keep the machine code on disk.

Numba's own cache looks only at the file a kernel is written in, so an edit to a helper in another file
would leave stale machine code behind.  Here every kernel is stamped with one digest over all files of the
package that hold compiled code: edit any of them and all kernels compile anew, once.  Where modules of others have a
part in it, by a kernel of theirs or a record that a kernel is given, their sources count too
(:mod:`.stranger_sources`).

Nothing compiles at import; a kernel compiles at its first call.
"""

import gc
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba.core import caching, types
from numba.extending import intrinsic

from aomultirl.engine.announcing import announce
from aomultirl.engine.compiling_signals import no_signal_lost
from aomultirl.engine.compiling_turns import Turn
from aomultirl.engine.kernel_files import KernelFiles
from aomultirl.engine.stranger_sources import (
    PACKAGE,
    can_be_found,
    digest_of,
    is_ours,
    note_loaded,
    own_files,
    records_in,
    stranger_modules,
)

F = TypeVar("F", bound=Callable[..., Any])
MARKS = (b"@kernel", b"@borrowing", b"@callee", b"@inlined")
"""What the source of a file holds that compiled code depends on."""


class Meter:
    """What compiling has cost this process, loading machine code from the disk included.

    kernels
        how many kernels were compiled, each for one set of types.
    """

    def __init__(self) -> None:
        self.kernels, self._seconds = 0, 0.0
        self._depth, self._begun = 0, 0.0

    @property
    def seconds(self) -> float:
        """Seconds on the clock, those of a kernel under way included."""
        return self._seconds + (time.perf_counter() - self._begun if self._depth else 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """A block that compiles; kernels compile those that they call."""
        if not self._depth:
            self._begun = time.perf_counter()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._seconds += time.perf_counter() - self._begun


_meter = Meter()


def compiled_so_far() -> Meter:
    """What compiling has cost this process until now."""
    return _meter


@cache
def source_stamp() -> str:
    """Digest of every file of the package that holds compiled code, or records that it takes."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for path in own_files():
        text = path.read_bytes()
        if path.parent.name == "engine" or any(mark in text for mark in MARKS):
            digest.update(str(path.relative_to(PACKAGE)).encode())
            digest.update(text)
    return digest.hexdigest()


class _Cache(caching.FunctionCache):
    """The machine code of one kernel on disk, where Numba would keep it.

    Signatures with records of other people's modules have files of their own: nobody else could read them.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.turn = Turn(Path(self.cache_path) / f"{self._impl.filename_base}.turn")
        note_loaded(function)

    def files(self, signature: Any = ()) -> KernelFiles | None:
        """The files for a signature, valid for the sources as they are; None where none could be found again."""
        if not all(can_be_found(record) for record in records_in(signature)):
            return None
        name, made_with, strangers = self._impl.filename_base, source_stamp(), stranger_modules(signature)
        if strangers:
            name += "." + hashlib.sha256(" ".join(sorted(strangers)).encode()).hexdigest()[:16]
        if strangers or not is_ours(self._py_func.__code__.co_filename):
            digest = digest_of(strangers, self._py_func)
            if digest is None:
                return None
            made_with += digest
            if not Path(self._py_func.__code__.co_filename).is_file():  # a notebook's cell
                made_with += str(self._impl.locator.get_source_stamp())
        return KernelFiles(Path(self.cache_path), name, made_with)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._found(sig, target_context)
        if found is None:
            announce()
            _meter.kernels += 1
        return found

    def _found(self, sig: Any, target_context: Any) -> Any:
        files = self.files(sig)
        if files is None:
            return None
        found = self._load(files, sig, target_context)
        if found is None:
            self.turn.take()
            found = self._load(files, sig, target_context)
        return found

    def _load(self, files: KernelFiles, sig: Any, target_context: Any) -> Any:
        self._cache_file = files  # type: ignore[assignment]
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # whatever is wrong with it, it can be compiled
            key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
            files.drop(key, f"it cannot be loaded ({type(error).__name__})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        files = self.files(sig)
        if files is not None:
            self._cache_file = files  # type: ignore[assignment]
            with suppress(OSError):  # a full disk costs time, nothing else
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]


def kernel(function: F) -> F:
    """Compile at the first call, strict IEEE arithmetic, machine code kept on disk."""
    return _cached(function, allocates=True)


def borrowing(function: F) -> F:
    """A :func:`kernel` that counts no references, which is most of what records cost in calls; so it must not allocate.

    Its arguments are held by whoever calls it.
    """
    return _cached(function, allocates=False)


def callee(function: F) -> F:
    """A :func:`borrowing` kernel that only other kernels call: the wrapper for calls from Python is not compiled."""
    compiled: Any = _cached(function, allocates=False, from_python=False)

    def refuse(*_arguments: Any, **_names: Any) -> None:
        raise TypeError(f"{function.__name__} is called by kernels only: @callee leaves out what Python would call")

    compiled._insert = lambda *_entry, **_options: None  # the table in which calls from Python look for machine code
    compiled._compile_for_args = refuse
    return cast(F, compiled)


def _cached(function: F, *, allocates: bool, from_python: bool = True) -> F:
    # Said to callees too, which would otherwise have what their caller has.
    # Nobody calls them as C functions, and the wrappers for it are a twentieth of the time that compiling takes.
    compiled = numba.njit(  # type: ignore[call-overload]
        function,
        error_model="numpy",
        boundscheck=False,
        _nrt=allocates,
        no_cfunc_wrapper=True,
        no_cpython_wrapper=not from_python,
    )
    turn = None
    with suppress(RuntimeError):  # where no folder can be written to, every process compiles anew
        compiled._cache = store = _Cache(function)
        turn = store.turn
    compiled.compile = _undisturbed(compiled.compile, turn)
    return cast(F, compiled)


def _undisturbed(compile_or_load: Callable[..., Any], turn: Turn | None) -> Callable[..., Any]:
    """No signal is lost meanwhile, and the turn to compile is given back, also after Ctrl-C or an error."""

    def compile_and_give_back(signature: Any) -> Any:
        with no_signal_lost(), _meter.running(), _no_garbage_collected():
            if turn is None:
                announce()
            try:
                return compile_or_load(_without_literals(signature))
            finally:
                if turn is not None:
                    turn.give_back()

    return compile_and_give_back


def _without_literals(signature: Any) -> Any:
    """A signature that says int64 where Numba knows that it is 0: one kernel serves all constants."""
    return tuple(map(types.unliteral, signature)) if isinstance(signature, tuple) else signature


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Collecting garbage looks at all that Numba holds, again and again: a fifth of the time that compiling takes."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether some machine code of a kernel lies on disk, made from the sources as they are."""
    store = getattr(function, "_cache", None)
    files = store.files() if isinstance(store, _Cache) else None
    return files is not None and bool(files.index())


def inlined(function: F) -> F:
    """Compile into the kernels that call it: no call is left in their inner loops."""
    return cast(F, numba.njit(function, error_model="numpy", inline="always"))


def _widen(_: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        attributes = builder.function.attributes
        if isinstance(attributes, set):  # llvmlite's own ``add`` knows a fixed list of names only
            set.add(attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


wide_vectors = cast(Callable[[], None], intrinsic(_widen))
"""Called in a kernel: let it use the widest vectors that the machine has.

LLVM keeps to 256 bits on most machines that have 512, where gcc does not; without fused multiply-adds, which would
change results, that is a third of the speed of dense planning.  Elsewhere it changes nothing.
"""

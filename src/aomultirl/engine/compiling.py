"""Compile a function with Numba and keep the machine code on disk.

Numba's own cache looks only at the file a kernel is written in, so an edit to a helper in another file
would leave stale machine code behind.  Here every kernel is stamped with one digest over all files of the
package that hold compiled code: edit any of them and all kernels compile anew, once.

Nothing compiles at import; a kernel compiles at its first call.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba.core import caching, types
from numba.extending import intrinsic

from aomultirl.engine.compiling_signals import no_signal_lost
from aomultirl.engine.compiling_turns import Turn
from aomultirl.engine.kernel_files import KernelFiles

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent.parent


@cache
def source_stamp() -> str:
    """Digest of every file of the package that holds compiled code, or records that it takes."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if path.parent.name == "engine" or b"@kernel" in text or b"@inlined" in text or b"@borrowing" in text:
            digest.update(str(path.relative_to(PACKAGE)).encode())
            digest.update(text)
    return digest.hexdigest()


def _stamped(locator: type[Any]) -> type[Any]:
    """The same place on disk as Numba would choose, valid for one digest of the package's sources."""

    class Stamped(locator):  # type: ignore[misc]
        def get_source_stamp(self) -> str:
            return source_stamp()

    return Stamped


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_stamped(c) for c in caching.CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Cache(caching.FunctionCache):
    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        folder, name = Path(self.cache_path), self._impl.filename_base
        self.turn = Turn(folder / f"{name}.turn")
        self.files = KernelFiles(folder, name, source_stamp())
        self._cache_file = self.files  # type: ignore[assignment]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            self.turn.take()
            found = self._load(sig, target_context)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # whatever is wrong with it, it can be compiled
            key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
            self.files.drop(key, f"it cannot be loaded ({type(error).__name__})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
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


def _cached(function: F, *, allocates: bool) -> F:
    # Said to callees too, which would otherwise have what their caller has.
    compiled = numba.njit(function, error_model="numpy", boundscheck=False, _nrt=allocates)  # type: ignore[call-overload]
    turn = None
    with suppress(RuntimeError):  # where no folder can be written to, every process compiles anew
        compiled._cache = store = _Cache(function)
        turn = store.turn
    compiled.compile = _undisturbed(compiled.compile, turn)
    return cast(F, compiled)


def _undisturbed(compile_or_load: Callable[..., Any], turn: Turn | None) -> Callable[..., Any]:
    """No signal is lost meanwhile, and the turn to compile is given back, also after Ctrl-C or an error."""

    def compile_and_give_back(signature: Any) -> Any:
        with no_signal_lost():
            try:
                return compile_or_load(signature)
            finally:
                if turn is not None:
                    turn.give_back()

    return compile_and_give_back


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether some machine code of a kernel lies on disk, made from the sources as they are."""
    store = getattr(function, "_cache", None)
    return isinstance(store, _Cache) and bool(store.files.index())


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

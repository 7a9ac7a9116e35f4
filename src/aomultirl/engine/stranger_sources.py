"""Which source files machine code depends on, where somebody else's modules have a part in it.

The sources of this package have one digest for all.  A kernel or a behaviour that is written elsewhere, in a plug-in
or beside a script, depends on its own module as well, and on what that module imports: a constant, a helper.  Those
are the modules of the same package, those outside the folders that packages are installed in, and installed ones that
are built on this package.
"""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from numba.core import types

PACKAGE = Path(__file__).resolve().parent.parent
EXAMPLES = PACKAGE / "examples"
"""What comes with an installed package for people to take away and change; no code of ours depends on it."""
INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
"""Folders of Python itself and of installed packages."""


_parts: dict[type[Any], set[str]] = {}
_loaded: dict[Path, bytes] = {}


def own_files() -> list[Path]:
    """All Python files that belong to this package, in one order; the same in a checkout and where it is installed."""
    return sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(EXAMPLES))


def records_in(signature: Any) -> Iterator[type[Any]]:
    """The classes of all records among the types of a kernel's arguments, and in their fields."""
    for argument in getattr(signature, "args", signature):
        if isinstance(argument, types.BaseNamedTuple):
            yield argument.instance_class  # type: ignore[attr-defined]
        if isinstance(argument, types.BaseTuple):
            yield from records_in(argument)


def takes_part(record: type[Any], function: Callable[..., Any]) -> None:
    """Machine code for a class of records depends on a function as well, which is being loaded."""
    _parts.setdefault(record, set()).add(function.__module__)
    note_loaded(function)


def note_loaded(function: Callable[..., Any]) -> None:
    """Remember the source of a function of somebody else's as it was when it was loaded."""
    path = function.__code__.co_filename
    if not is_ours(path):
        _loaded[Path(path)] = _text(Path(path))


@cache
def is_ours(path: str | None) -> bool:
    """Whether a file belongs to this package, and is not one of its examples."""
    if path is None:
        return False
    place = Path(path).resolve()
    return place.is_relative_to(PACKAGE) and not place.is_relative_to(EXAMPLES)


def stranger_modules(signature: Any) -> set[str]:
    """Names of the modules of others that have a part in the records of a signature."""
    records = set(records_in(signature))
    modules = {record.__module__ for record in records}.union(*(_parts.get(record, ()) for record in records))
    return {name for name in modules if not is_ours(_file_of(name))}


def can_be_found(record: type[Any]) -> bool:
    """Whether a later process can find the class under its name, as machine code on disk must."""
    module = sys.modules.get(record.__module__)
    return record.__module__ != "__main__" and getattr(module, record.__qualname__, None) is record


def digest_of(modules: Iterable[str], function: Callable[..., Any]) -> str | None:
    """Digest of the source files of modules, of what they import, and of a function's own where that is not ours.

    None if one of them was edited after it was loaded: what runs is not what the file says.
    """
    path = function.__code__.co_filename
    files = set() if is_ours(path) else {Path(path)}
    names = list(modules) if is_ours(path) else [*modules, function.__module__]
    seen = set(names)
    while names:
        name = names.pop()
        source = _file_of(name)
        if source is not None:
            files.add(Path(source))
            more = {other for other in _imported(name, Path(source)) if other not in seen and _counts(name, other)}
            seen |= more
            names += more
    digest = hashlib.sha256()
    for file in sorted(files):
        text = _text(file)
        if text != _loaded.get(file, text):
            return None
        digest.update(f"{file.name} {len(text)} ".encode() + text)
    return digest.hexdigest()


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # in an archive, or gone
        return b""


def _imported(module: str, path: Path) -> Iterator[str]:
    """Names under which a module imports, or might: ``from a import b`` is a, and a.b if that is a module."""
    package = getattr(sys.modules[module], "__package__", None) or None
    try:
        tree = ast.parse(_text(path))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.level == 0 or package is not None):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def _counts(module: str, imported: str) -> bool:
    """Whether machine code of ``module`` may depend on what ``imported`` says."""
    path = _file_of(imported)
    if path is None or is_ours(path):
        return False
    if imported.partition(".")[0] == module.partition(".")[0]:
        return True
    return not any(Path(path).is_relative_to(folder) for folder in INSTALLED) or b"aomultirl" in _text(Path(path))

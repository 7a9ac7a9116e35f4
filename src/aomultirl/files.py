"""Files that are either whole or not there: written under a temporary name, flushed to the disk, and renamed."""

import os
import platform
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WRITING = threading.RLock()
"""Held while a file is being written."""
LOCK = ".lock"
PARTIAL = re.compile(r"\..+\.(\d+)\.partial")


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; renamed at the end, removed if anything fails.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with whole(target) as partial:
    ...     _ = partial.write_text("done")
    >>> target.read_text()
    'done'
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with WRITING:
        try:
            yield partial
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            partial.replace(path)
            _flush(path.parent)
        finally:
            partial.unlink(missing_ok=True)


def _flush(folder: Path) -> None:
    """The renaming, too, is on the disk."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file at once; text as UTF-8."""
    with whole(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


def clear_partials(folder: Path) -> None:
    """Remove the temporary files of :func:`whole` in a folder whose process is gone; nothing else."""
    for path in folder.glob(".*.partial"):
        named = PARTIAL.fullmatch(path.name)
        if named and not _lives(int(named[1])):
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    try:
        if state.exists():  # Linux: one that has ended and that nobody asked about does not live either
            return state.read_text().rpartition(")")[2].split()[0] not in "ZX"
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError, IndexError):
        return True
    return True


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the folder's lock; refused where another process holds it.  It ends with the process, however that ends."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        yield
        return
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise ValueError(
                f"{name} is {str(folder)!r}, where {file.read() or 'another process'} is at work"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def at_work(folder: Path) -> str:
    """Who holds the folder's lock; empty for nobody."""
    try:
        import fcntl

        with (folder / LOCK).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read() or "another process"
    except (OSError, ModuleNotFoundError):
        pass
    return ""


def check_folder(name: str, folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before anything is computed for it."""
    told = f"{name} is {str(folder)!r}"
    try:
        if folder.is_symlink() and not folder.exists():
            raise ValueError(f"{told}, a link that leads nowhere")
        above = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not above.is_dir():
            own = above == folder.absolute() or above == folder
            raise ValueError(
                f"{told}, which is a file, not a folder" if own else f"{told}, but {str(above)!r} is a file"
            )
        if not os.access(above, os.W_OK | os.X_OK) or str(above.resolve()).startswith("/proc"):
            raise ValueError(f"{told}, but {str(above)!r} may not be written to")
    except OSError as error:
        raise ValueError(f"{told}, which cannot be looked into: {error.strerror}") from None

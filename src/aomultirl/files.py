"""Files that are either whole or not there, and nothing but files.

They are written under a temporary name, flushed to the disk, and renamed.  What somebody else may have put in a folder
is opened without following links, and read only if it is a regular file: a pipe would keep its reader waiting, a device
may never end, and a link leads out of the folder.  A folder that the user named may be a link; what lies in it may not.
"""

import os
import platform
import re
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from aomultirl import checks

WRITING = threading.RLock()
"""Held while a file is being written."""
LOCK = ".lock"
LOCK_WORDS = "process"
"""What the text in a lock begins with."""
MOST_LOCK = 1000
"""Characters of that text, at most."""
PARTIAL = re.compile(r"\..+\.(\d+)\.partial")
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""How everything is opened: without waiting for whoever is at the other end."""


class UnfitFileError(ValueError):
    """A file that is not what it should be.

    path
        the file.
    fault
        what is wrong with it, as the rest of a sentence that begins with its name.
    """

    def __init__(self, path: str | Path, fault: str) -> None:
        super().__init__(path, fault)
        self.path, self.fault = Path(path), fault

    def __str__(self) -> str:
        return f"{str(self.path)!r} {self.fault}"


def open_regular(path: str | Path, *, follow: bool = False) -> FileIO:
    """Open a regular file for reading; :class:`UnfitFileError` for anything else.

    Parameters
    ----------
    follow
        whether the file may be a link to one, as a file may that the user named.
    """
    _check_regular(path, os.stat(path, follow_symlinks=follow))  # before opening, which does things to some devices
    file = FileIO(os.open(path, os.O_RDONLY | AT_ONCE | (0 if follow else NO_LINKS)))
    try:
        _check_regular(path, os.fstat(file.fileno()))
    except UnfitFileError:
        file.close()
        raise
    return file


def _check_regular(path: str | Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UnfitFileError(path, f"is {_kind(found.st_mode)}, not a file")


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISREG(mode):
        return "a file"
    return "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"


def read_regular(path: str | Path, most: int, *, follow: bool = False) -> bytes:
    """The content of a regular file of at most ``most`` bytes; :class:`UnfitFileError` for anything else."""
    with open_regular(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise UnfitFileError(path, f"has {size:,} bytes, and such a file has at most {most:,}")
        return file.readall()


def read_beginning(path: str | Path, count: int) -> bytes:
    """The first ``count`` bytes of a regular file; :class:`UnfitFileError` for anything else."""
    with open_regular(path) as file:
        return file.read(count)


def is_regular(path: str | Path) -> bool:
    """Whether a regular file is there, and not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def check_inside(told: str, folder: Path, *, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
    """Refuse a folder in which one of these names is something else than a file, or than a folder; touch nothing.

    Names that are not there are no hindrance.  ``folder`` itself may be a link: the user named it.

    Parameters
    ----------
    told
        what the sentence begins with, such as "out is 'results'".
    """
    for wanted, kind, names in ((stat.S_ISREG, "a file", files), (stat.S_ISDIR, "a folder", folders)):
        for name in names:
            try:
                mode = os.lstat(folder / name).st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not wanted(mode):
                raise ValueError(f"{told}, in which {name!r} is {_kind(mode)}, not {kind}")


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; renamed at the end, removed if anything fails.

    Raises
    ------
    FileNotFoundError
        there is no folder to write in.

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
    if not path.parent.exists():  # the temporary path, which the system would name, is nobody's business
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with WRITING:
        try:
            partial.unlink(missing_ok=True)  # left by another process of this number, or a link that was planted
            os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | AT_ONCE, 0o666))
            yield partial
            with open_regular(partial) as file:
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
    with whole(path) as partial, open(partial, "wb", opener=_without_links) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | NO_LINKS)


def clear_partials(folder: Path) -> None:
    """Remove what :func:`is_left_over` in a folder; nothing else, and of links nothing but the links."""
    for path in folder.glob(".*.partial"):
        if is_left_over(path):
            path.unlink(missing_ok=True)


def is_partial(path: Path) -> bool:
    """Whether this is a file that has the name of one that is being written."""
    return bool(PARTIAL.fullmatch(path.name)) and is_regular(path)


def is_left_over(path: Path) -> bool:
    """Whether this is a temporary file of :func:`whole` whose process is gone, or a link, which is never one."""
    if path.is_symlink():
        return bool(PARTIAL.fullmatch(path.name))
    return is_partial(path) and not _lives(int(path.name.split(".")[-2]))


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
        import fcntl  # noqa: F401
    except ModuleNotFoundError:  # Windows
        yield
        return
    with _held(folder, f"{name} is {str(folder)!r}") as file:
        file.truncate(0)
        file.write(f"{LOCK_WORDS} {os.getpid()} on {platform.node()}"[:MOST_LOCK].encode())
        try:
            yield
        finally:
            file.truncate(0)


def _held(folder: Path, told: str) -> FileIO:
    """The folder's lock, which nobody else holds.

    One with a second name, as in a copy of the folder that is made of hard links, is replaced: two folders have two
    locks.  Only who holds the lock replaces it, so whoever opened it before that finds another in its place, and takes
    that one.
    """
    import fcntl

    place = folder / LOCK
    while True:
        file = _lock(folder, told)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = os.fstat(file.fileno())
            if is_regular(place) and os.path.samestat(mine, os.lstat(place)):
                if mine.st_nlink == 1:
                    return file
                place.unlink()
        except BlockingIOError:
            with file:
                raise ValueError(f"{told}, where {_holder(file)} is at work") from None
        except OSError:
            file.close()
            raise
        file.close()


def _lock(folder: Path, told: str) -> FileIO:
    """The folder's lock, opened to be emptied: refused where that would empty anything else."""
    check_inside(told, folder, files=[LOCK])
    place = folder / LOCK
    file = FileIO(os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND | AT_ONCE | NO_LINKS, 0o666), "r+")
    try:
        found = os.fstat(file.fileno())
        _check_regular(place, found)
        text = file.read(len(LOCK_WORDS))
        if found.st_size > 4 * MOST_LOCK or text not in (b"", LOCK_WORDS.encode()):
            raise ValueError(f"{told}, in which {LOCK!r} is not a lock of aomultirl; move it")
    except ValueError:
        file.close()
        raise
    return file


def _holder(file: FileIO) -> str:
    """Who wrote the text in a lock."""
    file.seek(0)
    return checks.plain(file.read(MOST_LOCK).decode(errors="replace")) or "another process"


def at_work(folder: Path) -> str:
    """Who holds the folder's lock; empty for nobody."""
    try:
        import fcntl

        with open_regular(folder / LOCK) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _holder(file)
    except (OSError, UnfitFileError, ModuleNotFoundError):
        pass
    return ""


def check_results(folder: Path) -> None:
    """Refuse what is not a folder with something in it, before it is looked into for results."""
    if not folder.exists():
        raise ValueError(f"there is no folder {str(folder)!r}")
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is {_kind(folder.stat().st_mode)}, not a folder of results")
    if not any(folder.iterdir()):
        raise ValueError(f"{str(folder)!r} is empty: it holds no results")


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

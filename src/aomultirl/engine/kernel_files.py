"""The files that hold the machine code of a kernel: an index (.nbi) and one file a signature (.nbc).

They take the place of Numba's own, which are unpickled as they are: one that a full disk or a crash left empty or cut
short would break every later run, and one with a flipped bit could end it without a word.  Here a file is

    SHA-256 of the rest (32 bytes), SHA-256 of the versions it was made with (32 bytes), the pickled content,

and nothing is unpickled before both are right.  A file made with other versions or sources is passed over.  One that is
damaged, or no file at all, is removed, with every other damaged one, and said to be so in one sentence; the kernels
are then compiled anew.  Machine code is written before the index that names it.
"""

import hashlib
import pickle
import uuid
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from aomultirl import files

DIGEST = 32
"""Bytes of a SHA-256."""
FOLDERS: set[Path] = set()
"""Where the kernels of this process keep their files."""


class DamagedCacheWarning(RuntimeWarning):
    """Machine code on disk was damaged, and is compiled anew."""


class DamagedFileError(Exception):
    """A file is not what was written, or is none."""


class KernelFiles:
    """The files of one kernel, in the place of Numba's ``IndexDataCacheFile``.

    Parameters
    ----------
    folder, name
        the files are ``folder/name.checked.nbi`` and ``folder/name.checked.1.nbc``, and so on.
    made_with
        what the machine code depends on: versions and sources.
    """

    def __init__(self, folder: Path, name: str, made_with: str) -> None:
        FOLDERS.add(folder)
        self._folder, self._name = folder, f"{name}.checked"
        self._made_with = hashlib.sha256(made_with.encode()).digest()
        self._index = folder / f"{self._name}.nbi"

    def load(self, key: Any) -> Any:
        """The machine code that was saved for ``key``, a signature; None where there is none."""
        name = self.index().get(key)
        found = None if name is None else self._read(self._folder / name)
        return found[1] if found is not None and found[0] == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep machine code for later processes."""
        index = self.index()
        taken = set(index.values())
        name = index.get(key) or next(n for n in self._names(len(taken) + 1) if n not in taken)
        self._write(self._folder / name, (key, data))
        self._write(self._index, {**index, key: name})

    def flush(self) -> None:
        """Forget all machine code of the kernel."""
        self._write(self._index, {})

    def index(self) -> dict[Any, str]:
        """The file of every signature."""
        return self._read(self._index) or {}

    def drop(self, key: Any, reason: str) -> None:
        """Remove the machine code of a signature, which cannot be used, and say so."""
        name = self.index().get(key)
        if name is not None:
            _remove(self._folder / name)
            _tell(self._folder / name, reason)

    def _names(self, count: int) -> list[str]:
        return [f"{self._name}.{number}.nbc" for number in range(1, count + 1)]

    def _read(self, path: Path) -> Any:
        """The content of a file; None where there is no file, or one made with something else."""
        try:
            content = _checked(path)
            if content is None or content[:DIGEST] != self._made_with:
                return None
            try:
                return pickle.loads(content[DIGEST:])
            except Exception as error:
                raise DamagedFileError(f"it cannot be unpickled ({type(error).__name__})") from None
        except DamagedFileError as error:
            _remove(path)
            _remove_damaged()
            _tell(path, str(error))
            return None

    def _write(self, path: Path, content: Any) -> None:
        if path.is_dir():
            _remove(path)
        data = self._made_with + dumps(content)  # type: ignore[no-untyped-call]
        files.write_whole(path, hashlib.sha256(data).digest() + data)


def _checked(path: Path) -> bytes | None:
    """What follows the digest of a file; None where there is no file."""
    try:
        with files.open_regular(path, follow=True) as file:
            data = file.readall()
    except FileNotFoundError:
        return None
    except files.UnfitFileError as error:
        raise DamagedFileError(f"it {error.fault}") from None
    except OSError as error:
        raise DamagedFileError(f"it cannot be read ({error.strerror})") from None
    if len(data) < 2 * DIGEST or hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        raise DamagedFileError("its digest is not that of its content")
    return data[DIGEST:]


def _remove(path: Path) -> None:
    """Take a damaged file out of the way; a folder, which somebody else must have made, keeps what it holds."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.set_aside"))
        else:
            path.unlink()


def _remove_damaged() -> None:
    """Look at all kernels at once, so that no other process finds one more to tell of."""
    for folder in FOLDERS:
        for path in [*folder.glob("*.checked.nbi"), *folder.glob("*.checked.*.nbc")]:
            try:
                _checked(path)
            except DamagedFileError:
                _remove(path)


_told: list[Path] = []


def _tell(path: Path, reason: str) -> None:
    """Say so, once in a process."""
    if not _told:
        _told.append(path)
        warnings.warn(
            f"the compile cache is damaged: {path}: {reason}; what is damaged is removed and compiled anew",
            DamagedCacheWarning,
            stacklevel=2,
        )

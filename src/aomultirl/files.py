"""Files that are either whole or not there: written under a temporary name, flushed to the disk, and renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
    try:
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file at once; text as UTF-8."""
    with whole(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)

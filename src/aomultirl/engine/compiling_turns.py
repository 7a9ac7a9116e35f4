"""Processes that need the same machine code take turns: the first compiles it, the others find it on disk."""

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows: everyone compiles
    fcntl = None  # type: ignore[assignment]

PATIENCE = 300.0
"""Seconds after which nobody waits any longer for the one who compiles."""


class Turn:
    """Whose turn it is to compile one function; held from :meth:`take` to :meth:`give_back`, or the process's end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def take(self) -> None:
        """Wait until nobody else compiles the function."""
        if fcntl is None or self._file is not None:
            return
        with suppress(OSError):  # without a folder to write to there is nothing to find later, either
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Neither through a link, which may lead anywhere, nor waiting for somebody at the other end of a pipe.
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            end = time.monotonic() + PATIENCE
            while stat.S_ISREG(os.fstat(self._file).st_mode) and time.monotonic() < end:
                with suppress(BlockingIOError):
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                time.sleep(0.02)

    def give_back(self) -> None:
        """The machine code is on disk, or will not be."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

"""From a file to what it holds as TOML: the one place that meets bytes of strangers.

tomllib takes a time that grows with the square of the parts of a dotted key, and a list of a few megabytes takes it
seconds; both are refused before they are read.
"""

import errno
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from aomultirl import checks

MOST_BYTES = 256_000
"""Of a file: two thousand agents, or a stream of a hundred thousand tasks, and read in half a second."""
MOST_PARTS = 32
"""Of a dotted key; a specification needs four."""
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
DOTTED = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:\.[ \t]*+{_PART}){{{MOST_PARTS},}}+")


def read_document(path: Path) -> dict[str, Any]:
    """What a file holds; every error is a ValueError of one sentence that names the file."""
    checks.path("the specification", path)
    name = checks.cut(repr(str(path)), 300)
    text = _text(path, name)
    long = DOTTED.search(text)
    if long is not None:
        place = f"line {text.count(chr(10), 0, long.start()) + 1}"
        raise ValueError(f"{name} is not a specification: a key in {place} has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {checks.cut(str(error), 200)}") from None
    except RecursionError:
        raise ValueError(f"{name} is not a specification: it is nested too deeply") from None
    except ValueError as error:  # such as a number of more digits than Python reads
        raise ValueError(f"{name} is not a specification: {checks.cut(str(error), 200)}") from None


def _text(path: Path, name: str) -> str:
    """The text of a regular file; nothing else is read, for a pipe or a device may never end."""
    try:
        content = _bytes(path)
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if content is None:
        raise ValueError(f"{name} is not a regular file")
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name} is larger than a specification can be, {MOST_BYTES:,} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: byte {error.start} is {content[error.start]:#x}") from None


def _bytes(path: Path) -> bytes | None:
    """The first bytes of a regular file, one more than may be; None where it is something else."""
    place = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        kind = os.fstat(place).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(kind):
            return None
        with open(place, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)
    finally:
        os.close(place)

"""From a file to what it holds as TOML: the one place that meets bytes of strangers.

tomllib takes a time that grows with the square of the parts of a dotted key, and a list of a few megabytes takes it
seconds; both are refused before they are read.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from aomultirl import checks, files

MOST_BYTES = 256_000
"""Of a file: two thousand agents, or a stream of a hundred thousand tasks, and read in half a second."""
MOST_PARTS = 32
"""Of a dotted key; a specification needs four."""
MOST_PARTS_IN_ALL = 20_000
"""Of all dotted keys of three parts or more (a decimal number looks like a key of two): each becomes several tables."""
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\n]*'?)"""
_STRING = r'''"""(?:[^"\\]|\\.|"(?!""))*"{0,5}''' + "|" + r"""'''(?:[^']|'(?!''))*'{0,5}"""
PART = re.compile(_PART, re.DOTALL)
LEXEME = re.compile(rf"{_STRING}|#[^\n]*|(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)", re.DOTALL)
"""A long string, a comment, or what may be a key.  An open string ends with its line: no text is looked at twice."""


def read_document(path: Path) -> dict[str, Any]:
    """What a file holds; every error is a ValueError of one sentence that names the file."""
    checks.path("the specification", path)
    name = checks.cut(repr(str(path)), 300)
    text = _text(path, name)
    _check_keys(text, name)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {checks.cut(str(error), 200)}") from None
    except RecursionError:
        raise ValueError(f"{name} is not a specification: it is nested too deeply") from None
    except ValueError:  # the only one that tomllib leaves to Python
        words = f"a whole number in it has more than {sys.get_int_max_str_digits():,} digits"
        raise ValueError(f"{name} is not a specification: {words}") from None


def _check_keys(text: str, name: str) -> None:
    """Refuse dotted keys of so many parts, alone or together, that tomllib would take long."""
    in_all = 0
    for lexeme in LEXEME.finditer(text):
        if lexeme["key"] is None or lexeme["key"].count(".") < 2:
            continue
        parts = len(PART.findall(lexeme["key"]))
        if parts > MOST_PARTS:
            place = f"line {text.count(chr(10), 0, lexeme.start()) + 1}"
            raise ValueError(f"{name} is not a specification: a key in {place} has more than {MOST_PARTS} parts")
        in_all += parts if parts > 2 else 0
    if in_all > MOST_PARTS_IN_ALL:
        words = f"its dotted keys have {in_all:,} parts in all, more than {MOST_PARTS_IN_ALL:,}"
        raise ValueError(f"{name} is not a specification: {words}")


def _text(path: Path, name: str) -> str:
    """The text of a regular file; nothing else is read, for a pipe or a device may never end."""
    try:
        content = files.read_regular(path, MOST_BYTES, follow=True)
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except files.UnfitFileError as error:
        raise ValueError(f"{name} {error.fault}") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: byte {error.start} is {content[error.start]:#x}") from None

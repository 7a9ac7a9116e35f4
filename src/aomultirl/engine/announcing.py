"""One line on standard error when machine code is made, which takes long and happens once: in every program, once.

Where several processes share the work, only the first of them that compiles says it: the process that they work for
makes a file, and whoever manages to remove it may speak.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

QUIET = "AOMULTIRL_QUIET"
"""The variable that silences the line, unless it is empty or 0."""
USUAL = "10 s to 2 minutes"
"""How long an agent's first run compiles, as it was measured from those that act at random to those that remember."""


@dataclass
class Announcer:
    """What this process has said, and may say.

    said
        whether it was said, by this process or by another that works for it.
    token
        the file that has to be removed before; None where this process speaks for itself.
    takes
        how long it takes, in words.
    """

    said: bool = False
    token: str | None = None
    takes: str = USUAL


_here = Announcer()


def announce() -> None:
    """Say that machine code is made, if nobody has said so."""
    if _here.said or is_quiet():
        return
    _here.said = True
    if _here.token is not None:
        try:
            os.unlink(_here.token)
        except OSError:
            return
    sys.stderr.write(f"aomultirl: compiling, once, {_here.takes} (aomultirl warm does it ahead)\n")
    sys.stderr.flush()


def is_quiet() -> bool:
    """Whether nobody wants to know."""
    return os.environ.get(QUIET, "0") not in ("", "0")


def expect(takes: str) -> None:
    """Have the line say how long it takes, where more of that is known."""
    _here.takes = takes


def hush() -> None:
    """Say nothing: whoever asked for it knows what is compiled."""
    _here.said = True


@contextmanager
def shared() -> Iterator[tuple[str, str]]:
    """A block in which others work for this process: what each of them gives to :func:`work_for`.

    The token "" lets none of them speak.
    """
    if _here.said or is_quiet():
        yield "", _here.takes
        return
    descriptor, token = tempfile.mkstemp(prefix="aomultirl-compiling-")
    os.close(descriptor)
    try:
        yield token, _here.takes
    finally:
        try:
            os.unlink(token)
        except OSError:
            _here.said = True


def work_for(token: str, takes: str) -> None:
    """Have this process speak only with the token of another, and in its words."""
    if _here.token != token:
        _here.said, _here.token, _here.takes = not token, token, takes

"""What a command does when nobody reads its output any more, as in ``aomultirl list | head -1``: it ends in silence."""

import os
import sys
from collections.abc import Iterator

try:
    from select import POLLERR, POLLHUP, POLLNVAL, poll
except ImportError:  # Windows: pipes that are closed there say so in other ways
    poll = None  # type: ignore[assignment,misc]

STATUS = 141
"""The exit status, as a shell gives it to whoever is ended by the signal PIPE."""


def ended(error: BaseException | None) -> bool:
    """Whether an error says that standard output or standard error is a pipe that nobody reads.

    Pipes to other processes break, too.  Rich has its output go nowhere before it says so.
    """
    return isinstance(error, BrokenPipeError) and any(_is_closed(one) or _is_nowhere(one) for one in _descriptors())


def forget() -> None:
    """Have what is still to be written to such pipes go nowhere: Python writes it as it ends, and would complain."""
    for descriptor in filter(_is_closed, _descriptors()):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _descriptors() -> Iterator[int]:
    for stream in (sys.stdout, sys.stderr):
        try:
            yield stream.fileno()
        except (AttributeError, OSError, ValueError):  # a stream of somebody's that is no file, or closed
            continue


def _is_nowhere(descriptor: int) -> bool:
    return os.path.samestat(os.fstat(descriptor), os.stat(os.devnull))


def _is_closed(descriptor: int) -> bool:
    if poll is None:
        return False
    asked = poll()
    asked.register(descriptor, 0)
    return any(event & (POLLERR | POLLHUP) and not event & POLLNVAL for _, event in asked.poll(0))

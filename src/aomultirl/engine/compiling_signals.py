"""Ctrl-C and TERM while a kernel is compiled.

LLVM calls back into Python when machine code is ready, and Python forgets what is raised in such a callback, or in a
finalizer: a signal that is served there is lost, and so is the machine code.  While something compiles, signals
that arrive inside LLVM therefore wait until the kernel at hand is done, and all others are served at once, as ever.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INSIDE = "llvmlite.binding"
"""The package whose functions LLVM calls back."""

_waiting: list[int] = []
_handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
"""Those of the program, while something compiles."""


@contextmanager
def no_signal_lost() -> Iterator[None]:
    """For the time that one kernel, and those that it calls, are compiled or loaded."""
    if threading.current_thread() is not threading.main_thread():  # which alone serves signals
        yield
        return
    outermost = not _handlers
    if outermost:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                _handlers[number] = handler
                signal.signal(number, _wait_or_serve)
    try:
        yield
    finally:
        try:
            _serve_waiting()
        finally:
            if outermost:
                for changed, handler in _handlers.items():
                    signal.signal(changed, handler)
                _handlers.clear()


def _wait_or_serve(number: int, frame: FrameType | None) -> None:
    at = frame
    while at is not None:
        if at.f_globals.get("__name__", "").startswith(INSIDE):
            _waiting.append(number)
            return
        at = at.f_back
    _handlers[number](number, frame)


def _serve_waiting() -> None:
    while _waiting:
        number = _waiting.pop(0)
        _handlers[number](number, sys._getframe())

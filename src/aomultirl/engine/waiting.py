"""Ctrl-C and TERM while a library computes.

The solvers of SciPy and LAPACK return when they are done, which may be minutes later, but they let other threads of
Python run meanwhile.  So they compute in a thread of their own, and this one waits for it and serves signals; when one
ends the wait, what the thread still finds out is forgotten, and it ends with the process at the latest.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TICK = 0.1
"""Seconds of waiting at a time: some systems serve no signal during one long wait."""


def while_serving_signals(work: Callable[[], T]) -> T:
    """``work()``, or what it raises; a signal is served at once."""
    if threading.current_thread() is not threading.main_thread():  # where Python serves no signals anyway
        return work()
    found: list[T] = []
    raised: list[BaseException] = []

    def compute() -> None:
        try:
            found.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(TICK)
    if raised:
        raise raised[0]
    return found[0]

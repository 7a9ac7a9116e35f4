"""Ctrl-C at a chosen moment, inside one process."""

import signal
from contextlib import contextmanager


def _interrupt(*_):
    raise KeyboardInterrupt


@contextmanager
def alarm(seconds):
    """Raises KeyboardInterrupt so many seconds later, as soon as signals are served."""
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)

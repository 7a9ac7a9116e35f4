"""How far a long command is: a bar in a terminal, now and then a line elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

EVERY = 10.0
"""Seconds between lines."""


@contextmanager
def bar(what: str, file: TextIO) -> Iterator[Callable[[int, int], None]]:
    """A function ``done(now, total)`` that shows it."""
    if not file.isatty():
        yield _Lines(what, file)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(file=file), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda now, total: shown.update(task, completed=now, total=total)


class _Lines:
    """A line at most every ten seconds."""

    def __init__(self, what: str, file: TextIO) -> None:
        self.what, self.file, self.last = what, file, time.monotonic()

    def __call__(self, now: int, total: int) -> None:
        if time.monotonic() - self.last >= EVERY and now < total:
            self.last = time.monotonic()
            self.file.write(f"{now} of {total} {self.what}\n")
            self.file.flush()

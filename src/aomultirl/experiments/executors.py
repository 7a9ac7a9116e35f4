"""Who does the work: this process, or several beside it."""

import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TypeVar

from aomultirl import checks, files

T = TypeVar("T")
R = TypeVar("R")


def execute(work: Callable[[T], R], items: Sequence[T], workers: int = 1) -> Generator[R, None, None]:
    """``work`` done on every item, in this process or in ``workers`` others; results as they come, in any order."""
    workers = min(checks.integer("workers", workers, least=1), max(1, len(items)))
    if workers == 1:
        yield from map(work, items)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    bound = partial(_while_parent_lives, os.getpid(), work)
    try:
        yield from Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(bound)(item) for item in items)
    finally:
        get_reusable_executor().shutdown(wait=True, kill_workers=True)


_watched: list[int] = []


def _while_parent_lives(parent: int, work: Callable[[T], R], item: T) -> R:
    """``work(item)`` in a process that ends within a second of its parent, however that was ended."""
    if parent not in _watched:
        _watched.append(parent)
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    return work(item)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.3)
    with files.WRITING:  # nothing is left half written
        os._exit(1)

"""Who does the work: this process, several beside it, or a Ray cluster (:mod:`~aomultirl.experiments.ray_executor`).

An executor maps a function over items and gives the results as they come, in any order.  Only the function may be
computed elsewhere; what is done with the results, such as writing them, happens here.  Where a process that computes
an item is lost, for instance because there was no memory left for it, the item is tried again; when it is lost again
while it is alone, its result is ``lost(item, why)``.
"""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from aomultirl import checks, extras, files
from aomultirl.engine import announcing

if TYPE_CHECKING:
    from loky import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")
TICK = 0.2
"""Seconds of waiting at a time: a signal that the system hands to another thread does not end a wait of this one."""
KILLED = "the process that computed it was killed, twice; was there too little memory?"
MOST_WORKERS = 1024
"""Processes on one machine; more of them are a slip of the finger, and would take it down."""


class Executor(Protocol):
    """What all executors are.

    slots
        how many items are computed at once.
    """

    @property
    def slots(self) -> int: ...

    def map(
        self, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None = None
    ) -> Generator[R, None, None]:
        """``work`` done on every item; results as they come.  Closing the generator stops what is under way."""
        ...


def read_workers(workers: int) -> int:
    """How many processes; no more than a machine can start."""
    return checks.integer("workers", workers, least=1, limit=MOST_WORKERS)


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def local(workers: int) -> Executor:
    """This process for one worker, otherwise so many others on this machine."""
    workers = read_workers(workers)
    return InProcess() if workers == 1 else LocalProcesses(workers)


class InProcess:
    """One item after the other, here."""

    slots = 1

    def map(
        self, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None = None
    ) -> Generator[R, None, None]:
        yield from map(work, items)


class LocalProcesses:
    """Processes on this machine (loky); they end within a second of this one, however it is ended."""

    def __init__(self, workers: int) -> None:
        self.slots = read_workers(workers)
        self._stays = False
        self._kept: ProcessPoolExecutor | None = None

    @contextmanager
    def staying(self) -> Iterator[None]:
        """The same processes in every ``map`` of this block, so that they start and load compiled code only once."""
        self._stays = True
        try:
            yield
        finally:
            self._stays = False
            if self._kept is not None:
                self._kept.shutdown(wait=True, kill_workers=True)
                self._kept = None

    def map(
        self, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None = None
    ) -> Generator[R, None, None]:
        """As promised; the items that were under way when a process was lost are computed again, one by one."""
        waiting = list(reversed(items))
        with announcing.shared() as words:
            bound = partial(_while_parent_lives, os.getpid(), words, work)
            while waiting:
                suspects: list[T] = []
                workers = self.slots if self._stays else min(self.slots, len(waiting))
                yield from self._pool(bound, waiting, workers, suspects, self._stays)
                for item in suspects:
                    unlucky: list[T] = []
                    yield from self._pool(bound, [item], 1, unlucky, False)
                    if unlucky:
                        yield _missing(item, lost)

    def _pool(
        self, work: Callable[[T], R], waiting: list[T], workers: int, suspects: list[T], stays: bool
    ) -> Generator[R, None, None]:
        """Compute what is ``waiting``, from its end, until all is done or a process is lost with ``suspects``."""
        from concurrent.futures import FIRST_COMPLETED, Future, wait

        with extras.needs("several processes"):
            from loky import ProcessPoolExecutor
            from loky.process_executor import BrokenProcessPool

        pool = (self._kept if stays else None) or ProcessPoolExecutor(workers)
        self._kept = None if stays else self._kept
        under_way: dict[Future[R], T] = {}
        try:
            while under_way or (waiting and not suspects):
                while waiting and not suspects and len(under_way) < 2 * workers:
                    item = waiting.pop()
                    try:
                        under_way[pool.submit(work, item)] = item
                    except BrokenProcessPool:
                        suspects.append(item)
                for future in wait(under_way, timeout=TICK, return_when=FIRST_COMPLETED).done:
                    item = under_way.pop(future)
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        suspects.append(item)
                        continue
                    yield result
        finally:
            if self._stays and stays and not under_way and not suspects:
                self._kept = pool
            else:
                with suppress(RuntimeError):  # a pool that was interrupted before it had begun
                    pool.shutdown(wait=True, kill_workers=True)


def staying(executor: Executor) -> AbstractContextManager[None]:
    """A block in which the executor's processes stay from one ``map`` to the next, if it has any."""
    return executor.staying() if isinstance(executor, LocalProcesses) else nullcontext()


def _missing(item: T, lost: Callable[[T, str], R] | None) -> R:
    if lost is None:
        raise RuntimeError(KILLED)
    return lost(item, KILLED)


_watched: list[int] = []


def _while_parent_lives(parent: int, words: tuple[str, str], work: Callable[[T], R], item: T) -> R:
    """``work(item)`` in a process that ends within a second of its parent, however that was ended.

    words: what :func:`announcing.work_for` takes.
    """
    announcing.work_for(*words)
    if parent not in _watched:
        _watched.append(parent)
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    return work(item)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.3)
    with files.WRITING:  # nothing is left half written
        os._exit(1)

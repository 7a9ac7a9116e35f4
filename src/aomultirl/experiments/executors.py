"""Who does the work: this process, or several beside it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from aomultirl import checks

T = TypeVar("T")
R = TypeVar("R")


def execute(work: Callable[[T], R], items: Sequence[T], workers: int = 1) -> Iterator[R]:
    """``work`` done on every item, in this process or in ``workers`` others; results as they come, in any order."""
    workers = min(checks.integer("workers", workers, least=1), max(1, len(items)))
    if workers == 1:
        yield from map(work, items)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(work)(item) for item in items)

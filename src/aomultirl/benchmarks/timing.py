"""Time several contenders in one run, taking turns, so that a busy machine slows them all alike."""

import time
from collections.abc import Callable, Mapping
from typing import Any

Work = Callable[[], Any]


def interleaved(contenders: Mapping[str, Work], *, rounds: int = 5, least_seconds: float = 0.05) -> dict[str, float]:
    """CPU seconds of one call of each contender: the best of ``rounds`` turns.

    A turn repeats its call until it takes about ``least_seconds``.  How often is found out first, which also
    warms every contender up.
    """
    repeats = {name: _repeats(work, least_seconds) for name, work in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, work in contenders.items():
            best[name] = min(best[name], _seconds(work, repeats[name]) / repeats[name])
    return best


def _repeats(work: Work, least_seconds: float) -> int:
    repeats = 1
    while _seconds(work, repeats) < least_seconds:
        repeats *= 2
    return repeats


def _seconds(work: Work, repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return time.process_time() - begin

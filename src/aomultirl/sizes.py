"""What a computation would take in memory, compared with what is there, before anything is allocated.

Every allocation that grows with a parameter of a public function is estimated first and handed to :func:`check`.  The
estimates are rather too small, by up to a half: what fits is not refused, and what is close may still fail.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from aomultirl.refusals import Refusal

UNASKED = 2**24
"""Bytes that nobody looks for: below 16 MB the question costs more than the answer is worth."""
LEFT = 0.1
"""The share of the memory that is there that an estimate must leave, for what it does not count."""
UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
UNLIMITED = 2**62
"""Limits from here on are a control group's or the kernel's way to say that there is none."""


def check(name: str, value: object, needed: float, what: str, smaller: str | None = None) -> None:
    """Refuse, in a sentence, what takes more memory than there is now.

    Parameters
    ----------
    name, value
        the argument that asks for it.
    needed
        bytes, estimated.
    what
        is so large, such as "a plan for every step".
    smaller
        what to make smaller; by default the argument.

    Examples
    --------
    >>> check("horizon", 10**15, 8.0 * 10**15, "a table")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    aomultirl.refusals.Refusal: horizon is 1000000000000000: a table takes 8 PB of memory, and ... make horizon smaller
    """
    if needed <= UNASKED:
        return
    there = available()
    if there is not None and needed > (1.0 - LEFT) * there:
        raise Refusal(
            name,
            f"is {value}: {what} takes {amount(needed)} of memory, and {amount(there)} are there; "
            f"make {smaller or name} smaller",
        )


def amount(size: float) -> str:
    """A number of bytes with a unit, to two digits.

    Examples
    --------
    >>> amount(58_400_000_000_000), amount(0), amount(1e40)
    ('58 TB', '0 bytes', '1e+22 EB')
    """
    unit = 0
    while size >= 999.5 and unit < len(UNITS) - 1:
        size, unit = size / 1000.0, unit + 1
    return f"{size:.0f} {UNITS[unit]}" if 9.95 <= size < 1e6 else f"{size:.2g} {UNITS[unit]}"


def available() -> int | None:
    """Bytes that this process can still get; None where nobody can say.

    The least of what the machine has left, the limits of the control groups that the process is in, and its own limit
    on addresses.
    """
    if not sys.platform.startswith("linux"):
        return _told_by_psutil()
    limits = [*_machine(), *_control_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")), *_own_limits()]
    return max(0, min(limits)) if limits else None


def _told_by_psutil() -> int | None:
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().available)


def _machine() -> Iterator[int]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1])


def _control_groups(listed: Path, root: Path) -> Iterator[int]:
    """What each group that this process is in, and each above it, leaves: versions 1 and 2."""
    for line in _lines(listed):
        _, kinds, group = line.rstrip("\n").split(":", 2)
        if kinds == "":
            place, names = root, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            place = root / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        parts = [part for part in group.split("/") if part not in ("", "..")]
        for depth in range(len(parts) + 1):
            yield from _left(place.joinpath(*parts[:depth]), *names)


def _left(group: Path, limit: str, used: str, cached: str) -> Iterator[int]:
    """What a control group leaves; cached files are given up before anything is refused."""
    most, now = (next(iter(_lines(group / name)), "").strip() for name in (limit, used))
    if most.isdigit() and now.isdigit() and int(most) < UNLIMITED:
        files = [int(line.split()[1]) for line in _lines(group / "memory.stat") if line.startswith(f"{cached} ")]
        yield int(most) - int(now) + sum(files)


def _own_limits() -> Iterator[int]:
    import resource

    sizes = next(iter(_lines(Path("/proc/self/statm"))), "").split()
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if sizes and most != resource.RLIM_INFINITY:
        yield most - int(sizes[0]) * os.sysconf("SC_PAGE_SIZE")


def _lines(path: Path) -> list[str]:
    """The lines of a file of the kernel; none where it is not there."""
    try:
        return path.read_text().splitlines()
    except (OSError, ValueError):
        return []

"""Python in a process of its own: what it cost from its first moment to its last, and what it said.

What is measured here must not meet what this process has loaded, compiled or allocated already.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TELL = """
import json as _json
_answer = {}
try:
    _lines = open("/proc/self/status", encoding="ascii").read().splitlines()
    _answer["peak_bytes"] = 1024 * next(int(line.split()[1]) for line in _lines if line.startswith("VmHWM"))
except (OSError, StopIteration):
    pass
"""
"""What a process does at its end, before it adds to ``_answer`` and prints it; other ways to ask for the largest
memory tell that of the process that started it, where that had more."""
PRINT = "print()\nprint(_json.dumps(_answer))\n"


class Apart(NamedTuple):
    """A process that has ended.

    cpu_seconds, wall_seconds
        its processor's time, all threads and starting Python included, and the time on the clock.
    peak_bytes
        the largest memory that it had; NaN where the system does not tell.
    answer
        what it said of itself.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: float
    answer: Mapping[str, Any]


def run_code(code: str, answer: str = "", *, folder: Path | None = None, cache: Path | None = None) -> Apart:
    """Run Python in a process of its own.

    Parameters
    ----------
    code
        what it does.
    answer
        what it does in the end to fill the dict ``_answer``.
    folder
        where it runs; here by default.
    cache
        the folder of machine code; the usual one by default.
    """
    words = [sys.executable, "-c", f"{code}\n{TELL}\n{answer}\n{PRINT}"]
    return _run(words, folder, {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}, answers=True)


def run_command(words: Sequence[str]) -> Apart:
    """Run ``aomultirl`` with these words in a process of its own."""
    return _run([sys.executable, "-m", "aomultirl", *words], None, {}, answers=False)


def _run(words: Sequence[str], folder: Path | None, variables: Mapping[str, str], *, answers: bool) -> Apart:
    """``PYTHONDONTWRITEBYTECODE`` is unset: whoever has it set would wait for compiling the sources every time."""
    others = {"AOMULTIRL_QUIET": "1", "PYTHONDONTWRITEBYTECODE": "", "PYTHONWARNINGS": "ignore"}
    began, spent = time.perf_counter(), _children()
    ended = subprocess.run(
        words, cwd=folder, env={**os.environ, **others, **variables}, capture_output=True, text=True, check=False
    )
    wall, cpu = time.perf_counter() - began, _children() - spent
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise RuntimeError(f"a process that was to be measured ended with status {ended.returncode}: {said[0]}")
    answer = json.loads(ended.stdout.splitlines()[-1]) if answers else {}
    return Apart(cpu, wall, answer.get("peak_bytes", math.nan), answer)


def _children() -> float:
    """Processor's time of the processes that this one has started and that have ended."""
    try:
        import resource
    except ImportError:  # Windows, which tells it in ticks of the clock or not at all
        told = os.times()
        return told.children_user + told.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

"""What every program and every command waits for: importing the package, and the commands that compute nothing."""

from collections.abc import Sequence

from aomultirl.benchmarks.processes import run_code, run_command
from aomultirl.benchmarks.waits import Wait

IMPORT, LIBRARIES, PUBLIC = (
    "import aomultirl",
    "import numpy, scipy.sparse, numba",
    "import aomultirl\nfor _name in aomultirl.__all__:\n    getattr(aomultirl, _name)",
)
"""Our import, its yardstick, and the import of all that is public, which is put off until it is asked for."""
CLOCK = "import time as _time\n_begin = _time.process_time()\n"
SPENT = "_answer['seconds'] = _spent"
WORDS = ("--help", "list")
"""The commands that compute nothing and are measured."""
TURNS = 5
"""Processes of each kind; the best counts."""
RATIO = 1.2
"""What importing may take, in times of what the libraries take."""
SECONDS = 0.5
"""What a command may take that computes nothing."""


def importing(turns: int = TURNS) -> Wait:
    """``import aomultirl`` against the libraries that it rests on, in fresh processes, in turns."""
    best = {code: min(_importing(code) for _ in range(turns)) for code in (IMPORT, LIBRARIES, PUBLIC)}
    ours, theirs = best[IMPORT], best[LIBRARIES]
    return Wait(
        name="import aomultirl",
        measured=ours / theirs,
        unit="x",
        target=RATIO,
        note=f"{ours:.2f} s; numpy, scipy.sparse and numba alone {theirs:.2f} s; all that is public, which is "
        f"imported when it is first asked for, {best[PUBLIC]:.2f} s",
    )


def _importing(code: str) -> float:
    """CPU seconds of an import, without the start of Python."""
    apart = run_code(f"{CLOCK}{code}\n_spent = _time.process_time() - _begin", SPENT)
    return float(apart.answer["seconds"])


def commanding(words: Sequence[str], turns: int = TURNS) -> Wait:
    """A command that computes nothing, from the start of Python to its end."""
    seconds = min(run_command(words).cpu_seconds for _ in range(turns))
    return Wait(f"aomultirl {' '.join(words)}", seconds, "s", SECONDS, note="the start of Python included")

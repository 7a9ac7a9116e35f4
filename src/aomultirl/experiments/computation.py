"""Compute one cell, wherever that is; what comes out are bytes and facts that somebody else keeps."""

import json
import platform
import re
import subprocess
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from aomultirl.engine.compiling import compiled_so_far
from aomultirl.engine.stranger_sources import PACKAGE
from aomultirl.experiments.cells import Cell
from aomultirl.plugins import load_all

CHECKPOINTS = "checkpoints"
CHECKPOINT = re.compile(r"[0-9a-f]{20}\.zip(\.damaged\d+)?")
"""The names of the files in it."""


class Computed(NamedTuple):
    """A cell that was computed, or failed.

    history
        a Parquet file; empty where the cell failed.
    facts
        for its manifest; ``facts["state"]`` is "done" or "failed".
    """

    cell: Cell
    history: bytes
    facts: dict[str, Any]

    @property
    def seconds(self) -> float | None:
        """How long it took on the clock without what was compiled for it; None where its process was lost."""
        if "wall_seconds" not in self.facts:
            return None
        return max(0.0, float(self.facts["wall_seconds"]) - float(self.facts.get("compiling_seconds", 0.0)))

    @property
    def error(self) -> str | None:
        """What went wrong, in a line; None where nothing did."""
        return self.facts.get("error")


def compute(cell: Cell, folder: Path | None = None, every: float = 60.0, plugins: Sequence[str] = ()) -> Computed:
    """Run a cell.  What fails in it is part of the result.

    Parameters
    ----------
    folder
        of the results; if this machine sees it, checkpoints are written there and found again.
    every
        seconds between checkpoints.
    plugins
        modules to load first, if this process does not have them yet: those that were loaded where the cell was named.
    """
    wall, cpu, compiling = time.perf_counter(), time.process_time(), compiled_so_far().seconds
    told: dict[str, Any] = {"state": "done"}
    notes: list[str] = []
    content = b""
    try:
        load_all(plugins)
        history = cell.run(checkpoint_of(cell, folder), every, notes)
        content = history.to_parquet(constants(cell))
    except Exception as error:
        told = failed(f"{type(error).__name__}: {' '.join(str(error).split())}", traceback.format_exc())
    times = {
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - wall,
        "compiling_seconds": compiled_so_far().seconds - compiling,
    }
    return Computed(cell, content, {**told, **({"notes": notes} if notes else {}), **times, **_here(cell)})


def constants(cell: Cell) -> dict[str, str | int]:
    """Columns that say whose history it is, so that a folder of them can be queried."""
    told = cell.specification()
    configuration = {name: told[name] for name in told if name not in ("number", "label")}
    return {
        "cell": cell.name,
        "agent": cell.label,
        "world": cell.world["name"],
        "stream": cell.stream["name"],
        "run": cell.number,
        "configuration": json.dumps(configuration, sort_keys=True),
    }


def failed(error: str, traceback: str = "") -> dict[str, Any]:
    """What a manifest says of a cell that failed."""
    return {"state": "failed", "error": error, "traceback": traceback}


def lost(cell: Cell, why: str) -> Computed:
    """A cell whose process was lost."""
    return Computed(cell, b"", failed(why))


def checkpoint_of(cell: Cell, folder: Path | None) -> Path | None:
    """Where a cell's checkpoint is; None where the folder of the results cannot be seen from here."""
    place = None if folder is None else folder / CHECKPOINTS
    seen = place is not None and place.is_dir() and not place.is_symlink()
    return place / f"{cell.name}.zip" if place is not None and seen else None


def _here(cell: Cell) -> dict[str, Any]:
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    return {"versions": versions(), "source": cell.source, "host": platform.node(), "finished": finished}


@cache
def versions() -> dict[str, str]:
    """Of what results could depend on."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "numba", "pyarrow")},
    }


@cache
def commit() -> str | None:
    """The commit the package is at, with "+" where files differ from it; None where it is installed without git."""
    if not (PACKAGE.parent.parent / ".git").exists():
        return None
    try:
        name, changed = (
            subprocess.run(
                ["git", *words], cwd=PACKAGE, capture_output=True, text=True, check=True, timeout=10
            ).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "."))
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return name + "+" * bool(changed)

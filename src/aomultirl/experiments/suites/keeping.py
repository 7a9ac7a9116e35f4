"""Keep the runs of a suite in a file as they end, so that a suite of hours may be interrupted and gone on with.

A file has one line of JSON for every run: what was run, the version of the library and a digest of its sources, and
what a suite shows of it.  A line is written whole, or not at all; what a kill left of one is passed over and written
anew.  A run that is there is not run again, whatever library made it: the table says of how many sources runs are.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import __version__, checks, files
from aomultirl.experiments import package_state
from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.running import SuiteRun

UNKNOWN = "unknown"
"""The sources of runs that were kept before sources were noted."""
BEGINS = b'{"run": '
"""How every line begins."""
MOST_BYTES = 256 * 1024 * 1024
"""A file of runs is no larger."""
NUMBERS: dict[str, Any] = {"numbers": dict, "steps": list, "worlds": (int, type(None))}
"""Fields of a run that are no plain numbers."""


class KeptRuns:
    """The runs in a file.

    Parameters
    ----------
    path
        of the file, which is made where it is not there.

    Raises
    ------
    ValueError
        the file holds something else than runs of suites.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._runs, self._sources = path, dict[str, SuiteRun](), dict[str, str]()
        self.versions = set[str]()
        if not path.parent.is_dir():
            raise checks.Refusal("keep", f"is {checks.shown(str(path))}, in a folder that does not exist")
        if path.exists():
            self._read(files.read_regular(path, MOST_BYTES, follow=True))

    def _read(self, content: bytes) -> None:
        lines = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                held = json.loads(line, parse_constant=_refuse)
                self._runs[held["run"]] = _run(held["shown"])
                self.versions.add(str(held["version"]))
                self._sources[held["run"]] = str(held.get("source", UNKNOWN))
            except (ValueError, KeyError, TypeError) as fault:
                if number == len(lines) and (line.startswith(BEGINS) or BEGINS.startswith(line)):
                    continue  # a line that was being written
                where = checks.shown(str(self.path))
                raise checks.Refusal("keep", f"is {where}, whose line {number} is no run of a suite") from fault
        if lines[-1]:
            files.write_whole(self.path, b"".join(line + b"\n" for line in lines[:-1]))

    def get(self, case: SuiteCase, seed: int, number: int) -> SuiteRun | None:
        """A run that is there, or None."""
        return self._runs.get(name_of(case, seed, number))

    def put(self, case: SuiteCase, seed: int, number: int, run: SuiteRun) -> None:
        """Keep a run; it is on disk when this returns."""
        name, shown = name_of(case, seed, number), {**asdict(run), "steps": run.steps.tolist()}
        told = {"place": case.place, "told": case.told, "horizon": case.horizon, "seed": seed, "number": number}
        self._sources[name] = package_state.source()
        made_by = {"version": __version__, "source": self._sources[name]}
        line = json.dumps({"run": name, **made_by, **told, "shown": _finite(shown)})
        with self.path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._runs[name] = run
        self.versions.add(__version__)

    def said(self, runs: Iterable[tuple[SuiteCase, int, int]]) -> str:
        """A sentence on where runs come from."""
        there = [name for name in (name_of(*one) for one in runs) if name in self._runs]
        said = "1 run is" if len(there) == 1 else f"{len(there)} runs are"
        said = f"{said} kept in {self.path}, of version {' and '.join(sorted(self.versions))}."
        made = {self._sources[name] for name in there} - {UNKNOWN}
        unknown = sum(self._sources[name] == UNKNOWN for name in there)
        if len(made) + (unknown > 0) > 1:
            states = f"{len(made)} state{'s' * (len(made) != 1)} of its sources" + (
                f", {unknown} of sources unknown" if unknown else ""
            )
            said += f"  They were made by {states}, so rows may differ for that reason alone."
        return said


def name_of(case: SuiteCase, seed: int, number: int) -> str:
    """What a run is known by: the worlds, the agent and all that its result depends on, but the library."""
    parts = [case.world_of(seed, number), case.stream, case.agent, case.episodes, case.horizon, seed, number]
    parts += [[list(window) for window in case.windows], case.reward_range]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _refuse(word: str) -> float:
    """NaN and infinities are no JSON."""
    raise ValueError(word)


def _finite(shown: dict[str, Any]) -> dict[str, Any]:
    """Without nan, which JSON has no word for."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in shown.items()}


def _run(shown: dict[str, Any]) -> SuiteRun:
    """A run as it was shown; whatever is no number is refused with a TypeError or ValueError."""
    read: dict[str, Any] = {
        name: math.nan if value is None and name in ("share", "bound") else value for name, value in shown.items()
    }
    for name, value in read.items():
        if not isinstance(value, NUMBERS.get(name, (int, float))):
            raise TypeError(name)
    numbers = {str(heading): float(value) for heading, value in read["numbers"].items()}
    read.update(steps=np.array(read["steps"], np.int64), numbers=numbers)
    return SuiteRun(**read)

"""Long runs that lose little when they are killed: now and then the agent and all rows so far go to one file.

The file is that of ``ao.save`` with the rows beside the agent, written whole, between two episodes.  A run that finds
one of its own goes on from it, and gives the same history as one that was never interrupted.  Whoever keeps the
finished result removes the file, not the run: so nothing is lost in between.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aomultirl import checks, files
from aomultirl.agents import saving
from aomultirl.agents.base import Agent
from aomultirl.descriptions import describe
from aomultirl.experiments.history import History, Row
from aomultirl.experiments.package_state import source
from aomultirl.experiments.runner import SimulatedRun

EVERY = 60.0
"""Seconds between two checkpoints."""
MOST_BYTES = 2**32
"""Of a checkpoint; more is never read."""


def finish(
    course: SimulatedRun,
    checkpoint: str | Path | None = None,
    every: float = EVERY,
    notes: list[str] | None = None,
    modules: Sequence[str] = (),
) -> History:
    """Run to the end, from the first episode or from a checkpoint.

    Parameters
    ----------
    course
        not yet begun.
    checkpoint
        where to write checkpoints, and to look for one first; None for none.  One that is damaged or of another run is
        set aside under another name.
    every
        seconds between two checkpoints; they fall between episodes.
    notes
        gets a sentence for a checkpoint that was set aside, or that could not be read or written; the run goes on.
    modules
        of the plug-ins that the run needs: whoever edits one of them begins anew.
    """
    every = checks.real("every", every, least=0.0)
    notes = [] if notes is None else notes
    path = None if checkpoint is None else Path(checkpoint)
    code = "" if path is None else source(modules)  # of the code that runs, before somebody edits it
    if path is None or not _take_over(course, path, code, notes):
        course.begin()
    last = time.monotonic()
    while course.met < course.episodes:
        course.step()
        if path is not None and time.monotonic() - last >= every:
            _write(course, path, code, notes)
            last = time.monotonic()
    return course.history()


def _write(course: SimulatedRun, path: Path, code: str, notes: list[str]) -> None:
    """A full disk does not end a run."""
    so_far = course.so_far()
    beside = {"source": code, "about": dict(so_far.about), "columns": dict(so_far.columns)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, saving.to_bytes(course.agent, beside))
    except (OSError, ValueError) as error:
        _note(notes, f"the checkpoint {str(path)!r} cannot be written: {error}")


def read_checkpoint(path: Path, agents: Sequence[type] = ()) -> tuple[Agent, History, Any]:
    """The agent in a checkpoint, the episodes that it has played, and a digest of the code that wrote it.

    Raises
    ------
    ValueError
        it is damaged, or no checkpoint.
    OSError
        it is not there, or cannot be read.
    """
    agent, beside = saving.from_bytes(files.read_regular(path, MOST_BYTES), agents)
    return agent, _rows(beside), beside.get("source")


def _take_over(course: SimulatedRun, path: Path, code: str, notes: list[str]) -> bool:
    """Go on from a checkpoint; False if there is none that fits."""
    fresh = course.agent
    try:
        agent, rows, writer = read_checkpoint(path, [type(fresh)])
        if type(agent) is not type(fresh) or describe(agent) != describe(fresh):
            raise ValueError(f"it is of {agent!r:.200}, not of {fresh!r:.200}")
        if writer != code:
            raise ValueError("other code began it, and the same code must go on")
        course.agent = agent
        course.resume(rows)
    except FileNotFoundError:
        return False
    except OSError as error:
        _note(notes, f"the checkpoint {str(path)!r} cannot be read: {error}")
        return False
    except ValueError as error:
        course.agent = fresh
        _set_aside(path, str(error), notes)
        return False
    return True


def _rows(beside: dict[str, Any]) -> History:
    about, columns = beside.get("about"), beside.get("columns")
    if not isinstance(about, dict) or not isinstance(columns, dict) or list(columns) != list(Row._fields):
        raise ValueError("it has no rows")
    if not all(isinstance(column, np.ndarray) and column.ndim == 1 for column in columns.values()):
        raise ValueError("its rows are not columns of numbers")
    return History(columns, about)


def _set_aside(path: Path, why: str, notes: list[str]) -> None:
    number = 1
    while os.path.lexists(place := path.with_name(f"{path.name}.damaged{number}")):
        number += 1
    try:
        path.replace(place)
        _note(notes, f"the checkpoint {str(path)!r} cannot be used and was set aside as {place.name!r}: {why}")
    except OSError as error:
        _note(notes, f"the checkpoint {str(path)!r} cannot be used: {why}; nor can it be set aside: {error}")


def _note(notes: list[str], words: str) -> None:
    """Once."""
    if words not in notes:
        notes.append(words)

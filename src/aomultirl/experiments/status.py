"""How far the experiment in a folder is, whoever runs it; nothing is touched."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from aomultirl import files
from aomultirl.experiments.computation import CHECKPOINTS
from aomultirl.experiments.manifest import Failed, Manifest, read_manifest, read_mark
from aomultirl.experiments.package_state import states


class Failure(NamedTuple):
    """A cell that went wrong."""

    cell: str
    agent: str
    world: str
    run: int
    error: str


class Progress(NamedTuple):
    """Of one agent's cells: how many are done, how many failed, and the processor's time they took."""

    done: int = 0
    failed: int = 0
    cpu_seconds: float = 0.0


class Status(NamedTuple):
    """The state of a folder.

    total, done, failed
        cells of the experiment; the rest is to be computed.
    agents
        by label.
    damaged
        files that do not fit; the next run sets them aside.
    checkpoints
        cells that are not finished and would go on from somewhere.
    sources
        how many different states of the package, or of a plug-in, computed the results; several should not be mixed.
    at_work
        who computes here now; empty for nobody.
    seconds
        that a cell took on average.
    """

    name: str
    kind: str
    total: int
    done: int
    failed: list[Failure]
    agents: dict[str, Progress]
    damaged: list[str]
    checkpoints: int
    sources: int
    at_work: str
    seconds: float

    @property
    def left(self) -> int:
        """Cells that are neither done nor failed."""
        return self.total - self.done - len(self.failed)


def status(folder: str | Path) -> Status:
    """Look at the manifests in a folder of results.

    Histories are not read: the next run holds them against their manifests, and so does
    :func:`aomultirl.experiments.verification.verify`.
    """
    folder = Path(folder)
    files.check_results(folder)
    mark = read_mark(folder)
    files.check_inside(f"{str(folder)!r} is a folder of results", folder, folders=["cells", CHECKPOINTS])
    cells = folder / "cells"
    present = _files(cells)
    failed, damaged, agents, wall = list[Failure](), list[str](), dict[str, Progress](), 0.0
    begun = _files(folder / CHECKPOINTS)
    names, waiting, sources = dict.fromkeys(mark.cells), 0, set[str]()
    for name in names:
        manifest, finished = f"{name}.json", False
        if manifest in present:
            told = _read(cells / manifest, name)
            finished = told is not None and told.state == "done"
            if told is None or (finished and not present.get(f"{name}.parquet")):
                damaged.append(manifest)
            else:
                before = agents.get(told.specification.label, Progress())
                agents[told.specification.label] = Progress(
                    before.done + finished, before.failed + (not finished), before.cpu_seconds + told.cpu_seconds
                )
                wall += told.wall_seconds
                sources.add(told.source)
                if isinstance(told, Failed):
                    what = told.specification
                    failed.append(Failure(told.cell, what.label, what.world.name, what.number, told.error))
        waiting += not finished and f"{name}.zip" in begun
    done_all = sum(each.done for each in agents.values())
    return Status(
        mark.title,
        mark.kind,
        len(names),
        done_all,
        failed,
        agents,
        damaged,
        waiting,
        states(sources),
        files.at_work(folder),
        wall / max(1, done_all + len(failed)),
    )


def as_dict(found: Status) -> dict[str, Any]:
    """All of it, as JSON can hold it."""
    agents = {label: each._asdict() for label, each in found.agents.items()}
    failed = [failure._asdict() for failure in found.failed]
    return {**found._asdict(), "left": found.left, "failed": failed, "agents": agents}


def _files(folder: Path) -> dict[str, bool]:
    """The names in a folder, and whether each is a file; nothing where there is no folder."""
    if not folder.is_dir():
        return {}
    with os.scandir(folder) as entries:
        return {entry.name: entry.is_file(follow_symlinks=False) for entry in entries}


def _read(manifest: Path, name: str) -> Manifest | None:
    """The manifest of the cell called ``name``; None for any other."""
    try:
        told = read_manifest(manifest)
    except (OSError, ValueError):
        return None
    return told if told.cell == name else None

"""How far the experiment in a folder is, whoever runs it; nothing is touched."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from aomultirl import files
from aomultirl.experiments.computing import CHECKPOINTS
from aomultirl.experiments.store import read_mark


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
        how many different states of the package computed the results; more than one should not be mixed.
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
    """Look at the manifests in a folder of results.  Histories are not read; the next run checks their digests."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"there is no folder {str(folder)!r}")
    if not any(folder.iterdir()):
        raise ValueError(f"{str(folder)!r} is empty: no experiment was run there")
    mark = read_mark(folder)
    cells = folder / "cells"
    present = {entry.name for entry in os.scandir(cells)} if cells.is_dir() else set()
    failed, damaged, agents, wall = list[Failure](), list[str](), dict[str, Progress](), 0.0
    begun = {entry.name for entry in os.scandir(folder / CHECKPOINTS)} if (folder / CHECKPOINTS).is_dir() else set()
    waiting, sources = 0, set[str]()
    for name in mark["cells"]:
        manifest = f"{name}.json"
        told = _read(cells / manifest, name) if manifest in present else {}
        if told is None or (told and told["state"] == "done" and f"{name}.parquet" not in present):
            damaged.append(manifest)
        elif told:
            label, state, cpu = told["specification"]["label"], told["state"], float(told.get("cpu_seconds", 0.0))
            before = agents.get(label, Progress())
            done = state == "done"
            agents[label] = Progress(before.done + done, before.failed + (not done), before.cpu_seconds + cpu)
            wall += float(told.get("wall_seconds", 0.0))
            sources.add(str(told.get("source", "")))
            if not done:
                failed.append(_failure(name, told))
        waiting += (not told or told["state"] != "done") and f"{name}.zip" in begun
    done_all = sum(each.done for each in agents.values())
    return Status(
        str(mark.get("name", mark["kind"])),
        str(mark["kind"]),
        len(mark["cells"]),
        done_all,
        failed,
        agents,
        damaged,
        waiting,
        len(sources),
        files.at_work(folder),
        wall / max(1, done_all + len(failed)),
    )


def as_dict(found: Status) -> dict[str, Any]:
    """All of it, as JSON can hold it."""
    agents = {label: each._asdict() for label, each in found.agents.items()}
    failed = [failure._asdict() for failure in found.failed]
    return {**found._asdict(), "left": found.left, "failed": failed, "agents": agents}


def _failure(name: str, told: dict[str, Any]) -> Failure:
    what = told["specification"]
    return Failure(name, what["label"], what["world"]["name"], what["number"], str(told.get("error", "")))


def _read(manifest: Path, name: str) -> dict[str, Any] | None:
    """The manifest of the cell called ``name``; None for any other."""
    try:
        told = json.loads(manifest.read_bytes())
        what = told["specification"]
        known = told["state"] in ("done", "failed") and what["label"] and what["world"]["name"] and "number" in what
        return told if known and told["cell"] == name else None
    except (OSError, ValueError, KeyError, TypeError):
        return None

"""Histories found in a file or a folder, labelled for a report."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from aomultirl import files
from aomultirl.experiments.history import History
from aomultirl.experiments.paper import LABELS, PaperExperiment
from aomultirl.experiments.store import MARK, read_mark
from aomultirl.reports import reproduction
from aomultirl.reports.page import Run, data

NOT_A_HISTORY = ("episodes.parquet",)
OURS = b'<meta name="generator" content="aomultirl'


class Collection(NamedTuple):
    """The runs, and what else a page of them can say: title, claims that were checked, and the command."""

    runs: list[Run]
    title: str | None = None
    claims: list[dict[str, Any]] | None = None
    command: str | None = None


def collect(place: str | Path) -> Collection:
    """The runs in a Parquet file of :meth:`History.write`, in a folder of them, or in a folder of results.

    An agent's label is the one its manifest gives, or its class; where agents of one class differ in their parameters,
    these are named too.
    """
    place = Path(place)
    if not place.exists():
        raise ValueError(f"there is no file or folder {str(place)!r}")
    if place.is_dir() and (place / MARK).exists() and read_mark(place)["kind"] == "paper":
        return _paper(place)
    return Collection(_runs(place))


def _runs(place: Path) -> list[Run]:
    paths = [place] if place.is_file() else _parquet_files(place)
    if not paths:
        raise ValueError(f"{str(place)!r} holds no histories: no Parquet file, neither in it nor in its folder 'cells'")
    histories = [History.read(path) for path in paths]
    told = [_specification(path) for path in paths]
    labels = [one.get("label") or other for one, other in zip(told, data.labels(histories), strict=True)]
    found: list[Run] = []
    for i in sorted(range(len(paths)), key=lambda i: (told[i].get("number", 0), str(paths[i]))):
        number = sum(run.agent == labels[i] for run in found)
        found.append(Run(labels[i], number, histories[i]))
    return found


def _paper(folder: Path) -> Collection:
    """The paper's experiment: agents in its order, and its claims if they are of the same runs."""
    mark = read_mark(folder)
    runs = sorted(_runs(folder), key=lambda run: (LABELS.index(run.agent), run.run))
    count = sum(run.agent == runs[0].agent for run in runs)
    experiment = PaperExperiment(count, *(mark[name] for name in ("episodes", "seed", "edges", "constants")))
    return Collection(
        [Run(*run[:3], before=len(run.history) - experiment.episodes) for run in runs],
        reproduction.TITLE,
        _claims(folder, count),
        experiment.command(),
    )


def _claims(folder: Path, runs: int) -> list[dict[str, Any]] | None:
    try:
        summary = json.loads((folder / "summary.json").read_text())
        return list(summary["claims"]) if summary["parameters"]["runs"] == runs else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_target(path: Path) -> None:
    """Refuse, before anything is read, a page that cannot be written or would replace something that is not ours."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"out is {str(path)!r}, which does not end in .html")
    if path.is_dir():
        raise ValueError(f"out is {str(path)!r}, which is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    files.check_folder("the folder of out", path.parent)
    if path.exists():
        with path.open("rb") as file:
            if OURS not in file.read(4096):
                raise ValueError(f"out is {str(path)!r}, a page that aomultirl did not make; name another file")


def _parquet_files(folder: Path) -> list[Path]:
    cells = folder / "cells"
    inside = sorted((cells if cells.is_dir() else folder).glob("*.parquet"))
    return [path for path in inside if path.name not in NOT_A_HISTORY]


def _specification(path: Path) -> dict[str, Any]:
    """What the manifest beside a history says of it; nothing where there is none."""
    try:
        return dict(json.loads(path.with_suffix(".json").read_text())["specification"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}

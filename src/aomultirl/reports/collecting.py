"""Histories found in a file or a folder, labelled for a report."""

import json
from pathlib import Path
from typing import Any

from aomultirl.experiments.history import History
from aomultirl.reports.page import Run, data

NOT_A_HISTORY = ("episodes.parquet",)


def collect(place: str | Path) -> list[Run]:
    """The runs in a Parquet file of :meth:`History.write`, in a folder of them, or in a folder of results.

    An agent's label is the one its manifest gives, or its class; where agents of one class differ in their parameters,
    these are named too.
    """
    place = Path(place)
    if not place.exists():
        raise ValueError(f"there is no file or folder {str(place)!r}")
    paths = [place] if place.is_file() else _parquet_files(place)
    if not paths:
        raise ValueError(f"{str(place)!r} holds no histories: no Parquet file, neither in it nor in its folder 'cells'")
    histories = [History.read(path) for path in paths]
    told = [_specification(path) for path in paths]
    labels = [one.get("label") or other for one, other in zip(told, data.labels(histories), strict=True)]
    found: list[Run] = []
    order = sorted(range(len(paths)), key=lambda i: (told[i].get("number", 0), str(paths[i])))
    for i in order:
        number = sum(run.agent == labels[i] for run in found)
        found.append(Run(labels[i], number, histories[i]))
    return found


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


def claims(place: str | Path) -> list[dict[str, Any]] | None:
    """The claims that were checked with these results, where there are any."""
    try:
        return list(json.loads((Path(place) / "summary.json").read_text())["claims"])
    except (OSError, ValueError, KeyError, TypeError):
        return None

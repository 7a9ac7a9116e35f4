"""A folder of results that is never half written, and never taken for another.

::

    experiment.json       what the experiment is; the folder is ours if it is there
    cells/NAME.parquet    the history of a cell
    cells/NAME.json       its manifest: specification, versions, digest of the history, CPU and wall time

A cell is done when its manifest is there and fits the history beside it.  Every file is written under a temporary name
and renamed, the manifest last; temporary files of a killed process are cleared away when the folder is opened again.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aomultirl
from aomultirl import files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.history import History

MARK = "experiment.json"


class Store:
    """The folder, opened for one experiment.

    Parameters
    ----------
    folder
        made if it does not exist; refused if it holds anything that is not this experiment.
    experiment
        what makes the experiment what it is, as JSON can hold it.
    """

    def __init__(self, folder: str | Path, experiment: Mapping[str, Any]) -> None:
        self.folder, self.cells = Path(folder), Path(folder) / "cells"
        self.set_aside: list[Path] = []
        self.check(self.folder, experiment)
        self.cells.mkdir(parents=True, exist_ok=True)
        self.clear()
        if not (self.folder / MARK).exists():
            files.write_whole(self.folder / MARK, json.dumps(_full(experiment), indent=2) + "\n")

    @staticmethod
    def check(folder: Path, experiment: Mapping[str, Any]) -> None:
        """Refuse a folder that cannot be written, or is not of this experiment; touch nothing."""
        files.check_folder("out", folder)
        files.check_folder("out", folder / "cells")
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = read_mark(folder)
        wanted = _full(experiment)
        for name in {**wanted, **found}:
            mine, theirs = wanted.get(name), found.get(name)
            if mine != theirs:
                raise ValueError(
                    f"out is {str(folder)!r}, which holds another experiment: "
                    f"its {name} is {theirs!r}, not {mine!r}; name another folder"
                )

    def clear(self) -> None:
        """Clear away what processes that are gone left half written."""
        files.clear_partials(self.folder)
        files.clear_partials(self.cells)

    def history(self, cell: Cell) -> Path:
        """Where a cell's history is, or will be."""
        return self.cells / f"{cell.name}.parquet"

    def manifest(self, cell: Cell) -> Path:
        """Where its manifest is, or will be."""
        return self.cells / f"{cell.name}.json"

    def keep(self, cell: Cell, history: History, facts: Mapping[str, Any]) -> None:
        """Write a cell that was computed; ``facts`` go to the manifest."""
        history.write(self.history(cell))
        manifest = {
            "specification": cell.specification(),
            "run_seed": cell.run_seed,
            "sha256": _digest(self.history(cell)),
            "version": aomultirl.__version__,
            **facts,
        }
        files.write_whole(self.manifest(cell), json.dumps(manifest, indent=2) + "\n")

    def is_done(self, cell: Cell) -> bool:
        """Whether the cell is there and whole.  Damaged files are set aside under another name, never used."""
        manifest, history = self.manifest(cell), self.history(cell)
        if not manifest.exists():
            return False
        try:
            told = json.loads(manifest.read_text())
            fits = bool(told["specification"] == cell.specification() and told["sha256"] == _digest(history))
        except (OSError, ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            for path in (manifest, history):
                if path.exists():
                    self.set_aside.append(path.replace(_unused(path)))
        return fits

    def read(self, cell: Cell) -> tuple[History, dict[str, Any]]:
        """The history and the manifest of a cell that is done."""
        return History.read(self.history(cell)), json.loads(self.manifest(cell).read_text())


def _full(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """With the version, as it comes back from JSON."""
    return dict(json.loads(json.dumps({**experiment, "version": aomultirl.__version__})))


def read_mark(folder: Path) -> dict[str, Any]:
    """What the experiment in ``folder`` is; refuses a folder that is not ours."""
    try:
        found = json.loads((folder / MARK).read_text())
    except FileNotFoundError:
        some = min(path.name for path in folder.iterdir())
        raise ValueError(
            f"{str(folder)!r} is not a folder of results: it holds {some!r}, but no {MARK!r}; name another folder"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(folder / MARK)!r} cannot be read: {error}") from None
    if not isinstance(found, dict) or "kind" not in found:
        raise ValueError(f"{str(folder / MARK)!r} does not describe an experiment of aomultirl")
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unused(path: Path) -> Path:
    """A name to set a damaged file aside under."""
    number = 1
    while (place := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return place

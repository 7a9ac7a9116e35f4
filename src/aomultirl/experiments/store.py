"""A folder of results that is never half written, and never taken for another.

::

    experiment.json       what the experiment is, and the names of its cells; the folder is ours if it is there
    cells/NAME.parquet    the history of a cell
    cells/NAME.json       its manifest: specification, seed, state, digest of the history, versions, times, error
    checkpoints/NAME.zip  of a cell that was not finished
    set_aside/            files found in cells/ that were damaged or of something else

A cell is done when its manifest is there and fits the history beside it.  Every file is written under a temporary name
and renamed, the manifest last; temporary files of a killed process are cleared away when the folder is opened again.
Only the process that holds the lock writes results.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aomultirl
from aomultirl import files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computing import CHECKPOINTS, Computed, checkpoint_of, commit
from aomultirl.experiments.history import History
from aomultirl.experiments.source import source

MARK = "experiment.json"
FOLDERS = ("cells", CHECKPOINTS)
FREE = ("specification", "cells")
"""What may differ in an experiment that goes on: the cells decide."""


class Store:
    """The folder, opened for one experiment.

    Parameters
    ----------
    folder
        made if it does not exist; refused if it holds anything that is not this experiment.
    experiment
        what makes the experiment what it is, as JSON can hold it; "specification" may change as long as all results
        that are there belong to it.
    cells
        all of the experiment.
    beside
        files to write to the folder, such as the specification.
    """

    def __init__(
        self,
        folder: str | Path,
        experiment: Mapping[str, Any],
        cells: Sequence[Cell],
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        self.folder, self.experiment, self.cells = Path(folder), dict(experiment), list(cells)
        self.beside = dict(beside or {})
        self.set_aside: list[Path] = []
        self.of_other_code = 0
        self.check()

    def check(self) -> None:
        """Refuse a folder that cannot be written, or is not of this experiment; touch nothing."""
        folder = self.folder
        files.check_folder("out", folder)
        for name in FOLDERS:
            files.check_folder("out", folder / name)
        if not folder.exists() or not any(map(_is_something, folder.iterdir())):
            return
        found, wanted = read_mark(folder), _full(self.experiment, self.cells)
        for name in {**wanted, **found}:
            mine, theirs = wanted.get(name), found.get(name)
            if mine != theirs and name not in FREE:
                raise ValueError(
                    f"out is {str(folder)!r}, which holds another experiment: "
                    f"its {name} is {theirs!r}, not {mine!r}; name another folder"
                )
        _check_cells(folder, set(found["cells"]) - set(wanted["cells"]))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The folder is ours, and nobody else writes to it meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with files.locked(self.folder, "out"):
            self.check()
            self.prepare()
            yield

    def prepare(self) -> None:
        """Make the folders, and say what the experiment is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = json.dumps(_full(self.experiment, self.cells), indent=2) + "\n"
        for name, content in {MARK: mark.encode(), **self.beside}.items():
            place = self.folder / name
            if not place.exists() or place.read_bytes() != content:
                files.write_whole(place, content)
        for name in FOLDERS:
            (self.folder / name).mkdir(exist_ok=True)
        self.clear()

    def clear(self) -> None:
        """Clear away what processes that are gone left half written."""
        for folder in (self.folder, *(self.folder / name for name in FOLDERS)):
            files.clear_partials(folder)

    def missing(self) -> list[Cell]:
        """The cells that are not done; damaged files, and files of something else, are set aside."""
        known = {cell.name for cell in self.cells}
        expected = {f"{name}.{kind}" for name in known for kind in ("json", "parquet")}
        for path in sorted((self.folder / "cells").iterdir()):
            if path.name not in expected and not files.PARTIAL.fullmatch(path.name):
                self._set_aside(path)
        missing = [cell for cell in self.cells if not self.is_done(cell)]
        names = {cell.name for cell in missing}
        for path in (self.folder / CHECKPOINTS).glob("*.zip"):
            if path.stem in known - names:  # killed between keeping a cell and removing its checkpoint
                path.unlink()
        return missing

    def history(self, cell: Cell) -> Path:
        """Where a cell's history is, or will be."""
        return self.folder / "cells" / f"{cell.name}.parquet"

    def manifest(self, cell: Cell) -> Path:
        """Where its manifest is, or will be."""
        return self.folder / "cells" / f"{cell.name}.json"

    def keep(self, computed: Computed) -> None:
        """Write a cell that was computed, or what went wrong with it."""
        cell, facts = computed.cell, dict(computed.facts)
        if facts["state"] == "done":
            place = self.history(cell)
            if place.exists() and place.read_bytes() != computed.history:
                self._set_aside(place)
            files.write_whole(place, computed.history)
            facts["sha256"] = hashlib.sha256(computed.history).hexdigest()
        told = {
            "cell": cell.name,
            "specification": cell.specification(),
            "run_seed": cell.run_seed,
            "version": aomultirl.__version__,
        }
        files.write_whole(self.manifest(cell), json.dumps({**told, "commit": commit(), **facts}, indent=2) + "\n")
        checkpoint = checkpoint_of(cell, self.folder)
        if checkpoint is not None and facts["state"] == "done":
            checkpoint.unlink(missing_ok=True)

    def is_done(self, cell: Cell) -> bool:
        """Whether the cell is there and whole.  Damaged files are set aside, never used.

        Those computed with other sources of the package are counted in ``of_other_code``.
        """
        manifest, history = self.manifest(cell), self.history(cell)
        if not manifest.exists():
            return False
        try:
            told = json.loads(manifest.read_text())
            fits = bool(told["specification"] == cell.specification())
            if fits and told["state"] == "failed":
                return False
            fits = fits and told["sha256"] == hashlib.sha256(history.read_bytes()).hexdigest()
            self.of_other_code += fits and told.get("source") != source()
        except (OSError, ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            for path in (manifest, history):
                if path.exists():
                    self._set_aside(path)
        return fits

    def read(self, cell: Cell) -> tuple[History, dict[str, Any]]:
        """The history and the manifest of a cell that is done."""
        return History.read(self.history(cell)), json.loads(self.manifest(cell).read_text())

    def _set_aside(self, path: Path) -> None:
        folder = self.folder / "set_aside"
        folder.mkdir(exist_ok=True)
        place, number = folder / path.name, 1
        while place.exists():
            place, number = folder / f"{path.name}.{number}", number + 1
        self.set_aside.append(path.replace(place))


def _is_something(path: Path) -> bool:
    """Not just what is left of a folder that was being opened."""
    if path.name == files.LOCK or files.PARTIAL.fullmatch(path.name):
        return False
    return not (path.name in FOLDERS and path.is_dir() and not any(path.iterdir()))


def _full(experiment: Mapping[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    """With the version and the names of the cells, as it comes back from JSON."""
    names = [cell.name for cell in cells]
    return dict(json.loads(json.dumps({**experiment, "version": aomultirl.__version__, "cells": names})))


def _check_cells(folder: Path, others: set[str]) -> None:
    """Refuse results of the experiment that was here before, and that would not be of it any more."""
    there = sorted(name for name in others if (folder / "cells" / f"{name}.json").exists())
    if there:
        raise ValueError(
            f"out is {str(folder)!r}, which holds results that are not of this experiment: {len(there)}, such as "
            f"{_title(folder / 'cells' / f'{there[0]}.json')}; name another folder"
        )


def _title(manifest: Path) -> str:
    try:
        told = json.loads(manifest.read_text())["specification"]
        return f"run {told['number']} of {told['label']!r} in {told['world']['name']!r}"
    except (OSError, ValueError, KeyError, TypeError):
        return repr(manifest.name)


def read_mark(folder: Path) -> dict[str, Any]:
    """What the experiment in ``folder`` is; refuses a folder that is not ours."""
    try:
        found = json.loads((folder / MARK).read_text())
    except FileNotFoundError:
        some = min((repr(path.name) for path in folder.iterdir()), default="nothing")
        raise ValueError(
            f"{str(folder)!r} is not a folder of results: it holds {some}, but no {MARK!r}; name another folder"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(folder / MARK)!r} cannot be read: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list) or "kind" not in found:
        raise ValueError(f"{str(folder / MARK)!r} does not describe an experiment of aomultirl")
    return found

"""A folder of results that is never half written, and never taken for another.

::

    experiment.json       what the experiment is, and the names of its cells; the folder is ours if it is there
    cells/NAME.parquet    the history of a cell
    cells/NAME.json       its manifest: specification, seed, state, digest of the history, versions, times, error
    checkpoints/NAME.zip  of a cell that was not finished
    set_aside/            what was found in cells/ and checkpoints/ that was damaged or of something else

A cell is done when its manifest is there and fits the history beside it, see :mod:`.stored_cells`.  Every file is
written under a temporary name and renamed, the manifest last; temporary files of a killed process are cleared
away when the folder is opened again.  Only the process that holds the lock writes results.  The folder that the user
names may be a link; one in which a folder or a file of ours is a link is refused, and nothing is touched.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aomultirl
from aomultirl import files
from aomultirl.experiments.cells import Cell, plugins_of
from aomultirl.experiments.computation import CHECKPOINT, CHECKPOINTS, Computed, checkpoint_of, commit
from aomultirl.experiments.history import MOST_BYTES, History
from aomultirl.experiments.manifest import MARK, Failed, read_manifest, read_mark
from aomultirl.experiments.stored_cells import Kept, read_cell, read_cells

FOLDERS = ("cells", CHECKPOINTS)
SET_ASIDE = "set_aside"
FREE = ("specification", "cells", "plugins")
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
        inner = (*FOLDERS, SET_ASIDE)
        files.check_inside(f"out is {str(folder)!r}", folder, files=(MARK, files.LOCK, *self.beside), folders=inner)
        for name in inner:
            files.check_folder("out", folder / name)
        if not folder.exists() or not any(map(_is_something, folder.iterdir())):
            return
        found, wanted = read_mark(folder).identity(), _full(self.experiment, self.cells)
        for name in {**wanted, **found}:
            mine, theirs = wanted.get(name), found.get(name)
            if mine != theirs and name not in FREE:
                raise ValueError(
                    f"out is {str(folder)!r}, which holds another experiment: "
                    f"its {name} is {theirs!r:.200}, not {mine!r:.200}; name another folder"
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
            if not _holds(self.folder / name, content):
                files.write_whole(self.folder / name, content)
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
            if path.name not in expected and not files.is_partial(path):
                self._set_aside(path)
        for path in sorted((self.folder / CHECKPOINTS).iterdir()):
            if not CHECKPOINT.fullmatch(path.name) and not files.is_partial(path):
                self._set_aside(path)
        there = [cell for cell in self.cells if os.path.lexists(self.manifest(cell))]
        kept = read_cells(map(self.manifest, there))
        done = {cell.name for cell, found in zip(there, kept, strict=True) if self._judge(cell, found)}
        missing = [cell for cell in self.cells if cell.name not in done]
        names = {cell.name for cell in missing}
        for path in (self.folder / CHECKPOINTS).glob("*.zip"):
            if path.stem in known - names:  # killed between keeping a cell and removing its checkpoint
                self._remove(path)
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
            if os.path.lexists(place) and not _holds(place, computed.history):
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
            self._remove(checkpoint)

    def _judge(self, cell: Cell, found: Kept | Exception) -> bool:
        """Whether a cell is there and whole, by what was read of it.  Damaged files are set aside, never used.

        Cells computed with other sources of the package, or of a plug-in, are counted in ``of_other_code``.
        """
        if isinstance(found, Exception):
            for path in (self.manifest(cell), self.history(cell)):
                if os.path.lexists(path):
                    self._set_aside(path)
            return False
        if isinstance(found.manifest, Failed):
            return False
        self.of_other_code += found.manifest.source != cell.source
        return True

    def read(self, cell: Cell) -> tuple[History, dict[str, Any]]:
        """The history and the manifest of a cell that is done."""
        kept = read_cell(self.manifest(cell))
        return kept.history, kept.manifest.model_dump(exclude_unset=True)

    def _remove(self, checkpoint: Path) -> None:
        """Remove a checkpoint that nobody needs any more; what is there in its place is set aside."""
        if files.is_regular(checkpoint):
            checkpoint.unlink()
        elif os.path.lexists(checkpoint):
            self._set_aside(checkpoint)

    def _set_aside(self, path: Path) -> None:
        folder = self.folder / SET_ASIDE
        folder.mkdir(exist_ok=True)
        place, number = folder / path.name, 1
        while os.path.lexists(place):
            place, number = folder / f"{path.name[:200]}.{number}", number + 1
        self.set_aside.append(path.replace(place))


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file is there and has this content."""
    try:
        return files.read_regular(path, max(MOST_BYTES, len(content))) == content
    except (OSError, ValueError):
        return False


def _is_something(path: Path) -> bool:
    """Not just what is left of a folder that was being opened."""
    if path.name == files.LOCK or files.PARTIAL.fullmatch(path.name):
        return False
    return not (path.name in FOLDERS and path.is_dir() and not any(path.iterdir()))


def _full(experiment: Mapping[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    """With the version, the plug-ins that the cells need and the names of the cells, as it comes back from JSON."""
    names = [cell.name for cell in cells]
    modules = plugins_of(cells)
    full = {**experiment, "version": aomultirl.__version__, **({"plugins": modules} if modules else {}), "cells": names}
    return dict(json.loads(json.dumps(full)))


def _check_cells(folder: Path, others: set[str]) -> None:
    """Refuse results of the experiment that was here before, and that would not be of it any more."""
    there = sorted(name for name in others if os.path.lexists(folder / "cells" / f"{name}.json"))
    if there:
        raise ValueError(
            f"out is {str(folder)!r}, which holds results that are not of this experiment: {len(there)}, such as "
            f"{_title(folder / 'cells' / f'{there[0]}.json')}; name another folder"
        )


def _title(manifest: Path) -> str:
    try:
        told = read_manifest(manifest).specification
        return f"run {told.number} of {told.label!r:.80} in {told.world.name!r:.80}"
    except (OSError, ValueError):
        return repr(manifest.name)

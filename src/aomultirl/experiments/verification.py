"""Look at every file in a folder of results, and say what does not fit; nothing is touched.

A finding is what the next run would set aside, or what it or the next report would refuse: a file that is damaged, or
not of the cell that it is named after, a link or a pipe in its place.  A remark is what there is to know and does no
harm, such as a cell that failed, a file that was set aside before, one that a killed process left half written, or
anything that lies beside our files and that no command touches.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aomultirl import checks, files
from aomultirl.agents import saving
from aomultirl.experiments.checkpoints import MOST_BYTES
from aomultirl.experiments.computation import CHECKPOINT, CHECKPOINTS
from aomultirl.experiments.manifest import MARK, ExperimentMark, Failed, read_mark
from aomultirl.experiments.store import SET_ASIDE
from aomultirl.experiments.stored_cells import Kept, read_cells

OURS = re.compile(
    r"experiment\.json|specification\.toml|summary\.json|episodes\.parquet|report\.html|(figure|sweep)\.(png|svg|pdf)"
)
"""The files beside the cells that commands write."""
NAME = re.compile(r"[0-9a-f]{20}")


class Note(NamedTuple):
    """What there is to say of a file.

    file
        its path inside the folder.
    words
        the rest of a sentence that begins with it.
    """

    file: str
    words: str


class Verified(NamedTuple):
    """What was found in a folder.

    name
        what people call the experiment; empty where ``experiment.json`` cannot be read.
    total
        cells of the experiment.
    done
        cells whose manifest and history are there and fit.
    failed
        cells that went wrong.
    missing
        cells that are not computed yet.
    findings
        what does not fit; a folder without any is well.
    remarks
        what else there is to know.
    at_work
        who computes here now, so that files come and go; empty for nobody.
    """

    name: str
    total: int
    done: int
    failed: int
    missing: int
    findings: list[Note]
    remarks: list[Note]
    at_work: str


def verify(folder: str | Path) -> Verified:
    """Check all of a folder of ``aomultirl run`` or ``aomultirl reproduce``; refuse one that is neither.

    Every manifest is held against the schema, every history against its manifest (digest, columns, rows, seeds, and the
    cell that it says it is of), and every checkpoint is opened.  Numbers are not computed again: whoever changes a
    reward in a history to another that its steps could have earned, and works out the digest anew, is not found out.
    """
    folder = Path(folder)
    files.check_results(folder)
    return _Round(folder).verified()


def as_dict(found: Verified) -> dict[str, Any]:
    """All of it, as JSON can hold it."""
    notes = {kind: [note._asdict() for note in getattr(found, kind)] for kind in ("findings", "remarks")}
    return {**found._asdict(), **notes, "well": not found.findings}


class _Round:
    """One round through the folder, which collects notes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.findings: list[Note] = []
        self.remarks: list[Note] = []
        self.done: set[str] = set()
        self.failed: set[str] = set()

    def verified(self) -> Verified:
        mark = self._mark()
        self._look_around()
        inside = {entry.name for entry in self._entries("cells")}
        known = mark.cells if mark is not None else sorted(Path(name).stem for name in inside if name.endswith(".json"))
        names = [name for name in dict.fromkeys(known) if NAME.fullmatch(name)]
        self._look_at_cells(names, inside)
        self._look_at_checkpoints(set(names))
        there = sum(f"{name}.json" in inside for name in names)
        return Verified(
            name="" if mark is None else mark.title,
            total=len(names),
            done=len(self.done),
            failed=len(self.failed),
            missing=len(names) - there,
            findings=self.findings,
            remarks=self.remarks,
            at_work=files.at_work(self.folder),
        )

    def _find(self, file: str, words: str) -> None:
        self.findings.append(Note(file, words))

    def _remark(self, file: str, words: str) -> None:
        self.remarks.append(Note(file, words))

    def _mark(self) -> ExperimentMark | None:
        try:
            return read_mark(self.folder)
        except files.UnfitFileError as error:
            self._find(MARK, error.fault)
            return None

    def _entries(self, name: str) -> Iterator["os.DirEntry[str]"]:
        """What lies in a folder of this name, if it is one."""
        place = self.folder / name
        if place.is_dir() and not place.is_symlink():
            with os.scandir(place) as entries:
                yield from sorted(entries, key=lambda entry: entry.name)

    def _look_around(self) -> None:
        """The folder itself, without what is in the folders in it."""
        for entry in self._entries("."):
            if entry.name in ("cells", CHECKPOINTS, SET_ASIDE):
                self._is_kind(entry, entry.name, folder=True)
            elif entry.name == MARK or self._is_temporary(entry, entry.name):
                continue  # it was read before
            elif OURS.fullmatch(entry.name) or entry.name == files.LOCK:
                self._is_kind(entry, entry.name)
            else:
                self._remark(entry.name, "is not of this experiment")
        count = sum(1 for _ in self._entries(SET_ASIDE))
        if count:
            self._remark(SET_ASIDE, f"holds {count:,} file{'s' * (count > 1)} that earlier runs did not use")

    def _is_kind(self, entry: "os.DirEntry[str]", file: str, folder: bool = False) -> bool:
        """Whether something is a file, or a folder, and not a link to one."""
        if entry.is_dir(follow_symlinks=False) if folder else entry.is_file(follow_symlinks=False):
            return True
        kind = "a link" if entry.is_symlink() else "something else"
        self._find(file, f"is {kind}, not a {'folder' if folder else 'file'}")
        return False

    def _is_temporary(self, entry: "os.DirEntry[str]", file: str) -> bool:
        """Whether something is a file that is being written, or was; or a link in the place of one."""
        place = Path(entry.path)
        if files.is_left_over(place):
            kind = "is a link" if entry.is_symlink() else "was left half written by a process that is gone"
            self._remark(file, f"{kind}; the next run removes it")
            return True
        return files.is_partial(place)

    def _look_at_cells(self, names: list[str], inside: set[str]) -> None:
        there = [name for name in names if f"{name}.json" in inside]
        kept = read_cells(self.folder / "cells" / f"{name}.json" for name in there)
        for name, found in zip(there, kept, strict=True):
            self._look_at_cell(name, found)
        for name in names:
            if f"{name}.json" not in inside and f"{name}.parquet" in inside:
                self._remark(f"cells/{name}.parquet", "has no manifest; the next run computes the cell")
        expected = {f"{name}.{kind}" for name in names for kind in ("json", "parquet")}
        for entry in self._entries("cells"):
            file = f"cells/{entry.name}"
            if entry.name not in expected and not self._is_temporary(entry, file):
                self._find(file, "does not belong to this experiment")

    def _look_at_cell(self, name: str, found: Kept | Exception) -> None:
        file = f"cells/{name}.json"
        if isinstance(found, files.UnfitFileError):
            self._find(f"cells/{found.path.name}", found.fault)
        elif isinstance(found, FileNotFoundError):
            self._find(f"cells/{Path(found.filename).name}", "is not there, though the cell is said to be done")
        elif isinstance(found, Exception):
            self._find(file, f"cannot be read: {found}")
        elif isinstance(found.manifest, Failed):
            self.failed.add(name)
            self._remark(file, f"is of a cell that failed: {checks.plain(found.manifest.error, 200)}")
        else:
            self.done.add(name)

    def _look_at_checkpoints(self, names: set[str]) -> None:
        for entry in self._entries(CHECKPOINTS):
            file, (name, _, rest) = f"{CHECKPOINTS}/{entry.name}", entry.name.partition(".")
            if name in names and re.fullmatch(r"zip\.damaged\d+", rest):
                self._remark(file, "is a checkpoint that an earlier run could not use")
            elif not CHECKPOINT.fullmatch(entry.name):
                if not self._is_temporary(entry, file):
                    self._find(file, "does not belong to this experiment")
            elif name not in names:
                self._remark(file, "is named as a checkpoint of a cell that is not of this experiment")
            elif self._opens(file) and name in self.done:
                self._remark(file, "is of a cell that is done; the next run removes it")

    def _opens(self, file: str) -> bool:
        try:
            saving.from_bytes(files.read_regular(self.folder / file, MOST_BYTES))
        except files.UnfitFileError as error:
            self._find(file, error.fault)
        except FileNotFoundError:  # the cell was finished meanwhile
            return False
        except (OSError, ValueError) as error:
            self._find(file, f"is not a checkpoint: {error}")
        else:
            return True
        return False

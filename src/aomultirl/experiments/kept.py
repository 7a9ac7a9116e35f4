"""A cell as it lies in a folder of results: its manifest, and the history that the manifest is of.

Digests notice damage.  They do not notice that somebody gave a cell the files of another and worked the digests out
anew, so the two files are held against each other and against the name that they have: the specification has the digest
that names the cell, the seed is the one that follows from it, and the history says in every row, and in what it says of
itself, that it is of this cell.  Only numbers that this cell could have given are left to lie about.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aomultirl import files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computing import constants
from aomultirl.experiments.history import MOST_BYTES, History, read_about, read_rows
from aomultirl.experiments.judging import RECORDED
from aomultirl.experiments.manifest import Failed, Manifest, read_manifest

if TYPE_CHECKING:
    import pyarrow

CONSTANTS = {"cell": str, "agent": str, "world": str, "stream": str, "run": int, "configuration": str}
"""The columns that :func:`~aomultirl.experiments.computing.constants` gives, and their types."""
MOST_WORLDS = 1_000_000
"""Worlds that a task can be, at most: charts have a place for each."""
MOST_STATES = 2**31
"""States that an episode can begin in, at most."""
MOST_STEPS = 2**53
"""Steps that an episode can have, at most: sums of more are not exact."""


class Kept(NamedTuple):
    """The files of one cell.

    manifest
        what is said of the cell: done, or failed.
    rows
        the columns of its history; None where it failed.
    about
        what the history says of how it was made; empty where the cell failed.
    """

    manifest: Manifest
    rows: "pyarrow.Table | None"
    about: Mapping[str, Any]

    @property
    def history(self) -> History:
        """The history of a cell that is done."""
        return History.of_table(self.rows, self.about)


def read_cell(manifest: Path) -> Kept:
    """The cell whose manifest this is, which has the cell's name; the history is beside it.

    Raises
    ------
    UnfitFileError
        one of the two files is damaged, or not of this cell.
    OSError
        one of them is not there, or cannot be read.
    """
    told = read_manifest(manifest)
    cell, name = told.to_cell(), manifest.stem
    seed = cell.run_seed
    for what, mine, theirs in (
        ("cell", name, told.cell),
        ("specification", name, cell.name),
        ("run_seed", seed, told.run_seed),
    ):
        if mine != theirs:
            raise files.UnfitFileError(manifest, f"is not of this cell: its {what} gives {theirs!r}, not {mine!r}")
    if isinstance(told, Failed):
        return Kept(told, None, {})
    place = manifest.with_suffix(".parquet")
    content = files.read_regular(place, MOST_BYTES)
    if told.sha256 != hashlib.sha256(content).hexdigest():
        raise files.UnfitFileError(place, "does not have the digest that its manifest gives")
    rows = read_rows(content, place, CONSTANTS)
    about = read_about(rows, place)
    for fault in (_of_another(rows, cell), _made_otherwise(about, cell, seed), _impossible(rows, cell)):
        if fault:
            raise files.UnfitFileError(place, fault)
    return Kept(told, rows, about)


def _of_another(rows: "pyarrow.Table", cell: Cell) -> str:
    """What a column says that is not so of this cell; empty if all of them fit."""
    for name, mine in constants(cell).items():
        column = rows[name]
        if isinstance(mine, int):
            numbers = column.to_numpy()
            others = {int(number) for number in numbers[numbers != mine][:1]}
        else:
            texts = (text.as_buffer().to_pybytes() for chunk in column.chunks for text in chunk.dictionary)
            others = {text.decode(errors="replace") for text in texts if text != mine.encode()}
        for other in others:
            return f"is not of this cell: its {name} is {other!r:.60}, not {mine!r:.60}"
    return ""


def _made_otherwise(about: Mapping[str, Any], cell: Cell, seed: int) -> str:
    """How the history says that it was made, where that is not how this cell is run; empty if it is."""
    wanted = {
        "agent": cell.agent["name"],
        "seed": seed,
        "episodes": cell.episodes,
        "recorded": [name for name in RECORDED if name in cell.record],
    }
    for name, mine in wanted.items():
        if about.get(name) != mine:
            return f"is not of this cell: it was made with {name} {about.get(name)!r:.60}, not {mine!r:.60}"
    return ""


def _impossible(rows: "pyarrow.Table", cell: Cell) -> str:
    """What no run of so many episodes gives; empty if there is nothing."""
    count = cell.episodes
    if rows.num_rows != count:
        return f"has {rows.num_rows:,} rows, but the cell has {count:,} episodes"
    if not np.array_equal(rows["episode"].to_numpy(), np.arange(count)):
        return "does not have every episode once, from the first to the last"
    ranges = {
        "task": (-1, MOST_WORLDS),
        "start": (0, MOST_STATES),
        "cluster": (-1, count),
        "identification_steps": (0, MOST_STEPS),
        "learning_steps": (0, MOST_STEPS),
    }
    for name, (least, end) in ranges.items():
        values = rows[name].to_numpy()
        if values.min() < least or values.max() >= end:
            return f"holds a {name} that cannot be, between {values.min()} and {values.max()}"
    return ""

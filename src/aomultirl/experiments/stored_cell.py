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
from numpy.typing import NDArray

from aomultirl import files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computation import constants
from aomultirl.experiments.history import MOST_BYTES, History, Row, out_of_range, read_about, read_rows
from aomultirl.experiments.judge import RECORDED
from aomultirl.experiments.manifest import Failed, Manifest, read_manifest

if TYPE_CHECKING:
    import polars
    import pyarrow

CONSTANTS = {"cell": str, "agent": str, "world": str, "stream": str, "run": int, "configuration": str}
"""The columns that :func:`~aomultirl.experiments.computation.constants` gives, and their types."""

EARNED = {"clustering_reward": "identification_steps", "learning_reward": "learning_steps"}
"""The steps in which each reward was earned."""
SLACK = 1e-9
"""What sums of rewards are off by, at most, as a share."""


class Opened(NamedTuple):
    """A cell whose manifest fits its name, and whose history has the digest in it, but was not looked into.

    place
        of the history.
    content
        the bytes of the history; None where the cell failed.
    """

    manifest: Manifest
    cell: Cell
    place: Path
    content: bytes | None


class Kept(NamedTuple):
    """The files of one cell, which fit.

    manifest
        what is said of the cell: done, or failed.
    rows
        the columns of its history; None where it failed.
    about
        what the history says of how it was made; empty where the cell failed.
    """

    manifest: Manifest
    rows: "polars.DataFrame | None"
    about: Mapping[str, Any]

    @property
    def history(self) -> History:
        """The history of a cell; it is empty where that failed."""
        return History(
            {name: self.rows[name].to_numpy() for name in Row._fields} if self.rows is not None else {}, self.about
        )


def read_cell(manifest: Path) -> Kept:
    """The cell whose manifest this is, which has the cell's name; the history is beside it.

    Raises
    ------
    UnfitFileError
        one of the two files is damaged, or not of this cell.
    OSError
        one of them is not there, or cannot be read.
    """
    return look_into(open_cell(manifest))


def open_cell(manifest: Path) -> Opened:
    """The first half of :func:`read_cell`: all that can be said without looking into the history."""
    told = read_manifest(manifest)
    cell, name = told.to_cell(), manifest.stem
    for what, mine, theirs in (
        ("cell", name, told.cell),
        ("specification", name, cell.name),
        ("run_seed", cell.run_seed, told.run_seed),
    ):
        if mine != theirs:
            raise files.UnfitFileError(manifest, f"is not of this cell: its {what} gives {theirs!r}, not {mine!r}")
    place = manifest.with_suffix(".parquet")
    if isinstance(told, Failed):
        return Opened(told, cell, place, None)
    content = files.read_regular(place, MOST_BYTES)
    if told.sha256 != hashlib.sha256(content).hexdigest():
        raise files.UnfitFileError(place, "does not have the digest that its manifest gives")
    return Opened(told, cell, place, content)


def look_into(opened: Opened) -> Kept:
    """The second half of :func:`read_cell`: hold the history against its manifest."""
    if opened.content is None:
        return Kept(opened.manifest, None, {})
    import polars

    rows = read_rows(opened.content, opened.place, CONSTANTS)
    about = read_about(rows, opened.place)
    cell = opened.cell
    for fault in (_of_another(rows, cell), made_otherwise(about, opened), _impossible(rows, cell)):
        if fault:
            raise files.UnfitFileError(opened.place, fault)
    return Kept(opened.manifest, polars.DataFrame(rows.select(list(Row._fields))), about)


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


def made_otherwise(about: Mapping[str, Any], opened: Opened) -> str:
    """How the history says that it was made, where that is not how this cell is run; empty if it is."""
    cell = opened.cell
    wanted = {
        "seed": opened.manifest.run_seed,
        "episodes": cell.episodes,
        "recorded": [name for name in RECORDED if name in cell.record],
    }
    for name, mine in wanted.items():
        if about.get(name) != mine:
            return f"is not of this cell: it was made with {name} {about.get(name)!r:.60}, not {mine!r:.60}"
    for part, own in (("agent", cell.agent), ("stream", cell.stream)):
        theirs = (about.get(part) or {}).get("name")
        if theirs != own["name"].replace("-", "_"):
            return f"is not of this cell: it was made with {part} {theirs!r:.60}, not {own['name']!r:.60}"
    return _elsewhere(about.get("world") or {}, cell.world)


def _elsewhere(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> str:
    """How the world that a history names differs from the cell's, which leaves out defaults; empty if it does not."""
    name, parameters = mine["name"].replace("-", "_"), theirs.get("parameters", {})
    if theirs.get("name") != name:
        return f"is not of this cell: it was made in the world {theirs.get('name')!r:.60}, not {name!r:.60}"
    for key, value in mine["parameters"].items():
        if key not in parameters or parameters[key] != value:
            other = f"{parameters.get(key)!r:.60}, not {value!r:.60}"
            return f"is not of this cell: it was made in a world whose {key:.60} is {other}"
    return ""


def _impossible(rows: "pyarrow.Table", cell: Cell) -> str:
    """What no run of so many episodes gives; empty if there is nothing."""
    count = cell.episodes
    if rows.num_rows != count:
        return f"has {rows.num_rows:,} rows, but the cell has {count:,} episodes"
    if not np.array_equal(rows["episode"].to_numpy(), np.arange(count)):
        return "does not have every episode once, from the first to the last"
    return out_of_range(rows) or unearned({name: rows[name].to_numpy() for name in sum(EARNED.items(), ())})


def unearned(columns: Mapping[str, NDArray[Any]]) -> str:
    """Rewards that no episode gives, as the rest of a sentence: a step earns from 0 to 1; empty if there are none."""
    for reward, steps in EARNED.items():
        earned, most = columns[reward], columns[steps] * (1.0 + SLACK)
        wrong = ~((earned >= 0.0) & (earned <= most))
        if wrong.any():
            place = int(np.argmax(wrong))
            return (
                f"has the {reward} {earned[place]:g} of {columns[steps][place]} steps in row {place}, which cannot be"
            )
    return ""

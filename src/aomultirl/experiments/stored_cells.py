"""Cells as they lie in a folder of results: each has a manifest, and the history that the manifest is of.

Digests notice damage.  They do not notice that somebody gave a cell the files of another and worked the digests out
anew, so the two files are held against each other and against the name that they have: the specification has the digest
that names the cell, the seed is the one that follows from it, and the history says in every row, and in what it says of
itself, that it is of this cell.  Only numbers that this cell could have given are left to lie about.

Some hundred histories are read together, in a third of the time, and one question is asked of all of them: does
everything fit?  Where the answer is no, or they cannot be read at all, each is looked into alone, and that says which
of them is at fault and why.
"""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import extras, files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.computation import constants
from aomultirl.experiments.history import MOST_BYTES, RANGES, History, Row, out_of_range, read_about, read_rows
from aomultirl.experiments.judge import RECORDED
from aomultirl.experiments.manifest import Failed, Manifest, read_manifest

if TYPE_CHECKING:
    import polars
    import pyarrow

MOST_CELLS, MOST_TOGETHER = 500, 2**26
"""Cells, and bytes of their histories, that are looked into together; more make nothing faster."""
CONSTANTS = {"cell": str, "agent": str, "world": str, "stream": str, "run": int, "configuration": str}
"""The columns that :func:`~aomultirl.experiments.computation.constants` gives, and their types."""

EARNED = {"clustering_reward": "identification_steps", "learning_reward": "learning_steps"}
"""The steps in which each reward was earned."""
CHECKED = ("episode", "cluster", *RANGES, *EARNED)
"""The columns whose numbers are held against what a run can give."""
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
    with extras.needs("folders of results"):
        import polars

    rows = read_rows(opened.content, opened.place, CONSTANTS)
    about = read_about(rows.schema.metadata, opened.place)
    columns = {name: rows[name].to_numpy() for name in CHECKED}
    fault = (
        _of_another(rows, opened.cell)
        or _made_otherwise(about, opened)
        or _impossible(columns, np.array([opened.cell.episodes]))
    )
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


def _made_otherwise(about: Mapping[str, Any], opened: Opened) -> str:
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


def _impossible(columns: Mapping[str, NDArray[Any]], counts: NDArray[np.int64]) -> str:
    """What no runs of so many episodes give, one after the other; empty if there is nothing."""
    rows, total = len(columns["episode"]), int(counts.sum())
    if rows != total:
        return f"has {rows:,} rows, but the cell has {total:,} episodes"
    if not np.array_equal(columns["episode"], np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)):
        return "does not have every episode once, from the first to the last"
    return out_of_range(columns, np.repeat(counts, counts)) or _unearned(columns)


def _unearned(columns: Mapping[str, NDArray[Any]]) -> str:
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


def read_cells(manifests: Iterable[Path]) -> Iterator[Kept | Exception]:
    """For every manifest, in their order, what :func:`.read_cell` gives: the cell, or why it does not fit."""
    some: list[Opened | Exception] = []
    size = 0
    for manifest in manifests:
        try:
            opened = open_cell(manifest)
            size += len(opened.content or b"")
            some.append(opened)
        except (OSError, ValueError) as error:
            some.append(error)
        if len(some) >= MOST_CELLS or size >= MOST_TOGETHER:
            yield from _looked_into(some)
            some, size = [], 0
    yield from _looked_into(some)


def _looked_into(some: Sequence[Opened | Exception]) -> Iterator[Kept | Exception]:
    together = _together([each for each in some if isinstance(each, Opened) and each.content is not None])
    fitting = None if together is None else iter(together)
    for each in some:
        if isinstance(each, Exception):
            yield each
        elif fitting is not None and each.content is not None:
            yield next(fitting)
        else:
            yield _alone(each)


def _alone(opened: Opened) -> Kept | Exception:
    try:
        return look_into(opened)
    except (OSError, ValueError) as error:
        return error


def _together(done: Sequence[Opened]) -> list[Kept] | None:
    """The cells, if all of them fit; None if one of them may not."""
    with extras.needs("folders of results"):
        import polars

    if any(each.cell.episodes > len(each.content or b"") for each in done):
        return None
    abouts = [_about(each) for each in done]
    if not done or None in abouts:
        return None
    counts = np.array([each.cell.episodes for each in done])
    total = int(counts.sum())
    try:
        sources: list[IO[bytes]] = [io.BytesIO(each.content or b"") for each in done]
        frame = polars.scan_parquet(sources, schema=_schema(), n_rows=total + 1, glob=False).collect()
    except (Exception, polars.exceptions.PanicException):
        return None
    if frame.height != total or not _fit(frame, done, counts):
        return None
    rows, first = frame.select(Row._fields), np.cumsum(counts) - counts
    return [
        Kept(each.manifest, rows.slice(int(begin), int(count)), about or {})
        for each, about, begin, count in zip(done, abouts, first, counts, strict=True)
    ]


@cache
def _schema() -> "dict[str, Any]":
    """The columns of a history in a folder of results; nobody may change it."""
    import polars

    kinds = {str: polars.String(), int: polars.Int64(), bool: polars.Boolean(), float: polars.Float64()}
    return {name: kinds[kind] for name, kind in {**CONSTANTS, **Row.__annotations__}.items()}


def _about(opened: Opened) -> dict[str, Any] | None:
    """What a history says of how it was made; None where its columns are others, or that does not fit."""
    import polars

    content = opened.content or b""
    try:
        if list(polars.read_parquet_schema(io.BytesIO(content)).items()) != list(_schema().items()):
            return None
        about = read_about(polars.read_parquet_metadata(io.BytesIO(content)), opened.place, "aomultirl")
    except (Exception, polars.exceptions.PanicException):
        return None
    return None if _made_otherwise(about, opened) else about


def _fit(frame: "polars.DataFrame", done: Sequence[Opened], counts: NDArray[np.int64]) -> bool:
    """Whether the histories, one after the other, are those of these cells."""
    import polars

    if any(column.null_count() for column in frame.iter_columns()):
        return False
    owner, told = np.repeat(np.arange(len(done)), counts), [constants(each.cell) for each in done]
    for name in CONSTANTS:
        if not (frame[name] == polars.Series([mine[name] for mine in told]).gather(owner)).all():
            return False
    return not _impossible({name: frame[name].to_numpy() for name in CHECKED}, counts)

"""The results of an experiment as one frame: ``ao.load(DIR)``.

A cell counts when its manifest says that it is done and fits the history beside it, see :mod:`.stored_cells`.  What
was checked is what is used: a history that is read a second time, for a page, must still have the digest that it had
when it was checked.  Nothing in the folder is changed.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from aomultirl import checks, files, plugins
from aomultirl.experiments.cell_differences import varying
from aomultirl.experiments.cells import PARTS, configuration, read_configuration
from aomultirl.experiments.history import MOST_BYTES, History, Row, read_about, read_rows
from aomultirl.extras import needs

if TYPE_CHECKING:
    import polars

    from aomultirl.experiments.manifest import ExperimentMark
    from aomultirl.experiments.stored_cells import Kept

NAMING = ("cell", "agent", "world", "stream", "run")
"""The columns that say where a row is from."""
PLACE = "place of the cell"
"""The column that says which of several cells a row is of; no parameter can be called that."""
INTEGERS = range(-(2**63), 2**63)
"""Whole numbers that fit in a column of them."""


class Finished(NamedTuple):
    """A cell that is done.

    name
        of the cell.
    history
        the file of its history.
    specification
        what was run.
    configuration
        see :func:`aomultirl.experiments.cells.configuration`.
    sha256
        the digest of that file when it was checked.
    version, source
        of the code that computed it.
    rows
        its episodes, with those columns that were asked for.
    """

    name: str
    history: Path
    specification: dict[str, Any]
    configuration: str
    sha256: str
    version: str
    source: str
    rows: "polars.DataFrame"

    def read(self) -> History:
        """The history with all of its columns, and what it says of itself, from the file as it was checked."""
        content = files.read_regular(self.history, MOST_BYTES)
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise files.UnfitFileError(self.history, "was changed while it was being read")
        rows = read_rows(content, self.history)
        return History.of_table(rows, read_about(rows.schema.metadata, self.history))


class FoundCells(NamedTuple):
    """cells: done, in the order of their experiments, the runs of a configuration together.

    failed, damaged: manifests of others, the latter also where they are of something else.  missing: how many cells
    are not there yet.  unknown: sentences about names that nothing here has, and the plug-ins that have them.
    """

    cells: list[Finished]
    failed: list[Path]
    damaged: list[Path]
    missing: int
    unknown: Sequence[str] = ()


@overload
def load(
    *places: str | Path, kind: Literal["polars"] = "polars", columns: Iterable[str] | None = None
) -> "polars.DataFrame": ...
@overload
def load(*places: str | Path, kind: Literal["pandas"], columns: Iterable[str] | None = None) -> Any: ...
def load(*places: str | Path, kind: str = "polars", columns: Iterable[str] | None = None) -> Any:
    """One row for each episode of each cell that is done.

    The columns are ``cell``, ``agent`` (its label), ``world``, ``stream`` and ``run``; then one for each parameter that
    is not the same in all cells, such as ``world.edges``, ``agent.failure`` or ``episodes`` (K); then those of
    :class:`aomultirl.History`.  Cells that failed or are damaged are left out, with a warning.

    Parameters
    ----------
    places
        folders of ``aomultirl run`` or ``aomultirl reproduce``; a cell that is in several of them counts once.
    kind
        of the frame: "polars" or "pandas".
    columns
        only these, in this order; what is not asked for is not read.
    """
    checks.choice("kind", kind, ("polars", "pandas"))
    if kind == "pandas" and find_spec("pandas") is None:
        raise ImportError("kind is 'pandas', which is not installed: pip install pandas")
    asked = (
        None
        if columns is None
        else [columns]
        if isinstance(columns, str)
        else checks.items("columns", columns, "names")
    )
    found = find(*places, columns=Row._fields if asked is None else [name for name in Row._fields if name in asked])
    for words in said_of(found):
        warnings.warn(words, stacklevel=2)
    names = frame_of_cells(found.cells)
    known = [*(name for name in names.columns if name != PLACE), *Row._fields]
    wanted = known if asked is None else _wanted(asked, known)
    frame = frame_of_rows(found.cells).join(names, on=PLACE, how="left", maintain_order="left").select(wanted)
    return frame if kind == "polars" else frame.to_pandas()


def find(*places: str | Path, columns: Sequence[str] = ()) -> FoundCells:
    """The cells in folders of results, each once; refuses folders that are not ours, or in which nothing is done.

    Parameters
    ----------
    columns
        of the histories, that the rows of every cell are to have.
    """
    if not places:
        raise ValueError("name at least one folder of results")
    for package in ("pydantic", "pyarrow", "polars"):
        with needs("frames of results"):
            import_module(package)
    from aomultirl.experiments.stored_cells import read_cells

    cells: dict[str, Finished] = {}
    failed: list[Path] = []
    damaged: list[Path] = []
    missing = 0
    unknown: dict[tuple[str, str], list[str]] = {}
    for place in [checks.path("a folder of results", place) for place in places]:
        mark = check(place)
        names = dict.fromkeys(mark.cells)
        there = {path.stem: path for path in (place / "cells").glob("*.json")}
        missing += len(set(names) - set(there))
        damaged += sorted(path for name, path in there.items() if name not in names)
        manifests = [there[name] for name in names if name in there and name not in cells]
        for path, kept in zip(manifests, read_cells(manifests), strict=True):
            try:
                cell = _finished(path, kept, columns)
            except (OSError, ValueError):
                damaged.append(path)
                continue
            if cell is None:
                failed.append(path)
            else:
                cells[cell.name] = cell
                unknown.update(dict.fromkeys(_unknown(cell), mark.plugins))
    found = FoundCells(
        _ordered(list(cells.values())), failed, damaged, missing, list(starmap(_said_of, unknown.items()))
    )
    if not cells:
        where = " and ".join(repr(str(place)) for place in places)
        raise ValueError(" ".join([f"no cell in {where} is done.", *said_of(found)]))
    return found


def check(place: Path) -> "ExperimentMark":
    """Refuse what is not a folder of results; what the experiment in it is."""
    files.check_results(place)
    with needs("frames of results"):
        from aomultirl.experiments.manifest import read_mark
    mark = read_mark(place)
    files.check_inside(f"{str(place)!r} is a folder of results", place, folders=["cells"])
    return mark


def said_of(found: FoundCells) -> list[str]:
    """What a reader must know about cells that are not there, in sentences."""
    said = []
    for paths, one, several in (
        (found.failed, "failed", "failed"),
        (found.damaged, "is damaged or of something else", "are damaged or of something else"),
    ):
        if len(paths) == 1:
            said.append(f"1 cell {one} and is left out: {str(paths[0])!r}.")
        elif paths:
            said.append(f"{len(paths):,} cells {several} and are left out, the first of them {str(paths[0])!r}.")
    if found.missing:
        said.append(f"{found.missing:,} cell{'s are' if found.missing > 1 else ' is'} not done yet.")
    return [*said, *found.unknown]


def _unknown(cell: Finished) -> list[tuple[str, str]]:
    """(kind, name) of what a cell is made of and nothing here is called."""
    parts = ((kind, cell.specification[kind]["name"]) for kind in PARTS)
    return [(kind, name) for kind, name in parts if not plugins.is_known(kind, name)]


def _said_of(unknown: tuple[str, str], modules: Sequence[str]) -> str:
    """Which plug-in to load for a name that nothing here has."""
    kind, name = unknown
    words = f"the {kind} {checks.plain(name)!r} is not known here, so defaults of its parameters are not shown"
    if not modules:
        return f"{words}."
    hint = " ".join(f"--plugin {checks.plain(module)}" for module in modules)
    return f"{words}; it is of a plug-in, and the results name {hint}, or ao.plugins.load in Python."


def _ordered(cells: list[Finished]) -> list[Finished]:
    """Configurations as they first appear, and the runs of each by their numbers."""
    first: dict[tuple[str, str], int] = {}
    for cell in cells:
        first.setdefault((cell.configuration, cell.specification["label"]), len(first))
    return sorted(
        cells, key=lambda cell: (first[cell.configuration, cell.specification["label"]], cell.specification["number"])
    )


def _finished(manifest: Path, kept: "Kept | Exception", columns: Sequence[str]) -> Finished | None:
    """A cell that is done; None where it failed.  What does not fit is raised."""
    from aomultirl.experiments.manifest import Failed

    if isinstance(kept, Exception):
        raise kept
    told, rows, _ = kept
    if rows is None or isinstance(told, Failed):
        return None
    specification = told.specification.model_dump()
    return Finished(
        name=told.cell,
        history=manifest.with_suffix(".parquet"),
        specification=specification,
        configuration=configuration(specification),
        sha256=told.sha256,
        version=told.version,
        source=told.source,
        rows=rows[list(dict.fromkeys(["episode", *columns]))],
    )


def frame_of_rows(cells: Sequence[Finished]) -> "polars.DataFrame":
    """The rows of all cells, one after the other, and which of the cells each of them is of."""
    import polars

    counts = [cell.rows.height for cell in cells]
    frame = polars.concat([cell.rows for cell in cells])
    return frame.with_columns(polars.Series(PLACE, np.repeat(np.arange(len(cells)), counts)))


def frame_of_cells(cells: Sequence[Finished]) -> "polars.DataFrame":
    """One row a cell: its place, what names it, and the parameters that are not the same in all of them."""
    with needs("frames of results"):
        import polars
    texts = list(dict.fromkeys(cell.configuration for cell in cells))
    described = dict(zip(texts, map(read_configuration, texts), strict=True))
    naming = {
        PLACE: np.arange(len(cells)),
        "cell": [cell.name for cell in cells],
        "agent": [cell.specification["label"] for cell in cells],
        "world": [described[cell.configuration]["world"]["name"] for cell in cells],
        "stream": [described[cell.configuration]["stream"]["name"] for cell in cells],
        "run": [cell.specification["number"] for cell in cells],
    }
    apart = dict(zip(texts, varying(described.values()), strict=True))
    names = dict.fromkeys(name for one in apart.values() for name in one if name not in naming)
    parameters = {name: _column([apart[cell.configuration].get(name) for cell in cells]) for name in names}
    return polars.DataFrame({**naming, **parameters})


def _column(values: Sequence[Any]) -> list[Any]:
    """Values of one kind: as they are, whole numbers as floats among floats, or all of them as JSON."""
    kinds = {type(value) for value in values if value is not None}
    fits = int not in kinds or all(value in INTEGERS for value in values if type(value) is int)
    if kinds == {int, float} and fits:
        return [value if value is None else float(value) for value in values]
    if len(kinds) == 1 and kinds <= {int, float, bool, str} and fits:
        return list(values)
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def _wanted(wanted: list[str], known: Sequence[str]) -> list[str]:
    for name in wanted:
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise ValueError(f"columns names {name!r}, which is not in these results; {hint}")
    return wanted

"""The results of an experiment as one frame: ``ao.load(DIR)``.

A cell counts when its manifest says that it is done and the digest in it is that of the history beside it, see
:mod:`aomultirl.experiments.store`.  Nothing in the folder is changed.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from aomultirl import checks
from aomultirl.experiments import describing
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.history import Row
from aomultirl.experiments.history import _needs as needs
from aomultirl.experiments.store import read_mark
from aomultirl.experiments.varying import varying

if TYPE_CHECKING:
    import polars

NAMING = ("cell", "agent", "world", "stream", "run")
"""The columns that say where a row is from."""
PATH = "path"


class Finished(NamedTuple):
    """A cell that is done: its name, the file of its history, what was run, and the code that computed it.

    configuration: see :mod:`aomultirl.experiments.describing`.
    """

    name: str
    history: Path
    specification: dict[str, Any]
    configuration: str
    version: str
    source: str


class Found(NamedTuple):
    """cells: done, in the order of their experiments, the runs of a configuration together.

    failed, damaged: manifests of others, the latter also where they are of something else.  missing: how many cells
    are not there yet.
    """

    cells: list[Finished]
    failed: list[Path]
    damaged: list[Path]
    missing: int


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
    found = find(*places)
    for words in said_of(found):
        warnings.warn(words, stacklevel=2)
    names = frame_of_cells(found.cells)
    frame = scan(found.cells).join(names.lazy(), on=PATH, how="left", maintain_order="left").drop(PATH)
    known = [*(name for name in names.columns if name != PATH), *Row._fields]
    wanted = known if columns is None else _wanted(columns, known)
    read = frame.select(wanted).collect()
    return read if kind == "polars" else read.to_pandas()


def find(*places: str | Path) -> Found:
    """The cells in folders of results, each once; refuses folders that are not ours, or in which nothing is done."""
    if not places:
        raise ValueError("name at least one folder of results")
    cells: dict[str, Finished] = {}
    failed: list[Path] = []
    damaged: list[Path] = []
    missing = 0
    for place in [checks.path("a folder of results", place) for place in places]:
        names = check(place)
        there = {path.stem: path for path in (place / "cells").glob("*.json")}
        missing += len(set(names) - set(there))
        damaged += sorted(path for name, path in there.items() if name not in names)
        for name in names:
            if name not in there or name in cells:
                continue
            cell = _read(there[name])
            if cell is None:
                damaged.append(there[name])
            elif cell is FAILED:
                failed.append(there[name])
            else:
                cells[name] = cell
    found = Found(_ordered(list(cells.values())), failed, damaged, missing)
    if not cells:
        where = " and ".join(repr(str(place)) for place in places)
        raise ValueError(" ".join([f"no cell in {where} is done.", *said_of(found)]))
    return found


def check(place: Path) -> dict[str, None]:
    """Refuse what is not a folder of results; the names of its cells."""
    if not place.exists():
        raise ValueError(f"there is no folder {str(place)!r}")
    if not place.is_dir():
        raise ValueError(f"{str(place)!r} is a file, not a folder of results")
    if not any(place.iterdir()):
        raise ValueError(f"{str(place)!r} is empty: it holds no results")
    return dict.fromkeys(map(str, read_mark(place)["cells"]))


def said_of(found: Found) -> list[str]:
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
    return said


def _ordered(cells: list[Finished]) -> list[Finished]:
    """Configurations as they first appear, and the runs of each by their numbers."""
    first: dict[tuple[str, str], int] = {}
    for cell in cells:
        first.setdefault((cell.configuration, cell.specification["label"]), len(first))
    return sorted(
        cells, key=lambda cell: (first[cell.configuration, cell.specification["label"]], cell.specification["number"])
    )


FAILED = Finished("", Path(), {}, "", "", "")


def _read(manifest: Path) -> Finished | None:
    """A cell by its manifest; None where the two do not fit."""
    history = manifest.with_suffix(".parquet")
    try:
        told = json.loads(manifest.read_bytes())
        if told.get("state", "done") == "failed":
            return FAILED
        if told["sha256"] != hashlib.sha256(history.read_bytes()).hexdigest():
            return None
        specification = dict(told["specification"])
        if Cell(**specification).name != manifest.stem:
            return None
        code = str(told["version"]), str(told.get("source", ""))
        return Finished(manifest.stem, history, specification, describing.configuration(specification), *code)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def scan(cells: Sequence[Finished]) -> "polars.LazyFrame":
    """The histories, unread: their columns, and ``path``, the file that a row is from."""
    with needs("polars"):
        import polars
    kinds = {int: polars.Int64, bool: polars.Boolean, float: polars.Float64}
    schema = {name: kinds[kind] for name, kind in Row.__annotations__.items()}
    return polars.scan_parquet(
        [cell.history for cell in cells],
        schema=schema,
        extra_columns="ignore",
        missing_columns="insert",
        include_file_paths=PATH,
        glob=False,
    )


def frame_of_cells(cells: Sequence[Finished]) -> "polars.DataFrame":
    """One row a cell: its file, what names it, and the parameters that are not the same in all of them."""
    with needs("polars"):
        import polars
    texts = list(dict.fromkeys(cell.configuration for cell in cells))
    described = dict(zip(texts, map(describing.read, texts), strict=True))
    naming = {
        PATH: [str(cell.history) for cell in cells],
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
    if kinds == {int, float}:
        return [value if value is None else float(value) for value in values]
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        return list(values)
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def _wanted(columns: Iterable[str], known: Sequence[str]) -> list[str]:
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise ValueError(f"columns names {name!r}, which is not in these results; {hint}")
    return wanted

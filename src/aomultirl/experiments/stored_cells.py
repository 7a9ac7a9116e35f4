"""The cells of a folder, many at once: what :mod:`.stored_cell` does to one, in a fifth of the time.

Some hundred histories are read together, and one question is asked of all of them: does everything fit?  Where the
answer is no, or they cannot be read at all, each is looked into alone, and that says which of them is at fault and why.
"""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from aomultirl.experiments import provenance, provenance_schema
from aomultirl.experiments.computation import constants
from aomultirl.experiments.history import RANGES, Row
from aomultirl.experiments.stored_cell import (
    CONSTANTS,
    EARNED,
    Kept,
    Opened,
    look_into,
    made_otherwise,
    open_cell,
    unearned,
)

if TYPE_CHECKING:
    from pathlib import Path

    import polars

MOST_CELLS, MOST_BYTES = 500, 2**26
"""Cells, and bytes of their histories, that are looked into together; more make nothing faster."""


def read_cells(manifests: "Iterable[Path]") -> "Iterator[Kept | Exception]":
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
        if len(some) >= MOST_CELLS or size >= MOST_BYTES:
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
        metadata = polars.read_parquet_metadata(io.BytesIO(content))
        about = provenance.in_current_form(json.loads(metadata["aomultirl"]))
    except (Exception, polars.exceptions.PanicException):
        return None
    return None if provenance_schema.fault(about) or made_otherwise(about, opened) else dict(about)


def _fit(frame: "polars.DataFrame", done: Sequence[Opened], counts: "np.ndarray[Any, np.dtype[Any]]") -> bool:
    """Whether the histories, one after the other, are those of these cells."""
    import polars

    if any(column.null_count() for column in frame.iter_columns()):
        return False
    owner = np.repeat(np.arange(len(done)), counts)
    told = [constants(each.cell) for each in done]
    for name in CONSTANTS:
        if not (frame[name] == polars.Series([mine[name] for mine in told]).gather(owner)).all():
            return False
    first = np.cumsum(counts) - counts
    if not np.array_equal(frame["episode"].to_numpy(), np.arange(len(owner)) - first[owner]):
        return False
    cluster = frame["cluster"].to_numpy()
    if not ((cluster >= -1) & (cluster < counts[owner])).all():
        return False
    columns = {name: frame[name].to_numpy() for name in (*RANGES, *EARNED)}
    return not unearned(columns) and all(
        columns[name].min() >= least and columns[name].max() < end for name, (least, end) in RANGES.items()
    )

"""What an experiment will run, as a table: a row for every configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

from aomultirl import descriptions
from aomultirl.analysis.phrases import counted
from aomultirl.experiments.cells import Cell
from aomultirl.reports.tables import TextTable

MOST = 100
"""Rows that are shown."""


def configurations_table(
    title: str, cells: Sequence[Cell], varying: Sequence[Mapping[str, Any]], runs: int
) -> TextTable:
    """The configurations of an experiment: worlds and agents, and streams and episodes where these differ.

    Parameters
    ----------
    title
        above the table.
    cells
        of the first run of every configuration.
    varying
        for each of them, what sets it apart (:func:`aomultirl.experiments.cell_differences.varying`).
    runs
        of every configuration.
    """
    columns = {
        "world": [_named("world", cell.world["name"], apart) for cell, apart in zip(cells, varying, strict=True)],
        "stream": [_named("stream", cell.stream["name"], apart) for cell, apart in zip(cells, varying, strict=True)],
        "agent": [cell.label for cell in cells],
        "episodes": [f"{cell.episodes:,}" for cell in cells],
    }
    same = {name: column[0] for name, column in columns.items() if name != "agent" and len(set(column)) == 1}
    said = [f"{name} {value}" for name, value in same.items() if name != "episodes"]
    said += [f"{same['episodes']} episodes"] if "episodes" in same else []
    said += [f"{counted(runs, 'run')} of each", f"seed {cells[0].seed}"]
    caption = [f"{', '.join(said)}."]
    left = len(cells) - MOST
    if left > 0:
        caption.insert(0, f"And {left:,} more.")
    shown = {name: column for name, column in columns.items() if name not in same}
    rows = list(zip(*(column[:MOST] for column in shown.values()), strict=True))
    numbers = [place for place, name in enumerate(shown) if name == "episodes"]
    return TextTable(title, list(shown), rows, numbers, caption=caption)


def _named(part: str, name: str, apart: Mapping[str, Any]) -> str:
    """The name of a world or a stream, with those of its parameters that are not the same everywhere."""
    shown = {key.removeprefix(f"{part}."): value for key, value in apart.items() if key.startswith(f"{part}.")}
    return descriptions.label(name, shown)

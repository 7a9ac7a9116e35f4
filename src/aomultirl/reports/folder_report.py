"""The page of a file or a folder of results: which runs it shows, under which labels, and where it is written."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aomultirl import files
from aomultirl.analysis import sweep_views
from aomultirl.analysis.leaderboard import Leaderboard, leaderboard
from aomultirl.analysis.measures import is_early
from aomultirl.analysis.sweep_views import by_name, chosen_runs, problems_apart, views
from aomultirl.experiments.history import History
from aomultirl.experiments.loading import find
from aomultirl.experiments.manifest import MARK, read_manifest, read_mark
from aomultirl.experiments.paper import LABELS, PaperExperiment
from aomultirl.reports import named_figure, sweep_charts
from aomultirl.reports.page import Run, Sweep, write_page
from aomultirl.reports.page.run_origin import labels as agent_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_TITLE = "The paper's experiment, reproduced"
NOT_A_HISTORY = ("episodes.parquet",)
"""Parquet files beside histories that are none."""
MOST_BYTES = 2**26
"""Of a summary of the paper's experiment."""
OURS = b'<meta name="generator" content="aomultirl'
"""What begins a page that may be replaced."""


class Collection(NamedTuple):
    """What a page is made of.

    runs: those that it shows one by one.
    title: None where the page makes one up.
    claims: of the paper that were checked, as ``summary.json`` has them; None where there are none.
    command: what runs the experiment on the command line; None where nobody knows.
    sweep: the leaderboard and what it leaves out; None where the runs are not of a sweep.
    """

    runs: list[Run]
    title: str | None = None
    claims: list[dict[str, Any]] | None = None
    command: str | None = None
    sweep: Sweep | None = None


def collect(place: str | Path) -> Collection:
    """The runs in a Parquet file of :meth:`History.write`, in a folder of them, or in a folder of results.

    An agent's label is the one its manifest gives, or its class; where agents of one class differ in their parameters,
    these are named too.  Of a sweep with many configurations or runs only some are collected.
    """
    place = Path(place)
    if not place.exists():
        raise ValueError(f"there is no file or folder {str(place)!r}")
    if not place.is_dir() or not os.path.lexists(place / MARK):
        return Collection(_runs(place))
    return _paper(place) if read_mark(place).kind == "paper" else _sweep(place)


def write(found: Collection, page_path: Path) -> list[Path]:
    """Write the page, and beside it the figure of a sweep in which anything varies; the paths of all."""
    figure = None if found.sweep is None else _figure(found.sweep.board)
    if figure is not None:
        sweep_charts.check(page_path.parent)
    told: dict[str, Any] = {"claims": found.claims, "command": found.command, "sweep": found.sweep}
    write_page(page_path, found.runs, title=found.title, **told)
    return [page_path, *(sweep_charts.save(figure, page_path.parent) if figure is not None else [])]


def _figure(board: Leaderboard) -> "Figure | None":
    """Agents against each number that varies; where none does, by their names.  None for a single agent."""
    if drawn := views(board):
        return sweep_charts.draw(drawn)
    agents = {line.label for table in board.tables for line in table.lines}
    return named_figure.draw(by_name(board)) if len(agents) > 1 else None


def _sweep(folder: Path) -> Collection:
    """A sweep: some of its configurations, the whole of it in the leaderboard."""
    board = leaderboard(folder)
    chosen, words = chosen_runs(board)
    apart = dict(zip(map(id, board.tables), problems_apart(board.tables), strict=True))
    runs = []
    for table, line in chosen:
        label = f"{line.label} ({apart[id(table)]})" if apart[id(table)] else line.label
        for cell in line.cells[: sweep_views.MOST_RUNS]:
            history = cell.read()
            early = is_early(cell.specification["stream"])
            before = int(history["task"].max()) + 1 if early else 0
            runs.append(Run(label, int(cell.specification["number"]), history, before))
    command = "aomultirl run specification.toml --out NEW" if files.is_regular(folder / "specification.toml") else None
    return Collection(runs, read_mark(folder).name or "A sweep", None, command, Sweep(board, words))


def _runs(place: Path) -> list[Run]:
    paths = _parquet_files(place) if place.is_dir() else [place]
    if not paths:
        raise ValueError(f"{str(place)!r} holds no histories: no Parquet file, neither in it nor in its folder 'cells'")
    if place.is_dir():  # what the user named may be a link, what lies in it may not
        files.check_inside(f"{str(place)!r} is a folder of histories", paths[0].parent, files=[p.name for p in paths])
    histories = [History.read(path) for path in paths]
    told = [_specification(path) for path in paths]
    labels = [one.get("label") or other for one, other in zip(told, agent_labels(histories), strict=True)]
    found: list[Run] = []
    for i in sorted(range(len(paths)), key=lambda i: (told[i].get("number", 0), str(paths[i]))):
        number = sum(run.agent == labels[i] for run in found)
        found.append(Run(labels[i], number, histories[i]))
    return found


def _paper(folder: Path) -> Collection:
    """The paper's experiment: agents in its order, and its claims if they are of the same runs."""
    mark = read_mark(folder)
    told: dict[str, Any] = mark.identity()
    sizes = (told.get(name) for name in ("episodes", "seed", "edges", "constants"))
    asked = PaperExperiment(max(1, len(mark.cells) // len(LABELS)), *sizes)  # type: ignore[arg-type]  # which checks
    done, own = find(folder).cells, {cell.name for cell in asked.cells()}
    for cell in done:
        if cell.name not in own:
            raise files.UnfitFileError(folder / MARK, f"does not describe the cell {cell.name!r} that is in the folder")
    runs = [Run(cell.specification["label"], cell.specification["number"], cell.read()) for cell in done]
    runs.sort(key=lambda run: (LABELS.index(run.agent), run.run))
    count = sum(run.agent == runs[0].agent for run in runs)
    experiment = replace(asked, runs=count)
    return Collection(
        [Run(*run[:3], before=len(run.history) - experiment.episodes) for run in runs],
        PAPER_TITLE,
        _claims(folder, count),
        experiment.command(),
    )


def _claims(folder: Path, runs: int) -> list[dict[str, Any]] | None:
    try:
        summary = json.loads(files.read_regular(folder / "summary.json", MOST_BYTES))
        claims = list(summary["claims"]) if summary["parameters"]["runs"] == runs else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return claims if claims and all(isinstance(claim, dict) for claim in claims) else None


def check_target(path: Path) -> None:
    """Refuse, before anything is read, a page that cannot be written or would replace something that is not ours."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"out is {str(path)!r}, which does not end in .html")
    if path.is_dir():
        raise ValueError(f"out is {str(path)!r}, which is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    files.check_folder("the folder of out", path.parent)
    files.check_inside(f"out is {str(path)!r}", path.parent, files=[path.name])
    if path.exists() and OURS not in files.read_beginning(path, 4096):
        raise ValueError(f"out is {str(path)!r}, a page that aomultirl did not make; name another file")


def _parquet_files(folder: Path) -> list[Path]:
    cells = folder / "cells"
    files.check_inside(f"{str(folder)!r} is a folder of histories", folder, folders=["cells"])
    inside = sorted((cells if cells.is_dir() else folder).glob("*.parquet"))
    return [path for path in inside if path.name not in NOT_A_HISTORY]


def _specification(path: Path) -> dict[str, Any]:
    """What the manifest beside a history says of it; nothing where there is none."""
    try:
        return read_manifest(path.with_suffix(".json")).specification.model_dump()
    except (OSError, ValueError):
        return {}

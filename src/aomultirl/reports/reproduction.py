"""The paper's experiment in one call: run what is missing, then write the figure, the numbers and the page.

::

    figure.png, figure.svg, figure.pdf    average per-episode reward against episode
    episodes.parquet                      one row for each agent, run and episode
    summary.json                          the numbers
    report.html                           one page with everything, for a browser
    experiment.json, cells/               what was run, see :mod:`aomultirl.experiments.store`
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from aomultirl import files
from aomultirl.analysis import paper_claims, paper_summary
from aomultirl.analysis.claims import Claim
from aomultirl.engine import stepping
from aomultirl.engine.compiling import is_compiled
from aomultirl.experiments.completion import Observer
from aomultirl.experiments.paper import LABELS, PaperExperiment, Results, run_paper
from aomultirl.experiments.store import Store
from aomultirl.reports import curves_figure, folder_report
from aomultirl.reports.figure_files import FORMATS, save_all

WRITTEN = ("report.html", "summary.json", "episodes.parquet", *(f"figure.{kind}" for kind in FORMATS))
"""The files beside the cells."""


class Reproduction(NamedTuple):
    """results: all histories; claims: checked; set_aside: damaged files that were found and not used."""

    results: Results
    claims: list[Claim]
    set_aside: list[Path]


def check(experiment: PaperExperiment, out: str | Path) -> None:
    """Refuse, before anything runs, a folder that is not for this experiment."""
    files.check_inside(f"out is {str(out)!r}", Path(out), files=WRITTEN, folders=["cells"])
    one_more = (replace(cell, number=experiment.runs) for cell in experiment.cells() if cell.number == 0)
    if any((Path(out) / "cells" / f"{cell.name}.json").exists() for cell in one_more):
        raise ValueError(
            f"out is {str(out)!r}, which holds more than {experiment.runs} runs; "
            "ask for all of them or name another folder"
        )
    Store(out, experiment.identity(), experiment.cells())


def reproduce(
    experiment: PaperExperiment,
    out: str | Path,
    workers: int = 1,
    observers: Sequence[Observer] = (),
) -> Reproduction:
    """Run the cells that are missing in ``out``, and write everything.

    Parameters
    ----------
    out
        a folder: new, empty, or of the same experiment.
    observers
        are told how far it is.
    """
    check(experiment, out)
    store = Store(out, experiment.identity(), experiment.cells())
    if workers > 1 and not is_compiled(stepping._run):
        warm_up(experiment)
    results = run_paper(experiment, store, workers, observers)
    models = experiment.models()
    claims = paper_claims.check_claims(results, models)
    write_files(results, claims, store.folder)
    store.clear()
    return Reproduction(results, claims, store.set_aside)


def warm_up(experiment: PaperExperiment) -> None:
    """Compile here, once, what every worker would otherwise compile for itself."""
    for cell in PaperExperiment(1, 1, experiment.seed, experiment.edges, "released").cells():
        cell.run()


def write_files(results: Results, claims: list[Claim], folder: Path) -> None:
    """Everything but the cells; every file is whole or not there."""
    import pyarrow.parquet

    experiment = results.experiment
    with files.whole(folder / "episodes.parquet") as partial:
        pyarrow.parquet.write_table(paper_summary.episodes_table(results), partial)
    summary = {**paper_summary.summarise(results), "claims": [claim.as_json() for claim in claims]}
    files.write_whole(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    curves = {label: results.aper(label) for label in LABELS}
    marks = {experiment.episodes // 2 + 1: "$m_4$ first appears"}
    save_all(curves_figure.draw_curves(curves, marks=marks), folder, "figure")
    folder_report.write(folder_report.collect(folder), folder / "report.html")

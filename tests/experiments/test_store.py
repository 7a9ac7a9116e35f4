import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from aomultirl import cli, files
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.completion import complete
from aomultirl.experiments.computation import compute, lost
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.store import MARK, Store
from sweeps import command

WHAT = {"kind": "test", "seed": 1}
CELL = Cell(
    {"name": "gridworld", "parameters": {}},
    {"name": "uniform", "parameters": {}},
    {"name": "OneEpisodeUCBVI", "parameters": {"failure": 0.03, "horizon": 20}},
    episodes=6,
    seed=1,
    number=0,
    label="alone",
)
CELLS = [dataclasses.replace(CELL, number=number) for number in range(6)]


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def opened(folder, cells=CELLS, **what):
    store = Store(folder, {**WHAT, **what}, cells)
    store.prepare()
    return store


def test_cells_are_named_by_what_they_are():
    names = {cell.name for cell in CELLS}
    assert len(names) == 6
    assert dataclasses.replace(CELL).name == CELL.name
    assert dataclasses.replace(CELL, agent={**CELL.agent, "parameters": {"horizon": 21}}).name not in names
    assert len({cell.run_seed for cell in CELLS}) == 6
    assert dataclasses.replace(CELL, label="x").run_seed == CELL.run_seed


def test_what_is_kept_comes_back(tmp_path):
    store = opened(tmp_path / "new" / "folder")
    assert CELL in store.missing()
    store.keep(compute(CELL))
    assert CELL not in store.missing()
    history, manifest = opened(store.folder).read(CELL)
    assert history == CELL.run()
    assert manifest["specification"] == CELL.specification()
    assert manifest["cpu_seconds"] > 0


@pytest.mark.parametrize("damage", ["history", "missing history", "manifest", "other manifest"])
def test_damaged_cells_are_set_aside_and_never_used(tmp_path, damage):
    store = opened(tmp_path)
    store.keep(compute(CELL))
    history, manifest = store.history(CELL), store.manifest(CELL)
    if damage == "history":
        history.write_bytes(history.read_bytes()[:-9])
    elif damage == "missing history":
        history.unlink()
    elif damage == "manifest":
        manifest.write_text("{")
    else:
        told = json.loads(manifest.read_text())
        told["specification"]["episodes"] = 7
        manifest.write_text(json.dumps(told))
    before = sorted(contents(tmp_path).values())
    assert CELL in store.missing()
    assert store.set_aside
    assert sorted(contents(tmp_path).values()) == before  # nothing is lost
    store.keep(compute(CELL))
    assert CELL not in store.missing()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda place: place.write_text("mine"), "is a file, not a folder"),
        (lambda place: (place.mkdir(), (place / "thesis.tex").write_text("mine")), "it holds 'thesis.tex', but no"),
        (lambda place: (place.mkdir(), (place / MARK).write_text("{")), "cannot be read"),
        (lambda place: (place.mkdir(), (place / MARK).write_text("[]")), "does not describe an experiment"),
        (lambda place: opened(place, seed=2), "holds another experiment: its seed is 2, not 1"),
        (lambda place: opened(place, more=0), "its more is 0, not None"),
    ],
)
def test_folders_of_others_are_refused_and_not_touched(tmp_path, make, words):
    place = tmp_path / "out"
    make(place)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=words):
        opened(place)
    assert contents(tmp_path) == before


def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # as for anyone but root in a folder of mode 500
    with pytest.raises(ValueError, match="may not be written to"):
        opened(tmp_path / "out")
    assert not any(tmp_path.iterdir())


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "gone")
    with pytest.raises(ValueError, match="a link that leads nowhere"):
        opened(tmp_path / "out")


def test_a_path_through_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="file' is a file"):
        opened(tmp_path / "file" / "out")


def test_temporary_files_of_the_dead_are_cleared_away_those_of_the_living_stay(tmp_path):
    opened(tmp_path)
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    dead = tmp_path / "cells" / f".x.parquet.{int(ended.stdout)}.partial"
    living = tmp_path / "cells" / f".x.parquet.{os.getpid()}.partial"
    dead.write_text("half")
    living.write_text("half")
    mine = tmp_path / ".thesis.draft.partial"
    mine.write_text("of somebody else")
    opened(tmp_path)
    assert not dead.exists()
    assert living.exists()
    assert mine.exists()


def test_files_of_something_else_are_set_aside(tmp_path):
    store = opened(tmp_path)
    store.keep(compute(CELL))
    other = dataclasses.replace(CELL, episodes=3)
    theirs = opened(tmp_path / "theirs", [other])
    theirs.keep(compute(other))
    (theirs.folder / "cells" / f"{other.name}.json").rename(tmp_path / "cells" / f"{other.name}.json")
    (tmp_path / "cells" / "notes.txt").write_text("mine")
    assert len(store.missing()) == 5
    assert sorted(path.name for path in store.set_aside) == sorted([f"{other.name}.json", "notes.txt"])
    assert (tmp_path / "set_aside" / "notes.txt").read_text() == "mine"
    (tmp_path / "cells" / "notes.txt").write_text("again")
    store.missing()
    assert (tmp_path / "set_aside" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "set_aside" / "notes.txt.1").read_text() == "again"


def test_a_history_that_is_not_ours_is_not_overwritten(tmp_path):
    store = opened(tmp_path)
    store.history(CELL).write_text("of somebody else")
    (tmp_path / "cells" / f"{CELL.name}.notes.txt").write_text("mine")
    assert len(store.missing()) == 6
    store.keep(compute(CELL))
    assert sorted(path.read_text() for path in store.set_aside) == ["mine", "of somebody else"]
    assert CELL not in store.missing()
    store.manifest(CELL).unlink()  # killed between the two files
    store.keep(compute(CELL))
    assert len(store.set_aside) == 2


@pytest.mark.parametrize("left", [[], [".lock"], [".lock", "cells/", "checkpoints/"], [".experiment.json.1.partial"]])
def test_what_is_left_of_a_folder_that_was_being_opened_is_no_hindrance(tmp_path, left):
    for name in left:
        (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()
    store = Store(tmp_path, WHAT, CELLS)
    with store.opened():
        assert len(store.missing()) == 6


def test_a_checkpoint_of_a_cell_that_is_done_is_removed(tmp_path):
    store = opened(tmp_path)
    store.keep(compute(CELL))
    places = [tmp_path / "checkpoints" / f"{cell.name}.zip" for cell in CELLS[:2]]
    for place in places:
        place.touch()
    store.missing()
    assert [place.exists() for place in places] == [False, True]


def test_results_of_other_code_are_counted(tmp_path):
    store = opened(tmp_path)
    computed = compute(CELL)
    store.keep(computed._replace(facts={**computed.facts, "source": "other"}))
    store.keep(compute(CELLS[1]))
    store.missing()
    assert store.of_other_code == 1
    assert "computed with other sources" in complete(Store(tmp_path, WHAT, CELLS), InProcess()).notes[0]


def test_an_experiment_may_grow_but_not_lose_results(tmp_path):
    store = opened(tmp_path, CELLS[:3], specification={"runs": 3})
    store.keep(compute(CELLS[2]))
    grown = opened(tmp_path, CELLS, specification={"runs": 6})
    assert len(grown.missing()) == 5
    assert json.loads((tmp_path / MARK).read_text())["specification"] == {"runs": 6}
    before = contents(tmp_path)
    with pytest.raises(
        ValueError, match="results that are not of this experiment: 1, such as run 2 of 'alone' in 'gri"
    ):
        opened(tmp_path, CELLS[:2], specification={"runs": 2})
    assert contents(tmp_path) == before


def test_a_failure_is_kept_and_is_not_done(tmp_path):
    store = opened(tmp_path)
    store.keep(lost(CELL, "the process was killed"))
    assert json.loads(store.manifest(CELL).read_text())["error"] == "the process was killed"
    assert CELL in store.missing()
    assert not store.set_aside
    store.keep(compute(CELL))
    assert CELL not in store.missing()
    assert "error" not in json.loads(store.manifest(CELL).read_text())


def test_only_one_process_writes_results(tmp_path):
    store = opened(tmp_path)
    wants = f"from aomultirl import files; from pathlib import Path; print(files.at_work(Path({str(tmp_path)!r})))"
    with store.opened():
        before = contents(tmp_path)
        grown = Store(tmp_path, WHAT, [*CELLS, dataclasses.replace(CELL, number=9)])
        with pytest.raises(ValueError, match=rf"where process {os.getpid()} on .* is at work"), grown.opened():
            pass
        assert contents(tmp_path) == before
        told = subprocess.run([sys.executable, "-c", wants], capture_output=True, check=True, text=True)
        assert f"process {os.getpid()} on" in told.stdout
    assert files.at_work(tmp_path) == ""


ENDS = [(signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGKILL, 1), (signal.SIGKILL, 2)]
"""Signals, and the workers of the command that gets them."""


@pytest.mark.parametrize(
    ("name", "way", "workers"),
    [(name, *end) for name in ("run", "reproduce") for end in ENDS],
)
@pytest.mark.long  # test_kills.py and test_cli_signals.py have a case of each
def test_whatever_ends_it_nothing_is_half_written_and_the_rest_is_finished_later(tmp_path, capfd, name, way, workers):
    """The command itself, ended at some moment after the first cell; then run to its end."""
    out = tmp_path / "out"
    line, cells = command(out, "--workers", str(workers), runs=6), 24
    if name == "reproduce":
        options = ["--runs", "3", "--episodes", "8", "--workers", str(workers), "--out", str(out)]
        line, cells = [sys.executable, "-m", "aomultirl", "reproduce", *options], 15
    process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    while len(list(out.glob("cells/*.json"))) < 2 and time.monotonic() - begin < 120 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(way)
    _, words = process.communicate(timeout=20)  # workers that outlived it would keep its standard error open
    assert process.returncode != 0, "it ended before it could be interrupted"
    assert b"Traceback" not in words
    assert (b"interrupted; what was finished is kept" in words) == (way == signal.SIGINT)
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("cells/*")}
    assert 4 <= len(kept) < 2 * cells
    if way != signal.SIGKILL:
        assert not list(out.rglob("*.partial"))
    capfd.readouterr()
    assert cli.run([*line[line.index(name) :], "--workers", "1"]) == 0
    assert "damaged" not in capfd.readouterr().err
    assert not list(out.rglob("*.partial"))
    assert len(list(out.glob("cells/*.json"))) == cells
    whole = [name for name in kept if name.endswith(".json")]
    assert all((out / "cells" / name).stat().st_mtime_ns == kept[name] for name in whole)


def test_seeds_of_runs_do_not_overlap_between_experiments():
    seeds = [dataclasses.replace(CELL, seed=s, number=n).run_seed for s in range(5) for n in range(50)]
    assert len(np.unique(seeds)) == 250

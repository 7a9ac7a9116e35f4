"""How far an experiment is."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from aomultirl.cli import run
from aomultirl.experiments.computation import compute, lost
from aomultirl.experiments.status import status
from aomultirl.experiments.store import MARK, Store
from sweeps import experiment, results


@pytest.fixture
def store(tmp_path):
    """Two cells done, one failed, one with a checkpoint, one damaged, one not begun."""
    identity, cells = experiment(runs=6)
    store = Store(tmp_path, identity, cells)
    store.prepare()
    for cell in cells[:2]:
        store.keep(compute(cell))
    store.keep(lost(cells[2], "the process was killed"))
    (tmp_path / "checkpoints" / f"{cells[3].name}.zip").write_bytes(b"PK")
    store.manifest(cells[4]).write_text("{")
    return store


def test_everything_is_counted(store):
    found = status(store.folder)
    assert (found.name, found.total, found.done, found.left) == ("test", 6, 2, 3)
    assert [(failure.run, failure.error) for failure in found.failed] == [(2, "the process was killed")]
    assert found.damaged == [f"{store.cells[4].name}.json"]
    assert found.checkpoints == 1
    assert found.at_work == ""
    assert found.agents["Random"][:2] == (2, 1)
    with store.opened():
        assert "process" in status(store.folder).at_work


def test_the_command_says_it(store, capfd):
    assert run(["status", str(store.folder)]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "test: 2 of 6 cells done, 1 failed, 3 to compute, 1 of them begun" in told
    where = f"(cells/{store.cells[2].name}.json)"
    assert f"failed: Random in gridworld, run 2 {where}: the process was killed" in told
    assert f"damaged: cells/{store.cells[4].name}.json" in told
    assert run(["status", str(store.folder), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["failed"][0]["error"] == "the process was killed"


@pytest.mark.parametrize("content", [None, {}, {"thesis.tex": "mine"}, {MARK: "[]"}])
def test_other_folders_are_refused_in_one_line(tmp_path, capfd, content):
    place = tmp_path / "place"
    if content is not None:
        place.mkdir()
        for name, text in content.items():
            (place / name).write_text(text)
    assert run(["status", str(place)]) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "place" in told


@pytest.mark.long
@pytest.mark.parametrize("count", [500, 2_000, 10_000])
def test_many_cells_are_counted_at_once(tmp_path, count):
    """The command as a person runs it, with the interpreter's start; processor's time, for other work may go on.

    Two seconds, for ten thousand cells, were one and a half times what a machine took to import the command line and
    parse as many files with the plainest reader; machines differ, so that is measured beside it.
    """
    identity, cells = experiment(runs=1)
    store = Store(tmp_path, identity, cells)
    store.prepare()
    store.keep(compute(cells[0]))
    manifest = store.manifest(cells[0]).read_bytes()
    many = [dataclasses.replace(cells[0], number=number) for number in range(count)]
    store = Store(tmp_path, identity, many)
    store.prepare()
    for cell in many[1:]:
        store.manifest(cell).write_bytes(manifest.replace(cells[0].name.encode(), cell.name.encode()))
        store.history(cell).touch()
    line = [sys.executable, "-m", "aomultirl", "status", str(tmp_path)]
    plainest = "import json, pathlib, sys, aomultirl.cli.experiments\n"
    plainest += "for path in pathlib.Path(sys.argv[1], 'cells').glob('*.json'): json.loads(path.read_bytes())"
    seconds, yardstick = [], []
    for _ in range(3):
        told, spent = timed(line)
        seconds.append(spent)
        yardstick.append(timed([sys.executable, "-c", plainest, str(tmp_path)])[1])
        if spent < 1.5 * min(yardstick):  # only a machine that is busy with something else is asked again
            break
    assert f"{count:,} of {count:,} cells done" in told
    assert len(results(tmp_path)) == count
    assert min(seconds) < 1.5 * min(yardstick)


def timed(line):
    """(what a command prints, the processor's time that it takes)."""
    before = os.times()
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    after = os.times()
    return told, after.children_user + after.children_system - before.children_user - before.children_system


STEERING = "\x1b[2J\x1b]0;title\x07"


def forge(store, cell, **changes):
    """A failed cell, consistent in all of its names, whose specification is altered; the folder has no other."""
    for path in (store.folder / "cells").iterdir():
        path.unlink()
    error = changes.pop("error", "it failed")
    forged = dataclasses.replace(cell, **changes)
    store.keep(lost(forged, error))
    mark = json.loads((store.folder / MARK).read_text())
    (store.folder / MARK).write_text(json.dumps({**mark, "cells": [forged.name]}))


@pytest.mark.parametrize("command", ["status", "compare", "verify"])
@pytest.mark.parametrize("changes", [{"label": f"Random {STEERING}"}, {"error": STEERING + "x" * 1000}])
def test_nothing_in_a_manifest_steers_a_terminal(store, capfd, command, changes):
    forge(store, store.cells[0], **changes)
    run([command, str(store.folder)])
    told = capfd.readouterr()
    assert not {"\x1b", "\x07"} & set(told.out + told.err)
    assert len(told.out) < 1000
    assert status(store.folder).damaged == [] or "label" in changes


@pytest.mark.parametrize("name", [f"small{STEERING}", "x" * 100_000])
def test_a_name_that_a_terminal_cannot_show_is_refused(store, capfd, name):
    mark = json.loads((store.folder / MARK).read_text())
    (store.folder / MARK).write_text(json.dumps({**mark, "name": name}))
    for command in ("status", "compare", "report"):
        assert run([command, str(store.folder)]) == 2
        told = capfd.readouterr()
        assert "name is" in told.err
        assert len(told.out + told.err) < 1000
        assert "\x1b" not in told.err


def test_a_long_label_that_a_specification_makes_is_read(tmp_path):
    pairs = [[[n % 16, n % 4] for n in range(count)] for count in (98, 99)]
    told = {
        "name": "AOMultiRL",
        "failure": 0.03,
        "models": 4,
        "separation": 1.0,
        "hitting_time": 50.0,
        "horizon": 10**8,
    }
    identity, cells = experiment(runs=1, **told, grid={"distinguishing_set": pairs})
    assert len(cells[0].label) > 500
    store = Store(tmp_path, identity, cells)
    store.prepare()
    for cell in cells:
        store.keep(lost(cell, "the process was killed"))
    assert list(status(tmp_path).agents) == [cell.label for cell in cells]

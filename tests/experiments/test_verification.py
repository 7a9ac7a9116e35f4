"""A whole folder is checked, and nothing in it is touched."""

import json
import os
import subprocess
import sys

import pytest

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.cli import run
from aomultirl.experiments.completion import complete
from aomultirl.experiments.computation import lost
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.paper import PaperExperiment
from aomultirl.experiments.store import MARK
from aomultirl.experiments.verification import verify
from folder_mutations import snapshot
from folders import cells, contents, keep


@pytest.fixture
def given():
    return cells(runs=2)


def test_a_folder_that_is_well(tmp_path, given, capfd):
    store = keep(tmp_path / "a", given)
    before = contents(store.folder)
    found = verify(store.folder)
    assert (found.name, found.total, found.done, found.failed, found.missing) == ("small", 4, 4, 0, 0)
    assert found.findings == found.remarks == []
    assert run(["verify", str(store.folder)]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert told == "small: 4 of 4 cells are done and fit, 0 failed, 0 missing; all is well"
    assert contents(store.folder) == before


def test_cells_that_are_missing_or_failed_are_no_damage(tmp_path, given, capfd):
    store = keep(tmp_path / "a", given, done=given[:2])
    store.keep(lost(given[2], "the process was killed"))
    checkpoint = store.folder / "checkpoints" / f"{given[3].name}.zip"
    checkpoint.write_bytes(saving.to_bytes(ao.agents.Random(10)))
    assert run(["verify", str(store.folder)]) == 0
    out = capfd.readouterr().out
    assert "2 of 4 cells are done and fit, 1 failed, 1 missing; all is well" in " ".join(out.split())
    assert f"note: cells/{given[2].name}.json is of a cell that failed: the process was killed" in out


def test_everything_that_is_wrong_is_named_and_nothing_is_touched(tmp_path, given, capfd):
    store = keep(tmp_path / "a", given)
    one, two, three, _ = (cell.name for cell in given)
    folder, inside = store.folder, store.folder / "cells"
    (inside / f"{one}.parquet").write_bytes((inside / f"{two}.parquet").read_bytes())
    (inside / f"{two}.parquet").unlink()
    (inside / f"{three}.json").write_text("{")
    (inside / "thesis.tex").write_text("mine")
    (folder / "checkpoints" / f"{one}.zip").write_bytes(b"PK")
    (folder / "checkpoints" / "x.zip").write_bytes(b"PK")
    (folder / "link").symlink_to("/etc")
    (folder / "notes \x1b[2J.txt").write_text("mine")
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    partial = inside / f".x.json.{int(ended.stdout)}.partial"
    partial.write_text("half")
    (folder / "set_aside").mkdir()
    (folder / "set_aside" / "old.json").write_text("{")
    before = snapshot(folder)
    found = verify(folder)
    assert {finding.file for finding in found.findings} == {
        f"cells/{one}.parquet",
        f"cells/{two}.parquet",
        f"cells/{three}.json",
        "cells/thesis.tex",
        f"checkpoints/{one}.zip",
        "checkpoints/x.zip",
    }
    assert {remark.file for remark in found.remarks} == {
        "link",
        "notes \x1b[2J.txt",
        f"cells/{partial.name}",
        "set_aside",
    }
    assert (found.done, found.missing) == (1, 0)
    assert run(["verify", str(folder)]) == 1
    out = capfd.readouterr().out
    assert f"wrong: cells/{one}.parquet does not have the digest that its manifest gives" in out
    assert f"wrong: cells/{two}.parquet is not there, though the cell is said to be done" in out
    assert "note: notes ?[2J.txt is not of this experiment" in out
    assert run(["verify", str(folder), "--json"]) == 1
    told = json.loads(capfd.readouterr().out)
    assert told["well"] is False
    assert len(told["findings"]) == 6
    assert snapshot(folder) == before


def test_experiment_json_that_cannot_be_read_is_a_finding(tmp_path, given):
    store = keep(tmp_path / "a", given)
    (store.folder / MARK).write_text("{")
    found = verify(store.folder)
    assert [finding.file for finding in found.findings] == [MARK]
    assert found.done == 4


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir(), lambda p: p.write_text("x"),
                                  lambda p: (p.mkdir(), (p / "thesis.tex").write_text("x"))])  # fmt: skip
def test_what_is_no_folder_of_results_ends_with_2_and_one_line(tmp_path, capfd, make):
    make(tmp_path / "a")
    assert run(["verify", str(tmp_path / "a")]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_the_papers_experiment_is_checked_too(tmp_path):
    experiment = PaperExperiment(1, 2)
    store = keep(tmp_path / "a", experiment.cells(), identity=experiment.identity())
    for name in ("report.html", "summary.json", "figure.pdf", "episodes.parquet"):
        (store.folder / name).write_text("{}")
    found = verify(store.folder)
    assert (found.name, found.done, found.findings, found.remarks) == ("paper", 5, [], [])


def test_who_is_at_work_is_said(tmp_path, given):
    store = keep(tmp_path / "a", given)
    with store.opened():
        found = verify(store.folder)
    assert str(os.getpid()) in found.at_work
    assert not found.findings


@pytest.mark.parametrize("key", ["host", "version", "source"])
def test_a_manifest_with_half_a_character_is_found(tmp_path, given, key):
    store = keep(tmp_path / "a", given[:1])
    told = json.loads(store.manifest(given[0]).read_text())
    store.manifest(given[0]).write_text(json.dumps({**told, key: "\ud800"}))
    (finding,) = verify(store.folder).findings
    assert finding.file == f"cells/{given[0].name}.json"
    assert f"{key} is '\\ud800': Value error, it holds half a character" in finding.words


def test_once_an_experiment_was_run_again_nothing_is_wrong(tmp_path, given, capfd):
    """The attack: things that verify calls wrong and that no run ever sets aside."""
    store = keep(tmp_path / "a", given)
    (tmp_path / "precious").write_text("mine")
    for name in ("foo", "cells", "checkpoints"):
        place = store.folder / name if name == "foo" else store.folder / name / f".{given[0].name}.json.99999.partial"
        place.symlink_to(tmp_path / "precious")
    os.mkfifo(store.folder / "pipe")
    os.mkfifo(store.folder / "cells" / ".x.1.partial")
    (store.folder / "checkpoints" / ".x.1.partial").mkdir()
    (store.folder / "checkpoints" / "x.zip").symlink_to(tmp_path / "precious")
    assert {finding.file for finding in verify(store.folder).findings} == {
        "cells/.x.1.partial",
        "checkpoints/.x.1.partial",
        "checkpoints/x.zip",
    }
    outcome = complete(store, InProcess())
    assert (outcome.found, len(outcome.set_aside)) == (4, 3)
    assert run(["verify", str(store.folder)]) == 0
    assert {remark.file for remark in verify(store.folder).remarks} == {"foo", "pipe", "set_aside"}
    assert (tmp_path / "precious").read_text() == "mine"
    assert (store.folder / "foo").is_symlink()


@pytest.mark.parametrize("command", ["verify", "status", "compare"])
def test_a_file_is_not_said_to_be_missing(tmp_path, capfd, command):
    (tmp_path / "s.toml").write_text("x")
    assert run([command, str(tmp_path / "s.toml")]) == 2
    assert f"{str(tmp_path / 's.toml')!r} is a file, not a folder of results" in capfd.readouterr().err
    assert run([command, "/dev/zero"]) == 2
    assert "'/dev/zero' is a pipe, a socket or a device, not a folder of results" in capfd.readouterr().err

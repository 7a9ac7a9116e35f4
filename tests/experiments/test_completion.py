"""Experiments that are interrupted, fail, or find no room on the disk: nothing is lost, and nothing is wrong."""

import dataclasses
import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

from aomultirl import cli, files
from aomultirl.experiments.completion import complete
from aomultirl.experiments.executors import InProcess, LocalProcesses
from aomultirl.experiments.store import Store
from sweeps import SMALL, Told, command, experiment, results


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the small experiment gives when nobody interrupts it, on one worker."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    words = command(folder, runs=2)
    assert cli.run(words[words.index("run") :]) == 0
    found = results(folder)
    assert len(found) == 8
    return found


def test_only_what_is_missing_is_computed(tmp_path):
    identity, cells = experiment(runs=4)
    store, told = Store(tmp_path, identity, cells), Told()
    first = complete(store, InProcess(), [told])
    assert (first.total, first.found, first.failed) == (4, 0, [])
    store.history(cells[2]).unlink()
    again = complete(Store(tmp_path, identity, cells), InProcess(), [told])
    assert (again.total, again.found) == (4, 3)
    assert [path.name for path in again.set_aside] == [f"{cells[2].name}.json"]
    assert told.calls == [(4, 4), 0, 1, 2, 3, (4, 1), 2]


@pytest.mark.long
def test_processes_give_the_same_bytes(tmp_path, whole):
    subprocess.run(command(tmp_path / "out", "--workers", "2", runs=2), check=True, capture_output=True)
    assert results(tmp_path / "out") == whole


def test_a_cell_that_fails_keeps_its_error_and_the_rest_goes_on(tmp_path):
    identity, cells = experiment(runs=3)
    broken = {"name": "Random", "parameters": {"horizon": -1}}
    cells[1] = dataclasses.replace(cells[1], agent=broken)
    store = Store(tmp_path, identity, cells)
    found = complete(store, LocalProcesses(1))  # another process, but only one: starting it takes longest
    assert found.failed == [(cells[1], "Refusal: horizon must be at least 1, not -1")]
    assert len(results(tmp_path)) == 2
    manifest = json.loads(store.manifest(cells[1]).read_text())
    assert manifest["state"] == "failed"
    assert "Traceback" in manifest["traceback"]


def test_a_full_disk_is_said_and_costs_only_what_was_not_written(tmp_path, monkeypatch):
    identity, cells = experiment(runs=4)
    whole, written = files.whole, []

    def full(path):
        written.append(path)
        if len(written) > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(path)

    store = Store(tmp_path, identity, cells)
    monkeypatch.setattr(files, "whole", full)
    with pytest.raises(OSError, match=r"could not be written to: No space left on device; what was finished"):
        complete(store, InProcess())
    monkeypatch.undo()
    assert not list(tmp_path.rglob("*.partial"))
    again = complete(Store(tmp_path, identity, cells), InProcess())
    assert (again.found, again.failed, again.set_aside) == (2, [], [])
    assert len(results(tmp_path)) == 4


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root to mount a small tmpfs")
def test_a_disk_that_is_really_full(tmp_path, capfd):
    """A file system of 160 kB: the command says it, and goes on when there is room."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        (place / "small.toml").write_text(SMALL)
        line = ["run", str(place / "small.toml"), "--out", str(place / "out")]
        assert cli.run(line) == 2
        told = " ".join(capfd.readouterr().err.split())
        assert "No space left on device; what was finished before is kept" in told
        assert "Traceback" not in told
        kept = results(place / "out")
        assert 0 < len(kept) < 16
        assert not list((place / "out").rglob("*.partial"))
        subprocess.run(["mount", "-o", "remount,size=8m", str(place)], check=True)
        assert cli.run(line) == 0
        assert "16 of 16 cells" in " ".join(capfd.readouterr().err.split())
        assert all(results(place / "out")[name] == content for name, content in kept.items())
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_two_drivers_do_not_share_a_folder(tmp_path):
    identity, cells = experiment()
    store = Store(tmp_path, identity, cells)
    with store.opened(), pytest.raises(ValueError, match="is at work"):
        complete(Store(tmp_path, identity, cells), InProcess())
    assert not results(tmp_path)


def test_manifests_say_how_the_result_came_about(tmp_path):
    identity, cells = experiment(runs=1)
    store = Store(tmp_path, identity, cells)
    complete(store, InProcess())
    told = json.loads(store.manifest(cells[0]).read_text())
    assert told["specification"] == cells[0].specification()
    assert told["run_seed"] == cells[0].run_seed
    assert {"python", "numpy", "scipy", "numba"} <= set(told["versions"])
    assert told["host"]
    assert told["cpu_seconds"] >= 0
    assert told["wall_seconds"] > told["compiling_seconds"] >= 0
    root = Path(__file__).parents[2]
    if (root / ".git").exists():
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
        assert told["commit"].rstrip("+") == head.stdout.strip()

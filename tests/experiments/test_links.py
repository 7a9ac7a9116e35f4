"""Links, pipes and devices in a folder of results: nothing outside is read or written, and nobody waits for them."""

import json
import os
import subprocess
import sys
import time

import pytest

import aomultirl as ao
from aomultirl import files
from aomultirl.cli import run
from aomultirl.experiments.completion import complete
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.paper import PaperExperiment
from aomultirl.experiments.status import status
from aomultirl.experiments.store import MARK, Store
from aomultirl.experiments.verification import verify
from aomultirl.reports import reproduction
from aomultirl.reports.folder_report import collect
from folder_mutations import in_time, snapshot
from folders import cells, keep
from sweeps import results

COMMANDS = ["status", "verify", "compare"]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes")


@pytest.fixture
def store(tmp_path):
    return keep(tmp_path / "a", cells(runs=2))


@pytest.fixture
def outside(tmp_path):
    """A folder of somebody else."""
    place = tmp_path / "outside"
    place.mkdir()
    for name in ("thesis.tex", "data.json", "data.parquet", "agent.zip"):
        (place / name).write_text("mine")
    return place


def again(store):
    return Store(store.folder, store.experiment, store.cells, {"specification.toml": b"# new"})


@pytest.mark.parametrize("name", ["cells", "checkpoints", "set_aside"])
def test_a_linked_folder_is_refused_and_nothing_is_moved(store, outside, name):
    place = store.folder / name
    if place.exists():
        place.rename(store.folder.parent / "moved")
    place.symlink_to(outside)
    before = snapshot(store.folder.parent)
    with pytest.raises(ValueError, match=rf"^out is '.*', in which '{name}' is a link, not a folder$"):
        again(store)
    with pytest.raises(ValueError, match="is a link, not a folder"), store.opened():
        pass
    (store.folder / ".lock").unlink()
    assert name in [finding.file for finding in verify(store.folder).findings]
    if name != "set_aside":
        with pytest.raises(ValueError, match=f"'{name}' is a link, not a folder"):
            status(store.folder)
    if name == "cells":
        for read in (ao.load, collect):
            with pytest.raises(ValueError, match="'cells' is a link, not a folder"):
                read(store.folder)
    assert snapshot(store.folder.parent) == before


@pytest.mark.parametrize("name", [MARK, ".lock", "specification.toml"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device"])
def test_a_file_of_ours_that_is_no_file_is_refused(store, outside, name, kind):
    place = store.folder / name
    place.unlink(missing_ok=True)
    if kind == "link":
        place.symlink_to(outside / "thesis.tex")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    before = snapshot(store.folder.parent)
    words = {"pipe": "a pipe, a socket or a device", "folder": "a folder"}.get(kind, "a link")
    with in_time("Store"), pytest.raises(ValueError, match=f"in which '{name}' is {words}, not a file"):
        again(store)
    with in_time("lock"), pytest.raises(ValueError, match="not a file"), files.locked(store.folder, "out"):
        complete(again(store), InProcess())
    for read in (status, ao.load, collect, verify):
        with in_time(read.__name__):
            read(store.folder)
    (store.folder / ".lock").unlink(missing_ok=True) if name != ".lock" else None
    assert snapshot(store.folder.parent) == before


def test_a_lock_that_would_empty_another_file_is_refused(store, outside):
    lock = store.folder / ".lock"
    os.link(outside / "thesis.tex", lock)
    with pytest.raises(ValueError, match=r"'.lock' is not a lock of aomultirl; move it"), store.opened():
        pass
    lock.unlink()
    lock.write_text("of another program")
    with pytest.raises(ValueError, match=r"'.lock' is not a lock of aomultirl; move it"), store.opened():
        pass
    assert lock.read_text() == "of another program"
    assert (outside / "thesis.tex").read_text() == "mine"
    lock.write_text("process 99 on somewhere")  # left by one that was killed
    with store.opened():
        assert str(os.getpid()) in lock.read_text()


@pytest.mark.parametrize("text", ["", "process 99 on somewhere"])
def test_a_lock_that_a_copy_of_hard_links_shares_is_replaced(store, outside, text):
    """The attack: ``cp -al results backup``, and then a run in either."""
    lock, other = store.folder / ".lock", outside / "lock"
    other.write_text(text)
    lock.unlink(missing_ok=True)
    os.link(other, lock)
    with store.opened():
        assert str(os.getpid()) in lock.read_text()
        assert other.read_text() == text
        with pytest.raises(ValueError, match=f"process {os.getpid()} on .* is at work"), again(store).opened():
            pass
    assert lock.stat().st_nlink == other.stat().st_nlink == 1


def test_a_lock_that_was_replaced_after_it_was_opened_is_opened_anew(store, outside, monkeypatch):
    lock, taken, opened = store.folder / ".lock", [], files._lock

    def slow(*arguments):
        file = opened(*arguments)
        if not taken:  # another process is quicker, and replaces it
            taken.append(lock.stat().st_ino)
            lock.rename(outside / "lock")
            lock.touch()
        return file

    monkeypatch.setattr(files, "_lock", slow)
    with store.opened():
        assert str(os.getpid()) in lock.read_text()
        assert (outside / "lock").read_text() == ""
    assert lock.stat().st_ino != taken[0]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "zero", "nowhere"])
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_what_is_no_file_in_place_of_one_is_set_aside_and_computed_anew(store, outside, kind, suffix):
    before = results(store.folder)
    place = store.folder / "cells" / f"{store.cells[0].name}{suffix}"
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to({"link": outside / f"data{suffix}", "zero": "/dev/zero", "nowhere": "nowhere"}[kind])
    begin = time.monotonic()
    assert status(store.folder).damaged == [f"{store.cells[0].name}.json"]
    assert [finding.file for finding in verify(store.folder).findings] == [f"cells/{place.name}"]
    with pytest.warns(UserWarning, match="1 cell is damaged"):
        ao.load(store.folder)
    outcome = complete(again(store), InProcess())
    assert time.monotonic() - begin < 5.0
    assert place.name in [path.name for path in outcome.set_aside]
    assert results(store.folder) == before
    assert (outside / f"data{suffix}").read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "zero"])
@pytest.mark.parametrize("done", [True, False])
def test_a_checkpoint_that_is_no_file_is_neither_read_nor_written_through(store, outside, kind, done):
    before, cell = results(store.folder), store.cells[0]
    place = store.folder / "checkpoints" / f"{cell.name}.zip"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(outside / "agent.zip" if kind == "link" else "/dev/zero")
    if not done:
        store.manifest(cell).unlink()
    assert [finding.file for finding in verify(store.folder).findings] == [f"checkpoints/{place.name}"]
    with in_time("complete"):
        complete(again(store), InProcess(), every=0.0)
    assert results(store.folder) == before
    assert not os.path.lexists(place)
    assert (outside / "agent.zip").read_text() == "mine"


def test_a_file_that_claims_a_terabyte_is_not_read(store):
    for path in (store.manifest(store.cells[0]), store.history(store.cells[1])):
        os.truncate(path, 2**40)
    with in_time("status"):
        assert status(store.folder).done == 3
    found = verify(store.folder).findings
    assert len(found) == 2
    assert all(
        finding.words.startswith("has 1,099,511,627,776 bytes, and such a file has at most") for finding in found
    )


def test_names_of_cells_do_not_lead_out_of_the_folder(store, outside):
    told = json.loads((store.folder / MARK).read_text())
    for name in ("../../outside/data", "/etc/passwd", "..", "0" * 19, "0" * 20 + "\n", 7, None):
        (store.folder / MARK).write_text(json.dumps({**told, "cells": [*told["cells"], name]}))
        for read in (status, ao.load, again):
            with pytest.raises(ValueError, match=r"does not describe an experiment of aomultirl: cells\.4 is"):
                read(store if read is again else store.folder)
        assert [finding.file for finding in verify(store.folder).findings] == [MARK]


def test_the_folder_that_the_user_names_may_be_a_link(store, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(store.folder)
    assert status(link).done == 4
    assert len(ao.load(link)) == 16
    assert not verify(link).findings
    assert complete(Store(link, store.experiment, store.cells), InProcess()).found == 4


def test_a_page_is_not_written_over_a_link_or_a_pipe(store, outside, capfd):
    page = store.folder / "report.html"
    for make in (lambda: page.symlink_to(outside / "thesis.tex"), lambda: os.mkfifo(page)):
        make()
        with in_time("report"):
            assert run(["report", str(store.folder)]) == 2
        assert capfd.readouterr().err.count("\n") == 1
        page.unlink()
    assert (outside / "thesis.tex").read_text() == "mine"


def test_the_commands_do_not_wait_for_a_pipe(store):
    """The commands in a fresh process, in a folder in which everything that can be is a pipe."""
    os.remove(store.manifest(store.cells[0]))
    os.mkfifo(store.manifest(store.cells[0]))
    os.mkfifo(store.folder / ".lock")
    os.mkfifo(store.folder / "cells" / f".x.json.{2**22 + 1}.partial")
    code = f"from aomultirl.cli import run; print([run([word, {str(store.folder)!r}]) for word in {COMMANDS!r}])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert told.stdout.splitlines()[-1] == "[0, 1, 0]", told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("name", ["summary.json", "episodes.parquet", "figure.svg", "cells"])
def test_a_reproduction_does_not_write_through_links(tmp_path, outside, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(outside if name == "cells" else outside / "thesis.tex")
    with pytest.raises(ValueError, match=f"'{name}' is a link, not a f"):
        reproduction.check(PaperExperiment(1, 2), tmp_path / "out")
    assert (outside / "thesis.tex").read_text() == "mine"

"""kill -9 of the driver, at any moment: what was finished is kept, and in the end the bytes are those of a quiet run.

The moment of every kill is recorded: how long the process had run, how many cells were done, and whether a file was
just being written.
"""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from aomultirl import cli
from aomultirl.experiments.completion import complete
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.specification import read_specification
from aomultirl.experiments.store import Store
from sweeps import command, results


class Kill(NamedTuple):
    """A kill: seconds since the start, cells that were done then, of them new, and files that were half written."""

    seconds: float
    done: int
    new: int
    half_written: int

    @property
    def moment(self):
        if self.half_written:
            return "while a file was written"
        return "between two cells" if self.new else "before the first cell was done"


def manifests(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("cells/*.json")}


def killed(folder, runs, workers, new, seconds):
    """Start the command and kill it so many seconds after ``new`` more cells are done; 0: after it began to work."""
    kept = manifests(folder)
    line = command(folder, "--workers", str(workers), "--checkpoint", "0.05", runs=runs)
    begin = time.monotonic()
    process = subprocess.Popen(line, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while process.poll() is None and not (
            len(manifests(folder)) >= len(kept) + new if new else at_work(folder, process.pid)
        ):
            time.sleep(0.01)
        time.sleep(seconds)
        left = children(process.pid)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was over before it could be killed"
        while any(Path(f"/proc/{child}").exists() for child in left):  # they end, and may write until then
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    lasted, found = time.monotonic() - begin, manifests(folder)
    assert {name: found.get(name) for name in kept} == kept  # what was finished is not touched again
    return Kill(lasted, len(found), len(found) - len(kept), len(list(folder.rglob("*.partial"))))


def children(process):
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it is over
        return []


def at_work(folder, process):
    try:
        return f"process {process} " in (folder / ".lock").read_text()
    except OSError:
        return False


def kill(folder, capfd, times, runs, most_new, most_workers=2):
    """Kill it ``times`` times after up to ``most_new`` more cells, run it to the end, and compare with a quiet run."""
    moments = random.Random(times)
    kills = [
        killed(folder, runs, 1 + number % most_workers, moments.randint(0, most_new), 0.2 * moments.random())
        for number in range(times)
    ]
    capfd.readouterr()
    line = command(folder, runs=runs)
    assert cli.run(line[line.index("run") :]) == 0
    last = " ".join(capfd.readouterr().err.split())
    assert "set aside" not in last
    assert f"{4 * runs:,} of {4 * runs:,} cells" in last
    assert not list(folder.rglob("*.partial"))
    assert not list((folder / "checkpoints").iterdir())
    told = read_specification(folder.parent / "small.toml")
    quiet = folder.parent / "quiet"
    assert not complete(Store(quiet, told.identity(), told.cells()), InProcess()).failed
    assert results(folder) == results(quiet)
    return kills


@pytest.mark.parametrize("most_workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_killed_twice_it_ends_with_the_same_bytes(tmp_path, capfd, most_workers):
    assert len(kill(tmp_path / "out", capfd, 2, 5, most_new=2, most_workers=most_workers)) == 2


def test_processes_deep_in_a_kernel_end_with_a_driver_that_is_killed(tmp_path):
    (tmp_path / "endless.toml").write_text(
        """
        episodes = 2
        runs = 2
        worlds = [{name = "gridworld"}]
        agents = [{name = "Random", horizon = 1_000_000_000_000}]
        """
    )
    line = [sys.executable, "-m", "aomultirl", "run", str(tmp_path / "endless.toml"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*line, "--workers", "2"], stderr=subprocess.PIPE, text=True)
    while "to compute" not in process.stderr.readline():
        pass
    workers = []
    while sum(worker.cpu_times().user > 1.0 for worker in workers) < 2:  # they have begun, and never end by themselves
        time.sleep(0.05)
        workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert psutil.wait_procs(workers, timeout=5.0)[1] == []


@pytest.mark.long
def test_killed_a_hundred_times_it_ends_with_the_same_bytes(tmp_path, capfd):
    kills = kill(tmp_path / "out", capfd, 100, 300, most_new=5)
    counts = {moment: sum(one.moment == moment for one in kills) for moment in sorted({one.moment for one in kills})}
    for number, one in enumerate(kills, 1):
        print(f"kill {number}: after {one.seconds:.3f} s, {one.done} cells done, {one.moment}")  # noqa: T201
    print(counts)  # noqa: T201
    assert len(kills) == 100
    assert counts["before the first cell was done"] >= 10
    assert counts["between two cells"] >= 10
    assert kills[-1].done > kills[0].done

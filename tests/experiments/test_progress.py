"""How far an experiment is, shown live or line by line."""

import io
import re
import time

import pytest
from rich.console import Console
from rich.live import Live

from aomultirl.engine.compiling import compiled_so_far
from aomultirl.experiments import progress
from aomultirl.experiments.computation import Computed, failed, lost
from aomultirl.experiments.executors import LocalProcesses
from sweeps import experiment


@pytest.fixture
def cells():
    return experiment(runs=6)[1]


def done(cell, seconds=0.0, compiling=0.0):
    return Computed(cell, b"", {"state": "done", "wall_seconds": seconds, "compiling_seconds": compiling})


def test_lines_where_there_is_no_terminal(cells, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    file = io.StringIO()
    with progress.table(file) as observer:
        observer.begin(cells, cells[1:], LocalProcesses(2))
        observer.finished(done(cells[1]))
        observer.finished(lost(cells[2], "the process was killed"))
        for cell in cells[3:]:
            observer.finished(done(cell))
    first, second, third, *_ = file.getvalue().splitlines()
    assert first == "6 cells, 1 of them done before, 5 to compute"
    assert second == "2 of 6 cells done, 2 running, 0 failed, about 0 s left"
    assert third == "failed: Random in gridworld, run 2: the process was killed"
    assert file.getvalue().splitlines()[-1] == "4 of 6 cells done, 1 running, 1 failed, about 0 s left"


def test_the_time_left_does_not_count_compiling(cells):
    tally = progress.SweepTally()
    tally.begin(cells, cells, LocalProcesses(2))
    assert tally.remaining() == "?"
    tally.finished(lost(cells[0], "the process was killed"))
    assert tally.remaining() == "?"
    tally.finished(done(cells[1], 104.0, 100.0))
    assert tally.remaining() == "8 s"  # four cells of 4 s on two processes
    tally.finished(done(cells[2], 6.0))
    assert tally.remaining() == "8 s"  # three of 5 s


def test_the_clock_of_a_bar_stands_still_while_something_is_compiled(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    shown = []
    monkeypatch.setattr("rich.progress.Progress.__init__", lambda self, *_, get_time, **__: shown.append(get_time))
    for method in ("__enter__", "__exit__", "add_task"):
        monkeypatch.setattr(f"rich.progress.Progress.{method}", lambda self, *_, **__: self)
    with progress.bar("runs", terminal):
        (clock,) = shown
        with compiled_so_far().running():
            begin = clock()
            time.sleep(0.02)
            assert clock() - begin < 0.01
        time.sleep(0.02)
        assert clock() - begin > 0.015


def test_a_bar_of_jobs_that_are_unlike_says_how_long_they_take_so_far(monkeypatch):
    """A second for two jobs says nothing of five that compile for a minute each: no time left is shown."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    for estimate, wanted in ((True, " 2/7 0:00:05"), (False, " 2/7 0:00:32")):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        with progress.bar("jobs", terminal, estimate=estimate) as done:
            done(0, 7)
            now[0] += 1.0
            done(1, 7)
            now[0] += 1.0
            done(2, 7)
            now[0] += 30.0
        assert wanted in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


def test_nothing_to_do_says_nothing(cells):
    file = io.StringIO()
    with progress.table(file) as observer:
        observer.begin(cells, [], LocalProcesses(2))
    assert file.getvalue() == ""


def test_a_live_table_in_a_terminal(cells):
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with Live(console=console, auto_refresh=False) as live:
        observer = progress.TableOfSweep(live)
        observer.begin(cells, cells[1:], LocalProcesses(2))
        observer.finished(done(cells[1]))
        observer.finished(Computed(cells[2], b"", failed("x")))
        shown = Console(file=io.StringIO(), width=80)
        shown.print(observer)
    observer.agents = {"mine [/b] x": [1, 0, 1]}
    Console(file=io.StringIO()).print(observer)  # a label is no markup
    header, row, total = shown.file.getvalue().splitlines()
    assert header.split() == ["agent", "done", "running", "failed", "cells", "left"]
    assert row.split() == ["Random", "2", "1", "6"]
    assert total.split()[:5] == ["all", "2", "2", "1", "6"]


def test_a_bar_counts_in_lines_or_says_nothing(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    for options, lines in (({}, ["1 of 3 runs", "2 of 3 runs"]), ({"lines": False}, []), ({"wanted": False}, [])):
        file = io.StringIO()
        with progress.bar("runs", file, **options) as done:
            for now in (1, 2, 3):
                done(now, 3)
        assert file.getvalue().splitlines() == lines

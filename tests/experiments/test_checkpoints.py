import errno
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

import aomultirl as ao
from aomultirl import files
from aomultirl.agents import saving
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.checkpoints import finish
from aomultirl.experiments.runner import SimulatedRun

CELL = Cell(
    {"name": "gridworld", "parameters": {"edges": "stay"}},
    {"name": "paper", "parameters": {}},
    {"name": "Recall", "parameters": {"failure": 0.1, "horizon": 100}},
    episodes=10,
    seed=1,
    number=0,
    label="recall",
)


class PulledOut(BaseException):
    """Ends a run between two lines, as a signal does."""


@pytest.fixture
def steps(monkeypatch):
    """Counts the episodes that are run; ``steps.most`` ends the run before the next one."""
    step = SimulatedRun.step

    class Steps:
        taken, most = 0, 10**9

    def counted(course):
        if Steps.taken == Steps.most:
            raise PulledOut
        Steps.taken += 1
        step(course)

    monkeypatch.setattr(SimulatedRun, "step", counted)
    return Steps


def interrupted(cell, path, steps, after, every=0.0, **options):
    """Run a cell until it is ended after so many episodes."""
    steps.most = steps.taken + after
    with pytest.raises(PulledOut):
        cell.run(path, every, **options)
    steps.most = 10**9


@pytest.fixture(scope="module")
def whole():
    return CELL.run()


def test_an_interrupted_cell_goes_on_from_its_checkpoint(tmp_path, steps, whole):
    path, notes = tmp_path / "folder" / "cell.zip", []
    interrupted(CELL, path, steps, 3, notes=notes)
    assert ao.load_agent(path).completed == 3
    interrupted(CELL, path, steps, 4, notes=notes)
    assert ao.load_agent(path).completed == 7
    history = CELL.run(path, 0.0, notes)
    assert steps.taken == 10  # none of them twice
    assert history == whole
    history.write(tmp_path / "a.parquet")
    whole.write(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert [file.name for file in path.parent.iterdir()] == ["cell.zip"]
    assert notes == []


def test_the_checkpoint_of_a_finished_cell_gives_its_history_without_running_anything(tmp_path, steps, whole):
    CELL.run(tmp_path / "cell.zip", 0.0)
    assert CELL.run(tmp_path / "cell.zip", 0.0) == whole
    assert steps.taken == 10


def test_checkpoints_are_as_far_apart_as_is_asked(tmp_path, monkeypatch, steps):
    now, written = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(files, "write_whole", lambda path, content: written.append(now[0]))
    counted = SimulatedRun.step
    monkeypatch.setattr(SimulatedRun, "step", lambda course: (counted(course), now.__setitem__(0, now[0] + 25.0)))
    CELL.run(tmp_path / "cell.zip")
    assert written == [75.0, 150.0, 225.0]  # 60 s, at the end of an episode of 25 s
    CELL.run(tmp_path / "cell.zip", every=1000.0)
    CELL.run()
    assert len(written) == 3


def test_a_damaged_checkpoint_is_set_aside_and_the_cell_begins_anew(tmp_path, steps, whole):
    path, notes = tmp_path / "cell.zip", []
    interrupted(CELL, path, steps, 4)
    good = path.read_bytes()
    for content, words in ((good[:-9], "damaged"), (b"", "not a zip archive")):
        path.write_bytes(content)
        steps.taken = 0
        assert CELL.run(path, 1000.0, notes) == whole
        assert steps.taken == 10
        assert "cannot be used and was set aside as 'cell.zip.damaged" in notes[-1]
        assert words in notes[-1]
    assert (tmp_path / "cell.zip.damaged1").read_bytes() == good[:-9]
    assert (tmp_path / "cell.zip.damaged2").read_bytes() == b""
    assert not path.exists()


def test_the_checkpoint_of_another_run_is_set_aside(tmp_path, steps, whole, monkeypatch):
    path = tmp_path / "cell.zip"
    others = {
        "its seed is": Cell(**{**vars(CELL), "number": 1}),
        "not of Recall": Cell(**{**vars(CELL), "agent": {"name": "Random", "parameters": {"horizon": 5}}}),
        "horizon=50": Cell(
            **{**vars(CELL), "agent": {"name": "Recall", "parameters": {"failure": 0.1, "horizon": 50}}}
        ),
        "its world.edges is": Cell(**{**vars(CELL), "world": {"name": "gridworld", "parameters": {}}}),
        r"its recorded is ['regret']": Cell(**{**vars(CELL), "record": ("regret",)}),
    }
    for words, other in others.items():
        notes = []
        interrupted(other, path, steps, 2)
        assert CELL.run(path, 1000.0, notes) == whole
        assert words in notes[0]
    interrupted(CELL, path, steps, 2)
    monkeypatch.setattr("aomultirl.experiments.checkpoints.source", lambda modules: "edited")
    notes = []
    CELL.run(path, 1000.0, notes)
    assert "other code began it" in notes[0]
    ao.save(ao.agents.Random(5), path)
    CELL.run(path, 1000.0, notes)
    assert len(list(tmp_path.iterdir())) == 7


def test_rows_that_somebody_changed_are_not_gone_on_with(tmp_path, steps, whole):
    path = tmp_path / "cell.zip"
    interrupted(CELL, path, steps, 4)
    agent, beside = saving.from_bytes(path.read_bytes())
    columns = beside["columns"]
    for wrong in (
        {**beside, "columns": {**columns, "task": columns["task"] + 1}},
        {**beside, "columns": {**columns, "value": [1, 2, 3, 4]}},
        {**beside, "columns": {name: column[:3] for name, column in columns.items()}},
        {**beside, "columns": 3},
        {},
    ):
        path.write_bytes(saving.to_bytes(agent, wrong))
        notes = []
        assert CELL.run(path, 1000.0, notes) == whole
        assert len(notes) == 1


def test_a_full_disk_does_not_end_the_run(tmp_path, monkeypatch, whole):
    path, notes = tmp_path / "cell.zip", []
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) in (3, 4, 5):
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert CELL.run(path, 0.0, notes) == whole
    assert len(calls) == 7 * 2 + 3  # ten checkpoints: the file and its folder, or the file alone where that failed
    assert len(notes) == 1
    assert "cannot be written: [Errno 28] No space left on device" in notes[0]
    assert [file.name for file in tmp_path.iterdir()] == ["cell.zip"]
    assert ao.load_agent(path).completed == 10


def test_a_place_that_cannot_be_written_or_read_is_noted(tmp_path, whole):
    (tmp_path / "file").write_text("mine")
    notes = []
    assert CELL.run(tmp_path / "file" / "cell.zip", 0.0, notes) == whole
    assert len(notes) == 2
    assert "cannot be read" in notes[0]
    assert "cannot be written" in notes[1]
    (tmp_path / "folder").mkdir()
    assert CELL.run(tmp_path / "folder", 1000.0, notes) == whole
    assert (tmp_path / "file").read_text() == "mine"


def test_an_agent_that_cannot_be_saved_runs_without_checkpoints(tmp_path):
    class Silent(ao.agents.Agent):
        def episode(self, start, stream, task=None):
            return (yield from ao.agents.Random.episode(self, start, stream, task))

        horizon = 5

    notes, kind = [], (ao.worlds.gridworld(), ao.streams.uniform(), 4)
    history = finish(SimulatedRun(Silent(), *kind), tmp_path / "cell.zip", 0.0, notes)
    assert history == ao.run(Silent(), *kind)
    assert notes == [
        f"the checkpoint {str(tmp_path / 'cell.zip')!r} cannot be written: "
        "Silent cannot be saved: it does not say what it remembers, see Agent.keeps"
    ]
    with pytest.raises(ValueError, match="every must be at least 0, not -1"):
        finish(SimulatedRun(Silent(), *kind), None, -1)


LONG = Cell(
    {"name": "gridworld", "parameters": {"edges": "stay"}},
    {"name": "uniform", "parameters": {}},
    {
        "name": "AOMultiRL",
        "parameters": {
            "models": 4,
            "separation": 1.299999,
            "hitting_time": 7,
            "failure": 0.03,
            "distinguishing_set": [[1, 0], [8, 3], [2, 1]],
            "constants": "released",
            "learning_horizon": 200,
        },
    },
    episodes=100,
    seed=1,
    number=0,
    label="long",
)
CHILD = """
import json, sys, time
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.runner import SimulatedRun

step, log = SimulatedRun.step, open(sys.argv[2], "w", buffering=1)

def logged(course):
    step(course)
    log.write(f"{time.monotonic()}\\n")

SimulatedRun.step = logged
Cell(**json.loads(sys.argv[3])).run(sys.argv[1], float(sys.argv[4]))
"""


def test_a_killed_cell_loses_no_more_than_the_interval(tmp_path, steps):
    path, log, every = tmp_path / "cell.zip", tmp_path / "log", 0.1
    command = [sys.executable, "-c", CHILD, str(path), str(log), json.dumps(LONG.specification()), str(every)]
    process = subprocess.Popen(command)
    while not (path.exists() and len(log.read_text().splitlines()) > 40):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    times = [float(line) for line in log.read_text().splitlines()]
    kept = ao.load_agent(path).completed
    slowest = max(after - before for before, after in pairwise(times))
    assert times[-1] - times[kept - 1] <= every + 2 * slowest  # checkpoints fall between episodes
    history = LONG.run(path, 1000.0, notes := [])
    assert notes == []
    assert steps.taken == 100 - kept < 100
    assert history == LONG.run()

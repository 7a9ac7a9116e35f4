"""Ctrl-C and TERM, sent to commands that are deep in a computation: they end at once, in one line, with 130 or 143."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

SOON = 2.0
"""Seconds from the signal to the end; half a second of them is what Python takes to end, on a busy machine."""
WAYS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
SPECIFICATION = """
episodes = 3
runs = 2

[[worlds]]
name = "gridworld"

[[agents]]
name = "{agent}"
horizon = 1_000_000_000_000
{more}
"""
RANDOM = {"agent": "Random", "more": ""}
RECALL = {"agent": "Recall", "more": "failure = 0.03"}


COMMAND = """
import aomultirl.cli
from aomultirl.__main__ import main
print("ready", flush=True)
main()
"""


def start(folder, words):
    """The command in a session of its own, as a terminal would have it, when Python has imported it."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", COMMAND, *words]
    process = subprocess.Popen(command, cwd=folder, stderr=pipe, stdout=pipe, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process, way, *, everybody=False):
    """What it said on standard error after the signal."""
    assert process.poll() is None, f"it ended before it could be interrupted: {process.communicate()}"
    begin = time.monotonic()
    if everybody:
        os.killpg(process.pid, way)
    else:
        process.send_signal(way)
    try:
        _, words = process.communicate(timeout=20)
    finally:
        process.kill()
    assert time.monotonic() - begin < SOON
    assert process.returncode == WAYS[way][0], words
    assert "Traceback" not in words
    assert "Exception ignored" not in words
    assert session(process.pid) == []
    return words.splitlines()[-1]


def computing(process):
    """Wait until ``run`` or ``reproduce`` has said that it begins, and is in its first kernels."""
    for line in process.stderr:
        if "to compute" in line:
            break
    time.sleep(1.5)


def specification(folder, agent):
    path = folder / "endless.toml"
    path.write_text(SPECIFICATION.format(**agent))
    return str(path)


def half_written(folder):
    return [path for path in Path(folder).rglob("*") if path.name.endswith(".partial") or ".tmp." in path.name]


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("agent", "way", "workers"),
    [
        (RECALL, signal.SIGTERM, "1"),
        (RANDOM, signal.SIGINT, "2"),
        pytest.param(RANDOM, signal.SIGINT, "1", marks=LONG),
        pytest.param(RANDOM, signal.SIGTERM, "1", marks=LONG),
        pytest.param(RECALL, signal.SIGINT, "1", marks=LONG),
        pytest.param(RANDOM, signal.SIGTERM, "2", marks=LONG),
    ],
)
def test_an_endless_run(tmp_path, agent, way, workers):
    process = start(tmp_path, ["run", specification(tmp_path, agent), "--out", "out", "--workers", workers])
    computing(process)
    assert ended(process, way) == f"aomultirl: {WAYS[way][1]}; what was finished is kept"
    assert half_written(tmp_path) == []


@pytest.mark.parametrize("moment", [0.3, pytest.param(0.0, marks=LONG), pytest.param(0.1, marks=LONG)])
@pytest.mark.parametrize(
    ("first", "second"),
    [(signal.SIGINT, signal.SIGTERM), pytest.param(signal.SIGTERM, signal.SIGINT, marks=LONG)],
)
def test_several_signals_while_processes_start(tmp_path, first, second, moment):
    """What libraries raise when they are interrupted in the middle of something is not taken for bad input."""
    process = start(tmp_path, ["run", specification(tmp_path, RANDOM), "--out", "out", "--workers", "2"])
    for line in process.stderr:
        if "to compute" in line:
            break
    time.sleep(moment)
    process.send_signal(first)
    time.sleep(0.02)
    process.send_signal(second)
    _, words = process.communicate(timeout=20)
    assert process.returncode == WAYS[first][0]
    assert words == f"aomultirl: {WAYS[first][1]}; what was finished is kept\n"
    assert session(process.pid) == []


def session(leader):
    """Processes that are left of a session, a moment later."""
    end = time.monotonic() + 2.0
    while time.monotonic() < end and _members(leader):
        time.sleep(0.05)
    return _members(leader)


def _members(leader):
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError):
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


@LONG
@pytest.mark.parametrize("way", WAYS)
def test_a_signal_for_everybody_as_a_terminal_sends_it(tmp_path, way):
    """The processes that share the work get it too, and are silent about it."""
    process = start(tmp_path, ["run", specification(tmp_path, RECALL), "--out", "out", "--workers", "2"])
    computing(process)
    assert ended(process, way, everybody=True) == f"aomultirl: {WAYS[way][1]}; what was finished is kept"
    assert half_written(tmp_path) == []


@LONG
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", [0.0, 0.7, 3.0])
def test_reproducing_with_the_constants_of_the_paper(tmp_path, way, moment):
    process = start(tmp_path, ["reproduce", "--constants", "paper", "--out", "out"])
    computing(process)
    time.sleep(moment)
    assert ended(process, way) == f"aomultirl: {WAYS[way][1]}; what was finished is kept"
    assert half_written(tmp_path) == []


COMMANDS = {
    "bench": ["bench"],
    "watch": ["watch", "random_models", "states=3000", "--agent", "recall", "--episode", "2000", "--gif", "a.gif"],
    "inspect": ["inspect", "random_models", "states=1500", "models=12", "--slow"],
    "inspect a huge world": ["inspect", "random_models", "states=200000", "models=6"],
    "lower bounds": ["lower-bounds", "--quick", "--workers", "1", "--out", "out"],
    "compare": ["compare", "--suite", "identify", "--runs", "50"],
}


@LONG
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", [1.0, 3.0])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_other_long_command(tmp_path, name, moment, way):
    process = start(tmp_path, COMMANDS[name])
    time.sleep(moment)
    assert ended(process, way).endswith(f"aomultirl: {WAYS[way][1]}")
    assert half_written(tmp_path) == []
    assert not (tmp_path / "out").exists()


@LONG
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", [0.5, 1.5, 2.5, 4.0])
def test_while_everything_is_compiled(tmp_path, monkeypatch, way, moment):
    """Neither lost, nor left half written: the next process finds whole files only.

    A signal that comes while LLVM is at work waits for it, some seconds on a busy machine.
    """
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(f"{__name__}.SOON", 8.0)
    process = start(tmp_path, ["run", specification(tmp_path, RANDOM), "--out", "out"])
    for line in process.stderr:
        if "to compute" in line:
            break
    time.sleep(moment)
    assert ended(process, way) == f"aomultirl: {WAYS[way][1]}; what was finished is kept"
    assert half_written(tmp_path) == []
    check = "import aomultirl as ao; ao.run(ao.agents.Random(9), ao.worlds.gridworld(), ao.streams.uniform(), 2)"
    again = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert again.stderr == ""

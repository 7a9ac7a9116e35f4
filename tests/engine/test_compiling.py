"""Kernels are kept on disk, for all processes; an edit anywhere in compiled code makes all of them compile anew."""

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest
from numba.core.errors import TypingError

import aomultirl
from aomultirl.engine import compiling_turns
from aomultirl.engine.compiling import callee, kernel

CODE = """
import aomultirl as ao
from aomultirl.engine import compiling, random
value = random.draw_below(1_000_000, random.streams(0, 1)[0])
stats = random.draw_below.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), value, compiling.compiled_so_far().kernels)
"""
"""The kernel that has the least to compile."""


def run(folder, said=0, quiet="0"):
    """What the cache has hit and missed, and the value; ``said`` lines are on standard error."""
    environment = {"PYTHONPATH": ".", "AOMULTIRL_QUIET": quiet}
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=folder, env=environment
    )
    assert done.stderr.count("aomultirl: compiling, once, 10 s to 2 minutes") == done.stderr.count("\n") == said
    hits, misses, value, kernels = done.stdout.split()
    assert int(kernels) >= int(misses)
    assert (int(kernels) > 0) == (int(misses) > 0)
    return int(hits), int(misses), float(value)


def test_cache_is_used_and_follows_edits_in_other_files(tmp_path):
    """What is compiled is announced, in one line, unless nobody wants to know."""
    source = Path(aomultirl.__file__).parent
    copy = tmp_path / "aomultirl"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.nbi", "*.nbc", "*.turn"))  # bytecode saves time
    hits, misses, value = run(tmp_path, said=1)
    assert (hits, misses) == (0, 1)
    (copy / "worlds" / "gridworld.py").write_text((source / "worlds" / "gridworld.py").read_text() + "\n# edited\n")
    assert run(tmp_path) == (1, 0, value)
    counts = copy / "engine" / "counts.py"
    counts.write_text(counts.read_text() + "\n# edited\n")
    assert run(tmp_path, quiet="1") == (0, 1, value)


MODULE = """
import numpy as np
from aomultirl.engine.compiling import kernel

@kernel
def slow_to_compile(x):
    return np.sum(x)
"""
BOTH = """
import sys, time
from pathlib import Path
import numpy as np
import shared
Path(sys.argv[1]).touch()
while not Path(sys.argv[2]).exists():
    time.sleep(0.001)
shared.slow_to_compile(np.arange(5.0))
stats = shared.slow_to_compile.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_of_two_processes_only_one_compiles(tmp_path):
    (tmp_path / "shared.py").write_text(MODULE)
    ways = [("a", "b"), ("b", "a")]
    both = [
        subprocess.Popen([sys.executable, "-c", BOTH, *way], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for way in ways
    ]
    told = sorted(process.communicate(timeout=120)[0].split() for process in both)
    assert told == [["0", "1"], ["1", "0"]]


def test_nobody_waits_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling_turns, "PATIENCE", 0.1)
    first, second = (compiling_turns.Turn(tmp_path / "f.turn") for _ in range(2))
    first.take()
    begin = time.monotonic()
    second.take()
    assert 0.1 <= time.monotonic() - begin < 5
    first.give_back()
    second.give_back()
    begin = time.monotonic()
    second.take()
    assert time.monotonic() - begin < 0.1
    second.give_back()


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_a_turn_is_neither_taken_through_a_link_nor_waited_for(tmp_path, kind):
    path, other = tmp_path / "f.turn", tmp_path / "other.txt"
    other.write_text("mine")
    match kind:
        case "link":
            path.symlink_to(other)
        case "dangling link":
            path.symlink_to(tmp_path / "nothing")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
    turn = compiling_turns.Turn(path)
    begin = time.monotonic()
    turn.take()
    turn.give_back()
    assert time.monotonic() - begin < 1
    assert other.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_after_an_error_the_turn_to_compile_is_given_back(tmp_path):
    """Whoever catches it goes on for hours, and nobody else shall wait for that."""
    (tmp_path / "untypable.py").write_text(
        "from aomultirl.engine.compiling import kernel\n\n@kernel\ndef untypable(x):\n    return x + 'word'\n"
    )
    specification = importlib.util.spec_from_file_location("untypable", tmp_path / "untypable.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    with pytest.raises(TypingError):
        module.untypable(1)
    (path,) = tmp_path.rglob("*.turn")
    other = compiling_turns.Turn(path)
    begin = time.monotonic()
    other.take()
    assert time.monotonic() - begin < 1
    other.give_back()


@callee
def _scaled(number, factor):
    return number * factor


@kernel
def _scaled_by_constants(number):
    return _scaled(number, 2) + _scaled(number, 3) + _scaled(number, number)


def test_one_signature_serves_all_constants_and_garbage_is_collected_again():
    anew = numba.njit(_scaled_by_constants.py_func)  # never from disk, so that it asks for what it calls
    assert anew(7) == _scaled_by_constants(7) == 14 + 21 + 49
    assert [str(types) for types in _scaled.signatures] == ["(int64, int64)"]
    assert gc.isenabled()


def test_what_kernels_alone_call_refuses_python():
    assert _scaled_by_constants(7) == 84
    for _ in range(2):
        with pytest.raises(TypeError, match="_scaled is called by kernels only"):
            _scaled(7, 2)

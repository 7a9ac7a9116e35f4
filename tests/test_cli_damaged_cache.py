"""A command on a compile cache of which every file is damaged: the right answer, and one line about it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import aomultirl

DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
}


@pytest.mark.long
def test_a_command_on_a_damaged_compile_cache(tmp_path):
    shutil.copytree(Path(aomultirl.__file__).parent, tmp_path / "aomultirl", ignore=shutil.ignore_patterns("*.nb[ic]"))
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}

    def inspect():
        command = [sys.executable, "-m", "aomultirl", "inspect", "gridworld"]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={**environment, "PYTHONPATH": str(tmp_path), "AOMULTIRL_QUIET": "1"},
        )
        return done.stdout, done.stderr

    right = inspect()
    assert right[1] == ""
    for damage in DAMAGES.values():
        paths = list(tmp_path.rglob("*.nb[ic]"))
        assert len(paths) > 10
        for path in paths:
            path.write_bytes(damage(path.read_bytes()))
        out, err = inspect()
        assert out == right[0]
        assert len(err.splitlines()) == 1
        assert err.startswith("aomultirl: the compile cache is damaged: ")
        assert inspect() == right

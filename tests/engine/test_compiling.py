"""Kernels are kept on disk, and an edit anywhere in compiled code makes all of them compile anew."""

import shutil
import subprocess
import sys
from pathlib import Path

import aomultirl

CODE = """
import aomultirl as ao
from aomultirl.engine import planning
world = ao.worlds.gridworld()[0]
value = world.optimal_values(5)[0, 5]
stats = planning._backward_induction.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), value)
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, cwd=folder, env={"PYTHONPATH": "."}
    )
    hits, misses, value = done.stdout.split()
    return int(hits), int(misses), float(value)


def test_cache_is_used_and_follows_edits_in_other_files(tmp_path):
    source = Path(aomultirl.__file__).parent
    copy = tmp_path / "aomultirl"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    hits, misses, value = run(tmp_path)
    assert (hits, misses) == (0, 1)
    assert run(tmp_path) == (1, 0, value)
    counts = copy / "engine" / "counts.py"
    counts.write_text(counts.read_text() + "\n# edited\n")
    assert run(tmp_path) == (0, 1, value)
    (copy / "worlds" / "gridworld.py").write_text((source / "worlds" / "gridworld.py").read_text() + "\n# edited\n")
    assert run(tmp_path) == (1, 0, value)

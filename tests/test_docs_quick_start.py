"""The quick start, done as it says by somebody who has nothing but Python, and how much of the machine that takes."""

import os
import re
import resource
import shlex
import subprocess
import sys

import pytest

from page_blocks import ROOT, commands_of, python_of

PAGE = "docs/quick_start.md"
MOST = 3 * 60.0
"""Seconds of CPU, installing and compiling included."""


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_it_installs_loads_and_goes_on():
    """The commands of the page are those that the long test takes from it, and its blocks are in its order."""
    made, entered, installed = commands_of(PAGE)
    assert made == "python -m venv .venv"
    assert entered == ". .venv/bin/activate"
    assert re.fullmatch(r"pip install '\.\[\w+\]'", installed)
    lakes, met, saved, loaded, watched = (block.code for block in python_of(PAGE))
    assert "gym.make" in lakes
    assert "ao.interact" in met
    assert "ao.save" in saved
    assert "ao.load_agent" in loaded
    assert "belief" in watched


@pytest.mark.long
def test_from_a_clean_environment_to_an_agent_that_goes_on(tmp_path):
    """Needs a package index, as anybody does who installs.  Today and tomorrow are two processes."""
    clean = {
        name: value for name, value in os.environ.items() if not re.match("PYTHON|VIRTUAL_ENV|NUMBA|AOMULTI", name)
    }
    python = str(tmp_path / ".venv" / "bin" / "python")
    began = processor_time()
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=tmp_path, env=clean, check=True)
    words = shlex.split(commands_of(PAGE)[-1])
    subprocess.run([python, "-m", *words, "--quiet"], cwd=ROOT, env=clean, check=True)
    installed = processor_time()
    lakes, met, saved, loaded, watched = python_of(PAGE)
    for day in ((lakes, met, saved), (lakes, loaded, watched)):
        code = "\n".join(block.code for block in day)
        done = subprocess.run(
            [python, "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "".join(block.shown for block in day)
    taken = processor_time() - began
    print(f"{taken:.0f} s of CPU, {installed - began:.0f} of them to install")  # noqa: T201
    assert taken < MOST

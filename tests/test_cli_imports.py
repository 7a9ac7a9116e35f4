"""What only runs an experiment, or looks at how far it is, imports nothing that draws or makes pages."""

import json
import subprocess
import sys

import pytest

DRAWING = ("plotly", "jinja2", "matplotlib", "PIL", "aomultirl.reports.page")
SPECIFICATION = """
episodes = 2
runs = 1

[[worlds]]
name = "gridworld"

[[agents]]
name = "Random"
horizon = 3
"""
CHILD = """
import json, sys
from aomultirl.cli import run
status = run(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(sys.modules)]))
"""


def imported(*words):
    """The modules that a command has imported, in a process of its own."""
    child = [sys.executable, "-c", CHILD, json.dumps(words)]
    last = subprocess.run(child, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    status, modules = json.loads(last)
    assert status == 0
    return set(modules)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("small")
    (place / "small.toml").write_text(SPECIFICATION)
    return place


@pytest.mark.parametrize("words", [("--help",), ("list",), ("run", "--help"), ("bounds",)], ids=" ".join)
def test_commands_without_results_do_not_import_what_draws(words):
    assert not imported(*words) & set(DRAWING)


def test_running_and_looking_after_it_do_not_import_what_draws(folder):
    out = str(folder / "out")
    commands = [("run", str(folder / "small.toml"), "--out", out), ("status", out), ("verify", out)]
    for words in commands:
        modules = imported(*words)
        assert not modules & set(DRAWING), words
        assert "aomultirl.experiments.store" in modules or words[0] != "run"


def test_the_check_can_fail(folder):
    """A report draws."""
    out = str(folder / "drawn")
    imported("run", str(folder / "small.toml"), "--out", out)
    assert {"plotly", "aomultirl.reports.page"} <= imported("report", out)

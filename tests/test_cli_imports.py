"""What only runs an experiment, or looks at how far it is, imports nothing that draws or makes pages."""

import json
import subprocess
import sys

DRAWING = ("plotly", "jinja2", "matplotlib", "PIL", "aomultirl.reports.page")
SPECIFICATION = """
episodes = 2
runs = 2
worlds = [{name = "gridworld", size = 3}]
agents = [{name = "Random", horizon = 3}, {name = "Optimal", horizon = 3}]
"""
CHILD = """
import json, sys
from aomultirl.cli import run
found = []
for words in json.loads(sys.argv[1]):
    status = run(words)
    found.append([status, sorted(sys.modules)])
print()
print(json.dumps(found))
"""


def test_commands_that_draw_nothing_do_not_import_what_draws(tmp_path):
    """All commands in one process, one after the other; a report comes last, and draws, so the check can fail."""
    (tmp_path / "small.toml").write_text(SPECIFICATION)
    out = str(tmp_path / "out")
    commands = [
        ["--help"],
        ["list"],
        ["new"],
        ["new", "quick.toml", "--out", out + "-new"],
        ["run", "--help"],
        ["bounds"],
        ["run", str(tmp_path / "small.toml"), "--out", out],
        ["status", out],
        ["verify", out],
        ["compare", out],
        ["report", out],
    ]
    child = [sys.executable, "-c", CHILD, json.dumps(commands)]
    said = subprocess.run(child, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    *others, report = zip(commands, json.loads(said), strict=True)
    for words, (status, modules) in others:
        assert status == 0, words
        assert not set(modules) & set(DRAWING), words
        if words in (["--help"], ["list"]):
            assert not {"numba", "scipy"} & set(modules)
        assert words[0] != "run" or words[1] == "--help" or "aomultirl.experiments.store" in modules
    assert report[1][0] == 0
    assert {"plotly", "aomultirl.reports.page"} <= set(report[1][1])

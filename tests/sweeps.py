"""Small experiments for the tests of the store, the executors and the command, and what they leave behind."""

import sys

from aomultirl.experiments.specification import specification_of

SMALL = """
name = "small"
episodes = 12
runs = 4
seed = 3

[[worlds]]
name = "gridworld"
edges = ["stay", "third"]

[[agents]]
name = "OneEpisodeUCBVI"
failure = 0.03
horizon = 500

[[agents]]
name = "Recall"
failure = 0.03
horizon = 200
"""


class Told:
    """An observer that remembers."""

    def __init__(self):
        self.calls = []

    def begin(self, cells, missing, executor):
        self.calls.append((len(cells), len(missing)))

    def finished(self, computed):
        self.calls.append(computed.cell.number)


def command(folder, *options, runs=4):
    """The command line of the small experiment, whose results go to ``folder``."""
    specification = folder.parent / "small.toml"
    specification.write_text(SMALL.replace("runs = 4", f"runs = {runs}"))
    return [sys.executable, "-m", "aomultirl", "run", str(specification), "--out", str(folder), *options]


def experiment(runs=3, episodes=6, **agent):
    """Cells of Random or another agent on one grid, and their identity."""
    agent = {"name": "Random", "horizon": 50, **agent}
    told = specification_of(
        {"name": "test", "episodes": episodes, "runs": runs, "worlds": [{"name": "gridworld"}], "agents": [agent]}
    )
    return told.identity(), told.cells()


def results(folder):
    """The bytes of all histories."""
    return {path.name: path.read_bytes() for path in (folder / "cells").glob("*.parquet")}

"""The same bytes on every Python: results and saved agents do not depend on the version that computed them.

The other Pythons are those that ``make test``, ``make test-pythons`` or ``make test-pythons-quick`` made an environment
for, beside the project's sources.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OTHERS = [path for path in sorted(ROOT.glob(".venv*/bin/python")) if path.parent.parent != Path(sys.prefix)]
PROGRAM = """
import hashlib, sys
import pyarrow
import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.experiments.computation import constants
from aomultirl.experiments.specification import specification_of

agents = [
    {"name": "Recall", "failure": 0.03, "horizon": 300},
    {"name": "SequentialAOMultiRL", "failure": 0.03, "horizon": 400},
    {"name": "OneEpisodeUCBVI", "failure": 0.03, "horizon": 200},
    {"name": "UCRL2", "failure": 0.03, "horizon": 200},
    {"name": "AOMultiRL", "failure": 0.03, "hitting_time": 7, "constants": "released", "learning_horizon": 100},
]
told = {"worlds": [{"name": "gridworld"}], "streams": [{"name": "round_robin"}], "agents": agents, "episodes": 6}
for cell in specification_of(told).cells():
    print(cell.label, cell.name, hashlib.sha256(cell.run().to_parquet(constants(cell))).hexdigest())
agent = ao.agents.Recall(0.03, 200)
ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 5)
print("saved", hashlib.sha256(saving.to_bytes(agent)).hexdigest())
print("pyarrow", pyarrow.__version__, file=sys.stderr)
"""


def computed(python):
    """What a Python computes, and the version of pyarrow, which is written into every Parquet file."""
    done = subprocess.run([python, "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.splitlines()[-1]


@pytest.mark.skipif(
    not OTHERS, reason="no environment of another Python is beside the sources: make test-pythons-quick"
)
def test_all_pythons_compute_the_same_bytes():
    mine = computed(sys.executable)
    assert len(mine[0].splitlines()) == 6
    for other in OTHERS:
        theirs = computed(str(other))
        assert theirs[1] == mine[1], "another pyarrow writes other bytes, so nothing can be compared; set it up anew"
        assert theirs[0] == mine[0]

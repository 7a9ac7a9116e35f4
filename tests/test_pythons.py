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

agents = {
    "Recall": {"horizon": 300},
    "OneEpisodeUCBVI": {"horizon": 200},
    "SequentialAOMultiRL": {"horizon": 400},
    "UCRL2": {"horizon": 200},
    "AOMultiRL": {"hitting_time": 7, "constants": "released", "learning_horizon": 100},
}
agents = [{"name": name, "failure": 0.03, **agents[name]} for name in sys.argv[1:]]
told = {"worlds": [{"name": "gridworld"}], "streams": [{"name": "round_robin"}], "agents": agents, "episodes": 6}
for cell in specification_of(told).cells():
    print(cell.label, cell.name, hashlib.sha256(cell.run().to_parquet(constants(cell))).hexdigest())
agent = ao.agents.Recall(0.03, 200)
ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 5)
print("saved", hashlib.sha256(saving.to_bytes(agent)).hexdigest())
print("pyarrow", pyarrow.__version__, file=sys.stderr)
"""


FEW = ["Recall", "AOMultiRL"]
"""The paper's agent, and the one that is also saved: a Python compiles for a minute before it has run them all."""
ALL = ["Recall", "OneEpisodeUCBVI", "SequentialAOMultiRL", "UCRL2", "AOMultiRL"]


def computed(python, agents):
    """What a Python computes, and the version of pyarrow, which is written into every Parquet file."""
    line = [python, "-c", PROGRAM, *agents]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.splitlines()[-1]


@pytest.mark.skipif(
    not OTHERS, reason="no environment of another Python is beside the sources: make test-pythons-quick"
)
@pytest.mark.parametrize("agents", [FEW, pytest.param(ALL, marks=pytest.mark.long)], ids=["few", "all"])
def test_all_pythons_compute_the_same_bytes(agents):
    mine = computed(sys.executable, agents)
    assert len(mine[0].splitlines()) == len(agents) + 1
    for other in OTHERS:
        theirs = computed(str(other), agents)
        assert theirs[1] == mine[1], "another pyarrow writes other bytes, so nothing can be compared; set it up anew"
        assert theirs[0] == mine[0]

"""The same bytes from a Ray cluster, also when a process or a machine of it is lost."""

import os
import signal
import time
from pathlib import Path

import pytest

from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.ray_executor import LOCAL_ONLY, RayCluster
from aomultirl.experiments.store import Store
from aomultirl.experiments.sweep import complete
from sweeps import experiment, results

os.environ.update(LOCAL_ONLY)
pytest.importorskip("ray")
LOOPBACK = "127.0.0.1"
THIS_MACHINE = ("0100007F:", "00000000000000000000000001000000:", "0000000000000000FFFF00000100007F:")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


def long_cells():
    return experiment(runs=8, episodes=200, name="Recall", failure=0.03, horizon=1000)


def expected(folder, identity, cells):
    complete(Store(folder, identity, cells), InProcess())
    return results(folder)


def descendants():
    """Processes below this one, and what they call themselves."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            names[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
    found, layer = {}, {os.getpid()}
    while layer := {child for child, parent in parents.items() if parent in layer and child not in found}:
        found |= {child: names.get(child, b"") for child in layer}
    return found


def workers_of_ray():
    """Those that compute a task now."""
    return [process for process, name in descendants().items() if name.startswith(b"ray::_call")]


def listening():
    """Addresses that our processes listen at, other than those of this machine alone."""
    inodes = set()
    for process in descendants():
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link))
            except OSError:
                continue
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            local, state, inode = line.split()[1], line.split()[3], line.split()[9]
            mine = f"socket:[{inode}]" in inodes
            if state == "0A" and mine and not local.startswith(THIS_MACHINE):
                found.append(local)
    return found


class Act:
    """An observer that does something after the first cell."""

    def __init__(self, act):
        self.act, self.done = act, False

    def begin(self, cells, missing, executor):
        pass

    def finished(self, computed):
        if not self.done:
            self.act()
            self.done = True


def kill_a_worker():
    end = time.monotonic() + 30
    while not (found := workers_of_ray()) and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)


def test_a_cluster_gives_the_same_bytes(tmp_path):
    identity, cells = experiment(runs=3)
    heard = []
    act = Act(lambda: heard.extend([len(descendants()), listening()]))
    found = complete(Store(tmp_path / "ray", identity, cells), RayCluster("local", 2), [act])
    assert not found.failed
    assert heard[0] > 2
    assert heard[1] == []  # nobody else can reach it
    assert results(tmp_path / "ray") == expected(tmp_path / "here", identity, cells)


@pytest.mark.long
def test_a_cluster_gives_the_same_bytes_also_when_a_process_of_it_is_killed(tmp_path):
    identity, cells = long_cells()
    act = Act(kill_a_worker)
    found = complete(Store(tmp_path / "ray", identity, cells), RayCluster("local", 2), [act])
    assert act.done
    assert not found.failed
    assert results(tmp_path / "ray") == expected(tmp_path / "here", identity, cells)


@pytest.mark.long
def test_one_of_two_machines_is_lost(tmp_path):
    from ray.cluster_utils import Cluster

    identity, cells = long_cells()
    head = {"num_cpus": 1, "node_ip_address": LOOPBACK, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        other = cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
        cluster.wait_for_nodes()
        act = Act(lambda: cluster.remove_node(other, allow_graceful=False))
        found = complete(Store(tmp_path / "ray", identity, cells), RayCluster(cluster.address), [act])
    finally:
        cluster.shutdown()
    assert act.done
    assert not found.failed
    assert results(tmp_path / "ray") == expected(tmp_path / "here", identity, cells)

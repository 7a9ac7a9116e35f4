"""The same bytes from a Ray cluster, also when a process or a machine of it is lost."""

import os
import signal
import time
from pathlib import Path

import pytest

from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.ray_executor import RayCluster
from aomultirl.experiments.store import Store
from aomultirl.experiments.sweep import complete
from sweeps import experiment, results

pytest.importorskip("ray")
LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for the address that others see
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


def long_cells():
    return experiment(runs=8, episodes=200, name="Recall", failure=0.03, horizon=1000)


def expected(folder, identity, cells):
    complete(Store(folder, identity, cells), InProcess())
    return results(folder)


def workers_of_ray():
    """Processes that compute a task of Ray now."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cmdline").read_bytes().startswith(b"ray::_call"):
                found.append(int(place.name))
        except OSError:
            continue
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
    found = complete(Store(tmp_path / "ray", identity, cells), RayCluster("local", 2))
    assert not found.failed
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

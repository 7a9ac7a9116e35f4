"""The same bytes from a Ray cluster, also when a process or a machine of it is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aomultirl.experiments import ray_executor
from aomultirl.experiments.completion import complete
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.ray_executor import LOCAL_ONLY, RayCluster
from aomultirl.experiments.store import Store
from sweeps import experiment, results

os.environ.update(LOCAL_ONLY)
pytest.importorskip("ray")
STRANGERS = Path(__file__).parent.parent / "strangers"
LOOPBACK = "127.0.0.1"
THIS_MACHINE = ("0100007F:", "00000000000000000000000001000000:", "0000000000000000FFFF00000100007F:")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


def long_cells():
    return experiment(runs=8, episodes=200, name="Recall", failure=0.03, horizon=1000)


def expected(folder, identity, cells):
    complete(Store(folder, identity, cells), InProcess())
    return results(folder)


def descendants(root=None):
    """Processes below this one, or ``root``, and what they call themselves."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            names[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
    found, layer = {}, {root or os.getpid()}
    while layer := {child for child, parent in parents.items() if parent in layer and child not in found}:
        found |= {child: names.get(child, b"") for child in layer}
    return found


def workers_of_ray():
    """Those that compute a task now."""
    return [process for process, name in descendants().items() if name.startswith(b"ray::_call")]


def listening(root=None):
    """Addresses that our processes, or those of ``root``, listen at, other than those of this machine alone."""
    inodes = set()
    for process in (root or os.getpid(), *descendants(root)):
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


@pytest.mark.long
def test_a_cluster_gives_the_same_bytes(tmp_path):
    identity, cells = experiment(runs=3)
    heard = []
    act = Act(lambda: heard.extend([len(descendants()), listening()]))
    found = complete(Store(tmp_path / "ray", identity, cells), RayCluster("local", 2), [act])
    assert not found.failed
    assert heard[0] > 2
    assert heard[1] == []  # nobody else can reach it
    assert results(tmp_path / "ray") == expected(tmp_path / "here", identity, cells)


def fresh(*words):
    """A Python process into which nothing was imported, in the environment of somebody who knows nothing of Ray.

    It finds the modules of strangers.
    """
    clean = {name: value for name, value in os.environ.items() if name not in LOCAL_ONLY}
    clean["PYTHONPATH"] = os.pathsep.join([str(STRANGERS), *filter(None, sys.path)])
    return subprocess.Popen([sys.executable, *words], env=clean, stderr=subprocess.PIPE, text=True)


@pytest.mark.long
def test_the_command_listens_to_this_machine_alone_and_its_workers_load_the_plugins_that_were_named(tmp_path):
    """In a process of its own: a worker begins with what the command has, not with what this test imported."""
    specification = tmp_path / "strange.toml"
    specification.write_text(
        """
        episodes = 4
        record = []
        runs = 2
        worlds = [{name = "corridor"}]
        agents = [{name = "Random", horizon = 2_000_000}, {name = "Sticky", horizon = 5}]
        """
    )
    words = ["-P", "-m", "aomultirl", "run", str(specification), "--plugin", "strange_methods", "--out"]
    here = fresh(*words, str(tmp_path / "here"))
    process = fresh(*words, str(tmp_path / "there"), "--ray", "local", "--workers", "2")
    heard, computed = set(), False
    while process.poll() is None:
        heard |= set(listening(process.pid))
        computed = computed or any(name.startswith(b"ray::_call") for name in descendants(process.pid).values())
        time.sleep(0.3)  # looking at every socket of every process is work itself; who listens does so to the end
    assert process.returncode == 0, process.stderr.read()
    assert computed  # so workers were there to be listened to
    assert heard == set()
    assert here.wait() == 0, here.stderr.read()
    assert len(results(tmp_path / "here")) == 4
    assert results(tmp_path / "here") == results(tmp_path / "there")


@pytest.mark.long
def test_a_cluster_that_others_can_reach_is_stopped():
    """Ray was imported before anybody could ask it to keep to this machine."""
    use = "list(RayCluster('local', 1).map(abs, [1]))"
    process = fresh("-c", f"import ray; from aomultirl.experiments.ray_executor import RayCluster; {use}")
    error = process.communicate(timeout=120)[1].splitlines()[-1]
    assert "RuntimeError: ray is 'local', but its process" in error
    assert "which other machines can reach, so it was stopped" in error
    assert not descendants(process.pid)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("::ffff:0.0.0.0", False),
        ("192.0.2.7", False),
    ],
)
def test_addresses_that_only_this_machine_reaches(monkeypatch, address, here):
    monkeypatch.setattr(ray_executor, "listening", lambda: iter([("raylet", "127.0.0.1"), ("raylet", address)]))
    if here:
        ray_executor.check_listens_here_only()
    else:
        with pytest.raises(RuntimeError, match=r"listens at .*, which other machines can reach"):
            ray_executor.check_listens_here_only()


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

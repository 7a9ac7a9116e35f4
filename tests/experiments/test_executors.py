"""Executors: every item is computed once, whoever is lost on the way."""

import os
import signal
import time

import psutil
import pytest

from aomultirl.engine import announcing
from aomultirl.experiments.executors import KILLED, InProcess, LocalProcesses, local, staying
from aomultirl.experiments.ray_executor import RayCluster


def square(x):
    return x * x


def deadly(x):
    if x == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return x


def once_deadly(place, x):
    if x == 3 and not place.exists():
        place.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def compiling(x):
    announcing.announce()
    return x * x


@pytest.mark.parametrize("executor", [InProcess(), LocalProcesses(2)])
def test_every_item_is_computed(executor, monkeypatch, capfd):
    """And that something is compiled for them is said once, however many processes do it."""
    monkeypatch.setattr(announcing, "_here", announcing.Announcer())
    monkeypatch.delenv(announcing.QUIET)
    assert sorted(executor.map(compiling, range(20))) == [x * x for x in range(20)]
    assert list(executor.map(square, [])) == []
    assert capfd.readouterr().err.count("compiling, once") == 1


def test_workers_are_counted():
    assert local(1).slots == 1
    assert local(3).slots == 3
    with pytest.raises(ValueError, match="workers must be at least 1, not 0"):
        local(0)


@pytest.mark.parametrize(
    ("workers", "items"),
    [(1, range(7, 9)), *(pytest.param(*each, marks=pytest.mark.long) for each in ((1, range(7, 10)), (2, range(12))))],
)
def test_an_item_that_kills_its_process_is_lost_alone(workers, items):
    """Two items are under way for each worker, so of three the last one waits for new processes."""
    found = list(LocalProcesses(workers).map(deadly, items, lambda item, why: (item, why)))
    assert sorted(x for x in found if isinstance(x, int)) == [x for x in items if x != 7]
    assert [x for x in found if not isinstance(x, int)] == [(7, KILLED)]


@pytest.mark.long
def test_a_process_lost_once_costs_nothing(tmp_path):
    from functools import partial

    found = LocalProcesses(2).map(partial(once_deadly, tmp_path / "killed"), range(8))
    assert sorted(found) == list(range(8))
    assert (tmp_path / "killed").exists()


def test_an_item_that_is_lost_twice_is_an_error_where_nobody_takes_it(monkeypatch):
    """No process is started: every pool says that it lost what it was given."""

    def losing(self, work, waiting, workers, suspects, stays):
        suspects.extend(waiting)
        waiting.clear()
        yield from ()

    monkeypatch.setattr(LocalProcesses, "_pool", losing)
    with pytest.raises(RuntimeError, match="killed, twice"):
        list(LocalProcesses(2).map(square, [7]))


@pytest.mark.long
def test_a_lost_process_is_an_error_where_nobody_takes_it():
    with pytest.raises(RuntimeError, match="killed, twice"):
        list(LocalProcesses(2).map(deadly, [7]))


def test_errors_in_the_work_come_through():
    with pytest.raises(TypeError):
        list(LocalProcesses(2).map(square, ["x"]))


@pytest.mark.parametrize("address", ["", "nonsense", "host:", ":6379", "host:0", "host:99999", "host:port"])
def test_addresses_of_clusters_are_checked(address):
    with pytest.raises(ValueError, match="ray must be local, auto or HOST:PORT, not"):
        RayCluster(address)


def test_a_cluster_that_is_not_there_is_refused_at_once():
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"nobody answers at 127\.0\.0\.2:9: "):
        list(RayCluster("127.0.0.2:9").map(square, [1]))
    assert time.monotonic() - begin < 30


def own_process(_):
    time.sleep(0.05)
    return os.getpid()


@pytest.mark.long
def test_after_the_block_processes_are_other_ones():
    executor = LocalProcesses(2)
    with staying(executor):
        first, second = (set(executor.map(own_process, range(8))) for _ in range(2))
        assert first == second
    assert first.isdisjoint(executor.map(own_process, range(4)))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_processes_stay_within_the_block_unless_they_are_interrupted_and_no_longer(workers):
    executor = LocalProcesses(workers)
    with staying(executor):
        first, second = (set(executor.map(own_process, range(8))) for _ in range(2))
        assert first == second
        assert len(first) == workers
        results = executor.map(own_process, range(40))
        assert next(results) in first
        results.close()
        assert not any(psutil.pid_exists(pid) for pid in first)
        others = set(executor.map(own_process, range(8)))
        assert len(others) == workers
        assert first.isdisjoint(others)
    assert not any(psutil.pid_exists(pid) for pid in others)


def test_this_process_stays_anyway():
    executor = InProcess()
    with staying(executor):
        assert set(executor.map(own_process, range(2))) == {os.getpid()}

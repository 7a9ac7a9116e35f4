"""What running an experiment of many short cells costs beside the cells themselves, in time and in memory."""

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aomultirl import checks
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.completion import complete
from aomultirl.experiments.computation import Computed, compute
from aomultirl.experiments.executors import Executor, local, read_workers
from aomultirl.experiments.store import Store

if TYPE_CHECKING:
    from rich.console import Console

SECONDS = 0.05
"""Of work in a cell."""
TARGET = 0.8
"""Share of perfect scaling to reach."""
EARLY = 0.2
"""Share of the cells after which the memory is looked at for the first time."""


class Overhead(NamedTuple):
    """One measurement.

    cell_seconds
        processor's time that a cell took in its worker, on average: what would have been needed anyway.
    cpu_seconds, wall_seconds
        for all cells, starting the workers and writing the results included; of this process and the workers.
    first_megabytes, last_megabytes
        memory of the process that writes the results, after the first fifth of the cells and at the end.
    """

    cells: int
    workers: int
    cell_seconds: float
    cpu_seconds: float
    wall_seconds: float
    first_megabytes: float
    last_megabytes: float

    @property
    def scaling(self) -> float:
        """Work done for each second and worker: 1 would be perfect.  Other work on the machine makes it smaller."""
        return self.cells * self.cell_seconds / (self.workers * self.wall_seconds)

    @property
    def share(self) -> float:
        """Of the processor's time, what was spent in cells; other work on the machine hardly matters here."""
        return self.cells * self.cell_seconds / self.cpu_seconds


class _Watch:
    """Adds up the work, and looks at the memory."""

    def __init__(self) -> None:
        self.work, self.count, self.memory = 0.0, 0, list[float]()

    def begin(self, cells: Sequence[Cell], missing: Sequence[Cell], executor: Executor) -> None:
        self.looks = {max(1, int(EARLY * len(missing))), len(missing)}

    def finished(self, computed: Computed) -> None:
        self.work += computed.facts["cpu_seconds"]
        self.count += 1
        if self.count in self.looks:
            self.memory.append(megabytes())


def measure(cells: int = 1000, workers: int = 2, seconds: float = SECONDS) -> Overhead:
    """Run ``cells`` cells of about ``seconds`` each in a folder that is thrown away."""
    checks.integer("cells", cells, least=2, limit=1_000_000)
    read_workers(workers)
    watch = _Watch()
    some = _cells(cells, _horizon(seconds))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), {"kind": "benchmark"}, some)
        begin, cpu = time.perf_counter(), _cpu()
        complete(store, local(workers), [watch])
        wall, cpu = time.perf_counter() - begin, _cpu() - cpu
    return Overhead(cells, workers, watch.work / cells, cpu, wall, watch.memory[0], watch.memory[-1])


def _cpu() -> float:
    """Processor's time of this process and of those that it has ended."""
    told = os.times()
    return told.user + told.system + told.children_user + told.children_system


def _cells(count: int, horizon: int) -> list[Cell]:
    world, stream = {"name": "gridworld", "parameters": {}}, {"name": "uniform", "parameters": {}}
    agent = {"name": "Random", "parameters": {"horizon": horizon}}
    return [Cell(world, stream, agent, 5, 0, number, "Random", ()) for number in range(count)]


def _horizon(seconds: float) -> int:
    """Steps an episode of a random agent, so that a cell takes about so long here."""
    trial = 200_000
    compute(_cells(1, trial)[0])
    best = min(compute(_cells(1, trial)[0]).facts["cpu_seconds"] for _ in range(3))
    return max(1, int(trial * seconds / best))


def megabytes() -> float:
    """Memory of this process, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def print_overhead(found: Overhead, console: "Console") -> None:
    """Two sentences."""
    verdict = "as it should be" if found.scaling >= TARGET else f"below the {TARGET:g} to reach"
    console.print(
        f"{found.cells:,} cells of {1000 * found.cell_seconds:.0f} ms on {found.workers} workers: "
        f"{found.wall_seconds:.1f} s, {found.scaling:.2f} of perfect scaling, {verdict}; "
        f"{found.share:.0%} of the processor's time was spent in cells.",
        highlight=False,
    )
    console.print(
        f"Memory of the process that writes: {found.first_megabytes:.0f} MB after the first fifth of the cells, "
        f"{found.last_megabytes:.0f} MB at the end.",
        highlight=False,
    )

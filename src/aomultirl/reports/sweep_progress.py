"""How far an experiment is: a live table in a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from aomultirl import checks
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.completion import Observer
from aomultirl.experiments.computation import Computed
from aomultirl.experiments.executors import Executor

EVERY = 5.0
"""Seconds between lines."""
ROWS = 12
"""Agents in the table at most."""


class Tally:
    """What is done, under way and failed; of everything, and of each agent."""

    def begin(self, cells: Sequence[Cell], missing: Sequence[Cell], executor: Executor) -> None:
        self.executor, self.since = executor, time.monotonic()
        self.total, self.found, self.left = len(cells), len(cells) - len(missing), len(missing)
        self.computed = self.failed = 0
        self.agents: dict[str, list[int]] = {}
        for cell in cells:
            self.agents.setdefault(cell.label, [0, 0, 0])[2] += 1
        for cell in missing:
            self.agents[cell.label][0] -= 1
        for counts in self.agents.values():
            counts[0] += counts[2]

    def finished(self, computed: Computed) -> None:
        wrong = computed.error is not None
        self.computed, self.failed, self.left = self.computed + 1, self.failed + wrong, self.left - 1
        self.agents[computed.cell.label][wrong] += 1

    @property
    def done(self) -> int:
        return self.found + self.computed - self.failed

    @property
    def running(self) -> int:
        return min(self.executor.slots, self.left)

    def remaining(self) -> str:
        """The time that is left, as far as can be told from what was computed."""
        if not self.left:
            return "0 s"
        return duration(self.left * (time.monotonic() - self.since) / self.computed) if self.computed else "?"


def duration(seconds: float) -> str:
    """In words: 45 s, 12 min, 3 h 20 min.

    >>> duration(44.6), duration(754), duration(12_000)
    ('45 s', '13 min', '3 h 20 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class _Lines(Tally):
    def __init__(self, file: TextIO) -> None:
        self.file, self.last = file, time.monotonic()

    def begin(self, cells: Sequence[Cell], missing: Sequence[Cell], executor: Executor) -> None:
        super().begin(cells, missing, executor)
        if self.left:
            self._say(f"{self.total:,} cells, {self.found:,} of them done before, {self.left:,} to compute")

    def finished(self, computed: Computed) -> None:
        super().finished(computed)
        if computed.error is not None:
            cell = computed.cell
            where = f"{checks.plain(cell.label)} in {cell.world['name']}, run {cell.number}"
            self._say(f"failed: {where}: {checks.plain(computed.error)}")
        if time.monotonic() - self.last >= EVERY and self.left:
            self.last = time.monotonic()
            self._say(
                f"{self.done:,} of {self.total:,} cells done, {self.running} running, {self.failed:,} failed, "
                f"about {self.remaining()} left"
            )

    def _say(self, words: str) -> None:
        self.file.write(words + "\n")
        self.file.flush()


class _Live(Tally):
    def __init__(self, live: Live) -> None:
        self.live = live

    def begin(self, cells: Sequence[Cell], missing: Sequence[Cell], executor: Executor) -> None:
        super().begin(cells, missing, executor)
        self.live.update(self, refresh=True)

    def __rich__(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("agent")
        for name in ("done", "running", "failed", "cells", "left"):
            table.add_column(name, justify="right")
        shown = list(self.agents.items())[:ROWS]
        for label, (done, failed, total) in shown:
            table.add_row(
                escape(label), f"{done:,}", "", f"{failed:,}" if failed else "", f"{total:,}", "", style="dim"
            )
        if len(self.agents) > len(shown):
            table.add_row(f"and {len(self.agents) - len(shown)} more", style="dim")
        failed_all = f"[red]{self.failed:,}[/red]" if self.failed else "0"
        whole = (f"{self.done:,}", f"{self.running}", failed_all, f"{self.total:,}", self.remaining())
        table.add_row("all", *whole, style="bold")
        return table


@contextmanager
def showing(file: TextIO) -> Iterator[Observer]:
    """An observer that shows it."""
    if not file.isatty():
        yield _Lines(file)
        return
    with Live(console=Console(file=file), transient=True, refresh_per_second=4) as live:
        yield _Live(live)

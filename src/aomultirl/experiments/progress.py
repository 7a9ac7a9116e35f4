"""How far a long computation is: something live in a terminal, a line now and then elsewhere.

:func:`bar` shows how many of so many are done; :func:`table` shows a sweep, with a row for each agent.  Nothing is
imported for it before it is shown.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from aomultirl import checks, extras
from aomultirl.engine.compiling import compiled_so_far

if TYPE_CHECKING:
    from rich.table import Table

    from aomultirl.experiments.cells import Cell
    from aomultirl.experiments.completion import Observer
    from aomultirl.experiments.computation import Computed
    from aomultirl.experiments.executors import Executor

EVERY = 5.0
"""Seconds between lines."""
ROWS = 12
"""Agents in the table at most."""


def duration(seconds: float) -> str:
    """In words: 45 s, 12 min, 3 h 20 min.

    >>> duration(44.6), duration(754), duration(12_000)
    ('45 s', '13 min', '3 h 20 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Lines:
    """Lines in a file: some at once, and others at most every few seconds."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.last = file, time.monotonic()

    def say(self, words: str) -> None:
        """A line, at once."""
        self.file.write(words + "\n")
        self.file.flush()

    def now_and_then(self, words: Callable[[], str]) -> None:
        """A line, if the last one of this kind was long enough ago."""
        if time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            self.say(words())


@contextmanager
def bar(
    what: str, file: TextIO, *, wanted: bool = True, lines: bool = True, estimate: bool = True
) -> Iterator[Callable[[int, int], None]]:
    """A function ``done(now, total)`` that shows it.

    Parameters
    ----------
    what
        is counted, in a word or two.
    wanted
        show anything at all.
    lines
        write lines where there is no terminal; otherwise nothing is shown there.
    estimate
        say how much time is left; otherwise, where what is done says nothing of that, how much has gone by.
    """
    if not wanted or not (lines or file.isatty()):
        yield lambda now, total: None
        return
    if not file.isatty():
        written = Lines(file)
        yield lambda now, total: written.now_and_then(lambda: f"{now} of {total} {what}") if now < total else None
        return
    with extras.needs("progress bars"):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

    def clock() -> float:
        """A clock that stands still while something is compiled, so that the time left is that of the work."""
        return time.monotonic() - compiled_so_far().seconds

    times = TimeRemainingColumn() if estimate else TimeElapsedColumn()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), times
    goes = clock if estimate else time.monotonic
    with Progress(*columns, console=Console(file=file), transient=True, get_time=goes) as shown:
        task = shown.add_task(what, total=None)
        yield lambda now, total: shown.update(task, completed=now, total=total)


@contextmanager
def table(file: TextIO) -> "Iterator[Observer]":
    """An observer of a sweep that shows how far it is."""
    if not file.isatty():
        yield LinesOfSweep(Lines(file))
        return
    with extras.needs("progress bars"):
        from rich.console import Console
        from rich.live import Live

    with Live(console=Console(file=file), transient=True, refresh_per_second=4) as live:
        yield TableOfSweep(live)


class SweepTally:
    """What of a sweep is done, under way and failed; of everything, and of each agent."""

    def begin(self, cells: "Sequence[Cell]", missing: "Sequence[Cell]", executor: "Executor") -> None:
        self.executor, self.seconds = executor, list[float]()
        self.total, self.found, self.left = len(cells), len(cells) - len(missing), len(missing)
        self.computed = self.failed = 0
        self.agents: dict[str, list[int]] = {}
        for cell in cells:
            self.agents.setdefault(cell.label, [0, 0, 0])[2] += 1
        for cell in missing:
            self.agents[cell.label][0] -= 1
        for counts in self.agents.values():
            counts[0] += counts[2]

    def finished(self, computed: "Computed") -> None:
        wrong = computed.error is not None
        self.computed, self.failed, self.left = self.computed + 1, self.failed + wrong, self.left - 1
        self.agents[computed.cell.label][wrong] += 1
        if computed.seconds is not None:
            self.seconds.append(computed.seconds)

    @property
    def done(self) -> int:
        """Cells that are done, now or before."""
        return self.found + self.computed - self.failed

    @property
    def running(self) -> int:
        """Cells that are being computed."""
        return min(self.executor.slots, self.left)

    def remaining(self) -> str:
        """The time that is left, as far as can be told from how long the cells took, without compiling for them."""
        if not self.left:
            return "0 s"
        if not self.seconds:
            return "?"
        return duration(self.left * sum(self.seconds) / len(self.seconds) / self.executor.slots)


class LinesOfSweep(SweepTally):
    """A sweep in lines: how much there is to do, what fails, and now and then how far it is."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def begin(self, cells: "Sequence[Cell]", missing: "Sequence[Cell]", executor: "Executor") -> None:
        super().begin(cells, missing, executor)
        if self.left:
            self.lines.say(f"{self.total:,} cells, {self.found:,} of them done before, {self.left:,} to compute")

    def finished(self, computed: "Computed") -> None:
        super().finished(computed)
        if computed.error is not None:
            cell = computed.cell
            where = f"{checks.plain(cell.label)} in {cell.world['name']}, run {cell.number}"
            self.lines.say(f"failed: {where}: {checks.plain(computed.error)}")
        if self.left:
            self.lines.now_and_then(self._words)

    def _words(self) -> str:
        counts = f"{self.done:,} of {self.total:,} cells done, {self.running} running, {self.failed:,} failed"
        return f"{counts}, about {self.remaining()} left"


class TableOfSweep(SweepTally):
    """A sweep as a live table: a row for each agent, and one for all."""

    def __init__(self, live: Any) -> None:
        self.live = live

    def begin(self, cells: "Sequence[Cell]", missing: "Sequence[Cell]", executor: "Executor") -> None:
        super().begin(cells, missing, executor)
        self.live.update(self, refresh=True)

    def __rich__(self) -> "Table":
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        table.add_column("agent")
        for name in ("done", "running", "failed", "cells", "left"):
            table.add_column(name, justify="right", no_wrap=True)
        shown = list(self.agents.items())[:ROWS]
        for label, (done, failed, total) in shown:
            wrong = f"{failed:,}" if failed else ""
            table.add_row(escape(label), f"{done:,}", "", wrong, f"{total:,}", "", style="dim")
        if len(self.agents) > len(shown):
            table.add_row(f"and {len(self.agents) - len(shown)} more", style="dim")
        failed_all = f"[red]{self.failed:,}[/red]" if self.failed else "0"
        whole = (f"{self.done:,}", f"{self.running}", failed_all, f"{self.total:,}", self.remaining())
        table.add_row("all", *whole, style="bold")
        return table

"""The status of a folder of results, for people."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aomultirl import checks
from aomultirl.experiments.progress import duration
from aomultirl.experiments.status import Status

MOST = 8
"""Failures and damaged files that are named."""


def show(found: Status, console: Console) -> None:
    """A table of the agents, and what there is to know beside it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("agent")
    for name in ("done", "failed", "CPU"):
        table.add_column(name, justify="right")
    for label, each in found.agents.items():
        failed = f"[red]{each.failed:,}[/red]" if each.failed else "0"
        table.add_row(escape(checks.plain(label)), f"{each.done:,}", failed, duration(each.cpu_seconds))
    console.print(f"[bold]{escape(found.name)}[/bold]: {summary(found)}")
    if found.agents:
        console.print(table)
    for failure in found.failed[:MOST]:
        where = f"{checks.plain(failure.agent)} in {failure.world}, run {failure.run} (cells/{failure.cell}.json)"
        console.print(escape(f"failed: {where}: {checks.plain(failure.error)}"), highlight=False)
    _more(len(found.failed), console)
    for name in found.damaged[:MOST]:
        console.print(escape(f"damaged: cells/{name}; the next run sets it aside and computes the cell again"))
    _more(len(found.damaged), console)
    if found.sources > 1:
        console.print(
            f"computed with {found.sources} different states of the sources of aomultirl: results may not fit"
        )


def summary(found: Status) -> str:
    """How many cells are done, failed and left, and who is at work, in one sentence."""
    words = f"{found.done:,} of {found.total:,} cells done, {len(found.failed):,} failed, {found.left:,} to compute"
    if found.checkpoints:
        words += f", {found.checkpoints:,} of them begun"
    if found.at_work:
        return f"{words}; {escape(found.at_work)} is at work"
    if found.left or found.failed:
        return f"{words}; nobody is at work, the command that began it goes on"
    return words


def _more(count: int, console: Console) -> None:
    if count > MOST:
        console.print(f"and {count - MOST:,} more")

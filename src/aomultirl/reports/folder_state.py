"""What is known of a folder of results, for people: how far its experiment is, and what is wrong in it."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from aomultirl import checks
from aomultirl.experiments.progress import duration
from aomultirl.experiments.status import Status
from aomultirl.experiments.verification import Verified

MOST, MOST_NOTES = 8, 50
"""Failures and damaged files, and findings and remarks of a verification, that are printed; ``--json`` has all."""


def show_status(found: Status, console: Console) -> None:
    """A table of the agents, and what there is to know beside it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("agent")
    for name in ("done", "failed", "CPU"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, each in found.agents.items():
        failed = f"[red]{each.failed:,}[/red]" if each.failed else "0"
        table.add_row(escape(checks.plain(label)), f"{each.done:,}", failed, duration(each.cpu_seconds))
    console.print(f"[bold]{escape(found.name)}[/bold]: {_progress(found)}")
    if found.agents:
        console.print(table)
    for failure in found.failed[:MOST]:
        where = f"{checks.plain(failure.agent)} in {failure.world}, run {failure.run} (cells/{failure.cell}.json)"
        console.print(escape(f"failed: {where}: {checks.plain(failure.error)}"), highlight=False)
    _more(len(found.failed) - MOST, console)
    for name in found.damaged[:MOST]:
        console.print(escape(f"damaged: cells/{name}; the next run sets it aside and computes the cell again"))
    _more(len(found.damaged) - MOST, console)
    if found.sources > 1:
        console.print(
            f"computed with {found.sources} different states of the sources of aomultirl: results may not fit"
        )


def _progress(found: Status) -> str:
    """How many cells are done, failed and left, and who is at work, in one sentence."""
    words = f"{found.done:,} of {found.total:,} cells done, {len(found.failed):,} failed, {found.left:,} to compute"
    if found.checkpoints:
        words += f", {found.checkpoints:,} of them begun"
    if found.at_work:
        return f"{words}; {escape(found.at_work)} is at work"
    if found.left or found.failed:
        return f"{words}; nobody is at work, the command that began it goes on"
    return words


def show_verified(found: Verified, console: Console) -> None:
    """Print a sentence with the counts, and a line for each finding and each remark."""
    console.print(Text(checks.plain(f"{found.name or 'an experiment'}: {_counts(found)}")), highlight=False)
    for title, style, notes in (("wrong", "red", found.findings), ("note", "dim", found.remarks)):
        for note in notes[:MOST_NOTES]:
            line = Text.assemble((f"{title}: ", style), checks.plain(f"{note.file} {note.words}"))
            console.print(line, highlight=False, soft_wrap=True)
        _more(len(notes) - MOST_NOTES, console)


def _counts(found: Verified) -> str:
    """The counts, in one sentence."""
    words = (
        f"{found.done:,} of {found.total:,} cells are done and fit, {found.failed:,} failed, {found.missing:,} missing"
    )
    count = len(found.findings)
    words += f"; {count:,} thing{'s are' if count != 1 else ' is'} wrong" if count else "; all is well"
    return f"{words}; {found.at_work} is at work" if found.at_work else words


def _more(count: int, console: Console) -> None:
    if count > 0:
        console.print(f"and {count:,} more")

"""What was found in a folder of results, for people."""

from rich.console import Console
from rich.text import Text

from aomultirl import checks
from aomultirl.experiments.verification import Note, Verified

MOST = 50
"""Findings, and remarks, that are printed; ``--json`` has all."""


def show(found: Verified, console: Console) -> None:
    """Print a sentence with the counts, and a line for each finding and each remark."""
    console.print(Text(checks.plain(f"{found.name or 'an experiment'}: {summary(found)}")), highlight=False)
    for title, notes in (("wrong", found.findings), ("note", found.remarks)):
        for note in notes[:MOST]:
            console.print(_line(title, note), highlight=False, soft_wrap=True)
        if len(notes) > MOST:
            console.print(f"and {len(notes) - MOST:,} more")


def summary(found: Verified) -> str:
    """The counts, in one sentence."""
    words = (
        f"{found.done:,} of {found.total:,} cells are done and fit, {found.failed:,} failed, {found.missing:,} missing"
    )
    count = len(found.findings)
    words += f"; {count:,} thing{'s are' if count != 1 else ' is'} wrong" if count else "; all is well"
    return f"{words}; {found.at_work} is at work" if found.at_work else words


def _line(title: str, note: Note) -> Text:
    style = "red" if title == "wrong" else "dim"
    return Text.assemble((f"{title}: ", style), checks.plain(f"{note.file} {note.words}"))

"""What somebody waits for: one number with a target, and the table and the sentences that say which are missed."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aomultirl import extras
from aomultirl.benchmarks.report import Record

if TYPE_CHECKING:
    from rich.console import Console

ELSEWHERE = "The time of `make test` is not measured here: run it, and read the last line."
"""What the issue of speed asks for and no row of the benchmark has."""


class Wait(NamedTuple):
    """One number that was measured, and what it must reach.

    name
        what somebody waits for.
    measured
        the number; NaN where it could not be measured.
    unit
        of the number and of its target: "s", "steps/s", "GiB", "x" for a ratio.
    target
        what it must reach.
    at_least
        whether the number must be at least the target; otherwise at most.
    note
        how it was measured and what else there is to know, in words.
    missing
        why it was not measured, in a sentence; empty where it was.
    part
        whether only a part of the work was done, each piece of which costs no more than those left out: a target that
        is missed is missed by the whole, too, but one that is reached may be missed by the whole.
    """

    name: str
    measured: float
    unit: str
    target: float
    at_least: bool = False
    note: str = ""
    missing: str = ""
    part: bool = False

    @property
    def verdict(self) -> bool | None:
        """Whether the target is reached; None where nobody can tell."""
        if math.isnan(self.measured):
            return None
        reached = self.measured >= self.target if self.at_least else self.measured <= self.target
        return None if reached and self.part else reached

    @property
    def missed(self) -> bool:
        """Whether the target is missed for certain."""
        return self.verdict is False

    def words(self, value: float) -> str:
        """A value in the unit of this number.

        Examples
        --------
        >>> Wait("steps", 1.0, "steps/s", 1.0).words(127_412.3), Wait("import", 1.0, "x", 1.0).words(0.25)
        ('127,000 steps/s', '0.25 x')
        """
        if math.isnan(value):
            return "-"
        if value >= 1000:
            return f"{round(value, 2 - math.floor(math.log10(value))):,.0f} {self.unit}"
        return f"{value:.3g} {self.unit}"

    @property
    def bound(self) -> str:
        """What must be reached, in words."""
        return f"{'at least' if self.at_least else 'at most'} {self.words(self.target)}"

    def as_dict(self) -> dict[str, Any]:
        """As strict JSON holds it."""
        measured = None if math.isnan(self.measured) else self.measured
        return {**self._asdict(), "measured": measured, "missed": self.missed}


def not_measured(name: str, unit: str, target: float, why: str, *, at_least: bool = False) -> Wait:
    """A row without a number, and the sentence that says why."""
    return Wait(name, math.nan, unit, target, at_least, missing=why)


def print_waits(waits: Sequence[Wait], console: "Console | None" = None) -> None:
    """One row for each number, those that miss their targets marked; then a sentence for each that is missing."""
    with extras.needs("tables"):
        from rich.console import Console

        from aomultirl.reports.tables import Judged, TextTable, for_terminal

    console = console or Console()
    rows = [
        (wait.name, Judged(wait.words(wait.measured), wait.verdict), wait.bound, wait.missing or wait.note)
        for wait in waits
    ]
    title = "CPU time where people wait"
    console.print(for_terminal(TextTable(title, ("work", "measured", "must be", "how"), rows)), highlight=False)


def misses(records: Sequence[Record], waits: Sequence[Wait]) -> str:
    """Which targets are missed, and by how much, in sentences."""
    missed = [
        *(f"{record.name} ({words})" for record in records for words in record.misses),
        *(f"{wait.name} ({wait.words(wait.measured)}, must be {wait.bound})" for wait in waits if wait.missed),
    ]
    targets = sum(record.targets for record in records) + sum(not math.isnan(wait.measured) for wait in waits)
    unsure = [wait.name for wait in waits if wait.part and wait.verdict is None]
    parts = f" Not certain, as a part of the work was measured: {'; '.join(unsure)}." if unsure else ""
    if not missed:
        return f"None of {targets} targets is missed.{parts}"
    return f"{len(missed)} of {targets} targets missed: {'; '.join(missed)}.{parts}"

"""What a case of the benchmark measured, as a table for people and as a dict for JSON."""

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import scipy

from aomultirl import extras
from aomultirl.benchmarks import twin

if TYPE_CHECKING:
    from rich.console import Console


class Record(NamedTuple):
    """Best CPU time of one call of each contender, in seconds.

    work: what one call does, in ``unit``.
    c_seconds: the fastest C, None without a compiler.
    numpy_seconds: NumPy or SciPy, None where neither can do the work.
    c_target, numpy_target, seconds_target: ratios to reach, or our seconds where nobody else does the work.
    note: why a contender is missing.
    """

    name: str
    work: int
    unit: str
    ours_seconds: float
    c_seconds: float | None
    numpy_seconds: float | None
    c_target: float | None
    numpy_target: float | None
    note: str = ""
    seconds_target: float | None = None

    @property
    def rate(self) -> float:
        """Our work per second."""
        return self.work / self.ours_seconds

    @property
    def c_ratio(self) -> float | None:
        """Our speed over that of C."""
        return None if self.c_seconds is None else self.c_seconds / self.ours_seconds

    @property
    def numpy_ratio(self) -> float | None:
        """Our speed over that of NumPy."""
        return None if self.numpy_seconds is None else self.numpy_seconds / self.ours_seconds

    @property
    def missed(self) -> bool:
        """A ratio that was measured lies below its target, or our time above its own."""
        return bool(self.misses)

    @property
    def misses(self) -> list[str]:
        """Which targets are missed, in words: the ratios that lie below theirs, and our time where it lies above."""
        missed = [
            f"{ratio:.2f} of {who}, must be at least {least:g}" for who, ratio, least in self._ratios if ratio < least
        ]
        if self.too_long:
            missed.append(f"{self.ours_seconds:.2f} s, must be at most {self.seconds_target:g} s")
        return missed

    @property
    def targets(self) -> int:
        """How many targets there are for what was measured."""
        return len(self._ratios) + (self.seconds_target is not None)

    @property
    def _ratios(self) -> list[tuple[str, float, float]]:
        """Whose speed ours is compared with, our ratio, and its target, where both are known."""
        all_of_them = ("C", self.c_ratio, self.c_target), ("Python", self.numpy_ratio, self.numpy_target)
        return [(who, ratio, least) for who, ratio, least in all_of_them if ratio is not None and least is not None]

    @property
    def too_long(self) -> bool:
        """We took longer than we should."""
        return self.seconds_target is not None and self.ours_seconds > self.seconds_target


def versions() -> dict[str, str | None]:
    """Of everything that the speeds depend on, the processor aside."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "c_compiler": twin.compiler_version(),
    }


def as_dict(records: Sequence[Record]) -> dict[str, Any]:
    """Numbers and versions, ready for ``json.dumps``; nothing names the machine."""
    return {
        "versions": versions(),
        "c_flags": list(twin.FLAGS),
        "records": [
            record._asdict()
            | {
                "per_second": record.rate,
                "c_ratio": record.c_ratio,
                "numpy_ratio": record.numpy_ratio,
                "missed": record.missed,
            }
            for record in records
        ],
    }


def print_table(records: Sequence[Record], console: "Console | None" = None) -> None:
    """One row a case, ratios below their target marked; then a sentence for each contender that is missing."""
    with extras.needs("tables"):
        from rich import box
        from rich.console import Console
        from rich.table import Table

    console = console or Console()
    table = Table(
        title="Million steps, or transitions planned with, a second of CPU time", box=box.SIMPLE, padding=(0, 1, 0, 0)
    )
    table.add_column("case", no_wrap=True)
    for heading in ("ours", "C", "ours/C", "Python", "ours/Python"):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in records:
        table.add_row(
            record.name,
            _ours(record),
            _rate(record, record.c_seconds),
            _ratio(record.c_ratio, record.c_target),
            _theirs(record),
            _ratio(record.numpy_ratio, record.numpy_target),
        )
    console.print(table)
    told = ", ".join(f"{name.replace('_', ' ')} {version}" for name, version in versions().items() if version)
    console.print(
        "Python: planning with einsum or scipy.sparse, exploring with a plain loop over NumPy arrays, the whole "
        "experiment extrapolated from one episode; ours there is the time in the kernels.  "
        f"A ratio that misses its target is shown with it.  {told}",
        highlight=False,
    )
    for record in records:
        if record.too_long:
            console.print(f"{record.name} should take less than {record.seconds_target:g} s.", highlight=False)
    for note in dict.fromkeys(record.note for record in records if record.note):
        console.print(note)


def _ours(record: Record) -> str:
    """Our rate, or our seconds where these are what counts."""
    if record.seconds_target is None:
        return _rate(record, record.ours_seconds)
    return f"[{'bold red' if record.too_long else 'green'}]{record.ours_seconds:.2f} s[/]"


def _theirs(record: Record) -> str:
    """The rate of Python, or the time it would take where ours is shown as a time."""
    if record.seconds_target is None or record.numpy_seconds is None:
        return _rate(record, record.numpy_seconds)
    seconds = record.numpy_seconds
    return f"{seconds / 3600:.1f} h" if seconds > 3600 else f"{seconds:.0f} s"


def _rate(record: Record, seconds: float | None) -> str:
    if seconds is None:
        return "-"
    rate = record.work / seconds / 1e6
    return f"{rate:,.0f}" if rate >= 1 else f"{rate:.3f}"


def _ratio(ratio: float | None, target: float | None) -> str:
    if ratio is None or target is None:
        return "-"
    told = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"
    if ratio < target:
        return f"[bold red]{told} < {target:g}[/]"
    return f"[green]{told}[/]"

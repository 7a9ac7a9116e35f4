"""Benchmark records as a table for people and as a dict for JSON."""

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import scipy

from aomultirl.benchmarks import twin
from aomultirl.benchmarks.record import Record

if TYPE_CHECKING:
    from rich.console import Console


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

"""What the laboratory found, written down.

::

    report.html                  one page with everything, for a browser
    claims.json                  a list: claim, place, predicted, measured, low, high, holds, rule, reason, figure
    figures/NAME.png, NAME.svg   every figure
    lower_bounds.json            what made this; the folder is ours if it is there
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aomultirl
from aomultirl import files
from aomultirl.experiments.lower_bounds.findings import Claim, Findings
from aomultirl.reports import lower_bounds_figures
from aomultirl.reports.lower_bounds_figures import symbols
from aomultirl.reports.lower_bounds_page import make_page, measured, predicted

if TYPE_CHECKING:
    from rich.console import Console

MARK, KIND = "lower_bounds.json", "lower_bounds"
FIGURES = "figures"
NAMES = ("report.html", "claims.json", MARK)


def check(out: str | Path) -> None:
    """Refuse, before anything is measured, a folder that cannot be written or holds anything else; touch nothing."""
    folder = Path(out)
    files.check_folder("out", folder)
    files.check_folder("out", folder / FIGURES)
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not _is_ours(folder / MARK):
        some = min(path.name for path in folder.iterdir())
        raise ValueError(
            f"out is {str(folder)!r}, which holds {some!r} and is not a folder of this laboratory; name another folder"
        )
    for name in NAMES:
        if (folder / name).is_dir():
            raise ValueError(f"out is {str(folder)!r}, in which {name!r} is a folder, not a file")


def write(findings: Findings, out: str | Path, *, quick: bool, seed: int) -> list[Path]:
    """Write everything; every file is whole or not there.  What the laboratory wrote before is replaced.

    Parameters
    ----------
    out
        a folder: new, empty, or of this laboratory.
    quick, seed
        what the findings were measured with.
    """
    _check_names(findings)
    check(out)
    folder = Path(out)
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for place in (folder, folder / FIGURES):
        files.clear_partials(place)
    mark = {"kind": KIND, "seed": seed, "quick": quick, "version": aomultirl.__version__}
    content = {
        MARK: json.dumps(mark, indent=2),
        "claims.json": json.dumps([as_json(claim) for claim in findings.claims], indent=2, allow_nan=False),
        "report.html": make_page(findings, quick=quick, seed=seed),
    }
    for name, text in content.items():
        files.write_whole(folder / name, text.rstrip("\n") + "\n")
    paths = [folder / name for name in content]
    for figure in findings.figures:
        paths += lower_bounds_figures.save(figure, folder / FIGURES)
    return paths


def as_json(claim: Claim) -> dict[str, Any]:
    """As strict JSON can hold it: what is infinite is "Infinity", what is not a number is null."""
    return {name: _plain(value) for name, value in claim.as_dict().items()}


def show(findings: Findings, console: "Console") -> None:
    """Print the claims as a table."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title="What the paper says, and what was found (95 % intervals in brackets)",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for column, width in (("holds", None), ("claim", None), ("predicted", 16), ("found", None)):
        table.add_column(column, no_wrap=column == "holds", max_width=width)
    for claim in findings.claims:
        value, interval = measured(claim)
        found = escape(f"{value} ({interval})" if interval else value)
        if claim.reason:
            found += f"\n[dim]{escape(symbols(claim.reason))}[/dim]"
        table.add_row(
            "[green]yes[/green]" if claim.holds else "[red]no[/red]",
            f"{escape(symbols(claim.claim))} [dim]({escape(symbols(claim.place))})[/dim]",
            escape(predicted(claim)),
            found,
        )
    console.print(table)


def _is_ours(mark: Path) -> bool:
    try:
        return bool(json.loads(mark.read_text())["kind"] == KIND)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _check_names(findings: Findings) -> None:
    names = Counter(figure.name for figure in findings.figures)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise ValueError(f"two figures are called {twice[0]!r}")
    for claim in findings.claims:
        if claim.figure and claim.figure not in names:
            raise ValueError(f"the claim {claim.claim!r} names a figure {claim.figure!r}, but there is none")


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not math.isfinite(number):
        return None if math.isnan(number) else f"{'-' if number < 0 else ''}Infinity"
    return number

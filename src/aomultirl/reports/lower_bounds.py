"""What the laboratory found, written down.

::

    report.html                  one page with everything, for a browser
    claims.json                  a list of claims, see :class:`aomultirl.analysis.claims.Claim`
    figures/NAME.png, NAME.svg   every figure
    lower_bounds.json            what made this, and which figures; the folder is ours if it is there

The last is written twice: at first it says that the rest is unfinished.
"""

import json
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aomultirl
from aomultirl import files
from aomultirl.analysis.charts import Chart, Series, beside, entries
from aomultirl.analysis.claims import Outcome, summary
from aomultirl.analysis.phrases import counted, number
from aomultirl.experiments.executors import Executor, InProcess
from aomultirl.laboratory.findings import Findings
from aomultirl.laboratory.groups import GROUPS, chosen
from aomultirl.reports import charts_matplotlib, figure_files
from aomultirl.reports.charts_plotly import page_chart
from aomultirl.reports.claims_table import ClaimRow, claim_row, print_claims
from aomultirl.reports.laboratory_summary import grouped, opening
from aomultirl.reports.looks import chart_looks
from aomultirl.reports.page.rendering import render
from aomultirl.reports.wording import capital, symbols

if TYPE_CHECKING:
    from rich.console import Console

MARK, KIND = "lower_bounds.json", "lower_bounds"
FIGURES = "figures"
KINDS, DOTS = ("png", "svg"), 150
"""The formats of a figure, and dots an inch of the first."""
NAMES = ("report.html", "claims.json", MARK)
MOST_BYTES = 2**26
"""Of the file that says what made the rest."""
TITLE = "The paper's lower bounds, checked by experiment"
UNMET: dict[Outcome, str] = {
    "fails": "What does not hold",
    "out of reach": "What is out of reach: it could show itself only in a far longer run",
    "open": "What is open: too little was measured to tell",
}
"""What may become of a claim that does not hold, and what its list is called."""
HEIGHT = 420
"""Pixels of a chart."""
PACKAGES = ("numpy", "scipy", "numba")
"""The packages whose versions the page states."""


def check(out: str | Path, *, quick: bool, only: Sequence[str] = ()) -> None:
    """Refuse, before anything is measured, a folder that cannot be written or holds anything else; touch nothing.

    Parameters
    ----------
    quick
        whether a quick run is to be written, which never replaces a full one.
    only
        the groups that are to be written, which never replace others; none for all.
    """
    folder = Path(out)
    files.check_folder("out", folder)
    files.check_inside(f"out is {str(folder)!r}", folder, files=NAMES, folders=[FIGURES])
    files.check_folder("out", folder / FIGURES)
    if not folder.exists() or not any(folder.iterdir()):
        return
    mark = _mark(folder)
    if mark is None:
        some = min(path.name for path in folder.iterdir())
        raise ValueError(
            f"out is {str(folder)!r}, which holds {some!r} and is not a folder of this laboratory; name another folder"
        )
    if quick and mark.get("quick") is False:
        raise ValueError(
            f"out is {str(folder)!r}, which holds a full run, and a quick one does not replace it; "
            "name another folder or remove this one"
        )
    there, groups = mark.get("groups"), chosen(only)
    others = [name for name in there if name not in groups] if isinstance(there, list) else []
    if others:
        raise ValueError(
            f"out is {str(folder)!r}, which holds {', '.join(map(str, others))} as well, and a run of only "
            f"{', '.join(groups)} does not replace that; name another folder or remove this one"
        )


def write(
    findings: Findings,
    out: str | Path,
    *,
    quick: bool,
    seed: int,
    only: Sequence[str] = (),
    seconds: float | None = None,
    executor: Executor | None = None,
) -> list[Path]:
    """Write everything; every file is whole or not there.  What the laboratory wrote before is replaced.

    Figures of an earlier run that are not among the new ones are removed, and nothing else is.

    Parameters
    ----------
    out
        a folder: new, empty, or of this laboratory, without anything that :func:`check` protects.
    quick, seed, only
        what the findings were measured with.
    seconds
        how long that took; None for unknown.
    executor
        who draws the figures, by default this process.
    """
    _check_names(findings)
    check(out, quick=quick, only=only)
    folder = Path(out)
    names = [figure.name for figure in findings.figures]
    stale = [name for name in _listed(_mark(folder)) if name not in names]
    groups = chosen(only)
    mark = {"kind": KIND, "seed": seed, "quick": quick, "groups": groups, "version": aomultirl.__version__}
    content = {
        "claims.json": json.dumps([claim.as_json() for claim in findings.claims], indent=2, allow_nan=False),
        "report.html": make_page(findings, quick=quick, seed=seed, only=groups, seconds=seconds),
    }
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for place in (folder, folder / FIGURES):
        files.clear_partials(place)
    _write(folder / MARK, json.dumps(mark | {"unfinished": True, "figures": names + stale}, indent=2))
    for name, text in content.items():
        _write(folder / name, text)
    paths = [folder / name for name in content]
    drawings = [(figure, folder / FIGURES) for figure in findings.figures]
    paths += sorted(path for drawn in (executor or InProcess()).map(save_figure, drawings) for path in drawn)
    for name in stale:
        _remove_figure(name, folder / FIGURES)
    took = None if seconds is None else round(seconds, 1)
    _write(folder / MARK, json.dumps(mark | {"seconds": took, "figures": names}, indent=2))
    return [*paths, folder / MARK]


def show(findings: Findings, console: "Console") -> None:
    """Print what does not hold, is out of reach or open, with most of the reason, and how many hold in each group."""
    from rich.table import Table
    from rich.text import Text

    for outcome, title in UNMET.items():
        print_claims([claim.as_json() for claim in findings.claims if claim.outcome == outcome], title, console)
    counts = Table(box=None, show_header=False)
    for group in dict.fromkeys(claim.group for claim in findings.claims):
        verdicts = [claim.holds for claim in findings.claims if claim.group == group]
        title = GROUPS[group].title if group in GROUPS else group
        counts.add_row(Text(title), f"{sum(verdicts)} of {len(verdicts)} hold")
    console.print(counts)


def _listed(mark: dict[str, Any] | None) -> list[str]:
    """The figures of an earlier run."""
    found = (mark or {}).get("figures")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def save_figure(drawing: tuple[Chart, Path]) -> list[Path]:
    """Write a chart into a folder as .png and .svg, each whole or not at all; the same chart, the same bytes."""
    chart, folder = drawing
    return figure_files.save_all(charts_matplotlib.draw(prepared(chart)), folder, chart.name, KINDS, dpi=DOTS)


def _remove_figure(name: str, folder: Path) -> None:
    """Remove what was written for a figure of this name; a name that leads elsewhere is passed over."""
    for path in figure_files.named(folder, name, KINDS):
        if Path(name).name == name and path.is_file():
            path.unlink()


def _write(path: Path, text: str) -> None:
    files.write_whole(path, text.rstrip("\n") + "\n")


def _mark(folder: Path) -> dict[str, Any] | None:
    """What the folder says of itself; None if it is not ours."""
    try:
        mark = json.loads(files.read_regular(folder / MARK, MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return mark if isinstance(mark, dict) and mark.get("kind") == KIND else None


def _check_names(findings: Findings) -> None:
    names = Counter(figure.name for figure in findings.figures)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise ValueError(f"two figures are called {twice[0]!r}")
    for claim in findings.claims:
        if claim.figure not in names:
            raise ValueError(f"the claim {claim.claim!r} names a figure {claim.figure!r}, but there is none")


def make_page(
    findings: Findings, *, quick: bool, seed: int, only: Iterable[str] = (), seconds: float | None = None
) -> str:
    """The whole page, as HTML that loads nothing from anywhere.

    Parameters
    ----------
    quick, seed, only
        what the findings were measured with; ``only``: the groups.
    seconds
        how long that took; None for unknown.
    """
    groups = chosen(only)
    some = groups if len(groups) < len(GROUPS) else []
    numbers = count()
    sorted_groups = grouped(findings.claims)
    tables = [(group.title, [claim_row(claim.as_json()) for claim in group.claims]) for group in sorted_groups]
    claims = [row for _, rows in tables for row in rows]
    unmet = {
        title: [claim_row(claim.as_json()) for claim in findings.claims if claim.outcome == outcome]
        for outcome, title in UNMET.items()
    }
    figures = [_figure(chart, numbers, claims) for chart in map(prepared, findings.figures)]
    options = ["--quick"] * quick + [f"--only {group}" for group in some] + [f"--seed {seed}"]
    made_with = [f"aomultirl {aomultirl.__version__}", f"Python {platform.python_version()}"]
    return render(
        "laboratory.html",
        title=TITLE,
        subtitle=[
            summary(findings.claims),
            counted(len(figures), "figure"),
            "quick sizes" if quick else "full sizes",
            f"only {', '.join(some)}" if some else "",
            f"seed {seed}",
            "" if seconds is None else f"{seconds:,.0f} s",
        ],
        opening=[symbols(words) for words in opening(findings.claims)],
        unmet=unmet,
        groups=tables,
        figures=figures,
        command=f"aomultirl lower-bounds {' '.join(options)} --out NEW",
        made_with=[*made_with, *(f"{name} {metadata.version(name)}" for name in PACKAGES)],
        data={"agents": [], "charts": [one["drawn"] for one in figures], "maps": None},
    )


def prepared(chart: Chart) -> Chart:
    """The chart as it is shown on the page and in print.

    Curves of the paper that lie decades away from all points are moved beside them, and names such as lambda become
    the paper's symbols.
    """
    chart = beside(chart)
    words: dict[str, Any] = {name: symbols(getattr(chart, name)) for name in ("title", "x", "y", "caption")}
    series = [one._replace(label=symbols(one.label), subject=one.shows) for one in chart.series]
    return chart._replace(series=series, **words)


def _figure(chart: Chart, numbers: "count[int]", claims: Sequence[ClaimRow]) -> dict[str, Any]:
    """A figure, its claims, and the checkboxes that show and hide what is in it."""
    toggles = [next(numbers) for _ in entries(chart)]
    boxes = [
        {"number": toggle, "look": look, "label": entry.label}
        for toggle, look, entry in zip(toggles, chart_looks(chart), entries(chart), strict=True)
    ]
    drawn = page_chart({"": chart._replace(words=_words(chart))}, height=HEIGHT, toggles=toggles, legend=False)
    return {
        "chart": chart,
        "drawn": drawn,
        "entries": boxes,
        "claims": [c for c in claims if c["figure"] == chart.name],
    }


def _words(chart: Chart) -> str:
    """The figure in sentences: where every series begins and ends."""
    parts = []
    for entry in entries(chart):
        series = entry.points or entry.line
        assert series is not None
        places = sorted(range(len(series.x)), key=lambda i: series.x[i])
        ends = dict.fromkeys([places[0], places[-1]])
        kind = "theory, " if entry.is_theory else "fitted, " if entry.points is None else ""
        parts.append(f"{kind}{entry.label}, {' and '.join(_point(chart, series, i) for i in ends)}")
    return capital(symbols(f"{chart.y} against {chart.x}: {'; '.join(parts)}."))


def _point(chart: Chart, series: Series, i: int) -> str:
    words = _short(series.y[i])
    if len(series.low):
        words += f" ({_short(series.low[i])} to {_short(series.high[i])})"
    return f"{words} at {_named(chart.names, series.x[i]) if chart.names else _short(series.x[i])}"


def _named(names: Sequence[str], x: float) -> str:
    """The name that stands nearest to x; lines begin and end half a place beyond the outermost names."""
    return names[min(max(round(x), 0), len(names) - 1)]


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))

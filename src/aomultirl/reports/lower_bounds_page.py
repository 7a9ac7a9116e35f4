"""The page of the laboratory: every claim with its verdict, and every figure, in one HTML file for a browser."""

import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from itertools import count
from typing import Any

import aomultirl
from aomultirl.analysis.charts import Chart, Series, beside, entries
from aomultirl.analysis.claims import summary
from aomultirl.analysis.phrases import counted, number
from aomultirl.laboratory.findings import Findings
from aomultirl.laboratory.groups import GROUPS, chosen
from aomultirl.reports.charts_plotly import page_chart
from aomultirl.reports.claims_table import ClaimRow, in_words
from aomultirl.reports.looks import chart_looks
from aomultirl.reports.page.rendering import render
from aomultirl.reports.wording import capital, symbols

TITLE = "The paper's lower bounds, checked by experiment"
HEIGHT = 420
"""Pixels of a chart."""
PACKAGES = ("numpy", "scipy", "numba")
"""The packages whose versions the page states."""


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
    claims = [in_words(claim.as_json()) for claim in findings.claims]
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
        summary=summary(findings.claims),
        claims=claims,
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
    return f"{words} at {chart.names[round(series.x[i])] if chart.names else _short(series.x[i])}"


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))

"""The page of the laboratory: every claim with its verdict, and every figure, in one HTML file for a browser."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import metadata
from itertools import count
from typing import Any

import aomultirl
from aomultirl.analysis.charts import Chart as Figure
from aomultirl.analysis.charts import Series, beside, reach_of
from aomultirl.analysis.claims import Claim, summary
from aomultirl.laboratory.findings import Findings
from aomultirl.laboratory.groups import GROUPS, chosen
from aomultirl.reports import claims_table
from aomultirl.reports.claims_table import ClaimRow, claims_html, linked, sentence
from aomultirl.reports.curves_figure import Style
from aomultirl.reports.lower_bounds_figures import LONG_AXIS, Entry, bars, entries, is_joined, symbols, ticks
from aomultirl.reports.page import markup, phrases
from aomultirl.reports.page.charts import Chart, plain_name
from aomultirl.reports.page.data import SYMBOLS, plain
from aomultirl.reports.page.frame import Section, frame

TITLE = "The paper's lower bounds, checked by experiment"
LEDE = """Half of the paper says what no learner can do, and why it assumes what it assumes. Each claim below was put to
a test, and stands beside the rule that decides it. A claim that does not hold is a finding like any other: the reason
is given."""
MARKERS = dict(zip("so^DvPX*", SYMBOLS, strict=True))
"""Plotly's names for matplotlib's markers."""
HEIGHT = 420


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
    charts, sections = (
        [],
        [_glance(findings), ("claims", "All claims", claims_html(map(Claim.as_json, findings.claims)))],
    )
    for figure in map(beside, findings.figures):
        shown = {next(numbers): entry for entry in entries(figure)}
        chart = _chart(figure, shown)
        charts.append(chart)
        sections.append(_figure(figure, chart, shown, [one for one in findings.claims if one.figure == figure.name]))
    sections.append(("again", "Run it again", _again(quick, seed, some)))
    nav = [("glance", "At a glance"), ("claims", "All claims"), ("again", "Run it again")]
    if findings.figures:
        nav.insert(2, (f"figure-{findings.figures[0].name}", "Figures"))
    facts = [summary(findings.claims), phrases.counted(len(charts), "figure")]
    facts += ["quick sizes" if quick else "full sizes", f"only {', '.join(some)}" if some else "", f"seed {seed}"]
    facts += [] if seconds is None else [f"{seconds:,.0f} s"]
    return frame(TITLE, " · ".join(filter(None, facts)), sections, charts, nav=nav)


def _glance(findings: Findings) -> Section:
    said = f"<p>{LEDE}</p><p><strong>{summary(findings.claims)}.</strong></p>"
    for verdict, words in ((False, "These do not hold:"), (None, "These are open, too little was measured to tell:")):
        rows = [claims_table.read(claim.as_json()) for claim in findings.claims if claim.verdict is verdict]
        if rows:
            items = (f"<li>{_said(row, linked(row))}. {sentence(row.reason)}</li>" for row in rows)
            said += f"<p>{words}</p><ul>{''.join(items)}</ul>"
    return "glance", "At a glance", said


def _figure(figure: Figure, chart: Chart, shown: dict[int, Entry], claims: Sequence[Claim]) -> Section:
    caption = f"<p>{_text(figure.caption)}</p>" if figure.caption else ""
    rows = [claims_table.read(claim.as_json()) for claim in claims]
    verdicts = "".join(f"<li>{markup.SIGNS[row.verdict]} {_said(row, escape(row.claim))}</li>" for row in rows)
    boxes = "".join(
        f'<label class="agent"><input type="checkbox" data-agent="{number}" checked>{_swatch(entry)}'
        f"<span>{_text(entry.label)}</span></label>"
        for number, entry in shown.items()
    )
    key = f'<fieldset class="agents" style="max-height:none"><legend>What is shown</legend>{boxes}</fieldset>'
    content = f"{caption}{f'<ul>{verdicts}</ul>' if verdicts else ''}{key}{markup.figure(chart)}"
    return f"figure-{figure.name}", symbols(figure.title), content


def _said(row: ClaimRow, name: str) -> str:
    return f"{name}: {escape(row.found)}, predicted {escape(row.predicted)}"


def _text(words: str) -> str:
    return escape(symbols(words))


def _capital(words: str) -> str:
    return words[0].upper() + words[1:] if words[0].isascii() else words


def _again(quick: bool, seed: int, some: Sequence[str]) -> str:
    only = "".join(f"--only {group} " for group in some)
    command = f"aomultirl lower-bounds {'--quick ' if quick else ''}{only}--seed {seed} --out NEW"
    packages = [f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "numba")]
    made = ", ".join([f"aomultirl {aomultirl.__version__}", f"Python {platform.python_version()}", *packages])
    return (
        f"{markup.block(command, 'Command to run it again')}"
        f"<p>The same seed gives the same numbers, whoever does the work. Made with {escape(made)}.</p>"
        "<p>Beside this page: <code>claims.json</code>, the table, and <code>figures/</code>, every figure as PNG and "
        "SVG.</p>"
    )


def _chart(figure: Figure, shown: dict[int, Entry]) -> Chart:
    traces = [trace for number, entry in shown.items() for trace in _traces(figure, entry, number)]
    is_long = figure.log_y and reach_of([y for one in figure.series for y in one.y]) > LONG_AXIS
    layout: dict[str, Any] = {
        "height": HEIGHT,
        "hovermode": "closest",
        "xaxis": _axis(figure.x, figure.log_x, ticks(figure))
        | ({"tickangle": -40, "zeroline": False} if figure.names else {}),
        "yaxis": _axis(figure.y, figure.log_y) | ({"dtick": 1} if is_long else {}),
        "showlegend": False,
    }
    view = {"data": traces, "words": _words(figure, list(shown.values()))}
    return {"id": figure.name, "keys": [], "traces": [], "layout": layout, "views": {"": view}}


def _axis(title: str, logarithmic: bool, places: Mapping[float, str] | None = None) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": plain_name(symbols(title)), "standoff": 8}, "type": "linear"}
    if logarithmic:
        axis |= {"type": "log", "exponentformat": "power", "nticks": 8}
    return axis | ({"tickvals": list(places), "ticktext": list(map(plain_name, places.values()))} if places else {})


def _traces(figure: Figure, entry: Entry, number: int) -> list[dict[str, Any]]:
    """The fitted line, or the paper's curve, and the points."""
    style = entry.style
    line = {"color": style.colour, "dash": _dash(style), "width": 2}
    name = plain_name(symbols(entry.label))
    base: dict[str, Any] = {"type": "scatter", "name": name, "meta": {"agent": number}, "line": line}
    at = "%{x:,.4~g}"
    if figure.names:
        at = "%{text}"
        base["text"] = [plain_name(figure.names[round(x)]) for x in entry.points.x] if entry.points else "all"
    hover = f"{name}<br>{at}: %{{y:,.4~g}}"
    traces = []
    if entry.line is not None:
        traces.append({**base, **_places(entry.line), "mode": "lines", "hovertemplate": f"{hover}<extra></extra>"})
    if entry.points is None:
        return traces
    marker = {
        "symbol": MARKERS[style.marker],
        "size": 9,
        "color": "white",
        "line": {"color": style.colour, "width": 1.8},
    }
    mode = "lines+markers" if is_joined(figure, entry) else "markers"
    points = {**base, **_places(entry.points), "mode": mode, "marker": marker}
    reach = bars(entry.points)
    if reach is not None:
        ends = {"array": plain(reach[1]), "arrayminus": plain(reach[0])}
        points["error_y"] = {"type": "data", "symmetric": False, **ends, "color": style.colour, "width": 4}
        points["customdata"] = list(zip(plain(entry.points.low), plain(entry.points.high), strict=True))
        hover += " (%{customdata[0]:,.4~g} to %{customdata[1]:,.4~g})"
    return [*traces, {**points, "hovertemplate": f"{hover}<extra></extra>"}]


def _places(series: Series) -> dict[str, Any]:
    return {"x": plain([float(x) for x in series.x]), "y": plain([float(y) for y in series.y])}


def _dash(style: Style) -> str:
    return ",".join(f"{1.6 * length:g}px" for length in style.dashes) if style.dashes else "solid"


def _swatch(entry: Entry) -> str:
    """A piece of the line, with a marker where there are points."""
    style = entry.style
    dashes = " ".join(f"{1.6 * length:g}" for length in style.dashes) or "none"
    mark = ""
    if entry.points is not None:
        shape = markup.SHAPES[MARKERS[style.marker]]
        mark = f'<path d="{shape}" transform="translate(17 6)" fill="white" stroke="{style.colour}"/>'
    return (
        '<svg class="swatch" viewBox="0 0 34 12" width="34" height="12" aria-hidden="true">'
        f'<path d="M0 6H34" stroke="{style.colour}" stroke-width="2" stroke-dasharray="{dashes}"/>{mark}</svg>'
    )


def _words(figure: Figure, shown: Sequence[Entry]) -> str:
    """The figure in sentences: where every series begins and ends."""
    parts = []
    for entry in shown:
        series = entry.points or entry.line
        assert series is not None
        places = sorted(range(len(series.x)), key=lambda i: series.x[i])
        ends = list(dict.fromkeys([places[0], places[-1]]))
        said = [_point(figure, series, i) for i in ends]
        kind = "theory, " if entry.is_theory else "fitted, " if entry.points is None else ""
        parts.append(f"{kind}{entry.label}, {' and '.join(said)}")
    return _capital(symbols(f"{figure.y} against {figure.x}: {'; '.join(parts)}."))


def _point(figure: Figure, series: Series, i: int) -> str:
    words = _short(series.y[i])
    if len(series.low):
        words += f" ({_short(series.low[i])} to {_short(series.high[i])})"
    return f"{words} at {figure.names[round(series.x[i])] if figure.names else _short(series.x[i])}"


def _short(value: float) -> str:
    return phrases.number(float(f"{value:.3g}"))

"""A chart record drawn with Plotly, as the dictionaries of traces and layouts that its JavaScript takes.

A chart of a page has views, one for each choice of the page's controls; ``page.js`` draws the one that is chosen.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from aomultirl.analysis.charts import Chart, LegendEntry, Matrix, Series, entries, interval_arms, is_joined, reach_of
from aomultirl.reports.looks import LONG_AXIS, Look, chart_looks, tick_labels

PIXELS = 1.6
"""Of a point of dashes; lines are so much wider on a screen than in print."""
DOTS = "2px,4px"
"""The dashes of bounds and of agents that are level."""
FEW = 12
"""Steps along x up to which each has a tick, because Plotly would put some between."""
SHADES = [[0.0, "#ffffff"], [1.0, "#00375f"]]
"""Of a heat map."""
Trace = dict[str, Any]
PageChart = dict[str, Any]


def page_chart(
    views: Mapping[str, Chart],
    *,
    height: int,
    keys: Sequence[str] = (),
    toggles: Sequence[int] = (),
    legend: bool = True,
    log: str = "",
    same_series: bool = False,
) -> PageChart:
    """What ``page.js`` draws: the chart that belongs to each choice of the controls.

    Parameters
    ----------
    views
        by the values of the controls ``keys``, joined by "|".
    height
        in pixels.
    toggles
        for each entry of the legend the number of the checkbox that shows and hides it; empty for no checkboxes.
    log
        the name of the control that makes y logarithmic, if there is one.
    same_series
        the views differ in nothing but what y is: then everything else is written once.
    """
    first = next(iter(views.values()))
    layout = {"height": height, "showlegend": legend, **_layout(first)}
    drawn: dict[str, Any] = {}
    for key, chart in views.items():
        axes = {name: axis for name, axis in _axes(chart).items() if axis != layout[name]}
        drawn[key] = {"data": traces(chart, toggles), "words": chart.words, **axes}
    shared = _share([view["data"] for view in drawn.values()]) if same_series else []
    made = {"id": first.name, "keys": list(keys), "traces": shared, "layout": layout, "views": drawn}
    return {**made, "log": log} if log else made


def _share(views: Sequence[list[Trace]]) -> list[Trace]:
    """What all views have in common, trace by trace; it is taken out of the views."""
    shared = []
    for own in zip(*views, strict=True):
        names = [name for name in own[0] if name != "y" and all(one.get(name) == own[0][name] for one in own)]
        common = {name: own[0][name] for name in names}
        shared.append(common)
        for trace in own:
            for name in common:
                del trace[name]
    return shared


def traces(chart: Chart, toggles: Sequence[int] = ()) -> list[Trace]:
    """The traces of a chart, in the order of its entries."""
    if chart.matrix is not None:
        return [_heat_map(chart.matrix)]
    drawn: list[Trace] = []
    for place, (entry, look) in enumerate(zip(entries(chart), chart_looks(chart), strict=True)):
        own = _curve(entry, look) if entry.points and entry.points.drawn == "curve" else _points(chart, entry, look)
        for trace in own:
            if toggles:
                trace["meta"] = {**trace.get("meta", {}), "agent": toggles[place]}
        drawn += own
    return drawn


def _curve(entry: LegendEntry, look: Look) -> list[Trace]:
    """Three traces: the band's lower and upper end, and the line."""
    curve = entry.points
    assert curve is not None
    base = {"type": "scatter", "x": plain(curve.x), "connectgaps": True, "legendgroup": plain_text(curve.label)}
    edge = {**base, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    line = {
        **base,
        "mode": "lines+markers",
        "name": plain_text(curve.label),
        "line": {"color": look.colour, "dash": dash(look), "width": 2},
        "marker": {**_marker(look), "size": 7, "maxdisplayed": 9},
        "hovertemplate": "%{y:,.5~g}",
    }
    filled = {"fill": "tonexty", "fillcolor": _faint(look.colour)}
    return [
        {**edge, "y": plain(curve.low)},
        {**edge, **filled, "y": plain(curve.high)},
        {**line, "y": plain(curve.y)},
    ]


def _points(chart: Chart, entry: LegendEntry, look: Look) -> list[Trace]:
    """The fitted line, or the paper's curve, and the points."""
    name = plain_text(entry.label)
    base: Trace = {"type": "scatter", "name": name, "line": {"color": look.colour, "dash": dash(look), "width": 2}}
    if chart.names:
        base["text"] = [plain_text(chart.names[round(x)]) for x in entry.points.x] if entry.points else "all"
    hover = _hover(chart, name)
    drawn = []
    if entry.line is not None:
        line = {**base, **_places(chart, entry.line), "mode": "lines"}
        drawn.append({**line, "hovertemplate": f"{hover}<extra></extra>"})
    if entry.line is not None and entry.line.kind == "bound":
        dotted = {**base["line"], "dash": DOTS, "width": 3}
        drawn[0] |= {"line": dotted, "hovertemplate": "%{y:.3g}", "visible": False, "meta": {"bound": True}}
    points = entry.points
    if points is None:
        return drawn
    base |= _places(chart, points)
    if points.drawn == "bars":
        base = {**base, "type": "bar", "marker": {"color": look.colour}}
        del base["line"]
    elif points.drawn == "level":
        base |= {"mode": "lines", "line": {**base["line"], "dash": DOTS}}
    else:
        base |= {"mode": "lines+markers" if is_joined(chart, entry) else "markers", "marker": _marker(look)}
    arms = None if points.drawn == "level" else interval_arms(points)
    if arms is not None:
        ends = {"array": plain(arms[1]), "arrayminus": plain(arms[0])}
        base["error_y"] = {
            "type": "data",
            "symmetric": False,
            **ends,
            "color": look.colour,
            "thickness": 1.4,
            "width": 4,
        }
        base["customdata"] = list(zip(plain(points.low), plain(points.high), strict=True))
        hover += " (%{customdata[0]:,.4~g} to %{customdata[1]:,.4~g})"
    return [*drawn, {**base, "hovertemplate": f"{hover}<extra></extra>"}]


def _places(chart: Chart, series: Series) -> Trace:
    y = [chart.rows[int(row)] for row in series.y] if chart.rows else plain(series.y)
    return {"x": plain(series.x), "y": y}


def _hover(chart: Chart, name: str) -> str:
    """What is said of a point: the name, the place along x, and the value."""
    x = "%{text}" if chart.names else f"{plain_text(chart.x)} %{{x:,.6~g}}"
    return f"{name}<br>{x}: %{{y{'' if chart.rows else ':.1%' if chart.as_share else ':,.4~g'}}}"


def _marker(look: Look) -> Trace:
    outline = {"color": "white" if look.fill == "solid" else look.colour, "width": look.width}
    return {
        "symbol": f"{look.marker}-open" if look.fill == "open" else look.marker,
        "size": look.size,
        "color": "white" if look.fill == "white" else look.colour,
        "line": outline,
    }


def _heat_map(matrix: Matrix) -> Trace:
    scale: Trace = {"orientation": "h", "y": -0.16, "yanchor": "top", "thickness": 9}
    heat: Trace = {
        "type": "heatmap",
        "x": [name.replace(" ", "<br>") for name in matrix.columns],
        "y": list(matrix.rows),
        "z": [plain(row) for row in matrix.values],
        "zmin": matrix.low,
        "zmax": matrix.high,
        "colorscale": SHADES,
        "colorbar": scale | {"tickvals": list(matrix.ticks), "ticktext": list(matrix.ticks.values())},
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "%{y} to<br>%{x}<br>%{z}<extra></extra>",
    }
    return heat | ({"text": [list(row) for row in matrix.texts], "texttemplate": "%{text}"} if matrix.texts else {})


def _layout(chart: Chart) -> dict[str, Any]:
    curves = [one for one in chart.series if one.drawn == "curve"]
    layout: dict[str, Any] = {"hovermode": "x unified" if curves else "closest", **_axes(chart)}
    if chart.phases or chart.marks:
        layout |= {"shapes": [], "annotations": []}
    for begin, end, words in chart.phases:
        box = {"type": "rect", "x0": begin, "x1": end, "line": {"width": 0}, "fillcolor": "rgba(90,90,90,0.08)"}
        _mark(layout, box, (begin + end) / 2, words)
    for at, words in chart.marks:
        _mark(layout, {"type": "line", "x0": at, "x1": at, "line": {"width": 1, "dash": "dot"}}, at, words)
    return layout


def _mark(layout: dict[str, Any], shape: Trace, at: float, words: str) -> None:
    layout["shapes"].append({"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below", **shape})
    place = {"x": at, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    layout["annotations"].append({**place, "text": plain_text(words), "font": {"size": 11}})


def _axes(chart: Chart) -> dict[str, Any]:
    if chart.matrix is not None:
        square = {"type": "category", "constrain": "domain"}
        return {
            "xaxis": {**square, "showgrid": False},
            "yaxis": {**square, "autorange": "reversed", "scaleanchor": "x"},
        }
    across, up = _axis(chart.x, chart.log_x, chart.x_range), _axis(chart.y, chart.log_y, chart.y_range)
    ticks = tick_labels(chart)
    if ticks:
        across |= {"tickvals": list(ticks), "ticktext": [plain_text(words) for words in ticks.values()]}
    elif chart.x_whole and _width(chart) <= FEW:
        across |= {"tick0": 0, "dtick": 1}
    if chart.names:
        across |= {"tickangle": -40, "zeroline": False}
    if chart.rows:
        order = {"categoryorder": "array", "categoryarray": list(chart.rows)}
        up |= {"type": "category", "autorange": "reversed", **order}
    if chart.log_y and reach_of([y for one in chart.series for y in one.y]) > LONG_AXIS:
        up["dtick"] = 1
    if chart.as_share:
        up["tickformat"] = ".0%"
    if chart.from_zero:
        up["rangemode"] = "tozero"
    return {"xaxis": across, "yaxis": up}


def _width(chart: Chart) -> float:
    """How far x reaches."""
    ends = chart.x_range or [x for one in chart.series for x in one.x]
    return max(ends, default=0.0) - min(ends, default=0.0)


def _axis(title: str, logarithmic: bool, ends: tuple[float, float] | None) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": plain_text(title), "standoff": 8}, "type": "linear"}
    if logarithmic:
        axis |= {"type": "log", "exponentformat": "power", "nticks": 8}
    return axis if ends is None else {**axis, "range": list(ends)}


def dash(look: Look) -> str:
    """Plotly's word for the dashes of a look."""
    return ",".join(f"{PIXELS * length:g}px" for length in look.dashes) if look.dashes else "solid"


def plain_text(words: str) -> str:
    """Words as Plotly shows them: it takes neither markup nor templates for what they are not."""
    return escape(words, quote=False).replace("%", "&#37;")


def plain(values: Any, digits: int = 5) -> list[Any]:
    """Numbers as JSON has them: rounded to so many significant digits, None for what is not a number."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return array.tolist()  # type: ignore[no-any-return]
    out: list[Any] = []
    for value in array.tolist():
        if not math.isfinite(value):
            out.append(None)
        else:
            short = float(f"{value:.{digits}g}")
            out.append(int(short) if short.is_integer() and abs(short) < 1e15 else short)
    return out


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

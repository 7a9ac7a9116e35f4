"""What a chart shows, as a record: axes, series, marks and phases.

Reports draw the record, for print with matplotlib and on pages with Plotly.  A series says in fields what it is of
(:class:`Subject`) and how it came about (``kind``), so that colours and legends agree between charts, and nobody has
to look into the words of a label.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Kind = Literal["measured", "fit", "theory", "bound"]
Drawn = Literal["joined", "curve", "points", "level", "bars"]
Role = Literal["agent", "world", "cluster", "event"]

MOST_TICKS = 9
"""Numbers that an axis may have for the places at which something was measured; more would be a grey band."""
NARROW = 0.08
"""Of the axis: what lies nearer has no room for two numbers on a telephone."""
FAR = 2.0
"""Decades; a curve of theory that lies farther from all points is moved, where a chart is not to scale."""


class Subject(NamedTuple):
    """Who or what a series is of; series of one subject look alike in every chart of a page or a figure.

    name
        what people call the agent, the world or the event.
    configuration
        what else tells it apart from others of this name, in words; often empty.
    role
        what kind of thing it is, which decides the palette that its look is taken from.
    number
        its place in that palette; None for its place among the series of a chart.
    """

    name: str
    configuration: str = ""
    role: Role = "agent"
    number: int | None = None


class Series(NamedTuple):
    """Points that belong together.

    label
        what the legend says.
    x, y
        where the points are, (n,); NaN for a gap.
    low, high
        the intervals around y where it was sampled, (n,); empty where there are none.
    kind
        "measured"; "fit", a line fitted to the points of the same subject; "theory", a curve of the paper; "bound",
        what the paper says of this subject.
    subject
        what it is of; None for a subject of its own, called as the label is.
    drawn
        "joined": points with bars for intervals, and a line through them unless one was fitted to them; "curve": a line
        with a band; "points": points alone; "level": a line that says the same everywhere along x; "bars": columns.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    kind: Kind = "measured"
    subject: Subject | None = None
    drawn: Drawn = "joined"

    @property
    def shows(self) -> Subject:
        """The subject, by default one that is called as the label is."""
        return Subject(self.label) if self.subject is None else self.subject


class VerticalLine(NamedTuple):
    """A vertical line at ``at``, and what changes there, in words."""

    at: float
    words: str


class Stretch(NamedTuple):
    """A stretch of x from ``begin`` to ``end``, shaded, and what is special about it, in words."""

    begin: float
    end: float
    words: str


class Matrix(NamedTuple):
    """A heat map in place of series.

    rows, columns
        names, from the top and from the left.
    values
        (rows, columns); NaN for a gap.
    texts
        what stands in the cells; empty where there is no room.
    low, high
        the values of the lightest and the darkest shade.
    ticks
        values along the scale of shades, and what stands there.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    texts: Sequence[Sequence[str]] = ()
    low: float = 0.0
    high: float = 1.0
    ticks: Mapping[float, str] = {}


class Chart(NamedTuple):
    """One panel: axes and what they hold.

    name
        for files and anchors.
    title
        what it shows, in a sentence.
    x, y
        what stands along the axes.
    series
        in the order of the legend.
    log_x, log_y
        whether the axes are logarithmic.
    caption
        how it was measured, in sentences.
    names
        along x in place of the numbers 0, 1, 2 and so on, for what is no number.
    to_scale
        False where shapes are compared, not heights: :func:`beside` then moves curves of the paper that are decades
        away from all points.
    rows
        names along y in place of the numbers 0, 1, 2 and so on, from the top.
    x_range, y_range
        where the axes begin and end; None for where the data do.
    x_ticks
        places along x and what stands there; empty for the usual ones.
    x_whole
        whether x counts something, so that no number between two whole ones stands along it.
    as_share
        whether y is written in per cent.
    from_zero
        whether y begins at 0 even if no point is near.
    marks, phases
        what changes along x, and stretches of it.
    matrix
        a heat map in place of the series.
    words
        the chart in a sentence, with its key numbers, for those who cannot see it.
    """

    name: str
    title: str
    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = True
    log_y: bool = True
    caption: str = ""
    names: Sequence[str] = ()
    to_scale: bool = True
    rows: Sequence[str] = ()
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    x_ticks: Mapping[float, str] = {}
    x_whole: bool = False
    as_share: bool = False
    from_zero: bool = False
    marks: Sequence[VerticalLine] = ()
    phases: Sequence[Stretch] = ()
    matrix: Matrix | None = None
    words: str = ""


class LegendEntry(NamedTuple):
    """What has one place in the legend: points, a line, or points and the line that was fitted to them."""

    label: str
    subject: Subject
    points: Series | None
    line: Series | None

    @property
    def is_theory(self) -> bool:
        return self.line is not None and self.line.kind == "theory"


def entries(chart: Chart) -> list[LegendEntry]:
    """The series in their order; a fit stands with the points of its subject, if these are there and have no line yet.

    A fit without such points, as that of the worst of several series, has a place and a look of its own.
    """
    made: list[LegendEntry] = []
    for series in chart.series:
        owner = next((i for i, entry in enumerate(made) if series.kind == "fit" and _wants(entry, series)), None)
        if owner is not None:
            made[owner] = made[owner]._replace(label=series.label, line=series)
        elif series.kind == "measured":
            made.append(LegendEntry(series.label, series.shows, series, None))
        else:
            made.append(LegendEntry(series.label, series.shows, None, series))
    return made


def _wants(entry: LegendEntry, line: Series) -> bool:
    return entry.points is not None and entry.line is None and entry.subject == line.shows


def is_joined(chart: Chart, entry: LegendEntry) -> bool:
    """Whether the points have a line through them.

    Not where one was fitted, where two points are one above the other, or where x is no number.
    """
    if chart.names or entry.line is not None or entry.points is None or entry.points.drawn in ("points", "bars"):
        return False
    return len(set(entry.points.x)) == len(entry.points.x)


def interval_arms(series: Series) -> NDArray[np.float64] | None:
    """How far the intervals reach below and above the points, (2, n), 0 where no end is known; None without any."""
    if not len(series.low):
        return None
    y, low, high = (np.asarray(values, np.float64) for values in (series.y, series.low, series.high))
    return np.asarray(np.nan_to_num(np.stack([y - low, high - y]), posinf=0.0, neginf=0.0).clip(min=0.0))


def settled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values without rounding errors around zero, which a logarithmic axis would blow up."""
    scale = float(np.nanmax(np.abs(values), initial=0.0))
    return np.where(np.abs(values) < 1e-9 * max(1.0, scale), 0.0, values)


def reach_of(values: Sequence[float]) -> float:
    """How many times the least of the positive values the largest is.

    Examples
    --------
    >>> reach_of([0.0, 2.0, 10.0])
    5.0
    """
    positive = [value for value in values if 0.0 < value < math.inf]
    return max(positive) / min(positive) if positive else 1.0


def measured_places(chart: Chart) -> list[float]:
    """The places along a logarithmic axis at which something was measured, in ascending order; empty if too many.

    Of places without room for two numbers between them the larger stays.
    """
    places = sorted({float(x) for one in chart.series if one.kind == "measured" for x in one.x}, reverse=True)
    if not chart.log_x or not 0 < len(places) <= MOST_TICKS:
        return []
    kept = places[:1]
    for place in places[1:]:
        if place * reach_of(places) ** NARROW <= kept[-1]:
            kept.append(place)
    return kept[::-1]


def beside(chart: Chart) -> Chart:
    """The chart as it is drawn: unchanged where it is ``to_scale``, otherwise with far curves next to the points.

    A bound with the proof's constants may be a hundred thousand times what is measured.  To scale, all points would be
    one flat band; so the curve is drawn times a power of ten.  Its label states the factor, and the caption says how
    far away it is.  Curves on one side of the points keep their order, and the factor is the same where that leaves
    none of them far away.

    Examples
    --------
    >>> series = [Series("points", [1, 2], [1.0, 2.0]), Series("bound", [1, 2], [5e4, 9e4], kind="theory")]
    >>> moved = beside(Chart("name", "title", "x", "y", series, to_scale=False)).series[1]
    >>> moved.label, moved.y
    ('bound, drawn × 10^-4', [5.0, 9.0])
    """
    points = _decades([y for one in chart.series if one.kind == "measured" for y in one.y])
    if chart.to_scale or points is None:
        return chart
    moves = _moves([_away(one, points) if one.kind == "theory" else 0.0 for one in chart.series])
    series = [_moved(one, move) if move else one for one, move in zip(chart.series, moves, strict=True)]
    notes = [_note(move) for move in sorted(set(moves) - {0})]
    return chart._replace(series=series, caption=" ".join(filter(None, [chart.caption, *notes])))


def _decades(values: Sequence[float]) -> tuple[float, float] | None:
    """The least and the largest logarithm of the values that have one."""
    logarithms = [math.log10(value) for value in values if 0.0 < value < math.inf]
    return (min(logarithms), max(logarithms)) if logarithms else None


def _away(curve: Series, points: tuple[float, float]) -> float:
    """Decades from the points to the curve: positive above all of them, negative below, 0 among them."""
    ends = _decades(curve.y)
    if ends is None:
        return 0.0
    return max(ends[0] - points[1], 0.0) + min(ends[1] - points[0], 0.0)


def _moves(away: Sequence[float]) -> list[int]:
    """By which power of ten each curve is multiplied."""
    moves = [0] * len(away)
    for side in (1, -1):
        nearest, shared = 0.0, 0
        for i in sorted((i for i in range(len(away)) if side * away[i] > 0.0), key=lambda i: abs(away[i])):
            if abs(away[i]) - shared > FAR:
                shared = math.floor(abs(away[i]) - nearest)
            nearest, moves[i] = abs(away[i]) - shared, -side * shared
    return moves


def _moved(curve: Series, move: int) -> Series:
    factor = 10.0**-move
    label = f"{curve.label}, drawn \u00d7 10^{move}"
    return curve._replace(label=label, y=[float(y) / factor for y in curve.y], subject=curve.shows)


def _note(move: int) -> str:
    where = f"at least 10^{-move} times the highest" if move < 0 else f"at most 10^{-move} times the lowest"
    return (
        f"Not to scale: what is drawn \u00d7 10^{move} is {where} point, and was moved beside the points so that "
        "shapes can be compared."
    )

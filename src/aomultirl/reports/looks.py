"""How what charts show is told apart: by colour, by dashes and by marker, the same in print and on pages.

Agents have the colours of Okabe and Ito, which colour-blind readers tell apart; each differs from the others in dashes,
marker and lightness too, so that charts can be read in grey.  Worlds have Paul Tol's muted colours, so that nobody
takes the colour of a world for that of an agent.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from aomultirl.analysis.charts import Chart, LegendEntry, Subject, entries, measured_places
from aomultirl.analysis.phrases import number

INK, FAINT, UNKNOWN = "#222222", "#8c8c8c", "#777777"
"""Colours of words, of what stands back, and of what nobody knows."""
LONG_AXIS = 100.0
"""A factor; logarithmic axes that reach farther have numbers at powers of ten alone."""


class Look(NamedTuple):
    """How a subject is drawn.

    colour
        of its line and of its marker.
    dashes
        points on and off, empty for a solid line.
    marker
        the shape of its points, empty for none.
    fill
        of the marker: white, its colour, or nothing at all.
    size, width
        of the marker and of its outline, in pixels.
    """

    colour: str
    dashes: tuple[float, ...] = ()
    marker: str = ""
    fill: Literal["white", "solid", "open"] = "white"
    size: float = 8.0
    width: float = 1.6


AGENTS = (
    Look("#000000", (), "square"),
    Look("#0072B2", (), "circle"),
    Look("#D55E00", (5.0, 1.6), "triangle-up"),
    Look("#009E73", (6.0, 1.5, 1.2, 1.5), "diamond"),
    Look("#CC79A7", (1.2, 1.4), "triangle-down"),
    Look("#E69F00", (8.0, 2.5), "cross"),
    Look("#56B4E9", (3.0, 1.2, 1.0, 1.2, 1.0, 1.2), "x"),
    Look("#7F7F7F", (2.6, 2.6), "star"),
)
PAPER = (
    Look("#222222", (4.0, 2.0)),
    Look("#707070", (1.2, 1.6)),
    Look("#222222", (7.0, 2.0, 1.2, 2.0)),
    Look("#707070", (8.0, 3.0)),
)
"""Curves of the paper."""
WORLDS = ("#332288", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#882255", "#44AA99", "#999933")
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
"""Colours and markers of worlds."""
EVENTS = {
    "new cluster": Look("#111111", (), "circle", "open", 17.0, 1.6),
    "failed exploration": Look("#B35900", (), "triangle-down", "open", 16.0, 2.2),
    "in doubt": Look("#5b5f66", (), "square", "open", 13.0, 1.2),
    "misclustered": Look("#C00000", (), "x-thin", "open", 16.0, 3.2),
    "certified": Look("#111111", (), "line-ns", "open", 15.0, 1.0),
    "less than 99 % sure": Look("#111111", (), "circle", "open", 15.0, 1.2),
    "a new world": Look(UNKNOWN, (1.2, 1.6), "circle", "open"),
}
"""What may happen in an episode; later ones are drawn above earlier ones."""


def agent_look(number: int, palette: Sequence[Look] = AGENTS) -> Look:
    """The look of the agent with this number: when the colours begin again they come with other dashes and markers."""
    turn, place = divmod(number, len(palette))
    dashes, marker = (palette[(place + shift * turn) % len(palette)] for shift in (1, 3))
    return palette[place]._replace(dashes=dashes.dashes, marker=marker.marker)


def chart_looks(chart: Chart) -> list[Look]:
    """The looks of the chart's :func:`entries`, in their order."""
    looks: list[Look] = []
    paper, others = 0, 0
    for entry in entries(chart):
        if entry.is_theory:
            looks.append(PAPER[paper % len(PAPER)])
            paper += 1
        else:
            looks.append(_look(entry, others))
            others += 1
    return looks


def _look(entry: LegendEntry, place: int) -> Look:
    subject = entry.subject
    if subject.role == "event":
        return EVENTS[subject.name]
    if subject.number is None:
        return agent_look(place, AGENTS[1:])
    if subject.role == "agent":
        return agent_look(subject.number)
    colour = WORLDS[subject.number % len(WORLDS)] if subject.role == "world" else UNKNOWN
    return Look(colour, (), SHAPES[subject.number % len(SHAPES)], "solid", width=0.6)


def event(name: str) -> Subject:
    """The subject of one of EVENTS."""
    return Subject(name, role="event", number=list(EVENTS).index(name))


def tick_labels(chart: Chart) -> dict[float, str]:
    """Places along x and what stands there; empty for wherever there is room.

    These are the chart's own ticks, its names, or on a logarithmic axis the numbers at which something was measured.
    """
    if chart.x_ticks:
        return dict(chart.x_ticks)
    if chart.names:
        return {float(place): name for place, name in enumerate(chart.names)}
    return {x: number(x) for x in measured_places(chart)}

"""Play a watched episode in the terminal; where there is none, print what happened, line by line."""

import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from aomultirl import checks
from aomultirl.analysis.recording import ARROWS, LONG_PAUSE, PAUSE, SAMPLES, Frame, Gauge, Recording, on_grid

FRAMES_A_SECOND = 8.0
NEWS, REST = 4, 16
"""Lines of what happened last, and of everything that is not a list."""
WIDE, LONG_BAR, SHORT_BAR = 96, 20, 10
"""Columns of a terminal that has room for long bars, and characters of a bar."""
SIDES = ((1, 0), (1, 6), (0, 3), (2, 3))
"""Where in a cell of 3 lines and 7 columns the sign of a pair stands: left, right, up, down."""
SIGNS = "◂▸▴▾"
COLD, HOT = (33, 41, 54), (46, 110, 158)
AGENT, TARGET, DONE, WRONG = "#f0e442", "#e69f00", "#2fb58a", "#f0703a"
STAR, PALE, EMPTY, LIMIT = "#ffffff", "#c3cdd8", "#6b7280 dim", "default"


def play(
    recording: Recording,
    console: Console,
    *,
    speed: float = 1.0,
    note: str = "",
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Show the frames one after the other; a terminal that is not one gets a line for each event.

    Parameters
    ----------
    speed
        2 is twice as fast.
    note
        a line below: which numbers are in force.
    sleep
        waits so many seconds.
    """
    check(speed)
    if not console.is_terminal or console.is_dumb_terminal:
        for line in recording.lines(note):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for number, frame in enumerate(recording.frames):
            live.update(screen(recording, number, note, (console.width, console.height)), refresh=True)
            rest = LONG_PAUSE if recording.decides(number) else PAUSE if frame.event else 1.0 / FRAMES_A_SECOND
            sleep(rest / speed)


def check(speed: float) -> None:
    """Refuse a speed that is none."""
    checks.real("speed", speed, above=0.0)


def screen(recording: Recording, number: int, note: str, size: tuple[int, int]) -> RenderableType:
    """The whole screen at one frame."""
    frame = recording.frames[number]
    rows, length = max(3, min(8, (size[1] - REST) // 2)), LONG_BAR if size[0] >= WIDE else SHORT_BAR
    counts, against = (_list(*shown, length) for shown in recording.lists(frame, rows))
    if recording.world.layout is None:
        place: RenderableType = _moves(recording, number, 2 * rows + 5)
    else:
        place = Group(_grid(recording, frame, size), _legend(recording))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row(place, Group(_phases(recording, frame), Text(), counts, Text(), against))
    log = [f"{news.step:>7,}  {news.event}" for news in recording.log(number, NEWS)]
    words = Text("\n".join(log + [""] * (NEWS - len(log))), overflow="ellipsis", no_wrap=True)
    body = Group(table, Text(), _verdict(recording, frame), words, Text(note, style="dim"))
    return Panel(
        body, title=recording.title, title_align="left", subtitle=f"step {frame.step:,}", width=min(size[0], 100)
    )


def _verdict(recording: Recording, frame: Frame) -> Text:
    words, good = recording.verdict(frame)
    style = f"bold {TARGET}" if frame.recognised else "dim"
    if good is not None:
        style = f"bold {DONE if good else WRONG}"
    return Text(words, style, overflow="ellipsis", no_wrap=True)


def _phases(recording: Recording, frame: Frame) -> Text:
    """clustering, then learning; the present one is lit."""
    text = Text()
    for part in recording.parts:
        text.append("→" if text else "", "dim")
        text.append(f" {part} ", f"bold black on {AGENT}" if part == frame.part else "dim")
    return text.append(f"\n{recording.progress(frame)}")


def _list(heading: str, gauges: list[Gauge], length: int) -> RenderableType:
    """Bars under a heading; the limit of what speaks against a cluster is in the middle of its bar."""
    table = Table.grid(padding=(0, 1))
    for one in gauges:
        colour = DONE if one.enough else WRONG if one.opinion else TARGET
        drawn = "" if one.share is None else bar(one.share, colour, length, 0.5 if one.opinion else None)
        table.add_row(one.name, drawn, one.words, *([Text(one.opinion, colour)] if one.opinion else []))
    return Group(Text(heading, "bold"), table) if gauges else Text(heading, "dim")


def bar(share: float, colour: str, length: int, mark: float | None = None) -> Text:
    """A bar of half characters; ``mark`` is where a limit is drawn."""
    halves = round(2 * length * min(1.0, max(0.0, share)))
    text = Text("━" * (halves // 2) + "╸" * (halves % 2), colour)
    text.append("━" * (length - len(text)), EMPTY)
    if mark is None:
        return text
    at = round(length * mark)
    return Text.assemble(text[:at], ("┃", LIMIT), text[at + 1 :])


def _moves(recording: Recording, number: int, rows: int) -> RenderableType:
    """The last moves, where there is no map."""
    table = Table.grid(padding=(0, 1))
    table.add_row(*(Text(head, "bold") for head in ("step", "state", "action", "to")))
    *before, last = recording.moves(number, rows)
    for move in before:
        table.add_row(*(Text(word, "dim") for word in move))
    table.add_row(*(Text(word, "bold") for word in last))
    return table


def _legend(recording: Recording) -> Text:
    text = Text(style="dim")
    text.append("●", f"bold {AGENT}")
    text.append(" agent  ★ reward")
    if recording.pairs and on_grid(recording.world):
        text.append("\n▸", TARGET)
        text.append(" pair to sample  " if recording.kind == SAMPLES else " pair compared")
        if recording.kind == SAMPLES:
            text.append("▸", DONE)
            text.append(" sampled")
    return text


def _grid(recording: Recording, frame: Frame, size: tuple[int, int]) -> Text:
    """The map: the shade says how often a cell was entered; a large map shows the part around the agent."""
    world = recording.world
    assert world.layout is not None
    rows, columns = world.layout
    large = rows * 3 + 9 <= max(24, size[1]) and columns * 7 <= max(30, size[0] - 50)
    high, wide = (3, 7) if large else (1, 2)
    across, down = min(columns, max(30, size[0] - 50) // wide), min(rows, max(12, size[1] - 10) // high)
    row, column = divmod(frame.move.successor, columns)
    top, left = (min(max(0, at - n // 2), most - n) for at, n, most in ((row, down, rows), (column, across, columns)))
    heat, text = recording.heat(frame), Text()
    for r in range(top, top + down):
        cells = [
            _cell(recording, frame, r * columns + c, _ground(heat[r * columns + c], r + c), large)
            for c in range(left, left + across)
        ]
        for line in range(high):
            for cell in cells:
                text.append_text(cell[line])
            text.append("\n")
    text.right_crop(1)
    return text


def _ground(heat: float, place: int) -> str:
    """The colour of a cell; neighbours differ a little, so that one can see where they end."""
    shade = [round(cold + (hot - cold) * heat) + 5 * (place % 2) for cold, hot in zip(COLD, HOT, strict=True)]
    return f"rgb({shade[0]},{shade[1]},{shade[2]})"


def _cell(recording: Recording, frame: Frame, state: int, ground: str, large: bool) -> list[Text]:
    """The lines of a cell."""
    world, here = recording.world, state == frame.move.successor
    ground, ink = (AGENT, "black") if here else (ground, PALE)
    reward = world.rewards[state].max() > 0.0
    if not large:
        return [Text("● " if here else "★ " if reward else "  ", f"bold {ink} on {ground}")]
    signs: dict[tuple[int, int], tuple[str, str]] = {}
    if reward:
        signs[0, 1] = ("★", "black" if here else STAR)
    if on_grid(world):
        for (s, a), visits in zip(recording.pairs, frame.visits, strict=True):
            if s == state:
                done, todo = ("#005f3f", "#8a4b00") if here else (DONE, TARGET)
                signs[SIDES[a]] = (SIGNS[a], done if recording.has_enough(visits) else todo)
        if state == frame.move.state:
            signs[1, 5 if here else 3] = (ARROWS[frame.move.action], ink)
    if here:
        signs[1, 3] = ("●", "bold black")
    lines = []
    for line in range(3):
        text = Text()
        for column in range(7):
            sign, colour = signs.get((line, column), (" ", ink))
            text.append(sign, f"{colour} on {ground}")
        lines.append(text)
    return lines

"""Play a watched episode in the terminal; where there is none, print what happened, line by line."""

import math
import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from aomultirl import checks
from aomultirl.reports.watching_frames import ARROWS, SAMPLES, Frame, Recording, heading, on_grid, pair_name

FRAMES_A_SECOND = 8.0
PAUSE, LONG_PAUSE = 1.2, 2.5
"""Seconds after an event, and after the agent has recognised the world."""
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
        for line in lines(recording, note):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for number, frame in enumerate(recording.frames):
            live.update(screen(recording, number, note, (console.width, console.height)), refresh=True)
            decided = frame.event and frame.recognised and not recording.frames[number - 1].recognised
            sleep((LONG_PAUSE if decided else PAUSE if frame.event else 1.0 / FRAMES_A_SECOND) / speed)


def check(speed: float) -> None:
    """Refuse a speed that is none."""
    checks.real("speed", speed, above=0.0)


def lines(recording: Recording, note: str = "") -> list[str]:
    """The episode in words."""
    world = recording.world
    told = [f"step {frame.step:,}, {frame.part}: {frame.event}" for frame in recording.events]
    sizes = f"{_counted(world.n_states, 'state')}, {_counted(world.n_actions, 'action')}"
    if recording.kind:
        sizes += f", {_counted(len(recording.stands_for), 'cluster')} known before"
    return [recording.title, sizes, *([note] if note else []), *told]


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def screen(recording: Recording, number: int, note: str, size: tuple[int, int]) -> RenderableType:
    """The whole screen at one frame."""
    frame = recording.frames[number]
    log = [f for f in recording.frames[: number + 1] if f.event]
    shape = (max(3, min(8, (size[1] - REST) // 2)), LONG_BAR if size[0] >= WIDE else SHORT_BAR)
    lists = (_counts(recording, frame, *shape), Text(), _clusters(recording, frame, *shape))
    if recording.world.layout is None:
        place: RenderableType = _moves(recording, number, 2 * shape[0] + 5)
    else:
        place = Group(_grid(recording, frame, size), _legend(recording))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row(place, Group(_phases(recording, frame), Text(), *lists))
    told = [f"{f.step:>7,}  {f.event}" for f in log[-NEWS:]]
    words = Text("\n".join(told + [""] * (NEWS - len(told))), overflow="ellipsis", no_wrap=True)
    body = Group(table, Text(), _verdict(recording, frame), words, Text(note, style="dim"))
    return Panel(
        body, title=recording.title, title_align="left", subtitle=f"step {frame.step:,}", width=min(size[0], 100)
    )


def _verdict(recording: Recording, frame: Frame) -> Text:
    if not recording.kind:
        return Text()
    if not frame.recognised:
        return Text("? which world is this", "dim")
    sign = recording.sign(frame)
    colour = DONE if sign == "✔" else WRONG
    return Text(f"{sign} {frame.recognised}", f"bold {colour}", overflow="ellipsis", no_wrap=True)


def _phases(recording: Recording, frame: Frame) -> Text:
    """clustering, then learning; the present one is lit."""
    text = Text()
    for part in recording.parts:
        text.append("→" if text else "", "dim")
        text.append(f" {part} ", f"bold black on {AGENT}" if part == frame.part else "dim")
    most = f" of at most {frame.part_steps:,}" if frame.part == "clustering" else f" of {frame.part_steps:,}"
    text.append(f"\n{frame.part_step:,}{most} steps, reward {frame.reward:,.6g}")
    return text


def _counts(recording: Recording, frame: Frame, rows: int, length: int) -> RenderableType:
    """How often each pair of Gamma was seen, or what else the agent goes by."""
    if not recording.kind:
        return Text("This agent does not cluster.", "dim")
    table = Table.grid(padding=(0, 1))
    if recording.kind != SAMPLES:
        title, gauges = recording.gauges(frame, rows)
        for name, share, words, enough in gauges:
            table.add_row(name, bar(share, DONE if enough else TARGET, length), words)
        return Group(Text(title, "bold"), table)
    table.add_row(Text("pair", "bold"), Text("samples", "bold"), "")
    open_first = sorted(range(len(recording.pairs)), key=lambda i: frame.visits[i] >= recording.samples)
    shown = range(len(recording.pairs)) if len(recording.pairs) <= rows else sorted(open_first[: rows - 1])
    for i in shown:
        seen, needed = int(frame.visits[i]), recording.samples
        colour = DONE if seen >= needed else TARGET
        words = f"{seen:,} of {needed:,}{' ✓' if seen >= needed else ''}"
        table.add_row(
            pair_name(recording.world, *recording.pairs[i]), bar(seen / max(1, needed), colour, length), words
        )
    if len(shown) < len(recording.pairs):
        done = int((frame.visits >= recording.samples).sum())
        table.add_row("all", bar(done / len(recording.pairs), DONE, length), f"{done} of {len(recording.pairs)} pairs")
    return table


def _clusters(recording: Recording, frame: Frame, rows: int, length: int) -> RenderableType:
    """What speaks against each cluster; the limit is in the middle of the bar."""
    if not recording.kind:
        return Text()
    if not frame.evidence:
        return Text("No cluster is known yet.", "dim")
    table = Table.grid(padding=(0, 1))
    first = frame.evidence[0]
    ranked = sorted(frame.evidence, key=lambda e: e.contradicted)
    shown = ranked if len(ranked) <= rows else ranked[: rows - 1]
    for one in sorted(shown, key=lambda e: e.cluster):
        colour = WRONG if one.contradicted else DONE
        share = one.value / (2.0 * one.limit)
        opinion = Text(recording.opinion(one, frame), colour)
        table.add_row(recording.cluster(one.cluster), bar(share, colour, length, 0.5), f"{one.value:.2f}", opinion)
    if len(shown) < len(ranked):
        table.add_row(f"and {len(ranked) - len(shown)} more")
    return Group(Text(heading(first), "bold"), table)


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
    labels = recording.world.labels
    table = Table.grid(padding=(0, 1))
    table.add_row(*(Text(head, "bold") for head in ("step", "state", "action", "to")))
    for frame in recording.frames[max(0, number + 1 - rows) : number + 1]:
        names = [
            str(labels[s]) if labels is not None and s >= 0 else str(s)
            for s in (frame.move.state, frame.move.successor)
        ]
        if frame.move.action < 0:
            names[0] = "start"
        style = "bold" if frame is recording.frames[number] else "dim"
        words = (f"{frame.step:,}", names[0], "" if frame.move.action < 0 else str(frame.move.action), names[1])
        table.add_row(*(Text(word, style) for word in words))
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
    text = Text()
    for r in range(top, top + down):
        cells = [_cell(recording, frame, r * columns + c, large) for c in range(left, left + across)]
        for line in range(high):
            for cell in cells:
                text.append_text(cell[line])
            text.append("\n")
    text.right_crop(1)
    return text


def _cell(recording: Recording, frame: Frame, state: int, large: bool) -> list[Text]:
    """The lines of a cell."""
    world, here = recording.world, state == frame.move.successor
    heat = math.log1p(int(frame.visited[state])) / math.log1p(max(int(frame.visited.max()), 20))
    lift = 5 * (sum(divmod(state, world.layout[1])) % 2) if world.layout else 0
    shade = tuple(round(a + (b - a) * heat) + lift for a, b in zip(COLD, HOT, strict=True))
    ground = AGENT if here else f"rgb({shade[0]},{shade[1]},{shade[2]})"
    ink = "black" if here else PALE
    reward = world.rewards[state].max() > 0.0
    if not large:
        return [Text("● " if here else "★ " if reward else "  ", f"bold {ink} on {ground}")]
    signs: dict[tuple[int, int], tuple[str, str]] = {}
    if reward:
        signs[0, 1] = ("★", "black" if here else STAR)
    if on_grid(world):
        for i, (s, a) in enumerate(recording.pairs):
            if s == state:
                done = recording.has_enough(int(frame.visits[i]))
                signs[SIDES[a]] = (
                    SIGNS[a],
                    "#005f3f" if here and done else "#8a4b00" if here else DONE if done else TARGET,
                )
        if state == frame.move.state:
            signs[1, 5 if here else 3] = (ARROWS[frame.move.action], ink)
    if here:
        signs[1, 3] = ("●", "bold black")
    found = []
    for line in range(3):
        text = Text()
        for column in range(7):
            sign, colour = signs.get((line, column), (" ", ink))
            text.append(sign, f"{colour} on {ground}")
        found.append(text)
    return found

"""A watched episode as an animation, the same frames that the terminal plays."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aomultirl import files
from aomultirl.analysis.recording import ARROWS, LONG_PAUSE, PAUSE, Frame, Gauge, Recording, on_grid

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 760, 480
"""Pixels of the picture."""
MAP = (24, 62, 312)
"""Left, top and size of the map."""
SIDE, BAR = 372, 120
"""Where the lists begin, and how long a bar is."""
MOST_FRAMES = 240
COLOURS = 128
STEP = 0.12
"""Seconds that a frame is shown in which nothing happens; the last is shown as long as that of the verdict."""
ROWS, MOVES, NEWS = 5, 14, 2
"""Lines of a list, of the moves where there is no map, and of what happened last."""
COLUMNS = (0, 70, 170, 230)
"""Where the columns of moves begin."""
INK, EMPTY, DIM = "#1f2933", "#e4e9ee", "#6b7785"
"""The colours of words and lines, of what is not full, and of what stands back."""
SMALLEST = 9
"""Pixels of the smallest words that can be read."""
AGENT, TARGET, DONE, WRONG, HALF = "#f0e442", "#d55e00", "#009e73", "#d55e00", "#e69f00"
COLD, HOT = (243, 246, 249), (86, 150, 196)
SIDES = ((-0.36, 0.0), (0.36, 0.0), (0.0, -0.36), (0.0, 0.36))
"""Where in a cell the sign of a pair stands: left, right, up, down."""


def check(path: Path) -> None:
    """Refuse, before anything is computed, what cannot be written."""
    if path.suffix.lower() != ".gif":
        raise ValueError(f"{path.name!r} does not end in .gif")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(f"{str(path)!r} cannot be written")


def write(recording: Recording, path: Path, note: str = "") -> None:
    """Write the animation, whole or not at all; the same recording gives the same bytes.

    Parameters
    ----------
    note
        a line below: which numbers are in force.
    """
    from PIL import Image

    check(path)
    chosen = chosen_frames(recording)
    painter = _Painter()
    # One palette for all frames: colours must not flicker.
    palette = _palette([painter.picture(recording, chosen[i * (len(chosen) - 1) // 5], note) for i in range(6)])
    indexed = (
        painter.picture(recording, number, note).quantize(palette=palette, dither=Image.Dither.NONE)
        for number in chosen
    )
    durations = [_duration(recording, number) for number in chosen]
    with files.whole(path) as partial:
        next(indexed).save(partial, "GIF", save_all=True, append_images=indexed, duration=durations, loop=0)


def chosen_frames(recording: Recording) -> list[int]:
    """The numbers of the frames to show: all, or every event and some of the others."""
    frames = recording.frames
    if len(frames) <= MOST_FRAMES:
        return list(range(len(frames)))
    events = [i for i, frame in enumerate(frames) if frame.event or i in (0, len(frames) - 1)]
    others = [i for i in range(len(frames)) if i not in set(events)]
    room = max(0, MOST_FRAMES - len(events))
    kept = [others[i * len(others) // room] for i in range(min(room, len(others)))] if room else []
    last = events[-1]
    return sorted({*events[: MOST_FRAMES - len(kept) - 1], last, *kept})


def _duration(recording: Recording, number: int) -> int:
    """How long a frame is shown, in milliseconds."""
    rest = PAUSE if recording.frames[number].event else STEP
    if recording.decides(number) or number == len(recording.frames) - 1:
        rest = LONG_PAUSE
    return round(1_000 * rest)


def _palette(pictures: "list[Image]") -> "Image":
    from PIL import Image

    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(pictures)))
    for i, picture in enumerate(pictures):
        sheet.paste(picture, (0, i * HEIGHT))
    return sheet.quantize(COLOURS, kmeans=2)


class _Painter:
    """Paints the frames of a recording, one at a time; places are pixels from the top left corner.

    Words are written by Pillow, with the font that comes with matplotlib: it takes a tenth of matplotlib's time.
    """

    def __init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.transforms import IdentityTransform

        self.figure = Figure(figsize=(WIDTH / 100.0, HEIGHT / 100.0), dpi=100)
        canvas: Any = FigureCanvasAgg(self.figure)
        self.renderer = canvas.get_renderer()
        self.pixels = np.asarray(canvas.buffer_rgba())
        self.identity = IdentityTransform()
        self.fonts: dict[tuple[int, bool], Any] = {}
        self.clear()

    def picture(self, recording: Recording, number: int, note: str) -> "Image":
        """The picture of one frame, with a note below."""
        frame = recording.frames[number]
        self.clear()
        self.text(24, 24, recording.title, size=15, bold=True, room=WIDTH - 48 - 130)
        self.text(WIDTH - 24, 24, f"step {frame.step:,}", size=15, anchor="rm")
        if recording.world.layout is None:
            self._moves(recording, number)
        else:
            self._map(recording, frame)
        self._phase(recording, frame)
        counts, against = recording.lists(frame, ROWS)
        self._list(*against, self._list(*counts, 128) + 34)
        self._words(recording, frame, number)
        self.text(24, HEIGHT - 16, note, size=9.5, colour=DIM, room=WIDTH - 48)
        return self.finished()

    def _map(self, recording: Recording, frame: Frame) -> None:
        world = recording.world
        assert world.layout is not None
        rows, columns = world.layout
        left, top, size = MAP
        cell = max(1, size // max(rows, columns))
        shades = np.array(COLD) + (np.array(HOT) - np.array(COLD)) * recording.heat(frame)[:, None]
        block = shades.astype(np.uint8).reshape(rows, columns, 3).repeat(cell, 0).repeat(cell, 1)
        self.pixels[top : top + rows * cell, left : left + columns * cell, :3] = block
        for i in range(rows + 1 if cell > 4 else 0):
            self.rectangle(left, top + i * cell, columns * cell, 1, "white")
        for i in range(columns + 1 if cell > 4 else 0):
            self.rectangle(left + i * cell, top, 1, rows * cell, "white")

        def centre(state: int) -> tuple[float, float]:
            row, column = divmod(state, columns)
            return left + (column + 0.5) * cell, top + (row + 0.5) * cell

        for place in np.flatnonzero(world.rewards.max(axis=1) > 0.0):
            x, y = centre(int(place))
            self.sign(x - 0.3 * cell, y - 0.3 * cell, "*", 0.17 * cell, INK)
        if on_grid(world):
            for (state, action), visits in zip(recording.pairs, frame.visits, strict=True):
                x, y = centre(state)
                right, down = SIDES[action]
                colour = DONE if recording.has_enough(visits) else TARGET
                self.sign(x + right * cell, y + down * cell, "<>^v"[action], 0.12 * cell, colour)
        x, y = centre(frame.move.successor)
        if frame.move.state >= 0:
            before = centre(frame.move.state)
            if on_grid(world) and frame.move.state != frame.move.successor and cell > 20:
                self.text(*before, ARROWS[frame.move.action], size=0.42 * cell, anchor="mm", colour=INK)
        self.sign(x, y, "o", max(4.0, 0.36 * cell), AGENT, edge=INK)

    def _moves(self, recording: Recording, number: int) -> None:
        """The last moves, where there is no map."""
        left, top, _ = MAP
        for x, head in zip(COLUMNS, ("step", "state", "action", "to"), strict=True):
            self.text(left + x, top + 8, head, bold=True)
        moves = recording.moves(number, MOVES)
        for line, move in enumerate(moves, 1):
            for x, word in zip(COLUMNS, move, strict=True):
                self.text(left + x, top + 10 + 20 * line, word[:14], colour=INK if line == len(moves) else DIM)

    def _phase(self, recording: Recording, frame: Frame) -> None:
        for i, part in enumerate(recording.parts):
            here = part == frame.part
            self.rectangle(SIDE + 96 * i, 60, 90, 20, AGENT if here else EMPTY)
            self.text(SIDE + 96 * i + 45, 70, part, anchor="mm", bold=here)
        self.text(SIDE, 96, recording.progress(frame), colour=DIM)

    def _list(self, heading: str, gauges: list[Gauge], top: float) -> float:
        """Bars under a heading, the limit of what speaks against a cluster in the middle of its bar; where it ends."""
        self.text(SIDE, top, heading, bold=bool(gauges), colour=INK if gauges else DIM)
        for i, one in enumerate(gauges, 1):
            y, colour = top + 20 * i, DONE if one.enough else WRONG if one.opinion else INK
            self.text(SIDE, y, one.name, colour=DIM if one.share is None else INK)
            if one.share is None:
                continue
            self.bar(SIDE + 106, y, one.share, HALF if colour == INK else colour, length=BAR)
            if one.opinion:
                self.rectangle(SIDE + 106 + BAR / 2, y - 7, 2, 14, INK)
            self.text(SIDE + 106 + BAR + 8, y, "  ".join(filter(None, (one.words, one.opinion))), colour=colour)
        return top + 20 * len(gauges)

    def _words(self, recording: Recording, frame: Frame, number: int) -> None:
        """The verdict, and the last events."""
        words, good = recording.verdict(frame)
        colour = INK if frame.recognised else DIM
        if good is not None:
            colour = DONE if good else WRONG
        self.text(24, 392, words, size=15, bold=bool(frame.recognised), colour=colour, room=WIDTH - 48)
        for i, news in enumerate(recording.log(number, NEWS)):
            self.text(24, 416 + 18 * i, f"{news.step:,}: {news.event}", room=WIDTH - 48)

    def clear(self) -> None:
        """Make the picture white again, and forget the words."""
        self.pixels[:] = 255
        self.words: list[tuple[tuple[float, float], str, dict[str, Any]]] = []

    def finished(self) -> "Image":
        """What was painted, with the words on top."""
        from PIL import Image, ImageDraw

        picture = Image.fromarray(self.pixels[:, :, :3].copy())
        pen = ImageDraw.Draw(picture)
        for place, words, looks in self.words:
            pen.text(place, words, **looks)
        return picture

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 12,
        colour: str = INK,
        bold: bool = False,
        anchor: str = "lm",
        room: float = math.inf,
    ) -> None:
        """Words, centred vertically at y, ``size`` pixels high; anchor: as in Pillow.

        Words wider than ``room`` pixels are written smaller, and where the smallest are still too wide, cut short.
        """
        pixels = round(size)
        while pixels > SMALLEST and self._font(pixels, bold).getlength(words) > room:
            pixels -= 1
        font = self._font(pixels, bold)
        if font.getlength(words) > room:
            while words and font.getlength(f"{words}…") > room:
                words = words[:-1]
            words = f"{words.rstrip()}…"
        self.words.append(((x, y), words, {"font": font, "fill": colour, "anchor": anchor}))

    def _font(self, size: int, bold: bool) -> Any:
        from matplotlib.font_manager import FontProperties, findfont
        from PIL import ImageFont

        if (size, bold) not in self.fonts:
            path = findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"))
            self.fonts[size, bold] = ImageFont.truetype(path, size)
        return self.fonts[size, bold]

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle, its top left corner at (x, y)."""
        from matplotlib.colors import to_rgb

        tint = np.round(np.array(to_rgb(colour)) * 255.0).astype(np.uint8)
        self.pixels[round(y) : round(y + height), round(x) : round(x + width), :3] = tint

    def bar(self, x: float, y: float, share: float, colour: str, length: float) -> None:
        """A horizontal bar."""
        self.rectangle(x, y - 4, length, 8, EMPTY)
        self.rectangle(x, y - 4, length * min(1.0, max(0.0, share)), 8, colour)

    def sign(self, x: float, y: float, marker: str, size: float, colour: str, edge: str = "none") -> None:
        """A marker of matplotlib, ``size`` points across."""
        from matplotlib.lines import Line2D

        drawn: Any = Line2D([x], [HEIGHT - y], marker=marker, markersize=size, mfc=colour, mec=edge)
        drawn.set_transform(self.identity)
        drawn.set_figure(self.figure)
        drawn.draw(self.renderer)

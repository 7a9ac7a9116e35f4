"""A watched episode as an animation, the same frames that the terminal plays."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, files
from aomultirl.analysis.recording import (
    ARROWS,
    BELIEF,
    LONG_PAUSE,
    PAUSE,
    SAMPLES,
    Frame,
    Gauge,
    Recording,
    on_grid,
)
from aomultirl.reports.canvas import EMPTY, INK, Canvas

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 760, 480
"""Pixels of the picture."""
EDGE = 24
"""Pixels left free at the sides."""
MAP = (EDGE, 48, 300)
"""Left, top and size of the map."""
SIDE, BAR = 356, 120
"""Where the lists begin, and how long a bar is."""
SIGNS, VERDICT, NEWS_TOP, TIME, NOTE = 362, 394, 424, 456, 469
"""How far down the signs are explained, the verdict stands, news begin, time goes by, and the note stands."""
MOST_FRAMES = 240
COLOURS = 128
SHORTEST = 2
"""Hundredths of a second; what is shown for less, players slow down to a tenth."""
STEP = 0.12
"""Seconds that a frame is shown in which nothing happens; the last is shown as long as that of the verdict."""
ROWS, MOVES, NEWS = 5, 14, 2
"""Lines of a list, of the moves where there is no map, and of what happened last."""
COLUMNS = (0, 70, 170, 230)
"""Where the columns of moves begin."""
DIM = "#6b7785"
"""The colour of what stands back."""
AGENT, TARGET, DONE, WRONG, HALF = "#f0e442", "#d55e00", "#009e73", "#d55e00", "#e69f00"
GOOD, BAD = "#d6efe6", "#fbe3d3"
"""The ground of a verdict that is right, or wrong, after the frame in which it falls."""
TRUTH = "◀ the truth"
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


def write(recording: Recording, path: Path, note: str = "", *, speed: float = 1.0) -> None:
    """Write the animation, whole or not at all; the same recording gives the same bytes.

    Parameters
    ----------
    note
        a line below: which numbers are in force.
    speed
        2 is twice as fast.
    """
    from PIL import Image

    check(path)
    checks.real("speed", speed, above=0.0)
    chosen = chosen_frames(recording)
    painter = _Painter()
    # One palette for all frames: colours must not flicker.
    looked_at = {chosen[i * (len(chosen) - 1) // 5] for i in range(6)}
    looked_at.update(number for number in chosen if recording.decides(number))
    palette = _palette([painter.picture(recording, number, note) for number in sorted(looked_at)])
    indexed = (
        painter.picture(recording, number, note).quantize(palette=palette, dither=Image.Dither.NONE)
        for number in chosen
    )
    durations = [_duration(recording, number, speed) for number in chosen]
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


def _duration(recording: Recording, number: int, speed: float) -> int:
    """How long a frame is shown, in milliseconds; a GIF knows hundredths of a second, and players show none for less
    than two of them."""
    rest = PAUSE if recording.frames[number].event else STEP
    if recording.decides(number) or number == len(recording.frames) - 1:
        rest = LONG_PAUSE
    return 10 * max(SHORTEST, round(100 * rest / speed))


def _palette(pictures: "list[Image]") -> "Image":
    from PIL import Image

    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(pictures)))
    for i, picture in enumerate(pictures):
        sheet.paste(picture, (0, i * HEIGHT))
    return sheet.quantize(COLOURS, kmeans=2)


def _shades(heat: NDArray[np.float64]) -> NDArray[np.float64]:
    """The colours of states that were visited so much, (..., 3)."""
    return np.asarray(np.array(COLD) + (np.array(HOT) - np.array(COLD)) * heat[..., None])


def _mixed(heat: float) -> str:
    """The colour of a state that was visited so much."""
    return "#{:02x}{:02x}{:02x}".format(*(int(tint) for tint in _shades(np.array(heat))))


class _Painter(Canvas):
    """Paints the frames of a recording, one at a time."""

    def __init__(self) -> None:
        super().__init__(WIDTH, HEIGHT)

    def picture(self, recording: Recording, number: int, note: str) -> "Image":
        """The picture of one frame, with a note below."""
        frame = recording.frames[number]
        self.clear()
        self.text(EDGE, 24, recording.title, size=15, bold=True, room=WIDTH - 2 * EDGE - 130)
        self.text(WIDTH - EDGE, 24, f"step {frame.step:,}", size=15, anchor="rm")
        if recording.world.layout is None:
            self._moves(recording, number)
        else:
            self._map(recording, frame)
            self._signs(recording)
        self._phase(recording, frame)
        counts, against = recording.lists(frame, ROWS)
        self._list(*against, self._list(*counts, 122) + 30)
        self._bars(recording)
        self._words(recording, number)
        self._time(recording, number)
        self.text(EDGE, NOTE, note, size=9.5, colour=DIM, room=WIDTH - 2 * EDGE)
        return self.finished()

    def _map(self, recording: Recording, frame: Frame) -> None:
        world = recording.world
        assert world.layout is not None
        rows, columns = world.layout
        left, top, size = MAP
        cell = max(1, size // max(rows, columns))
        block = (
            _shades(recording.heat(frame)).astype(np.uint8).reshape(rows, columns, 3).repeat(cell, 0).repeat(cell, 1)
        )
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

    def _signs(self, recording: Recording) -> None:
        """What the signs on the map are."""
        left = MAP[0] + 6
        entries = [("o", AGENT, "agent"), ("*", INK, "reward"), ("s", _mixed(0.7), "darker: more visits")]
        if recording.pairs and on_grid(recording.world):
            entries[2:] = [(">", TARGET, "compared" if recording.kind != SAMPLES else "to sample")]
            entries += [(">", DONE, "sampled")] if recording.kind == SAMPLES else []
        for marker, colour, words in entries:
            self.sign(left, SIGNS, marker, 9, colour, edge=INK if marker == "o" else "none")
            self.text(left + 10, SIGNS, words, size=11, colour=DIM)
            left += 28 + self.font(11, False).getlength(words)

    def _bars(self, recording: Recording) -> None:
        """What the colours of the bars are, and which world is the true one."""
        if not recording.kind:
            return
        enough = "almost certain, over 99 %" if recording.kind == BELIEF else "enough"
        left = SIDE
        for colour, words in ((HALF, "less"), (DONE, enough)):
            self.rectangle(left, SIGNS - 4, 14, 8, colour)
            self.text(left + 20, SIGNS, words, size=11, colour=DIM)
            left += 36 + self.font(11, False).getlength(words)
        self.text(left, SIGNS, f"{TRUTH}, hidden from it", size=11, colour=INK, room=WIDTH - EDGE - left)

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
            self.rectangle(SIDE + 96 * i, 48, 90, 20, AGENT if here else EMPTY)
            self.text(SIDE + 96 * i + 45, 58, part, anchor="mm", bold=here)
        self.text(SIDE, 84, recording.progress(frame), colour=DIM)

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
            said = "  ".join(filter(None, (one.words, one.opinion)))
            self.text(SIDE + 106 + BAR + 8, y, said, colour=colour)
            if one.is_truth:
                self.text(WIDTH - EDGE, y, TRUTH, size=11, bold=True, anchor="rm")
        return top + 20 * len(gauges)

    def _words(self, recording: Recording, number: int) -> None:
        """The verdict, on a ground that is brightest in the frame in which it falls, and the last events."""
        frame = recording.frames[number]
        words, good = recording.verdict(frame)
        since, colour = recording.known_since(number), INK if frame.recognised else DIM
        if good is not None:
            colour = DONE if good else WRONG
        room = float(WIDTH - 2 * EDGE)
        if since is not None:
            ground = {True: GOOD, False: BAD, None: EMPTY}[good]
            if recording.decides(number):
                ground, colour = (INK if good is None else colour), "white"
            self.rectangle(EDGE - 8, VERDICT - 15, WIDTH - 2 * EDGE + 16, 30, ground)
            moment = f"since step {since.step:,}"
            self.text(WIDTH - EDGE, VERDICT, moment, size=13, colour=colour, anchor="rm")
            room -= self.font(13, False).getlength(moment) + 20
        self.text(EDGE, VERDICT, words, size=15, bold=bool(frame.recognised), colour=colour, room=room)
        for i, news in enumerate(recording.log(number, NEWS)):
            self.text(EDGE, NEWS_TOP + 17 * i, f"{news.step:,}: {news.event}", room=WIDTH - 2 * EDGE)

    def _time(self, recording: Recording, number: int) -> None:
        """How much of the animation is over, with a mark where the agent recognises the world."""
        length, last = WIDTH - 2 * EDGE, max(1, len(recording.frames) - 1)
        self.rectangle(EDGE, TIME, length, 3, EMPTY)
        self.rectangle(EDGE, TIME, length * number / last, 3, DIM)
        for place in range(number + 1):
            if recording.decides(place):
                right = recording.verdict(recording.frames[place])[1]
                colour = INK if right is None else DONE if right else WRONG
                self.rectangle(EDGE + length * place / last - 2, TIME - 3, 4, 9, colour)

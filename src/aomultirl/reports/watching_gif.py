"""A watched episode as an animation, the same frames that the terminal plays."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aomultirl import files
from aomultirl.reports.watching_canvas import EMPTY, INK, Canvas
from aomultirl.reports.watching_frames import ARROWS, SAMPLES, Frame, Gauge, Recording, heading, on_grid, pair_name

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 760, 480
"""Pixels."""
MAP = (24, 62, 312)
"""Left, top and size of the map."""
SIDE, BAR = 372, 120
"""Where the lists begin, and how long a bar is."""
MOST_FRAMES = 240
COLOURS = 128
STEP, PAUSE, LONG_PAUSE = 120, 1_200, 2_500
"""Milliseconds for a step, an event, and the moment the world is recognised; also for the end."""
ROWS = 5
"""Lines of a list."""
DIM = "#6b7785"
AGENT, TARGET, DONE, WRONG = "#f0e442", "#d55e00", "#009e73", "#d55e00"
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
    frame = recording.frames[number]
    decided = frame.recognised and not recording.frames[max(0, number - 1)].recognised
    if decided or number == len(recording.frames) - 1:
        return LONG_PAUSE
    return PAUSE if frame.event else STEP


def _palette(pictures: "list[Image]") -> "Image":
    from PIL import Image

    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(pictures)))
    for i, picture in enumerate(pictures):
        sheet.paste(picture, (0, i * HEIGHT))
    return sheet.quantize(COLOURS, kmeans=2)


class _Painter(Canvas):
    """Paints frames."""

    def __init__(self) -> None:
        super().__init__(WIDTH, HEIGHT)

    def picture(self, recording: Recording, number: int, note: str) -> "Image":
        """One frame."""
        frame = recording.frames[number]
        self.clear()
        self.text(24, 24, recording.title, size=15, bold=True, room=WIDTH - 48 - 130)
        self.text(WIDTH - 24, 24, f"step {frame.step:,}", size=15, anchor="rm")
        if recording.world.layout is None:
            self._moves(recording, number)
        else:
            self._map(recording, frame)
        self._phase(recording, frame)
        below = self._counts(recording, frame, 128)
        self._clusters(recording, frame, below + 34)
        self._words(recording, frame, number)
        self.text(24, HEIGHT - 16, note, size=9.5, colour=DIM, room=WIDTH - 48)
        return self.finished()

    def _map(self, recording: Recording, frame: Frame) -> None:
        world = recording.world
        assert world.layout is not None
        rows, columns = world.layout
        left, top, size = MAP
        cell = max(1, size // max(rows, columns))
        heat = np.log1p(frame.visited) / math.log1p(max(int(frame.visited.max()), 20))
        shades = np.array(COLD) + (np.array(HOT) - np.array(COLD)) * heat[:, None]
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
        labels = recording.world.labels
        left, top, _ = MAP
        for x, head in zip((0, 70, 170, 230), ("step", "state", "action", "to"), strict=True):
            self.text(left + x, top + 8, head, bold=True)
        for line, frame in enumerate(recording.frames[max(0, number - 13) : number + 1]):
            names = [str(s if labels is None else labels[s])[:14] for s in (frame.move.state, frame.move.successor)]
            if frame.move.action < 0:
                names[0] = "start"
            words = (f"{frame.step:,}", names[0], "" if frame.move.action < 0 else str(frame.move.action), names[1])
            colour = INK if frame is recording.frames[number] else DIM
            for x, word in zip((0, 70, 170, 230), words, strict=True):
                self.text(left + x, top + 30 + 20 * line, word, colour=colour)

    def _phase(self, recording: Recording, frame: Frame) -> None:
        for i, part in enumerate(recording.parts):
            here = part == frame.part
            self.rectangle(SIDE + 96 * i, 60, 90, 20, AGENT if here else EMPTY)
            self.text(SIDE + 96 * i + 45, 70, part, anchor="mm", bold=here)
        most = "at most " if frame.part == "clustering" else ""
        progress = f"{frame.part_step:,} of {most}{frame.part_steps:,} steps, reward {frame.reward:,.6g}"
        self.text(SIDE, 96, progress, colour=DIM)

    def _counts(self, recording: Recording, frame: Frame, top: float) -> float:
        """How often each pair of Gamma was seen, or what else the agent goes by; where the list ends."""
        if not recording.kind:
            self.text(SIDE, top, "This agent does not cluster.", colour=DIM)
            return top
        if recording.kind != SAMPLES:
            title, lines = recording.gauges(frame, ROWS)
            return self._gauges(title, lines, top)
        needed = recording.samples
        lines = [
            (pair_name(recording.world, *pair), seen / needed, f"{seen:,} of {needed:,}", seen >= needed)
            for pair, seen in zip(recording.pairs, frame.visits.tolist(), strict=True)
        ]
        if len(lines) > ROWS:
            done = sum(line[3] for line in lines)
            lines = sorted(lines, key=lambda line: line[3])[: ROWS - 1]
            lines.append(("all", done / len(recording.pairs), f"{done} of {len(recording.pairs)} pairs", False))
        return self._gauges("samples of each pair", lines, top)

    def _gauges(self, title: str, lines: list[Gauge], top: float) -> float:
        self.text(SIDE, top, title, bold=True)
        for i, (name, share, words, done) in enumerate(lines, 1):
            y = top + 20 * i
            self.text(SIDE, y, name)
            self.bar(SIDE + 106, y, share, DONE if done else "#e69f00", length=BAR)
            self.text(SIDE + 106 + BAR + 8, y, words, colour=DONE if done else INK)
        return top + 20 * len(lines)

    def _clusters(self, recording: Recording, frame: Frame, top: float) -> None:
        """What speaks against each cluster; the limit is in the middle of the bar."""
        if not frame.evidence:
            self.text(SIDE, top, "No cluster is known yet." if recording.kind else "", colour=DIM)
            return
        first = frame.evidence[0]
        self.text(SIDE, top, heading(first), bold=True)
        ranked = sorted(frame.evidence, key=lambda one: one.contradicted)
        shown = ranked if len(ranked) <= ROWS else ranked[: ROWS - 1]
        for i, one in enumerate(sorted(shown, key=lambda one: one.cluster), 1):
            y = top + 20 * i
            colour = WRONG if one.contradicted else DONE
            self.text(SIDE, y, recording.cluster(one.cluster))
            self.bar(SIDE + 106, y, one.value / (2.0 * one.limit), colour, length=BAR)
            self.rectangle(SIDE + 106 + BAR / 2, y - 7, 2, 14, INK)
            self.text(SIDE + 106 + BAR + 8, y, f"{one.value:.2f}  {recording.opinion(one, frame)}", colour=colour)
        if len(shown) < len(ranked):
            self.text(SIDE, top + 20 * ROWS, f"and {len(ranked) - len(shown)} more", colour=DIM)

    def _words(self, recording: Recording, frame: Frame, number: int) -> None:
        """The verdict, and the last events."""
        if frame.recognised:
            sign = recording.sign(frame)
            colour = DONE if sign == "✔" else WRONG
            self.text(24, 392, f"{sign} {frame.recognised}", size=15, bold=True, colour=colour, room=WIDTH - 48)
        elif recording.kind:
            self.text(24, 392, "? which world is this", size=15, colour=DIM)
        log = [f for f in recording.frames[: number + 1] if f.event]
        for i, told in enumerate(log[-2:]):
            self.text(24, 416 + 18 * i, f"{told.step:,}: {told.event}", room=WIDTH - 48)

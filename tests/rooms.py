"""The picture of the package's rooms and doors in ``docs/design.md``, drawn from what the files import.

A room is a part of the package in the order of ``test_layers.py``: a folder, or a file of the first level.  A door
leads from a room to another that it imports from.  ``make rooms`` draws the picture anew; ``test_rooms.py`` compares it
with the files.
"""

import ast
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from test_layers import FILES, ORDER, ROOT, imported_parts, part

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "rooms.svg"
CELL, EDGE, LABEL = 22, 14, 130
"""Pixels: of a row and a column, around the picture, and for the name of the last room."""
DOT = 5
INK, LINE, PAPER = "#1f2937", "#d1d5db", "#ffffff"
LEGEND = (
    ("folder", "a folder of the package"),
    ("file", "a file of the package"),
    ("open", "a door: the room of this row imports from the room of this column"),
    ("called", "a door that is used only inside functions, or for types"),
)


class Door(NamedTuple):
    """One room imports from another.

    Attributes
    ----------
    room
        the name of the room that imports.
    other
        the name of the room that it imports from.
    """

    room: str
    other: str


def imports(block, at_once):
    """The import statements in a list of statements, which cannot be anywhere else.

    Parameters
    ----------
    block
        the statements, such as the body of a module.
    at_once
        leave out what does not run while the module is imported: imports inside functions, and those for types.
    """
    for node in block:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not (at_once and (for_types or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))):
            for name in ("body", "handlers", "cases", "orelse", "finalbody"):
                yield from imports(getattr(node, name, ()), at_once)


def doors_of(files):
    """The doors of some files, each with whether it is passed while the room is imported.

    Parameters
    ----------
    files
        pairs of a room's name and the text of one of its files.

    Returns
    -------
    dict of Door to bool
    """
    found = {}
    for room, source in files:
        tree = ast.parse(source)
        early = {*imported_parts(ast.Module([*imports(tree.body, at_once=True)], []))}
        for other in imported_parts(ast.Module([*imports(tree.body, at_once=False)], [])):
            if other in ORDER and other != room:
                door = Door(room, other)
                found[door] = found.get(door, False) or other in early
    return found


@cache
def doors():
    """The doors of the package as it is; read once, as it takes seconds."""
    return doors_of((part(path), (ROOT / path).read_text(encoding="utf-8")) for path in FILES)


def draw(rooms, doors):
    """The picture as the text of an SVG file: rooms on a staircase, doors below it.

    Parameters
    ----------
    rooms
        names in their order.
    doors
        as :func:`doors_of` returns them.
    """
    place = {room: EDGE + CELL * number + CELL // 2 for number, room in enumerate(rooms)}
    width, height = 2 * EDGE + CELL * len(rooms) + LABEL, 2 * EDGE + CELL * len(rooms)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        "<title>The rooms of aomultirl and the doors between them</title>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    for room, middle in place.items():
        entered = [place[door.other] for door in doors if door.room == room]
        entering = [place[door.room] for door in doors if door.other == room]
        if entered:
            lines.append(f'<path d="M{min(entered)} {middle}H{middle}" stroke="{LINE}"/>')
        if entering:
            lines.append(f'<path d="M{middle} {middle}V{max(entering)}" stroke="{LINE}"/>')
    for room, middle in place.items():
        kind = "folder" if (ROOT / room).is_dir() else "file"
        mark = _mark(kind, middle, middle)
        lines.append(f'<g class="room" data-name="{room}">{mark}{_text(room, middle, middle)}</g>')
    for door in sorted(doors, key=lambda door: (place[door.room], place[door.other])):
        mark = _mark("open" if doors[door] else "called", place[door.other], place[door.room])
        lines.append(
            f'<g class="door" data-room="{door.room}" data-other="{door.other}">'
            f"<title>{door.room} imports from {door.other}</title>{mark}</g>"
        )
    for row, (kind, words) in enumerate(LEGEND):
        x, y = width // 3, EDGE + CELL + CELL * row
        lines.append(f'<g class="legend">{_mark(kind, x, y)}{_text(words, x, y)}</g>')
    return "\n".join([*lines, "</svg>", ""])


def _mark(kind, x, y):
    """A square for a room, a disc for a door; filled or not."""
    fill = INK if kind in ("folder", "open") else PAPER
    if kind in ("folder", "file"):
        left, top, side = x - DOT - 1, y - DOT - 1, 2 * DOT + 2
        return f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="{fill}" stroke="{INK}"/>'
    return f'<circle cx="{x}" cy="{y}" r="{DOT}" fill="{fill}" stroke="{INK}"/>'


def _text(words, x, y):
    return f'<text x="{x + CELL // 2 + 2}" y="{y + 4}" fill="{INK}">{escape(words)}</text>'


def drawn(picture):
    """The rooms in their order, and the doors, that a picture shows.

    Each door is looked up by where its disc is, between the squares of the two rooms: the words that belong to it do
    not count.
    """
    rooms = re.findall(r'<g class="room" data-name="(\w+)"><rect x="(\d+)" y="(\d+)" width="(\d+)"', picture)
    at = {int(x) + int(width) // 2: name for name, x, _, width in rooms}
    discs = re.findall(r'<g class="door".*?<circle cx="(\d+)" cy="(\d+)" r="\d+" fill="(#\w+)"', picture)
    return list(at.values()), {Door(at[int(y)], at[int(x)]): fill == INK for x, y, fill in discs}


if __name__ == "__main__":
    PICTURE.write_text(draw(ORDER, doors()), encoding="utf-8")
    print(f"{len(ORDER)} rooms and {len(doors())} doors are in {PICTURE}")  # noqa: T201

"""A grid world with somebody in it, as text and as an image."""

import numpy as np
from numpy.typing import NDArray

from aomultirl.mdp import MDP

CELL = 32
"""Pixels of a cell."""
PAPER, LINE, GAIN, END, WALKER = (250, 250, 247), (200, 200, 195), (244, 196, 48), (70, 70, 80), (31, 119, 180)
"""Colours of an empty cell, of the lines, of a cell that pays, of a terminal one, and of who walks."""


def as_text(world: MDP, state: int) -> str:
    """One character a cell: ``@`` who walks, ``*`` where an action pays, ``#`` a terminal state, ``.`` the rest."""
    rows, columns = _layout(world)
    pays = world.rewards.max(axis=1) > 0.0
    cells = np.where(world.terminal, "#", np.where(pays, "*", "."))
    cells[state] = "@"
    return "\n".join("".join(row) for row in cells.reshape(rows, columns)) + "\n"


def as_image(world: MDP, state: int) -> NDArray[np.uint8]:
    """(rows * CELL, columns * CELL, 3): a cell is the more golden the more an action in it pays."""
    rows, columns = _layout(world)
    worth = np.where(world.terminal, 0.0, world.rewards.max(axis=1))[:, None]
    colours = (1.0 - worth) * PAPER + worth * np.array(GAIN)
    colours[world.terminal] = END
    image = np.repeat(np.repeat(colours.reshape(rows, columns, 3), CELL, axis=0), CELL, axis=1)
    image[::CELL] = image[:, ::CELL] = image[-1] = image[:, -1] = LINE
    y, x = np.mgrid[:CELL, :CELL] - (CELL - 1) / 2.0
    row, column = divmod(state, columns)
    inside = x**2 + y**2 <= (0.3 * CELL) ** 2
    image[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL][inside] = WALKER
    return image.astype(np.uint8)


def _layout(world: MDP) -> tuple[int, int]:
    if world.layout is None:
        raise ValueError("this world is no grid: it has no layout, and cannot be drawn")
    return world.layout

"""The paper's grids (Section 5 and Appendix J): four corners with reward, one of them easy to enter.

Description
    A size x size grid; state = row * size + column, rows counted from the top.  Acting in a corner earns 1,
    acting anywhere else 0.  World m makes one corner easy to enter, the other three hard.

Actions
    0 left, 1 right, 2 up, 3 down.

Transitions
    A move succeeds with probability 0.85; otherwise one of the other neighbours, each equally likely.

    * A move into a hard corner succeeds with probability 0.2 (0.3 for the bottom right one).
    * A move out of the grid from a corner stays with probability 0.7 and goes the opposite way with 0.3.
    * A move out of the grid from another edge cell: ``edges="third"``, the paper's text, goes to each of the
      three neighbours with probability 1/3 (the text's example prints the cell itself as one of them, a slip);
      ``edges="stay"``, what the authors ran, stays.

Worlds
    m1 top left, m2 top right, m3 bottom left, m4 bottom right, as in the text (the released code swaps the
    last two).
"""

import numpy as np

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin

LEFT, RIGHT, UP, DOWN = range(4)
MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))
OPPOSITE = (RIGHT, LEFT, DOWN, UP)
STATE_BYTES = 3000
"""Memory for a state of all four worlds while they are made, measured."""
SUCCESS, HARD, HARD_LAST, CORNER_STAY = 0.85, 0.2, 0.3, 0.7


def gridworld(size: int = 4, edges: str = "third") -> ModelSet:
    """The paper's four grids, start at row 1, column 1.

    Parameters
    ----------
    size
        rows and columns, at least 3.
    edges
        "third" (the text) or "stay" (what the authors ran), for moves out of the grid at an edge.

    Examples
    --------
    >>> gridworld()
    ModelSet(4 worlds, 16 states, 4 actions)
    """
    made = origin("gridworld", locals())
    size = checks.integer("size", size, least=3)
    checks.choice("edges", edges, ("third", "stay"))
    sizes.check("size", size, STATE_BYTES * float(size) ** 2, f"making four worlds of {size}**2 states")
    last = size - 1
    corners = ((0, 0), (0, last), (last, 0), (last, last))
    rewards = np.zeros((size * size, 4))
    rewards[[row * size + column for row, column in corners]] = 1.0
    worlds = [MDP(_lists(size, edges, easy), rewards, start=size + 1, layout=(size, size)) for easy in corners]
    return ModelSet(worlds, made)


def _lists(size: int, edges: str, easy: tuple[int, int]) -> list[list[dict[int, float]]]:
    return [
        [_row(size, edges, easy, row, column, action) for action in range(4)]
        for row in range(size)
        for column in range(size)
    ]


def _row(size: int, edges: str, easy: tuple[int, int], row: int, column: int, action: int) -> dict[int, float]:
    """{successor: probability} of one action in one cell."""
    last = size - 1
    here = row * size + column
    neighbours = {
        move: (row + down, column + right)
        for move, (down, right) in enumerate(MOVES)
        if 0 <= row + down <= last and 0 <= column + right <= last
    }
    state = {move: r * size + c for move, (r, c) in neighbours.items()}
    if action not in neighbours:
        if len(neighbours) == 2:
            return {here: CORNER_STAY, state[OPPOSITE[action]]: 1.0 - CORNER_STAY}
        return {here: 1.0} if edges == "stay" else dict.fromkeys(state.values(), 1.0 / 3.0)
    aim = neighbours[action]
    success = SUCCESS
    if aim[0] in (0, last) and aim[1] in (0, last) and aim != easy:
        success = HARD_LAST if aim == (last, last) else HARD
    others = [state[move] for move in neighbours if move != action]
    return {state[action]: success} | dict.fromkeys(others, (1.0 - success) / len(others))

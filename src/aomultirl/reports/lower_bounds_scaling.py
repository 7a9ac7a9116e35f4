"""Curves of the paper that lie decades away from everything measured, moved beside it.

A bound with the proof's constants may be a hundred thousand times what is measured.  To scale, all points would be one
flat band; where a figure compares shapes, the curve is drawn times a power of ten that its label states.
"""

import math
from collections.abc import Sequence

from aomultirl.experiments.lower_bounds.findings import Figure, Series

FAR = 2.0
"""Decades; what lies farther from all points is moved."""


def beside(figure: Figure) -> Figure:
    """The figure as it is drawn: as it is where it is ``to_scale``, otherwise with far curves next to the points.

    A curve that is moved says so in its label, and the caption says how far away it is.  Curves on one side of the
    points keep their order, and the factor is the same where that leaves none of them far away.

    Examples
    --------
    >>> series = [Series("points", [1, 2], [1.0, 2.0]), Series("bound", [1, 2], [5e4, 9e4], kind="theory")]
    >>> beside(Figure("name", "title", "x", "y", series, to_scale=False)).series[1]
    Series(label='bound, drawn × 10^-4', x=[1, 2], y=[5.0, 9.0], low=(), high=(), kind='theory')
    """
    found = _decades([y for one in figure.series if one.kind == "measured" for y in one.y])
    if figure.to_scale or found is None:
        return figure
    moves = _moves([_away(one, found) if one.kind == "theory" else 0.0 for one in figure.series])
    series = [_moved(one, move) if move else one for one, move in zip(figure.series, moves, strict=True)]
    notes = [_note(move) for move in sorted(set(moves) - {0})]
    return figure._replace(series=series, caption=" ".join(filter(None, [figure.caption, *notes])))


def _decades(values: Sequence[float]) -> tuple[float, float] | None:
    """The least and the largest logarithm of those that have one."""
    found = [math.log10(value) for value in values if 0.0 < value < math.inf]
    return (min(found), max(found)) if found else None


def _away(curve: Series, found: tuple[float, float]) -> float:
    """Decades from the points to the curve: positive above all of them, negative below, 0 among them."""
    ends = _decades(curve.y)
    if ends is None:
        return 0.0
    return max(ends[0] - found[1], 0.0) + min(ends[1] - found[0], 0.0)


def _moves(away: Sequence[float]) -> list[int]:
    """By which power of ten each is multiplied."""
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
    return curve._replace(label=f"{curve.label}, drawn \u00d7 10^{move}", y=[float(y) / factor for y in curve.y])


def _note(move: int) -> str:
    where = f"at least 10^{-move} times the highest" if move < 0 else f"at most 10^{-move} times the lowest"
    return (
        f"Not to scale: what is drawn \u00d7 10^{move} is {where} point, and was moved beside the points so that "
        "shapes can be compared."
    )

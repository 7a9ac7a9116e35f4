"""The rows of what people wait for, in the order of their table, and which of them are asked for."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from aomultirl.benchmarks import cold, recalling, starting
from aomultirl.benchmarks.choosing import is_asked_for
from aomultirl.benchmarks.waits import Wait


class Row(NamedTuple):
    """A row that can be measured.

    name
        what is measured.
    measure
        measures it.
    """

    name: str
    measure: Callable[[], Wait]


COLD = (Row(cold.PAPER_NAME, cold.paper), Row(cold.RECALL_NAME, cold.recall))
"""The rows that begin with an empty cache of machine code."""


def rows(whole: bool = False) -> list[Row]:
    """All rows; ``whole``: those that usually do a part of their work do all of it."""
    return [
        *COLD,
        Row("import aomultirl", starting.importing),
        *(Row(f"aomultirl {word}", partial(starting.commanding, [word])) for word in starting.WORDS),
        Row(recalling.GRID, recalling.on_the_grid),
        Row(recalling.MANY_STATES, recalling.in_many_states),
        Row(recalling.SEPSIS, partial(recalling.with_patients, whole)),
    ]


def run(chosen: Sequence[Row], only: Sequence[str] = ()) -> list[Wait]:
    """Measure the rows whose names have one of the words in them; without words, all."""
    return [row.measure() for row in chosen if is_asked_for(row.name, only)]

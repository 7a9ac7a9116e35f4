"""The runs of a suite as rows: one agent in one place, with a number of every run for every column."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.experiments.suites import SuiteCase, SuiteRun

SuiteRuns = Sequence[Sequence[SuiteRun]]
"""The runs of every case."""
Measured = Mapping[str, NDArray[np.float64]]
"""The number of every run, (runs,), by the heading of the column."""


class Row(NamedTuple):
    """One agent in one place, at all horizons.

    cases
        one for every horizon.
    runs
        of all cases together.
    numbers
        what was measured.
    """

    cases: list[SuiteCase]
    runs: list[SuiteRun]
    numbers: dict[str, NDArray[np.float64]]


SHARE_UNIT = "% of the optimum"
"""What numbers are where they are shares."""
Rows = Mapping[tuple[str, str], Row]
"""Rows by place and agent, in the order of the cases."""


def rows_of(cases: Sequence[SuiteCase], results: SuiteRuns) -> dict[tuple[str, str], Row]:
    """The rows of a suite; columns that some run is too short for are missing."""
    rows: dict[tuple[str, str], Row] = {}
    for case, runs in zip(cases, results, strict=True):
        row = rows.setdefault((case.place, case.told), Row([], [], {}))
        row.cases.append(case)
        row.runs.extend(runs)
        for window in case.windows:
            if all(window.heading in run.numbers for run in runs):
                row.numbers[window.heading] = np.array([run.numbers[window.heading] for run in runs])
    return rows


def columns_of(cases: Sequence[SuiteCase]) -> list[str]:
    """The headings of all columns, in order."""
    return list(dict.fromkeys(window.heading for case in cases for window in case.windows))


def unit_of(cases: Sequence[SuiteCase]) -> str:
    """What the numbers of a suite are, in words."""
    kinds = {(case.is_bed, case.reward_range is None) for case in cases}
    words = {
        (False, True): SHARE_UNIT,
        (False, False): "reward a life",
        (True, False): "reward of an episode",
    }
    return ", or ".join(said for kind, said in words.items() if kind in kinds)


def ranked(rows: Rows, place: str, heading: str) -> list[tuple[str, Row]]:
    """The agents of a place, with the highest mean of a column first; those that have none in it come last."""
    there = [(label, row) for (where, label), row in rows.items() if where == place]

    def height(entry: tuple[str, Row]) -> float:
        numbers = entry[1].numbers.get(heading)
        return float("inf") if numbers is None else -float(numbers.mean())

    return sorted(there, key=height)

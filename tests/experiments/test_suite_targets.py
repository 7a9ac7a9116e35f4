"""What Recall has been measured to reach, run as the suites run it: ten runs in the worlds of the reports.

A target is reached where the lower end of the interval over runs is there (``docs/suites.md``).  Those that are missed
are listed in ``docs/measured.md`` with what was measured; they are not here.
"""

import numpy as np
import pytest

from aomultirl.analysis.intervals import over_runs
from aomultirl.experiments import suites

REACHED = [
    ("reward", "grid, stay", "H = 500"),
    ("reward", "grid 8x8", "H = 2,000"),
    ("reward", "grid 12x12", "H = 2,000"),
    ("reward", "rare pair", "H = 500"),
    ("reward", "FrozenLake 8x8, 4 maps, restarting", "H = 500"),
    ("reward", "FrozenLake 8x8, 4 maps, restarting", "H = 2,000"),
    ("reward", "random, S = 200, M = 10, 0.5", "H = 1,000"),
    ("short", "doors with a sign", "last quarter"),
]
"""(suite, world, heading of the column)."""


@pytest.mark.long
@pytest.mark.parametrize(("suite", "place", "heading"), REACHED)
def test_what_was_reached_is_reached(suite, place, heading):
    (case,) = [
        case
        for case in suites.SUITES[suite]()
        if case.place == place and case.told == "Recall" and heading in [window.heading for window in case.windows]
    ]
    (asked,) = [target.value for target in case.targets if target.heading == heading and target.than is None]
    (runs,) = suites.run_suite([case], 10, suites.FIRST_SEEDS[suite]["reporting"], workers=1)
    assert over_runs(np.array([run.numbers[heading] for run in runs])).low >= asked
    assert not sum(run.wrong for run in runs)
    if case.most_worlds is not None:
        assert max(run.worlds for run in runs) <= case.most_worlds * runs[0].models


def test_what_is_reached_is_asked_for():
    """Every row above is one of a suite, with a target of its own."""
    asked = {
        (name, case.place, target.heading)
        for name, make in suites.SUITES.items()
        for case in make()
        for target in case.targets
        if target.than is None
    }
    assert set(REACHED) <= asked

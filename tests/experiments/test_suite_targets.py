"""What Recall has been measured to reach, run as the suites run it: ten runs in the worlds of the reports.

A target is reached where the lower end of the interval over runs is there (``docs/suites.md``).  Those that are missed
are listed in ``docs/measured.md`` with what was measured; they are not here.
"""

from pathlib import Path

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
    ("short", "sparse random, H = 100", "last quarter"),
    ("large", "ICU-Sepsis, strength 1, H = 20,000", "whole run; last quarter"),
]
"""(suite, world, headings of the columns, with semicolons between)."""


@pytest.mark.long
@pytest.mark.parametrize(("suite", "place", "headings"), REACHED)
def test_what_was_reached_is_reached(suite, place, headings):
    wanted = headings.split("; ")
    (case,) = [
        case
        for case in suites.SUITES[suite]()
        if case.place == place and case.told == "Recall" and {*wanted} <= {window.heading for window in case.windows}
    ]
    (runs,) = suites.run_suite([case], 10, suites.FIRST_SEEDS[suite]["reporting"], workers=1)
    for heading in wanted:
        (asked,) = [target.value for target in case.targets if target.heading == heading and target.than is None]
        assert over_runs(np.array([run.numbers[heading] for run in runs])).low >= asked
    assert not sum(run.wrong for run in runs)
    if case.most_worlds is not None:
        assert max(run.worlds for run in runs) <= case.most_worlds * runs[0].models


@pytest.mark.long
def test_slippery_lakes_are_walked_as_well_as_by_a_planner_that_knows_the_maps():
    """The lower end of what is earned beyond 0.95 of it, run by run."""
    rows = {case.told: case for case in suites.SUITES["short"]() if case.place == "FrozenLake 8x8, 3 maps, slippery"}
    case = rows["Recall"]
    (target,) = [target for target in case.targets if target.times != 1.0]
    seed = suites.FIRST_SEEDS["short"]["reporting"]
    ours, planned = suites.run_suite([case, rows[target.than]], 10, seed, workers=1)
    more = [
        one.numbers[target.heading] - target.times * other.numbers[target.heading]
        for one, other in zip(ours, planned, strict=True)
    ]
    assert over_runs(np.array(more)).low >= target.value


DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("suite", ["reward", "short", "large"])
def test_the_page_says_what_its_kept_runs_say(suite):
    """Every mean and interval of ten runs; columns that the page has no room for have their means there."""
    lines, kept = (DOCS / "measured.md").read_text().splitlines(), suites.KeptRuns(DOCS / "measured" / f"{suite}.jsonl")
    wanted = {(name, place, heading) for name, place, all_of in REACHED for heading in all_of.split("; ")}
    shown = set()
    for case in suites.SUITES[suite]():
        runs = [kept.get(case, suites.FIRST_SEEDS[suite]["reporting"], number) for number in range(10)]
        if case.told != "Recall" or None in runs:
            continue
        texts, digits = [], 3 if case.place.endswith("survival") else 1
        for window in case.windows:
            found = over_runs(np.array([run.numbers[window.heading] for run in runs]))
            brief = window.heading in ("H = 1,000", "H = 20,000")
            mean, low, high = (f"{number:.{digits}f}" for number in (found.mean, found.low, found.high))
            texts.append(mean if brief else f"{mean} ({low} to {high})")
            asked = [t.value for t in case.targets if t.heading == window.heading and t.than is None]
            if asked and found.low >= asked[0]:
                shown.add((suite, case.place, window.heading))
        assert any(all(text in line for text in texts) for line in lines), (case.place, texts)
    assert {one for one in wanted if one[0] == suite} <= shown


def test_what_is_reached_is_asked_for():
    """Every row above is one of a suite, with a target of its own."""
    asked = {
        (name, case.place, target.heading)
        for name, make in suites.SUITES.items()
        for case in make()
        for target in case.targets
        if target.than is None
    }
    assert {(suite, place, heading) for suite, place, all_of in REACHED for heading in all_of.split("; ")} <= asked

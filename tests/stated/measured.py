"""Means, intervals and differences of the runs in ``docs/measured``, and pieces of the page that states them."""

from collections.abc import Callable

import numpy as np

from aomultirl.analysis.intervals import over_runs
from stated.checks import states
from stated.computed import cases, kept, kept_runs

PAGE = "docs/measured.md"
RECALL, TOLD, PSRL, MIXTURE, Q, QMDP, POOLED = (
    "Recall",
    "learner told the task",
    "PSRL, pooled",
    "mixture of MDPs",
    "Q-learning, pooled",
    "QMDP, knows the worlds",
    "pooled learner",
)
SPAN, COLUMNS = "{} ({} to {})", ("K = 200", "K = 1,000", "last quarter")


def note(piece: str, *values: Callable[[], list[float]]) -> None:
    """A piece of the page whose numbers several functions compute one after the other."""
    states(PAGE, piece)(lambda: [number for some in values for number in some()])


def maps(label, place):
    """M, where a row has it in its label."""
    return [int(place.split(" maps")[0][-1])] if "{}" in label else []


def span(*column, runs=10):
    """A mean with its interval."""
    found = over_runs(np.array(kept(*column, runs)))
    return [float(found.mean), float(found.low), float(found.high)]


def mean(*column, runs=10):
    return float(np.mean(kept(*column, runs)))


def more(suite, place, heading, other, runs=10):
    """How much more Recall has than somebody else, in the runs that both have."""
    ours, theirs = (np.array(kept(suite, place, told, heading, runs)) for told in (RECALL, other))
    found = over_runs(ours - theirs)
    return [float(found.mean), float(found.low), float(found.high)]


def judged(suite, place, heading, said):
    """A mean, its interval, what is asked, and by how much that is missed, where the page says so."""
    found = span(suite, place, RECALL, heading)
    wanted = {
        target.value
        for case in cases(suite)
        for target in case.targets
        if (case.place, case.told) == (place, RECALL) and target.heading == heading and target.than is None
    }
    if not wanted:
        return found
    (value,) = wanted
    assert (found[1] >= value) == (said == ""), (place, heading, found, value)
    return [*found, value, *([value - found[1]] if "{}" in said else [])]


def proven(suite):
    """Episodes, runs, and episodes that were put in a cluster; none was put in a wrong one."""
    runs = kept_runs(suite, RECALL)
    assert not any(run.wrong for run in runs)
    return sum(run.episodes for run in runs), len(runs), sum(run.episodes - run.abstained for run in runs)

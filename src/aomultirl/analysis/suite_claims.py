"""What the suites that compare peers are claimed to show, judged by their runs.

Rewards are in per cent of the optimum, over whole runs; differences are taken run by run.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.intervals import over_runs
from aomultirl.analysis.rules import Bounded, Measurement, exact
from aomultirl.analysis.suite_rows import Rows
from aomultirl.experiments.suites import drift, hard
from aomultirl.experiments.suites.contests import WHOLE
from aomultirl.experiments.suites.entrants import CLUSTER_THEN_LEARN, DETECT, RESTART, RESTART_FOREVER
from aomultirl.experiments.suites.players import RANDOM, RECALL

REMARK_18 = "Section 4.2, Remark 18 (merging samples in place of clustering)"
AVERAGING, FOLLOWING = ("Practical", "PSRL"), "QLearning"
"""Learners that average over all that they have seen, and one whose step does not vanish, so that it follows."""
APPENDIX_G = "Appendix G, unknown hitting time (GOSPRL in place of ExploreID)"
POINTS, STEPS = "points of the optimum in per cent", "steps as a multiple"
PLANNERS, WALKER, OPTIMIST = ("PACExplore", "Seeker", "FWModest", "WeightedMaxEnt"), "ExploreID", "GOSPRL"
"""Explorers that plan their way, the paper's, which looks one step ahead, and the one that it names in its place."""


def claims_of(suite: str, rows: Rows) -> list[Claim]:
    """The claims on a suite of which at least a part was measured; none for suites that claim nothing."""
    found = CLAIMS[suite](rows) if suite in CLAIMS else []
    return [claim for claim in found if claim.estimates]


def _drift(rows: Rows) -> list[Claim]:
    """The remark's predictions, and what memory is worth where worlds return."""
    memory = {place: [(RECALL, DETECT)] for place in (drift.BLOCKS, drift.ALTERNATING)}
    return [
        Claim(
            "where tasks alternate, the bound of RestartQ-UCB is above K H, which everybody has",
            REMARK_18,
            Bounded(1.0, "its order, without constants and logarithms", ">", "computed"),
            _bounds(rows, drift.ALTERNATING),
            unit="as a multiple of K H",
        ),
        Claim(
            "where a world drifts slowly, the bound of RestartQ-UCB is below K H",
            REMARK_18,
            Bounded(1.0, "its order, without constants and logarithms", "<", "computed"),
            _bounds(rows, drift.DRIFTING),
            unit="as a multiple of K H",
        ),
        Claim(
            "where a world drifts slowly, RestartQ-UCB earns more than the same without restarts, and than clustering",
            REMARK_18,
            Bounded(0.0, "earned more, run by run", ">"),
            _differences(rows, {drift.DRIFTING: [(RESTART, RESTART_FOREVER), *_clustering(rows, drift.DRIFTING)]}),
            explanation="an epoch of its formula has some thirty episodes, in which a table for every step is hardly "
            "filled: what follows from a bound for many episodes does not show in so few",
            remark="those that cluster here have one sample of a pair to cluster by, in episodes of six steps",
            unit=POINTS,
        ),
        Claim(
            "where tasks alternate, RestartQ-UCB earns no more than acting at random, but for two points",
            REMARK_18,
            Bounded(2.0, "one policy for two opposite worlds has nothing to gain", "<"),
            _differences(rows, {drift.ALTERNATING: [(RESTART, RANDOM)]}),
            unit=POINTS,
        ),
        Claim(
            "where worlds return, memory earns more than restarting when the world has changed",
            "not in the paper",
            Bounded(0.0, "earned more, run by run", ">"),
            _differences(rows, memory),
            explanation="Recall recognises the world in every episode anew, for it does not expect the next one to be "
            "like the last, and an episode has six steps",
            unit=POINTS,
        ),
    ]


def _bounds(rows: Rows, place: str) -> dict[str, Measurement]:
    """The bound of RestartQ-UCB as a multiple of K H, where the place was run."""
    return {place: exact(drift.bound_share(place))} if any(where == place for where, _ in rows) else {}


def _clustering(rows: Rows, place: str) -> list[tuple[str, str]]:
    """RestartQ-UCB against each agent that clusters first."""
    return [(RESTART, label) for where, label in rows if where == place and label.startswith(CLUSTER_THEN_LEARN)]


def _hard(rows: Rows) -> list[Claim]:
    """Negative transfer where best policies differ, and the order of explorers where a pair is hard to reach."""
    rings = [place for place in dict.fromkeys(place for place, _ in rows) if place.startswith(hard.RING)]
    everybody = (*AVERAGING, FOLLOWING)
    pooled = {place: [(f"{name}, alone", f"{name}, pooled") for name in AVERAGING] for place in rings}
    told = {place: [(f"{name}, told", f"{name}, pooled") for name in everybody] for place in rings}
    memory = {place: [(RECALL, f"{name}, pooled") for name in everybody] for place in rings}
    return [
        Claim(
            "where best policies differ, a learner for all worlds as one earns less than one that is told the world",
            REMARK_18,
            Bounded(0.0, "lost by pooling, run by run", ">"),
            _differences(rows, told),
            unit=POINTS,
        ),
        Claim(
            "one that averages over all worlds even earns less than one that forgets everything after every episode: "
            "negative transfer",
            REMARK_18,
            Bounded(0.0, "lost by pooling, run by run", ">"),
            _differences(rows, pooled),
            remark="Q-learning is not among them: its step does not vanish, so it follows the world of the episode",
            unit=POINTS,
        ),
        Claim(
            "an agent that remembers, told nothing, earns more than every pooled learner there",
            "not in the paper",
            Bounded(0.0, "earned more, run by run", ">"),
            _differences(rows, memory),
            unit=POINTS,
        ),
        Claim(
            "where a pair is hard to reach, explorers that plan their way need fewer steps than ExploreID",
            "not in the paper",
            Bounded(1.0, "steps of the one as a multiple of the other's, run by run", "<"),
            _steps(rows, PLANNERS),
            unit=STEPS,
        ),
        Claim(
            "so does GOSPRL",
            APPENDIX_G,
            Bounded(1.0, "steps of the one as a multiple of the other's, run by run", "<"),
            _steps(rows, (OPTIMIST,)),
            explanation="its bound has a term D^(3/2) S^2 A, which is 14,000 here: until its confidence bounds say "
            "something, it takes every way that was not tried for a short cut",
            unit=STEPS,
        ),
    ]


def _differences(rows: Rows, pairs: Mapping[str, Iterable[tuple[str, str]]]) -> dict[str, Measurement]:
    """What the first agent of each pair earns more than the second, where both were measured."""
    found = {}
    for place, there in pairs.items():
        for first, second in there:
            if {(place, first), (place, second)} <= rows.keys():
                more = rows[place, first].numbers[WHOLE] - rows[place, second].numbers[WHOLE]
                found[f"{first} less {second}, {place}"] = _measured(more)
    return found


def _steps(rows: Rows, explorers: Iterable[str]) -> dict[str, Measurement]:
    """Steps of the clustering phases in rivers, as a multiple of those of ExploreID."""
    found = {}
    for explorer in explorers:
        labels = [(hard.RIVER, f"{CLUSTER_THEN_LEARN}, {name}") for name in (explorer, WALKER)]
        if set(labels) <= rows.keys():
            first, second = (np.array([run.total for run in rows[label].runs], float) for label in labels)
            found[explorer] = _measured(first / np.maximum(second, 1.0))
    return found


def _measured(values: NDArray[np.float64]) -> Measurement:
    """A mean over runs with its interval, which has no ends where there is one run."""
    mean, low, high = (float(each) for each in over_runs(values))
    return Measurement(mean, -math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)


CLAIMS: Mapping[str, Callable[[Rows], Sequence[Claim]]] = {"drift": _drift, "hard": _hard}
"""What is claimed of each suite, by its name."""

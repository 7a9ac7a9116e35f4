"""What is claimed of suites, with runs that were made up: verdicts follow from the numbers, and both can happen."""

import numpy as np
import pytest

from aomultirl.analysis.suite_claims import claims_of
from aomultirl.analysis.suite_rows import ranked, rows_of
from aomultirl.experiments import suites
from aomultirl.experiments.suites import SuiteRun, drift, hard
from aomultirl.experiments.suites.contests import WHOLE

RING = "rings, lambda = 1, M = 4"


def run(reward, total=0):
    return SuiteRun(np.empty(0, np.int64), total, reward, 0, 0, 10, np.nan, numbers={WHOLE: reward})


def made_up(suite, place, rewards, steps=None):
    """The rows of a place whose agents earn these rewards in three runs, or take so many steps."""
    cases = {case.told: case for case in suites.SUITES[suite]() if case.place == place}
    labels = [*rewards, *(steps or {})]
    runs = [[run(rewards.get(label, 0.0) + x, (steps or {}).get(label, 0)) for x in (0, 1, 2)] for label in labels]
    return rows_of([cases[label] for label in labels], runs)


def verdicts(suite, rows):
    return {claim.claim[:40]: claim.verdict for claim in claims_of(suite, rows)}


def test_pooling_that_costs_and_pooling_that_pays():
    loses = {"PSRL, told": 90.0, "PSRL, alone": 80.0, "PSRL, pooled": 40.0, "Recall": 85.0}
    assert list(verdicts("hard", made_up("hard", RING, loses)).values()) == [True, True, True]
    gains = {**loses, "PSRL, pooled": 95.0}
    assert list(verdicts("hard", made_up("hard", RING, gains)).values()) == [False, False, False]


def test_q_learning_is_not_asked_to_show_negative_transfer():
    """It follows the world of the episode; that it is below who is told is still claimed."""
    rows = made_up("hard", RING, {"QLearning, told": 90.0, "QLearning, alone": 80.0, "QLearning, pooled": 85.0})
    assert list(verdicts("hard", rows).values()) == [True]


@pytest.mark.parametrize(("planner", "holds"), [(100, True), (1000, False)])
def test_the_order_of_explorers_is_by_steps(planner, holds):
    steps = {"AOMultiRL, PACExplore": planner, "AOMultiRL, ExploreID": 500}
    found = verdicts("hard", made_up("hard", hard.RIVER, {}, steps))
    assert found == {"where a pair is hard to reach, explorers": holds}
    steps = {"AOMultiRL, GOSPRL": planner, "AOMultiRL, ExploreID": 500}
    assert verdicts("hard", made_up("hard", hard.RIVER, {}, steps)) == {"so does GOSPRL": holds}


def test_what_the_remark_says_of_bounds_is_computed():
    rows = {**made_up("drift", drift.DRIFTING, {"Random": 1.0}), **made_up("drift", drift.ALTERNATING, {"Random": 1.0})}
    assert [claim.verdict for claim in claims_of("drift", rows)] == [True, True]
    assert claims_of("drift", {}) == []
    assert drift.bound_share(drift.DRIFTING) < 1.0 < drift.bound_share(drift.ALTERNATING)


def test_restarts_pay_where_a_world_drifts_and_not_where_tasks_alternate():
    clustering = "AOMultiRL, ExploreID"
    drifts = made_up("drift", drift.DRIFTING, {"RestartQ-UCB": 80.0, "RestartQ-UCB, one epoch": 60.0, clustering: 50.0})
    turns = made_up("drift", drift.ALTERNATING, {"RestartQ-UCB": 51.0, "Random": 50.0, "Recall": 80.0})
    turns |= made_up("drift", drift.ALTERNATING, {"detect and restart": 60.0})
    assert [claim.verdict for claim in claims_of("drift", {**drifts, **turns})] == [True] * 5
    turns = made_up("drift", drift.ALTERNATING, {"RestartQ-UCB": 70.0, "Random": 50.0})
    assert [claim.verdict for claim in claims_of("drift", {**drifts, **turns})] == [True, True, True, False]


def test_one_run_leaves_claims_open():
    cases = {case.told: case for case in suites.SUITES["hard"]() if case.place == RING}
    rows = rows_of([cases["PSRL, told"], cases["PSRL, pooled"]], [[run(90.0)], [run(40.0)]])
    assert list(verdicts("hard", rows).values()) == [None]


def test_suites_without_claims_make_none():
    assert claims_of("paper", {}) == []


def test_agents_are_ranked_by_their_means():
    rows = made_up("hard", RING, {"PSRL, told": 40.0, "Recall": 90.0, "Random": 10.0})
    assert [label for label, _ in ranked(rows, RING, WHOLE)] == ["Recall", "PSRL, told", "Random"]

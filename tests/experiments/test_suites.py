import dataclasses

import numpy as np
import pytest

from aomultirl.experiments import suites
from aomultirl.experiments.paper import GAMMA, SEPARATION
from aomultirl.theory import identification_lower_bound
from aomultirl.worlds import gridworld

SMALL = [dataclasses.replace(case, episodes=12) for case in suites.identify_suite()]


def test_every_row_asks_for_a_number_and_has_its_own_cells():
    cases = suites.identify_suite() + suites.reward_suite()
    assert len({case.cell(0, 0).name for case in cases}) == len(cases)
    assert {case.aim for case in suites.identify_suite()} == {suites.STEPS, suites.RUN}
    assert all(case.target for case in suites.identify_suite())
    asked = [case for case in suites.reward_suite() if case.target]
    assert {(case.told, case.horizon) for case in asked} == {("Recall", horizon) for horizon in suites.HORIZONS}


def test_random_worlds_are_others_in_every_run():
    case = SMALL[-1]
    seeds = [case.cell(seed, number).world["parameters"]["rng"] for seed in (0, 1) for number in range(3)]
    assert len(set(seeds)) == 6


def test_outcomes_are_those_of_the_histories():
    case = SMALL[0]
    history = case.cell(3, 0).run()
    found = suites.measure(case, case.cell(3, 0), history)
    known = [k for k in range(12) if history["cluster"][k] >= 0 and not history["new_cluster"][k]]
    assert found.steps.tolist() == history["identification_steps"][known].tolist()
    assert found.total == history["identification_steps"].sum()
    assert (found.wrong, found.abstained, found.episodes) == (0, 0, 12)
    told = {"failure": 0.03, "episodes": 12, "separation": SEPARATION, "distinguishing_set": GAMMA}
    each = identification_lower_bound(gridworld(), **told)
    assert found.bound == pytest.approx(np.mean([each[history["task"][k]] for k in known]))


def test_shares_are_of_what_could_have_been_earned():
    best, chance = (
        dataclasses.replace(
            suites.reward_suite()[0], agent={"name": name, "parameters": {"horizon": 500}}, episodes=10, target=None
        )
        for name in ("Optimal", "Random")
    )
    one, other = (suites.measure(case, case.cell(1, 0), case.cell(1, 0).run()) for case in (best, chance))
    assert one.share == pytest.approx(100, abs=3)
    assert other.share == pytest.approx(22.9, abs=5)
    assert np.isnan(one.bound)


def test_results_come_in_order_whoever_does_the_work():
    cases = [SMALL[0], SMALL[2]]
    alone, shared = (suites.run_suite(cases, 2, seed=4, workers=workers) for workers in (1, 2))
    for one, other in zip(alone, shared, strict=True):
        assert [outcome.total for outcome in one] == [outcome.total for outcome in other]
    calls = []
    suites.run_suite(cases[:1], 2, done=lambda now, total: calls.append((now, total)))
    assert calls == [(1, 2), (2, 2)]

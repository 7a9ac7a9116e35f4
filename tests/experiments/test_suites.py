import dataclasses

import numpy as np
import pytest

from aomultirl import plugins, theory
from aomultirl.experiments import suites
from aomultirl.experiments.cells import make_world
from aomultirl.experiments.paper import GAMMA, SEPARATION
from aomultirl.experiments.suites import players
from aomultirl.theory import identification_lower_bound
from aomultirl.worlds import doors, frozen_lakes, gridworld
from backwards import Backwards

SMALL = [dataclasses.replace(case, episodes=12) for case in suites.identify_suite()]
REWARD_SUITES = ("reward", "short", "large")


def named(suite, place, told):
    return next(case for case in suites.SUITES[suite]() if (case.place, case.told) == (place, told))


def own_targets(case):
    """Those of a row, without that of earning more than learners of others."""
    return tuple(target for target in case.targets if target.than not in players.peers({}))


def targets(suite):
    """{place: {heading: value}} of what is compared with nothing, for the rows of Recall."""
    asked = {}
    for case in suites.SUITES[suite]():
        for target in own_targets(case):
            if target.than is None:
                asked.setdefault(case.place, {})[target.heading] = target.value
    return asked


@pytest.mark.parametrize("suite", suites.SUITES)
def test_every_row_has_its_own_cells(suite):
    cases = suites.SUITES[suite]()
    assert len({case.cell(0, 0).name for case in cases}) == len(cases)


def test_every_row_asks_for_a_number():
    assert {case.aim for case in suites.identify_suite()} == {suites.STEPS, suites.RUN}
    assert all(case.target for case in suites.identify_suite())
    for suite in REWARD_SUITES:
        cases = suites.SUITES[suite]()
        assert {case.told for case in cases if case.targets} == {players.RECALL}
        assert {case.place for case in cases if case.targets} == {case.place for case in cases}
        for case in cases:
            assert {target.heading for target in case.targets} <= {window.heading for window in case.windows}
            others = {other.told for other in cases if other.place == case.place}
            assert {target.than for target in case.targets if target.than is not None} <= others


def test_long_rows_ask_for_what_they_should_reach():
    grids = {"H = 500": 97.5, "H = 1,000": 92.0, "H = 2,000": 99.4, "H = 20,000": 99.7}
    assert targets("reward") == {
        "grid, third": grids,
        "grid, stay": grids,
        "grid 8x8": {"H = 500": 92.0, "H = 2,000": 97.5},
        "grid 12x12": {"H = 500": 85.0, "H = 2,000": 95.0},
        "rare pair": {"H = 500": 85.0, "H = 2,000": 93.0},
        "FrozenLake 8x8, 4 maps, restarting": {"H = 500": 75.0, "H = 2,000": 92.0},
        "random, 1": {"H = 500": 80.0, "H = 1,000": 92.0, "H = 2,000": 98.0, "H = 20,000": 99.7},
        "random, S = 200, M = 10, 0.5": {"H = 1,000": 99.0},
    }


def test_short_rows_ask_for_what_they_should_reach():
    assert targets("short") == {
        "FrozenLake 8x8, 3 maps": {"K = 200": 50.0, "K = 1,000": 85.0, "last quarter": 98.0},
        "FrozenLake 8x8, 3 maps, slippery": {"K = 200": 8.0, "K = 1,000": 30.0},
        "doors with a sign": {"K = 200": 55.0, "K = 1,000": 84.0, "last quarter": 89.0},
        "sparse random, H = 10": {"last quarter": 87.0},
        "sparse random, H = 30": {"last quarter": 95.0},
        "sparse random, H = 100": {"last quarter": 98.0},
        "cliff, reward a life": {"K = 1,000": -18.0, "last quarter": -14.2},
        "Taxi, reward a life": {"last quarter": 6.5},
    }
    for maps, times in ((3, 0.95), (4, 0.9)):
        case = named("short", f"FrozenLake 8x8, {maps} maps, slippery", players.RECALL)
        assert own_targets(case)[-1] == suites.Target("last quarter", 0.0, players.QMDP, times)


def test_large_rows_ask_for_what_they_should_reach():
    strong = "ICU-Sepsis, strength 1, H = 20,000"
    assert targets("large") == {strong: {"whole run": 80.5, "last quarter": 83.0}}
    compared = {case.place: own_targets(case) for case in suites.large_suite() if case.told == players.RECALL}
    assert compared["ICU-Sepsis, strength 0.75, H = 20,000"] == (suites.Target("whole run", 0.0, players.POOLED),)
    assert compared["ICU-Sepsis, strength 1, H = 5,000"] == (suites.Target("whole run", 2.0, players.POOLED),)
    patients = "ICU-Sepsis, strength 1, one patient, survival"
    assert compared[patients] == (suites.Target("whole run", 0.02, players.RANDOM),)
    assert {case.episodes for case in suites.large_suite() if case.place == patients} == {20_000}


def test_the_same_agents_and_ceilings_play_in_every_world():
    agents = {"Random", "one-episode learner", "pooled learner", "Recall", "learner told the task"}
    for suite in REWARD_SUITES:
        cases = suites.SUITES[suite]()
        for place in {case.place for case in cases}:
            assert agents <= {case.told for case in cases if case.place == place and not case.is_planner}
            assert {players.QMDP, players.LIKELIEST} <= {case.told for case in cases if case.is_planner}
    exact = {case.place for case in suites.short_suite() if case.told == players.TOLD_NOTHING}
    assert exact == {"FrozenLake 8x8, 3 maps", "cliff, reward a life", "Taxi, reward a life"}
    for case in suites.short_suite():
        if case.is_planner:
            assert hasattr(theory, case.agent["name"])
        else:
            assert case.agent["name"] in plugins.makers("agent")
            assert case.told == "Random" or case.agent["parameters"]["rewards"] == "unknown"


def test_a_learner_of_others_is_one_line(monkeypatch):
    """It plays in every world, and Recall is asked to earn more there."""
    described = {"name": "Random", "parameters": {"horizon": 7}}
    monkeypatch.setattr(players, "peers", lambda told: {"a peer": described})
    for suite in REWARD_SUITES:
        cases = suites.SUITES[suite]()
        assert sum(case.told == "a peer" for case in cases) == sum(case.told == players.RECALL for case in cases)
        for case in cases:
            if case.told == players.RECALL:
                assert case.targets[-1] == suites.Target(case.windows[-1].heading, 0.0, "a peer")


@pytest.mark.parametrize(("suite", "place"), [("identify", "random, 1"), ("short", "FrozenLake 8x8, 3 maps")])
def test_random_worlds_are_others_in_every_run(suite, place):
    case = next(case for case in suites.SUITES[suite]() if case.place == place)
    chosen = [case.cell(seed, number).world["parameters"] for seed in (0, 1) for number in range(3)]
    assert len({parameters.get("rng", parameters.get("seed")) for parameters in chosen}) == 6


def test_worlds_of_development_are_never_reported():
    for suite in suites.SUITES:
        first = suites.FIRST_SEEDS[suite]
        kinds = [range(first[kind], first[kind] + suites.MOST_SEEDS) for kind in ("reporting", "development")]
        assert not set(kinds[0]) & set(kinds[1])
    case = named("short", "FrozenLake 8x8, 3 maps", players.RECALL)
    last = case.cell(suites.MOST_SEEDS - 1, suites.SETS_A_SEED - 1).world["parameters"]["seed"]
    assert last < case.cell(suites.MOST_SEEDS, 0).world["parameters"]["seed"]


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
            suites.reward_suite()[0], agent={"name": name, "parameters": {"horizon": 500}}, episodes=10, targets=()
        )
        for name in ("Optimal", "Random")
    )
    one, other = (suites.measure(case, case.cell(1, 0), case.cell(1, 0).run()) for case in (best, chance))
    assert one.share == pytest.approx(100, abs=3)
    assert other.share == pytest.approx(22.9, abs=5)
    assert one.numbers == {"H = 500": one.share}
    assert np.isnan(one.bound)


def test_columns_are_parts_of_one_run():
    case = dataclasses.replace(named("short", "doors with a sign", "Random"), episodes=400)
    cell = case.cell(2, 0)
    history = cell.run()
    found = suites.measure(case, cell, history)
    assert found.numbers == {
        "K = 200": pytest.approx(100 * history.reward[:200].mean()),
        "last quarter": pytest.approx(100 * history.reward[300:].mean()),
    }
    assert found.models == 4
    assert found.worlds is None


def test_agents_that_recognise_say_how_many_worlds_they_believe_in():
    case = dataclasses.replace(named("short", "doors with a sign", "Recall"), episodes=10)
    cell = case.cell(0, 0)
    assert suites.measure(case, cell, cell.run()).worlds >= 1


@pytest.mark.parametrize(("place", "reached"), [("cliff, reward a life", -13.0), ("Taxi, reward a life", 7.93)])
def test_lives_are_shown_in_the_units_of_the_environment(place, reached):
    """An agent that is told everything earns the optimum: 60 lives of Taxi have a standard error of 0.35."""
    case = named("short", place, "Random")
    best = {"name": "Optimal", "parameters": {"horizon": case.horizon}}
    case = dataclasses.replace(case, agent=best, episodes=60)
    cell = case.cell(0, 1)
    found = suites.measure(case, cell, cell.run())
    assert found.numbers["last quarter"] == pytest.approx(reached, abs=1e-9 if place.startswith("cliff") else 3.0)
    assert np.isnan(found.share)


def test_ceilings_are_those_of_the_worlds_of_the_run():
    exact = dataclasses.replace(named("short", "FrozenLake 8x8, 3 maps", players.TOLD_NOTHING), episodes=40)
    ((run,),) = suites.run_suite([exact], 1, seed=7)
    assert exact.cell(7, 0).world["parameters"]["seed"] == 7000
    share = 100 * theory.told_nothing_optimum(frozen_lakes(seed=7000), 100).share
    assert run.numbers == {"last quarter": pytest.approx(share)}
    assert (run.episodes, run.worlds, run.models) == (0, None, 3)
    ((run,),) = suites.run_suite([named("short", "doors with a sign", players.QMDP)], 1)
    assert run.numbers["K = 1,000"] == pytest.approx(100 * theory.qmdp_reward(doors(), 10, 4000).share, abs=3)
    ((run,),) = suites.run_suite([named("short", "cliff, reward a life", players.TOLD_NOTHING)], 1)
    assert -14.5 < run.numbers["last quarter"] <= -13.0


@pytest.mark.parametrize("place", sorted({case.place for case in suites.short_suite()}))
def test_worlds_of_short_lives_are_made_as_the_rows_say(place):
    case = next(case for case in suites.short_suite() if case.place == place)
    models = make_world(case.cell(0, 0).world)
    deterministic = all((np.diff(world.successors.starts) == 1).all() for world in models)
    exact = any(other.told == players.TOLD_NOTHING for other in suites.short_suite() if other.place == place)
    assert deterministic == exact


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.long)])
def test_results_come_in_order_whoever_does_the_work(monkeypatch, processes):
    cases = [SMALL[0], SMALL[2]]
    alone = suites.run_suite(cases, 2, seed=4)
    if not processes:
        monkeypatch.setattr("aomultirl.experiments.suites.running.local", lambda workers: Backwards())
    shared = suites.run_suite(cases, 2, seed=4, workers=2)
    for one, other in zip(alone, shared, strict=True):
        assert [outcome.total for outcome in one] == [outcome.total for outcome in other]
    calls = []
    suites.run_suite(cases[:1], 2, done=lambda now, total: calls.append((now, total)))
    assert calls == [(1, 2), (2, 2)]


def test_a_quick_look_is_shorter_and_asks_for_nothing():
    whole = suites.short_suite() + suites.large_suite()
    looks = suites.quick(whole)
    assert [case.episodes for case in looks] == [max(8, case.episodes // 10) for case in whole]
    assert not any(case.targets for case in looks)
    first, _, last = looks[0].windows
    assert (first.episodes(100), first.episodes(500)) == (None, slice(0, 200))
    assert (last.episodes(500), last.episodes(3)) == (slice(375, 500), slice(2, 3))


def test_rows_are_picked_by_words():
    cases = suites.short_suite()
    assert {case.place for case in suites.pick(cases, "SPARSE")} == {f"sparse random, H = {h}" for h in (10, 30, 100)}
    assert {case.told for case in suites.pick(cases, "doors", "recall")} == {"Recall"}
    assert {case.told for case in suites.pick(cases, "doors", ["recall", "PSRL, f"])} == {"Recall", "PSRL, fresh"}
    assert suites.pick(cases) == suites.pick(cases, [], []) == cases
    with pytest.raises(ValueError, match="only is 'lava', which names no row"):
        suites.pick(cases, ["doors", "lava"])
    with pytest.raises(ValueError, match="only is 'lava', which names no row; there are FrozenLake 8x8, 3 maps; "):
        suites.pick(cases, "lava")
    with pytest.raises(ValueError, match="agent is 'nobody', which names no row; there are Random; one-episode"):
        suites.pick(cases, agent="nobody")


# -- at full size -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("suite", REWARD_SUITES)
def test_every_row_runs(suite):
    """A quick look at every world, with one run of every agent; `Recall` puts nothing in a wrong proven cluster.

    (The clusters of a mixture of MDPs are beliefs, and may be wrong.)
    """
    cases = suites.quick(suites.SUITES[suite]())
    for case, (run,) in zip(cases, suites.run_suite(cases, 1, seed=3, workers=2), strict=True):
        assert run.numbers, case
        assert all(np.isfinite(list(run.numbers.values()))), case
        assert run.wrong == 0 or case.told != players.RECALL, case

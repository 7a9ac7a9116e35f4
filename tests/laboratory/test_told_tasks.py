"""The claims on learners that are told the task: how they are made, at tiny sizes, and behind `long` as they are."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments.executors import InProcess, local
from aomultirl.laboratory import told_tasks
from aomultirl.laboratory.arm_trees import ACTIONS, HORIZON, INFORMED, LEARNERS, STATES, ToldRuns, arm_world, losses
from aomultirl.laboratory.findings import carry_out
from aomultirl.laboratory.told_tasks import KEY, ToldSizes
from backwards import Backwards

TINY = ToldSizes(runs=2, informed_runs=20, numbers=(1, 4), episodes=120, models=2, lengths=(60, 240))


@pytest.fixture(scope="module")
def found():
    return told_tasks.measure(True, 0, InProcess(), TINY)


@pytest.mark.parametrize("arm", range(12))
def test_every_arm_is_as_good_as_the_others_but_for_one(arm):
    world = arm_world(STATES, ACTIONS, arm, 0.1)
    values = world.optimal_values(HORIZON)[2]
    worth = values[3:7]
    assert sorted(worth) == pytest.approx([2.5, 2.5, 2.5, 3.0])
    assert np.argmax(worth) == arm // ACTIONS
    assert world.optimal_policy(HORIZON)[2, 3 + arm // ACTIONS] == arm % ACTIONS


def test_what_actions_lose_adds_up_to_the_regret_of_a_policy():
    world = arm_world(STATES, ACTIONS, 7, 0.2)
    lost, best = losses(world, HORIZON), world.optimal_values(HORIZON)[0][0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        policy = rng.integers(ACTIONS, size=(HORIZON, STATES)).astype(np.int32)
        value, where = world.policy_values(policy)[0][0], np.eye(STATES)[0]
        total = 0.0
        for actions in policy:
            total += where @ lost[np.arange(STATES), actions]
            where = where @ world.transitions[np.arange(STATES), actions]
        assert total == pytest.approx(best - value)


def test_the_gap_is_the_hardest_and_the_bound_that_of_the_theory():
    runs = ToldRuns(INFORMED, 4, 2, 1200)
    assert runs.arms == 12
    assert runs.worth == 5
    assert runs.gap == pytest.approx(np.sqrt(12 * 4 / 1200) / 4)
    assert runs.bound() == pytest.approx(5 / 20 * np.sqrt(4 * 12 * 1200))
    assert ToldRuns(INFORMED, 4, 2, 40).gap == 0.25


def test_who_knows_all_but_the_arm_loses_as_a_learner_that_is_run_would():
    """Thompson sampling over the arms, pull by pull, against all runs side by side: means within four errors."""
    runs, arms, gap, lengths = 400, 12, ToldRuns(INFORMED, 2, 1, 120).gap, 60
    rng = np.random.default_rng(5)
    slow = []
    for _ in range(runs):
        special, likelihoods, wrong = rng.integers(arms), np.ones(arms), 0
        for _ in range(lengths):
            arm = rng.choice(arms, p=likelihoods / likelihoods.sum())
            won = rng.random() < 0.5 + gap * (arm == special)
            likelihoods[arm] *= (0.5 + gap if won else 0.5 - gap) / 0.5
            wrong += arm != special
        slow.append(2 * 5 * gap * wrong)
    quick = ToldRuns(INFORMED, 2, runs, 120).play(0)
    assert quick.shape == (runs,)
    error = np.hypot(np.std(slow) * np.sqrt(2), np.std(quick)) / np.sqrt(runs)
    assert abs(np.mean(slow) - quick.mean()) < 4 * error


def test_a_run_of_a_learner_is_that_of_told():
    """With the regret of ao.run, which has the luck of the arms in it, the same up to that: within four errors."""
    one = ToldRuns("PSRL", 1, 6, 200)
    world = ao.ModelSet([arm_world(STATES, ACTIONS, 3, one.gap)])
    agent = ao.agents.Told(ao.learning.PSRL(), HORIZON)
    sums = [ao.run(agent, world, ao.streams.uniform(), 200, seed)["regret"].sum() for seed in range(6)]
    ours = one.play(0)
    assert abs(np.mean(sums) - ours.mean()) < 4 * np.hypot(np.std(sums), np.std(ours)) / np.sqrt(5)


def test_the_claim_says_how_it_is_judged_and_names_a_figure_that_is_there(found):
    names = [figure.name for figure in found.figures]
    assert names == ["told_models", "told_episodes"]
    (claim,) = found.claims
    assert claim.rule.words
    assert claim.rule.relation == ">="
    assert claim.low <= claim.measured <= claim.high
    assert claim.figure in names
    assert claim.group == "told_tasks"
    assert len(claim.estimates) == 4 * (1 + len(LEARNERS))


def test_the_bound_holds_at_every_point(found):
    (claim,) = found.claims
    assert claim.measured > 3.0
    assert claim.verdict is not False  # two runs of a learner are few
    assert claim.plain.found == f"the best learner lost {claim.measured:.3g} times as much"


def test_slopes_that_follow_from_the_tie_are_shown_and_not_judged(found):
    for figure in found.figures:
        points = next(one for one in figure.series if one.label == INFORMED)
        assert np.polyfit(np.log(points.x), np.log(points.y), 1)[0] == pytest.approx(0.5, abs=0.1)
        assert sum(one.kind == "fit" for one in figure.series) == 1 + len(LEARNERS)
        assert "Slopes are not judged: the gap is tied to K / M" in figure.caption


def test_a_learner_that_loses_too_little_would_be_noticed(monkeypatch):
    """Nobody can: one that is told the arm."""
    monkeypatch.setattr(ToldRuns, "play", lambda runs, seed: np.full(runs.runs, 0.5) + 0.001 * np.arange(runs.runs))
    found = told_tasks.measure(True, 0, InProcess(), TINY)
    assert [claim.verdict for claim in found.claims] == [False] * len(found.claims)


def test_who_does_the_work_makes_no_difference_and_the_seed_does():
    tasks = [ToldRuns(name, 2, 2, 20) for name in (INFORMED, *LEARNERS)]
    first, same = carry_out(tasks, KEY, 0, InProcess()), carry_out(tasks, KEY, 0, Backwards())
    other = carry_out(tasks, KEY, 1, InProcess())
    for task in tasks:
        assert np.array_equal(first[task], same[task])
        assert not np.array_equal(first[task], other[task])


@pytest.mark.long
def test_a_quick_run_holds():
    found = told_tasks.measure(True, 1, local(2))
    assert all(claim.holds for claim in found.claims)

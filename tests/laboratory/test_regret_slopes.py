"""The claims on AOMultiRL's regret: how they are made, at tiny sizes, and behind `long` as they are."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments.executors import InProcess, local
from aomultirl.laboratory import regret_slopes, signposts
from aomultirl.laboratory.findings import carry_out
from aomultirl.laboratory.regret_slopes import KEY, RegretSizes
from aomultirl.laboratory.signposts import (
    BOTH,
    HITTING_TIME,
    JAO,
    PAPER,
    RELEASED,
    SCALED,
    SIGNPOSTS,
    SURE,
    ClusteringRuns,
    LearningRuns,
)
from aomultirl.laboratory.signposts import signposts as worlds_with_signs
from backwards import Backwards

TINY = RegretSizes(
    separations=(1.0, 0.5),
    jao_separations=(0.3, 0.15),
    each=8,
    early=40,
    runs=2,
    episodes=8,
    gaps=(0.2, 0.1),
    models=2,
    learning_runs=2,
    learning_episodes=120,
    numbers=(1, 2),
    number_runs=2,
    number_episodes=120,
    bonus_episodes=40,
    reusing_episodes=60,
)


@pytest.fixture(scope="module")
def found():
    return regret_slopes.measure(True, 0, InProcess(), TINY)


def the_claim(found, words):
    (claim,) = [one for one in found.claims if words in one.claim]
    return claim


@pytest.mark.parametrize("separation", [1.0, 0.3, 0.01])
def test_signposts_are_as_far_apart_as_asked_and_soon_reached(separation):
    worlds = worlds_with_signs(27, separation, 0.0)
    assert worlds.separation() == pytest.approx(separation)
    for family, models in ((SIGNPOSTS, worlds_with_signs(2, separation)), (JAO, ao.worlds.jao(2, 8.0, separation))):
        assert max(world.hitting_time() for world in models) <= HITTING_TIME[family] + 1e-9
        assert models.is_distinguishing([(0, 0)], separation * (1.0 - 1e-6))


@pytest.mark.parametrize("number", [0, 1, 5])
def test_an_action_of_a_signpost_world_is_better_or_worse_by_the_gap(number):
    world = worlds_with_signs(6, 1.0, 0.15)[number]
    last = world.optimal_values(2)[1]
    first, second = (world.rewards + world.transitions @ last).T
    better = [state in (number % 3, 3) for state in range(4)]
    assert second - first == pytest.approx(np.where(better, 0.15, -0.15))
    assert (world.rewards[:, 0] > world.rewards[:, 1]).all()


def test_the_clustering_phase_is_the_papers_and_its_regret_what_learning_did_not_lose():
    task = ClusteringRuns(SIGNPOSTS, 1.0, 1, 4)
    worlds, told = task.worlds(), (1.0 - 1e-6)
    agent = ao.agents.AOMultiRL(worlds, told, HITTING_TIME[SIGNPOSTS], 0.1, [(0, 0)], learning_horizon=2)
    seed = int(np.random.SeedSequence(7).generate_state(1)[0])
    history = ao.run(agent, worlds, ao.streams.uniform(), 4, seed)
    assert (history["identification_steps"] == task.horizon).all()
    assert task.play(7)[0] == pytest.approx(history["regret"] - history["learning_regret"])
    assert (ClusteringRuns(SIGNPOSTS, 1.0, 1, 4, early=True).play(7) < task.play(7)).all()


def test_the_learning_phase_loses_less_and_less_and_clusters_are_right():
    regrets, misclustered, _ = np.moveaxis(LearningRuns(2, 0.2, 2, 200).play(0), -1, 0)
    assert regrets.shape == (2, 200)
    assert regrets.min() > -1e-9
    assert regrets.max() <= 0.2 + SURE
    assert 0.0 < regrets[:, 100:].mean() < 0.5 * regrets[:, :100].mean()
    assert not misclustered.any()


@pytest.mark.parametrize("bonus", [PAPER, RELEASED])
def test_a_bonus_above_its_cap_is_acting_at_random(bonus):
    regrets = LearningRuns(1, 0.2, 1, 20, bonus).play(0)[0, :, 0]
    assert regrets == pytest.approx(np.full(20, (0.2 + SURE) / 2.0))


@pytest.mark.parametrize("bonus", [PAPER, RELEASED, SCALED, BOTH])
def test_visits_are_the_first_at_which_the_bonus_is_small_enough(bonus):
    task = LearningRuns(2, 0.1, 1, 100, bonus)
    kind, scale = signposts.BONUSES[bonus]
    horizon = 60_000 + 2 + 5000 if bonus == BOTH else 3002
    sizes = task.sizes | {"horizon": horizon, "learning_horizon": 2}
    for level in (2.0, 0.1):
        visits = task.visits(level)
        below, above = scale * ao.theory.bonus([visits, visits - 1], failure=0.1, constants=kind, **sizes)
        assert below <= level < above
    if scale == 1.0:
        assert task.visits(2.0) - 1 == ao.theory.visits_until_informative(failure=0.1, constants=kind, **sizes)


def test_every_claim_says_how_it_is_judged_and_names_a_figure_that_is_there(found):
    names = [figure.name for figure in found.figures]
    assert len(found.claims) == 6
    assert len(names) == len(set(names)) == 5
    for claim in found.claims:
        assert claim.rule.words
        assert claim.low <= claim.measured <= claim.high
        assert claim.figure in names


def figure_of(found, name):
    return next(one for one in found.figures if one.name == name)


def slope_of(series):
    return np.polyfit(np.log(series.x), np.log(series.y), 1)[0]


def test_the_exponent_in_m_is_that_of_the_points_and_compared_with_the_bound_over_these_m(found):
    claim = the_claim(found, "no faster with M than its bound")
    (points,) = (one for one in figure_of(found, "regret_models").series if one.kind == "measured")
    assert claim.measured == pytest.approx(slope_of(points))
    bounds = []
    for models in TINY.numbers:
        phase = LearningRuns(models, TINY.gaps[0], TINY.number_runs, TINY.number_episodes)
        bound = phase.bound(TINY.number_episodes)
        bounds.append(bound.root + bound.constant)
    assert claim.predicted == pytest.approx(np.log(bounds[1] / bounds[0]) / np.log(2.0))
    assert claim.predicted == pytest.approx(1.0, abs=0.05)
    assert claim.rule.most == claim.predicted + regret_slopes.SLACK
    assert "no theorem covers a bonus that is scaled down" in claim.reason


def test_exponents_that_follow_from_h0_are_shown_and_not_judged(found):
    figure = figure_of(found, "regret_lambda")
    slopes = {one.label: slope_of(one) for one in figure.series if one.kind == "measured"}
    assert slopes["after H0 steps"] == pytest.approx(-2.0, abs=0.3)
    assert slopes["JAO, after H0 steps"] == pytest.approx(-1.0, abs=0.3)
    assert "Slopes are not judged, as they follow from H0" in figure.caption
    assert (
        "The slope is not judged: every episode spends the same H0 steps" in figure_of(found, "regret_episodes").caption
    )
    assert not any("lambda" in claim.claim or "linearly" in claim.claim for claim in found.claims)


def test_the_worst_gap_is_taken_at_every_k(found):
    figure = next(one for one in found.figures if one.name == "regret_learning")
    points = [one for one in figure.series if one.kind == "measured"]
    worst = np.max([one.y for one in points], axis=0)
    slope = np.polyfit(np.log(points[0].x), np.log(worst), 1)[0]
    assert len(points) == len(TINY.gaps)
    assert the_claim(found, "sqrt(K), at the worst gap").measured == pytest.approx(slope)


def test_figures_show_points_with_intervals_fits_with_their_slopes_and_the_bound(found):
    for figure in found.figures:
        assert {"measured", "fit", "theory"} == {one.kind for one in figure.series}
        for one in figure.series:
            assert one.kind != "fit" or "slope" in one.label
            if one.kind == "measured":
                assert all(a <= b <= c for a, b, c in zip(one.low, one.y, one.high, strict=True))


def test_an_episode_loses_less_than_its_clustering_phase_is_long(found):
    assert 0.0 < the_claim(found, "at most H0 + D").measured < 1.0


@pytest.mark.parametrize(
    ("bonus", "words"), [(PAPER, "the paper's bonus"), (RELEASED, "the bonus of the authors' code")]
)
def test_what_the_bonus_hides_for_longer_than_is_run_is_out_of_reach_and_does_not_fail(found, bonus, words):
    claim = next(one for one in found.claims if f"sqrt(K) with {words}" in one.claim and "both" not in one.claim)
    needed = LearningRuns(1, regret_slopes.EASY, TINY.learning_runs, TINY.bonus_episodes, bonus).episodes_until(0.2)
    assert claim.outcome == "out of reach"
    assert claim.measured == pytest.approx(1.0)
    assert claim.reason.startswith(f"it takes {needed:,} episodes of a world to show, and 40 were run")
    assert (claim.plain is not None) == (bonus == PAPER)
    if claim.plain:
        assert claim.plain.found.startswith(f"for the first {needed:,} episodes of a world its bonus")
        assert claim.plain.found.endswith(", and 40 were run")


def test_a_learner_that_learns_nothing_would_be_noticed(monkeypatch):
    monkeypatch.setitem(signposts.BONUSES, SCALED, ("paper", 1.0))
    found = regret_slopes.measure(True, 0, InProcess(), TINY)
    claim = the_claim(found, "sqrt(K), at the worst gap")
    assert not claim.holds
    assert claim.measured == pytest.approx(1.0)


def test_who_does_the_work_makes_no_difference_and_the_seed_does():
    tasks = [ClusteringRuns(JAO, 0.3, 1, 3), LearningRuns(2, 0.2, 1, 30)]
    first, same = carry_out(tasks, KEY, 0, InProcess()), carry_out(tasks, KEY, 0, Backwards())
    other = carry_out(tasks, KEY, 1, InProcess())
    for task in tasks:
        assert np.array_equal(first[task], same[task])
        assert not np.array_equal(first[task], other[task])


def test_with_the_samples_of_both_phases_the_papers_own_bonus_learns():
    task = LearningRuns(1, 0.2, 1, 400, BOTH)
    regrets, misclustered, explored = np.moveaxis(task.play(0)[0], -1, 0)
    start = task.episodes_until(0.5)
    assert 50 < start < 200
    assert regrets[:3] == pytest.approx(np.full(3, (0.2 + SURE) / 2.0))
    assert explored.all()
    assert regrets[start + 100 :].mean() < 0.1 * regrets[:3].mean()
    assert not misclustered.any()


@pytest.mark.long
def test_regret_is_as_the_theorem_says_where_it_can_be_told():
    """A quick run; exponents may be too wide to tell, and none may fail."""
    found = regret_slopes.measure(True, 1, local(2))
    beyond = [claim for claim in found.claims if claim.outcome == "out of reach"]
    assert len(beyond) == 2
    assert the_claim(found, "at most H0 + D").holds
    assert the_claim(found, "samples of both phases").holds
    assert all(claim.verdict is not False for claim in found.claims)

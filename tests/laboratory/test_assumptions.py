"""The claims on the assumptions: what is computed is computed exactly, what is run is run by every agent."""

import inspect
import json
import math
import re

import numpy as np
import pytest

from aomultirl import agents
from aomultirl.experiments.executors import InProcess
from aomultirl.laboratory import (
    assumptions,
    assumptions_entropy,
    assumptions_hitting,
    assumptions_void,
)
from aomultirl.laboratory.assumptions import LOOKING, measure_with
from aomultirl.laboratory.assumptions_blocked import (
    AGENTS,
    NAMING,
    WORLDS,
    Course,
    Pairing,
    told,
)
from aomultirl.laboratory.assumptions_entropy import (
    LEVEL,
    LIKELY,
    chances_of_likely,
    looks_needed,
    trajectories,
)
from aomultirl.laboratory.assumptions_gathering import EXPLORE_ID, GOSPRL, LOCK, TWO_JAO, Gathering, world
from aomultirl.laboratory.assumptions_reach import chances, reachable
from aomultirl.laboratory.assumptions_void import expected_times
from aomultirl.mdp import MDP
from aomultirl.worlds import entropy_pair, two_jao, two_jao_noncommunicating, two_jao_tree

TINY = assumptions.Sizes((0.9, 0.95), 3, 1, 3, 5, assumptions_hitting.Sizes(16, (1 / 64, 1.0), (3, 5, 8), 3, 16))


@pytest.fixture(scope="module")
def found():
    return measure_with(TINY, 0, InProcess())


def test_all_agents_are_there():
    known = {name for name, one in vars(agents).items() if inspect.isclass(one) and issubclass(one, agents.Agent)}
    assert set(AGENTS) == known - {"Agent"}


def test_reachable_states_are_those_of_some_policy():
    assert reachable(two_jao_noncommunicating()[0], 0) == {0, 1}
    assert reachable(two_jao_noncommunicating()[0], 2) == {0, 1, 2}
    assert reachable(two_jao()[0], 0) == {0, 1, 2}


def test_the_best_policy_gets_to_the_left_state_as_soon_as_a_special_action_may():
    closed, free = two_jao_noncommunicating(separation=0.5)[0], two_jao(separation=0.5)[0]
    assert chances(closed, 0, 2, [1, 10]) == [0.0, 0.0]
    assert chances(free, 0, 2, [1, 2, 10]) == pytest.approx([0.75, 0.9375, 1.0 - 0.25**10])


@pytest.mark.parametrize("model", [world(LOCK, 5), two_jao()[0]])
def test_the_quickest_way_ends_at_the_diameter_and_the_slowest_at_no_hitting_time(model):
    short, long = expected_times(model, [1, 2000], slowest=False)
    assert short == 1.0
    assert long == pytest.approx(model.diameter())
    assert expected_times(model, [1, 2000], slowest=True) == pytest.approx([1.0, 2000.0])


def test_the_slowest_way_ends_at_a_hitting_time_that_is_finite():
    model = two_jao_noncommunicating()[0]
    mixed = MDP(0.9 * model.transitions + 0.1 / model.n_states, model.rewards)
    assert expected_times(mixed, [2000], slowest=True) == pytest.approx([mixed.hitting_time()])


@pytest.mark.parametrize("agent", AGENTS)
def test_no_agent_gets_to_the_left_state(agent):
    played = Course(agent, 0.95, 0.95, False, 1).play(3)
    assert played.left.sum() == 0
    assert (played.steps == told(0.95, False, agent).horizon).all()


def test_visits_are_counted_where_there_are_some():
    played = Course("AOMultiRL", 0.95, 0.95, True, 2).play(0)
    assert (played.left > 0).all()
    assert played.named.all()


def test_an_agent_that_cannot_look_puts_all_episodes_together():
    played = Course("AOMultiRL", 0.95, 0.95, False, 4).play(0)
    assert played.named[WORLDS:].sum() == 3


def test_lambda_matters_only_where_it_can_be_seen():
    blocked = Pairing("DoublingAOMultiRL", 0.3, 0.95, 1).play(1)
    assert all(np.array_equal(one, other) for one, other in zip(*blocked, strict=True))
    seen = [Course("DoublingAOMultiRL", level, 0.95, True, 1).play(1) for level in (0.3, 0.95)]
    assert not np.array_equal(seen[0].rewards, seen[1].rewards)


def test_what_is_lost_is_what_the_special_action_is_missed():
    assert Course("Optimal", 0.95, 0.95, False, 2).play(0).lost.max() < 0.01
    assert Course("Random", 0.95, 0.95, False, 2).play(0).lost == pytest.approx(1.0 - 1.0 / (2 * WORLDS), abs=0.03)


def test_a_visit_of_the_hub_without_the_special_action_costs_what_the_module_says():
    delta, gap, horizon = 0.25, 0.05, 4000
    model = two_jao_noncommunicating(WORLDS, 16.0, 0.5, gap=gap)[0]
    uniform = np.full((3, 2 * WORLDS), 0.5 / WORLDS)
    regret = model.first_values(horizon)[0] - model.policy_values(uniform, horizon)[0, 0]
    leaving = delta + gap / (2 * WORLDS)
    visits = horizon * delta / (delta + leaving)
    assert regret == pytest.approx(visits * (1.0 - 0.5 / WORLDS) * gap / (2.0 * delta + gap), rel=0.01)


@pytest.mark.parametrize("policy", [(0, 1, 1), (1, 0, 0), (1, 1, 0), None])
@pytest.mark.parametrize("communicating", [False, True])
def test_the_trajectories_of_a_policy_have_all_the_probability(policy, communicating):
    seen = trajectories(entropy_pair(0.3, communicating), 6, policy)
    total = 1.0 if policy is not None else 2.0**6
    assert seen.chances.sum(axis=1) == pytest.approx([total, total])
    if policy is not None and policy[0] == 1:
        assert (seen.told == 0).all()
        assert (seen.ratios == 1.0).all()
    else:
        assert seen.told.max() == (3 if communicating else 1)


def test_one_look_halves_the_likelihood_ratio_or_raises_it():
    seen = trajectories(entropy_pair(0.5), 1, (0, 0, 0))
    assert sorted(seen.ratios) == pytest.approx([0.5, 1.5])


@pytest.mark.parametrize("least", [0.2, 0.6, 1.1, 3.0])
@pytest.mark.parametrize("visits", [1, 2, 5])
def test_the_chances_that_the_other_world_looks_likely_are_those_of_all_trajectories(visits, least):
    seen = trajectories(entropy_pair(0.4, communicating=True), 2 * visits, (0, 1, 1))
    assert (seen.told == visits).all()
    first, second = seen.chances[0][seen.ratios > least].sum(), seen.chances[1][1.0 / seen.ratios > least].sum()
    assert chances_of_likely(visits, 0.4, least) == pytest.approx((first, second), abs=1e-12)


def test_the_horizon_at_which_looking_separates_the_pair_either_way_is_the_first(found):
    claim = found.claims[-1]
    (steps,) = re.findall(r"within (\d+) steps", claim.claim)
    looks = int(steps) // 2
    assert claim.measured == max(chances_of_likely(looks, LEVEL)) < claim.predicted == LIKELY
    assert all(max(chances_of_likely(fewer, LEVEL)) >= LIKELY for fewer in range(1, looks))
    assert any(min(chances_of_likely(fewer, LEVEL)) < LIKELY for fewer in range(1, looks))
    assert claim.relation == "<"


def test_a_pair_that_is_not_separated_in_time_is_a_claim_that_does_not_hold():
    assert looks_needed(LEVEL, 100) is None
    *others, claim = assumptions_entropy.measure(2, patience=100).claims
    assert all(other.holds for other in others)
    assert not claim.holds
    assert "within 200 steps" in claim.claim
    assert "there is no such horizon" in claim.reason


def test_enough_looks_separate_the_entropy_pair():
    assert chances_of_likely(10, 0.5) == (1.0, 1.0)
    assert max(chances_of_likely(1000, 0.5)) < LIKELY


@pytest.mark.parametrize(
    ("says", "counts"),
    [
        ("hitting_time must be finite, not inf", True),
        ("the models have an infinite hitting time; choose hitting_time=...", True),
        ("AOMultiRL has no argument horizons", False),
    ],
)
def test_only_who_refuses_because_of_the_hitting_time_counts(monkeypatch, says, counts):
    def refuse():
        raise ValueError(says)

    monkeypatch.setitem(assumptions_void.ATTEMPTS, "AOMultiRL", refuse)
    claim = next(claim for claim in assumptions_void.measure().claims if "refuse" in claim.claim)
    assert claim.holds == counts
    assert claim.measured == claim.predicted - (not counts)


def test_the_worlds_without_a_hitting_time_that_are_counted_are_the_papers():
    claim = assumptions_void.measure().claims[0]
    worlds = 4 + len(list(two_jao_tree(12, 13, 16.0, 0.5)))
    assert sum(map(int, re.findall(r"(\d+) 2-JAO", claim.reason))) == worlds


def test_a_lock_has_the_diameter_that_it_says_and_no_hitting_time():
    assert world(LOCK, 7).diameter() == pytest.approx(7.0)
    assert math.isinf(world(LOCK, 7).hitting_time())


def test_in_a_lock_exploring_at_random_falls_short_and_planning_does_not():
    random, planned = (Gathering(name, LOCK, 9, 9.0, 2) for name in (EXPLORE_ID, GOSPRL))
    short, enough = random.play(0), planned.play(0)
    assert (short.steps == random.horizon).all()
    assert (short.samples < 0.5 * random.wanted).all()
    assert (enough.steps < planned.horizon).all()
    assert (enough.samples == planned.wanted).all()
    assert short.steps.sum() / short.samples.sum() == pytest.approx(2.0**9, rel=0.25)


def test_too_small_a_guess_leaves_pairs_without_samples():
    small, large = (Gathering(EXPLORE_ID, TWO_JAO, 64, guess, 2) for guess in (0.2, 64.0))
    assert (small.play(0).samples < small.wanted).all()
    assert (large.play(0).samples == large.wanted).all()


def figure_of(found, name):
    return next(figure for figure in found.figures if figure.name == name)


def test_what_agents_lose_is_shown_for_every_agent_and_the_same_for_either_lambda(found):
    figure = figure_of(found, "assumptions_lost")
    assert set(figure.names) == set(AGENTS)
    first, second = (one for one in figure.series if one.kind == "measured")
    assert first.y == second.y
    assert [round(x) for x in first.x] == [round(x) for x in second.x] == list(range(len(AGENTS)))
    optimal = first.y[figure.names.index("Optimal")]
    assert optimal < 0.01 < 0.7 < first.y[figure.names.index("Random")]


def test_every_agent_that_names_worlds_is_judged_at_every_lambda_of_the_figure(found):
    figure = figure_of(found, "assumptions_blocked")
    assert set(figure.names) == set(NAMING)
    claim = next(claim for claim in found.claims if "can be reached" in claim.claim)
    for name in LOOKING:
        assert name in claim.claim
        assert all(f"{name} at {level:g} " in claim.reason for level in TINY.levels)
    assert re.search(r"Recall is out.* \d+% \(\d+% to \d+%\)", claim.reason)
    within = [one for one in figure.series if one.label.endswith("within reach")]
    assert len(within) == len(TINY.levels)
    recall = figure.names.index("Recall")
    assert all(one.y[recall] < 0.5 and min(one.y[:recall]) >= 0.9 for one in within)


def test_likelihood_ratios_without_the_pair_that_tells_are_1_and_others_are_not(found):
    blind, least, most, *linked, limit = figure_of(found, "assumptions_ratios").series
    assert set(blind.low) | set(blind.high) == {1.0}
    assert set(least.y) == {0.5}
    assert len(set(most.y)) == 1
    assert min(most.y) == pytest.approx(5.5)
    assert linked[0].y == pytest.approx([0.5, 0.5, 0.25, 0.25, 0.125])
    assert set(limit.y) == {1 / 16}


def test_all_claims_hold_and_figures_show_them(found):
    assert all(claim.holds for claim in found.claims), [claim for claim in found.claims if not claim.holds]
    names = {figure.name for figure in found.figures}
    assert {claim.figure for claim in found.claims} == names
    for figure in found.figures:
        assert {series.kind for series in figure.series} >= {"measured", "theory"}
        assert all(len(series.x) == len(series.y) for series in figure.series)
    json.dumps([claim.as_dict() for claim in found.claims], allow_nan=False)


@pytest.mark.long
def test_all_claims_of_the_full_laboratory_hold():
    found = assumptions.measure(False, 1, InProcess())
    assert all(claim.holds for claim in found.claims), [claim for claim in found.claims if not claim.holds]

"""The claims on the entropy pair: all of them are computed."""

import re

import pytest

from aomultirl.laboratory import assumptions
from aomultirl.laboratory.assumptions import LEVEL, LIKELY, chances_of_likely, looks_needed, trajectories
from aomultirl.worlds import entropy_pair


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


def test_the_horizon_at_which_looking_separates_the_pair_either_way_is_the_first():
    claim = assumptions.without_entropy(2).claims[-1]
    (steps,) = re.findall(r"within (\d+) steps", claim.claim)
    looks = int(steps) // 2
    assert claim.measured == max(chances_of_likely(looks, LEVEL)) < claim.predicted == LIKELY
    assert all(max(chances_of_likely(fewer, LEVEL)) >= LIKELY for fewer in range(1, looks))
    assert any(min(chances_of_likely(fewer, LEVEL)) < LIKELY for fewer in range(1, looks))
    assert claim.rule.relation == "<"


def test_a_pair_that_is_not_separated_in_time_is_a_claim_that_does_not_hold():
    assert looks_needed(LEVEL, 100) is None
    *others, claim = assumptions.without_entropy(2, patience=100).claims
    assert all(other.holds for other in others)
    assert not claim.holds
    assert "within 200 steps" in claim.claim
    assert "there is no such horizon" in claim.reason


def test_enough_looks_separate_the_entropy_pair():
    assert chances_of_likely(10, 0.5) == (1.0, 1.0)
    assert max(chances_of_likely(1000, 0.5)) < LIKELY


def test_likelihood_ratios_without_the_pair_that_tells_are_1_and_others_are_not():
    figure = next(figure for figure in assumptions.without_entropy(5).figures if figure.name == "assumptions_ratios")
    blind, least, most, *linked, limit = figure.series
    assert set(blind.low) | set(blind.high) == {1.0}
    assert set(least.y) == {0.5}
    assert len(set(most.y)) == 1
    assert min(most.y) == pytest.approx(5.5)
    assert linked[0].y == pytest.approx([0.5, 0.5, 0.25, 0.25, 0.125])
    assert set(limit.y) == {1 / 16}

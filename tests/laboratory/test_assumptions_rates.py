"""Rates on the assumptions are judged so that what is true passes, what is false fails, and a few episodes never do."""

import numpy as np
import pytest
from scipy.stats import binom

from aomultirl.laboratory.assumptions import FULL, LOOKING, QUICK
from aomultirl.laboratory.assumptions_blocked import NAMING, SEQUENTIAL, WORLDS
from aomultirl.laboratory.assumptions_rates import CHANCE, FALLS_SHORT, GATHERS, LOSES, NAMES, judge, rate
from aomultirl.laboratory.sweeps import NEARLY, TOO_WIDE, Mean, mean_of


def passes(required, truth, games):
    """With which probability a rate that is ``truth`` is said to hold."""
    hits = np.arange(games + 1)
    verdicts = [required.holds(rate(np.arange(games) < one)) for one in hits]
    return float(binom.pmf(hits, games, truth)[verdicts].sum())


def judged(sizes, there, agent):
    """Episodes of a rate: out of reach of all levels, within reach of one."""
    courses = sizes.courses if there else sizes.blocked(agent) * len(sizes.levels)
    return courses * (sizes.blocks - 1) * WORLDS


@pytest.mark.parametrize("sizes", [QUICK, FULL])
def test_who_names_worlds_is_told_from_who_is_right_in_three_of_five(sizes):
    games = judged(sizes, True, "AOMultiRL")
    assert passes(NAMES, 0.98, games) > 0.99
    assert passes(NAMES, 0.99, games) ** (len(LOOKING) * len(sizes.levels)) > 0.99
    assert passes(NAMES, 0.6, games) < 0.001
    assert passes(NAMES, 0.8, games) < 0.05


@pytest.mark.parametrize("sizes", [QUICK, FULL])
@pytest.mark.parametrize("agent", NAMING)
def test_who_names_worlds_by_chance_is_told_from_who_is_twice_as_good(sizes, agent):
    games = judged(sizes, False, agent)
    # who names with proof only names no world by chance, and needs fewer episodes in the quick laboratory
    truth = 0.1 if agent == SEQUENTIAL and sizes is QUICK else 1.0 / WORLDS
    assert passes(CHANCE, truth, games) > 0.99
    assert passes(CHANCE, 1.0 / WORLDS, judged(sizes, False, "Recall")) ** len(NAMING) > 0.99
    assert passes(CHANCE, 2.0 / WORLDS, games) < 0.05


@pytest.mark.parametrize("sizes", [QUICK, FULL])
def test_who_has_its_samples_is_told_from_who_has_not(sizes):
    games = sizes.hitting.judged
    assert passes(GATHERS, 0.99, games) > 0.99
    assert passes(FALLS_SHORT, 0.01, games) > 0.99
    assert passes(GATHERS, 0.6, games) < 0.05
    assert passes(FALLS_SHORT, 0.4, games) < 0.05


@pytest.mark.parametrize(("knows", "chance"), [(0.0, 1.0), (0.5, 0.0)])
def test_who_loses_what_ignorance_loses_is_told_from_who_knows_every_second_world(knows, chance):
    """Who does not know it takes one action throughout an episode, as likely a left one as a right one."""
    rng = np.random.default_rng(0)
    shape = (1000, QUICK.courses * QUICK.blocks, WORLDS)
    right = (rng.random(shape) < knows) | (rng.random(shape) < 0.5 / WORLDS)
    held = [LOSES.holds(mean_of(blocks)) for blocks in (~right).mean(axis=2)]
    assert np.mean(held) == pytest.approx(chance, abs=0.01)


def test_who_always_takes_the_same_right_action_loses_enough_even_with_a_little_luck():
    rng = np.random.default_rng(0)
    assert LOSES.holds(mean_of(1.0 - 1.0 / WORLDS - 0.01 * rng.random(QUICK.courses * QUICK.blocks)))


def verdict(required, *rates):
    found = {f"agent {number}": rate(np.arange(games) < hits) for number, (hits, games) in enumerate(rates)}
    return judge("it does", "somewhere", required, found, "figure", "as a share")


def test_an_interval_that_only_touches_what_is_claimed_does_not_tell():
    claim = verdict(NAMES, (12, 12))
    assert claim.high == 1.0
    assert (claim.holds, claim.undecided) == (False, True)
    assert claim.reason.startswith(TOO_WIDE)


def test_a_rate_just_beside_what_is_claimed_is_no_claim_that_fails():
    claim = verdict(NAMES, (890, 1000))
    assert claim.low > 0.75 < claim.measured < 0.9 < claim.high
    assert (claim.holds, claim.undecided) == (False, True)
    assert claim.reason.startswith(NEARLY)


def test_a_claim_holds_where_all_do_and_fails_where_one_does():
    assert verdict(NAMES, (48, 48), (47, 48)).holds
    failed = verdict(NAMES, (48, 48), (29, 48))
    assert (failed.holds, failed.undecided) == (False, False)
    assert failed.measured == pytest.approx(29 / 48)
    assert "agent 1" in failed.reason
    assert verdict(CHANCE, (24, 96), (0, 24)).holds
    assert not verdict(CHANCE, (24, 96), (48, 96)).holds
    assert verdict(CHANCE, (24, 96)).relation == "<="


def test_what_is_said_of_a_rate_is_what_is_asked_of_it():
    assert NAMES.rule("any").startswith("each is at least 0.9, its whole 95 % interval (any) above 0.75: ")
    assert CHANCE.rule("any").startswith("each is at most 0.4, its whole 95 % interval (any) below 0.5: ")


@pytest.mark.parametrize("required", [CHANCE, LOSES])
def test_what_is_precisely_wrong_fails_although_it_is_near(required):
    near = required.claimed + 0.5 * (required.estimate - required.claimed)
    found = Mean(near, near - 0.001, near + 0.001)
    assert required.fails(found)
    assert not required.holds(found)
    assert judge("it is so", "nowhere", required, {"one": found}, "figure", "").verdict is False

"""The claims on the hitting time: 2-JAO worlds have none, and explorers do with a guess what they can."""

import math
import re

import pytest

from aomultirl.laboratory import hitting_time
from aomultirl.laboratory.hitting_time import (
    EXPLORE_ID,
    FALLS_SHORT,
    GATHERS,
    GOSPRL,
    LOCK,
    TWO_JAO,
    Gathering,
    expected_times,
    world,
)
from aomultirl.mdp import MDP
from aomultirl.refusals import Refusal
from aomultirl.worlds import two_jao, two_jao_noncommunicating, two_jao_tree
from verdicts import passes


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


@pytest.mark.parametrize(
    ("refusal", "counts"),
    [
        (Refusal("hitting_time", "must be finite, not inf"), True),
        (Refusal("horizon", "must be at least 1, and no hitting_time"), False),
        (ValueError("AOMultiRL has no argument hitting_time"), False),
    ],
)
def test_only_who_refuses_because_of_the_hitting_time_counts(monkeypatch, refusal, counts):
    def refuse():
        raise refusal

    monkeypatch.setitem(hitting_time.ATTEMPTS, "AOMultiRL", refuse)
    claim = next(claim for claim in hitting_time.compute().claims if "refuse" in claim.claim)
    assert claim.holds == counts
    assert claim.measured == claim.predicted - (not counts)


def test_the_worlds_without_a_hitting_time_that_are_counted_are_the_papers():
    claim = hitting_time.compute().claims[0]
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


@pytest.mark.parametrize("sizes", [hitting_time.QUICK, hitting_time.FULL])
def test_who_has_its_samples_is_told_from_who_has_not(sizes):
    games = sizes.judged
    assert passes(GATHERS, 0.99, games) > 0.99
    assert passes(FALLS_SHORT, 0.01, games) > 0.99
    assert passes(GATHERS, 0.6, games) < 0.05
    assert passes(FALLS_SHORT, 0.4, games) < 0.05

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr

from aomultirl import theory


@given(st.integers(2, 40), st.integers(1, 10**6), st.floats(1e-6, 0.5))
def test_the_radius_is_where_the_tail_is_spent(states, samples, failure):
    radius = theory.weissman_radius(failure, samples=samples, states=states)
    if radius < 2.0:
        assert theory.weissman_tail(radius, samples=samples, states=states) == pytest.approx(failure, rel=1e-6)


def test_golden_values():
    assert theory.weissman_tail(0.5, samples=40, states=3) == pytest.approx(6 * math.exp(-5))
    assert theory.weissman_tail(0.1, samples=1, states=3) == 1.0
    assert theory.weissman_tail(0.1, samples=10**6, states=1000) == 0.0
    assert theory.weissman_radius(0.1, samples=50, states=2) == pytest.approx(math.sqrt(math.log(20) / 25))
    assert theory.weissman_radius(0.1, samples=1, states=50) == 2.0


@given(st.integers(1, 40), st.floats(0.01, 2.0), st.floats(1e-9, 0.5))
def test_so_many_samples_spend_no_more_than_the_failure(states, radius, failure):
    samples = theory.weissman_samples(radius, failure=failure, states=states)
    assert theory.weissman_tail(radius, samples=samples, states=states) <= failure
    fewer = 2.0 / radius**2 * (states * math.log(2.0) + math.log(1.0 / failure))
    assert samples - 1 < fewer * (1.0 + 1e-12)
    assert samples >= fewer * (1.0 - 1e-12)


def test_estimates_stay_within_the_radius_however_many_samples_are_added():
    """2,000 sequences of up to 600 samples; the largest deviation from N on exceeds the radius at most as often."""
    rng, row, failure, radius = np.random.default_rng(0), np.array([0.5, 0.3, 0.2]), 0.3, 0.35
    first = theory.weissman_samples(radius, failure=failure, states=3)
    assert first == 54
    drawn = np.cumsum(np.eye(3)[rng.choice(3, (2000, 600), p=row)], axis=1)
    away = np.abs(drawn / np.arange(1, 601)[:, None] - row).sum(axis=2)
    assert (away[:, first - 1 :].max(axis=1) >= radius).mean() <= failure
    assert (away[:, : first // 4].max(axis=1) >= radius).mean() > failure  # fewer are not enough


def test_a_single_state_never_strays():
    assert theory.weissman_tail(0.01, samples=1, states=1) == 0.0
    assert theory.weissman_radius(0.01, samples=1, states=1) == 0.0


@given(st.integers(1, 60), st.floats(0.001, 0.999), st.sampled_from([0.8, 0.95, 0.999]))
def test_the_interval_holds_the_truth_as_often_as_it_says(trials, chance, level):
    successes = np.arange(trials + 1)
    low, high = theory.binomial_interval(successes, trials, level)
    mass = np.diff(bdtr(successes.astype(float), trials, chance), prepend=0.0)
    assert mass[(low <= chance) & (chance <= high)].sum() >= level - 1e-9
    assert (low <= successes / trials).all()
    assert (successes / trials <= high).all()


def test_the_interval_is_the_exact_one():
    """Its ends are where the tails of the binomial are half the rest."""
    low, high = theory.binomial_interval(7, 20, 0.9)
    assert 1.0 - bdtr(6, 20, float(low)) == pytest.approx(0.05)
    assert bdtr(7, 20, float(high)) == pytest.approx(0.05)
    assert theory.binomial_interval(20, 20)[1] == 1.0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: theory.weissman_tail(0.0, samples=1, states=2), "radius must be above 0, not 0"),
        (lambda: theory.weissman_tail(0.1, samples=0, states=2), "samples must be at least 1, not 0"),
        (lambda: theory.weissman_radius(1.0, samples=1, states=2), "failure must be below 1, not 1"),
        (lambda: theory.weissman_radius(0.1, samples=1, states=0), "states must be at least 1, not 0"),
        (lambda: theory.weissman_samples(0.0, failure=0.1, states=2), "radius must be above 0, not 0"),
        (lambda: theory.weissman_samples(1e-200, failure=0.1, states=2), "weissman_samples is beyond what numbers"),
        (lambda: theory.binomial_interval([3, 11], 10), "successes must be between 0 and trials = 10"),
        (lambda: theory.binomial_interval(3, 10, 1.0), "level must be below 1, not 1"),
    ],
)
def test_bad_input(call, told):
    with pytest.raises(ValueError, match=told):
        call()

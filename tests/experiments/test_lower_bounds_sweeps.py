"""Points, lines and what they say of an exponent."""

import math

import numpy as np
import pytest
from scipy import stats

from aomultirl.experiments.lower_bounds.exponents import Fit
from aomultirl.experiments.lower_bounds.sweeps import Expected, exponent, fitted, line_through, mean_of, measured

HALF = Expected("like a root", "nowhere", 0.5, 0.4, 0.6, "because")


def test_means_have_students_intervals():
    runs = np.random.default_rng(0).normal(3.0, 2.0, 9)
    low, high = stats.t.interval(0.95, 8, runs.mean(), stats.sem(runs))
    assert mean_of(runs) == pytest.approx((runs.mean(), low, high))


@pytest.mark.parametrize(
    ("low", "high", "holds"), [(0.45, 0.7, True), (0.1, 0.41, True), (0.61, 0.7, False), (0.1, 0.39, False)]
)
def test_an_exponent_holds_where_its_interval_meets_the_band(low, high, holds):
    line = Fit((low + high) / 2.0, low, high, 0.0)
    assert exponent(HALF, {"one": line}, "figure").holds is holds
    from_above = HALF._replace(least=-math.inf)
    assert from_above.holds(line) is (low <= 0.6)
    assert "begins below 0.6" in from_above.rule
    assert "meets [0.4, 0.6]" in HALF.rule


def test_of_several_exponents_all_must_hold_and_the_farthest_is_given():
    near, far = Fit(0.5, 0.45, 0.55, 0.0), Fit(0.9, 0.8, 1.0, 0.0)
    claim = exponent(HALF, {"near": near, "far": far}, "figure", "why")
    assert (claim.measured, claim.low, claim.high, claim.holds) == (0.9, 0.8, 1.0, False)
    assert claim.reason == "why; the farthest is far; near 0.50 (0.45 to 0.55), far 0.90 (0.80 to 1.00)"
    assert exponent(HALF, {"near": near}, "figure").reason == ""


def test_what_is_drawn_is_what_was_measured_and_fitted():
    x, samples = [1.0, 4.0, 16.0], [np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.array([4.0, 4.0])]
    points, line = measured("runs", x, samples), line_through(x, samples, 0)
    assert points.y == points.low == points.high == (1.0, 2.0, 4.0)
    drawn = fitted("runs", x, line)
    assert drawn.label == "runs: slope 0.50 (0.50 to 0.50)"
    assert drawn.x == [1.0, 16.0]
    assert drawn.y == pytest.approx([1.0, 4.0])


def test_resamples_without_a_logarithm_are_left_out():
    wild = np.array([-3.0, 1.1, 1.3, 9.0])
    line = line_through([1.0, 2.0], [wild, wild + 10.0], 0)
    assert line.low <= line.slope <= line.high

"""Points, lines and what they say of an exponent."""

import math

import numpy as np
import pytest
from scipy import stats

from aomultirl.experiments.lower_bounds.exponents import Fit
from aomultirl.experiments.lower_bounds.sweeps import (
    Expected,
    exponent,
    fitted,
    line_through,
    mean_of,
    measured,
    summed,
)

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
    points, line = measured("runs", x, samples), line_through(x, samples)
    assert points.y == points.low == points.high == (1.0, 2.0, 4.0)
    drawn = fitted("runs", x, line)
    assert drawn.label == "runs: slope 0.50 (0.50 to 0.50)"
    assert drawn.x == [1.0, 16.0]
    assert drawn.y == pytest.approx([1.0, 4.0])


def test_the_interval_of_a_slope_holds_it_as_often_as_it_says():
    """With three runs a point; 1,000 intervals that hold it with probability 0.95 hold it 920 to 975 times."""
    rng, x = np.random.default_rng(0), np.array([1.0, 2.0, 4.0, 8.0])
    lines = [line_through(x, [3.0 * one * (1.0 + 0.2 * rng.normal(size=3)) for one in x]) for _ in range(1000)]
    assert 920 <= sum(line.low <= 1.0 <= line.high for line in lines) <= 975


def test_a_line_needs_two_places_and_positive_means():
    same = [np.ones(2), np.ones(2)]
    for x, samples in (([2.0, 2.0], same), ([1.0, 2.0], [np.ones(2), -np.ones(2)])):
        with pytest.raises(ValueError, match="two different x and positive means"):
            line_through(x, samples)


def test_regret_is_summed_up_over_a_decade():
    x, samples = summed(np.ones((2, 40)))
    assert x[0] == 4.0
    assert x[-1] == 40.0
    assert [values.tolist() for values in samples] == [[one, one] for one in x]

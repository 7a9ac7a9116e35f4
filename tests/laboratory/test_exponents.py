"""Points, lines and the exponents that they have."""

import math

import numpy as np
import pytest
from scipy import stats

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.rules import Exponent
from aomultirl.laboratory.exponents import (
    fits,
    fitted,
    intervals,
    level,
    line_through,
    mean_of,
    points,
    rate,
    slope_of,
    summed,
    worst_of,
)

AT_MOST_HALF = Exponent(0.5, "because", most=0.6)


def test_means_have_students_intervals():
    runs = np.random.default_rng(0).normal(3.0, 2.0, 9)
    low, high = stats.t.interval(0.95, 8, runs.mean(), stats.sem(runs))
    assert mean_of(runs) == pytest.approx((runs.mean(), low, high, 0))


def test_rates_have_clopper_and_pearsons_intervals():
    exact = stats.binomtest(7, 10).proportion_ci(0.95, "exact")
    assert rate(np.arange(10) < 7) == pytest.approx((0.7, exact.low, exact.high, 0))


@pytest.mark.parametrize("runs", [3, 8])
def test_a_straight_line_is_not_taken_for_a_root(runs):
    """Five points over a decade whose means are off by a tenth each; of 300, a root mostly holds, a line never does."""
    rng, x = np.random.default_rng(0), np.geomspace(1.0, 10.0, 5)
    judged = {}
    for power in (0.5, 1.0):
        noisy = [[one**power * (1.0 + 0.1 * np.sqrt(runs) * rng.normal(size=runs)) for one in x] for _ in range(300)]
        judged[power] = [AT_MOST_HALF.judge(line_through(x, samples).exponent) for samples in noisy]
    assert judged[1.0].count(True) == 0
    assert judged[0.5].count(False) < 15


def test_what_is_drawn_is_what_was_measured_and_fitted():
    x, samples = [1.0, 4.0, 16.0], [np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.array([4.0, 4.0])]
    shown, line = points("runs", x, samples), line_through(x, samples)
    assert shown.y == shown.low == shown.high == [1.0, 2.0, 4.0]
    drawn = fitted("runs", x, line)
    assert drawn.label == "runs: slope 0.50 (0.50 to 0.50)"
    assert drawn.shows == shown.shows
    assert drawn.x == [1.0, 16.0]
    assert drawn.y == pytest.approx([1.0, 4.0])
    assert intervals("nothing", [], []).y == []
    assert level("one", x, 1.0)[1:3] == ([1.0, 16.0], [1.0, 1.0])


def test_the_interval_of_a_slope_holds_it_as_often_as_it_says():
    """With three runs a point; 1,000 intervals that hold it with probability 0.95 hold it 920 to 975 times."""
    rng, x = np.random.default_rng(0), np.array([1.0, 2.0, 4.0, 8.0])
    lines = [line_through(x, [3.0 * one * (1.0 + 0.2 * rng.normal(size=3)) for one in x]) for _ in range(1000)]
    assert 920 <= sum(line.low <= 1.0 <= line.high for line in lines) <= 975


def test_a_line_needs_two_places():
    with pytest.raises(ValueError, match="two different x"):
        line_through([2.0, 2.0], [np.ones(2), np.ones(2)])


def test_what_is_computed_has_a_slope_without_an_interval():
    line = slope_of([1.0, 2.0, 4.0], [3.0, 12.0, 48.0])
    assert line.exponent == pytest.approx((2.0, 2.0, 2.0, 0))
    assert line(8.0) == pytest.approx(192.0)


def test_where_a_mean_is_not_positive_the_exponent_may_be_anything():
    lines, series = fits({"one": [1.0, 2.0]}, {"one": [np.ones(2), -np.ones(2)]})
    claim = Claim("like a root", "nowhere", Exponent.near(0.5, 0.1, ""), {"one": lines["one"].exponent})
    assert (claim.holds, claim.undecided, claim.low, claim.high) == (False, True, -math.inf, math.inf)
    assert [one.kind for one in series] == ["measured"]


def test_regret_is_summed_up_over_a_decade():
    x, samples = summed(np.ones((2, 40)))
    assert x[0] == 4.0
    assert x[-1] == 40.0
    assert [values.tolist() for values in samples] == [[one, one] for one in x]


def test_the_worst_row_is_taken_at_every_place():
    rows = [[np.array([1.0, 3.0]), np.zeros(2)], [np.zeros(2), np.ones(2)]]
    assert [values.tolist() for values in worst_of(rows)] == [[1.0, 3.0], [1.0, 1.0]]

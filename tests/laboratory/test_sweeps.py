"""Points, lines and what they say of an exponent."""

import math

import numpy as np
import pytest
from scipy import stats

from aomultirl.laboratory.exponents import Fit, line_through
from aomultirl.laboratory.findings import Claim
from aomultirl.laboratory.sweeps import (
    Expected,
    bounded,
    exponent,
    fitted,
    lines_and_series,
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
    ("low", "high", "holds", "doubt"),
    [
        (0.4, 0.6, True, ""),
        (0.55, 0.62, True, ""),
        (0.61, 0.7, False, ""),
        (0.1, 0.39, False, ""),
        (0.55, 0.75, False, "chance may have done it, as the interval meets the band"),
        (0.2, 0.8, False, "the interval is too wide to tell"),
    ],
)
def test_an_exponent_holds_in_the_band_fails_outside_and_is_open_where_too_little_is_known(low, high, holds, doubt):
    claim = exponent(HALF, {"one": Fit((low + high) / 2.0, low, high, 0.0)}, "figure")
    assert (claim.holds, claim.undecided, claim.reason) == (holds, bool(doubt), doubt)
    assert claim.relation == "="
    assert "lies in [0.4, 0.6], its 95 % interval at most 0.5 wide" in HALF.rule


def test_a_bound_from_above_has_no_lower_end():
    above = HALF._replace(least=-math.inf)
    claims = [exponent(above, {"one": Fit(slope, slope - 0.1, slope + 0.1, 0.0)}, "figure") for slope in (-3.0, 0.8)]
    assert [claim.verdict for claim in claims] == [True, False]
    assert {claim.relation for claim in claims} == {"<="}
    assert "the whole 95 % interval of the slope is at most 0.6" in above.rule
    assert exponent(above, {"one": Fit(0.5, 0.3, 0.7, 0.0)}, "figure").verdict is None


@pytest.mark.parametrize("runs", [3, 8])
def test_a_straight_line_is_not_taken_for_a_root(runs):
    """Five points over a decade whose means are off by a tenth each; of 300, a root mostly holds, a line never does."""
    rng, x = np.random.default_rng(0), np.geomspace(1.0, 10.0, 5)
    at_most = HALF._replace(least=-math.inf)
    judged = {}
    for power in (0.5, 1.0):
        noisy = [[one**power * (1.0 + 0.1 * np.sqrt(runs) * rng.normal(size=runs)) for one in x] for _ in range(300)]
        lines = [line_through(x, samples) for samples in noisy]
        judged[power] = [exponent(at_most, {"one": line}, "figure") for line in lines]
    assert sum(claim.holds for claim in judged[1.0]) == 0
    assert sum(claim.verdict is False for claim in judged[0.5]) < 15


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.2, 0.4, True), (0.6, 0.9, False), (0.4, 0.6, None), (0.5, 0.5, True)]
)
def test_a_bound_holds_with_all_of_the_interval_fails_with_none_and_else_is_open(low, high, verdict):
    claim = Claim("small", "nowhere", 0.5, (low + high) / 2.0, low, high, False, "", "", "", "<=")
    assert bounded(claim).verdict is verdict
    turned = claim._replace(relation=">")
    assert bounded(turned).verdict is (None if verdict is None else not verdict)


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


def test_a_line_needs_two_places():
    with pytest.raises(ValueError, match="two different x"):
        line_through([2.0, 2.0], [np.ones(2), np.ones(2)])


def test_where_a_mean_is_not_positive_the_exponent_may_be_anything():
    lines, series = lines_and_series({"one": [1.0, 2.0]}, {"one": [np.ones(2), -np.ones(2)]})
    claim = exponent(HALF, lines, "figure")
    assert (claim.holds, claim.undecided, claim.low, claim.high) == (False, True, -math.inf, math.inf)
    assert [one.kind for one in series] == ["measured"]


def test_regret_is_summed_up_over_a_decade():
    x, samples = summed(np.ones((2, 40)))
    assert x[0] == 4.0
    assert x[-1] == 40.0
    assert [values.tolist() for values in samples] == [[one, one] for one in x]

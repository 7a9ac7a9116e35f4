"""Every kind of rule holds, fails and is open; its words say what it does."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aomultirl.analysis.reach import Reach
from aomultirl.analysis.rules import (
    ACROSS,
    INCOMPLETE,
    NOTHING,
    UNMEASURED,
    About,
    Bounded,
    Exactly,
    Exponent,
    Measurement,
    Rate,
    Undecidable,
    exact,
)

HALF = Exponent.near(0.5, 0.1, "because")
AT_MOST = Exponent(0.5, "because", most=0.6)
AT_LEAST = Exponent(0.5, "because", least=0.4)
BETWEEN = Exponent.between(1.0, 2.0, 0.25, "of the two bounds")
LATER = Reach(needed=1_356_876, had=300, what="episodes of a world")
MOSTLY = Rate(0.9, "as promised", reached=0.9, limit=0.75)
SELDOM = Rate(0.25, "by chance", reached=0.4, limit=0.5)
SLACK = Rate(0.75, "just so", reached=0.7, limit=0.6, slack=0.02, interval="Student")
CASES = [
    (HALF, (0.5, 0.4, 0.6), True),
    (HALF, (0.58, 0.55, 0.62), True),
    (HALF, (0.65, 0.61, 0.7), False),
    (HALF, (0.3, 0.1, 0.39), False),
    (HALF, (0.65, 0.55, 0.75), None),
    (HALF, (0.5, 0.2, 0.8), None),
    (AT_MOST, (-3.0, -3.1, -2.9), True),
    (AT_MOST, (0.8, 0.7, 0.9), False),
    (AT_MOST, (0.5, 0.3, 0.7), None),
    (AT_LEAST, (3.0, 0.4, 5.0), True),
    (AT_LEAST, (0.3, 0.2, 0.39), False),
    (AT_LEAST, (0.5, 0.3, 0.7), None),
    (BETWEEN, (1.4, 1.3, 1.5), True),
    (BETWEEN, (0.8, 0.7, 0.9), True),
    (BETWEEN, (2.2, 2.1, 2.3), True),
    (BETWEEN, (0.7, 0.6, 0.8), None),
    (BETWEEN, (0.6, 0.5, 0.74), False),
    (BETWEEN, (2.4, 2.3, 2.5), False),
    (BETWEEN, (1.4, 1.1, 1.7), None),
    (Bounded(0.5, side="<="), (0.3, 0.2, 0.4), True),
    (Bounded(0.5, side="<="), (0.5, 0.5, 0.5), True),
    (Bounded(0.5, side="<"), (0.5, 0.5, 0.5), False),
    (Bounded(0.5, side="<="), (0.7, 0.6, 0.9), False),
    (Bounded(0.5, side="<="), (0.5, 0.4, 0.6), None),
    (Bounded(0.5, side=">"), (0.7, 0.6, 0.9), True),
    (Bounded(0.5, side=">"), (0.5, 0.5, 0.5), False),
    (Bounded(0.5, side=">="), (0.5, 0.5, 0.5), True),
    (Bounded(0.5, side=">"), (0.5, 0.4, 0.6), None),
    (Bounded(0.5, side=">", by="estimate"), (0.55, 0.4, 0.6), True),
    (Bounded(0.5, side=">", by="estimate"), (0.45, 0.4, 0.6), False),
    (Bounded(0.5, side="<", by="computed"), (0.4, 0.4, 0.4), True),
    (Bounded(0.5, side="<", by="computed"), (math.inf, math.inf, math.inf), False),
    (Exactly(3.0), (3.0, 3.0, 3.0), True),
    (Exactly(3.0), (3.0 + 1e-9, 3.0, 3.0), False),
    (Exactly(3.0, rounding=1e-6), (3.0 + 1e-9, 3.0, 3.0), True),
    (Exactly(math.inf), (math.inf, math.inf, math.inf), True),
    (About(30.0, most=60.0), (15.0, 1.0, math.inf), True),
    (About(30.0, most=60.0), (math.inf, 50.0, math.inf), False),
    (About(7.0, least=6.5, most=7.5), (6.0, 6.0, 6.0), False),
    (MOSTLY, (0.95, 0.8, 1.0), True),
    (MOSTLY, (0.6, 0.5, 0.7), False),
    (MOSTLY, (1.0, 0.7, 1.0), None),
    (MOSTLY, (0.89, 0.87, 0.91), None),
    (SELDOM, (0.3, 0.2, 0.4), True),
    (SELDOM, (0.5, 0.4, 0.6), False),
    (SELDOM, (0.3, 0.1, 0.6), None),
    (SLACK, (0.74, 0.73, 0.75), True),
    (SLACK, (0.71, 0.709, 0.711), False),
    (Undecidable(7.0, "of something else"), (7.0, 7.0, 7.0), None),
]


@pytest.mark.parametrize(("rule", "numbers", "verdict"), CASES, ids=str)
def test_a_rule_holds_fails_and_is_open(rule, numbers, verdict):
    assert rule.judge(Measurement(*numbers)) is verdict


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, _, _ in CASES), ids=str)
def test_what_was_not_measured_is_open_and_so_is_what_was_measured_in_part(rule):
    assert rule.judge(UNMEASURED) is None
    assert rule.judge(exact(math.nan)) is None
    assert rule.judge(Measurement(rule.predicted, rule.predicted, rule.predicted, missing=1)) is None


def test_what_is_open_has_a_reason():
    at = Bounded(0.5)
    assert at.doubt([UNMEASURED, UNMEASURED]) == NOTHING
    assert at.doubt([UNMEASURED, Measurement(0.5, 0.4, 0.6)]) == ACROSS
    assert at.doubt([Measurement(0.4, 0.4, 0.4, missing=1)]) == INCOMPLETE
    assert Undecidable(0.5).doubt([UNMEASURED]) == ""


@pytest.mark.parametrize(("had", "verdict"), [(300, None), (1_356_875, None), (1_356_876, False)])
def test_a_rule_judges_nothing_that_could_not_show_itself_yet(had, verdict):
    rule = Exponent(0.5, "because", most=0.6, reach=LATER._replace(had=had))
    assert rule.out_of_reach is (verdict is None)
    assert rule.judge(exact(1.0)) is verdict
    assert rule.words.startswith("the whole 95 % interval of the slope is at most 0.6, only if 1,356,876 episodes of a")
    assert str(LATER) == "it takes 1,356,876 episodes of a world to show, and 300 were run"


@pytest.mark.parametrize(
    ("rule", "value", "factor"),
    [
        (Bounded(1.0, side=">"), 74.0, 74.0),
        (Bounded(1.0, side="<"), 0.01, 100.0),
        (Bounded(4.0, side="<"), 4.0, 1.0),
        (Bounded(0.0, side="<"), 4.0, 1.0),
        (Bounded(1.0, side="<"), -4.0, 1.0),
        (Bounded(1.0, side="<"), math.inf, 1.0),
        (Bounded(1.0, side="<"), math.nan, 1.0),
        (HALF, 5.0, 1.0),
        (Exactly(2.0), 4.0, 1.0),
    ],
    ids=str,
)
def test_of_bounds_the_factor_is_known_by_which_they_are_met_or_missed(rule, value, factor):
    assert rule.factor(exact(value)) == pytest.approx(factor)


numbers = st.floats(-2.0, 2.0, allow_nan=False)


@given(st.sampled_from(["<", "<=", ">", ">="]), numbers, st.tuples(numbers, numbers, numbers))
def test_a_bound_is_judged_by_both_ends(side, bound, ends):
    low, value, high = sorted(ends)
    inside = {"<": high < bound, "<=": high <= bound, ">": low > bound, ">=": low >= bound}[side]
    outside = {"<": low >= bound, "<=": low > bound, ">": high <= bound, ">=": high < bound}[side]
    verdict = Bounded(bound, side=side).judge(Measurement(value, low, high))
    assert verdict is (True if inside else False if outside else None)


@given(numbers, st.floats(0.01, 1.0), st.tuples(numbers, numbers, numbers))
def test_an_exponent_that_holds_is_in_its_band_and_one_that_fails_is_outside(predicted, tolerance, ends):
    low, value, high = sorted(ends)
    verdict = Exponent.near(predicted, tolerance, "").judge(Measurement(value, low, high))
    if verdict is True:
        assert abs(value - predicted) <= tolerance + 1e-12
        assert high - low <= 0.5
    elif verdict is False:
        assert low > predicted + tolerance - 1e-12 or high < predicted - tolerance + 1e-12


@pytest.mark.parametrize(
    ("rule", "words", "relation"),
    [
        (HALF, "the slope lies in [0.4, 0.6], its 95 % interval at most 0.5 wide: because", "="),
        (AT_MOST, "the whole 95 % interval of the slope is at most 0.6: because", "<="),
        (AT_LEAST, "the whole 95 % interval of the slope is at least 0.4: because", ">="),
        (BETWEEN, "the slope lies in [0.75, 2.25], its 95 % interval at most 0.5 wide: of the two bounds", "between"),
        (Bounded(1 / 6, "all", side=">="), "the whole 95 % interval is at least 0.1667: all", ">="),
        (Bounded(90, side=">", by="estimate"), "the estimate is above 90", ">"),
        (Bounded(1, side="<", by="computed"), "computed; below 1", "<"),
        (Exactly(0.0, rounding=1e-12), "computed; equal to 0 up to 1e-12", "="),
        (About(30.0, "for good", most=60), "the estimate is at most 60: for good", "~"),
        (About(80_000.0, least=72_000, most=88_000), "the estimate lies from 72,000 to 88,000", "~"),
        (About(80_000.0, most=160_000), "the estimate is at most 160,000", "~"),
        (Exactly(101_262.0), "computed; equal to 101,262", "="),
        (Bounded(101_262.0, side="<", by="computed"), "computed; below 101,262", "<"),
        (MOSTLY, "each is at least 0.9, its whole 95 % interval (Clopper and Pearson) above 0.75: as promised", ">="),
        (SELDOM, "each is at most 0.4, its whole 95 % interval (Clopper and Pearson) below 0.5: by chance", "<="),
        (Undecidable(7.0, "it is of something else"), "nothing decides: it is of something else", "="),
    ],
    ids=str,
)
def test_a_rule_makes_its_own_words(rule, words, relation):
    assert (rule.words, rule.relation) == (words, relation)


@pytest.mark.parametrize(
    ("rule", "worst"),
    [
        (HALF, "high"),
        (AT_MOST, "high"),
        (AT_LEAST, "low"),
        (Exponent.between(0.5, 0.6, 0.1, ""), "high"),
        (Exponent.between(0.7, 0.8, 0.1, ""), "low"),
        (Bounded(0.5, side="<="), "high"),
        (Bounded(0.5, side=">="), "low"),
        (MOSTLY, "low"),
        (SELDOM, "high"),
        (Exactly(0.9), "low"),
    ],
    ids=str,
)
def test_the_worst_is_the_farthest_from_what_is_claimed(rule, worst):
    estimates = {"low": Measurement(0.4, 0.3, 0.5), "high": Measurement(0.95, 0.9, 1.0)}
    assert rule.worst(estimates) == worst
    assert worst in rule.whose(estimates, worst)


def test_what_is_predicted_may_be_a_range():
    assert (BETWEEN.predicted, BETWEEN.upper, BETWEEN.expected) == (1.0, 2.0, "from 1 to 2")
    assert (AT_MOST.upper, AT_MOST.expected, HALF.expected) == (None, "at most 0.5", "0.5")

"""Claims: their verdicts follow from rules, and JSON and people get the same."""

import json
import math

from aomultirl.analysis.claims import Claim, summary
from aomultirl.analysis.reach import Reach
from aomultirl.analysis.rules import (
    ACROSS,
    NEARLY,
    NOTHING,
    TOO_WIDE,
    UNMEASURED,
    Bounded,
    Exponent,
    Measurement,
    Rate,
    computed,
    exact,
)

HALF = Exponent.near(0.5, 0.1, "because")
NEAR, FAR = Measurement(0.5, 0.45, 0.55), Measurement(0.9, 0.8, 1.0)
MOSTLY = Rate(0.9, "as promised", reached=0.9, limit=0.75)


def claim(rule, estimates, **others):
    return Claim("it grows", "Section 3", rule, estimates, **others)


def test_of_several_all_must_hold_and_the_worst_is_given():
    both = claim(HALF, {"near": NEAR, "far": FAR}, remark="why")
    assert (both.measured, both.low, both.high, both.verdict) == (0.9, 0.8, 1.0, False)
    assert both.reason == "the farthest is far; near 0.50 (0.45 to 0.55), far 0.90 (0.80 to 1.00); why"
    assert claim(HALF, {"near": NEAR}).verdict is True
    assert claim(HALF, {"near": NEAR}).reason == ""
    assert claim(HALF, {"near": NEAR, "wide": Measurement(0.5, 0.2, 0.8)}).verdict is None
    assert claim(HALF, {"wide": Measurement(0.5, 0.2, 0.8), "far": FAR}).verdict is False


def test_what_is_open_says_why_and_what_fails_is_explained():
    assert claim(HALF, {"": Measurement(0.65, 0.55, 0.75)}, explanation="no").reason == NEARLY
    assert claim(HALF, {"": Measurement(0.5, 0.2, 0.8)}).reason == TOO_WIDE
    assert claim(HALF, {"": FAR}, explanation="it ran", remark="and more").reason == "it ran; and more"
    assert claim(MOSTLY, {"": Measurement(1.0, 0.7, 1.0)}).reason == TOO_WIDE
    assert claim(MOSTLY, {"": Measurement(0.89, 0.87, 0.91)}).reason == NEARLY
    assert claim(Bounded(0.9), {"": FAR}, remark="so far").reason == f"{ACROSS}; so far"
    assert claim(Bounded(0.9), {"": UNMEASURED}).reason == NOTHING
    assert claim(MOSTLY, {"a": exact(1.0), "b": exact(0.95)}).reason == "the least of 2: b"


def test_json_has_numbers_words_and_null_where_there_is_none():
    found = claim(Bounded(1.0, "always", side=">"), {"": Measurement(7.0, 3.0, math.inf)}, unit="in steps", figure="f")
    told = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert told == {
        "claim": "it grows",
        "place": "Section 3",
        "predicted": 1.0,
        "upper": None,
        "measured": 7.0,
        "low": 3.0,
        "high": None,
        "holds": True,
        "verdict": "holds",
        "rule": "the whole 95 % interval is above 1: always",
        "reason": "",
        "figure": "f",
        "relation": ">",
        "unit": "in steps",
        "undecided": False,
        "group": "",
        "words": {"predicted": "above 1, in steps", "measured": "7", "interval": "3 to infinite"},
    }
    unknown = claim(HALF, {"": UNMEASURED}).as_json()
    assert (unknown["measured"], unknown["holds"], unknown["undecided"]) == (None, False, True)
    assert claim(HALF, computed(0.5)).as_json()["words"]["interval"] == ""
    neither = claim(HALF, {"a": UNMEASURED, "b": UNMEASURED}).as_json()["words"]
    assert (neither["measured"], neither["interval"]) == ("unknown", "")
    assert claim(Bounded(1.0), {"a": UNMEASURED, "b": UNMEASURED}).reason == NOTHING


def test_the_worst_of_those_that_decide_is_given():
    """What leaves a claim open is shown, not what lies farther out and is sure."""
    below = Exponent(1.0, "because", least=0.75)
    steep, wide = Measurement(0.8, 0.76, 0.9), Measurement(0.9, 0.3, 1.5)
    found = claim(below, {"steep": steep, "wide": wide})
    assert (found.verdict, found.worst, found.low) == (None, "wide", 0.3)
    assert found.reason == f"{TOO_WIDE}; the least is wide; steep 0.80 (0.76 to 0.90), wide 0.90 (0.30 to 1.50)"
    flat = Measurement(0.4, 0.3, 0.5)
    assert claim(below, {"steep": steep, "wide": wide._replace(value=0.31), "flat": flat}).worst == "flat"


def test_a_claim_of_which_nothing_was_measured_is_open():
    nothing = claim(Bounded(1.0), {})
    assert (nothing.outcome, nothing.reason) == ("open", NOTHING)
    assert nothing.as_json()["measured"] is None
    assert nothing.surprise == (2, -1.0)


def out_of_reach(**others):
    rule = Exponent(0.5, "because", most=0.6, reach=Reach(1_356_876, 300, "episodes of a world"))
    return claim(rule, {"": Measurement(1.0, 0.9, 1.1)}, **others)


def test_what_could_not_show_itself_is_out_of_reach_and_does_not_fail():
    late = out_of_reach(explanation="no", remark="the bonus is large")
    assert (late.outcome, late.verdict, late.holds, late.undecided) == ("out of reach", None, False, True)
    assert late.reason == ("it takes 1,356,876 episodes of a world to show, and 300 were run; the bonus is large")
    assert late.as_json()["verdict"] == "out of reach"


def test_a_range_is_told_to_people_and_to_programs():
    found = claim(Exponent.between(1.0, 2.0, 0.25, "because"), {"": Measurement(1.4, 1.3, 1.5)}).as_json()
    assert (found["predicted"], found["upper"], found["relation"]) == (1.0, 2.0, "between")
    assert found["words"]["predicted"] == "from 1 to 2"


def test_the_surprising_come_first():
    near, far = claim(Bounded(1.0, side=">"), computed(2.0)), claim(Bounded(1.0, side=">"), computed(74.0))
    failing, unknown = claim(HALF, {"": FAR}), claim(HALF, {"": UNMEASURED})
    kinds = [claim(HALF, {"": NEAR}), near, far, unknown, out_of_reach(), failing]
    assert sorted(kinds, key=lambda one: one.surprise) == [failing, out_of_reach(), unknown, far, near, kinds[0]]


def test_a_summary_counts_verdicts():
    kinds = [claim(HALF, {"": NEAR}), claim(HALF, {"": FAR}), claim(HALF, {"": UNMEASURED})]
    assert summary(kinds) == "1 of 3 claims hold, 1 fails, 1 open"
    assert summary(kinds[:1] * 2) == "2 of 2 claims hold"
    assert summary([kinds[1]] * 2) == "0 of 2 claims hold, 2 fail"
    assert summary([*kinds, out_of_reach()]) == "1 of 4 claims hold, 1 fails, 1 open, 1 out of reach"

"""Claims: their verdicts follow from rules, and JSON and people get the same."""

import json
import math

from aomultirl.analysis.claims import Claim, summary
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
        "measured": 7.0,
        "low": 3.0,
        "high": None,
        "holds": True,
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


def test_a_summary_counts_verdicts():
    kinds = [claim(HALF, {"": NEAR}), claim(HALF, {"": FAR}), claim(HALF, {"": UNMEASURED})]
    assert summary(kinds) == "1 of 3 claims hold, 1 fails, 1 open"
    assert summary(kinds[:1] * 2) == "2 of 2 claims hold"
    assert summary([kinds[1]] * 2) == "0 of 2 claims hold, 2 fail"

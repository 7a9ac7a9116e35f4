"""The sentences with which the laboratory's page begins, and the order of its claims."""

import math

import pytest

from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.reach import Reach
from aomultirl.analysis.rules import Bounded, Exponent, computed
from aomultirl.laboratory.groups import GROUPS
from aomultirl.reports.laboratory_summary import grouped, opening

ABOVE = Bounded(1.0, side=">")
LATER = Exponent(0.5, most=0.6, reach=Reach(needed=1_356_876, had=300, what="episodes"))


def claim(name, value, group="coin", rule=ABOVE, plain=False):
    words = Plain(f"It takes many flips to find {name}", f"{value:g} times as many") if plain else None
    return Claim(name, "Section 3", rule, computed(value), group=group, plain=words)


@pytest.mark.parametrize(
    ("value", "rule", "said"),
    [
        (43.5, ABOVE, "this holds: 43.5 times as many."),
        (0.8, ABOVE, "this does not hold: 0.8 times as many."),
        (math.nan, ABOVE, "this is open, as too little was measured to tell: nan times as many."),
        (1.0, LATER, "this is out of reach of such a run: 1 times as many."),
    ],
)
def test_a_sentence_says_what_became_of_its_claim_and_what_was_measured(value, rule, said):
    _, sentence = opening([claim("gold", value, rule=rule, plain=True)])
    assert sentence == f"It takes many flips to find gold; {said}"


def test_claims_are_counted_by_what_became_of_them():
    one, far = claim("one", 2.0), claim("far", 2.0, rule=LATER)
    assert opening([one, one])[0] == "Of the 2 claims put to the test here, 2 hold and none fails."
    failing, unknown = claim("failing", 0.5), claim("unknown", math.nan)
    assert opening([one, failing, unknown, unknown, far])[0] == (
        "Of the 5 claims put to the test here, 1 holds, 1 fails, 2 are open (too little was measured to tell) "
        "and 1 is out of reach (only a far longer run could show it)."
    )


def test_every_topic_has_one_sentence_and_all_groups_together_make_five():
    claims = [claim(f"what {group} is about", 2.0, group, plain=True) for group in GROUPS]
    assert len(opening(claims)) == 5
    assert len(opening([one for one in claims if one.group == "coin"])) == 2
    assert len(opening([])) == 1


def test_of_the_claims_on_one_topic_the_most_surprising_is_told():
    coin, clustering = claim("a coin", 43.0, "coin", plain=True), claim("a world", 74.0, "clustering", plain=True)
    assert "find a world" in opening([coin, clustering])[1]
    failing = claim("a coin", 0.5, "coin", plain=True)
    assert "find a coin; this does not hold" in opening([failing, clustering])[1]


def test_groups_and_their_claims_stand_with_the_surprising_first():
    claims = [
        claim("near", 2.0, "coin"),
        claim("far", 74.0, "coin"),
        claim("sure", 5.0, "minimax"),
        claim("late", 1.0, "regret_slopes", rule=LATER),
        claim("wrong", 0.5, "assumptions"),
        claim("mine", 3.0, "mine"),
    ]
    found = grouped(claims)
    assert [[one.claim for one in group.claims] for group in found] == [
        ["wrong"],
        ["late"],
        ["far", "near"],
        ["sure"],
        ["mine"],
    ]
    assert found[0].title == "assumptions: 0 of 1 claims hold, 1 fails"
    assert found[2].title == "coin game: 2 of 2 claims hold"
    assert found[4].title == "mine: 1 of 1 claims hold"

"""What comes first on the page of the laboratory: a few plain sentences, and claims in groups, the surprising first.

No sentence is written beforehand: each joins what a claim says in plain words, what became of the claim, and what was
measured, so that no sentence can say something else than the claims do.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aomultirl.analysis.claims import Claim, Outcome, Plain, summary
from aomultirl.analysis.phrases import counted, listed
from aomultirl.laboratory.groups import GROUPS

SAID: dict[Outcome, str] = {
    "holds": "this holds",
    "fails": "this does not hold",
    "open": "this is open, as too little was measured to tell",
    "out of reach": "this is out of reach of such a run",
}
"""What a sentence says became of a claim."""


class GroupedClaims(NamedTuple):
    """The claims of a group, the surprising first.

    title: what people call the group, and how many of its claims hold.
    claims: at least one.
    """

    title: str
    claims: list[Claim]


def opening(claims: Sequence[Claim]) -> list[str]:
    """How many claims hold, and for each topic of the laboratory the most surprising claim that has plain words.

    With all groups that makes five sentences.
    """
    told: dict[str, tuple[tuple[int, float], str]] = {}
    for claim in claims:
        if claim.plain is not None:
            topic = GROUPS[claim.group].topic if claim.group in GROUPS else claim.group
            said = (claim.surprise, _sentence(claim.plain, claim.outcome))
            told[topic] = min(told.get(topic, said), said)
    return [_counts(claims), *(sentence for _, sentence in told.values())]


def grouped(claims: Sequence[Claim]) -> list[GroupedClaims]:
    """Claims by group; within a group, and of groups, the surprising come first."""
    groups: dict[str, list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: claim.surprise):
        groups.setdefault(claim.group, []).append(claim)
    titles = {name: GROUPS[name].title if name in GROUPS else name for name in groups}
    return [GroupedClaims(f"{titles[name]}: {summary(own)}", own) for name, own in groups.items()]


def _sentence(plain: Plain, outcome: Outcome) -> str:
    return f"{plain.statement}; {SAID[outcome]}: {plain.found}."


def _counts(claims: Sequence[Claim]) -> str:
    found = [claim.outcome for claim in claims]
    holding, failing, unknown, beyond = (found.count(one) for one in ("holds", "fails", "open", "out of reach"))
    parts = [
        _of(holding, "holds", "hold"),
        _of(failing, "fails", "fail"),
        f"{_of(unknown, 'is', 'are')} open (too little was measured to tell)" if unknown else "",
        f"{_of(beyond, 'is', 'are')} out of reach (only a far longer run could show it)" if beyond else "",
    ]
    return f"Of the {counted(len(claims), 'claim')} put to the test here, {listed([part for part in parts if part])}."


def _of(count: int, one: str, more: str) -> str:
    """So many, with a verb: "none fails", "1 fails", "2 fail"."""
    return f"{count or 'none'} {one if count < 2 else more}"

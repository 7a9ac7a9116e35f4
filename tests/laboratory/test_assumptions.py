"""The claims on the assumptions together, at sizes so small that they take seconds, and behind `long` as they are."""

import json
import re

import pytest

from aomultirl.experiments.executors import InProcess
from aomultirl.laboratory import assumptions
from aomultirl.laboratory.assumptions import AssumptionSizes
from aomultirl.laboratory.blocked_worlds import AGENTS, LOOKING, NAMING, CourseSizes
from aomultirl.laboratory.hitting_time import GatheringSizes

TINY = AssumptionSizes(
    CourseSizes(levels=(0.9, 0.95), courses=3, slow=1, blocks=3),
    GatheringSizes(16, (1 / 64, 1.0), (3, 5, 8), repetitions=3, judged=16),
    longest=5,
)


@pytest.fixture(scope="module")
def found():
    return assumptions.measure(True, 0, InProcess(), TINY)


def figure_of(found, name):
    return next(figure for figure in found.figures if figure.name == name)


def test_what_agents_lose_is_shown_for_every_agent_and_the_same_for_either_lambda(found):
    figure = figure_of(found, "assumptions_lost")
    assert set(figure.names) == set(AGENTS)
    first, second = (one for one in figure.series if one.kind == "measured")
    assert first.y == second.y
    assert [round(x) for x in first.x] == [round(x) for x in second.x] == list(range(len(AGENTS)))
    optimal = first.y[figure.names.index("Optimal")]
    assert optimal < 0.01 < 0.7 < first.y[figure.names.index("Random")]


def test_every_agent_that_names_worlds_is_judged_at_every_lambda_of_the_figure(found):
    figure = figure_of(found, "assumptions_blocked")
    assert set(figure.names) == set(NAMING)
    claim = next(claim for claim in found.claims if "can be reached" in claim.claim)
    for name in LOOKING:
        assert name in claim.claim
        assert all(f"{name} at {level:g} " in claim.reason for level in TINY.courses.levels)
    assert re.search(r"Recall is out.* \d+% \(\d+% to \d+%\)", claim.reason)
    within = [one for one in figure.series if one.label.endswith("within reach")]
    assert len(within) == len(TINY.courses.levels)
    recall = figure.names.index("Recall")
    assert all(one.y[recall] < 0.5 and min(one.y[:recall]) >= 0.9 for one in within)


def test_what_a_student_is_told_is_what_was_measured(found):
    (claim,) = (one for one in found.claims if one.plain)
    assert claim.claim == "no agent names worlds better than by chance, 1 / M"
    assert claim.plain.found == (
        f"the best of {len(NAMING)} agents named {claim.measured:.0%} of the worlds rightly, and who guesses names 25%"
    )


def test_nobody_is_where_worlds_differ_or_acts_on_how_far_they_do(found):
    claim = next(one for one in found.claims if one.claim.startswith("no agent ever was in the left state"))
    visits, apart = claim.estimates
    assert visits == "visits of the left state"
    assert apart.endswith("between lambda = 0.9 and 0.95")
    assert all(name in claim.reason for name in AGENTS)


def test_all_claims_hold_and_figures_show_them(found):
    assert all(claim.holds for claim in found.claims), [claim for claim in found.claims if not claim.holds]
    names = {figure.name for figure in found.figures}
    assert {claim.figure for claim in found.claims} == names
    for figure in found.figures:
        assert {series.kind for series in figure.series} >= {"measured", "theory"}
        assert all(len(series.x) == len(series.y) for series in figure.series)
    json.dumps([claim.as_json() for claim in found.claims], allow_nan=False)


@pytest.mark.long
def test_all_claims_of_the_full_laboratory_hold():
    found = assumptions.measure(False, 1, InProcess())
    assert all(claim.holds for claim in found.claims), [claim for claim in found.claims if not claim.holds]

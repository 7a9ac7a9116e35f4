"""The exponents of clustering: what the paper's bounds predict, from which side, and where they are judged."""

import numpy as np
import pytest

from aomultirl.laboratory import tree_growth
from aomultirl.laboratory.jao_trees import (
    EXPLORE_ID,
    GOSPRL,
    TOLD_LEVEL,
    TOLD_WORLDS,
    NamedEpisodes,
    NamingTask,
    StepsNeeded,
    Tree,
)
from aomultirl.laboratory.tree_sweeps import TreeSweep, along

TREE = Tree(12, 13, 16.0, 0.5)


def made(right, steps):
    """Episodes of which ``right`` are right, by both rules."""
    steps = np.asarray(steps, float)
    return NamedEpisodes(steps, steps, np.array([right, right], bool))


def grown(power, spread=0.0):
    """A sweep over lambda whose steps grow with this power, and its claim on the exponent."""
    sweep = TreeSweep("lambda", "separation", TOLD_WORLDS, along("separation", TREE, 0.5, 0.4, 0.25), 20)
    factors = np.exp(spread * np.linspace(-1.0, 1.0, 20))
    episodes = {
        NamingTask(TOLD_WORLDS, tree, 20): made([1] * 20, 100.0 * tree.separation**power * factors)
        for tree in sweep.trees
    }
    return tree_growth.exponents("lambda", [sweep], StepsNeeded(episodes, 0)).claims[0]


def test_where_no_world_is_named_there_is_no_exponent():
    sweep = TreeSweep("lambda", "separation", TOLD_WORLDS, along("separation", TREE, 0.5, 0.4, 0.25), 20)
    episodes = {NamingTask(TOLD_WORLDS, tree, 20): made([0] * 20, [9.0] * 20) for tree in sweep.trees}
    claim = tree_growth.exponents("lambda", [sweep], StepsNeeded(episodes, 0)).claims[0]
    assert claim.verdict is None
    assert np.isnan(claim.measured)
    assert "0 of 3" in claim.reason
    assert "with lambda = 0.5 and 0.4 and 0.25 too few are named within the steps of 40 / lambda^2" in claim.reason


def test_the_exponent_claimed_is_recognised_and_another_one_is_refused_with_a_reason():
    assert grown(-2.0).holds
    assert grown(-2.0).measured == pytest.approx(-2.0)
    wrong = grown(-1.0)
    assert wrong.verdict is False
    assert wrong.measured == pytest.approx(-1.0)


def test_an_exponent_that_is_hardly_known_does_not_hold_although_it_is_as_predicted():
    claim = grown(-2.0, spread=2.0)
    assert claim.measured == pytest.approx(-2.0)
    assert claim.high - claim.low > 0.5
    assert not claim.holds
    assert claim.reason.startswith("the interval is too wide to tell; ")


class Steps:
    """Steps that are a function of the tree, known exactly, of which ``useful`` go into samples and the ways back."""

    def __init__(self, needed, useful=None):
        self._needed, self._useful = needed, useful or needed

    def needed(self, reading, tree, what="steps"):
        return np.full(50, self._needed(tree), np.float64)

    def samples(self, reading, tree):
        return np.full(50, self._useful(tree) / tree.leading / tree.separation**2)


def swept(axis, explorer, values, needed, useful=None, short=""):
    """The claims on one sweep."""
    sweep = TreeSweep("one", axis, explorer, along(axis, TREE, *values), 10, 3, (0.5,), short)
    return tree_growth.exponents("one", [sweep], Steps(needed, useful))


@pytest.mark.parametrize(
    ("power", "verdict"), [(0.6, False), (1.0, True), (1.4, True), (2.0, True), (2.5, False)], ids=str
)
def test_the_steps_of_explore_id_grow_with_s_between_the_lower_bound_and_h0(power, verdict):
    (claim,) = swept("states", EXPLORE_ID, (12, 24, 48, 120), lambda tree: tree.states**power).claims
    assert (claim.predicted, claim.rule.upper) == pytest.approx((1.0, 2.0))
    assert claim.measured == pytest.approx(power)
    assert claim.verdict is verdict


@pytest.mark.parametrize("axis", ["states", "actions"])
@pytest.mark.parametrize(
    ("power", "verdicts"),
    [(0.6, (False, True)), (1.0, (True, True)), (1.4, (True, True)), (1.8, (True, False))],
    ids=str,
)
def test_a_lower_bound_is_judged_from_below_and_its_tightness_apart(axis, power, verdicts):
    """More steps than a lower bound asks for contradict no lower bound."""
    values = (12, 24, 48, 120) if axis == "states" else (13, 25, 49, 121)
    below, tight = swept(axis, TOLD_LEVEL, values, lambda tree: tree.rows**power).claims
    assert (below.verdict, tight.verdict) == verdicts
    assert (below.rule.relation, tight.rule.relation) == (">=", "<=")
    assert "at least" in below.claim
    assert "tight" in tight.claim


@pytest.mark.parametrize(("power", "verdict"), [(0.5, False), (0.85, True), (1.0, True), (1.3, False)], ids=str)
def test_in_d_the_one_in_1_plus_d_over_8_is_part_of_what_is_predicted(power, verdict):
    (claim,) = swept("diameter", TOLD_LEVEL, (16.0, 40.0, 160.0), lambda tree: tree.diameter**power).claims
    assert claim.predicted == pytest.approx(np.log(21.0 / 3.0) / np.log(10.0), abs=0.02)
    assert claim.rule.upper == pytest.approx(1.0)
    assert claim.verdict is verdict


def test_gosprl_is_judged_where_learning_the_ways_takes_few_of_its_steps():
    """The ways take as long as the samples with lambda = 0.2, four times as long with 0.4; at the rest they are few."""
    values = (0.4, 0.2, 0.1, 0.05, 0.025)

    def useful(tree):
        return 1e3 / tree.separation**2

    found = swept("separation", GOSPRL, values, lambda tree: useful(tree) + 25_000.0, useful)
    (claim,) = found.claims
    assert claim.holds
    assert claim.measured < -1.85
    assert "lambda from 0.025 to 0.1" in claim.claim
    assert "takes 80% of the steps with lambda = 0.4" in claim.reason
    assert "judged are the 3 of 5 points" in claim.reason
    points, line = (one for one in found.figures[0].series if one.kind != "theory")
    assert (len(points.x), line.x) == (5, [0.025, 0.1])
    (stopping,) = swept("separation", TOLD_LEVEL, values, lambda tree: useful(tree) + 25_000.0).claims
    assert stopping.measured > -1.7


def test_where_learning_the_ways_leads_everywhere_nothing_is_judged():
    (claim,) = swept(
        "separation", GOSPRL, (0.5, 0.25), lambda tree: 10.0 * tree.leading, lambda tree: tree.leading
    ).claims
    assert claim.verdict is None
    assert "nowhere in lambda" in claim.claim


def test_a_sweep_that_is_too_short_for_an_exponent_of_s_is_shown_and_not_judged():
    found = swept("states", TOLD_LEVEL, (12, 15, 18), lambda tree: tree.states**0.5, short="haste makes waste")
    assert found.claims == []
    (chart,) = found.figures
    assert [one.label for one in chart.series if one.kind == "fit"] == [
        "sequential, M unknown, success 0.5: slope 0.50 (0.50 to 0.50)"
    ]
    assert (
        "Not judged: sequential, M unknown, whose points span less than a decade, as haste makes waste."
        in chart.caption
    )

"""The claims on clustering, at sizes so small that only their making is tested, and behind `long` as they are."""

import json
from itertools import product

import numpy as np
import pytest

from aomultirl import theory
from aomultirl.agents.base import NOTHING
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.experiments.executors import InProcess
from aomultirl.exploring import explore_id
from aomultirl.identifying.threshold import identify_cluster
from aomultirl.laboratory import clustering, jao_trees
from aomultirl.laboratory.clustering import bounds
from aomultirl.laboratory.findings import carry_out
from aomultirl.laboratory.jao_trees import (
    EXPLORE_ID,
    GOSPRL,
    LIKELIHOOD,
    THRESHOLD,
    TOLD_LEVEL,
    TOLD_WORLDS,
    NamedEpisodes,
    NamingTask,
    Reading,
    StepsNeeded,
    Tree,
    by_threshold,
    coins,
    crossing,
    known,
    line,
    most_likely,
    quantile,
    worlds,
)
from aomultirl.laboratory.tree_sweeps import SCALES, TreeSweep, along
from backwards import Backwards

TREE = Tree(12, 13, 16.0, 0.5)
TINY = (
    TreeSweep("lambda", "separation", EXPLORE_ID, along("separation", TREE, 0.5, 0.25), 30),
    TreeSweep("lambda_gosprl", "separation", GOSPRL, along("separation", TREE, 0.5, 0.25), 30, 3),
    TreeSweep("S", "states", EXPLORE_ID, along("states", TREE, 12, 24), 30),
    TreeSweep("lambda_sequential", "separation", TOLD_WORLDS, along("separation", TREE, 0.5, 0.36), 8),
    TreeSweep("lambda_sequential", "separation", TOLD_LEVEL, along("separation", TREE, 0.5, 0.36), 3),
)


@pytest.fixture(scope="module")
def found():
    return clustering.measure(True, 0, InProcess(), TINY)


def episode(special, needed, seed=0):
    """The counts of ExploreID in a world."""
    world = worlds(TREE)[special]
    counts = CountTable(TREE.targets.size)
    simulator = Simulator(world.alias_tables, world.gains, 0, *streams(seed, 2))
    simulator.run(Phase(explore_id(TREE.targets, needed), 10**6, counts, NOTHING))
    return counts


def made(right, steps=(1.0,) * 4, left=None):
    """Episodes of which ``right`` are right, by both rules."""
    steps = np.asarray(steps, float)
    return NamedEpisodes(steps, steps if left is None else np.asarray(left, float), np.array([right, right], bool))


def test_the_pairs_of_a_tree_tell_all_its_worlds_apart():
    models = worlds(TREE)
    pairs = [divmod(int(pair), TREE.actions) for pair in TREE.pairs]
    assert len(models) == TREE.rows == len(pairs) == 12
    assert models.separation() == pytest.approx(TREE.separation)
    assert models.is_distinguishing(pairs, TREE.separation - 1e-9)
    assert models.distances()[3, 7].ravel()[TREE.pairs].nonzero()[0].tolist() == [3, 7]


def test_the_lower_bound_is_the_paper_s_for_as_many_worlds_as_there_are():
    tree = Tree(21, 21, 16.0, 0.2)
    printed = theory.identification_samples(states=21, actions=21, separation=0.2, diameter=16.0)
    assert tree.least_samples == pytest.approx(printed * 12.0 * tree.rows / (21 * 21))
    assert tree.least_samples == pytest.approx(tree.rows / (40.0 * 0.2**2))
    assert tree.least_steps == pytest.approx(tree.least_samples + (tree.least_samples - 1.0) * 2.0)


def test_heads_and_flips_are_those_of_the_left_and_right_actions():
    counts = CountTable(TREE.targets.size)
    left, right = 1, TREE.specials + 1
    counts.count(left, 2, 5)
    counts.count(left, 0, 3)
    counts.count(right, 1, 2)
    heads, flips = coins(TREE, counts)
    assert (heads[0, 1], flips[0, 1], heads[1, 1], flips[1, 1]) == (5, 8, 2, 2)
    assert heads.sum() == 7


@pytest.mark.parametrize("special", [0, 4, 11])
@pytest.mark.parametrize("needed", [2, 30])
def test_the_most_likely_world_is_the_one_of_all_transitions(special, needed):
    counts = episode(special, needed, seed=special)
    starts, states, visits = counts.to_lists()
    pairs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    tables = [world.transitions.reshape(-1, world.n_states)[pairs, states] for world in worlds(TREE)]
    assert most_likely(TREE, counts) == int(np.argmax([visits @ np.log(table) for table in tables]))


def test_the_threshold_test_knows_every_world_by_its_exact_counts():
    assert [by_threshold(TREE, table) for table in known(TREE)] == list(range(TREE.rows))


def test_the_threshold_test_is_that_of_the_agents():
    level = theory.threshold(TREE.separation, TREE.separation)
    named = []
    for seed, needed in product(range(12), (1, 15, 60)):
        counts = episode(seed, needed, seed)
        named.append(by_threshold(TREE, counts))
        assert named[-1] == identify_cluster(counts, known(TREE), TREE.pairs, level)
    assert -1 in named
    assert len(set(named)) > 4
    nothing = CountTable(TREE.targets.size)
    assert by_threshold(TREE, nothing) == identify_cluster(nothing, known(TREE), TREE.pairs, level) == 0


@pytest.mark.parametrize("explorer", [EXPLORE_ID, GOSPRL])
def test_an_explorer_gathers_the_samples_and_enough_of_them_name_the_world(explorer):
    few, many = (NamingTask(explorer, TREE, 3, scale).play(1) for scale in (0.5, 100.0))
    assert (many.left >= TREE.rows * TREE.samples(100.0)).all()
    assert (many.steps >= many.left).all()
    assert many.right.all()
    assert many.right.shape == (2, 3)
    assert not few.right[THRESHOLD].any()


@pytest.mark.parametrize("explorer", [TOLD_WORLDS, TOLD_LEVEL])
def test_the_sequential_identifier_stops_by_itself_and_leaves_what_is_known_alone(explorer):
    before = [table.to_lists()[2].sum() for table in known(TREE)]
    seen = NamingTask(explorer, TREE, 6).play(2)
    assert seen.right.mean() >= 0.5
    assert (seen.left < seen.steps).all()
    assert (seen.left > TREE.least_samples).all()
    assert [table.to_lists()[2].sum() for table in known(TREE)] == before


def test_a_level_is_crossed_between_the_samples_tried():
    curve = [(1, made([0, 0, 0, 0])), (2, made([1, 0, 0, 0])), (4, made([1, 1, 1, 0])), (8, made([1, 1, 1, 1]))]
    rng = np.random.default_rng(0)
    assert crossing(curve, LIKELIHOOD, 0.5, rng)[0] == pytest.approx(np.sqrt(8.0))
    assert crossing(curve, LIKELIHOOD, 1.0, rng)[0] == pytest.approx(8.0)
    assert np.isinf(crossing(curve[:3], LIKELIHOOD, 1.0, rng)[0])


def test_steps_are_read_along_a_straight_line():
    curve = [(10, made([1] * 4, [50.0] * 4)), (20, made([1] * 4, [80.0] * 4))]
    read = jao_trees.read_along(curve, "steps", np.array([10.0, 15.0, 40.0] + [10.0] * 498), np.random.default_rng(0))
    assert read[:3].tolist() == [50.0, 65.0, 140.0]


def test_episodes_with_a_wrong_name_count_as_never_named():
    seen = made([0, 1, 1, 1], [1.0, 2.0, 3.0, 4.0])
    rng = np.random.default_rng(0)
    assert quantile(seen, "steps", 0.5, rng)[0] == 3.0
    assert np.isinf(quantile(seen, "steps", 1.0, rng)[0])


def test_a_line_has_the_exponent_of_its_points():
    x = np.array([1.0, 2.0, 8.0])
    fitted = line(x, np.outer(3.0 * x**-2, np.ones(50)))
    assert (fitted.slope, fitted.low, fitted.high, fitted(4.0)) == pytest.approx((-2.0, -2.0, -2.0, 3.0 / 16.0))


def test_a_line_leaves_out_what_is_never_reached():
    x, rows = np.array([1.0, 2.0, 4.0]), np.outer([1.0, 2.0, np.inf], np.ones(50))
    assert line(x, rows).slope == pytest.approx(1.0)
    with pytest.raises(ValueError, match="two points that are reached, not 1 of 2"):
        line(x[1:], rows[1:])


def test_every_sweep_has_its_claims_and_every_figure_points_lines_and_theory(found):
    assert len(found.claims) == 5 + len({sweep.name for sweep in TINY})
    judged = {name for claim in found.claims[5:] for name in claim.estimates}
    assert judged == {str(reading) for sweep in TINY for reading in sweep.readings}
    names = {figure.name for figure in found.figures}
    swept = {f"clustering_{sweep.name}" for sweep in TINY}
    apart = {"clustering_all", "clustering_samples", "clustering_few", "clustering_diameter"}
    assert names == apart | swept
    assert {claim.figure for claim in found.claims} == names
    for figure in found.figures:
        kinds = {series.kind for series in figure.series}
        fitted = figure.name not in (*apart, "clustering_lambda_gosprl")  # with these lambda its ways take most steps
        assert kinds == ({"measured", "fit", "theory"} if fitted else {"measured", "theory"})
        for series in figure.series:
            assert len(series.x) == len(series.y)
            assert all(low <= y <= high for low, y, high in zip(series.low, series.y, series.high, strict=False))
    json.dumps([claim.as_json() for claim in found.claims], allow_nan=False)


def test_nobody_is_below_the_lower_bound_or_above_the_upper_one(found):
    above, steps, within, few, diameter = found.claims[:5]
    assert above.holds
    assert above.low > 10.0
    assert steps.holds
    assert few.holds
    assert within.holds
    assert diameter.holds
    assert few.high < 0.5
    assert within.high < 0.01
    shown = next(figure for figure in found.figures if figure.name == diameter.figure).series[0]
    assert diameter.measured == max(y / x for x, y in zip(shown.x, shown.y, strict=True)) < 1.0


def test_results_depend_on_the_seed_and_not_on_who_does_the_work():
    tasks = [NamingTask(EXPLORE_ID, TREE, 5, 4.0), NamingTask(TOLD_WORLDS, TREE, 3), NamingTask(GOSPRL, TREE, 1, 4.0)]
    one, third = (carry_out(tasks, 8, seed, InProcess()) for seed in (5, 6))
    other = carry_out(tasks, 8, 5, Backwards())
    for task in tasks:
        assert all(np.array_equal(a, b) for a, b in zip(one[task], other[task], strict=True))
    assert not np.array_equal(one[tasks[0]].steps, third[tasks[0]].steps)


@pytest.mark.parametrize("level", [0.5, 0.1])
def test_with_the_samples_of_the_bound_there_are_no_more_than_these(level):
    tree = TREE._replace(separation=level)
    seen = NamingTask(EXPLORE_ID, tree, 10).play(0)
    assert (seen.left == int(tree.least_samples + 1e-9)).all()
    assert (seen.steps >= seen.left).all()


def clairvoyant(scale):
    """Episodes that name the world after one sample of each pair."""
    return {NamingTask(EXPLORE_ID, TREE, 40, scale): made([1] * 40, [1.0] * 40)}


def test_whoever_knows_without_samples_breaks_the_claims():
    episodes = clairvoyant(0.0) | clairvoyant(SCALES[0]) | clairvoyant(SCALES[-1])
    point = (Reading(EXPLORE_ID, LIKELIHOOD, 0.5), TREE)
    sure = (Reading(EXPLORE_ID, THRESHOLD, 0.9), TREE)
    above, _, _, few, *_ = bounds(StepsNeeded(episodes, 0), episodes, [point, sure]).claims
    assert not above.holds
    assert above.measured < 1.0
    assert not few.holds
    assert few.measured == 1.0


def test_the_mean_of_four_episodes_lies_in_its_interval_as_often_as_said():
    """95 % of 400: at most 36 outside, but for one chance in a thousand."""
    rng = np.random.default_rng(0)
    outside = 0
    for _ in range(400):
        rows = jao_trees._student(rng.normal(100.0, 5.0, 4), rng)
        mean = jao_trees.measurement(rows)
        outside += not mean.low <= 100.0 <= mean.high
    assert 6 <= outside <= 36


def test_a_range_of_less_than_a_decade_comes_with_the_reason():
    for sweep in (*clustering.QUICK, *clustering.FULL):
        assert len(sweep.trees) >= 4
        assert bool(sweep.short) == (sweep.x.max() < 9.9 * sweep.x.min()), sweep


@pytest.mark.long
@pytest.mark.parametrize("rule", [THRESHOLD, LIKELIHOOD])
def test_what_a_rule_can_tell_does_not_depend_on_who_gathered_the_samples(rule):
    """The difference of two frequencies, beyond four standard deviations: a false alarm in 15,000."""
    tree, scale = TREE._replace(separation=0.25), (8.0, 3.0)[rule]
    one, other = (NamingTask(name, tree, 120, scale).play(5).right[rule].mean() for name in (EXPLORE_ID, GOSPRL))
    assert 0.1 < one < 0.9
    assert abs(one - other) < 4.0 * np.sqrt(2 * 0.25 / 120)


@pytest.mark.long
def test_the_quick_laboratory_finds_what_the_paper_claims():
    """Of exponents some may be too wide to tell; none may fail, whatever the seed."""
    found = clustering.measure(True, 1, InProcess())
    assert all(claim.holds for claim in found.claims[:5])
    assert all(claim.verdict is not False for claim in found.claims)
    growing = next(claim for claim in found.claims if "with S like the lower bound" in claim.claim)
    assert growing.holds
    assert 1.2 < growing.estimates["ExploreID, threshold test, success 0.5"].value < 1.6

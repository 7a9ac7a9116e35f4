import json

import numpy as np
import polars as pl
import pytest

import aomultirl as ao
from aomultirl.analysis import intervals
from aomultirl.analysis.leaderboard import leaderboard
from aomultirl.analysis.measures import NEEDED, has_ends, summarise
from aomultirl.experiments import loading
from folders import GRID, OPTIMAL, RANDOM, cells, keep, part

LONGER = part("Random", horizon=25)
GAMMA = [[1, 0], [8, 3], [2, 1]]
SEQUENTIAL = part("SequentialAOMultiRL", failure=0.03, horizon=300, separation=1.29, distinguishing_set=GAMMA)
ONCE = part("OneEpisodeUCBVI", failure=0.03, horizon=10)


@pytest.fixture(scope="module")
def given():
    return cells((RANDOM, OPTIMAL, ONCE), runs=6)


@pytest.fixture(scope="module")
def board(given, tmp_path_factory):
    place = tmp_path_factory.mktemp("board") / "small"
    keep(place, given)
    return leaderboard(place)


def earned(history):
    return (history["clustering_reward"] + history["learning_reward"]).sum()


def by_hand(given, label, measure):
    return np.array([measure(cell.run()) for cell in given if cell.label == label])


def test_lines_are_means_and_intervals_over_runs(board, given):
    [table] = board.tables
    assert table.problem.title == "gridworld(edges=stay), stream uniform, 4 episodes, seed 0"
    assert {line.label for line in table.lines} == {"Random", "Optimal", "OneEpisodeUCBVI"}
    measures = {
        "total_reward": earned,
        "reward_per_step": lambda history: earned(history) / 40,
        "regret": lambda history: history["regret"].sum(),
        "regret_per_step": lambda history: history["regret"].sum() / 40,
        "identification_steps": lambda history: history["identification_steps"].mean(),
        "steps": lambda history: (history["identification_steps"] + history["learning_steps"]).mean(),
    }
    for line in table.lines:
        assert line.runs == list(range(6))
        for name, measure in measures.items():
            values = by_hand(given, line.label, measure)
            np.testing.assert_allclose(line.values[name], values, atol=1e-9)
            np.testing.assert_allclose(line.spans[name], intervals.over_runs(values), atol=1e-9)
        assert np.isnan(line.spans["misclustered"].mean)  # none of them has clusters


def test_the_best_is_first_and_the_others_are_behind_it_run_by_run(board, given):
    [table] = board.tables
    rewards = [line.spans["total_reward"].mean for line in table.lines]
    assert rewards == sorted(rewards, reverse=True)
    best = table.lines[0]
    assert best.label == "Optimal"
    assert best.behind is None
    for line in table.lines[1:]:
        differences = by_hand(given, "Optimal", earned) - by_hand(given, line.label, earned)
        np.testing.assert_allclose(line.behind, intervals.over_runs(differences))
    assert (table.test.best, table.test.second, table.test.pairs) == ("Optimal", table.lines[1].label, 6)
    assert table.test.difference == pytest.approx(table.lines[1].behind.mean)


def test_clusters_that_are_wrong_are_counted(tmp_path):
    told = {"models": 4, "separation": 1.29, "hitting_time": 7, "failure": 0.03, "constants": "released"}
    agent = part("AOMultiRL", **told, learning_horizon=5, samples=1, clustering_horizon=40)
    given = cells((agent,), episodes=(8,), runs=2)
    keep(tmp_path / "a", given)
    [line] = leaderboard(tmp_path / "a").tables[0].lines
    counts = by_hand(given, "AOMultiRL", lambda history: history.misclustered)
    assert counts.sum() > 0
    np.testing.assert_array_equal(line.values["misclustered"], counts)


def test_episodes_in_no_cluster_are_counted_and_those_that_were_believed_stand_apart(tmp_path):
    agents = {"Recall": part("Recall", failure=0.03, horizon=300), "told": SEQUENTIAL, "Random": RANDOM}
    given = cells(agents, episodes=(12,), runs=2)
    keep(tmp_path / "a", given)
    [table] = leaderboard(tmp_path / "a").tables
    spans = {line.label: line.spans for line in table.lines}
    counts = {
        "abstained": lambda history: history["abstained"].sum(),
        "believed_only": lambda history: (history["abstained"] & (history["sure"] >= 0.99)).sum(),
        "in_doubt": lambda history: (history["abstained"] & ~(history["sure"] >= 0.99)).sum(),
    }
    for name, count in counts.items():
        assert spans["Recall"][name].mean == by_hand(given, "Recall", count).mean() > 0
        assert np.isnan(spans["Random"][name].mean)
    assert spans["told"]["abstained"].mean == spans["told"]["in_doubt"].mean > 0
    assert np.isnan(spans["told"]["believed_only"].mean)
    assert {"sure, not proven", "in doubt"} <= set(table.headings)
    assert "not proven" not in table.headings


def test_a_belief_whose_strength_nobody_knows_is_no_belief_of_99_percent(tmp_path):
    keep(tmp_path / "a", cells((RANDOM,), runs=1))
    [cell] = loading.find(tmp_path / "a", columns=NEEDED).cells
    told = {"taken_for": [3, 3, 3, -1], "sure": [np.nan, 0.99, 0.98, np.nan], "abstained": [True] * 4}
    rows = cell.rows.with_columns(**{name: pl.Series(values) for name, values in told.items()})
    [found] = summarise([cell._replace(rows=rows)])
    assert (found["abstained"], found["believed_only"], found["in_doubt"]) == (4, 1, 3)


def test_where_nobody_has_beliefs_what_was_not_proven_is_one_number(tmp_path):
    keep(tmp_path / "a", cells({"told": SEQUENTIAL, "Random": RANDOM}, runs=1))
    [table] = leaderboard(tmp_path / "a").tables
    assert "not proven" in table.headings
    assert not {"sure, not proven", "in doubt"} & set(table.headings)
    keep(tmp_path / "b", cells((RANDOM, OPTIMAL), runs=1))
    [table] = leaderboard(tmp_path / "b").tables
    assert "not proven" not in table.headings


@pytest.mark.parametrize("name", ["doors", "gridworld", "permuted_cliffs", "rings", "sparse_random", "swapped_taxis"])
def test_worlds_that_end_episodes_are_known_by_their_description(name):
    models = getattr(ao.worlds, name)()
    assert has_ends(models.origin) == any(world.terminal.any() for world in models)
    assert not has_ends(None)


@pytest.mark.parametrize("again", [False, True])
def test_a_lock_ends_an_episode_unless_it_is_tried_again(again):
    models = ao.worlds.diabolical_locks(again=again)
    assert has_ends(models.origin) == any(world.terminal.any() for world in models) == (not again)


def test_lives_that_end_early_are_compared_by_what_they_earned(tmp_path):
    keep(
        tmp_path / "a",
        cells((part("Random", horizon=20), part("OneEpisodeLearner", horizon=20)), worlds=(part("doors"),)),
    )
    [table] = leaderboard(tmp_path / "a").tables
    assert len({line.spans["steps"].mean for line in table.lines}) == 2  # who finds the door is there sooner
    assert table.ranking == "total_reward"


def test_agents_of_two_folders_meet_on_the_problems_that_both_have(tmp_path):
    keep(tmp_path / "a", cells((RANDOM,), worlds=(part("gridworld", edges="third"), GRID)))
    keep(tmp_path / "b", cells((OPTIMAL,), worlds=(part("gridworld"),)))  # third is the default
    keep(tmp_path / "c", cells((OPTIMAL,), seed=1))
    keep(tmp_path / "d", cells((OPTIMAL,), episodes=(5,)))
    board = leaderboard([tmp_path / name for name in "abcd"])
    found = {table.problem.title: [line.label for line in table.lines] for table in board.tables}
    assert found == {
        "gridworld(edges=third), stream uniform, 4 episodes, seed 0": ["Optimal", "Random"],
        "gridworld(edges=stay), stream uniform, 4 episodes, seed 0": ["Random"],
        "gridworld(edges=stay), stream uniform, 4 episodes, seed 1": ["Optimal"],
        "gridworld(edges=stay), stream uniform, 5 episodes, seed 0": ["Optimal"],
    }
    assert board.tables[0].test.pairs == 3
    assert board.tables[1].test is None


def test_episodes_before_those_that_count_are_left_out_and_do_not_make_another_problem(tmp_path):
    stream, early = part("paper"), part("paper", each_first=True)
    mine, theirs = cells((RANDOM,), streams=(stream,)), cells((OPTIMAL,), streams=(early,), episodes=(8,))
    keep(tmp_path / "a", [*mine, *theirs])
    [table] = leaderboard(tmp_path / "a").tables
    assert [line.label for line in table.lines] == ["Optimal", "Random"]
    assert table.problem.episodes == 4
    rewards = [(h["clustering_reward"] + h["learning_reward"])[4:].sum() for h in (cell.run() for cell in theirs)]
    np.testing.assert_allclose(table.lines[0].values["total_reward"], rewards)


def test_where_episodes_are_not_equally_long_the_reward_of_a_step_decides(tmp_path):
    keep(tmp_path / "a", cells((part("Random", horizon=500), OPTIMAL)))
    [table] = leaderboard(tmp_path / "a").tables
    assert table.ranking == "reward_per_step"
    assert [line.label for line in table.lines] == ["Optimal", "Random"]
    assert table.lines[0].spans["total_reward"].mean < table.lines[1].spans["total_reward"].mean
    assert table.lines[1].behind.mean == pytest.approx(
        table.lines[0].spans["reward_per_step"].mean - table.lines[1].spans["reward_per_step"].mean
    )
    assert "not equally long" in table.notes[0]
    assert table.headings[0] == "reward a step"
    assert {"steps an episode", "regret a step"} <= set(table.headings)
    assert "exact regret" not in table.headings


def test_a_single_run_has_neither_interval_nor_test(tmp_path):
    keep(tmp_path / "a", cells(runs=1))
    board = leaderboard(tmp_path / "a")
    [table] = board.tables
    assert table.test is None
    assert table.verdict == ""
    assert np.isnan(table.lines[0].spans["total_reward"].low)
    assert board.notes == ["A single run has no interval."]


def test_what_was_not_recorded_is_not_known(tmp_path):
    keep(tmp_path / "a", cells(record=()))
    keep(tmp_path / "b", cells((RANDOM,)))
    [table] = leaderboard(tmp_path / "a").tables
    assert all(np.isnan(line.spans["regret"].mean) for line in table.lines)
    [table] = leaderboard([tmp_path / "a", tmp_path / "b"]).tables  # the same runs, with and without
    known = {line.label: np.isfinite(line.spans["regret"].mean) for line in table.lines}
    assert known == {"Random": True, "Optimal": False}


def test_one_label_in_several_configurations_names_what_differs(tmp_path):
    keep(tmp_path / "a", cells({"mine": RANDOM}))
    keep(tmp_path / "b", cells({"mine": part("Random", horizon=25)}))
    keep(tmp_path / "c", cells({"mine": ONCE}))
    [table] = leaderboard([tmp_path / "a", tmp_path / "b"]).tables
    assert {line.label for line in table.lines} == {"mine, horizon=10", "mine, horizon=25"}
    [table] = leaderboard([tmp_path / "a", tmp_path / "c"]).tables
    assert {line.label for line in table.lines} == {"mine, agent=Random", "mine, agent=OneEpisodeUCBVI"}


def test_agents_that_do_not_have_the_same_runs_are_compared_over_those_that_both_have(tmp_path):
    given = cells(runs=4)
    keep(tmp_path / "a", given, done=[cell for cell in given if cell.label == "Random" or cell.number in (1, 3)])
    board = leaderboard(tmp_path / "a")
    [table] = board.tables
    assert table.lines[0].runs == [1, 3]
    assert table.test.pairs == 2
    differences = [by_hand(given, label, earned)[[1, 3]] for label in ("Optimal", "Random")]
    assert table.lines[1].behind.mean == pytest.approx((differences[0] - differences[1]).mean())
    assert table.notes[0].endswith("differences are over those that both have: Optimal 2; Random 4.")
    assert "2 cells are not done yet." in board.notes


def test_results_of_different_versions_are_said_to_be(tmp_path):
    given = cells()
    store = keep(tmp_path / "a", given)
    assert not any("versions" in note for note in leaderboard(tmp_path / "a").notes)
    manifest = store.manifest(given[0])
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": "0.0.7"}))
    notes = leaderboard(tmp_path / "a").notes
    assert any(note.startswith("The cells were computed by different versions: 0.0.7, ") for note in notes)


def test_several_tests_are_said_to_be_several(tmp_path):
    keep(tmp_path / "a", cells(episodes=(3, 4)))
    notes = leaderboard(tmp_path / "a").notes
    assert any(note.endswith("The p-values of the 2 tests are not corrected.") for note in notes)
    assert any("over few runs are too short" in note for note in notes)

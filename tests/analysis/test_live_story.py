import json

import pytest

from aomultirl.agents.game import NEW
from aomultirl.analysis.live import story as stories
from aomultirl.analysis.live.records import Facts, Player
from aomultirl.analysis.live.story import Story
from aomultirl.experiments.episodes import unjudged_row


class Report:
    """What a row takes from an agent's report."""

    def __init__(self, world, sure, cluster=-1, new_cluster=False):
        self.world, self.sure, self.cluster, self.new_cluster = world, sure, cluster, new_cluster
        self.exploration_ok, self.certified, self.abstained = True, False, cluster < 0


def row(episode, task, world, sure=0.995, reward=5.0, steps=20, **more):
    made = unjudged_row(episode, 0, Report(world, sure, **more), [])
    return made._replace(task=task, learning_reward=reward, learning_steps=steps)


def told(story, **question):
    return json.loads(json.dumps(story.as_json(**question), allow_nan=False))


@pytest.fixture
def story():
    story = Story("a story")
    facts = Facts("Recall", "gridworld", "size=3", "uniform", 0, 10, 20, "small.toml", is_told=False, plays=True)
    story.introduce(facts, [Player("Recall"), Player("without", forgets=True)], has_best=True)
    return story


def play(story, episode, task, looks, ended, rewards=(4.0,), best=10.0):
    story.begin(episode, task)
    for step, shares in looks:
        story.look(step, shares, shares)
    story.end(ended, rewards, best)


def test_the_moment_of_recognition_and_whether_it_is_right(story):
    play(story, 0, 2, [(0, {NEW: 1.0})], row(0, 2, 7))
    first = story.outcomes[0]
    assert (first.name, first.is_new, first.recognised, first.right) == (7, True, None, True)  # nothing to recognise
    doubts = [
        (0, {7: 0.5, NEW: 0.5}),
        (3, {7: 0.995, NEW: 0.005}),
        (6, {7: 0.4, NEW: 0.6}),
        (9, {7: 0.996, NEW: 0.004}),
    ]
    play(story, 1, 2, doubts, row(1, 2, 7))
    assert story.trail(1)["turns"] == [(3, 7, True), (6, None, None), (9, 7, True)]
    assert story.outcomes[1].recognised == 9
    play(story, 2, 1, [(0, {7: 0.9, NEW: 0.1}), (5, {7: 0.999, NEW: 0.001})], row(2, 1, 7))
    assert (story.trail(2)["turns"], story.outcomes[2].right) == ([(5, 7, False)], False)
    play(story, 3, 0, [(0, {7: 0.9, NEW: 0.1}), (5, {7: 0.001, NEW: 0.999})], row(3, 0, 8))
    assert (story.trail(3)["turns"], story.outcomes[3].is_new, story.outcomes[3].right) == (
        [(5, NEW, True)],
        True,
        True,
    )
    play(story, 4, 2, [(0, {7: 0.001, 8: 0.0, NEW: 0.999})], row(4, 2, 9))
    assert story.outcomes[4].right is False  # a new world, but it was here before
    play(story, 5, 2, [(0, {7: 0.5, 8: 0.5, NEW: 0.0})], row(5, 2, -1, sure=float("nan")))
    assert (story.outcomes[5].name, story.outcomes[5].right, story.outcomes[5].sure) == (-1, None, None)


def test_who_asks_again_is_told_what_is_new_alone(story):
    play(story, 0, 2, [(0, {NEW: 1.0}), (20, {NEW: 1.0})], row(0, 2, 7))
    first = told(story)
    assert (first["first"], len(first["rows"]), first["isWhole"], first["memory"]) == (0, 1, True, [7])
    assert first["rows"] == [[0, 2, 7, True, 0.995, None, 20, True]]
    assert [player["total"] for player in first["players"]] == [5.0, 4.0]
    assert (first["best"]["total"], first["common"]) == (10.0, {"episodes": 1, "totals": [5.0, 4.0]})
    again = told(story, version=first["version"], rows=1)
    assert "rows" not in again
    assert again["now"]["looks"] == [[0, {"-1": 1.0}], [20, {"-1": 1.0}]]
    story.begin(1, 0)
    story.look(0, {7: 0.99991, NEW: 0.00009}, {7, NEW})
    assert told(story, version=first["version"], rows=1)["now"]["looks"] == [
        [0, {"7": 0.9999}]
    ]  # small shares are left out
    story.end(row(1, 0, 7), [1.0], 10.0)
    third = told(story, version=first["version"], rows=1)
    assert (third["first"], [each[0] for each in third["rows"]]) == (1, [1])


def test_long_stories_are_told_in_parts_and_forget_the_way_to_old_beliefs(story, monkeypatch):
    monkeypatch.setattr(stories, "MOST_ROWS", 2)
    monkeypatch.setattr(stories, "MOST_TRAILS", 2)
    for episode in range(5):
        play(story, episode, 0, [(0, {NEW: 1.0})], row(episode, 0, 3))
    part = told(story)
    assert ([each[0] for each in part["rows"]], part["isWhole"]) == ([0, 1], False)
    assert [each[0] for each in told(story, version=-1, rows=4)["rows"]] == [4]
    assert [story.trail(episode) is None for episode in range(5)] == [True, True, True, False, False]


def test_a_run_that_is_read_says_nothing_of_the_moment():
    story = Story("read")
    story.introduce(
        Facts("Recall", "w", "", "s", 0, 9, None, "out", is_told=False, plays=False), [Player("Recall")], has_best=False
    )
    story.begin(0, 1)
    story.look(20, {4: 0.999}, on_the_way=False)
    story.end(row(0, 1, 4))
    assert (story.outcomes[0].recognised, story.outcomes[0].is_new, story.outcomes[0].right) == (None, False, None)
    story.begin(1, 1)
    story.end(row(1, 1, 4, cluster=0, new_cluster=True))
    assert (story.outcomes[1].is_new, story.outcomes[1].right) == (False, True)
    story.join(Player("another"), [1.0, 2.0, 3.0])
    now = told(story)
    assert now["memory"] is None
    assert now["common"] == {"episodes": 2, "totals": [10.0, 3.0]}
    assert now["cards"][0]["cluster"] == 0


def test_clusters_are_worlds_of_agents_that_have_no_names_for_them(story):
    play(story, 0, 1, [(0, {})], row(0, 1, -1, sure=float("nan"), cluster=0, new_cluster=True))
    assert (story.outcomes[0].name, story.outcomes[0].is_new, told(story)["namesWorlds"]) == (0, True, False)

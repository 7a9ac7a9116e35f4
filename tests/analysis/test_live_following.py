"""A folder of results that is followed: while it is written, afterwards, and when something in it is wrong."""

import os
from dataclasses import replace

import numpy as np
import pytest

from aomultirl.analysis.live import following
from aomultirl.analysis.live.following import Following
from aomultirl.analysis.live.playing import Pace
from aomultirl.analysis.live.story import Story
from aomultirl.experiments.computation import compute
from folders import cells, contents, keep
from living import small_cells

TEXT = """
episodes = 6
runs = 2
worlds = [{name = "gridworld", size = 3, edges = "stay"}]
agents = [{name = "Recall", failure = 0.1, horizon = 40}, {name = "Random", horizon = 40}]
"""


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(following, "EVERY", 0.0)
    monkeypatch.setattr(following, "PATIENCE", 0.0)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder in which all cells are done."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    return keep(folder, small_cells(runs=2))


def pace():
    return Pace(1e9, sleep=lambda seconds: None)


def followed(folder, **options):
    story = Story("followed")
    follower = Following(folder, story, **options)
    follower.follow(pace(), until_done=True)
    return story, follower


def test_a_finished_folder_is_read_and_not_touched(finished):
    before = contents(finished.folder)
    story, _ = followed(finished.folder, number=1)
    assert contents(finished.folder) == before
    cell = next(cell for cell in finished.cells if cell.number == 1)
    history = finished.read(cell)[0]
    assert [outcome.name for outcome in story.outcomes] == history["taken_for"].tolist()
    assert [outcome.task for outcome in story.outcomes] == history["task"].tolist()
    told = story.as_json()
    assert (told["state"], told["progress"], told["facts"]["number"]) == ("done", {"done": 6, "all": 6}, 1)
    assert [player["label"] for player in told["players"]] == ["Recall", "the same learner without memory", "at random"]
    others = [finished.read(cell)[0].reward.sum() for cell in finished.cells if cell.number == 1]
    assert told["common"]["totals"] == pytest.approx(others)
    best = history["value"] + history["regret"] + history["clustering_reward"]
    assert told["best"]["total"] == pytest.approx(best.sum())


def test_what_was_written_down_of_beliefs_is_shown(finished):
    story, _ = followed(finished.folder)
    history = finished.read(finished.cells[0])[0]
    traces = {trace["episode"]: trace for trace in history.about["findings"]["evidence"]["episodes"]}
    shown = {episode for episode in range(6) if len(story.trail(episode)["looks"]) > 1}
    assert shown == {episode for episode, trace in traces.items() if len(trace["steps"]) > 1} != set()
    last = max(shown)
    assert [step for step, _ in story.trail(last)["looks"]] == traces[last]["steps"]
    assert story.trail(last)["looks"][-1][1][-1] == pytest.approx(traces[last]["belief"][-1][-1], abs=1e-3)


def test_a_cell_is_followed_while_it_is_written(tmp_path):
    recall, alone, random = small_cells()
    store = keep(tmp_path / "results", [recall, alone, random], done=[random])
    (store.folder / "specification.toml").write_text(TEXT)
    story = Story("followed")
    follower = Following(store.folder, story)
    sleeps = []

    def meanwhile(seconds):
        """The other process works while this one waits."""
        sleeps.append((story.state, story.as_json()["words"], len(story.outcomes)))
        if len(sleeps) == 1:
            recall.run(store.folder / "checkpoints" / f"{recall.name}.zip", every=0.0)
            os.utime(store.folder / "checkpoints" / f"{recall.name}.zip")
        elif len(sleeps) == 2:
            store.keep(compute(recall))

    follower.follow(pace(), until_done=True, sleep=meanwhile)
    assert sleeps[0][0] == sleeps[1][0] == "waiting"
    assert sleeps[0][1].startswith("Waiting for its first episodes, which come with a checkpoint or the end; nobody")
    assert sleeps[1][1].startswith("Waiting for more of its episodes; nobody is at work")
    assert [count for _, _, count in sleeps] == [0, 6]
    assert story.state == "done"
    np.testing.assert_array_equal([outcome.name for outcome in story.outcomes], recall.run()["taken_for"])


def test_without_a_specification_the_cells_that_are_done_say_what_there_is(tmp_path):
    recall, alone, random = small_cells()
    store = keep(tmp_path / "results", [recall, alone, random], done=[random])
    story = Story("followed")
    follower = Following(store.folder, story)
    assert follower.cell is None
    said = []

    def meanwhile(seconds):
        said.append(story.as_json()["words"])
        store.keep(compute([alone, recall][len(said) - 1]))

    follower.follow(pace(), until_done=True, sleep=meanwhile)
    assert said[0] == "No cell with an agent that recognises worlds is there yet; nobody is at work in the folder."
    assert len(story.outcomes) == 6
    assert len(story.as_json()["players"]) == 3


def test_what_cannot_be_shown_is_refused_in_a_sentence(tmp_path, finished):
    with pytest.raises(ValueError, match=r"^run is 7, and '.*results' holds no cell of that run that can be read$"):
        followed(finished.folder, number=7)
    with pytest.raises(ValueError, match=r"^agent is 'cece', which is in none of Recall; alone; at random$"):
        followed(finished.folder, agent="cece")
    keep(tmp_path / "others", cells(runs=1))
    with pytest.raises(ValueError, match=r"^no agent here recognises worlds"):
        followed(tmp_path / "others")
    with pytest.raises(ValueError, match="is not a folder of results"):
        followed(tmp_path)


def test_a_cell_that_failed_or_is_damaged_is_said_to_be(tmp_path):
    (recall,) = small_cells()[:1]
    broken = replace(recall, agent={"name": "Recall", "parameters": {"failure": 7.0, "horizon": 40}})
    keep(tmp_path / "failed", [broken])
    story, _ = followed(tmp_path / "failed")
    assert story.state == "failed"
    assert story.as_json()["words"] == "The cell failed: Refusal: failure must be below 1, not 7"
    store = keep(tmp_path / "damaged", [recall])
    store.history(recall).write_bytes(b"nothing")
    story, _ = followed(store.folder)
    assert story.as_json()["words"].startswith("The cell cannot be read: ")
    assert story.outcomes == []


def test_links_and_what_is_no_checkpoint_are_passed_over(tmp_path):
    recall, alone, random = small_cells()
    store = keep(tmp_path / "results", [recall, alone, random], done=[random])
    outside = tmp_path / "outside.toml"
    outside.write_text(TEXT)
    (store.folder / "specification.toml").symlink_to(outside)
    assert Following(store.folder, Story("followed")).cell is None
    (store.folder / "specification.toml").unlink()
    (store.folder / "specification.toml").write_text(TEXT)
    (store.folder / "checkpoints" / f"{recall.name}.zip").write_bytes(b"nothing")
    follower = Following(store.folder, Story("followed"))
    assert (follower.cell, follower.rows) == (recall, [])

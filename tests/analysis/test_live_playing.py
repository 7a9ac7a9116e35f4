"""What is played live is what ``aomultirl run`` computes, step by step."""

import math

import numpy as np
import pytest

from aomultirl.analysis.live import playing
from aomultirl.analysis.live.playing import Pace, Playing
from aomultirl.analysis.live.story import Story
from folders import UNIFORM, cells, part
from living import SMALL, small_cells


def at_once():
    return Pace(1e9, sleep=lambda seconds: None)


def played(cell):
    story = Story("played")
    play = Playing(cell, story, "small.toml")
    play.play(at_once())
    return story, play


@pytest.mark.parametrize("stepped", [playing.STEPPED, 10])
def test_the_episodes_are_those_of_the_run(monkeypatch, stepped):
    """Step by step, and phase by phase in the simulator."""
    monkeypatch.setattr(playing, "STEPPED", stepped)
    recall, alone, _ = small_cells()
    story, play = played(recall)
    histories = [recall.run(), alone.run()]
    for course, history in zip([play.course, play.alone], histories, strict=True):
        for name in ("task", "start", "cluster", "taken_for", "sure", "learning_reward", "learning_steps"):
            np.testing.assert_array_equal([getattr(row, name) for row in course.rows], history[name], err_msg=name)
    assert [outcome.name for outcome in story.outcomes] == histories[0]["taken_for"].tolist()
    totals = [history.reward.sum() for history in histories]
    told = story.as_json()
    assert told["common"] == {"episodes": 6, "totals": pytest.approx(totals)}
    assert told["state"] == "done"
    best = histories[0]["value"] + histories[0]["regret"] + histories[0]["clustering_reward"]
    assert told["best"]["total"] == pytest.approx(best.sum())


def test_beliefs_are_looked_at_from_the_first_step_to_the_last():
    story, _ = played(small_cells()[0])
    trail = story.trail(5)
    steps = [step for step, _ in trail["looks"]]
    assert steps[:18] == list(range(18))
    assert steps[-1] == trail["steps"] == 40
    assert steps == sorted(set(steps))
    assert all(sum(shares.values()) == pytest.approx(1.0, abs=0.01) for _, shares in trail["looks"])


def test_an_agent_of_two_phases_says_what_it_believes_in_the_first():
    gamma = [[1, 0], [8, 3], [2, 1]]
    told = part("SequentialAOMultiRL", failure=0.1, horizon=2_000, separation=1.29, distinguishing_set=gamma)
    (cell,) = cells(
        {"Sequential": told}, worlds=(part("gridworld", edges="stay"),), streams=(part("round_robin"),), runs=1
    )
    story, play = played(cell)
    assert play.alone is not None
    assert all(outcome.name >= 0 and outcome.right is not False for outcome in story.outcomes)
    assert story.as_json()["namesWorlds"] is False


def test_what_ends_an_episode_ends_it_here():
    lake = part("frozen_lakes", terminal="end")
    (cell,) = cells({"Recall": part("Recall", failure=0.1, horizon=60)}, worlds=(lake,), streams=(UNIFORM,), runs=1)
    story, _ = played(cell)
    history = cell.run()
    assert [outcome.steps for outcome in story.outcomes] == (
        history["learning_steps"] + history["identification_steps"]
    ).tolist()


def test_an_agent_without_a_learner_has_nobody_beside_it():
    agents, story = {"L-UCRL": part("LUCRL", models=4, horizon=10, failure=0.1)}, Story("played")
    assert Playing(cells(agents, worlds=(SMALL,), runs=1)[0], story, "small.toml").alone is None
    assert len(story.as_json()["players"]) == 1


def test_the_pace_rests_most_in_the_first_steps(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(playing.time, "monotonic", lambda: now[0])
    rests = []

    def sleep(seconds):
        rests.append(seconds)
        now[0] += seconds

    pace = Pace(2.0, sleep)
    pace.begin()
    for step in range(1, 1001):
        pace.rest(step, 1000)
    assert sum(rests) == pytest.approx(playing.SECONDS / 2.0)
    assert sum(rests[:100]) == pytest.approx(sum(rests) * math.log1p(100 / 16) / math.log1p(1000 / 16))
    pace.begin(0.5)
    now[0] += 5.0
    pace.rest(1, 1000)
    assert len(rests) == 1000  # who is late does not rest
    with pytest.raises(ValueError, match=r"^speed must be above 0, not 0$"):
        Pace(0.0)

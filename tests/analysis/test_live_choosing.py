import pytest

import aomultirl as ao
from aomultirl.analysis.live.choosing import (
    best_of,
    can_say_the_best,
    choose,
    is_without_memory,
    of_run,
    rivals,
    without_memory,
)
from folders import OPTIMAL, RANDOM, cells, part
from living import ALONE, RECALL, SMALL, small_cells

SEQUENTIAL = part("SequentialAOMultiRL", failure=0.1, horizon=40, separation=1.0)


def test_agents_that_believe_while_they_act_come_before_others():
    both = cells({"first": SEQUENTIAL, "second": RECALL}, worlds=(SMALL,))
    assert choose(both).label == "second"
    assert choose(both, agent="FIRST").label == "first"
    assert choose(both[:1]).label == "first"


def test_worlds_and_agents_are_named_by_a_word():
    several = cells({"Recall": RECALL}, worlds=(SMALL, part("gridworld", size=4)))
    assert choose(several, world="size=4").world["parameters"]["size"] == 4
    with pytest.raises(
        ValueError, match=r"^world is 'cliff', which is in none of gridworld, size=3, edges=stay; gridworld, si"
    ):
        choose(several, world="cliff")
    with pytest.raises(ValueError, match=r"^agent is 'random', which is in none of Recall$"):
        choose(several, agent="random")
    with pytest.raises(
        ValueError, match=r"^no agent here recognises worlds, as Recall does: there are Random, Optimal$"
    ):
        choose(cells((RANDOM, OPTIMAL)))


def test_the_run_is_one_of_the_experiment():
    cell = choose(small_cells())
    assert of_run(cell, 2, 3).number == 2
    with pytest.raises(ValueError, match=r"^run must be between 0 and 2, not 3$"):
        of_run(cell, 3, 3)


def test_who_has_no_memory_is_the_same_learner():
    recall = ao.agents.Recall(0.1, 40)
    assert repr(without_memory(recall)) == repr(ao.agents.OneEpisode(ao.learning.Practical(), 40))
    unknown = ao.agents.Recall(0.1, 40, rewards="unknown", learner=ao.learning.Practical(level=0.5))
    assert without_memory(unknown).rewards == "unknown"
    assert without_memory(unknown).learner.level == 0.5
    assert without_memory(ao.agents.Random(40)) is None
    several = {
        "alone": ALONE,
        "longer": part("OneEpisodeLearner", horizon=41),
        "told": part("OracleLearner", horizon=40),
        "gone": part("NobodyHasThis"),
        "another": part("OneEpisodeUCBVI", failure=0.1, horizon=40),
    }
    alike = [is_without_memory(cell, recall) for cell in cells(several, runs=1)]
    assert alike == [True, False, False, False, False]


def test_rivals_play_the_same_episodes():
    here, there = small_cells(runs=2), small_cells(seed=1)
    recall = ao.agents.Recall(0.1, 40)
    found = rivals(here[0], [*here[::-1], *there], recall, 4)
    assert [(player.label, player.forgets, cell) for player, cell in found] == [
        ("the same learner without memory", True, here[1]),
        ("at random", False, here[2]),
    ]
    assert len(rivals(here[0], here, recall, 1)) == 1


def test_the_best_is_said_where_the_experiment_asks_for_regrets():
    models, recall = ao.worlds.gridworld(size=3), ao.agents.Recall(0.1, 40)
    assert can_say_the_best(small_cells()[0], models, recall)
    assert not can_say_the_best(small_cells(record=("evaluation",))[0], models, recall)
    assert best_of(models, recall, 1, 4) == models[1].optimal_values(40)[0, 4]

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.setting import Setting

GRID = ao.worlds.gridworld()
ENDING = ao.worlds.permuted_cliffs()
METHODS = ("CADP", "WSU", "mean")
PLANNERS = dict(
    zip(
        METHODS,
        (ao.theory.coordinate_ascent, ao.theory.weight_select_update, ao.theory.mean_value_problem),
        strict=True,
    )
)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("models", [GRID, ENDING], ids=["going on", "ending"])
def test_it_follows_the_plan_and_earns_what_that_is_worth(method, models):
    agent = ao.agents.MultiModel(30, method)
    history = ao.run(agent, models, ao.streams.round_robin(), episodes=4 * len(models), seed=2)
    plan = PLANNERS[method](models, 30)
    assert agent.findings() == {"value": plan.value}
    by_task = [history["value"][history["task"] == task] for task in range(len(models))]
    for values, expected in zip(by_task, plan.by_world, strict=True):
        assert values == pytest.approx(np.full(len(values), expected))


def test_it_plans_for_the_weights():
    told = ao.agents.MultiModel(30, weights=[0, 0, 5, 0])
    history = ao.run(told, GRID, ao.streams.sequence([2] * 3), episodes=3)
    assert history.regret()[-1] == pytest.approx(0.0, abs=1e-9)


def test_one_world_is_played_optimally():
    for method in METHODS:
        history = ao.run(ao.agents.MultiModel(25, method), GRID[:1], ao.streams.uniform(), episodes=3)
        assert history.regret()[-1] == pytest.approx(0.0, abs=1e-9)


def test_it_lies_between_random_and_optimal():
    random, best, optimal = (
        ao.run(agent, GRID, ao.streams.round_robin(), episodes=8)["value"].mean()
        for agent in (ao.agents.Random(200), ao.agents.MultiModel(200), ao.agents.Optimal(200))
    )
    assert random + 1.0 < best < optimal - 1.0


def test_a_pooled_learner_does_not_earn_more():
    """Q-learning with one table for all worlds, after 300 episodes; the mean of 100 has a deviation of about 0.5."""
    pooled = ao.agents.Pooled(ao.learning.QLearning(), 100, rewards="unknown")
    history = ao.run(pooled, GRID, ao.streams.round_robin(), episodes=400, seed=1)
    earned = history["evaluation_value"][-100:].mean()
    assert earned < ao.theory.coordinate_ascent(GRID, 100).value + 0.5


def test_contract_where_episodes_end():
    ao.check_agent(ao.agents.MultiModel(15), ENDING)
    ao.check_agent(ao.agents.MultiModel(5, "WSU", [0.5] * 4), ao.worlds.doors())


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (ao.agents.MultiModel(0), "horizon must be at least 1, not 0"),
        (
            ao.agents.MultiModel(5, "cadp"),
            "method must be one of 'CADP', 'WSU', 'mean', not 'cadp'; did you mean 'CADP'",
        ),
        (ao.agents.MultiModel(5, weights=[1.0]), r"weights must have shape \(4,\), one for every world, not \(1,\)"),
        (ao.agents.MultiModel(10**12), "horizon is 1000000000000: a plan for so many steps"),
    ],
)
def test_bad_input(agent, message):
    with pytest.raises(ValueError, match=message):
        ao.run(agent, GRID, ao.streams.uniform(), episodes=1)


def test_somebody_must_know_the_worlds():
    with pytest.raises(ValueError, match="MultiModel must be told the worlds, and nobody knows them here"):
        ao.agents.MultiModel(5).begin(Setting(2, 2, None, 5))

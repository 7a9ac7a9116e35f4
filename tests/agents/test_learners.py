import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import streams
from aomultirl.learning.practical import MOST_READ, Practical
from aomultirl.learning.world_rows import rows_of

LEARNERS = [ao.agents.OneEpisodeLearner, ao.agents.OracleLearner]


def share(history, models, horizon):
    """Of the optimal reward."""
    best = np.array([world.first_values(horizon) for world in models])[history["task"], history["start"]]
    return (history["clustering_reward"] + history["learning_reward"]).sum() / best.sum()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("rewards", ["known", "unknown"])
def test_contract(learner, rewards):
    ao.check_agent(learner(200, rewards=rewards))


@pytest.mark.parametrize(("n_states", "n_actions", "backups"), [(40, 4, 16), (60, 25, 3), (70, 90, 1)])
def test_a_step_reads_no_more_places_than_allowed(n_states, n_actions, backups):
    """Every pair leads to every state: 16 states are backed up where rows are narrow, fewer where they are wide."""
    n_pairs = n_states * n_actions
    every = CountTable(n_pairs)
    for pair in range(n_pairs):
        for state in range(n_states):
            every.count(pair, state, 1)
    setting = Setting(n_states, n_actions, np.ones((n_states, n_actions)), 10)
    learning = Practical().begin(setting, 500)
    rows = rows_of([(every, np.empty(0))], n_states, n_actions, False)
    values = np.zeros((1, n_states))
    made = learning.planner(rows, rows.counts, np.empty(0), streams(0, 1)[0], values, np.zeros(1))
    assert made.options.backups == backups
    assert backups == 1 or backups * n_actions * (n_states + 1) <= MOST_READ


@pytest.mark.parametrize("edges", ["third", "stay"])
def test_whoever_is_told_the_task_learns_from_episode_to_episode(edges):
    models = ao.worlds.gridworld(edges=edges)
    stream = ao.streams.round_robin()
    agents = [learner(500) for learner in LEARNERS]
    alone, told = (ao.run(agent, models, stream, 24, seed=1) for agent in agents)
    assert 0.5 < share(alone, models, 500) < 0.8  # 0.72 and 0.63 on average
    assert share(told, models, 500) > 0.9
    assert share(told, models, 500) > share(alone, models, 500) + 0.15
    assert (alone["identification_steps"] == 0).all()
    assert (told["cluster"] == -1).all()
    assert not told["abstained"].any()
    errors = [error_of_planning(agents[1], task, world) for task, world in enumerate(models)]
    assert np.mean(errors) < alone["estimate_error"][-4:].mean()


def error_of_planning(agent, task, world):
    """The mean over all pairs of the l1 distance between what the next episode plans with and the truth; 1 for none.

    A row that other worlds share need not be visited again, so the counts of the world alone would not say it.
    """
    known = agent.kept.known[task].during(agent.learning.tally(), agent._others(task))
    planner = agent.learning.act(known, 500, streams(0, 1)[0]).planner
    total, rows = 0.0, world.transitions.reshape(-1, world.n_states)
    for pair, truth in enumerate(rows):
        places = slice(planner.starts[pair], planner.starts[pair + 1] - 1)
        weights = np.zeros(world.n_states)
        weights[planner.states[places]] = planner.counted[0, places]
        total += np.abs(weights / weights.sum() - truth).sum() if weights.any() else 1.0
    return total / len(rows)


def test_whoever_is_told_the_task_walks_along_the_edge_where_worlds_exchange_actions():
    """13 steps from the start to the goal.  One row further up it is 15, where the learner stayed once."""
    history = ao.run(
        ao.agents.OracleLearner(100, rewards="unknown"),
        ao.worlds.permuted_cliffs(),
        ao.streams.uniform(),
        episodes=900,
        seed=0,
        record=(),
    )
    assert np.median(history["learning_steps"][-150:]) == 13
    assert history["learning_steps"][-150:].mean() < 13.5


def arms(good, bad):
    """From state 0 one action leads to 1 a step, one to nothing and one, the same in all worlds, to a half."""
    table, rewards = np.zeros((4, 3, 4)), np.zeros((4, 3))
    table[1:, :, 0] = table[0, good, 1] = table[0, bad, 2] = table[0, 2, 3] = 1
    rewards[1], rewards[3] = 1.0, 0.5
    return ao.MDP(table, rewards)


@pytest.mark.parametrize(
    ("agent", "least"), [(ao.agents.OracleLearner(20), 10.0), (ao.agents.Recall(0.05, 20), 9.0)], ids=["told", "Recall"]
)
def test_an_action_that_is_bad_in_another_world_is_tried_in_this_one(agent, least):
    """Whoever knows the world earns 10; for ever as in the other world, 5 in one of them."""
    worlds = ao.ModelSet([arms(0, 1), arms(1, 0)])
    for seed in range(3):
        history = ao.run(agent, worlds, ao.streams.uniform(), episodes=200, seed=seed, record=())
        assert history.reward[-50:].mean() >= least


@pytest.mark.parametrize("learner", LEARNERS)
def test_rewards_may_be_unknown_and_noisy(learner):
    models = ao.worlds.gridworld()
    history = ao.run(learner(1000, rewards="unknown"), models, ao.streams.uniform(), 24, seed=2, noisy_rewards=True)
    assert share(history, models, 1000) > 0.6


def test_rewards_are_kept_with_the_world_that_earned_them():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    agent = ao.agents.OracleLearner(100, rewards="unknown")
    history = ao.run(agent, models, ao.streams.round_robin(), 6, seed=3)
    for world, known in agent.kept.known.items():
        visits = visits_by_pair(known.counts)
        assert visits.sum() == 300
        assert known.sums.sum() == pytest.approx(history["learning_reward"][world::2].sum())
        visited = visits > 0
        assert (known.sums / np.maximum(1, visits))[visited] == pytest.approx(models.rewards.reshape(-1)[visited])


def test_values_are_kept_and_the_next_episode_of_a_world_plans_on_from_them():
    """After an episode they are not what they were at first, and one that begins from them needs no more sweeps."""
    models = ao.worlds.gridworld()
    agent = ao.agents.OracleLearner(300)
    ao.run(agent, models, ao.streams.round_robin(), 8, seed=1)
    first = agent.learning.nothing().own["values"]
    for known in agent.kept.known.values():
        behaviour = agent.learning.act(known, 300, streams(0, 1)[0])
        assert (behaviour.planner.values[0] == known.own["values"]).all()
        assert (known.own["values"] < first).all()


def test_wider_rewards_bring_what_is_remembered_to_their_range():
    """Values of rewards times 0.1 plus 0.5 are the values times 0.1, plus 0.5 for ever."""
    models = ao.worlds.gridworld()
    agent = ao.agents.Pooled(ao.learning.Practical(), 200, rewards="unknown")
    ao.run(agent, models, ao.streams.uniform(), 3, seed=1)
    before = agent.kept.known[0].own["values"].copy()
    agent.rescale_rewards(0.1, 0.5, 0.5)
    assert agent.kept.known[0].own["values"] == pytest.approx(0.1 * before + 0.5 / (1 - 0.98))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("options", "told"), [({"horizon": 0}, "horizon must be at least 1"), ({"rewards": "x"}, "one of")]
)
def test_bad_parameters_get_one_sentence(learner, options, told):
    with pytest.raises(ValueError, match=told):
        learner(**{"horizon": 100, **options}).begin(Setting(6, 3, np.ones((6, 3)), 10))
    with pytest.raises(ValueError, match='take rewards="unknown"'):
        learner(100).begin(Setting(6, 3, None, 10))

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.lr_max import tasks_until_any_two_were_met
from aomultirl.learning.lipschitz import pair_distances
from aomultirl.setting import Setting
from by_hand import play
from counted_tasks import optimal_q, sure_worlds

SURE = ao.learning.RMax(1, discount=0.9)
"""Where nothing is left to chance one visit is enough, and estimates are exact."""
WORLDS = sure_worlds(1)
BEST = [optimal_q(world, 0.9).reshape(-1) for world in WORLDS]


def begun(episodes=50, worlds=WORLDS, horizon=60, **given):
    agent = ao.agents.LRMax(horizon, **{"failure": 0.3, "learner": SURE, **given})
    agent.begin(Setting(worlds.n_states, worlds.n_actions, worlds.rewards, episodes))
    return agent


def largest_distance(worlds, discount=0.9):
    """The largest D of any two worlds at any pair, with their exact values."""
    best = [optimal_q(world, discount).max(axis=1) for world in worlds]
    return max(
        (discount * np.abs(one.transitions - two.transitions) @ values).max()
        for one in worlds
        for two, values in zip(worlds, best, strict=True)
    )


@pytest.mark.parametrize(("rarest", "failure"), [(0.25, 0.05), (0.1, 0.3), (0.5, 0.01), (0.01, 0.1)])
def test_any_two_tasks_were_met_by_then(rarest, failure):
    """By the number of draws of three kinds, two of them of probability p_min, step by step."""
    states, n = np.array([1.0, 0.0, 0.0]), 0  # met none, one, both
    step = np.array([[1 - 2 * rarest, 2 * rarest, 0.0], [0.0, 1 - rarest, rarest], [0.0, 0.0, 1.0]])
    while states[2] < 1 - failure:
        states, n = states @ step, n + 1
    assert tasks_until_any_two_were_met(rarest, failure) == n


def test_golden_numbers_of_tasks():
    assert tasks_until_any_two_were_met(0.25, 0.05) == 13
    assert tasks_until_any_two_were_met(1.0, 0.05) == 2


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("prior", [True, False])
def test_upper_bounds_are_above_the_optimum(rewards, prior):
    """Of every task, whatever was met before, where Dmax is true or nobody says anything."""
    for seed in range(4):
        worlds = sure_worlds(seed, differing=1)
        distance = largest_distance(worlds) if prior else None
        agent = begun(worlds=worlds, distance=distance, rewards=rewards, horizon=25, remembered=4)
        for k in range(9):
            play(agent, worlds[k % 3], k % 5, k, noisy=False)
            best = optimal_q(worlds[k % 3], 0.9).reshape(-1)
            assert (agent.kept.tasks[-1].upper >= best - 2e-3).all()


def test_close_tasks_need_fewer_tries():
    """Rows differ by a thousandth at one pair: with the true Dmax fewer pairs are tried than alone; more is earned."""
    first = sure_worlds(3, count=1, n_states=6, n_actions=6)[0]
    rows = first.transitions.copy()
    rows[2, 3] = (1 - 0.001) * rows[2, 3] + 0.001 * np.eye(6)[4]
    worlds = ao.ModelSet([first, ao.MDP(rows, first.rewards)])
    distance = largest_distance(worlds)
    assert 0.0 < distance < 0.1
    agent = begun(worlds=worlds, distance=distance, horizon=60)
    alone = ao.agents.OneEpisode(SURE, 60)
    alone.begin(agent.setting)
    for k in range(3):
        tried, tried_alone = (
            {(step.state, step.action) for step in play(each, worlds[k % 2], 0, k, noisy=False)}
            for each in (agent, alone)
        )
        if k == 0:
            assert tried == tried_alone
        else:
            assert len(tried) < 0.6 * len(tried_alone)
    runs = [
        ao.run(each, worlds, ao.streams.uniform(), 12, seed=1, record=()).reward[2:].mean()
        for each in (agent, alone, ao.agents.Random(60))
    ]
    assert runs[0] > 1.1 * runs[1] > 1.1 * runs[2]


def test_equal_tasks_begin_where_the_last_one_ended():
    """With Dmax = 0 nothing can differ: U of a task is the bound of the next, before its first step."""
    world = ao.ModelSet([WORLDS[0]])
    agent = begun(worlds=world, distance=0.0, horizon=80)
    play(agent, WORLDS[0], 0, 0, noisy=False)
    learned = agent.kept.tasks[0].upper
    assert learned == pytest.approx(BEST[0], abs=0.01)
    steps = play(agent, WORLDS[0], 0, 1, noisy=False)
    assert all(BEST[0][3 * step.state + step.action] > BEST[0].reshape(5, 3)[step.state].max() - 0.02 for step in steps)


def test_a_distance_that_is_false_promises_nothing():
    worlds = sure_worlds(2, count=2, differing=6)
    agent = begun(worlds=worlds, distance=0.0, horizon=60)
    below = 0.0
    for k in range(8):
        play(agent, worlds[k % 2], k % 5, k, noisy=False)
        best = optimal_q(worlds[k % 2], 0.9).reshape(-1)
        below = max(below, (best - agent.kept.tasks[-1].upper).max())
    assert below > 0.3


@pytest.mark.parametrize("cautious", [True, False])
def test_distances_of_tasks_that_were_met_take_the_place_of_the_prior(cautious):
    agent = begun(rarest=0.4, horizon=25, cautious=cautious)
    needed = agent.findings()["tasks_to_compare"]
    assert needed == tasks_until_any_two_were_met(0.4, 0.3) == 4
    prior = agent.metric().limits
    models = []
    for k in range(needed + 2):
        assert (agent.metric().limits < prior).any() == (k >= needed)
        play(agent, WORLDS[k % 3], k % 5, k, noisy=False)
        models.append(agent._model_of(agent.kept.tasks[-1]))
    wanted, compared = np.zeros(15), np.zeros(15, int)
    for j, two in enumerate(models):
        for one in models[:j]:
            counts = np.ones(15, bool) if cautious else one.known & two.known
            far = pair_distances(one, two, agent.metric()._replace(limits=prior)).max(axis=0)
            wanted = np.where(counts, np.maximum(wanted, far), wanted)
            compared += counts
    assert agent.kept.widest == pytest.approx(wanted)
    assert (agent.kept.compared == compared).all()
    assert agent.metric().limits == pytest.approx(np.where(compared > 0, np.minimum(prior, wanted), prior))
    assert agent.findings()["pairs_with_smaller_distance"] == (agent.metric().limits < prior).sum() > 0


def test_found_distances_are_above_the_true_ones_where_all_tasks_were_met():
    agent = begun(rarest=0.4, horizon=40)
    for k in range(6):
        play(agent, WORLDS[k % 3], k % 5, k, noisy=False)
    values = [best.reshape(5, 3).max(axis=1) for best in BEST]
    for one in WORLDS:
        for two, weights in zip(WORLDS, values, strict=True):
            far = 0.9 * np.abs(one.transitions - two.transitions) @ weights
            assert (agent.metric().limits >= far.reshape(-1) - 1e-3).all()


def test_the_oldest_task_is_forgotten():
    agent = begun(remembered=2, horizon=10)
    tables = []
    for k in range(4):
        play(agent, WORLDS[0], 0, k, noisy=False)
        tables.append(agent.kept.tasks[-1])
        assert [id(task) for task in agent.kept.tasks] == [id(task) for task in tables[-2:]]
    assert len(agent._models) == 2
    assert agent.kept.met == 4


def test_the_accuracy_of_the_learner_is_the_error_of_the_metric():
    exact = begun().metric()
    assert (exact.error, exact.reward_error) == (0.0, 0.0)
    learner = ao.learning.RMax(accuracy=0.5, discount=0.9)
    for rewards, of_rewards in (("known", 0.0), ("unknown", 0.5)):
        metric = begun(learner=learner, rewards=rewards).metric()
        assert (metric.error, metric.reward_error) == (0.5, of_rewards)
    assert begun(rewards="unknown").metric().limits == pytest.approx(np.full(15, 1.9 / 0.1))


def test_episodes_that_end_are_remembered_with_their_end():
    models = ao.ModelSet([ao.MDP(WORLDS[0].transitions, WORLDS[0].rewards, terminal=[4], rest=0.25)])
    agent = ao.agents.LRMax(60, failure=0.3, learner=SURE, distance=0.0)
    agent.begin(Setting(5, 3, models.rewards, 50, rest=0.25))
    best = optimal_q(models[0], 0.9).reshape(-1)
    for k in range(6):
        play(agent, models[0], k % 4, k, noisy=False)
        assert (agent.kept.tasks[-1].upper >= best - 2e-3).all()
    assert agent.kept.tasks[-1].upper[12:] == pytest.approx(np.full(3, 2.5))


def test_wider_rewards_empty_the_memory():
    agent = begun(rewards="unknown", rarest=0.4)
    for k in range(6):
        play(agent, WORLDS[k % 3], 0, k, noisy=False)
    agent.rescale_rewards(0.5, 0.25, 0.25)
    found = agent.findings()
    assert (found["tasks_remembered"], found["pairs_with_smaller_distance"]) == (0, 0)
    play(agent, WORLDS[0], 0, 7, noisy=False)
    assert agent.findings()["tasks_remembered"] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rarest": 0.0}, "rarest must be above 0"),
        ({"rarest": 0.1}, "remembered is 10, but 18 tasks must be compared for rarest = 0.1"),
        ({"distance": -1.0}, "distance must be at least 0"),
        ({"remembered": 0}, "remembered must be at least 1"),
        ({"remembered": 10**15, "episodes": 10**15}, "remembered is 1000000000000000: a memory of"),
        ({"failure": None}, "failure must be a number"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"cautious": "no"}, "cautious must be True or False"),
        ({"learner": ao.learning.PSRL()}, r"learner is PSRL.*, not ao.learning.RMax\(...\)"),
    ],
)
def test_bad_input_gets_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        begun(**given)


def test_a_file_with_more_tasks_than_are_remembered_is_refused():
    agent = begun(remembered=3, horizon=10)
    for k in range(3):
        play(agent, WORLDS[0], 0, k, noisy=False)
    small = begun(remembered=2, horizon=10)
    with pytest.raises(ValueError, match=r"memory.tasks has 3 entries, but at most 2 are remembered"):
        small.restore(agent.kept)

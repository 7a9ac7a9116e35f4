import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.max_q_init import tasks_until_each_was_met
from aomultirl.setting import Setting
from by_hand import play
from counted_tasks import optimal_q, sure_worlds

SURE = ao.learning.RMax(1, discount=0.9)
"""Where nothing is left to chance one visit is enough, and estimates are exact."""
WORLDS = sure_worlds(1)
BEST = [optimal_q(world, 0.9).reshape(-1) for world in WORLDS]


def begun(rarest=0.4, episodes=50, worlds=WORLDS, horizon=60, **given):
    agent = ao.agents.MaxQInit(horizon, rarest, **{"failure": 0.3, "learner": SURE, **given})
    agent.begin(Setting(worlds.n_states, worlds.n_actions, worlds.rewards, episodes))
    return agent


def test_first_tasks_of_the_formula():
    assert tasks_until_each_was_met(0.25, 0.05) == 11
    assert tasks_until_each_was_met(1 / 7, 0.1) == 15
    assert tasks_until_each_was_met(1.0, 0.1) == 1
    for rarest in (0.1, 0.3, 0.9):
        first = tasks_until_each_was_met(rarest, 0.05)
        assert (1 - rarest) ** first <= 0.05 < (1 - rarest) ** (first - 1)


def test_each_task_is_among_the_first_often_enough():
    """4,000 streams of the rarest task: it is missing in at most d of them, up to 5 standard deviations."""
    rng = np.random.default_rng(0)
    first = tasks_until_each_was_met(0.25, 0.05)
    missing = (rng.random((4000, first)) >= 0.25).all(axis=1).mean()
    assert missing <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize("rewards", ["known", "unknown"])
def test_bounds_are_above_the_optimum_of_every_task_that_was_met(rewards):
    """And below Vmax, so that something is transferred; before t0 tasks they are Vmax."""
    agent = begun(rewards=rewards)
    first = agent.findings()["first_tasks"]
    assert first == 3
    for k in range(8):
        bounds = agent.bounds()
        if k < first:
            assert bounds == pytest.approx(np.full(15, agent.learning.vmax))
        else:
            assert all((bounds >= best - 1e-3).all() for best in BEST)
            assert bounds.max() < 0.95 * agent.learning.vmax
        play(agent, WORLDS[k % 3], k % 5, k, noisy=False)
    assert agent.findings() == {"first_tasks": 3, "pairs_with_bounds": 15}


def test_exact_values_in_memory_are_the_bounds():
    agent = begun()
    agent.kept.tasks, agent.kept.known[:] = 3, 1
    agent.kept.largest = np.max(BEST, axis=0)
    assert agent.bounds() == pytest.approx(np.max(BEST, axis=0))
    agent.kept.largest = np.full(15, 1e6)
    assert agent.bounds() == pytest.approx(np.full(15, agent.learning.vmax))


@pytest.mark.parametrize("cautious", [True, False])
def test_memory_is_that_of_a_slow_twin(cautious):
    """The maximum over lists of all that was known, in episodes too short to know every pair."""
    agent = begun(horizon=12, cautious=cautious)
    tables, vmax = [], agent.learning.vmax
    for k in range(9):
        bounds = agent.bounds()
        wanted = np.full(15, vmax)
        for pair in range(15):
            values = [table[pair] for table in tables if pair in table]
            in_all = all(pair in table for table in tables[:3])
            if k >= 3 and values and (in_all or not cautious):
                wanted[pair] = min(vmax, max(values))
        assert bounds == pytest.approx(wanted)
        steps = play(agent, WORLDS[k % 3], k % 5, k, noisy=False)
        tables.append(slow_upper(steps, bounds, agent))
    known = [all(pair in table for table in tables[:3]) for pair in range(15)]
    assert agent.findings()["pairs_with_bounds"] == (sum(known) if cautious else 15)


def slow_upper(steps, bounds, agent):
    """{pair: U} of the pairs that were tried, where one visit tells all."""
    seen = {3 * step.state + step.action: (step.reward, step.successor) for step in steps}
    q = bounds.copy()
    for _ in range(400):
        values = q.reshape(5, 3).max(axis=1)
        for pair, (reward, successor) in seen.items():
            q[pair] = reward + agent.learning.discount * values[successor]
    return {pair: q[pair] for pair in seen}


@pytest.mark.parametrize("cautious", [True, False])
def test_a_task_that_was_held_back_may_be_lost(cautious):
    """Under an adversary nothing is promised: a way that led nowhere in the first tasks is not tried in the next."""
    rows = np.zeros((2, 4, 2, 4))
    for world, leads in enumerate((0, 3)):
        rows[world, :, :, 0] = 1.0
        rows[world, 0, 1] = np.eye(4)[1]
        rows[world, 1, 1] = np.eye(4)[leads]
        rows[world, 3, 0] = rows[world, 3, 1] = np.eye(4)[3]
    rewards = np.zeros((4, 2))
    rewards[0, 0], rewards[3] = 0.3, 1.0
    poor, rich = worlds = ao.ModelSet([ao.MDP(each, rewards) for each in rows])
    agent = begun(worlds=worlds, horizon=40, cautious=cautious)
    for k in range(3):
        play(agent, poor, 0, k, noisy=False)
    best = optimal_q(rich, 0.9).reshape(-1)
    assert (agent.bounds() < best - 1.0).any()
    lost = sum(step.reward for step in play(agent, rich, 0, 3, noisy=False))
    alone = ao.agents.OneEpisode(SURE, 40)
    alone.begin(Setting(4, 2, rewards, 1))
    assert sum(step.reward for step in play(alone, rich, 0, 3, noisy=False)) > 2 * lost


def test_memory_is_worth_something():
    """In worlds with many actions that are good in none, more is earned than by R-Max alone, and than at random."""
    worlds = sure_worlds(5, count=2, n_states=8, n_actions=12, differing=3)
    earned = {}
    for name, agent in {
        "memory": ao.agents.MaxQInit(150, 0.5, failure=0.1, learner=SURE),
        "alone": ao.agents.OneEpisode(SURE, 150),
        "random": ao.agents.Random(150),
    }.items():
        earned[name] = ao.run(agent, worlds, ao.streams.uniform(), 30, seed=2, record=()).reward[10:].mean()
    assert earned["memory"] > 1.1 * earned["alone"] > 1.1 * earned["random"]


def test_wider_rewards_empty_the_memory():
    agent = begun(rewards="unknown")
    for k in range(5):
        play(agent, WORLDS[k % 3], 0, k, noisy=False)
    assert agent.findings()["pairs_with_bounds"] == 15
    agent.rescale_rewards(0.5, 0.25, 0.25)
    assert agent.findings()["pairs_with_bounds"] == 0
    assert (agent.bounds() == agent.learning.vmax).all()
    assert agent.kept.tasks == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rarest": 0.0}, "rarest must be above 0"),
        ({"rarest": 1.5}, "rarest must be at most 1"),
        ({"failure": None}, "failure must be a number"),
        ({"failure": 1.0}, "failure must be below 1"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"cautious": 1}, "cautious must be True or False"),
        ({"rewards": "some"}, "rewards must be one of"),
        ({"learner": ao.learning.UCBVI()}, r"learner is UCBVI.*, not ao.learning.RMax\(...\)"),
        ({"learner": ao.learning.RMax(0)}, "enough must be at least 1"),
    ],
)
def test_bad_input_gets_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        begun(**given)

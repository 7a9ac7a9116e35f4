import numpy as np
import pytest

import aomultirl as ao
from aomultirl.learning.arm_models import pull_arms
from aomultirl.setting import Setting
from slow_bandits import Arms

MEANS = np.array([[0.9, 0.5, 0.1, 0.2], [0.1, 0.5, 0.2, 0.8], [0.2, 0.1, 0.7, 0.3]])
MODELS = ao.worlds.bandits(MEANS)
PULLS = 150


def lost(agent, episodes, seed=1):
    """The regret of every task; a task's own luck has a deviation of about 5."""
    history = ao.run(agent, MODELS, ao.streams.uniform(), episodes, seed)
    return (PULLS - 1) * MEANS.max(axis=1)[history["task"]] - history["learning_reward"]


def nearest(found, means):
    """For every model, how far the nearest one found is off at most."""
    return np.array([np.abs(np.array(found) - mean).max(axis=1).min() for mean in means])


def test_contract():
    ao.check_agent(ao.agents.TUCB(40, 2, views=2), ao.worlds.bandits(MEANS[:2]))
    ao.check_agent(ao.agents.TUCB(40, 4, failure=0.1, scale=0.0), MODELS)


def test_regret_of_a_task_goes_from_that_of_ucb_towards_that_of_mucb():
    """With a scale at which models are believed late.  The deviations are below 0.7, and the distances beyond 3."""
    ucb = lost(ao.agents.UMUCB(PULLS, MEANS, 100.0), 400).mean()
    known = lost(ao.agents.MUCB(PULLS, MEANS), 400).mean()
    agent = ao.agents.TUCB(PULLS, 3, scale=0.5)
    learned = lost(agent, 1000)
    first, last = learned[:60].mean(), learned[-400:].mean()
    assert known - 1.0 < last < (ucb + known) / 2.0
    assert last < first - 3.0
    assert nearest(agent.findings()["means"], MEANS).max() < 0.1
    assert sum(agent.findings()["weights"]) == pytest.approx(1.0, abs=0.1)


def test_the_first_task_is_played_by_ucb():
    """After the first pulls, with an infinite accuracy: every pull is one of those with the greatest index."""
    agent = ao.agents.TUCB(60, 3, failure=0.2)
    agent.begin(Setting(1, 4, None, 5))
    game, env = agent.play(0, n_states=1, n_actions=4), Arms(MEANS[0])
    env.reset(seed=0)
    pulls, paid = np.zeros(4), np.zeros(4)
    for step in range(60):
        arm = game.act()
        if step < 12:
            assert arm == step % 4
        else:
            index = paid / pulls + np.sqrt(np.log(60**2 / 0.2) / (2 * pulls))
            assert index[arm] == pytest.approx(index.max())
        reward = env.step(arm)[1]
        game.observe(state=0, reward=reward, terminated=False)
        pulls[arm] += 1
        paid[arm] += reward
    assert agent.kept.tasks == 1


def test_views_are_the_first_pulls_and_moments_their_sums():
    agent = ao.agents.TUCB(30, 2, views=2)
    agent.begin(Setting(1, 3, None, 5))
    rewards = np.random.default_rng(0).random((2, 30))
    for task in range(2):
        game = agent.play(0, n_states=1, n_actions=3) if task == 0 else agent.play(0)
        for reward in rewards[task]:
            game.act()
            game.observe(state=0, reward=float(reward), terminated=False)
    rounds = rewards[:, :18].reshape(2, 6, 3)
    views = np.stack([rounds[:, [v, v + 3]].mean(axis=1) for v in range(3)], axis=1)
    second = third = 0.0
    for one, two, three in views:
        second = second + (np.outer(one, two) + np.outer(two, three) + np.outer(one, three)) / 3
        orders = ((one, two, three), (one, three, two), (two, one, three))
        orders += ((two, three, one), (three, one, two), (three, two, one))
        third = third + sum(np.einsum("i,j,k", *order) for order in orders) / 6
    assert agent.kept.tasks == 2
    assert agent.kept.first == pytest.approx(views.mean(axis=1).sum(axis=0))
    assert agent.kept.second == pytest.approx((second + second.T) / 2)
    assert agent.kept.third == pytest.approx(third)


def test_exact_moments_are_exact_models():
    agent = ao.agents.TUCB(PULLS, 3)
    agent.begin(Setting(2, 4, MODELS.rewards, 10))
    for mean in MEANS:
        behaviour = pull_arms(2, MEANS, 0.0, 1.0, 3)
        behaviour.pulls[:], behaviour.views[:] = 3, mean
        agent._remember(behaviour)
    found = agent.findings()
    assert nearest(found["means"], MEANS).max() < 1e-8
    assert found["weights"] == pytest.approx([1 / 3] * 3, abs=1e-8)
    assert found["accuracy"] == pytest.approx(0.1 * 4 * np.sqrt(np.log(4 * PULLS) / 3))


@pytest.mark.parametrize(("views", "scale", "tasks"), [(1, 0.1, 5), (3, 0.5, 2)])
def test_the_accuracy_falls_with_the_root_of_views_and_tasks(views, scale, tasks):
    agent = ao.agents.TUCB(PULLS, 2, views=views, scale=scale, failure=0.2)
    agent.begin(Setting(2, 4, MODELS.rewards, 10))
    for mean in MEANS[np.arange(tasks) % 2]:
        behaviour = pull_arms(2, MEANS, 0.0, 1.0, 3 * views)
        behaviour.pulls[:], behaviour.views[:] = 3 * views, views * mean
        agent._remember(behaviour)
    assert agent.findings()["accuracy"] == pytest.approx(scale * 4 * np.sqrt(np.log(4 / 0.2) / (views * tasks)))


def test_moments_follow_rewards_that_are_shown_otherwise():
    agent, other = ao.agents.TUCB(PULLS, 3), ao.agents.TUCB(PULLS, 3)
    rng = np.random.default_rng(2)
    for one in (agent, other):
        one.begin(Setting(1, 4, None, 10))
    for _ in range(4):
        views = rng.random((3, 4))
        for one, shown in ((agent, views), (other, 0.25 * views + 0.5)):
            behaviour = pull_arms(1, MEANS, 0.0, 1.0, 3)
            behaviour.pulls[:], behaviour.views[:] = 3, shown
            one._remember(behaviour)
    agent.rescale_rewards(0.25, 0.5, 0.0)
    for name in ("first", "second", "third"):
        assert getattr(agent.kept, name) == pytest.approx(getattr(other.kept, name))


def test_a_task_that_ends_during_the_first_pulls_adds_nothing():
    agent = ao.agents.TUCB(40, 2)
    ao.interact(agent, lambda k: Arms(MEANS[0]), 3, horizon=8)
    assert agent.findings() == {
        "pulls": 0, "without_a_model": 0, "tasks": 0, "means": [], "weights": [], "accuracy": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (ao.agents.TUCB(40, 5), "models must be between 1 and 4, not 5"),
        (ao.agents.TUCB(11, 2), "horizon is 11, but three views of 4 arms take 12 pulls with views=1"),
        (ao.agents.TUCB(40, 2, views=0), "views must be at least 1, not 0"),
        (ao.agents.TUCB(40, 2, scale=-1.0), "scale must be at least 0, not -1"),
    ],
)
def test_bad_input(agent, message):
    with pytest.raises(ValueError, match=message):
        ao.run(agent, MODELS, ao.streams.uniform(), episodes=1)


def test_a_memory_that_cannot_be_is_refused():
    agent = ao.agents.TUCB(40, 2)
    agent.begin(Setting(2, 4, MODELS.rewards, 10))
    kept = agent.kept
    kept.second[0, 0] = 2.0
    agent.begin(Setting(2, 4, MODELS.rewards, 10))
    with pytest.raises(ValueError, match=r"memory.second must be within \[0, 0\]"):
        agent.restore(kept)

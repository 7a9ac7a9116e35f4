import math

import gymnasium
import numpy as np
import pytest

import aomultirl as ao
from aomultirl.setting import Setting
from slow_bandits import Arms, slow_choices

MEANS = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.7], [0.3, 0.8, 0.6]]
MODELS = ao.worlds.bandits(MEANS)
UNEQUAL = ao.ModelSet([ao.MDP(np.full((2, 2, 2), 0.5), [[0.0, 0.0], [1.0, 0.5]])])
UCB = 100.0
"""An accuracy with which models say nothing."""


def regrets(agent, episodes=150, seed=1, models=MODELS):
    """The mean regret of a task, by the value of the arms that were pulled."""
    means = [world.transitions[0, :, 1] for world in models]
    agent.begin(Setting(models.n_states, models.n_actions, models.rewards, episodes))
    lost = []
    history = ao.run(agent, models, ao.streams.round_robin(), episodes, seed)
    for task, reward in zip(history["task"], history["learning_reward"], strict=True):
        lost.append((agent.horizon - 1) * means[task].max() - reward)
    return np.array(lost)


@pytest.mark.parametrize("agent", [ao.agents.MUCB(60, MEANS), ao.agents.UMUCB(60, MEANS, 0.05)])
def test_contract(agent):
    ao.check_agent(agent, MODELS)


@pytest.mark.parametrize("means", [[[0.2, 0.9, 0.4]], [[0.2, 0.9, 0.4]] * 3])
def test_one_model_costs_nothing(means):
    agent = ao.agents.MUCB(300, means)
    history = ao.run(agent, ao.worlds.bandits(means), ao.streams.uniform(), episodes=20)
    counts = agent.findings()
    assert counts == {"pulls": 6000, "without_a_model": 0}
    assert (history["evaluation_value"] >= 299 * 0.9 - 1e-9).all()
    only_best = [history["learning_reward"].mean(), 299 * 0.9]
    assert only_best[0] == pytest.approx(only_best[1], abs=5 * math.sqrt(299 * 0.09 / 20))


class SlowBandit:
    """Pulls again what an agent pulled, and says what umUCB allows at every pull."""

    def __init__(self, means, accuracy, pulls, failure):
        self.means, self.accuracy = means, accuracy
        self.logarithm = math.log(len(means) * pulls**2 / failure)
        self.pulls, self.paid = [0] * len(means[0]), [0.0] * len(means[0])

    def allowed(self):
        return slow_choices(self.means, self.accuracy, self.logarithm, self.pulls, self.paid)

    def observe(self, arm, payoff):
        self.pulls[arm] += 1
        self.paid[arm] += payoff


@pytest.mark.parametrize("accuracy", [0.0, 0.1, UCB])
@pytest.mark.parametrize("true", [MEANS[1], [0.05, 0.1, 0.05]], ids=["a model", "none of the models"])
def test_every_pull_is_one_that_the_slow_twin_allows(accuracy, true):
    """In an environment with one state; where no model is true, some pulls are UCB's."""
    agent, empty = ao.agents.UMUCB(120, MEANS, accuracy, failure=0.3), 0
    env = Arms(true)
    for episode in range(10):
        slow = SlowBandit(MEANS, accuracy, 120, 0.3)
        env.reset(seed=episode)
        game = agent.play(0, n_states=1, n_actions=3) if episode == 0 else agent.play(0)
        while not game.over:
            allowed, nothing = slow.allowed()
            arm = game.act()
            assert arm in allowed
            empty += nothing
            reward = env.step(arm)[1]
            game.observe(state=0, reward=reward, terminated=False)
            slow.observe(arm, reward)
    assert agent.findings() == {"pulls": 1200, "without_a_model": empty}
    assert (empty > 100) == (true not in MEANS and accuracy < 1.0)


def test_models_are_worth_something_also_if_nearly_known():
    """The means of 150 tasks have a deviation of about 0.8."""
    exact, nearly, none = (
        regrets(agent).mean()
        for agent in (ao.agents.MUCB(400, MEANS), ao.agents.UMUCB(400, MEANS, 0.15), ao.agents.UMUCB(400, MEANS, UCB))
    )
    assert max(exact, nearly) < none - 5.0


def test_the_regret_of_mucb_is_within_its_bound():
    """An expectation; the mean of 100 tasks has a deviation below 2, so a false alarm is out of the question."""
    pulls, lost = 500, regrets(ao.agents.MUCB(500, MEANS), 300)
    for task, true in enumerate(MEANS):
        bound = float(len(true))
        for arm in range(3):
            rivals = [t for t in MEANS if max(t) >= max(true) and int(np.argmax(t)) == arm and t is not true]
            gap = max(true) - true[arm]
            if rivals and gap > 0.0:
                bound += 2 * gap * math.log(3 * pulls**3) / min(abs(t[arm] - true[arm]) for t in rivals) ** 2
        assert lost[task::3].mean() < bound
    assert lost[0::3].mean() < 2.0  # the first model promises most: nothing is tried beside its best arm


def test_wrong_means_are_noticed_and_ucb_takes_over():
    wrong = ao.agents.MUCB(400, [[0.1, 0.1, 0.9], [0.9, 0.1, 0.9]], failure=0.1)
    lost = regrets(wrong, models=ao.worlds.bandits([[0.1, 0.9, 0.1]])).mean()
    assert lost < 60.0  # a wrong arm for all of the task would cost 320
    assert wrong.findings()["without_a_model"] > 0.5 * wrong.findings()["pulls"]


def test_both_drivers_and_hidden_worlds():
    agent = ao.agents.MUCB(100, MEANS)
    env = gymnasium.make("aomultirl/Bandits-v0", means=MEANS)
    history = ao.interact(agent, env, 30, seed=3)
    inside = ao.run(ao.agents.MUCB(100, MEANS), MODELS, ao.streams.uniform(), 300, seed=3)
    assert history["learning_reward"].mean() == pytest.approx(inside["learning_reward"].mean(), abs=8.0)


def test_a_range_that_widens_keeps_the_means_right():
    """Payoffs of 0 and 4: after the first episode all is shown as a quarter, the means and the accuracy too."""
    agent = ao.agents.UMUCB(50, MEANS, 0.02)
    with pytest.warns(UserWarning, match="from now on"):
        ao.interact(agent, lambda k: Arms(MEANS[k % 3], 4.0), 3, reward_range="learn")
    assert agent.kept.scale == pytest.approx(0.25)
    means, accuracy = agent._models()
    assert means == pytest.approx(0.25 * np.array(MEANS))
    assert accuracy == pytest.approx(0.005)


def test_in_two_states_a_range_that_widens_changes_nothing():
    agent = ao.agents.MUCB(50, MEANS)
    agent.begin(Setting(2, 3, MODELS.rewards, 10))
    agent.rescale_rewards(0.5, 0.25, 0.25)
    assert agent._models()[0] == pytest.approx(np.array(MEANS))


@pytest.mark.parametrize(
    ("agent", "models", "message"),
    [
        (
            ao.agents.MUCB(10, MEANS),
            ao.worlds.gridworld(),
            "n_states is 16, but MUCB is for bandits: one state, or two as ao.worlds.bandits has them",
        ),
        (ao.agents.MUCB(10, [[0.5, 0.5]]), UNEQUAL, "of two states, state 1 must pay more, whatever the arm"),
        (ao.agents.MUCB(10, [[0.5, 0.5]]), MODELS, "means has 2 arms, but there are 3 actions"),
        (ao.agents.MUCB(10, [[0.5, 2.0]]), MODELS, r"means\[0, 1\] is 2, outside \[0, 1\]"),
        (ao.agents.MUCB(0, MEANS), MODELS, "horizon must be at least 1, not 0"),
        (ao.agents.MUCB(10, MEANS, failure=1.0), MODELS, "failure must be below 1, not 1"),
        (ao.agents.UMUCB(10, MEANS, -0.1), MODELS, "accuracy must be at least 0, not -0.1"),
    ],
)
def test_bad_input(agent, models, message):
    with pytest.raises(ValueError, match=message):
        ao.run(agent, models, ao.streams.uniform(), episodes=1)


def test_rewards_outside_the_range_are_refused():
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        ao.interact(ao.agents.MUCB(20, MEANS), lambda k: Arms(MEANS[0], 4.0), 1)

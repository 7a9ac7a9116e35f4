"""Episodes that end: worlds with terminal states, what agents are told of them, and what regret makes of them."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import generate_random_map
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl import cli
from aomultirl.agents import saving
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.learning.greedy import iterate
from aomultirl.learning.ucbvi import estimate
from strategies import dense_worlds

HOLE, GOAL = 2, 3
LONG = pytest.mark.long


def toy():
    """0 -a1-> 1 -a1-> goal, which pays 1; anything else is a hole."""
    transitions = np.zeros((4, 2, 4))
    transitions[0, 1, 1] = transitions[1, 1, GOAL] = 1.0
    transitions[0, 0, HOLE] = transitions[1, 0, HOLE] = 1.0
    transitions[HOLE:, :, 0] = 1.0  # what is said of terminal states does not matter
    rewards = np.zeros((4, 2))
    rewards[1, 1] = 1.0
    return ao.ModelSet([ao.MDP(transitions, rewards, terminal=[HOLE, GOAL])])


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize(
    "agent",
    [
        lambda rewards: ao.agents.Recall(0.01, 20, rewards=rewards),
        lambda rewards: ao.agents.Pooled(ao.learning.Practical(), 20, rewards=rewards),
        lambda rewards: ao.agents.Told(ao.learning.Practical(), 20, rewards=rewards),
        lambda rewards: ao.agents.Pooled(ao.learning.UCRL2(bonus_scale=0.01), 20, rewards=rewards),
        lambda rewards: ao.agents.Pooled(ao.learning.QLearning(), 20, rewards=rewards),
        lambda rewards: ao.agents.Told(ao.learning.PSRL(), 20, rewards=rewards),
        lambda rewards: ao.agents.Told(ao.learning.RMax(1), 20, rewards=rewards),
    ],
    ids=["Recall", "Pooled", "Told", "UCRL2", "QLearning", "PSRL", "RMax"],
)
@pytest.mark.parametrize(("episodes", "seed"), [(100, 0), *(pytest.param(300, k, marks=LONG) for k in range(3))])
def test_nearly_every_episode_of_the_toy_succeeds(agent, rewards, episodes, seed):
    history = ao.run(agent(rewards), toy(), ao.streams.uniform(), episodes=episodes, seed=seed)
    assert history["learning_reward"].sum() >= episodes - 10
    assert (history["learning_steps"] <= 2).all()


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize(("episodes", "seed"), [(100, 0), *(pytest.param(300, k, marks=LONG) for k in range(3))])
def test_a_mixture_succeeds_but_where_it_tries_a_new_world(rewards, episodes, seed):
    """After k episodes it does with probability 1 / (k + 1): ln 300, about 6 of 300, and two lives for each."""
    history = ao.run(ao.agents.MixtureOfMDPs(20, rewards=rewards), toy(), ao.streams.uniform(), episodes, seed=seed)
    assert history["learning_reward"].sum() >= episodes - 2 * round(np.log(episodes)) - 10


@pytest.mark.parametrize(
    "learner",
    [ao.learning.QLearning(), pytest.param(ao.learning.PSRL(), marks=LONG)],
    ids=lambda each: type(each).__name__,
)
def test_plain_learners_cross_the_large_lake(learner):
    """Nine lives in ten of a thousand, the first ones included; 95 and 93 % on average."""
    lake = ao.worlds.from_gymnasium(gym.make("FrozenLake-v1", map_name="8x8", is_slippery=False), terminal="end")
    agent = ao.agents.Pooled(learner, 100, rewards="unknown")
    history = ao.run(agent, lake, ao.streams.uniform(), episodes=1000, seed=0)
    assert history.reward.mean() > 0.9


def test_a_terminal_state_keeps_itself_and_earns_nothing():
    world = toy()[0]
    assert (world.transitions[HOLE:] == np.eye(4)[HOLE:, None]).all()
    assert not world.rewards[HOLE:].any()
    assert world.terminal.tolist() == [False, False, True, True]
    assert world.optimal_values(5)[0].tolist() == [1.0, 1.0, 0.0, 0.0]
    walk = world.rollout([1, 1, 0, 0], 10)
    assert (walk.state, walk.reward, walk.counts.ends) == (GOAL, 1.0, {GOAL: 1})
    assert walk.counts.to_lists()[2].sum() == 2  # nothing happens after the end


@settings(deadline=None, max_examples=60)
@given(dense_worlds(max_states=5), st.integers(1, 12), st.floats(0.0, 1.0), st.data())
def test_values_are_those_of_slow_backward_induction(dense, horizon, rest, data):
    transitions, rewards, *_ = dense
    n_states = len(rewards)
    terminal = data.draw(st.sets(st.integers(1, n_states - 1))) if n_states > 1 else set()
    world = ao.MDP(transitions, rewards, terminal=sorted(terminal), rest=rest)
    values = np.zeros(n_states)
    for left in range(1, horizon + 1):
        best = (rewards + transitions @ values).max(axis=1)
        values = np.array([left * rest if s in terminal else best[s] for s in range(n_states)])
    assert world.optimal_values(horizon)[0] == pytest.approx(values)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"terminal": [4]}, r"terminal\[0\] must be between 0 and 3, not 4"),
        ({"terminal": [True, False]}, r"terminal is \[True, False\], neither a mask of shape \(4,\) nor states"),
        ({"terminal": 3}, "terminal is 3, neither a mask"),
        ({"terminal": [0]}, "start includes state 0, which is terminal: the episode would be over at once"),
        ({"rest": 1.5}, "rest must be"),
    ],
)
def test_what_no_world_can_have(wrong, message):
    with pytest.raises(ValueError, match=message):
        ao.MDP(toy()[0].transitions, toy()[0].rewards, **wrong)


def test_worlds_share_the_rewards_of_states_that_are_terminal_in_some():
    rewards = np.array([[0.0], [0.5], [0.25]])
    one, two = (ao.MDP(np.ones((3, 1, 3)) / 3, rewards, terminal=[last]) for last in (1, 2))
    models = ao.ModelSet([one, two])
    assert models.rewards.tolist() == rewards.tolist()
    other = ao.MDP(np.ones((3, 1, 3)) / 3, rewards + 0.25, terminal=[2])
    with pytest.raises(ValueError, match=r"models\[1\].rewards\[0, 0\] is 0.25, that of models\[0\] is 0"):
        ao.ModelSet([one, other])
    with pytest.raises(ValueError, match=r"models\[1\].rest is 0.5, models\[0\].rest is 0"):
        ao.ModelSet([one, ao.MDP(np.ones((3, 1, 3)) / 3, rewards, terminal=[2], rest=0.5)])


def test_regret_counts_the_steps_that_a_hole_cost():
    """A hole at the first step costs the whole of what the goal pays, not the nothing that one step could have."""
    history = ao.run(ao.agents.Random(20), toy(), ao.streams.uniform(), episodes=400, seed=1)
    assert history["regret"] == pytest.approx(np.full(400, 0.75))  # exact: the plan succeeds in one of four
    history = ao.run(ao.agents.Pooled(ao.learning.Practical(), 20), toy(), ao.streams.uniform(), episodes=50)
    assert history["regret"] == pytest.approx(1.0 - history["learning_reward"])
    assert history["learning_regret"] == pytest.approx(history["regret"])
    history = ao.run(ao.agents.Optimal(20), toy(), ao.streams.uniform(), episodes=5)
    assert history["regret"] == pytest.approx(np.zeros(5))


def test_where_rewards_were_moved_the_rest_is_worth_what_nothing_is():
    """Every step on the cliff costs; once the goal is reached nothing costs any more, and the agent goes there."""
    cliff = ao.worlds.from_gymnasium("CliffWalking-v1", terminal="end", rescale=True)
    assert cliff.rest == 1.0
    assert 100.0 * (cliff[0].first_values(50)[36] - 50.0) == pytest.approx(-13.0)
    history = ao.run(ao.agents.OracleLearner(50), cliff, ao.streams.uniform(), episodes=40)
    assert (history["learning_steps"][-10:] == 13).all()
    assert history["regret"][-10:] == pytest.approx(np.zeros(10), abs=1e-9)


def test_gymnasium_worlds_that_end_have_the_values_of_those_that_absorb():
    maps = [generate_random_map(4, seed=seed) for seed in (1, 2, 3)]
    envs = [gym.make("FrozenLake-v1", desc=each, is_slippery=True) for each in maps]
    end, absorb = (ao.worlds.from_gymnasium(envs, terminal=kind, rewards="arrival") for kind in ("end", "absorb"))
    for one, other in zip(end, absorb, strict=True):
        assert one.first_values(30) == pytest.approx(other.first_values(30))
    assert end.separation() == absorb.separation()
    assert [world.terminal.sum() for world in end] == [1, 1, 1]
    alone = ao.worlds.from_gymnasium(envs[0], terminal="end")
    assert alone[0].terminal.tolist() == [cell in "GH" for row in maps[0] for cell in row]


def going_on_slowly(visits, ends):
    acted = visits.sum(axis=(1, 2))
    return [acted[s] / (acted[s] + ends[s]) if s in ends else 1.0 for s in range(len(visits))]


@st.composite
def counted(draw):
    """(visits (S, A, S), rewards (S, A), ends by state)."""
    n_states, n_actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    visits = rng.integers(0, 6, (n_states, n_actions, n_states)) * (rng.random((n_states, n_actions, n_states)) < 0.5)
    ends = {s: int(rng.integers(1, 5)) for s in range(n_states) if rng.random() < 0.4}
    visits[[s for s in ends if rng.random() < 0.7]] = 0
    return visits, rng.random((n_states, n_actions)), ends


def table_of(visits, ends):
    table = CountTable(visits.shape[0] * visits.shape[1])
    for s, a, s2 in np.argwhere(visits).tolist():
        table.count(s * visits.shape[1] + a, s2, int(visits[s, a, s2]))
    for state, times in ends.items():
        table.end(state, times)
    return table


@settings(deadline=None, max_examples=60)
@given(counted(), st.floats(0.0, 1.0), st.integers(1, 8))
def test_learners_plan_with_ends_as_slow_planning_does(sample, rest, horizon):
    visits, rewards, ends = sample
    table, n_states = table_of(visits, ends), len(visits)
    share = np.array(going_on_slowly(visits, ends))
    assert table.going_on(n_states) == pytest.approx(share)
    model = visits / np.maximum(visits.sum(axis=2, keepdims=True), 1)

    discounted = np.zeros(n_states)
    for _ in range(200):
        for s in range(n_states):
            discounted[s] = share[s] * (rewards[s] + 0.9 * model[s] @ discounted).max() + (1 - share[s]) * rest / 0.1
    plan = iterate(*table.to_lists(), rewards, table.going_on(n_states), rest, 0.9, 200)
    q = rewards + 0.9 * model @ discounted
    assert q[np.arange(n_states), plan] == pytest.approx(q.max(axis=1), abs=1e-6)

    setting = ao.agents.Setting(n_states, rewards.shape[1], rewards, 1, rest=rest)
    learning = ao.learning.UCBVI().begin(setting, horizon, ao.learning.Share(0.1, 1, 1, horizon))
    plan = learning.greedy(estimate(n_states, table), rewards, horizon, streams(0, 1)[0])
    values = np.zeros(n_states)
    for h in range(horizon - 1, -1, -1):
        q = rewards + model @ values
        chosen = np.where(plan[h] == rewards.shape[1], 0, plan[h])
        assert q[np.arange(n_states), chosen] == pytest.approx(q.max(axis=1))
        values = share * q.max(axis=1) + (1 - share) * rest * (horizon - h)


def test_ends_are_added_up_and_saved():
    one, two = CountTable(4), CountTable(4)
    one.end(1)
    two.end(1, 2)
    two.end(0)
    one.add(two)
    assert one.ends == {1: 3, 0: 1}

    agent = ao.agents.Pooled(ao.learning.Practical(), 20)
    ao.run(agent, toy(), ao.streams.uniform(), episodes=10)
    again = saving.from_bytes(saving.to_bytes(agent))[0]
    assert again.kept.known[0].counts.ends == agent.kept.known[0].counts.ends
    assert sum(agent.kept.known[0].counts.ends.values()) == 10


def test_told_the_worlds_an_agent_is_saved_with_their_ends():
    agent = ao.agents.Optimal(20)
    ao.run(agent, toy(), ao.streams.uniform(), episodes=2)
    again = saving.from_bytes(saving.to_bytes(agent))[0]
    assert again.setting.models[0].terminal.tolist() == [False, False, True, True]


def test_a_leaderboard_compares_whole_episodes_where_the_world_ends_them(tmp_path, capsys):
    """How long an episode lasted says how it went: a sooner end is not a reason to look at the reward a step."""
    (tmp_path / "ends.toml").write_text(
        """
        episodes = 20
        runs = 2
        worlds = [{ name = "from_gymnasium", envs = ["FrozenLake-v1"], terminal = "end" }]
        streams = [{ name = "uniform" }]
        agents = [{ name = "Recall", failure = 0.05, horizon = 100 }, { name = "Random", horizon = 100 }]
        """
    )
    assert cli.run(["run", str(tmp_path / "ends.toml"), "--out", str(tmp_path / "out")]) == 0
    assert cli.run(["compare", str(tmp_path / "out"), "--json"]) == 0
    shown = capsys.readouterr().out
    assert '"ranking": "total_reward"' in shown

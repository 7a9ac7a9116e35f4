"""Our agents and hidden worlds in rlberry, with rlberry's own checks; ``make test-rlberry`` runs this.

Two of rlberry's checks do not apply.  ``check_vectorized_env_agent`` is for agents that step several environments at a
time, and ours play one episode after the other.  ``check_hyperparam_optimisation_agent`` is for agents that declare
which values of their parameters to search, and ours have one parameter, an agent of ours.
"""

# ruff: noqa: E402  # nothing of rlberry is imported where it is not installed
import logging
import re
from functools import partial
from pathlib import Path

import gymnasium as gym
import pytest

rlberry = pytest.importorskip("rlberry", reason="rlberry has an environment of its own: make test-rlberry")

from rlberry.envs import gym_make
from rlberry.manager import ExperimentManager, evaluate_agents
from rlberry.utils.check_agent import check_rl_agent, check_rlberry_agent
from rlberry.utils.check_env import check_env, check_rlberry_env
from rlberry_scool.agents import QLAgent, UCBVIAgent
from rlberry_scool.envs import Chain

import aomultirl as ao
from aomultirl.agents import saving
from aomultirl.rlberry_adapter import RlberryAgent, RlberryWorlds

PAGE = Path(__file__).parents[1] / "docs" / "rlberry.md"
GRIDS = ao.worlds.gridworld()
SET = GRIDS.distinguishing_set()
HERE, THERE = [1.0, 0.0], [0.0, 1.0]
SWAPPED = ao.ModelSet([ao.MDP([each, each], [[0.0, 0.0], [1.0, 1.0]]) for each in ([HERE, THERE], [THERE, HERE])])
"""State 1 pays; in one world action 1 leads there, in the other action 0."""
IN_GRIDS = (RlberryWorlds, {"worlds": GRIDS, "stream": ao.streams.blocks(3), "horizon": 40})
AGENTS = {
    "Recall": ao.agents.Recall(0.05, 30, rewards="unknown"),
    "OneEpisodeLearner": ao.agents.OneEpisodeLearner(30, rewards="unknown"),
    "Pooled": ao.agents.Pooled(ao.learning.UCBVI(), 30),
    "SequentialAOMultiRL": ao.agents.SequentialAOMultiRL(0.1, 300, 1.299999, SET, samples=10, rewards="unknown"),
    "AOMultiRL": ao.agents.AOMultiRL(4, 1.3, 7, 0.03, SET, samples=2, clustering_horizon=100, learning_horizon=20),
}
OTHERS = {
    "ours, registered": (gym_make, {"id": "aomultirl/Gridworld-v0"}),
    "Gymnasium's": (gym_make, {"id": "FrozenLake-v1"}),
    "rlberry's": (Chain, {}),
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    """rlberry's managers write into the folder where they are, and say so at length."""
    monkeypatch.chdir(tmp_path)
    rlberry.logger.setLevel(logging.ERROR)


def recall(horizon=30):
    return ao.agents.Recall(0.05, horizon, rewards="unknown")


def memory(agent):
    """All that an agent of ours remembers."""
    return saving.to_bytes(agent.agent)


@pytest.mark.parametrize("name", AGENTS)
def test_rlberry_finds_nothing_wrong_with_our_agents(name):
    given = {"agent": AGENTS[name], "rewards": GRIDS.rewards}
    check_rl_agent(RlberryAgent, IN_GRIDS, init_kwargs=dict(given))
    check_rlberry_agent(RlberryAgent, IN_GRIDS, init_kwargs=dict(given))


@pytest.mark.parametrize("name", OTHERS)
def test_nor_in_other_environments(name):
    # Not check_rlberry_agent: it asks environments for their parameters, which rlberry's own gym_make does not keep.
    check_rl_agent(RlberryAgent, OTHERS[name], init_kwargs={"agent": recall()})


@pytest.mark.parametrize("horizon", [None, 5])
@pytest.mark.parametrize("worlds", [GRIDS, ["FrozenLake-v1"], ["Blackjack-v1"]], ids=["grids", "lake", "Blackjack"])
def test_rlberry_finds_nothing_wrong_with_our_worlds(worlds, horizon):
    env = RlberryWorlds(worlds, horizon=horizon)
    check_env(env)
    check_rlberry_env(env)


def test_spaces_that_rlberry_does_not_have_stay_as_they_are():
    lake = gym.make("FrozenLake-v1")
    assert isinstance(RlberryWorlds([lake]).observation_space, rlberry.spaces.Discrete)
    lake.observation_space = gym.spaces.Discrete(16, start=1)
    assert RlberryWorlds([lake]).observation_space == gym.spaces.Discrete(16, start=1)


def test_a_horizon_truncates_and_the_next_episode_is_the_next_world_of_the_stream():
    env = RlberryWorlds(SWAPPED, ao.streams.blocks(2), horizon=3, reveal=True)
    env.reseed(1)  # which resets
    assert env.reward_range == (0.0, 1.0)
    for task in (0, 1, 1, 0):
        state, info = env.reset()
        assert (state, info["task"]) == (0, task)
        assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


class Watched(RlberryWorlds):
    """Notes the tasks of its episodes."""

    def reset(self, seed=None, options=None):
        state, info = super().reset(seed, options)
        self.tasks = [*getattr(self, "tasks", []), info["task"]]
        return state, info


def test_our_agents_meet_the_worlds_in_the_order_of_the_stream():
    agent = RlberryAgent((Watched, {"worlds": GRIDS, "stream": ao.streams.blocks(2), "reveal": True}), recall())
    agent.fit(3)
    agent.fit(6)
    assert agent.env.tasks == [0, 1, 1, 2, 2, 3, 3, 0, 0]  # after one that rlberry seeded it with


def test_fitting_in_parts_is_fitting_at_once_also_with_a_file_in_between(tmp_path):
    # An agent whose evidence must be stronger the more episodes there are.
    sequential = ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, SET, rewards="unknown")
    env = (RlberryWorlds, {"worlds": GRIDS, "stream": ao.streams.blocks(3)})
    make = partial(RlberryAgent, env, sequential, seeder=3)
    whole, parts = make(), make()
    whole.fit(12)
    parts.fit(5)
    parts = RlberryAgent.load(parts.save(tmp_path / "agent"), env=env)
    parts.fit(7)
    assert memory(parts) == memory(whole)
    assert len(parts.agent.clusters) > 1
    assert parts.history["episode"].tolist() == list(range(5, 12))
    assert parts.history.reward.tolist() == whole.history.reward[5:].tolist()
    for tag, column in (("episode_rewards", whole.history.reward), ("cluster", whole.history["cluster"])):
        for data in (parts.writer.data, whole.writer.data):
            written = data[data["tag"] == tag]
            assert written["value"].tolist() == column.tolist()
            assert written["global_step"].tolist() == list(range(1, 13))


def test_the_number_of_episodes_grows_where_there_are_more():
    agent = RlberryAgent(IN_GRIDS, recall(), episodes=4)
    agent.fit(3)
    assert agent.agent.setting.episodes == 4
    agent.fit(3)
    assert (agent.agent.completed, agent.agent.setting.episodes) == (6, 6)


def test_other_seeds_are_other_runs():
    agents = [RlberryAgent(IN_GRIDS, ao.agents.Random(40), seeder=seed) for seed in (1, 1, 2, 1)]
    agents[3].reseed(2)
    for agent in agents:
        agent.fit(5)
    first, same, other, reseeded = (agent.history.reward.tolist() for agent in agents)
    assert first == same != other == reseeded


def test_evaluation_is_a_mean_of_episodes_that_are_forgotten():
    paying = ao.MDP([[[1.0]]], [[1.0]])
    agent = RlberryAgent((RlberryWorlds, {"worlds": [paying]}), recall(20), horizon=12)
    assert agent.eval() == 12.0  # before anything was learned
    agent.fit(3)
    before = memory(agent)
    assert agent.eval(n_simulations=2) == 12.0
    assert agent.eval(eval_horizon=5) == 5.0
    assert agent.eval(eval_horizon=3, gamma=0.5) == 1.75
    assert memory(agent) == before


def test_a_step_back_to_the_start_is_one_of_the_evaluation():
    once = ao.MDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]], terminal=[1])
    env = (RlberryWorlds, {"worlds": [once]})
    assert RlberryAgent(env, recall(20)).eval() == 1.0
    assert RlberryAgent(env, recall(20), terminal="restart").eval(eval_horizon=3, gamma=0.5) == 1.25


def test_rlberrys_learners_take_hidden_worlds_for_one_and_ours_recognise_them():
    worlds = (RlberryWorlds, {"worlds": SWAPPED, "horizon": 20})
    kinds = [
        (RlberryAgent, "Recall", 40, {"agent": recall(20)}),
        (UCBVIAgent, "UCBVI", 40, {"horizon": 20, "gamma": 1.0}),
        (QLAgent, "QL", 800, {"exploration_type": "epsilon", "exploration_rate": 0.1}),
    ]
    managers = [
        ExperimentManager(kind, worlds, fit_budget=budget, init_kwargs=given, agent_name=name, n_fit=2, seed=1)
        for kind, name, budget, given in kinds
    ]
    for manager in managers:
        manager.fit()
    # One action for each state pays 19 or 10 in one world, and nothing in the other.
    earned = evaluate_agents(managers, n_simulations=40, plot=False)
    assert earned["Recall"].min() >= 17.0
    for name in ("UCBVI", "QL"):
        assert set(earned[name]) <= {0.0, 10.0, 19.0}
        assert earned[name].mean() < 15.0  # it is not with probability 0.0001: 32 of 40 fair coins


def test_processes_learn_what_threads_learn():
    learned = []
    for way in ("thread", "process"):
        manager = ExperimentManager(
            RlberryAgent, IN_GRIDS, fit_budget=4, init_kwargs={"agent": recall()}, n_fit=2, seed=5, parallelization=way
        )
        manager.fit()
        learned.append([memory(agent) for agent in manager.get_agent_instances()])
    assert learned[0] == learned[1]
    assert learned[0][0] != learned[0][1]


def test_an_agent_that_was_saved_elsewhere_goes_on(tmp_path):
    before = recall()
    ao.interact(before, ao.HiddenWorlds(GRIDS), 6)
    ao.save(before, tmp_path / "agent.zip")
    agent = RlberryAgent(IN_GRIDS, ao.load_agent(tmp_path / "agent.zip"))
    assert agent.policy(3) in range(4)
    agent.fit(2)
    assert agent.history["episode"].tolist() == [6, 7]
    assert before.completed == 6


def test_policy_is_the_first_action_of_an_episode():
    agent = RlberryAgent((RlberryWorlds, {"worlds": SWAPPED[:1]}), recall(20), episodes=5)
    with pytest.raises(ValueError, match="policy is asked for before fit"):
        agent.policy(0)
    agent.fit(5)
    before = memory(agent)
    assert [agent.policy(0), agent.policy(1)] == [1, 1]
    assert memory(agent) == before


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: RlberryAgent(IN_GRIDS, ao.agents.Recall), "agent is <class .*Recall'>, not an agent such as"),
        (lambda: RlberryAgent(IN_GRIDS, episodes=0), "episodes must be at least 1, not 0"),
        (lambda: RlberryAgent(IN_GRIDS).fit(1e3), "budget must be a whole number, not 1000.0"),
        (lambda: RlberryAgent(IN_GRIDS).eval(gamma=2), "gamma must be at most 1, not 2"),
        (lambda: RlberryAgent(IN_GRIDS, ao.agents.OracleLearner(9)).fit(1), "OracleLearner must be told the task"),
        (lambda: RlberryAgent(IN_GRIDS, ao.agents.OneEpisodeLearner(9)).fit(1), 'rewards = "known", but nobody says'),
        (lambda: RlberryWorlds(GRIDS, horizon=0), "horizon must be at least 1, not 0"),
    ],
)
def test_what_cannot_be(act, words):
    with pytest.raises(ValueError, match=words):
        act()


def test_the_page_runs_as_it_stands_and_takes_ten_lines(capsys):
    (piece,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len([line for line in piece.splitlines() if line.strip()]) <= 10
    names = {}
    exec(piece, names)
    shown = capsys.readouterr().out
    assert "Recall: 40 episodes" in shown
    assert len(names["manager"].get_agent_instances()) == 2

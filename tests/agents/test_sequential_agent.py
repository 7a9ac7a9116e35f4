"""Sequential AOMultiRL: steps, guarantee, abstentions, and what it says of itself."""

import json
import warnings

import gymnasium as gym
import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.experiments.suites import STEPS, identify_suite, run_suite

GAMMA = [(1, 0), (8, 3), (2, 1)]
LAMBDA = 1.3 - 1e-6


def agent(horizon=20_000, separation=LAMBDA, **options):
    return ao.agents.SequentialAOMultiRL(0.03, horizon, separation, **options)


@pytest.mark.parametrize("edges", ["third", pytest.param("stay", marks=pytest.mark.long)])
def test_a_known_world_is_recognised_in_some_hundred_steps(edges):
    models = ao.worlds.gridworld(edges=edges)
    history = ao.run(agent(distinguishing_set=GAMMA), models, ao.streams.uniform(), 60, seed=1)
    known = history["certified"]
    assert known.sum() == 56
    assert history["identification_steps"][known].mean() < 150  # 122 on average; the first meetings take longest
    assert history.misclustered == 0
    assert not history["abstained"].any()
    best = np.array([world.first_values(20_000)[5] for world in models])[history["task"]]
    earned = history["clustering_reward"] + history["learning_reward"]
    assert (earned / best)[30:].mean() > 0.985
    assert (history["identification_steps"] + history["learning_steps"] == 20_000).all()


def test_all_pairs_take_longer_and_m_makes_it_quick():
    models = ao.worlds.gridworld()
    every = ao.run(agent(learning=False), models, ao.streams.round_robin(), 16, seed=2)
    assert every.misclustered == 0
    assert 1_000 < every["identification_steps"][4:].mean() < 1_900
    told = ao.run(agent(learning=False, models=4), models, ao.streams.round_robin(), 40, seed=2)
    assert told.misclustered == 0
    assert told["identification_steps"][4:].mean() < 300
    assert (every["learning_steps"] == 0).all()


def test_everything_that_a_cluster_has_seen_is_learned_from():
    models = ao.worlds.gridworld()
    player = agent(distinguishing_set=GAMMA, horizon=3_000)
    history = ao.run(player, models, ao.streams.round_robin(), 12, seed=3)
    visits = [int(table.to_lists()[2].sum()) for table in player.clusters]
    assert visits == [9_000] * 4
    assert (history["estimate_error"][-4:] < history["estimate_error"][:4]).all()


def test_without_a_separation_it_adapts_and_says_that_nothing_is_guaranteed():
    models = ao.worlds.gridworld()
    player = agent(separation=None, distinguishing_set=GAMMA)
    with pytest.warns(UserWarning, match="no verdict is guaranteed"):
        history = ao.run(player, models, ao.streams.round_robin(), 16, seed=4)
    assert history.about["findings"]["guarantee"] is False
    assert 0.55 < history.about["findings"]["separation"] < 0.75  # half of 1.3
    assert history.misclustered == 0
    assert (history["identification_steps"][8:] > 200).mean() > 0.5  # dearer than with the separation told
    assert ao.run(agent(), models, ao.streams.uniform(), 1).about["findings"]["guarantee"] is True


@pytest.mark.parametrize(("horizon", "samples"), [(200, None), (5_000, 12)])
def test_too_little_time_or_too_few_samples_abstain_and_never_merge(horizon, samples):
    """An episode too short to make a cluster; clusters so young that nothing can be certified for them."""
    models = ao.worlds.gridworld()
    player = agent(horizon, distinguishing_set=GAMMA, samples=samples, learning=False)
    history = ao.run(player, models, ao.streams.uniform(), 30, seed=5)
    assert history.misclustered == 0
    assert history["abstained"].sum() == player.abstentions > 10
    assert (history["cluster"][history["abstained"]] == -1).all()
    assert not history["certified"][history["abstained"]].any()
    assert history.about["findings"]["abstentions"] == player.abstentions


def test_it_says_at_once_that_it_cannot_work_and_acts_for_reward_all_the_same():
    models = ao.worlds.random_models(64, 4, 2, 3, 1.0, 0)
    words = (
        "a cluster takes 256 pairs x 160 visits = 40,960 steps, and an episode has 1,000: .* and acts for reward alone"
    )
    with pytest.warns(UserWarning, match=words):
        history = ao.run(ao.agents.SequentialAOMultiRL(0.1, 1_000, 1.0), models, ao.streams.uniform(), 20)
    assert history["abstained"].all()
    assert (history["identification_steps"] == 0).all()
    alone = ao.run(ao.agents.OneEpisodeLearner(1_000), models, ao.streams.uniform(), 20)
    random = ao.run(ao.agents.Random(1_000), models, ao.streams.uniform(), 20)
    assert history.reward.sum() == alone.reward.sum() > random.reward.sum()


def test_it_acts_for_reward_where_others_end_episodes_too_early():
    """The driver says so at once; where states end them, five episodes are enough to know."""
    lake = lambda: gym.make("FrozenLake-v1", is_slippery=False)  # noqa: E731
    words = "a cluster takes 64 pairs x 160 visits = 10,240 steps, and an episode has 500: "
    player = ao.agents.SequentialAOMultiRL(0.05, 100_000, 1.0, rewards="unknown")
    with pytest.warns(UserWarning, match=words):
        history = ao.interact(player, lake(), 10, 500, terminal="restart")
    assert (history["identification_steps"] == 0).all()
    assert history.reward[-1] > 30
    words = r"a cluster takes .* and the longest of the first 5 episodes had \d+: "
    player = ao.agents.SequentialAOMultiRL(0.05, 100_000, 1.0, rewards="unknown")
    with pytest.warns(UserWarning, match=words) as told:
        history = ao.interact(player, lake(), 20, reward_range="learn")
    assert len(told) == 1
    assert (history["identification_steps"][:5] > 0).all()
    assert (history["identification_steps"][5:] == 0).all()


def test_a_new_world_that_comes_last_is_found():
    models = ao.worlds.gridworld()
    tasks = [0, 1, 2] * 8 + [3]
    history = ao.run(agent(distinguishing_set=GAMMA, learning=False), models, ao.streams.sequence(tasks), 25, seed=6)
    assert history["new_cluster"].tolist() == [True] * 3 + [False] * 21 + [True]
    assert history.misclustered == 0


@pytest.mark.parametrize(("options", "samples"), [({}, 250), ({"models": 4}, 125), ({"models": 4, "samples": 7}, 7)])
def test_a_new_world_is_seen_so_often_at_every_pair(options, samples):
    """N_0 = 40 / h^2, or 20 / h^2 where M is known, with h = lambda / 2 = 0.4."""
    player = agent(separation=0.8, **options)
    player.begin(Setting(2, 1, np.zeros((2, 1)), 10))
    assert player.findings()["samples"] == samples


def test_rewards_may_be_unknown():
    models = ao.worlds.gridworld()
    player = agent(3_000, distinguishing_set=GAMMA, rewards="unknown")
    history = ao.run(player, models, ao.streams.round_robin(), 24, seed=7, noisy_rewards=True)
    best = np.array([world.first_values(3_000)[5] for world in models])[history["task"]]
    earned = history["clustering_reward"] + history["learning_reward"]
    assert (earned / best)[12:].mean() > 0.9


def test_the_evidence_of_an_episode_is_kept_and_can_be_written_down():
    models = ao.worlds.gridworld()
    history = ao.run(agent(distinguishing_set=GAMMA), models, ao.streams.round_robin(), 20, seed=8)
    kept = history.about["findings"]["evidence"]
    assert json.loads(json.dumps(kept)) == kept
    assert 4 <= len(kept["episodes"]) <= 8
    for episode in kept["episodes"]:
        assert len(episode["steps"]) == len(episode["against"]) == len(episode["certified"])
        assert episode["steps"] == sorted(episode["steps"])
    last = kept["episodes"][-1]
    assert last["verdict"] == "accepted"
    assert last["cluster"] == history["cluster"][-1]
    assert last["certified"][-1] == 3
    assert last["steps"][-1] == history["identification_steps"][-1]


def test_it_is_the_same_agent_step_by_step_from_outside():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    ao.check_agent(ao.agents.SequentialAOMultiRL(0.1, 1_000, 0.9, samples=20), models)
    ao.check_agent(ao.agents.OneEpisodeLearner(300), models)
    ao.check_agent(ao.agents.OracleLearner(300), models)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"failure": 0.0}, "failure must be above 0"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"separation": 2.5}, "separation must be at most 2"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"models": 0}, "models must be at least 1"),
        ({"models": ao.worlds.gridworld(), "separation": 1.31}, "the models are only 1.29"),
        ({"distinguishing_set": []}, "distinguishing_set is empty"),
        ({"distinguishing_set": 3}, "not a list of pairs"),
        ({"rewards": "secret"}, "rewards must be one of"),
    ],
)
def test_bad_parameters_get_one_sentence(options, told):
    given = {"failure": 0.03, "horizon": 1_000, "separation": 1.2, **options}
    models = ao.worlds.gridworld()
    with pytest.raises(ValueError, match=told):
        ao.agents.SequentialAOMultiRL(**given).begin(Setting(16, 4, models.rewards, 10))


@pytest.mark.long
def test_the_table_at_full_size():
    """K = 200, p = 0.03: 100 runs on the grids, 10 random sets; nothing wrong, and no more steps than the targets."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cases = identify_suite()
        grids = [case for case in cases if "edges" in case.world["parameters"]]
        others = [case for case in cases if case not in grids]
        for some, runs in ((grids, 100), (others, 10)):
            for case, outcomes in zip(some, run_suite(some, runs, seed=1, workers=2), strict=True):
                assert sum(outcome.wrong for outcome in outcomes) == 0, case
                assert sum(outcome.abstained for outcome in outcomes) == 0, case
                steps = np.concatenate([outcome.steps for outcome in outcomes])
                mean = steps.mean() if case.aim == STEPS else np.mean([outcome.total for outcome in outcomes])
                assert mean <= case.target, case
                if case.told == "Gamma, lambda":
                    assert np.percentile(steps, 95) <= case.target / 130 * 200


class DerivedSeeker(ao.exploring.Seeker):
    """An explorer of somebody's, whose own behaviour is what counts."""

    def behaviour(self, targets, needed, failure):
        asked.append(needed)
        return ao.exploring.GOSPRL().behaviour(targets, needed, failure)


asked: list[int] = []


def test_a_class_derived_from_the_seeker_explores_with_its_own_behaviour():
    asked.clear()
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 0)
    agent = ao.agents.SequentialAOMultiRL(0.1, 5000, 1.0, explorer=DerivedSeeker())
    ao.run(agent, models, ao.streams.uniform(), 1)
    assert asked


def test_the_memory_for_pairs_is_the_learners_where_that_is_more():
    class Greedy(ao.learning.UCBVI):
        pair_bytes = 1000

    assert ao.agents.SequentialAOMultiRL(0.1, 500, learner=Greedy()).pair_bytes == 1000
    assert ao.agents.SequentialAOMultiRL(0.1, 500, learner=ao.learning.UCBVI()).pair_bytes == 120

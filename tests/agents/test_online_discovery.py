import math

import numpy as np
import pytest
from test_finite_model_rl import PAIR, REWARDS, play, world

import aomultirl as ao
from aomultirl.setting import Setting

HIDDEN = ao.ModelSet([world(0.5), world(0.9), world(0.02)])


def explored(history):
    """Whether each episode explored: then all its steps may be of clustering, and no model was played."""
    return history["identification_steps"] > 0


def test_the_coin_falls_as_the_root_of_the_episode():
    """Over 20 runs.  False alarms: five standard errors."""
    counts = np.zeros(20)
    for seed in range(20):
        agent = ao.agents.ForcedExploration(0.1, 20, 0.8)  # too short to recognise anything: it exploits at once
        counts += explored(ao.run(agent, HIDDEN, ao.streams.uniform(), episodes=20, seed=seed))
    chances = ao.theory.forced_exploration_chances(20)
    assert counts[0] == 20
    spread = math.sqrt(20 * (chances * (1 - chances)).sum())
    assert abs(counts.sum() - 20 * chances.sum()) < 5 * spread


def test_a_decay_of_nothing_explores_always_and_one_of_one_seldom():
    always = ao.agents.ForcedExploration(0.1, 40, 0.8, decay=0.0)
    assert explored(ao.run(always, HIDDEN, ao.streams.uniform(), episodes=20)).all()
    seldom = ao.agents.ForcedExploration(0.1, 40, 0.8, decay=1.0)
    assert explored(ao.run(seldom, HIDDEN, ao.streams.uniform(), episodes=40)).sum() < 12


def test_exploring_first_explores_the_first_episodes():
    agent = ao.agents.ExploreFirst(0.1, 40, 0.8, 7)
    assert explored(ao.run(agent, HIDDEN, ao.streams.uniform(), episodes=20)).tolist() == [True] * 7 + [False] * 13


def test_a_hidden_world_is_discovered_by_force_and_not_by_exploring_first():
    tasks = [0, 1] * 10 + [2] * 60
    forced = ao.agents.ForcedExploration(0.1, 600, 0.8, radius_scale=0.5)
    history = ao.run(forced, HIDDEN, ao.streams.sequence(tasks), episodes=80, seed=0)
    found = forced.findings()
    assert found["models"] == 3
    assert 20 <= found["discovered"][-1] < 80
    assert (history["cluster"][found["discovered"][-1] :] == 2).all()
    first = ao.agents.ExploreFirst(0.1, 600, 0.8, 20, radius_scale=0.5)
    ao.run(first, HIDDEN, ao.streams.sequence(tasks), episodes=80, seed=0)
    assert first.findings()["models"] == 2
    assert first.findings()["unknown"] == list(range(20, 80))


def test_a_wrongly_joined_world_is_named():
    """With the confidence that is proven a short episode contradicts nothing: all join the first."""
    agent = ao.agents.ExploreFirst(0.1, 60, 0.8, 6)
    ao.run(agent, HIDDEN, ao.streams.round_robin(), episodes=6)
    assert agent.findings()["discovered"] == [0]
    assert agent.findings()["joined"] == [[k, 0, 0] for k in range(1, 6)]


def test_after_exploring_the_rest_of_the_episode_is_for_reward():
    agent = ao.agents.ExploreFirst(0.1, 600, 0.8, 5, samples=5)
    agent.begin(Setting(3, 2, REWARDS, 10))
    report, ran = play(agent, PAIR[0])
    assert [phase.phase.part for phase in ran] == ["clustering", "learning"]
    assert report.new_cluster
    starts, _, visits = ran[-1].phase.counts.to_lists()
    assert visits.sum() == 600
    assert np.add.reduceat(visits, starts[:-1]).min() >= 5


def test_the_visits_of_every_pair_are_those_of_theory():
    agent = ao.agents.ForcedExploration(0.1, 50, 0.8)
    agent.begin(Setting(3, 2, REWARDS, 10))
    expected = math.ceil(32 / 0.8**2 * (3 * math.log(2) + math.log(6 * 10 / 0.1)))
    assert agent.findings()["samples"] == expected == 424
    told = ao.agents.ForcedExploration(0.1, 50, 0.8, models=2)
    told.begin(Setting(3, 2, REWARDS, 10))
    assert told.findings()["samples"] == math.ceil(32 / 0.8**2 * (3 * math.log(2) + math.log(6 * 2 / 0.1)))


@pytest.mark.parametrize("kind", ["forced", "first"])
def test_it_earns_more_than_learning_alone(kind):
    """On the paper's grids, once the worlds are discovered."""
    models, keywords = ao.worlds.gridworld(), {"radius_scale": 0.35}
    agent = (
        ao.agents.ForcedExploration(0.1, 1000, 1.3, **keywords)
        if kind == "forced"
        else ao.agents.ExploreFirst(0.1, 1000, 1.3, 15, **keywords)
    )
    history = ao.run(agent, models, ao.streams.uniform(), episodes=60, seed=1)
    alone = ao.run(ao.agents.OneEpisodeLearner(1000), models, ao.streams.uniform(), episodes=60, seed=1)
    exploits = history["cluster"] >= 0
    exploits &= history["learning_steps"] > 500
    exploits[:30] = False
    earned = [(h["clustering_reward"] + h["learning_reward"])[exploits].mean() for h in (history, alone)]
    assert exploits.sum() > 10
    assert earned[0] > earned[1] + 30.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ao.agents.ForcedExploration(0.1, 20, 0.8, decay=2.0), "decay must be at most 1, not 2"),
        (lambda: ao.agents.ExploreFirst(0.1, 20, 0.8, 0), "first_episodes must be at least 1, not 0"),
        (lambda: ao.agents.ExploreFirst(0.1, 20, 0.8, 5, samples=0), "samples must be at least 1, not 0"),
        (lambda: ao.agents.ForcedExploration(0.1, 20, 0.8, explorer=4), "explorer is 4, not an explorer"),
        (lambda: ao.agents.ForcedExploration(0.1, 20, 0.8, models=0), "models must be at least 1, not 0"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make().begin(Setting(3, 2, REWARDS, 10))

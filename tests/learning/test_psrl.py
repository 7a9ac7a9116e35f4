import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.learning.psrl import AGE, DRAWS, TRANSITIONS_A_STEP, rescaled_watched


def test_one_state_is_thompson_sampling():
    """Three coins, 4,000 flips: most are of the best, and nearly all of the second half."""
    world = ao.ModelSet([ao.MDP(np.ones((1, 3, 1)), np.array([[0.3, 0.5, 0.7]]))])
    agent = ao.agents.Pooled(ao.learning.PSRL(reward_prior=2.0), 10, rewards="unknown")
    run = {"models": world, "stream": ao.streams.uniform(), "episodes": 400, "seed": 1, "noisy_rewards": True}
    half = ao.run(agent, **run, stop=200)
    first = agent.kept.known[0].counts.to_lists()[2].copy()
    ao.run(agent, **run, resume=half)
    visits = agent.kept.known[0].counts.to_lists()[2]
    assert visits[2] > 0.85 * 4000
    assert (visits - first)[2] > 0.95 * 2000


def test_regret_grows_slower_than_the_root_of_the_episodes():
    """In one world, regret over four times as many episodes is less than twice as large, and hardly grows at last."""
    world = ao.ModelSet([ao.worlds.random_models(8, 3, 1, 3, 0.5, 21)[0]])
    agent = ao.agents.Pooled(ao.learning.PSRL(), 30, rewards="unknown")
    regret = np.mean(
        [np.cumsum(ao.run(agent, world, ao.streams.uniform(), 400, seed=s)["regret"]) for s in range(5)], 0
    )
    assert regret[-1] < 2.0 * regret[99]


def run_phase(behaviour, world, counts, sums, steps=200):
    one = streams(3, 2)
    Simulator(world.alias_tables, world.gains, 0, one[0], one[1]).run(Phase(behaviour, steps, counts, sums))


def test_worlds_are_drawn_anew_when_visits_double_and_no_sooner():
    models = ao.worlds.random_models(6, 3, 1, 3, 1.0, 0)
    learning = ao.learning.PSRL().begin(Setting(6, 3, models.rewards, 1), 4000)
    known, tally = learning.nothing(), learning.tally()
    behaviour = learning.act(known.during(tally), 4000, streams(0, 1)[0])
    run_phase(behaviour, models[0], tally.counts, tally.sums, 4000)
    most = 18 * (np.log2(4000) + 1)
    assert 5 < behaviour.progress[DRAWS] < most
    known.add(tally)
    again = learning.tally()
    behaviour = learning.act(known.during(again), 100, streams(0, 1)[0])
    run_phase(behaviour, models[0], again.counts, again.sums, 100)
    # In an episode that is short beside what is known, visits double of rarely visited pairs alone.
    assert behaviour.progress[DRAWS] <= 3
    assert behaviour.progress[AGE] > 20


def test_a_draw_of_many_transitions_lasts_for_many_steps():
    models = ao.worlds.random_models(300, 4, 1, 3, 0.5, 5)
    learning = ao.learning.PSRL().begin(Setting(300, 4, models.rewards, 1), 500)
    tally = learning.tally()
    behaviour = learning.act(learning.nothing().during(tally), 500, streams(0, 1)[0])
    run_phase(behaviour, models[0], tally.counts, tally.sums, 500)
    assert behaviour.progress[DRAWS] <= 1 + 500 // (1200 // TRANSITIONS_A_STEP)


def test_what_was_watched_is_brought_to_another_range():
    rewards = np.array([0.2, 0.9, 0.9])
    watched = np.array([[3.0], [rewards.sum()], [(rewards**2).sum()]])
    moved = 0.5 * rewards + 0.25
    expected = np.array([[3.0], [moved.sum()], [(moved**2).sum()]])
    assert rescaled_watched(watched, 0.5, 0.25) == pytest.approx(expected)


def test_rewards_are_watched_one_by_one():
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    agent = ao.agents.Pooled(ao.learning.PSRL(), 50, rewards="unknown")
    ao.run(agent, models, ao.streams.uniform(), 4, seed=2, noisy_rewards=True)
    known = agent.kept.known[0]
    visits, sums, squares = known.own["watched"]
    assert visits.sum() == 200
    assert sums == pytest.approx(known.sums)
    assert squares == pytest.approx(sums)  # of zeros and ones
    agent.rescale_rewards(0.5, 0.25, 0.25)
    assert agent.kept.known[0].own["watched"][1] == pytest.approx(agent.kept.known[0].sums)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prior": 0.0}, "prior must be"),
        ({"reward_prior": -1.0}, "reward_prior must be"),
        ({"discount": 1.0}, "discount must be"),
    ],
)
def test_bad_parameters_get_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        ao.agents.Pooled(ao.learning.PSRL(**wrong), 20).begin(Setting(6, 3, np.ones((6, 3)), 5))

import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import theory
from aomultirl.agents.base import Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.learning.ucrl2 import reward_radius, transition_radius
from aomultirl.worlds.environment import WorldEnv
from slow_ucrl2 import slow_iteration

KINDS = [{}, {"rewards": "unknown", "bonus_scale": 0.05}, {"pooled": True}, {"pooled": True, "rewards": "unknown"}]


@pytest.mark.parametrize("options", KINDS)
def test_contract(options):
    ao.check_agent(ao.agents.UCRL2(300, 0.1, **options))


@pytest.mark.parametrize("options", KINDS)
def test_both_drivers_give_the_same_steps_and_streams(options):
    """With noisy rewards, over episodes."""
    models = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
    inside, outside = ao.agents.UCRL2(400, **options), ao.agents.UCRL2(400, **options)
    for agent in (inside, outside):
        agent.begin(Setting(6, 3, models.rewards, 4))
    for k in range(4):
        one, two = streams(k, 2), streams(k, 2)
        simulator = Simulator(models[k % 2].alias_tables, models[k % 2].gains, k, one[0], one[1], True)
        report, ran = simulator.drive(inside.episode(k, one[1]))
        env = WorldEnv(models[k % 2], k, two[0], True)
        session = Session(outside.episode(k, two[1]), 6, 3, int(env.reset()[0]), two[1])
        while not session.over:
            successor, reward, *_ = env.step(session.act())
            session.observe(successor, reward)
        assert np.array_equal(one, two)
        assert [r.outcome for r in ran] == [r.outcome for r in session.ran]
        mine, theirs = (r.samples[0].to_lists() for r in (report, session.report))
        assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
        assert mine[2].sum() == (400 * (k + 1) if options.get("pooled") else 400)
    assert inside.epochs == outside.epochs


def test_golden_radii():
    assert reward_radius(10, 100, 2, 5, 0.05) == pytest.approx(1.92583, abs=1e-5)
    assert transition_radius(10, 100, 2, 5, 0.05) == pytest.approx(5.26591, abs=1e-5)
    assert transition_radius(0, 100, 2, 5, 0.05) == transition_radius(1, 100, 2, 5, 0.05)


def dense(counts, n_states, n_actions):
    starts, states, visits = counts.to_lists()
    table = np.zeros((n_states * n_actions, n_states))
    table[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    return table.reshape(n_states, n_actions, n_states)


@pytest.mark.parametrize(("rewards", "scale"), [("known", 1.0), ("unknown", 1.0), ("unknown", 0.05), ("known", 0.02)])
def test_step_by_step_it_is_the_algorithm_of_the_paper(rewards, scale):
    """Epochs begin when the original's loop says so, with a policy that is optimistic by its formulas."""
    world, failure = ao.worlds.random_models(4, 3, 1, 2, 1.0, 5)[0], 0.1
    agent, source = ao.agents.UCRL2(600, failure, rewards=rewards, bonus_scale=scale), streams(1, 2)
    agent.begin(Setting(4, 3, world.rewards, 1))
    phase, env = next(agent.episode(0, source[1])), WorldEnv(world, 0, source[0], True)
    session = Session((p for p in [phase]), 4, 3, int(env.reset()[0]), source[1])
    plan, before, during, sums, epochs = np.zeros(4, int), np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)), 0
    for step in range(1, 601):
        state, action = session.state, session.act()
        if step == 1 or during[state, plan[state]] >= max(1, before[state, plan[state]]):
            before, during, plan, epochs = (
                before + during,
                np.zeros((4, 3)),
                phase.behaviour.table.plan.copy(),
                epochs + 1,
            )
            n = np.maximum(1, before)
            radii = np.where(before > 0, scale * np.sqrt(14 * 4 * math.log(2 * 3 * step / failure) / n), 2.0)
            promised = np.array(world.rewards)
            if rewards == "unknown":
                extra = scale * np.sqrt(7 * math.log(2 * 4 * 3 * step / failure) / (2 * n))
                promised = np.where(before > 0, np.minimum(1.0, sums / n + extra), 1.0)
            seen = dense(phase.counts, 4, 3)
            assert np.array_equal(seen.sum(axis=2), before)
            q = slow_iteration(seen / n[:, :, None], radii, promised, 1 / math.sqrt(step))[1]
            assert q[np.arange(4), plan] == pytest.approx(q.max(axis=1), abs=1e-9)
        assert action == plan[state]
        assert phase.behaviour.epochs == epochs
        successor, reward, *_ = env.step(action)
        session.observe(successor, reward)
        during[state, action] += 1
        sums[state, action] += reward
    assert epochs > 10


@pytest.mark.parametrize("horizon", [100, 1000, 30_000])
def test_visits_double_so_epochs_are_few(horizon):
    for models in (ao.worlds.jao(7, 40, 0.1), ao.worlds.gridworld(), ao.worlds.two_jao(3, 40)):
        pairs = models.n_states * models.n_actions
        agent = ao.agents.UCRL2(horizon)
        history = ao.run(agent, models, ao.streams.uniform(), 3)
        assert history.about["findings"]["epochs"] == agent.epochs
        assert len(agent.epochs) == 3
        assert max(agent.epochs) <= pairs * math.log2(8 * horizon / pairs)


def regret(world, horizon, seed):
    """Of one fresh episode, from state 0."""
    agent, source = ao.agents.UCRL2(horizon), streams(seed, 2)
    agent.begin(Setting(world.n_states, world.n_actions, world.rewards, 1))
    simulator = Simulator(world.alias_tables, world.gains, 0, source[0], source[1])
    return world.first_values(horizon)[0] - simulator.drive(agent.episode(0, source[1]))[1][0].outcome.reward


def test_regret_on_jao_worlds_stays_below_the_bound_and_grows_more_slowly_than_time():
    """Every step costs 0.06 on average at first, and less than a fourth of that at last."""
    lost, models = {}, ao.worlds.jao(5, 40, 0.1)
    for horizon in (10**5, 10**7):
        found = [regret(world, horizon, seed) for seed, world in enumerate(models[:3])]
        bound = theory.ucrl2_bound(states=2, actions=5, episodes=3, horizon=horizon, diameter=10)
        assert sum(found) < bound.total
        lost[horizon] = np.mean(found) / horizon
    assert 0.0 < lost[10**7] < lost[10**5] / 4


@pytest.mark.long
def test_regret_is_below_the_bound_where_the_bound_says_something():
    """After 5e8 steps 34 D S sqrt(A T ln(T / delta)) is below what acting at random loses."""
    horizon, world = 5 * 10**8, ao.worlds.jao(2, 8, 0.8)[0]
    bound = 34 * 2 * 2 * math.sqrt(2 * horizon * math.log(horizon * horizon))
    blind = theory.optimal_gain(world).gain - 0.7 / 1.2
    assert world.diameter() == pytest.approx(2.0)
    assert bound < blind * horizon
    assert regret(world, horizon, 0) < bound


def test_what_is_pooled_helps_in_a_single_world():
    models = ao.worlds.jao(5, 40, 0.1)[:1]
    fresh, pooled = (
        ao.run(ao.agents.UCRL2(10**5, pooled=kept), models, ao.streams.uniform(), 40) for kept in (False, True)
    )
    assert pooled["regret"][-10:].mean() < fresh["regret"][-10:].mean() / 2
    assert fresh["estimate_error"][-10:].mean() > 2 * pooled["estimate_error"][-10:].mean()


def test_ties_are_broken_at_random():
    """Nothing is known at first, so every action of a JAO world is tried first by somebody."""
    models, agent = ao.worlds.jao(5, 40, 0.1), ao.agents.UCRL2(10)
    agent.begin(Setting(2, 5, models.rewards, 1))
    sources = streams(0, 60)
    assert {Session(agent.episode(0, source), 2, 5, 0, source).act() for source in sources} == set(range(5))


def test_nothing_is_carried_from_episode_to_episode_unless_asked():
    models = ao.worlds.jao(5, 40, 0.1)
    agent, setting = ao.agents.UCRL2(2000), Setting(2, 5, models.rewards, 2)
    outcomes = []
    for earlier in (0, 3):
        agent.begin(setting)
        for k in (*range(earlier), 9):
            source = streams(k, 2)
            simulator = Simulator(models[0].alias_tables, models[0].gains, 0, source[0], source[1])
            outcomes.append(simulator.drive(agent.episode(0, source[1]))[1][0].outcome)
    assert outcomes[0] == outcomes[-1]
    assert outcomes[1] != outcomes[2]


def test_where_there_is_no_choice_there_is_no_regret():
    world = ao.MDP([[[0.9, 0.1]], [[0.5, 0.5]]], [[0.0], [1.0]])
    history = ao.run(ao.agents.UCRL2(4000), ao.ModelSet([world]), ao.streams.uniform(), 30)
    # ten standard errors of the reward of 120,000 steps
    assert abs(history.regret()[-1]) < 10 * math.sqrt(120_000 * 0.14)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"failure": 1.0}, "failure must be below 1, not 1"),
        ({"bonus_scale": 0.0}, "bonus_scale must be above 0, not 0"),
        ({"rewards": "none"}, "rewards must be one of 'known', 'unknown', not 'none'"),
        ({"pooled": "run"}, "pooled must be True or False, not 'run'"),
    ],
)
def test_bad_parameters_get_one_sentence(options, told):
    with pytest.raises(ValueError, match=told):
        ao.agents.UCRL2(**{"horizon": 100, **options}).begin(Setting(6, 3, np.ones((6, 3)), 10))
    with pytest.raises(ValueError, match='take rewards="unknown"'):
        ao.agents.UCRL2(100).begin(Setting(6, 3, None, 10))

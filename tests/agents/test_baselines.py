import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.counts import CountTable, find, insert
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.learning.ucbvi import UCBVI, UCBVILearning, estimate
from aomultirl.theory.bounds import bonus_for


def test_random_and_optimal_have_their_exact_values():
    models = ao.worlds.gridworld()
    for agent, values in (
        (ao.agents.Random(200), [m.policy_values(np.full((16, 4), 0.25), 200)[0, 5] for m in models]),
        (ao.agents.Optimal(200), [m.optimal_values(200)[0, 5] for m in models]),
    ):
        history = ao.run(agent, models, ao.streams.round_robin(), 400, seed=0)
        assert history["evaluation_value"] == pytest.approx(np.tile(values, 100))
        assert history["value"] == pytest.approx(np.tile(values, 100))
        for column in ("evaluation_reward", "learning_reward"):
            error = history[column].std() / 20
            assert abs(history[column].mean() - np.mean(values)) < 4 * error  # false-alarm rate below 0.01 %
    assert history["regret"] == pytest.approx(0.0, abs=1e-9)


def test_one_episode_forgets_pooled_mixes_and_the_oracle_keeps_apart():
    models = ao.worlds.gridworld()
    stream = ao.streams.round_robin
    one, pooled, oracle = (
        ao.run(agent, models, stream(), 120, seed=0)
        for agent in (
            ao.agents.OneEpisodeUCBVI(0.03, 200),
            ao.agents.PooledUCBVI(0.03, 200),
            ao.agents.OracleUCBVI(0.03, 200, 4),
        )
    )
    early, late = one["evaluation_value"][:40].mean(), one["evaluation_value"][-40:].mean()
    assert abs(early - late) < 15
    assert oracle["evaluation_value"][-40:].mean() > 0.93 * 138.8
    assert oracle["evaluation_value"][-40:].mean() > pooled["evaluation_value"][-40:].mean() + 5


def test_the_oracle_has_the_logarithm_of_the_learning_phase():
    """ln(5 S A K H M / p_1) with p_1 = p / 3, where Algorithm 6 has ln(5 S A K H / p) for one world."""
    agent = ao.agents.OracleUCBVI(0.03, 200, 4)
    agent.begin(Setting(16, 4, np.zeros((16, 4)), 150))
    assert agent.learning.logarithm == pytest.approx(np.log(5 * 16 * 4 * 150 * 200 * 4 / 0.01))


def test_a_told_agent_needs_telling():
    with pytest.raises(ValueError, match="Optimal must be told the worlds"):
        ao.agents.Optimal(20).begin(Setting(2, 2, None, 5))
    env = ao.worlds.gridworld()[0]
    from aomultirl.worlds.environment import WorldEnv

    with pytest.raises(ValueError, match="OracleUCBVI must be told the task"):
        ao.interact(ao.agents.OracleUCBVI(0.1, 20), lambda k: WorldEnv(env), 2, rewards=env.rewards)


def test_aomultirl_learns_what_the_oracle_learns_when_identification_is_free():
    """One world, one certain transition to look at: all episodes fall into one cluster, as if it were told."""
    world = ao.MDP([[{0: 0.5, 1: 0.5}, {1: 1.0}], [{0: 1.0}, {0: 0.3, 1: 0.7}]], [[0.0, 0.1], [1.0, 0.5]])
    models = ao.ModelSet([world])
    agent = ao.agents.AOMultiRL(
        1, 1.0, 1, 0.1, [(0, 1)], samples=1, clustering_horizon=1, learning_horizon=10, bonus_scale=0.01
    )
    oracle = ao.agents.OracleUCBVI(0.1, 10, 1, bonus_scale=0.01)
    mine = ao.run(agent, models, ao.streams.uniform(), 300, seed=0)
    told = ao.run(oracle, models, ao.streams.uniform(), 300, seed=0)
    assert mine.misclustered == 0
    best = world.optimal_values(10)[0, 0]
    assert mine["evaluation_value"][-20:] == pytest.approx(best)
    assert told["evaluation_value"][-20:] == pytest.approx(best)


def small_world(seed):
    return ao.worlds.random_models(2, 2, 1, 2, rng=seed)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_regret_tends_to_zero_where_the_bonus_is_scaled_down(seed):
    history = ao.run(
        ao.agents.OracleUCBVI(0.1, 3, 1, bonus_scale=0.02), small_world(seed), ao.streams.uniform(), 1500, seed=seed
    )
    regret = history["regret"]
    bound = ao.theory.ucbvi_bound(states=2, actions=2, episodes=1500, horizon=3, failure=0.1).total
    assert regret.sum() <= bound
    assert regret[-200:].mean() < 0.25 * max(regret[:20].mean(), 0.02)


def sampled_counts(world, visits, rng):
    """Counts of ``visits`` independent samples of every pair."""
    table = CountTable(world.n_states * world.n_actions)
    for pair, row in enumerate(world.transitions.reshape(-1, world.n_states)):
        for state, count in enumerate(rng.multinomial(visits, row)):
            if count:
                if insert(table.record, pair, state):
                    table.make_room()
                slot = find(table.record.heads, table.record.slots, np.uint64(pair), np.uint64(state))
                table.record.slots[slot + np.uint64(1)] = count
    return table


def q_table(transitions, gains, caps):
    """(H, S, A), as the recursion is printed."""
    q = np.empty((len(caps), *gains.shape))
    following = np.zeros(len(gains))
    for h in reversed(range(len(caps))):
        q[h] = np.minimum(caps[h], gains + transitions @ following)
        following = q[h].max(axis=1)
    return q


def test_faithful_optimism_where_the_bonus_is_not_vacuous():
    """bonus_scale = 1, S = A = 2, H = 3, with so many samples that every bonus lies below the cap.

    Optimism, Q >= Q* everywhere, must hold in at least 1 - p of the runs, p = 0.1.  Of 200 runs more than 36 failures
    would have a probability below 0.1 % at a true rate of p.  Without a bonus nearly all runs fail, so the check can.
    """
    rng = np.random.default_rng(0)
    failures = blind = 0
    log = np.log(15 * 4 * 10_000 * 3 / 0.1)
    for seed in range(200):
        world = small_world(seed)[0]
        visits = int(rng.integers(60 * log**2, 4000 * log**2))
        learned = estimate(2, sampled_counts(world, visits, rng))
        empirical = np.zeros((4, 2))
        owners = np.repeat(np.arange(4), np.diff(learned.transitions.starts))
        empirical[owners, learned.transitions.states] = learned.transitions.probs
        extra = bonus_for(learned.visits, 3, log, "paper")
        assert (extra < 3.0).all()
        exact = q_table(world.transitions, world.gains, np.full(3, np.inf))
        for scale in (1.0, 0.0):
            q = q_table(empirical.reshape(2, 2, 2), world.gains + scale * extra, np.full(3, 3.0))
            wrong = bool((q < exact - 1e-12).any())
            failures += wrong and scale == 1.0
            blind += wrong and scale == 0.0
    assert failures <= 36
    assert blind > 100


def test_with_enough_samples_the_faithful_learner_has_no_regret():
    """Ten billion samples of every pair make the bonus smaller than any difference between actions here."""
    models = small_world(3)
    agent = ao.agents.OracleUCBVI(0.1, 3, 1)
    history = ao.run(agent, models, ao.streams.uniform(), 1)
    assert history["regret"][0] > 0.01
    known = agent.learning.nothing()
    known.counts.add(sampled_counts(models[0], 10**10, np.random.default_rng(0)))
    plan = agent.learning.act(known, 3, streams(0, 1)[0]).table.plan.reshape(3, 2)
    assert models[0].policy_values(plan)[0] == pytest.approx(models[0].optimal_values(3)[0], abs=1e-9)


def test_optimistic_rewards_are_upper_bounds_and_close_in():
    """Means of n noisy rewards plus sqrt(L / 2n): at L = 3 a pair fails with probability at most exp(-3), 5 %.

    Of 400 independent means more than 40 failures have a probability below 1e-5.
    """
    world = ao.MDP(np.full((1, 4, 1), 1.0), [[0.1, 0.4, 0.5, 0.9]])
    learner = UCBVILearning(Setting(1, 4, None, 1), UCBVI(), 3.0)
    failures = 0
    for seed in range(100):
        counts, sums, sources = CountTable(4), learner.tally().sums, streams(seed, 2)
        simulator = Simulator(world.alias_tables, world.gains, 0, sources[0], sources[1], noisy=True)
        simulator.run(Phase(act_uniformly(1, 4), 400, counts, sums))
        learned = estimate(1, counts)
        upper = learner.upper_rewards(learned, sums)
        failures += int((upper < world.rewards).sum())
        assert (upper <= 1.0).all()
        assert (upper - sums / learned.visits <= np.sqrt(3.0 / (2 * learned.visits)) + 1e-12).all()
    assert failures <= 40
    known = UCBVILearning(Setting(1, 4, world.gains, 1), UCBVI(), 3.0)
    assert np.array_equal(known.upper_rewards(learned, known.tally().sums), world.rewards)
    assert len(known.tally().sums) == 0

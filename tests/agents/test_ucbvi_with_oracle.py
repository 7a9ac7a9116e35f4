"""Algorithm 7: UCBVI-CH with external samples."""

import math

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.ucbvi_with_oracle import external_samples
from aomultirl.engine.counts import visits_by_pair
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.learning.ucbvi import estimate

GRID = ao.worlds.gridworld()
SMALL = ao.worlds.random_models(4, 2, 1, 3, 1.0, 3)


def begun(agent, models=SMALL, episodes=10):
    agent.begin(ao.agents.Setting(models.n_states, models.n_actions, models.rewards, episodes, models))
    return agent


def drive(agent, world, seed):
    """One episode of task 0 from state 0 to its end; the agent's stream is that of :func:`started`."""
    own, walk = streams(seed, 2)
    return Simulator(world.alias_tables, world.gains, 0, walk, own).drive(agent.episode(0, own, 0))


def started(agent, seed):
    """The first phase of an episode of task 0, and the episode, which must be closed."""
    episode = agent.episode(0, streams(seed, 2)[0], 0)
    return next(episode), episode


@pytest.mark.parametrize("scale", [1.0, 0.002])
@pytest.mark.parametrize("noisy", [False, True])
def test_without_samples_it_is_ucbvi_to_the_bit(scale, noisy):
    """The printed logarithm has p where the other has p / 3."""
    runs = [
        ao.run(agent, GRID, ao.streams.uniform(), 30, seed=4, noisy_rewards=noisy)
        for agent in (
            ao.agents.UCBVIWithOracle(0.02, 40, 0, 4, bonus_scale=scale),
            ao.agents.OracleUCBVI(3 * 0.02, 40, 4, bonus_scale=scale),
        )
    ]
    for column in ("learning_reward", "regret", "evaluation_reward"):
        assert np.array_equal(runs[0][column], runs[1][column])


def test_the_logarithm_is_the_papers():
    agent = begun(ao.agents.UCBVIWithOracle(0.1, 20, 30))
    assert agent.learning.logarithm == pytest.approx(math.log(5 * 4 * 2 * 10 * (20 + 30) / 0.1))


def slow_plan(visits, transitions, rewards, horizon, log):
    """Algorithm 6 with the bonus of Algorithm 7, in plain Python: Q, (H, S, A)."""
    n_states, n_actions = rewards.shape
    values = [0.0] * n_states
    table = np.zeros((horizon, n_states, n_actions))
    for h in reversed(range(horizon)):
        for s in range(n_states):
            for a in range(n_actions):
                bonus = 7 * horizon * log / math.sqrt(visits[s, a])
                ahead = sum(transitions[s, a, t] * values[t] for t in range(n_states))
                table[h, s, a] = min(horizon, rewards[s, a] + ahead + bonus)
        values = table[h].max(axis=1).tolist()
    return table


def test_plans_are_those_of_the_slow_twin():
    """Six episodes; before each the plan is read off the first phase, and B and H are counted by hand."""
    horizon, samples, episodes = 5, 200_000, 6
    agent = begun(ao.agents.UCBVIWithOracle(0.1, horizon, samples), episodes=episodes)
    log = math.log(5 * 4 * 2 * episodes * (horizon + samples) / 0.1)
    world, history, bought = SMALL[0], np.zeros((4, 2, 4)), np.zeros((4, 2, 4))
    for k in range(1, episodes + 1):
        bought += dense(external_samples(world, samples, streams(k, 2)[0]))
        phase, episode = started(agent, seed=k)
        both = history + bought
        visits = both.sum(axis=2)
        assert (visits == history.sum(axis=2) + k * samples).all()
        table = slow_plan(visits, both / visits[:, :, None], SMALL.rewards, horizon, log)
        plan = phase.behaviour.table.plan.reshape(horizon, 4)
        for h in range(horizon):
            for s in range(4):
                if abs(table[h, s, 0] - table[h, s, 1]) > 1e-9:
                    assert plan[h, s] == table[h, s].argmax()
        episode.close()
        before = agent.kept.known[0].counts if agent.kept.known else None
        seen = np.zeros((4, 2, 4)) if before is None else dense(before)
        assert np.array_equal(seen, history)  # an episode that is given up leaves no trace
        drive(agent, world, seed=k)
        history = dense(agent.kept.known[0].counts)
        assert np.array_equal(dense(agent.kept.external[0]), bought)
    assert history.sum() == episodes * horizon


def dense(table):
    starts, states, visits = table.to_lists()
    counts = np.zeros((len(starts) - 1, 4))
    counts[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), states] = visits
    return counts.reshape(4, 2, 4)


def test_the_bonus_of_pairs_that_were_never_visited_shrinks_like_one_over_the_root_of_kn():
    """A state that nobody reaches: what is planned there has k N samples, and never the cap for want of samples."""
    cut = np.zeros((3, 2, 3))
    cut[0, :, 0] = cut[1, :, 0] = 1.0
    cut[2] = [[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    lonely = ao.ModelSet([ao.MDP(cut, np.zeros((3, 2)), start=0)])
    agent = begun(ao.agents.UCBVIWithOracle(0.1, 4, 25), lonely, 9)
    size = {"states": 3, "actions": 2, "models": 1, "episodes": 9, "failure": 0.3}
    for k in range(1, 10):
        learned = estimate(3, agent._ask(0, streams(k, 1)[0]))
        assert (learned.visits == 25 * k).all()
        bonus = ao.theory.bonus(learned.visits, horizon=4 + 25, learning_horizon=4, **size)
        assert bonus[2] == pytest.approx(7 * 4 * math.log(5 * 3 * 2 * 9 * 29 / 0.1) / math.sqrt(25 * k))
        assert np.isfinite(bonus).all()
        drive(agent, lonely[0], seed=k)
    assert visits_by_pair(agent.kept.known[0].counts).reshape(3, 2)[2].sum() == 0


def test_worlds_have_oracles_of_their_own_and_episodes_are_counted_by_world():
    agent = ao.agents.UCBVIWithOracle(0.1, 10, 7, 4)
    ao.run(agent, GRID, ao.streams.sequence([0, 2, 2, 0, 2]), 5, seed=0)
    assert agent.findings() == {"external_samples": [2 * 7 * 64, 3 * 7 * 64]}
    assert sorted(agent.kept.external) == [0, 2]
    own, other = (visits_by_pair(agent.kept.external[world]) for world in (0, 2))
    assert (own == 14).all()
    assert (other == 21).all()
    for world in (0, 2):  # each draws from its own world alone
        starts, states, _ = agent.kept.external[world].to_lists()
        possible = [set(GRID[world].successors.states[a:b]) for a, b in spans(GRID[world].successors.starts)]
        assert all(set(states[a:b]) <= possible[pair] for pair, (a, b) in enumerate(spans(starts)))


def spans(starts):
    return list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))


def test_with_many_samples_the_papers_own_bonus_learns_at_once():
    """Unscaled, where UCBVI alone acts at random; a false alarm would need an estimate that is off by 0.02."""
    models = ao.ModelSet([SMALL[0]])
    horizon, best = 6, models[0].optimal_values(6)[0][0]
    few, many = (
        ao.run(ao.agents.UCBVIWithOracle(0.1, horizon, samples), models, ao.streams.uniform(), 8, seed=1)
        for samples in (0, 1_000_000)
    )
    assert many["value"].mean() > few["value"].mean()
    assert many["value"][-1] == pytest.approx(best, abs=0.05)


def test_the_bound_is_the_repaired_theorem_for_what_it_is_proved_for():
    models = ao.ModelSet([SMALL[0]])
    agent = begun(ao.agents.UCBVIWithOracle(0.1, 4, 50), models)
    sizes = {"states": 4, "actions": 2, "episodes": 20, "horizon": 4, "samples": 50, "failure": 0.1}
    assert agent.regret_bound(20) == ao.theory.external_samples_bound(**sizes)
    assert begun(ao.agents.UCBVIWithOracle(0.1, 4, 5, bonus_scale=0.1), models).regret_bound(20) is None
    assert begun(ao.agents.UCBVIWithOracle(0.1, 4, 5, 2), models).regret_bound(20) is None
    assert begun(ao.agents.UCBVIWithOracle(0.1, 4, 5), GRID).regret_bound(20) is None


@pytest.mark.long
def test_regret_stays_within_the_bound_where_it_says_something():
    """It may be exceeded with probability 0.1; it is not, by far."""
    world = ao.MDP([[[0.9, 0.1], [0.6, 0.4]], [[0.5, 0.5], [0.5, 0.5]]], [[0.1, 0.0], [1.0, 1.0]], start=0)
    episodes, agent = 6000, ao.agents.UCBVIWithOracle(0.1, 2, 40_000)
    history = ao.run(agent, ao.ModelSet([world]), ao.streams.uniform(), episodes, seed=2, record=("regret",))
    bound = agent.regret_bound(episodes).total
    assert bound < 2 * episodes
    assert history["regret"].sum() < bound / 5


def test_the_inequality_of_the_sums():
    """H = 5, N = 3, z = (5, 5, 5), Z_0 = 9 (E11)."""
    sizes, samples, before = (5, 5, 5), 3, 9
    total, left, right = before, 0.0, 0.0
    for k, size in enumerate(sizes, 1):
        left += size / math.sqrt(k * samples + total)
        right += size / math.sqrt(total)
        total += size
    assert left == pytest.approx(3.50632, abs=1e-5)
    assert math.sqrt(9 / 12) * right == pytest.approx(3.59405, abs=1e-5)
    assert left <= math.sqrt(9 / 12) * right


def test_episodes_that_end_are_learned_from_and_the_oracle_knows_where():
    table = np.zeros((3, 1, 3))
    table[0, 0] = [0.0, 0.5, 0.5]
    table[1, 0] = [1.0, 0.0, 0.0]
    table[2, 0] = [0.0, 0.0, 1.0]
    world = ao.MDP(table, [[0.0], [1.0], [0.0]], start=0, terminal=[2])
    drawn = external_samples(world, 100, streams(0, 1)[0])
    assert visits_by_pair(drawn).tolist() == [100, 100, 0]
    assert set(drawn.ends) == {2}
    assert 20 < drawn.ends[2] < 80
    assert drawn.going_on(3).tolist() == [1.0, 1.0, 0.0]
    agent = ao.agents.UCBVIWithOracle(0.1, 6, 50, bonus_scale=0.0)
    history = ao.run(agent, ao.ModelSet([world]), ao.streams.uniform(), 20, seed=0)
    assert history["regret"].sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ao.agents.UCBVIWithOracle(0.1, 5, -1), "samples must be between 0 and 1000000, not -1"),
        (lambda: ao.agents.UCBVIWithOracle(0.1, 5, 2_000_000), "samples must be between 0 and 1000000, not 2000000"),
        (lambda: ao.agents.UCBVIWithOracle(0.1, 0, 3), "horizon must be at least 1, not 0"),
        (lambda: ao.agents.UCBVIWithOracle(1.5, 5, 3), "failure must be below 1, not 1.5"),
        (lambda: ao.agents.UCBVIWithOracle(0.1, 5, 3, 0), "models must be at least 1, not 0"),
        (lambda: ao.agents.UCBVIWithOracle(0.1, 5, 3, bonus_scale=-1), "bonus_scale must be at least 0, not -1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        begun(make())


def test_it_must_be_told_the_worlds_and_the_task():
    with pytest.raises(ValueError, match="UCBVIWithOracle must be told the worlds, for its oracle"):
        ao.agents.UCBVIWithOracle(0.1, 5, 3).begin(ao.agents.Setting(2, 2, np.zeros((2, 2)), 5))
    agent = begun(ao.agents.UCBVIWithOracle(0.1, 5, 3))
    with pytest.raises(ValueError, match="must be told the task"):
        next(agent.episode(0, streams(0, 1)[0]))

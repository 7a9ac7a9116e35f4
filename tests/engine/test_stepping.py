import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import aomultirl as ao
from aomultirl.engine.behaviours import act_uniformly, follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator, Walk
from aomultirl.engine.walking import NOWHERE
from aomultirl.exploring.explore_id import explore_id
from slow_twins import slow_step, slow_xoshiro
from strategies import worlds


def slow_walk(world, plan, steps, state, stream):
    """One step after the other in plain Python, from the same draws."""
    counts, reward = {}, 0.0
    for h, bits in enumerate(slow_xoshiro(stream, steps)):
        action = int(plan[h, state] if plan.ndim == 2 else plan[state])
        pair = state * world.n_actions + action
        successor = slow_step(world, state, action, bits)
        counts[pair, successor] = counts.get((pair, successor), 0) + 1
        reward += world.rewards[state, action]
        state = successor
    return state, reward, counts


def run(world, plan, steps, state, seed):
    counts = CountTable(world.n_states * world.n_actions)
    sources = streams(seed, 2)
    simulator = Simulator(world.alias_tables, world.gains, state, sources[0], sources[1])
    outcome = simulator.run(Phase(follow(plan), steps, counts, np.empty(0)))
    assert outcome.steps == steps
    walk = Walk(outcome.state, outcome.reward, counts)
    starts, states, visits = walk.counts.to_lists()
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return walk, {(int(p), int(s)): int(n) for p, s, n in zip(owners, states, visits, strict=True)}


@settings(deadline=None, max_examples=60)
@given(worlds(max_states=8), st.booleans(), st.integers(0, 10**6))
def test_equals_slow_walk(world, stationary, seed):
    rng = np.random.default_rng(seed)
    steps = 60
    shape = world.n_states if stationary else (steps, world.n_states)
    plan = rng.integers(0, world.n_actions, shape).astype(np.int32)
    walk, counts = run(world, plan, steps, 0, seed)
    state, reward, slow = slow_walk(world, plan, steps, 0, streams(seed, 1)[0])
    assert (walk.state, counts) == (state, slow)
    assert walk.reward == pytest.approx(reward, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(worlds(max_states=5), st.integers(0, 10**6))
def test_long_phases_equal_slow_walk(world, seed):
    """In phases with more steps than the alias tables have entries, these remember where they are counted."""
    steps = len(world.alias_tables.cells) + 100
    plan = np.random.default_rng(seed).integers(0, world.n_actions, world.n_states).astype(np.int32)
    walk, counts = run(world, plan, steps, 0, seed)
    state, reward, slow = slow_walk(world, plan, steps, 0, streams(seed, 1)[0])
    assert (walk.state, counts) == (state, slow)
    assert walk.reward == pytest.approx(reward, abs=1e-9)


def test_counts_that_move_are_not_counted_elsewhere():
    """Rows of forty successors, which move several times while the entries of their pairs are remembered."""
    world = ao.worlds.random_models(40, 2, 1, 40, rng=1)[0]
    steps = 2 * len(world.alias_tables.cells)
    plan = np.arange(40, dtype=np.int32) % 2
    walk, counts = run(world, plan, steps, 3, 5)
    state, _, slow = slow_walk(world, plan, steps, 3, streams(5, 1)[0])
    assert (walk.state, counts) == (state, slow)


def grid_walk(kind, parts):
    """What comes of phases of so many steps in a grid, one after another, until one reaches its aim."""
    world = ao.worlds.gridworld(edges="stay")[1]
    terminal = np.arange(16) == 15
    counts, sources = CountTable(64), streams(3, 2)
    sums = np.zeros(64) if kind == "sums" else np.empty(0)
    ends = terminal if kind == "ending" else NOWHERE
    simulator = Simulator(world.alias_tables, world.gains, 5, *sources, noisy=kind == "noisy", terminal=ends)
    behaviour = act_uniformly(16, 4)
    if kind in ("exploring", "ending"):
        targets = np.zeros((16, 4), np.bool_)
        targets[[1, 8, 2], [0, 3, 1]] = True
        behaviour = explore_id(targets, 300)
    total, taken, finished = 0.0, 0, False
    for steps in parts:
        if not finished:
            outcome = simulator.run(Phase(behaviour, steps, counts, sums))
            total, taken, finished = total + outcome.reward, taken + outcome.steps, outcome.finished
    found = [array.tolist() for array in counts.to_lists()]
    return simulator.state, total, taken, finished, sums.tolist(), found, sources.tolist()


@pytest.mark.parametrize("kind", ["plain", "sums", "noisy", "ending", "exploring"])
def test_a_long_phase_is_many_short_ones(kind):
    """Those of 50 steps are too short for anything to be remembered."""
    assert grid_walk(kind, [4000]) == grid_walk(kind, [50] * 80)


@pytest.mark.parametrize("seed", range(4))
def test_a_long_phase_is_many_short_ones_where_rows_are_wide(seed):
    """Rows of up to 90 successors are moved and hashed anew while slots are remembered; short phases remember none."""
    rng = np.random.default_rng(seed)
    shape = (90, 2)
    world = ao.MDP(rng.dirichlet(np.full(90, 0.05 if seed % 2 else 1.0), size=shape), rng.random(shape))
    entries = len(world.alias_tables.cells)

    def walked(part):
        sources, counts = streams(seed, 2), CountTable(180)
        simulator = Simulator(world.alias_tables, world.gains, 0, sources[0], sources[1])
        for _ in range(2 * entries // part):
            simulator.run(Phase(act_uniformly(90, 2), part, counts, np.empty(0)))
        return simulator.state, [each.tolist() for each in counts.to_lists()], sources.tolist()

    _, counts, _ = remembered = walked(2 * entries)
    assert remembered == walked(entries // 4)
    assert sum(counts[2]) == 2 * entries
    assert max(np.diff(counts[0])) > 8  # longer than rows that are looked up without a search


def test_acting_at_random_is_uniform_and_noisy_rewards_have_their_means():
    """False-alarm rate below 0.1 % each: 4 standard errors, and chi-square at 0.1 %."""
    world = ao.MDP(np.full((3, 4, 3), 1 / 3), np.linspace(0, 1, 12).reshape(3, 4))
    counts, sums, sources = CountTable(12), np.zeros(12), streams(2, 2)
    simulator = Simulator(world.alias_tables, world.gains, 0, sources[0], sources[1], noisy=True)
    outcome = simulator.run(Phase(act_uniformly(3, 4), 120_000, counts, sums))
    starts, _, visits = counts.to_lists()
    n = np.add.reduceat(visits, starts[:-1])
    assert stats.chisquare(n).pvalue > 1e-3
    means = world.rewards.reshape(-1)
    assert outcome.reward == sums.sum()
    assert (np.abs(sums / n - means) <= 4 * np.sqrt(means * (1 - means) / n)).all()


def test_large_world_makes_room_on_the_way():
    world = ao.worlds.random_models(2000, 2, 1, 40, rng=1)[0]
    plan = np.zeros(2000, np.int32)
    walk, counts = run(world, plan, 60_000, 3, 5)
    state, _, slow = slow_walk(world, plan, 60_000, 3, streams(5, 1)[0])
    assert (walk.state, counts) == (state, slow)


def test_frequencies_are_the_transitions():
    """Chi-square on one long walk; the seed is fixed, the false-alarm rate of the test is 0.1 %."""
    world = ao.worlds.gridworld(edges="third")[0]
    plan = world.optimal_policy(200)[0]
    _, counts = run(world, plan, 400_000, 5, 11)
    statistic, freedom = 0.0, 0
    for s in range(16):
        pair = s * 4 + int(plan[s])
        row = world.transitions[s, plan[s]]
        visits = sum(n for (p, _), n in counts.items() if p == pair)
        if visits >= 200:
            support = np.flatnonzero(row)
            seen = np.array([counts.get((pair, int(t)), 0) for t in support])
            statistic += ((seen - visits * row[support]) ** 2 / (visits * row[support])).sum()
            freedom += len(support) - 1
    assert freedom >= 15
    assert stats.chi2.sf(statistic, freedom) > 1e-3

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import aomultirl as ao
from aomultirl.engine.counts import CountTable, insert
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring import gosprl
from aomultirl.exploring.gosprl import ACCURACY, _least_way, optimistic_path


def explore(world, targets, needed, steps=10**6, seed=0, start=0):
    counts, sources = CountTable(world.n_states * world.n_actions), streams(seed, 2)
    simulator = Simulator(world.alias_tables, world.gains, start, sources[0], sources[1])
    outcome = simulator.run(Phase(gosprl(targets, needed, 0.01), steps, counts, np.empty(0)))
    starts, _, visits = counts.to_lists()
    n = np.add.reduceat(np.append(visits, 0), starts[:-1]) * (np.diff(starts) > 0)
    return outcome, n.reshape(world.n_states, world.n_actions)


def test_a_cycle_takes_exactly_as_long_as_it_must():
    world = ao.MDP([[{(s + 1) % 5: 1.0}] for s in range(5)], np.zeros((5, 1)))
    outcome, visits = explore(world, np.ones((5, 1), bool), 7)
    assert (outcome.steps, outcome.finished) == (35, True)
    assert (visits == 7).all()


def test_the_far_end_of_a_corridor():
    """Each sample leads away from the only target, so at least every second step is a way back."""
    n = 12
    rows = [[{max(s - 1, 0): 1.0}, {min(s + 1, n - 1): 1.0}] for s in range(n)]
    targets = np.zeros((n, 2), bool)
    targets[n - 1, 0] = True
    outcome, visits = explore(ao.MDP(rows, np.zeros((n, 2))), targets, 200)
    assert outcome.finished
    assert visits[n - 1, 0] == 200
    assert outcome.steps >= 2 * 200 - 1 + n - 1


@pytest.mark.parametrize("edges", ["third", "stay"])
def test_steps_on_the_papers_grid(edges):
    """A reference run of the published algorithm took 14.2 to 14.9 thousand steps; ExploreID 12 to 85."""
    targets = np.zeros((16, 4), bool)
    targets[[1, 8, 2], [0, 3, 1]] = True
    for seed in range(3):
        outcome, visits = explore(ao.worlds.gridworld(edges=edges)[0], targets, 1043, seed=seed, start=5)
        assert outcome.finished
        assert (visits[targets] == 1043).all()
        assert outcome.steps < 15_000


def test_infinite_hitting_time_is_no_obstacle():
    world = ao.worlds.two_jao(2, 16)[0]
    outcome, visits = explore(world, np.ones((3, 4), bool), 20)
    assert outcome.finished
    assert (visits >= 20).all()


def test_path_with_many_samples_is_the_shortest_one():
    """With a hundred million samples of every pair the optimistic values are the true ones, to three digits."""
    world = ao.worlds.gridworld()[1]
    table = CountTable(64)
    rows = world.transitions.reshape(64, 16)
    for pair, row in enumerate(rows):
        for state in np.flatnonzero(row):
            if insert(table.record, pair, int(state)):
                table.make_room()
    record = table.record
    for pair, row in enumerate(rows):
        head = int(record.heads[pair])
        for slot in range(head >> 12, (head >> 12) + (1 << (head >> 6 & 63))):
            if record.slots[2 * slot] >= 0:
                record.slots[2 * slot + 1] = round(10**10 * row[record.slots[2 * slot]])
    goal = np.zeros(16, bool)
    goal[12] = True
    found = optimistic_path(record, goal, 4, 1e4, np.zeros(16, np.int64))
    values = np.zeros(16)
    for _ in range(3000):
        values = np.where(goal, 0.0, 1.0 + (world.transitions @ values).min(axis=1))
    assert found == pytest.approx(values, rel=0.02)
    assert (found <= values + 1e-6).all()


@st.composite
def counted(draw):
    """(visits (S, A, S), failure): none of some pairs and many of others, so that intervals are wide and narrow."""
    n_states, n_actions = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(n_states, 0.4), (n_states, n_actions))
    visits = rng.choice([0, 3, 60, 400, 3_000, 40_000], (n_states, n_actions))
    return rng.multinomial(visits, rows), draw(st.sampled_from([0.01, 0.1, 0.5]))


def table_of(visits):
    n_states, n_actions = visits.shape[:2]
    table = CountTable(n_states * n_actions)
    for s, a, successor in zip(*np.nonzero(visits), strict=True):
        table.count(int(s) * n_actions + int(a), int(successor), int(visits[s, a, successor]))
    return table.record


def slow_interval(row, sizes, failure):
    """(least, most) probability of each successor, by the formula of the module."""
    n = int(row.sum())
    if n == 0:
        return [(0.0, 1.0)] * len(row)
    n_states, n_actions = sizes
    x = math.log(2 * n_states * n_actions * n / failure)
    shares = [int(k) / n for k in row]
    radii = [2 * math.sqrt(p * (1 - p) * x / n) + 6 * x / n for p in shares]
    return [(max(0.0, p - r), min(1.0, p + r)) for p, r in zip(shares, radii, strict=True)]


def slow_least_way(row, values, sizes, failure):
    """min p . values over the interval, as a linear program."""
    bounds = slow_interval(row, sizes, failure)
    return linprog(values, A_eq=[[1.0] * len(values)], b_eq=[1.0], bounds=bounds).fun


def least_way(visits, s, a, values, failure):
    n_states, n_actions = visits.shape[:2]
    confidence = gosprl(np.ones((n_states, n_actions), bool), 1, failure).confidence
    return _least_way(table_of(visits), s * n_actions + a, values, np.argsort(values), confidence)


@settings(deadline=None, max_examples=100)
@given(counted(), st.integers(0, 2**32 - 1))
def test_the_least_way_is_that_of_a_linear_program(case, seed):
    visits, failure = case
    values = np.random.default_rng(seed).random(len(visits)) * 10.0
    for s, a in np.ndindex(*visits.shape[:2]):
        slow = slow_least_way(visits[s, a], values, visits.shape[:2], failure)
        assert least_way(visits, s, a, values, failure) == pytest.approx(slow, abs=1e-7)


def test_the_interval_of_a_coin_worked_out_by_hand():
    """300 heads of 1000 with S A = 2 and delta = 0.1: x = ln 40000; what leads to value 0 is as likely as may be."""
    visits = np.zeros((2, 1, 2), np.int64)
    visits[0, 0] = 300, 700
    x = math.log(40_000)
    radius = 2 * math.sqrt(0.21 * x / 1000) + 6 * x / 1000
    assert least_way(visits, 0, 0, np.array([0.0, 1.0]), 0.1) == pytest.approx(0.7 - radius)
    assert least_way(visits, 1, 0, np.array([4.0, 1.0]), 0.1) == 1.0


@settings(deadline=None, max_examples=20)
@given(counted(), st.data())
def test_the_optimistic_path_is_that_of_slow_value_iteration(case, data):
    visits, failure = case
    n_states, n_actions = visits.shape[:2]
    goal = np.zeros(n_states, bool)
    goal[data.draw(st.integers(0, n_states - 1))] = True
    plan = np.zeros(n_states, np.int64)
    confidence = gosprl(np.ones((n_states, n_actions), bool), 1, failure).confidence
    found = optimistic_path(table_of(visits), goal, n_actions, confidence, plan)
    values = np.zeros(n_states)
    while True:
        ways = [
            [1.0 + slow_least_way(visits[s, a], values, (n_states, n_actions), failure) for a in range(n_actions)]
            for s in range(n_states)
        ]
        fresh = np.where(goal, 0.0, np.min(ways, axis=1))
        moved, values = np.abs(fresh - values).max(), fresh
        if moved <= ACCURACY * values.max() or values.max() > 50.0:
            break
    if values.max() <= 50.0:
        assert found == pytest.approx(values, rel=1e-5, abs=1e-6)
        for s in np.flatnonzero(~goal):
            assert ways[s][plan[s]] == pytest.approx(min(ways[s]), rel=1e-5)
    else:
        assert found.max() > 49.0

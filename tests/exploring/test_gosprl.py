import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.counts import CountTable, insert
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring import gosprl
from aomultirl.exploring.gosprl import optimistic_path


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

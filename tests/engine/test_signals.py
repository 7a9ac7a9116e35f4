"""Kernels that would take minutes, or for ever, end at once when a signal comes."""

import time

import numpy as np
import pytest

import aomultirl as ao
from alarms import alarm
from aomultirl.engine import planning
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.sampling import alias_tables
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.engine.successors import Successors
from aomultirl.exploring.gosprl import optimistic_path
from aomultirl.geometry import passage_times, reachability
from aomultirl.identifying import bets
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import Knowledge, TwoRows
from aomultirl.learning import greedy, shared_rows
from aomultirl.learning.extended_value_iteration import extended_value_iteration
from aomultirl.theory import CoinGame, SuccessiveElimination, TrackAndStop, UniformAllocation, success_curve
from aomultirl.theory.average_reward import optimal_gain

PATIENCE = 1.0
"""Seconds of this process from the alarm to the exception; some milliseconds where no memory is cleared first."""
GRID = ao.worlds.gridworld()[0]
GAME = CoinGame(rows=100, bias=0.05)


def walk(steps):
    counts, sources = CountTable(64), streams(0, 2)
    simulator = Simulator(GRID.alias_tables, GRID.gains, 0, *sources)
    simulator.run(Phase(act_uniformly(16, 4), steps, counts, np.empty(0)))
    return counts


def circle(n_states):
    """From every state to the next: values never settle."""
    lists = Successors(np.arange(n_states + 1), np.roll(np.arange(n_states), -1).astype(np.int32), np.ones(n_states))
    return ao.MDP(lists, np.linspace(0.0, 1.0, n_states).reshape(-1, 1))


def dense_chain(n_states):
    """Every state leads everywhere, with one action."""
    states = np.tile(np.arange(n_states, dtype=np.int32), n_states)
    return Successors(np.arange(n_states + 1) * n_states, states, np.full(n_states**2, 1.0 / n_states))


def long_plan(horizon):
    world = circle(7)
    return planning.first_values(world.planning_tables, world.gains, horizon)


def optimistic(n_states):
    world = circle(n_states)
    lists = world.successors
    radii, rewards = np.zeros(n_states), world.gains.reshape(-1)
    return extended_value_iteration(lists.starts, lists.states, lists.probs, radii, rewards, n_states, 0.0)


def path(n_states, visits):
    """To a goal that is not there."""
    counts = CountTable(n_states)
    for pair in range(n_states):
        counts.count(pair, (pair + 1) % n_states, visits)
    plan = np.zeros(n_states, np.int64)
    return optimistic_path(counts.record, np.zeros(n_states, bool), 1, 10.0, plan)


def best_action(sweeps):
    lists = GRID.successors
    visits = np.ones(len(lists.states), np.int64)
    return greedy.iterate(lists.starts, lists.states, visits, GRID.gains, np.ones(GRID.n_states), 0.0, 0.99, sweeps)


def sharing(n_worlds, n_pairs):
    row = 40
    seen = np.ones((n_worlds, n_pairs * row), np.int64)
    visits = np.full((n_worlds, n_pairs), row)
    known = Knowledge(np.arange(n_pairs + 1) * row, np.zeros(seen.shape[1], np.int32), seen, visits)
    out, mass = np.zeros((n_worlds + 1, seen.shape[1])), np.zeros((n_worlds + 1, n_pairs))
    return shared_rows._share(known, shared_rows.SharedRows(out, mass, np.ones((3, n_pairs)), 1.0, 0.5))


def bet(successors):
    tables, rng = gammas(16), np.random.default_rng(0)
    mine, rival = rng.integers(1, 50, (2, successors))
    rows = TwoRows(rival, int(rival.sum()), mine, int(mine.sum()))
    return bets.find_bet(tables, rows, 5.0, np.zeros(successors + 1), np.zeros(4))


def sweep_up(n_states):
    """Every sweep brings the news of the target one state further."""
    reachability._sweep_up(circle(n_states).successors, n_states - 1, np.zeros(n_states, np.int64), 10**9)


def alias(n_pairs):
    row = 1000
    states = np.tile(np.arange(row, dtype=np.int32), n_pairs)
    return alias_tables(Successors(np.arange(n_pairs + 1) * row, states, np.full(n_pairs * row, 1.0 / row)))


KERNELS = {
    "walking": (walk, (10,), (10**12,)),
    "planning": (long_plan, (20_000,), (10**12,)),
    "average reward": (lambda within: optimal_gain(GRID, within), (1e-3,), (1e-18,)),
    "extended value iteration": (optimistic, (1,), (1000,)),
    "optimistic path": (path, (3, 1), (1000, 10**6)),
    "greedy": (best_action, (1,), (10**9,)),
    "sweeping up": (sweep_up, (2,), (30_000,)),
    "elimination": (lambda n: passage_times.eliminate(dense_chain(n), np.zeros(n, np.int64), 0), (3,), (2500,)),
    "coins, tracking": (lambda n: success_curve(TrackAndStop(), GAME, [n], repetitions=1), (10,), (10**10,)),
    "coins, eliminating": (
        lambda n: success_curve(SuccessiveElimination(1e-300), GAME, [10**9], repetitions=n),
        (1,),
        (10**6,),
    ),
    "coins, spreading": (lambda n: success_curve(UniformAllocation(), GAME, [10**6], repetitions=n), (1,), (10**7,)),
    "sharing of rows": (sharing, (2, 2), (40, 1000)),
    "bets": (bet, (3,), (60_000,)),
    "alias tables": (alias, (1,), (30_000,)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_signal_ends_a_long_kernel(name):
    work, short, long = KERNELS[name]
    work(*short)  # compiled or loaded
    begin = time.process_time()  # which other processes do not slow down
    with pytest.raises(KeyboardInterrupt), alarm(0.15):
        work(*long)
    assert time.process_time() - begin < 0.15 + PATIENCE
    work(*short)  # nothing is broken afterwards

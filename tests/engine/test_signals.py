"""Kernels that would take minutes, or for ever, end at once when a signal comes."""

import time

import numpy as np
import pytest

import aomultirl as ao
from alarms import alarm
from aomultirl.engine import planning
from aomultirl.engine.behaviours import act_uniformly, empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.sampling import alias_tables
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.engine.successors import Successors
from aomultirl.exploring.gosprl import optimistic_path
from aomultirl.geometry import passage_times, reachability
from aomultirl.identifying import bets
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import TwoRows
from aomultirl.learning import alpha_vectors, greedy, optimism, planner, regrouping, row_likelihoods, world_rows
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


WIDTH = 40
"""Places of a row."""


def rows_side_by_side(n_worlds, n_rows):
    """(first, kinds, counts, theta, alpha) of rows that are all alike, which take no memory."""
    counts = np.broadcast_to(1.0, (n_worlds, n_rows * WIDTH))
    alpha = np.broadcast_to(1.0 / WIDTH, n_rows * WIDTH)
    return np.arange(n_rows + 1) * WIDTH, np.zeros(n_rows, np.int8), counts, np.ones(n_rows), alpha


def weighing(n_worlds, n_rows):
    first, _, counts, theta, alpha = rows_side_by_side(n_worlds, n_rows)
    own, together = np.zeros((n_worlds, n_rows)), np.zeros(n_rows)
    return row_likelihoods.weigh_rows(first, counts, counts[0], theta, alpha, own, together)


def spreading(n_worlds, n_rows):
    first, kinds, counts, theta, _ = rows_side_by_side(n_worlds, n_rows)
    return row_likelihoods.fit_spreads(first, kinds, counts, counts[0], theta)


def merging(n_rows):
    first, kinds, counts, theta, alpha = rows_side_by_side(2, n_rows)
    numbers = -np.ones((2, n_rows)), -np.ones(n_rows), theta, alpha, np.full(3, 0.5), np.ones(2)
    return regrouping.ln_gain_of_merging(first, kinds, counts, *numbers, 0, 1)


def past_episodes(n_episodes, n_rows):
    """(owners, (starts, places, counts)) of episodes that have seen every place once."""
    places = np.tile(np.arange(n_rows * WIDTH), n_episodes)
    starts = np.arange(n_episodes + 1) * n_rows * WIDTH
    return np.repeat(np.arange(n_rows), WIDTH), (starts, places, np.broadcast_to(1.0, len(places)))


def telling(n_episodes, n_rows):
    owners, past = past_episodes(n_episodes, n_rows)
    return regrouping.find_telling_rows(owners, n_rows, *past)


def parting(n_episodes, n_rows):
    first, kinds, _, theta, alpha = rows_side_by_side(1, n_rows)
    owners, past = past_episodes(n_episodes, n_rows)
    prior = theta, alpha, np.full(3, 0.5), np.ones(n_rows, bool), np.zeros(len(owners))
    return regrouping.part_episodes(owners, first, kinds, *prior, *past, np.arange(n_episodes), np.array([0, 1]))


def dense_planner(n_worlds, n_states):
    """A planner of worlds in which every state leads everywhere, with one action."""
    keys = np.arange(n_states * (n_states + 1))
    layout = world_rows.WorldRows(n_states, 1, False, keys).layout
    counted = np.ones((n_worlds, len(layout.outcomes)))
    return planner.planner(layout, counted, np.linspace(0.0, 1.0, n_states)[:, None], 100, planner.Options())


def sweeping(sweeps):
    optimism.sweep(dense_planner(1, 20), empty_table(20), CountTable(20).record, 0, sweeps, 0, True)


def vectors(n_worlds, n_states):
    plan = dense_planner(n_worlds, n_states)
    made = alpha_vectors.vectors(plan, np.full(n_worlds, 1.0 / n_worlds), None)
    alpha_vectors.fill_in(plan, made, CountTable(n_states).record)


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
    "weighing rows": (weighing, (2, 2), (1400, 2000)),
    "how spread rows are": (spreading, (2, 2), (6000, 2000)),
    "merging": (merging, (2,), (1_800_000,)),
    "telling rows": (telling, (2, 2), (400, 800)),
    "parting": (parting, (2, 2), (200, 500)),
    "sweeping over states": (sweeping, (1,), (10**7,)),
    "vectors": (vectors, (2, 3), (36, 100)),
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

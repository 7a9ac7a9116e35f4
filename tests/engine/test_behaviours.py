"""Behaviours of a stranger: the same numbers in both drivers, which are those of a slow twin in plain Python."""

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.behaviours import Fixed, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator, check_phase
from slow_twins import slow_step, slow_xoshiro
from stranger_behaviours import DISCOUNT, RATE, WANDER, by_step, q_learning
from strategies import ending_worlds

STEPS = 40


class SlowQLearning:
    """Every decision from scratch."""

    def __init__(self, world, stream):
        self.values = [[0.0] * world.n_actions for _ in range(world.n_states)]
        self.bits = iter(slow_xoshiro(stream, 2 * STEPS))

    def below(self, n):
        return (next(self.bits) >> 32) * n >> 32

    def act(self, step, state):
        row = self.values[state]
        ties = [a for a, value in enumerate(row) if value == max(row)]
        action = ties[self.below(len(ties))] if len(ties) > 1 else ties[0]
        return self.below(len(row)) if step % WANDER == WANDER - 1 else action

    def learn(self, step, state, action, successor, reward, ended):
        target = reward + (0.0 if ended else DISCOUNT * max(self.values[successor]))
        self.values[state][action] += RATE / (1 + step) * (target - self.values[state][action])
        return False


class SlowByStep:
    """What was earned, by step."""

    def __init__(self, world, aim):
        self.values = np.zeros((STEPS, world.n_states, world.n_actions))
        self.aim = aim

    def act(self, step, state):
        return int(self.values[step, state].argmin())

    def learn(self, step, state, action, successor, reward, ended):
        self.values[step, state, action] += 1.0 + reward
        return self.values.sum() >= self.aim


def slow_run(world, agent, stream, noisy):
    """(steps, states, rewards) in plain Python: the truth."""
    bits, state, path, earned = iter(slow_xoshiro(stream, 2 * STEPS)), 0, [0], []
    for step in range(STEPS):
        action = agent.act(step, state)
        successor = slow_step(world, state, action, next(bits))
        reward = float(world.rewards[state, action])
        if noisy:
            reward = float((next(bits) >> 11) * 2.0**-53 < reward)
        path.append(successor)
        earned.append(reward)
        ended = bool(world.terminal[successor])
        if agent.learn(step, state, action, successor, reward, ended) or ended:
            break
        state = successor
    return path, earned


def simulated(world, behaviour, seed, noisy):
    sources = streams(seed, 2)
    simulator = Simulator(world.alias_tables, world.gains, 0, sources[0], sources[1], noisy, world.ends)
    counts = CountTable(world.n_states * world.n_actions)
    outcome = simulator.run(Phase(behaviour, STEPS, counts, np.empty(0)))
    return outcome, counts, sources[1]


def told(world, behaviour, seed, path, earned):
    """The other driver, told what happened in the slow run."""
    counts, stream = CountTable(world.n_states * world.n_actions), streams(seed, 2)[1]
    outcomes = []

    def episode():
        outcomes.append((yield Phase(behaviour, STEPS, counts, np.empty(0))))

    session = Session(episode(), world.n_states, world.n_actions, 0, stream)
    for successor, reward in zip(path[1:], earned, strict=True):
        session.act()
        session.observe(successor, reward, bool(world.terminal[successor]))
    assert session.over
    return outcomes[0], counts, stream


@pytest.mark.parametrize("kind", ["at every step", "by step"])
@settings(deadline=None, max_examples=30)
@given(world=ending_worlds(max_states=5), seed=st.integers(0, 10**6), noisy=st.booleans(), aim=st.floats(1.0, 120.0))
def test_both_drivers_hand_over_the_numbers_of_the_slow_twin(kind, world, seed, noisy, aim):
    if kind == "by step":
        slow = SlowByStep(world, aim)
        fast = [by_step(STEPS, world.n_states, world.n_actions, aim) for _ in range(2)]
    else:
        slow = SlowQLearning(world, streams(seed, 2)[1])
        fast = [q_learning(world.n_states, world.n_actions) for _ in range(2)]
    path, earned = slow_run(world, slow, streams(seed, 2)[0], noisy)
    ours, counts, stream = simulated(world, fast[0], seed, noisy)
    theirs, other_counts, other_stream = told(world, fast[1], seed, path, earned)
    ended = bool(world.terminal[path[-1]])
    finished = kind == "by step" and bool(slow.values.sum() >= aim)
    assert ours == theirs == (len(earned), path[-1], reduce(add, earned, 0.0), finished, ended)
    for behaviour in fast:
        assert np.array_equal(behaviour[1], slow.values)
    assert np.array_equal(stream, other_stream)
    assert all(map(np.array_equal, counts.to_lists(), other_counts.to_lists()))
    assert counts.ends == other_counts.ends == ({path[-1]: 1} if ended else {})


class Unknown(NamedTuple):
    """Never registered."""

    table: Table


class Headless(NamedTuple):
    """Its table is not where it must be."""

    values: int
    table: Table


class Careless(NamedTuple):
    """Its kernels are wrong in one way or another."""

    table: Table


@kernel
def short(behaviour, counts, state, stream):
    return None


@kernel
def idle(behaviour, counts, step, state, stream):
    return None


@kernel
def swapped(behaviour, counts, state, step, stream):
    return None


@kernel
def rewarded_early(b, c, h, s, reward, a, t, e):
    return False


def test_a_behaviour_whose_class_was_never_registered():
    with pytest.raises(ValueError, match=r"the behaviour Unknown was never registered: call register\(Unknown"):
        check_phase(Phase(Unknown(empty_table(2)), 3, CountTable(4), np.empty(0)), 2, 2)


@pytest.mark.parametrize(
    ("record", "kernels", "message"),
    [
        (dict, {}, "dict cannot be registered: a behaviour is a NamedTuple whose first field is table"),
        (3, {}, "3 cannot be registered: a behaviour is a NamedTuple"),
        (Headless, {}, "Headless cannot be registered: its first field must be table, not values"),
        (Fixed, {}, "Fixed is registered already"),
        (Careless, {"prepare": print}, "Careless cannot be registered: its prepare must be compiled"),
        (
            Careless,
            {"prepare": short},
            r"its prepare takes 4 arguments, not the 5 \(behaviour, counts, step, state, st",
        ),
        (Careless, {"attend": idle}, "its attend takes 5 arguments, not the 8"),
        (
            Careless,
            {"prepare": swapped},
            r"its prepare takes state where step comes; the order is \(behaviour, counts, step, state, stream\)$",
        ),
        (Careless, {"attend": rewarded_early}, "its attend takes reward where action comes"),
    ],
)
def test_what_cannot_be_registered(record, kernels, message):
    with pytest.raises(ValueError, match=message):
        register(record, **kernels)


class Forgetful(NamedTuple):
    """It writes ``entry`` where it is asked for an action."""

    table: Table
    entry: int


@kernel
def write(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = behaviour.entry


register(Forgetful, prepare=write)


@pytest.mark.parametrize("entry", [-1, 3])
def test_a_behaviour_that_fills_in_no_action_is_refused_by_both_drivers(entry):
    world = ao.MDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))
    message = f"the behaviour Forgetful was asked for state 0 at step 0, and its plan says {entry}"
    with pytest.raises(ValueError, match=message):
        simulated(world, Forgetful(empty_table(2), entry), 0, False)
    with pytest.raises(ValueError, match=message):
        told(world, Forgetful(empty_table(2), entry), 0, [0, 1], [0.0])


class Renamed(NamedTuple):
    """Its kernel has names of its own for what it takes."""

    table: Table


@kernel
def renamed(b, seen, h, s, source):
    b.table.plan[s] = 0


def test_kernels_may_have_names_of_their_own_for_what_they_take():
    register(Renamed, prepare=renamed)
    world = ao.MDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))
    assert simulated(world, Renamed(empty_table(2)), 0, False)[0].steps == STEPS

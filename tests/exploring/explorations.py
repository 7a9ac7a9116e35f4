"""What the tests of several explorers share: worlds, targets, and a run with what is worth looking at afterwards."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import draw_below, streams
from aomultirl.engine.stepping import Phase, Simulator
from slow_twins import slow_step, slow_xoshiro
from strategies import worlds


class Run:
    """One run of an explorer's kernels from fresh or given counts; ``go`` takes further steps with its behaviour."""

    def __init__(self, explorer, world, targets, needed, steps=10**6, state=0, seed=0, counts=None, failure=0.01):
        self.world = world
        self.counts = CountTable(world.n_states * world.n_actions) if counts is None else counts
        self.behaviour = explorer.behaviour(targets, needed, failure)
        self.sources = streams(seed, 2)
        self.simulator = Simulator(world.alias_tables, world.gains, state, self.sources[0], self.sources[1])
        self.go(steps)

    def go(self, steps):
        self.outcome = self.simulator.run(Phase(self.behaviour, steps, self.counts, np.empty(0)))

    @property
    def seen(self):
        """{(s, a): {successor: visits}}."""
        starts, states, visits = self.counts.to_lists()
        return {
            divmod(pair, self.world.n_actions): dict(
                zip(states[first:last].tolist(), visits[first:last].tolist(), strict=True)
            )
            for pair, (first, last) in enumerate(pairwise(starts))
        }

    @property
    def visits(self):
        """(S, A)."""
        seen = self.seen
        return np.array([sum(seen[key].values()) for key in sorted(seen)]).reshape(self.world.n_states, -1)


class SlowExplorer:
    """Base of the slow twins: a dict of counts, draws with Python's integers, every decision made from scratch."""

    def __init__(self, targets, needed, stream, steps):
        self.targets, self.needed = targets, needed
        self.n_states, self.n_actions = targets.shape
        self.seen = {(s, a): {} for s in range(self.n_states) for a in range(self.n_actions)}
        self.bits, self.drawn = slow_xoshiro(stream, 2 * steps), 0

    def visits(self, s, a):
        return sum(self.seen[s, a].values())

    def missing(self, s):
        """Target actions of s without their visits."""
        return [a for a in range(self.n_actions) if self.targets[s, a] and self.visits(s, a) < self.needed]

    def below(self, n):
        self.drawn += 1
        return (self.bits[self.drawn - 1] >> 32) * n >> 32

    def one_of(self, actions):
        """One of equally good actions; drawn only where there are several."""
        return actions[0] if len(actions) == 1 else actions[self.below(len(actions))]

    def walk(self, world, steps, state, stream):
        """(steps taken, last state, whether it has finished)."""
        for taken, bits in enumerate(slow_xoshiro(stream, steps)):
            action = self.act(state)
            successor = slow_step(world, state, action, bits)
            row = self.seen[state, action]
            row[successor] = row.get(successor, 0) + 1
            self.arrived(successor)
            state = successor
            if not any(self.missing(s) for s in range(self.n_states)):
                return taken + 1, state, True
        return steps, state, False

    def arrived(self, state):
        """For twins that plan."""


def advanced(stream, draws):
    """The words of a stream after so many draws."""
    words = stream.copy()
    for _ in range(draws):
        draw_below(1, words)
    return words


def assert_equals_slow(run, twin, world, steps, state, fresh):
    """The kernels' run and the twin's: visits, outcome, and how often each stream was drawn from."""
    taken, last, finished = twin.walk(world, steps, state, fresh[0])
    assert run.seen == twin.seen
    assert (run.outcome.steps, run.outcome.state, run.outcome.finished) == (taken, last, finished)
    assert np.array_equal(run.sources[0], advanced(fresh[0], taken))
    assert np.array_equal(run.sources[1], advanced(fresh[1], twin.drawn))


@st.composite
def certain_worlds(draw):
    """Every action has one successor, so that scores of exactly 1 tie again and again."""
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    transitions = np.eye(n_states)[rng.integers(0, n_states, (n_states, n_actions))]
    return ao.MDP(transitions, rng.random((n_states, n_actions)))


@st.composite
def tasks(draw, max_states=5):
    """(world, targets with at least one pair, start)."""
    world = draw(st.one_of(worlds(max_states=max_states, max_actions=4), certain_worlds()))
    shape = (world.n_states, world.n_actions)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    targets = rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    targets[rng.integers(shape[0]), rng.integers(shape[1])] = True
    return world, targets, int(rng.integers(shape[0]))


def chosen(world, pairs):
    """The mask of some pairs, (S, A)."""
    targets = np.zeros((world.n_states, world.n_actions), bool)
    targets[tuple(np.transpose(pairs))] = True
    return targets


def every(world):
    return np.ones((world.n_states, world.n_actions), bool)


def cycle(n_states, n_actions=1):
    """State s leads to s + 1, whatever is done."""
    steps = np.roll(np.eye(n_states), 1, axis=1)
    return ao.MDP(np.repeat(steps[:, None], n_actions, axis=1), np.zeros((n_states, n_actions)))


def corridor(n_states):
    """Action 0 goes left and 1 right, for certain; left at the right end leads back to state 0."""
    rows = [[{max(s - 1, 0): 1.0}, {min(s + 1, n_states - 1): 1.0}] for s in range(n_states)]
    rows[-1][0] = {0: 1.0}
    return ao.MDP(rows, np.zeros((n_states, 2)))


def table_of(visits):
    """A CountTable of visits (S, A, S)."""
    n_states, n_actions = visits.shape[:2]
    table = CountTable(n_states * n_actions)
    for s, a, successor in zip(*np.nonzero(visits), strict=True):
        table.count(int(s) * n_actions + int(a), int(successor), int(visits[s, a, successor]))
    return table

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.behaviours import ASK, empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.identifying.knowledge import knowledge
from aomultirl.identifying.proof import at_places
from aomultirl.learning.optimism import (
    GUIDE,
    NEXT,
    SPENT,
    TOP,
    Options,
    back_up,
    book_row,
    plan,
    planner,
    remodel,
    reprice,
    sweep,
)
from aomultirl.learning.shared_rows import share_rows

HORIZON = 500
NONE = np.empty(0)


def table_of(dense):
    """A count table of visits (S, A, S)."""
    n_states, n_actions, _ = dense.shape
    table = CountTable(n_states * n_actions)
    for s, a, s2 in np.argwhere(dense).tolist():
        table.count(s * n_actions + a, s2, int(dense[s, a, s2]))
    return table


def some_visits(rng, n_states, n_actions, filled=0.4):
    shape = (n_states, n_actions, n_states)
    return rng.integers(1, 9, shape) * (rng.random(shape) < filled)


class Case:
    """A planner for ``count`` remembered worlds and one episode, and the same in dense arrays."""

    def __init__(self, seed, n_states, n_actions, count, unknown=False):
        rng = np.random.default_rng(seed)
        self.sizes, self.rng = (n_states, n_actions), rng
        self.memory = [some_visits(rng, *self.sizes) for _ in range(count)]
        self.episode = some_visits(rng, *self.sizes)
        self.counts = table_of(self.episode)
        self.known = knowledge([table_of(seen) for seen in self.memory], n_states * n_actions, n_states)
        self.before = rng.integers(0, 4, n_states * n_actions) if unknown else np.zeros(n_states * n_actions, np.int64)
        self.sums = rng.random(n_states * n_actions) * self.before if unknown else NONE
        self.rewards = rng.random(self.sizes)
        self.options = Options(level=0.7, pace=3.0, novelty=0.8, discount=0.9, backups=5)
        arguments = (self.rewards, HORIZON, self.options, self.sums, self.before)
        self.planner = planner(self.known, share_rows(self.known), *arguments)
        self.planner.state[GUIDE] = rng.integers(count + 1)

    def book(self):
        for pair in range(len(self.planner.total)):
            self.planner.state[SPENT] += book_row(self.planner, self.counts.record, pair)
            remodel(self.planner, pair)
            reprice(self.planner, pair)
        return self

    def weights(self):
        """What is planned with, (S, A, S): the guide's shared rows where there is a place, and the episode."""
        n_states, n_actions = self.sizes
        believed = np.zeros((n_states * n_actions, n_states))
        for pair in range(n_states * n_actions):
            for i in range(self.known.starts[pair], self.known.starts[pair + 1] - 1):
                believed[pair, self.known.states[i]] = self.planner.shared_rows.seen[self.planner.state[GUIDE], i]
        return believed.reshape(n_states, n_actions, n_states) + self.episode


def slow_back_up(weights, rewards, values, top, left, options, s):
    """The formulas of the module, on dense arrays: Q, (A,)."""
    n = weights.sum(axis=2)
    seen = weights[s].sum(axis=0) > 0.0
    novelty = min(1.0, options.novelty * seen.sum() / n[s].sum()) if seen.any() else 1.0
    hope = (1.0 - novelty) * (values[seen].max() if seen.any() else 0.0) + novelty * top
    q = []
    for a in range(weights.shape[1]):
        if n[s, a] == 0.0:
            q.append(rewards[s, a] + options.discount * hope)
            continue
        mean = weights[s, a] @ values / n[s, a]
        extra = options.level * math.log(1.0 + left / (options.pace * n[s, a]))
        q.append(rewards[s, a] + options.discount * (n[s, a] * mean + extra * hope) / (n[s, a] + extra))
    return np.array(q)


seeds = st.integers(0, 2**32 - 1)
cases = st.builds(Case, seeds, st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.booleans())


@settings(deadline=None, max_examples=200)
@given(cases, st.floats(0.0, 1000.0))
def test_one_backup_is_the_formula(case, left):
    """With a memory that knows none, some or all of the successors that the episode saw."""
    case.book()
    p = case.planner
    p.values[:] = values = case.rng.random(case.sizes[0]) * 10.0
    top = float(values.max() + case.rng.random())
    for s in range(case.sizes[0]):
        v, action = back_up(p, case.counts.record, top, left, s)
        slow = slow_back_up(case.weights(), p.rewards.reshape(case.sizes), values, top, left, case.options, s)
        assert v == pytest.approx(slow.max())
        assert slow[action] == pytest.approx(v)


def test_novel_successors_count_whether_the_row_is_known_or_not():
    """The only successor that leads anywhere is one that memory has never seen."""
    memory, episode = np.zeros((3, 2, 3), int), np.zeros((3, 2, 3), int)
    memory[0, 0, 1], episode[0, :, 2] = 5, 20
    case = Case(0, 3, 2, 0)
    case.known = knowledge([table_of(memory)], 6, 3)
    case.episode, case.counts = episode, table_of(episode)
    case.planner = planner(case.known, share_rows(case.known), case.rewards, HORIZON, case.options, NONE, case.before)
    case.planner.state[GUIDE] = 0
    case.book()
    assert case.planner.here[case.known.starts[1:3] - 1].tolist() == [20, 20]
    test_one_backup_is_the_formula.hypothesis.inner_test(case, 10.0)


@settings(deadline=None)
@given(cases)
def test_rows_are_booked_as_they_are_counted(case):
    p, more = case.planner, some_visits(case.rng, *case.sizes)
    case.book()
    assert p.state[SPENT] == case.episode.sum()
    case.counts.add(table_of(more))
    case.episode += more
    fresh = [book_row(p, case.counts.record, pair) for pair in range(len(p.total))]
    assert fresh == more.sum(axis=2).reshape(-1).tolist()
    assert [book_row(p, case.counts.record, pair) for pair in range(len(p.total))] == [0] * len(p.total)
    here, total = at_places(case.known, case.counts, case.sizes[0])
    assert (p.here == here).all()
    assert (p.total == total).all()
    assert (total == case.episode.sum(axis=2).reshape(-1)).all()


@settings(deadline=None)
@given(cases)
def test_the_model_is_the_guides_lore_and_the_episode(case):
    p = case.book().planner
    dense = case.weights().reshape(len(p.total), -1)
    assert np.allclose(p.mass, dense.sum(axis=1))
    for pair in range(len(p.total)):
        first, last = case.known.starts[pair], case.known.starts[pair + 1] - 1
        states = case.known.states[first:last]
        assert np.allclose(p.weight[first:last], dense[pair, states])
        assert p.weight[last] == pytest.approx(np.delete(dense[pair], states).sum())


@settings(deadline=None)
@given(cases)
def test_rewards_are_shrunk_towards_one_where_they_are_not_known(case):
    p = case.book().planner
    if len(case.sums) == 0:
        assert (p.rewards == case.rewards.reshape(-1)).all()
        return
    for pair, n in enumerate(case.episode.sum(axis=2).reshape(-1) + case.before):
        slow = (case.sums[pair] + 0.7) / (n + 0.7) if n > 0 else 1.0
        assert p.rewards[pair] == pytest.approx(slow)


@settings(deadline=None)
@given(cases, st.integers(0, 12), st.data())
def test_planning_goes_round_and_keeps_entries_that_are_still_good(case, backups, data):
    """A slow rotation: downwards from NEXT, the greatest value anew in every one, the state asked for last."""
    case.book()
    p, table, n_states = case.planner, empty_table(case.sizes[0]), case.sizes[0]
    p.values[:] = case.rng.random(n_states) * 10.0
    p.tops[:] = p.values.max(), p.values.max() / 2.0
    p.state[NEXT] = data.draw(st.integers(0, n_states - 1))
    last, kept = (data.draw(st.integers(0, n_states - 1)) for _ in range(2))
    p.lease[kept] = 3
    values, entries = p.values.copy(), table.plan.copy()
    top, highest, s = p.tops[TOP], p.values.max() / 2.0, int(p.state[NEXT])
    weights, left = case.weights(), max(0, HORIZON - case.episode.sum())
    for step in range(backups + 1):
        if step < backups:
            s = (s - 1) % n_states
            if s == n_states - 1:
                top, highest = highest, -np.inf
        at = s if step < backups else last
        q = slow_back_up(weights, p.rewards.reshape(case.sizes), values, top, left, case.options, at)
        values[at] = q.max()
        highest = max(highest, values[at])
        if at != kept:
            entries[at] = q.argmax()
    plan(p, table, case.counts.record, backups, last)
    assert np.allclose(p.values, values)
    assert p.tops.tolist() == pytest.approx([top, highest])
    assert p.state[NEXT] == s
    assert table.plan[kept] == ASK
    assert (table.plan == entries).all()


@settings(deadline=None, max_examples=25)
@given(cases)
def test_sweeps_converge_to_the_fixed_point(case):
    """Discounted averages of values contract, so there is one; found by dense iteration from below."""
    p, table = case.book().planner, empty_table(case.sizes[0])
    sweep(p, table, case.counts.record, 400, 0)
    weights, left, values = case.weights(), max(0, HORIZON - case.episode.sum()), np.zeros(case.sizes[0])
    rewards = p.rewards.reshape(case.sizes)
    for _ in range(220):
        every = [
            slow_back_up(weights, rewards, values, values.max(), left, case.options, s) for s in range(len(values))
        ]
        values = np.max(every, axis=1)
    assert np.allclose(p.values, values, atol=1e-8)
    assert p.tops[TOP] == pytest.approx(values.max())
    assert np.allclose(np.array(every)[np.arange(len(values)), table.plan], values, atol=1e-8)


@settings(deadline=None)
@given(cases)
def test_what_is_hoped_for_is_within_reach(case):
    """No value exceeds what the best reward for ever would earn: the bonus brings no scale of its own."""
    p = case.book().planner
    sweep(p, empty_table(case.sizes[0]), case.counts.record, 400, 0)
    assert (p.values <= p.rewards.max() / (1.0 - case.options.discount) + 1e-9).all()

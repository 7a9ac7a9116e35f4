import math

import numpy as np
import pytest
from aomultirl.learning.shared_rows import share_rewards, share_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

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

HORIZON = 500


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
        self.rewards, self.unknown, told = rng.random(self.sizes), unknown, None
        if unknown:
            earned = rng.random(self.known.visits.shape) * self.known.visits
            told = (
                rng.random(self.rewards.size) * self.episode.sum(axis=2).ravel(),
                share_rewards(earned, self.known.visits),
            )
        self.options = Options(level=0.7, pace=3.0, novelty=0.8, discount=0.9, backups=5)
        self.planner = planner(
            self.known, share_rows(self.known), self.rewards, HORIZON, self.options, told, rest=0.3, salt=seed % 7
        )
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


def slow_back_up(case, weights, values, top, left, s):
    """The formulas of the module, on dense arrays: (Q, (A,), the greatest that ``top`` is made of)."""
    n, options, rewards = weights.sum(axis=2), case.options, case.planner.rewards.reshape(case.sizes)
    ahead = options.discount * np.tile(values, (case.sizes[1], 1))
    if case.unknown:
        ahead += rewards[s][:, None]
    seen = weights[s] > 0.0
    best = ahead[seen].max() if seen.any() else -np.inf
    novelty = min(1.0, options.novelty * seen.any(axis=0).sum() / n[s].sum()) if seen.any() else 1.0
    most = top if case.unknown else options.discount * top
    hope = (1.0 - novelty) * (best if seen.any() else 0.0) + novelty * most
    q = []
    for a in range(weights.shape[1]):
        mean, extra = 0.0, 1.0
        if n[s, a] > 0.0:
            mean = weights[s, a] @ ahead[a] / n[s, a]
            extra = options.level * math.log(1.0 + left / (options.pace * n[s, a]))
        q.append((n[s, a] * mean + extra * hope) / (n[s, a] + extra) + (0.0 if case.unknown else rewards[s, a]))
    return np.array(q), best if case.unknown else max(q)


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
        v, action, greatest = back_up(p, case.counts.record, top, left, s)
        slow, seen = slow_back_up(case, case.weights(), values, top, left, s)
        assert v == pytest.approx(slow.max())
        assert slow[action] == pytest.approx(v)
        assert greatest == pytest.approx(seen)


def test_novel_successors_count_whether_the_row_is_known_or_not():
    """The only successor that leads anywhere is one that memory has never seen."""
    memory, episode = np.zeros((3, 2, 3), int), np.zeros((3, 2, 3), int)
    memory[0, 0, 1], episode[0, :, 2] = 5, 20
    case = Case(0, 3, 2, 0)
    case.known = knowledge([table_of(memory)], 6, 3)
    case.episode, case.counts = episode, table_of(episode)
    case.planner = planner(case.known, share_rows(case.known), case.rewards, HORIZON, case.options)
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
def test_unknown_rewards_are_the_mean_of_what_the_episode_and_the_guides_world_earned(case):
    p = case.book().planner
    if not case.unknown:
        assert (p.rewards == case.rewards.reshape(-1)).all()
        return
    guide = p.state[GUIDE]
    for pair, n in enumerate(case.episode.sum(axis=2).reshape(-1)):
        visits = n + p.shared_rewards.mass[guide, pair]
        assert (visits > 0) == (p.mass[pair] > 0), "whoever knows where a pair leads knows what it earns"
        slow = (p.sums[pair] + p.shared_rewards.sums[guide, pair]) / visits if visits > 0 else 0.0
        assert p.rewards[pair] == pytest.approx(slow)


def test_where_nothing_is_known_chance_decides_and_every_action_has_its_turn():
    """Over states and salts each of three actions comes first equally often: chi square, false alarm 1e-6."""
    known = knowledge([], 600, 200)
    first = np.zeros((40, 200), int)
    for salt in range(40):
        unknown = np.zeros(600), share_rewards(np.zeros((0, 600)), known.visits)
        p = planner(known, share_rows(known), np.ones((200, 3)), HORIZON, Options(), unknown, salt=salt * 7919)
        first[salt] = [back_up(p, CountTable(600).record, p.promise, 10.0, s)[1] for s in range(200)]
    often = np.bincount(first.ravel(), minlength=3)
    assert ((often - 8000 / 3) ** 2 / (8000 / 3)).sum() < chi2.isf(1e-6, 2)
    again = np.array([(first[i] == first[j]).mean() for i in range(40) for j in range(i)])
    assert abs(again.mean() - 1 / 3) < 0.03, "one episode says nothing about another"


def test_a_goal_that_ends_the_episode_is_worth_more_than_what_nobody_has_seen():
    """Two states; in the first, one action has led to the end and earned 1, the other was never tried."""
    counts = CountTable(4)
    counts.count(0, 1, 3)
    counts.end(1, 3)
    known = knowledge([counts], 4, 2)
    unknown = np.zeros(4), share_rewards(np.array([[3.0, 0.0, 0.0, 0.0]]), known.visits)
    arguments = (known, share_rows(known), np.ones((2, 2)), HORIZON, Options(), unknown)
    for salt in range(8):
        p, table = planner(*arguments, going_on=np.array([[1.0, 0.0]]), salt=salt), empty_table(2)
        p.state[GUIDE] = 0
        for pair in range(4):
            remodel(p, pair)
            reprice(p, pair)
        sweep(p, table, CountTable(4).record, 20, 0)
        assert p.values.tolist() == pytest.approx([1.0, 0.0])


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
    values, best = p.values.copy(), {}
    top, highest, s = p.tops[TOP], p.values.max() / 2.0, int(p.state[NEXT])
    weights, left = case.weights(), max(0, HORIZON - case.episode.sum())
    for step in range(backups + 1):
        if step < backups:
            s = (s - 1) % n_states
            if s == n_states - 1:
                top, highest = highest, p.promise if case.unknown else -np.inf
        at = s if step < backups else last
        q, seen = slow_back_up(case, weights, values, top, left, at)
        values[at] = q.max()
        highest = max(highest, seen)
        if at != kept:
            best.update({at: np.flatnonzero(np.isclose(q, q.max()))})
    plan(p, table, case.counts.record, backups, last)
    assert np.allclose(p.values, values)
    assert p.tops.tolist() == pytest.approx([top, highest])
    assert p.state[NEXT] == s
    assert table.plan[kept] == ASK
    for at, action in enumerate(table.plan.tolist()):
        assert action in best.get(at, [ASK])


@settings(deadline=None, max_examples=25)
@given(cases)
def test_sweeps_converge_to_the_fixed_point(case):
    """Discounted averages contract, with ``top`` in every second sweep, so there is one; found by dense iteration."""
    p, table = case.book().planner, empty_table(case.sizes[0])
    sweep(p, table, case.counts.record, 800, 0)
    weights, left, values = case.weights(), max(0, HORIZON - case.episode.sum()), np.zeros(case.sizes[0])
    top = p.promise if case.unknown else 0.0
    for _ in range(440):
        every = [slow_back_up(case, weights, values, top, left, s) for s in range(len(values))]
        values = np.max([q for q, _ in every], axis=1)
        top = max([seen for _, seen in every] + [p.promise] * case.unknown)
    assert np.allclose(p.values, values, atol=1e-8)
    assert p.tops[TOP] == pytest.approx(top)
    assert np.allclose(np.array([q for q, _ in every])[np.arange(len(values)), table.plan], values, atol=1e-8)


@settings(deadline=None)
@given(cases)
def test_what_is_hoped_for_is_within_reach(case):
    """No value exceeds what the best reward for ever would earn: the bonus brings no scale of its own."""
    p = case.book().planner
    sweep(p, empty_table(case.sizes[0]), case.counts.record, 400, 0)
    forever = p.rewards.max() / (1.0 - case.options.discount)
    assert (p.values <= (max(forever, p.promise) if case.unknown else forever) + 1e-9).all()

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from aomultirl.engine.behaviours import ASK, empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.learning.kinship import ENOUGH
from aomultirl.learning.optimism import LEANING, MOST_HOPED, WIDTHS, back_up, best_of, plan, see_end, sweep
from aomultirl.learning.planner import HIGHEST, NEXT, READY, SPENT, TOP, Options, planner, promise
from aomultirl.learning.world_rows import WorldRows
from counted_worlds import make_worlds, seeds

HORIZON = 500


class Case:
    """A planner for some remembered worlds, a new one and one episode, and the same in dense arrays.

    ``c`` is the hypothesis that is asked for.
    """

    def __init__(self, seed, n_states, n_actions, count, unknown=False, kinship=0.0):
        made = make_worlds(seed, n_states, n_actions, count, unknown)
        self.sizes, self.rng, self.unknown, self.layout = (n_states, n_actions), made.rng, unknown, made.rows.layout
        self.episode = made.episode()
        self.counts = self.episode.table
        self.counted, self.c = made.rows.to_plan_with(doubts=False), int(made.rng.integers(count + 1))
        self.rewards = made.rng.random(self.sizes)
        self.options = Options(level=0.7, pace=3.0, novelty=0.8, discount=0.9, backups=5)
        self.planner = planner(
            self.layout,
            self.counted,
            self.rewards,
            HORIZON,
            self.options,
            sums=self.episode.sums if unknown else None,
            rest=0.3,
            salt=seed % 7,
            kinship=kinship,
        )

    def book(self):
        """Have the planner hold the counts of the episode, place by place."""
        p, layout, visits = self.planner, self.layout, self.episode.visits
        for pair in range(layout.n_pairs):
            states = layout.outcomes[layout.first[pair] : layout.first[pair + 1] - 1]
            here = np.append(visits[pair, states], np.delete(visits[pair], states).sum())
            p.here[layout.first[pair] : layout.first[pair + 1]] = here
        p.total[:] = n = visits.sum(axis=1)
        p.state[SPENT] = n.sum()
        for s in range(self.sizes[0]):
            see_end(p, s, float(self.episode.goes_on[s]), float(self.episode.ends[s]))
        if self.unknown:
            p.here[-2 * layout.n_pairs :] = np.stack((self.episode.sums, n - self.episode.sums), axis=1).ravel()
        return self

    def rows_of(self, kind):
        """What is planned with of rows of two outcomes, (rows, 2): the hypothesis's and the episode's."""
        first, n_states, n_pairs = self.layout.first, self.sizes[0], self.layout.n_pairs
        begin, count = (first[n_pairs], n_states) if kind == "ends" else (first[n_pairs + n_states], n_pairs)
        seen = self.counted[self.c, begin : begin + 2 * count].reshape(-1, 2)
        if kind == "ends":
            return seen + np.stack((self.episode.goes_on, self.episode.ends), axis=1)
        n = self.episode.visits.sum(axis=1)
        return seen + np.stack((self.episode.sums, n - self.episode.sums), axis=1)

    def weights(self):
        """What is planned with, (S, A, S): the hypothesis's rows where there is a place, and the episode."""
        n_states, n_actions = self.sizes
        believed = np.zeros((n_states * n_actions, n_states))
        for pair in range(n_states * n_actions):
            for i in range(self.layout.first[pair], self.layout.first[pair + 1] - 1):
                believed[pair, self.layout.outcomes[i]] = self.counted[self.c, i]
        return (believed + self.episode.visits).reshape(n_states, n_actions, n_states)

    def earned(self):
        """(S, A), what each pair earns, as far as it is known."""
        if not self.unknown:
            return self.rewards
        both = self.rows_of("rewards")
        return (both[:, 0] / np.maximum(both.sum(axis=1), 1e-300)).reshape(self.sizes)

    def going_on(self):
        """(S,), how often the episode goes on after an arrival."""
        lasted, over = self.rows_of("ends").T
        return np.where(over > 0.0, 1.0 - over / np.maximum(lasted + over, 1e-300), 1.0)


def slow_back_up(case, weights, values, top, left, s):
    """The formulas of the module, on dense arrays: (Q, (A,), V, the greatest that ``top`` is made of, hope)."""
    n, options, rewards = weights.sum(axis=2), case.options, case.earned()
    ahead = options.discount * np.tile(values, (case.sizes[1], 1))
    if case.unknown:
        ahead += rewards[s][:, None]
    seen = weights[s] > 0.0
    best = ahead[seen].max() if seen.any() else -np.inf
    novelty = min(1.0, options.novelty * seen.any(axis=0).sum() / n[s].sum()) if seen.any() else 1.0
    most = top if case.unknown else options.discount * top
    hope = (1.0 - novelty) * (best if seen.any() else 0.0) + novelty * most
    means = (weights[s] * ahead).sum(axis=1) / np.maximum(n[s], 1e-300)
    parts = (np.minimum(n[s], ENOUGH) / np.maximum(n[s], 1e-300))[:, None] * weights[s]  # no action counts for more
    width = math.sqrt(np.cov(ahead.ravel(), aweights=parts.ravel(), ddof=0)) if seen.any() else 0.0
    q = []
    for a in range(weights.shape[1]):
        counted = np.delete(np.minimum(n[s], ENOUGH), a)
        others, kappa, leant, extra = counted.sum(), case.planner.kinship, 0.0, 1.0
        lean = kappa * others / (kappa + others) if kappa and others else 0.0
        if lean:
            leant = counted @ np.delete(means, a) / others
        visits = n[s, a] + lean
        if visits:
            log, gap = (
                math.log(1.0 + left / (options.pace * visits)),
                hope - (n[s, a] * means[a] + lean * leant) / visits,
            )
            extra = options.level * log
            if lean > LEANING and gap > 1e-12:
                share = min(MOST_HOPED, WIDTHS * options.level * width * math.sqrt(log / visits) / gap)
                extra = visits * share / (1.0 - share)
        promised = (n[s, a] * means[a] + lean * leant + extra * hope) / (visits + extra)
        q.append(promised + (0.0 if case.unknown else rewards[s, a]))
    share, ended = case.going_on()[s], case.planner.rest / (1.0 - options.discount)
    v = share * max(q) + (1.0 - share) * ended
    return np.array(q), v, best if case.unknown else v, hope if case.unknown else hope / options.discount


kinships = st.sampled_from([0.0, 1.0, 16.0, 256.0])
cases = st.builds(Case, seeds, st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.booleans(), kinships)


@settings(deadline=None, max_examples=100)
@given(cases, st.integers(0, HORIZON))
def test_one_backup_is_the_formula(case, spent):
    """With a memory that knows none, some or all of the successors that the episode saw, and ends in some states."""
    p = case.book().planner
    p.state[SPENT], left = spent, HORIZON - spent
    p.values[case.c] = values = case.rng.random(case.sizes[0]) * 10.0
    p.tops[case.c, TOP] = top = float(values.max() + case.rng.random())
    for s in range(case.sizes[0]):
        v, action, greatest = back_up(p, case.counts.record, case.c, s)
        slow, value, seen, hope = slow_back_up(case, case.weights(), values, top, left, s)
        assert v == pytest.approx(value)
        assert p.means.tolist() == pytest.approx([*slow, hope])
        assert slow[action] == pytest.approx(slow.max())
        assert greatest == pytest.approx(seen)
        assert slow[best_of(p, p.means[:-1], s)] == pytest.approx(slow.max())


def test_novel_successors_count_whether_the_row_is_known_or_not():
    """The only successor that leads anywhere is one that memory has never seen."""
    case = Case(0, 3, 2, 0)
    case.episode.visits[:] = case.episode.ends[:] = 0
    case.episode.visits[:2, 2] = 20
    case.counts = case.episode.table
    known = CountTable(6)
    known.count(0, 1, 5)
    rows = WorldRows(3, 2, False)
    rows.make_places(known)
    rows.add_table(known, np.empty(0))
    case.layout, case.counted, case.c = rows.layout, rows.counts, 0
    case.planner = planner(case.layout, case.counted, case.rewards, HORIZON, case.options)
    case.book()
    assert case.planner.here[case.layout.first[1:3] - 1].tolist() == [20, 20]
    test_one_backup_is_the_formula.hypothesis.inner_test(case, 10)


@settings(deadline=None)
@given(cases, st.integers(0, 9), st.integers(0, 9))
def test_how_often_an_episode_goes_on_is_what_was_seen_of_it(case, goes_on, ends):
    p, s = case.book().planner, case.sizes[0] - 1
    assert p.going_on[case.c] == pytest.approx(case.going_on())
    see_end(p, s, float(goes_on), float(ends))
    for c, counted in enumerate(case.counted):
        place = case.layout.first[case.layout.n_pairs] + 2 * s
        lasted, over = counted[place] + goes_on, counted[place + 1] + ends
        assert p.going_on[c, s] == pytest.approx(1.0 - over / (lasted + over) if over > 0 else 1.0)


@settings(deadline=None)
@given(cases)
def test_an_episode_that_has_shown_nothing_is_planned_with_memory_alone(case):
    fresh = case.planner
    case.episode.visits[:] = case.episode.ends[:] = 0
    case.episode.sums[:] = 0.0
    assert fresh.going_on[case.c] == pytest.approx(case.going_on())
    assert fresh.mass[case.c] == pytest.approx(case.weights().sum(axis=2).ravel())
    assert fresh.promise == promise(None if case.unknown else case.rewards, 0.3, 0.9)
    assert (fresh.values == fresh.promise).all()


def test_where_nothing_is_known_chance_decides_and_every_action_has_its_turn():
    """Over states and salts each of three actions comes first equally often: chi square, false alarm 1e-6."""
    rows = WorldRows(200, 3, True)
    first, nothing = np.zeros((40, 200), int), CountTable(600).record
    for salt in range(40):
        counted, sums = rows.to_plan_with(False), np.zeros(600)
        p = planner(rows.layout, counted, np.ones((200, 3)), HORIZON, Options(), sums=sums, salt=salt * 7919)
        first[salt] = [back_up(p, nothing, 0, s)[1] for s in range(200)]
        assert [best_of(p, np.zeros(3), s) for s in range(200)] == first[salt].tolist()
    often = np.bincount(first.ravel(), minlength=3)
    assert ((often - 8000 / 3) ** 2 / (8000 / 3)).sum() < chi2.isf(1e-6, 2)
    again = np.array([(first[i] == first[j]).mean() for i in range(40) for j in range(i)])
    assert abs(again.mean() - 1 / 3) < 0.03, "one episode says nothing about another"


def test_a_goal_that_ends_the_episode_is_worth_more_than_what_nobody_has_seen():
    """Two states; in the first, one action has led to the end and earned 1, the other was never tried."""
    counts = CountTable(4)
    counts.count(0, 1, 3)
    counts.end(1, 3)
    rows = WorldRows(2, 2, True)
    rows.make_places(counts)
    rows.add_table(counts, np.array([3.0, 0.0, 0.0, 0.0]))
    for salt in range(8):
        p = planner(rows.layout, rows.counts, np.ones((2, 2)), HORIZON, Options(), sums=np.zeros(4), salt=salt)
        sweep(p, empty_table(2), CountTable(4).record, 0, 20, 0, True)
        assert p.values[0].tolist() == pytest.approx([1.0, 0.0])


@settings(deadline=None)
@given(cases, st.integers(0, 12), st.booleans(), st.data())
def test_planning_goes_round_and_keeps_entries_that_are_still_good(case, backups, guides, data):
    """A slow rotation: downwards from NEXT, the greatest value anew in every one, the state asked for last."""
    p, table, n_states, c = case.book().planner, empty_table(case.sizes[0]), case.sizes[0], case.c
    p.values[:] = case.rng.random(p.values.shape) * 10.0
    p.tops[c] = p.values[c].max(), p.values[c].max() / 2.0
    p.rotation[c, NEXT] = data.draw(st.integers(0, n_states - 1))
    last, kept = (data.draw(st.integers(0, n_states - 1)) for _ in range(2))
    p.lease[kept] = 3
    every, values, best = p.values.copy(), p.values[c].copy(), {}
    top, highest, s = p.tops[c, TOP], p.values[c].max() / 2.0, int(p.rotation[c, NEXT])
    weights, left = case.weights(), max(0, HORIZON - case.episode.visits.sum())
    for step in range(backups + 1):
        if step < backups:
            s = (s - 1) % n_states
            if s == n_states - 1:
                top, highest = highest, p.promise if case.unknown else -np.inf
        at = s if step < backups else last
        q, values[at], seen, _ = slow_back_up(case, weights, values, top, left, at)
        highest = max(highest, seen)
        if at != kept and guides:
            best.update({at: np.flatnonzero(np.isclose(q, q.max()))})
    plan(p, table, case.counts.record, c, backups, last, guides)
    every[c] = values
    assert np.allclose(p.values, every), "and the values of no other hypothesis change"
    assert p.tops[c].tolist() == pytest.approx([top, highest])
    assert p.rotation[c, NEXT] == s
    assert table.plan[kept] == ASK
    for at, action in enumerate(table.plan.tolist()):
        assert action in best.get(at, [ASK])


@settings(deadline=None, max_examples=15)
@given(cases)
def test_sweeps_converge_to_the_fixed_point(case):
    """Discounted averages contract, with ``top`` in every second sweep, so there is one; found by dense iteration."""
    p, table, c = case.book().planner, empty_table(case.sizes[0]), case.c
    assert p.rotation[c, READY] == 0
    sweep(p, table, case.counts.record, c, 800, 0, True)
    assert p.rotation[:, READY].sum() == p.rotation[c, READY] == 1
    weights, values = case.weights(), np.zeros(case.sizes[0])
    left = max(0, HORIZON - case.episode.visits.sum())
    top = p.promise if case.unknown else 0.0
    for _ in range(440):
        every = [slow_back_up(case, weights, values, top, left, s) for s in range(len(values))]
        values = np.array([v for _, v, _, _ in every])
        top = max([seen for _, _, seen, _ in every] + [p.promise] * case.unknown)
    assert np.allclose(p.values[c], values, atol=1e-8)
    assert p.tops[c, TOP] == pytest.approx(top)
    for s, (q, *_) in enumerate(every):
        assert q[table.plan[s]] == pytest.approx(q.max(), abs=1e-8)


@settings(deadline=None)
@given(cases)
def test_what_is_hoped_for_is_within_reach(case):
    """No value exceeds what the best reward for ever would earn: the bonus brings no scale of its own."""
    p = case.book().planner
    sweep(p, empty_table(case.sizes[0]), case.counts.record, case.c, 400, 0, True)
    forever = max(case.earned().max(), p.rest) / (1.0 - case.options.discount)
    assert (p.values[case.c] <= (max(forever, p.promise) if case.unknown else forever) + 1e-9).all()
    assert p.tops[case.c, HIGHEST] <= max(forever, p.promise) + 1e-9

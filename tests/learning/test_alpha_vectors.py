"""Vectors against the exact optimum over beliefs, in worlds so small that it can be worked out."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.engine.behaviours import empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.learning.alpha_vectors import (
    ALMOST_SURE,
    FILLED,
    FIRST_SWEEPS,
    LATER_SWEEPS,
    MOST_WORK,
    act_by_vectors,
    fill_in,
    is_worth_it,
    no_vectors,
    note_step,
    tabulate,
    vectors,
)
from aomultirl.learning.optimism import back_up, sweep
from aomultirl.learning.planner import SPENT, Options, planner
from aomultirl.learning.world_rows import rows_of
from counted_worlds import Counted, make_worlds, seeds

EXACT = Options(level=0.0, discount=0.9)
"""Without hope: what was counted is the world."""
MANY = 10_000
"""Visits of every pair, so that chances are those of the counts."""


class Problem:
    """Worlds of which everything is known, as chances and as counts.

    rows: (C, S, A, S); ends: (C, S), chances to end on arriving; rewards: (S, A).
    """

    def __init__(self, rows, ends, rewards, options=EXACT, rest=0.0):
        self.rows, self.ends, self.rewards = (np.asarray(part, float) for part in (rows, ends, rewards))
        count, n_states, n_actions, _ = self.rows.shape
        self.options, self.rest = options, rest
        visits = np.rint(self.rows * MANY).astype(int).reshape(count, -1, n_states)
        counted = []
        for w in range(count):
            left = visits[w].sum(axis=1).reshape(n_states, -1).sum(axis=1)
            with np.errstate(divide="ignore"):
                ended = np.where(self.ends[w] < 1.0, left * self.ends[w] / (1.0 - self.ends[w]), 0)
            here = visits[w] * np.repeat(self.ends[w] < 1.0, n_actions)[:, None]
            counted.append(Counted(here, np.where(self.ends[w] < 1.0, np.rint(ended), MANY).astype(int), np.empty(0)))
        memory = rows_of([(one.table, one.sums) for one in counted], n_states, n_actions, False)
        self.planner = planner(memory.layout, memory.counts, self.rewards, 1000, options, rest=rest)
        self.planner.tops[:] = 0.0
        self.nothing = CountTable(n_states * n_actions).record

    def plan(self, prior, old=None):
        made = vectors(self.planner, np.asarray(prior, float), old)
        fill_in(self.planner, made, self.nothing)
        return made

    def act(self, made, belief, state):
        """Q of every action by the vectors."""
        means = np.zeros(self.rewards.shape[1])
        act_by_vectors(self.planner, made, np.asarray(belief, float), state, means)
        return means

    def own_values(self):
        """Q of every world alone, (C, S, A), by value iteration: what QMDP weighs."""
        ended, values = self.rest / (1.0 - self.options.discount), np.zeros(self.ends.shape)
        for _ in range(600):
            q = self.rewards + self.options.discount * np.einsum("wsat,wt->wsa", self.rows, values)
            values = (1.0 - self.ends) * q.max(axis=2) + self.ends * ended
        return q

    def best(self, belief, state, depth):
        """Q of every action, exactly, over beliefs: so many steps, and nothing after them."""
        return np.array(_recursion(self)(tuple(np.round(belief, 12)), state, depth))


def _recursion(problem):
    ended = problem.rest / (1.0 - problem.options.discount)

    @cache
    def arrive(joint, state, depth):
        """The value of arriving, with the weight of every world, which need not sum to one."""
        weights = np.array(joint)
        over = float((weights * problem.ends[:, state]).sum()) * ended
        left = weights * (1.0 - problem.ends[:, state])
        return over + (max(act(tuple(np.round(left, 12)), state, depth)) if left.any() and depth else 0.0)

    @cache
    def act(joint, state, depth):
        weights, found = np.array(joint), []
        for a in range(problem.rewards.shape[1]):
            q = weights.sum() * problem.rewards[state, a]
            for s2 in np.flatnonzero(problem.rows[:, state, a].any(axis=0)).tolist():
                reached = weights * problem.rows[:, state, a, s2]
                if reached.any():
                    q += problem.options.discount * arrive(tuple(np.round(reached, 12)), s2, depth - 1)
            found.append(float(q))
        return tuple(found)

    return act


def step_to(*goals, n_states):
    """Rows of a state whose actions lead to these states."""
    return np.eye(n_states)[list(goals)]


def brink():
    """A brink, state 0: wait there, go left or go right.  One side is a hole, which one depends on the world.

    The other side, when it is left, earns 1, and leads to the end.
    """
    rows = [step_to(0, 1, 2, n_states=4)] + [step_to(3, 3, 3, n_states=4)] * 3
    return Problem([rows, rows], [[0, 1, 0, 1], [0, 0, 1, 1]], [[0] * 3, [1] * 3, [1] * 3, [0] * 3])


def brink_with_a_sign():
    """The same with a fourth action: read the sign, which leads to state 4 in one world and to 5 in the other.

    From there one goes back to the brink.
    """
    worlds = []
    for w in range(2):
        rows = [step_to(0, 1, 2, 4 + w, n_states=6)] + [step_to(*[3] * 4, n_states=6)] * 3
        worlds.append(rows + [step_to(*[0] * 4, n_states=6)] * 2)
    return Problem(worlds, [[0, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0]], [[0] * 4, [1] * 4, [1] * 4, *[[0] * 4] * 3])


def corridor():
    """Five states in a row; state 2 is a hole in one of the worlds, the goal behind it earns 1, a small one before 0.3.

    Actions: back and forth, and out at the near end.
    """
    rows = np.zeros((5, 2, 5))
    for s, (back, forth) in enumerate(((4, 1), (0, 2), (1, 3), (4, 4), (4, 4))):
        rows[s, 0, back] = rows[s, 1, forth] = 1.0
    rewards = np.zeros((5, 2))
    rewards[0, 0], rewards[3] = 0.3, 1.0
    return Problem([rows, rows], [[0, 0, 0, 0, 1], [0, 0, 1, 0, 1]], rewards)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.8])
@pytest.mark.parametrize("make", [brink, brink_with_a_sign, corridor])
def test_the_value_at_the_prior_is_the_exact_optimum(make, share):
    problem, prior = make(), np.array([share, 1.0 - share])
    start = 1 if make is corridor else 0
    made = problem.plan(prior)
    exact = problem.best(prior, start, 60)
    found = problem.act(made, prior, start)
    assert found.max() == pytest.approx(exact.max(), abs=2e-3)
    assert exact[found.argmax()] == pytest.approx(exact.max(), abs=2e-3)
    for w in range(2):  # and where the world is known
        sure = np.eye(2)[w]
        assert problem.act(made, sure, start).max() == pytest.approx(problem.best(sure, start, 60).max(), abs=2e-3)


def test_qmdp_waits_at_the_brink_for_ever_and_vectors_do_not():
    problem = brink()
    qmdp = problem.own_values()[:, 0].mean(axis=0)
    assert qmdp.argmax() == 0
    assert qmdp == pytest.approx([0.81, 0.45, 0.45])
    made = problem.plan([0.5, 0.5])
    found = problem.act(made, [0.5, 0.5], 0)
    assert found.argmax() in (1, 2)
    assert found == pytest.approx([0.9 * 0.45, 0.45, 0.45], abs=1e-3)


def test_vectors_read_the_sign_first():
    """Reading and coming back costs two steps, 0.9**2 of a sure 0.9; jumping earns half of it."""
    problem = brink_with_a_sign()
    made = problem.plan([0.5, 0.5])
    assert problem.act(made, [0.5, 0.5], 0) == pytest.approx([0.9**4, 0.45, 0.45, 0.9**3], abs=1e-3)
    assert problem.act(made, [0.95, 0.05], 0).argmax() == 2, "who is almost sure need not read"


@st.composite
def problems(draw):
    """Two or three worlds whose actions lead to one state each, and some of whose states end episodes."""
    rng = np.random.default_rng(draw(seeds))
    n_states, n_actions, count = draw(st.integers(2, 4)), draw(st.integers(1, 2)), draw(st.integers(2, 3))
    rows = np.eye(n_states)[rng.integers(0, n_states, (1, n_states, n_actions)).repeat(count, axis=0)]
    other = np.eye(n_states)[rng.integers(0, n_states, (count, n_states, n_actions))]
    rows = np.where(rng.random((count, n_states, n_actions, 1)) < 0.3, other, rows)
    ends = (rng.random((count, n_states)) < 0.3).astype(float)
    ends[:, 0] = 0.0
    rewards = rng.random((n_states, n_actions)) * (rng.random((n_states, n_actions)) < 0.5)
    return Problem(rows, ends, rewards), rng.dirichlet(np.ones(count))


@settings(deadline=None, max_examples=60)
@given(problems())
def test_vectors_promise_no_more_than_the_optimum(case):
    """Each is the value of something that can be done, in every world and at its own point."""
    problem, prior = case
    made = problem.plan(prior)
    found = problem.act(made, prior, 0)
    exact = problem.best(prior, 0, 12)
    rest = 0.9**12 * problem.rewards.max() / 0.1
    assert (found <= exact + rest + 1e-6).all()
    for v, point in enumerate(made.points):
        backed = float(point @ made.alpha[0, v])
        assert backed <= problem.best(point, 0, 12).max() + rest + 1e-6
    own = problem.own_values()[:, 0].max(axis=1)
    assert (made.alpha[0] <= own + 1e-6).all()
    assert made.place[FILLED] == 1


@settings(deadline=None, max_examples=40)
@given(problems())
def test_where_all_worlds_are_the_same_vectors_are_its_values(case):
    one, prior = case
    count = len(prior)
    problem = Problem(one.rows[:1].repeat(count, axis=0), one.ends[:1].repeat(count, axis=0), one.rewards)
    made, own = problem.plan(prior), problem.own_values()[0].max(axis=1)
    for s in range(len(own)):
        arriving = 0.0 if problem.ends[0, s] else own[s]
        assert made.alpha[s] == pytest.approx(np.full(made.alpha[s].shape, arriving), abs=2e-3)
    assert problem.act(made, prior, 0) == pytest.approx(problem.own_values()[0, 0], abs=2e-3)


@settings(deadline=None, max_examples=80)
@given(
    seeds, st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.sampled_from([0.0, 1.0, 256.0])
)
def test_what_is_tabulated_is_the_backup_of_each_hypothesis(seed, n_states, n_actions, count, unknown, kinship):
    """c + sum T V is Q: with hope, an episode of its own, kin, and successors that memory does not know."""
    case = make_worlds(seed, n_states, n_actions, count, unknown)
    episode, options = case.episode(), Options(level=0.7, pace=3.0, novelty=0.8, discount=0.9)
    counted, rewards = case.rows.to_plan_with(False), case.rng.random((n_states, n_actions))
    sums = case.rng.random(rewards.size) if unknown else None
    p = planner(case.rows.layout, counted, rewards, 50, options, sums=sums, rest=0.2, kinship=kinship)
    layout, seen = case.rows.layout, episode.visits.sum(axis=1)
    for pair in range(layout.n_pairs):
        states = layout.outcomes[layout.first[pair] : layout.first[pair + 1] - 1]
        here = np.append(episode.visits[pair, states], np.delete(episode.visits[pair], states).sum())
        p.here[layout.first[pair] : layout.first[pair + 1]] = here
    p.total[:], p.state[SPENT] = seen, seen.sum()
    if unknown:
        p.here[-2 * layout.n_pairs :] = np.stack((episode.sums, seen - episode.sums), axis=1).ravel()
    p.values[:], table = case.rng.random(p.values.shape), episode.table.record
    made = vectors(p, np.full(len(counted), 1.0 / len(counted)), None)
    for s in range(n_states):
        tabulate(p, made, table, s)
        for c in range(len(counted)):
            back_up(p, table, c, s)
            for a in range(n_actions):
                pair = s * n_actions + a
                places = range(layout.first[pair], layout.first[pair + 1] - 1)
                ahead = sum(made.weights[c, j] * p.values[c, layout.outcomes[j]] for j in places)
                assert made.constants[c, pair] + ahead == pytest.approx(p.means[a], abs=1e-9)


def slow_back_up(problem, made, state):
    """All vectors of a state by the docstring's formula, one after the other."""
    alpha, options = made.alpha.copy(), problem.options
    for i, point in enumerate(made.points):
        best, most = None, -math.inf
        for a in range(problem.rewards.shape[1]):
            total = np.full(len(point), problem.rewards[state, a])
            for s2 in range(alpha.shape[0]):
                weights = options.discount * problem.rows[:, state, a, s2] * (problem.ends[:, state] < 1.0)
                if weights.any():
                    choice = (alpha[s2] @ (point * weights)).argmax() if (point * weights).any() else i
                    total = total + weights * alpha[s2, choice]
            value = point @ ((1.0 - problem.ends[:, state]) * total)
            if value > most:
                best, most = total, value
        over = problem.ends[:, state] * problem.rest / (1.0 - options.discount)
        alpha[state, i] = (1.0 - problem.ends[:, state]) * best + over
    return alpha


@settings(deadline=None, max_examples=60)
@given(seeds, st.floats(0.0, 0.5))
def test_a_backup_of_vectors_is_the_formula(seed, rest):
    """In worlds of chance, where every pair leads anywhere and every state ends episodes now and then."""
    rng = np.random.default_rng(seed)
    rows = rng.multinomial(100, rng.dirichlet(np.ones(3), (2, 3, 2))) / 100
    problem = Problem(rows, np.full((2, 3), 0.5), rng.random((3, 2)), rest=rest)
    made = vectors(problem.planner, rng.dirichlet(np.ones(2)), rng.random((3, 3, 2)) * 5.0)
    for s in range(3):
        tabulate(problem.planner, made, problem.nothing, s)
    for s in (2, 0, 1, 1):
        slow = slow_back_up(problem, made, s)
        note_step(problem.planner, made, problem.nothing, s)
        assert made.alpha == pytest.approx(slow, abs=1e-9)


def test_vectors_of_the_episode_before_are_gone_on_from():
    problem = corridor()
    first = problem.plan([0.5, 0.5])
    assert first.sweeps == FIRST_SWEEPS
    again = problem.plan([0.4, 0.6], first.alpha)
    assert again.sweeps == LATER_SWEEPS
    assert again.alpha is not first.alpha
    assert again.points.tolist() == pytest.approx(
        np.vstack(([0.4, 0.6], ALMOST_SURE * np.eye(2) + (1.0 - ALMOST_SURE) * np.array([0.4, 0.6])))
    )
    assert again.alpha[1, 0] @ [0.4, 0.6] == pytest.approx(problem.best([0.4, 0.6], 1, 60).max(), abs=2e-3)


def test_values_of_single_plans_agree_with_the_planners():
    """The vector of a point that is almost sure is near what the planner finds for that world alone."""
    problem, made = corridor(), corridor().plan([0.5, 0.5])
    for c in range(2):
        sweep(problem.planner, empty_table(5), problem.nothing, c, 100, 0, False)
        assert made.alpha[:, 1 + c, c] == pytest.approx(problem.planner.values[c], abs=1e-3)


def test_vectors_are_kept_where_episodes_end_and_a_sweep_is_little_work():
    assert is_worth_it(ends=True, n_actions=4, n_states=64, width=2.0, count=4)
    assert not is_worth_it(ends=False, n_actions=4, n_states=64, width=2.0, count=4), "nothing ends"
    assert not is_worth_it(ends=True, n_actions=4, n_states=64, width=2.0, count=1), "nothing to tell apart"
    assert not is_worth_it(ends=True, n_actions=4, n_states=64, width=2.0, count=6), "512 * 49 * 6 multiplications"
    most = MOST_WORK / (9 * 2)
    assert is_worth_it(True, 1, 1, most, 2)
    assert not is_worth_it(True, 1, 1, most * 1.001, 2)
    assert len(no_vectors(3).points) == 0

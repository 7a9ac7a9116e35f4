from itertools import product

import numpy as np
import pytest
from explorations import Run, SlowExplorer, assert_equals_slow, chosen, corridor, cycle, every, table_of, tasks
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.exploring import PACExplore
from aomultirl.exploring.pac_explore import LONGEST_WAY, plan_escape


class SlowPACExplore(SlowExplorer):
    """PAC-EXPLORE with the probabilities q_t and the actions of a plan in lists by t."""

    def __init__(self, explorer, *arguments):
        super().__init__(*arguments)
        self.explorer, self.to_go, self.q, self.ways = explorer, 0, [], []

    def lacking(self, s):
        """{action: visits} of those with fewer visits than they need."""
        enough = min(self.explorer.enough, self.needed)
        tried = {a: self.visits(s, a) for a in range(self.n_actions)}
        return {a: n for a, n in tried.items() if n < (self.needed if self.targets[s, a] else enough)}

    def chances(self, s, q):
        """Of every action of a known state."""
        rows = [sorted(self.seen[s, a].items()) for a in range(self.n_actions)]
        return [sum((n / self.visits(s, a) * q[s2] for s2, n in row), 0.0) for a, row in enumerate(rows)]

    def plan(self, state):
        """T; q and ways hold what was worked out for 1, 2, ... steps to go."""
        known = [s for s in range(self.n_states) if not self.lacking(s)]
        steps, q, way = self.explorer.horizon, [float(s not in known) for s in range(self.n_states)], {}
        self.q, self.ways = [q], [way]
        for t in range(1, (steps or LONGEST_WAY) + 1):
            chances = {s: self.chances(s, q) for s in known}
            way = {s: c.index(max(c)) if max(c) > q[s] else way.get(s, 0) for s, c in chances.items()}
            q = [max(chances[s]) if s in known else 1.0 for s in range(self.n_states)]
            self.q.append(q)
            self.ways.append(way)
            if steps is None and q[state] >= 0.5:
                return t
            if q == self.q[-2] or (t >= self.n_states and q[state] == 0.0):
                break
        if steps is not None:
            return steps
        return len(self.q) - 1 if q[state] > 0.0 else self.n_states

    def act(self, s):
        lacking = self.lacking(s)
        if lacking:
            self.to_go = 0
            return self.one_of([a for a, n in lacking.items() if n == min(lacking.values())])
        if self.to_go == 0:
            self.to_go = self.plan(s)
            self.lost = self.q[-1][s] == 0.0
        t, self.to_go = min(self.to_go, len(self.ways) - 1), self.to_go - 1
        return self.below(self.n_actions) if self.lost else self.ways[t][s]


PARAMETERS = st.sampled_from([PACExplore(), PACExplore(1), PACExplore(4, 1), PACExplore(30, 2), PACExplore(None, 9)])


@settings(deadline=None, max_examples=25)
@given(tasks(), st.integers(1, 5), PARAMETERS, st.integers(0, 150), st.integers(0, 10**6))
def test_equals_the_algorithm_decided_anew_at_every_step(task, needed, explorer, steps, seed):
    world, targets, state = task
    run, fresh = Run(explorer, world, targets, needed, steps, state, seed), streams(seed, 2)
    twin = SlowPACExplore(explorer, targets, needed, fresh[1], steps)
    assert_equals_slow(run, twin, world, steps, state, fresh)


@pytest.mark.parametrize("explorer", [PACExplore(), PACExplore(12)])
def test_equals_the_algorithm_on_the_papers_grid(explorer):
    world, fresh = ao.worlds.gridworld()[0], streams(3, 2)
    targets = chosen(world, [(1, 0), (8, 3), (2, 1)])
    run = Run(explorer, world, targets, 20, 400, world.start, 3)
    twin = SlowPACExplore(explorer, targets, 20, fresh[1], 400)
    assert_equals_slow(run, twin, world, 400, world.start, fresh)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_no_policy_gets_out_more_likely(seed, steps):
    """Against all policies by step in two known states with two actions each; state 2 is unknown."""
    rng = np.random.default_rng(seed)
    visits = np.zeros((3, 2, 3), np.int64)
    visits[:2] = rng.multinomial(20, rng.dirichlet(np.full(3, 0.5), (2, 2)))
    rows, unknown = visits[:2] / 20.0, np.array([False, False, True])
    best = 0.0
    for policy in product(product(range(2), repeat=2), repeat=steps):
        q = np.array([0.0, 0.0, 1.0])
        for actions in policy:
            q = np.array([rows[0, actions[0]] @ q, rows[1, actions[1]] @ q, 1.0])
        best = max(best, q[0])
    taken, _, chance = plan_escape(table_of(visits).record, unknown, 0, steps, np.zeros(3 * steps, np.int32))
    assert taken == steps
    assert chance == pytest.approx(best, abs=1e-12)


def test_rows_of_unknown_states_are_not_used():
    rng = np.random.default_rng(5)
    visits = rng.multinomial(30, rng.dirichlet(np.ones(6), (6, 3)))
    unknown = np.array([False, True, False, False, True, False])
    other = visits.copy()
    other[unknown] = rng.multinomial(9, rng.dirichlet(np.ones(6), (2, 3)))
    ways = [np.zeros(60, np.int32) for _ in range(2)]
    found = [plan_escape(table_of(n).record, unknown, 0, 10, way) for n, way in zip((visits, other), ways, strict=True)]
    assert found[0] == found[1]
    assert np.array_equal(*ways)


def test_the_number_of_steps_is_the_smallest_that_is_likely_enough():
    """A known state that is left with probability 1/10: 1 - 0.9**t is at least 1/2 from t = 7 on."""
    visits = np.array([[[90, 10]], [[0, 0]]])
    steps, looked, chance = plan_escape(table_of(visits).record, np.array([False, True]), 0, 0, np.zeros(40, np.int32))
    assert (steps, looked) == (7, 7)
    assert chance == pytest.approx(1 - 0.9**7)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(1, 40), PARAMETERS)
def test_a_cycle_takes_one_round_a_sample(n_states, needed, explorer):
    world = cycle(n_states)
    run = Run(explorer, world, every(world), needed)
    assert (run.outcome.steps, run.outcome.finished) == (n_states * needed, True)
    assert (run.visits == needed).all()


@pytest.mark.parametrize("explorer", [PACExplore(), PACExplore(11), PACExplore(500)])
def test_walks_straight_to_the_far_end_of_a_known_corridor(explorer):
    """Also where there is time to dawdle: all that counts is to get there within T steps."""
    n, world = 12, corridor(12)
    known = np.round(3 * world.transitions).astype(np.int64)
    known[-1] = 0
    run = Run(explorer, world, chosen(world, [(n - 1, 0)]), 3, steps=n - 1, counts=table_of(known))
    assert run.outcome.state == n - 1
    assert run.behaviour.table.watch.tolist() == [False] * (n - 1) + [True]
    assert np.array_equal(run.sources[1], streams(0, 2)[1])
    assert (run.visits[:-1] - known[:-1].sum(axis=2)).tolist() == [[0, 1]] * (n - 1)


def test_too_few_steps_for_the_way_are_taken_at_random():
    """Chi-square over fixed seeds; the false-alarm rate of the test is 0.1 %."""
    world = corridor(12)
    known = np.round(3 * world.transitions).astype(np.int64)
    known[-1] = 0
    first = np.zeros(2)
    for seed in range(200):
        run = Run(PACExplore(10), world, chosen(world, [(11, 0)]), 3, 10, seed=seed, counts=table_of(known))
        taken = run.visits[:-1] - known[:-1].sum(axis=2)
        assert taken.sum() == 10
        assert (run.behaviour.task[1], run.behaviour.task[3]) == (0, 1)
        first += taken.sum(axis=0)
    assert stats.chisquare(first).pvalue > 1e-3


def test_a_target_out_of_reach_takes_all_the_steps_there_are():
    """Once everything else is known it acts at random; chi-square, the false-alarm rate of the test is 0.1 %."""
    transitions = np.zeros((3, 2, 3))
    transitions[:2, :, 0] = [[0.5, 0.5], [1.0, 0.3]]
    transitions[:2, :, 1] = 1.0 - transitions[:2, :, 0]
    transitions[2, :, 0] = 1.0
    world = ao.MDP(transitions, np.zeros((3, 2)))
    run = Run(PACExplore(), world, chosen(world, [(0, 0), (2, 0)]), 10, 20_000)
    assert (run.outcome.steps, run.outcome.finished) == (20_000, False)
    assert stats.chisquare(run.visits[0] - [10, 3]).pvalue > 1e-3
    assert run.behaviour.table.watch.tolist() == [False, False, True]


@settings(deadline=None, max_examples=30)
@given(tasks(), st.integers(1, 6), st.integers(0, 10**6))
def test_known_states_stay_known_and_it_ends_at_the_last_targets_last_visit(task, needed, seed):
    world, targets, state = task
    run, unknown = Run(PACExplore(), world, targets, needed, 0, state, seed), np.ones(world.n_states, bool)
    required = np.where(targets, needed, min(3, needed))
    for _ in range(60):
        run.go(5)
        assert not (run.behaviour.table.watch & ~unknown).any()
        unknown = run.behaviour.table.watch.copy()
        assert np.array_equal(unknown, (run.visits < required).any(axis=1))
        assert run.outcome.finished == (run.visits[targets].min() >= needed)
        if run.outcome.finished:
            assert run.visits[targets].min() == needed
            break


def test_infinite_hitting_times_are_no_obstacle():
    world = ao.worlds.two_jao(2, 16)[0]
    run = Run(PACExplore(), world, every(world), 20)
    assert run.outcome.finished
    assert run.visits.min() == 20


def test_what_was_visited_before_the_phase_counts():
    """Agents ask for more visits in the middle of an episode, with the counts that they have."""
    world = corridor(4)
    first = Run(PACExplore(), world, every(world), 5)
    again = Run(PACExplore(), world, every(world), 9, state=first.outcome.state, counts=first.counts)
    assert again.outcome.finished
    assert again.visits.min() == 9


@pytest.mark.long
def test_sequential_aomultirl_can_explore_with_it():
    """That agent goes on with the counts it has, and watches every step; it compiles much."""
    models = ao.worlds.gridworld()
    agent = ao.agents.SequentialAOMultiRL(
        0.03, 20_000, 1.3 - 1e-6, distinguishing_set=[(1, 0), (8, 3), (2, 1)], explorer=PACExplore()
    )
    history = ao.run(agent, models, ao.streams.round_robin(), 8, seed=1)
    assert history.misclustered == 0


@pytest.mark.parametrize("explorer", [PACExplore(), PACExplore(5), PACExplore(1, 1)])
def test_keeps_the_contract(explorer):
    ao.check_explorer(explorer)


@pytest.mark.parametrize(
    ("explorer", "sentence"),
    [
        (PACExplore(0), "horizon must be at least 1, not 0"),
        (PACExplore(2.5), "horizon must be a whole number, not 2.5"),
        (PACExplore(10**15), "horizon is 1000000000000000: a plan for 1000000000000000 steps in 3 states takes"),
        (PACExplore(None, 0), "enough must be at least 1, not 0"),
        (PACExplore(None, "3"), "enough must be a whole number, not '3'"),
    ],
)
def test_bad_parameters(explorer, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        explorer.behaviour(np.ones((3, 2), bool), 5, 0.1)


def test_nothing_to_explore():
    with pytest.raises(ValueError, match="targets is empty"):
        PACExplore().behaviour(np.zeros((3, 2), bool), 5, 0.1)

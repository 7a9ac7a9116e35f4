from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from explorations import advanced, tasks
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import aomultirl as ao
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring.explore_id import explore_id
from slow_twins import slow_step, slow_xoshiro

GAMMA = [(14, 1), (7, 2), (13, 0)]
"""The set that the paper reports for its grids."""


class SlowExploreID:
    """Algorithm 2 with a dict of counts, every decision made from scratch."""

    def __init__(self, targets, needed, ties, stream, steps):
        self.targets, self.needed, self.ties = targets, needed, ties
        self.n_states, self.n_actions = targets.shape
        self.seen = {(s, a): {} for s in range(self.n_states) for a in range(self.n_actions)}
        self.bits, self.drawn = slow_xoshiro(stream, steps), 0

    def visits(self, s, a):
        return sum(self.seen[s, a].values())

    def missing(self, s):
        """G(s)."""
        return [a for a in range(self.n_actions) if self.targets[s, a] and self.visits(s, a) < self.needed]

    def score(self, s, a):
        useful = sum(n for successor, n in self.seen[s, a].items() if self.missing(successor))
        return Fraction(useful, max(self.visits(s, a), 1))

    def below(self, n):
        self.drawn += 1
        return (self.bits[self.drawn - 1] >> 32) * n >> 32

    def act(self, s):
        if self.missing(s):
            worth = {a: self.visits(s, a) for a in self.missing(s)}
            blind = False
        else:
            worth = {a: self.score(s, a) for a in range(self.n_actions)}
            blind = max(worth.values()) == 0
        best = [a for a in worth if worth[a] == max(worth.values())]
        if blind or (len(best) > 1 and self.ties == "random"):
            return best[self.below(len(best))]
        return best[0]

    def finished(self):
        return not any(self.missing(s) for s in range(self.n_states))


def slow_run(world, targets, needed, ties, steps, state, sources):
    """(counts, steps, state, reward, finished, draws of the agent)."""
    agent = SlowExploreID(targets, needed, ties, sources[1], steps)
    reward, taken = 0.0, 0
    for bits in slow_xoshiro(sources[0], steps):
        action = agent.act(state)
        successor = slow_step(world, state, action, bits)
        row = agent.seen[state, action]
        row[successor] = row.get(successor, 0) + 1
        reward += world.rewards[state, action]
        state = successor
        taken += 1
        if agent.finished():
            break
    return agent.seen, taken, state, reward, agent.finished(), agent.drawn


class Run:
    """One run of the kernels, with what is worth looking at afterwards."""

    def __init__(self, world, targets, needed, ties="random", steps=100_000, state=0, seed=0):
        self.counts = CountTable(world.n_states * world.n_actions)
        self.behaviour = explore_id(targets, needed, ties)
        self.sources = streams(seed, 2)
        simulator = Simulator(world.alias_tables, world.gains, state, self.sources[0], self.sources[1])
        self.outcome = simulator.run(Phase(self.behaviour, steps, self.counts, np.empty(0)))

    @property
    def seen(self):
        starts, states, visits = self.counts.to_lists()
        n_actions = len(self.behaviour.targets) // len(self.behaviour.table.budget)
        return {
            divmod(pair, n_actions): dict(zip(states[first:last].tolist(), visits[first:last].tolist(), strict=True))
            for pair, (first, last) in enumerate(pairwise(starts))
        }

    @property
    def visits(self):
        """(S, A)."""
        seen = self.seen
        shape = (len(self.behaviour.table.budget), -1)
        return np.array([sum(seen[key].values()) for key in sorted(seen)]).reshape(shape)


def assert_equals_slow(world, targets, needed, ties, steps, state, seed):
    run = Run(world, targets, needed, ties, steps, state, seed)
    fresh = streams(seed, 2)
    seen, taken, last, reward, finished, drawn = slow_run(world, targets, needed, ties, steps, state, fresh)
    assert run.seen == seen
    assert run.outcome == (taken, last, reward, finished, False)
    assert np.array_equal(run.sources[0], advanced(fresh[0], taken))
    assert np.array_equal(run.sources[1], advanced(fresh[1], drawn))


def grid_pairs(pairs):
    targets = np.zeros((16, 4), bool)
    targets[tuple(np.transpose(pairs))] = True
    return targets


def cycle(n_states, n_actions=1):
    """State s leads to s + 1, whatever is done."""
    steps = np.roll(np.eye(n_states), 1, axis=1)
    return ao.MDP(np.repeat(steps[:, None], n_actions, axis=1), np.zeros((n_states, n_actions)))


EXPLORATIONS = (
    tasks(max_states=6),
    st.integers(1, 6),
    st.sampled_from(["random", "released"]),
    st.integers(0, 300),
    st.integers(0, 10**6),
)
"""What is explored, the samples that are needed, how ties are broken, the most steps, and the seed."""


@settings(deadline=None, max_examples=100)
@given(*EXPLORATIONS)
def test_equals_algorithm_2_decided_anew_at_every_step(task, needed, ties, steps, seed):
    world, targets, state = task
    assert_equals_slow(world, targets, needed, ties, steps, state, seed)


@pytest.mark.long
@settings(deadline=None, max_examples=800)
@given(*EXPLORATIONS)
def test_equals_algorithm_2_decided_anew_at_every_step_of_many_explorations(task, needed, ties, steps, seed):
    world, targets, state = task
    assert_equals_slow(world, targets, needed, ties, steps, state, seed)


@pytest.mark.parametrize(
    ("edges", "pairs", "needed", "ties"),
    [
        ("third", "three", 30, "random"),
        ("stay", "three", 30, "released"),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                ("stay", "three", 30, "random"),
                ("third", "three", 30, "released"),
                *((edges, "all", 5, ties) for edges in ("third", "stay") for ties in ("random", "released")),
            )
        ),
    ],
)
def test_equals_algorithm_2_on_the_papers_grids(edges, pairs, needed, ties):
    targets = grid_pairs(GAMMA) if pairs == "three" else np.ones((16, 4), bool)
    for task, world in enumerate(ao.worlds.gridworld(edges=edges)):
        for seed in range(4):
            assert_equals_slow(world, targets, needed, ties, 3000, world.start, 10 * task + seed)


@settings(deadline=None, max_examples=100)
@given(tasks(max_states=6), st.integers(1, 6), st.sampled_from(["random", "released"]), st.integers(0, 10**6))
def test_ends_at_the_very_step_that_completes_the_last_target(task, needed, ties, seed):
    world, targets, state = task
    run = Run(world, targets, needed, ties, 2000, state, seed)
    missing = np.where(targets, np.maximum(needed - run.visits, 0), 0)
    assert run.visits.sum() == run.outcome.steps
    assert run.outcome.finished == (missing.sum() == 0)
    assert np.array_equal(run.behaviour.table.watch, missing.any(axis=1))
    assert run.behaviour.open.tolist() == [*(missing > 0).sum(axis=1).tolist(), (missing > 0).sum()]
    if run.outcome.finished:
        assert run.visits[targets].min() == needed
        assert not Run(world, targets, needed, ties, run.outcome.steps - 1, state, seed).outcome.finished
        exact = Run(world, targets, needed, ties, run.outcome.steps, state, seed)
        assert exact.outcome == run.outcome
    else:
        assert run.outcome.steps == 2000


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(1, 40), st.sampled_from(["random", "released"]))
def test_a_cycle_takes_one_round_a_sample(n_states, needed, ties):
    run = Run(cycle(n_states), np.ones((n_states, 1), bool), needed, ties)
    assert run.outcome == (n_states * needed, 0, 0.0, True, False)
    assert (run.visits == needed).all()
    assert np.array_equal(run.sources[1], streams(0, 2)[1])


def test_the_most_advanced_action_is_finished_first():
    n = 50
    world = cycle(1, 4)
    for seed in range(20):
        for steps in range(1, 4 * n, 7):
            visits = np.sort(Run(world, np.ones((1, 4), bool), n, steps=steps, seed=seed).visits[0])[::-1]
            assert visits.tolist() == [min(n, max(0, steps - i * n)) for i in range(4)]


def test_an_action_with_a_head_start_is_finished_first():
    """From visits (2, 5, 5, 0) and N = 9: one of the two with 5 first, then the other, then the 2, then the 0."""
    world, first = cycle(1, 4), set()
    for seed in range(40):
        sources, counts = streams(seed, 2), CountTable(4)
        behaviour = explore_id(np.ones((1, 4), bool), 9)
        for plan, steps in ((0, 2), (1, 5), (2, 5), (None, 3)):
            simulator = Simulator(world.alias_tables, world.gains, 0, sources[0], sources[1])
            chosen = behaviour if plan is None else follow(np.array([plan], np.int32))
            simulator.run(Phase(chosen, steps, counts, np.empty(0)))
        visits = counts.to_lists()[2].tolist()
        assert visits in ([2, 8, 5], [2, 5, 8])
        first.add(visits.index(8))
        simulator.run(Phase(behaviour, 5, counts, np.empty(0)))
        assert counts.to_lists()[2].tolist() == [2, 9, 9]
        simulator.run(Phase(behaviour, 7, counts, np.empty(0)))
        assert counts.to_lists()[2].tolist() == [9, 9, 9]
        outcome = simulator.run(Phase(behaviour, 20, counts, np.empty(0)))
        assert (outcome.steps, outcome.finished) == (9, True)
    # Each of the two at least once: fails by chance in 2^-39.
    assert first == {1, 2}


def test_other_pairs_are_left_alone_where_a_target_is_missing():
    targets = np.array([[False, True, False]])
    run = Run(cycle(1, 3), targets, 100)
    assert run.visits.tolist() == [[0, 100, 0]]
    assert run.outcome.finished


@pytest.mark.parametrize("ties", ["random", "released"])
def test_a_target_out_of_reach_takes_all_the_steps_there_are(ties):
    """The rest of the time it acts at random; chi-square, the false-alarm rate of the test is 0.1 % each."""
    transitions = np.zeros((3, 2, 3))
    transitions[:2, :, 0] = [[0.5, 0.5], [1.0, 0.3]]
    transitions[:2, :, 1] = 1.0 - transitions[:2, :, 0]
    transitions[2, :, 0] = 1.0
    targets = np.array([[True, False], [False, False], [True, False]])
    run = Run(ao.MDP(transitions, np.ones((3, 2))), targets, 10, ties, 20_000)
    assert (run.outcome.steps, run.outcome.reward) == (20_000, 20_000.0)
    assert not run.outcome.finished
    assert run.behaviour.open.tolist() == [0, 0, 1, 1]
    assert run.visits[2].sum() == 0
    assert stats.chisquare(run.visits[1]).pvalue > 1e-3
    assert stats.chisquare(run.visits[0] - [10, 0]).pvalue > 1e-3


def two_sure_ways(n, ties, seed=0):
    """States 0 and 1 in turn; 0 has two targets, 1 has three: n times both known ways from 0 lead on for sure."""
    targets = np.array([[True, True, False], [True, True, True]])
    run = Run(cycle(2, 3), targets, n, ties, seed=seed)
    assert run.outcome == (6 * n, 0, 0.0, True, False)
    assert (run.visits[1] == n).all()
    return run


def test_equal_scores_are_broken_again_at_every_visit():
    """Four standard errors, a false-alarm rate below 0.01 %."""
    n = 2500
    run = two_sure_ways(n, "random")
    extra = run.visits[0] - [n, n, 0]
    assert extra.sum() == n
    assert extra[2] == 0
    assert abs(extra[0] - n / 2) <= 4 * np.sqrt(n / 4)
    # One draw a tie: which of two, of three and of two targets comes first, and n times which way.
    assert np.array_equal(run.sources[1], advanced(streams(0, 2)[1], 3 + n))


def test_released_takes_the_first_of_equals_and_draws_nothing():
    n = 2500
    run = two_sure_ways(n, "released")
    assert run.visits[0].tolist() == [2 * n, n, 0]
    assert np.array_equal(run.sources[1], streams(0, 2)[1])
    first = Run(cycle(2, 3), np.ones((2, 3), bool), n, "released", steps=2)
    assert first.visits.tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize("seeds", [600, pytest.param(3000, marks=pytest.mark.long)])
def test_ties_of_targets_are_broken_uniformly(seeds):
    """Chi-square over fixed seeds; the false-alarm rate of the test is 0.1 %."""
    targets = np.array([[True, False, True, True]])
    first = sum(Run(cycle(1, 4), targets, 9, steps=1, seed=seed).visits[0] for seed in range(seeds))
    assert first[1] == 0
    assert stats.chisquare(first[[0, 2, 3]]).pvalue > 1e-3


def test_the_grids_are_explored_within_the_released_horizon():
    """|Gamma| = 3, N = 1043, H0 = 101,262; the worlds' hitting times are far above the 7 that H0 was made for.

    If one run in fifty fails, six or more of fifty do with a chance below 0.1 %.
    """
    for task, world in enumerate(ao.worlds.gridworld(edges="third")):
        outcomes = [
            Run(world, grid_pairs(GAMMA), 1043, steps=101_262, state=world.start, seed=1000 * task + i).outcome
            for i in range(50)
        ]
        assert sum(outcome.finished for outcome in outcomes) >= 45
        assert 3 * 1043 < np.median([outcome.steps for outcome in outcomes]) < 37_000


def test_all_pairs_of_the_grids_are_explored():
    """With 64 pairs and N = 1275 at least 81,600 steps are needed; independent code needed 124,000 to 192,000."""
    for edges, least, most in (("third", 110_000, 150_000), ("stay", 170_000, 230_000)):
        world = ao.worlds.gridworld(edges=edges)[0]
        for seed in range(3):
            run = Run(world, np.ones((16, 4), bool), 1275, steps=2_649_472, state=5, seed=seed)
            assert run.outcome.finished
            assert least < run.outcome.steps < most


def test_bad_ties():
    with pytest.raises(
        ValueError, match="ties must be one of 'random', 'released', not 'random '; did you mean 'rando"
    ):
        explore_id(np.ones((2, 2), bool), 3, "random ")

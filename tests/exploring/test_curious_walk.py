from fractions import Fraction

import numpy as np
import pytest
from explorations import Run, SlowExplorer, assert_equals_slow, chosen, cycle, every, tasks
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.exploring import CuriousWalk, ExploreID


class SlowCuriousWalk(SlowExplorer):
    """beta-curious walking with probabilities as fractions; beta is one, too."""

    def __init__(self, beta, ties, *arguments):
        super().__init__(*arguments)
        self.beta, self.ties = beta, ties

    def known(self, s):
        count = int(self.targets[s].sum())
        return count - len(self.missing(s)) >= self.beta * count

    def entering(self, s, a, wanted):
        hits = sum(n for successor, n in self.seen[s, a].items() if wanted(successor))
        return Fraction(hits, max(self.visits(s, a), 1))

    def act(self, s):
        worths = [{a: (-1 if self.ties == "least" else 1) * self.visits(s, a) for a in self.missing(s)}]
        if not self.missing(s):
            wanted = (lambda successor: not self.known(successor)), self.missing
            ways = [{a: self.entering(s, a, aim) for a in range(self.n_actions)} for aim in wanted]
            worths = [way for way in ways if max(way.values()) > 0]
        if not worths:
            return self.below(self.n_actions)
        best = max(worths[0].values())
        return self.one_of([a for a, worth in worths[0].items() if worth == best])


BETAS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(3, 4)])


@settings(deadline=None, max_examples=40)
@given(
    tasks(), st.integers(1, 5), BETAS, st.sampled_from(["most", "least"]), st.integers(0, 200), st.integers(0, 10**6)
)
def test_equals_the_walk_decided_anew_at_every_step(task, needed, beta, ties, steps, seed):
    world, targets, state = task
    run, fresh = Run(CuriousWalk(float(beta), ties), world, targets, needed, steps, state, seed), streams(seed, 2)
    twin = SlowCuriousWalk(beta, ties, targets, needed, fresh[1], steps)
    assert_equals_slow(run, twin, world, steps, state, fresh)


def assert_same(first, second):
    assert first.outcome == second.outcome
    assert first.seen == second.seen
    assert np.array_equal(first.sources, second.sources)


@settings(deadline=None, max_examples=40)
@given(tasks(), st.integers(1, 8), st.integers(0, 600), st.integers(0, 10**6))
def test_with_beta_1_and_the_most_tried_first_it_is_explore_id(task, needed, steps, seed):
    world, targets, state = task
    assert_same(*(Run(e, world, targets, needed, steps, state, seed) for e in (ExploreID(), CuriousWalk())))


@pytest.mark.parametrize("edges", ["third", "stay"])
def test_it_is_explore_id_on_the_papers_grids(edges):
    for task, world in enumerate(ao.worlds.gridworld(edges=edges)):
        for targets, needed in ((chosen(world, [(14, 1), (7, 2), (13, 0)]), 300), (every(world), 30)):
            assert_same(
                *(Run(e, world, targets, needed, 50_000, 5, task) for e in (ExploreID(), CuriousWalk(1.0, "most")))
            )


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(1, 40), BETAS, st.sampled_from(["most", "least"]))
def test_a_cycle_takes_one_round_a_sample(n_states, needed, beta, ties):
    run = Run(CuriousWalk(float(beta), ties), cycle(n_states), np.ones((n_states, 1), bool), needed)
    assert (run.outcome.steps, run.outcome.finished) == (n_states * needed, True)
    assert (run.visits == needed).all()


def test_which_action_comes_first():
    """The most tried one is finished before the next begins; the least tried one keeps all of them level."""
    for seed in range(5):
        for steps in range(1, 40, 7):
            most, least = (
                np.sort(Run(CuriousWalk(1.0, ties), cycle(1, 4), every(cycle(1, 4)), 10, steps, seed=seed).visits[0])
                for ties in ("most", "least")
            )
            assert most[::-1].tolist() == [min(10, max(0, steps - 10 * i)) for i in range(4)]
            assert least.max() - least.min() <= 1


@pytest.mark.parametrize(("beta", "drawn"), [(1.0, {1, 2}), (0.5, {2})])
def test_a_state_that_is_known_enough_draws_nobody(beta, drawn):
    """From 0 two certain ways: to 1, of whose two targets one is left, and to 2, of whose two none has its visits.

    Two equal ways are both taken within 20 seeds, but for a chance of 2**-19.
    """
    rows = [[{1: 1.0}, {2: 1.0}], [{0: 1.0}, {0: 1.0}], [{0: 1.0}, {0: 1.0}]]
    world = ao.MDP(rows, np.zeros((3, 2)))
    targets = np.array([[False, False], [True, True], [True, True]])
    first = set()
    for seed in range(20):
        run = Run(CuriousWalk(beta), world, targets, 5, 0, seed=seed)
        for pair, successor, visits in ((0, 1, 5), (1, 2, 5), (2, 0, 5)):
            run.counts.count(pair, successor, visits)
        run.behaviour.open[:] = [0, 1, 2, 3]
        run.go(1)
        first.add(run.outcome.state)
    assert first == drawn


def test_what_is_left_in_known_states_is_finished():
    world = ao.worlds.gridworld()[0]
    for beta in (0.1, 0.5):
        run = Run(CuriousWalk(beta, "least"), world, every(world), 20, 100_000, 5)
        assert run.outcome.finished
        assert run.visits.min() == 20


@pytest.mark.parametrize(("beta", "actions", "enough"), [(0.1, 30, 3), (0.25, 30, 8), (0.4, 3, 2), (0.01, 3, 1)])
def test_so_many_actions_make_a_state_known(beta, actions, enough):
    """At least a share beta of them; 0.1 * 30 is a little more than 3 in floating point, and 3 all the same."""
    behaviour = CuriousWalk(beta).behaviour(np.ones((2, actions), bool), 5, 0.1)
    assert behaviour.spare.tolist() == [actions - enough] * 2


def test_steps_are_those_of_explore_id():
    exploration = ao.exploring.Exploration(
        n_states=16, pairs=3, needed=100, episodes=50, separation=1.0, hitting_time=7.0, failure=0.1
    )
    assert CuriousWalk(0.5, "least").steps(exploration) == ExploreID().steps(exploration)


@pytest.mark.parametrize("explorer", [CuriousWalk(), CuriousWalk(0.5, "least")])
def test_keeps_the_contract(explorer):
    ao.check_explorer(explorer)


@pytest.mark.parametrize(
    ("explorer", "sentence"),
    [
        (CuriousWalk(0.0), "beta must be .*0.*, not 0"),
        (CuriousWalk(1.5), "beta must be .*1.*, not 1.5"),
        (CuriousWalk("all"), "beta must be a number, not 'all'"),
        (CuriousWalk(1.0, "leats"), "ties must be one of 'most', 'least', not 'leats'; did you mean 'least'"),
    ],
)
def test_bad_parameters(explorer, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        explorer.behaviour(np.ones((3, 2), bool), 5, 0.1)

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import bdtr

import aomultirl as ao
from aomultirl.theory.identification import identification_lower_bound, nearest_divergence
from strategies import ending_sets, outcomes

GAMMA = [(1, 0), (8, 3), (2, 1)]


def kl(p, q):
    return sum(x * math.log(x / y) if x > 0 else 0.0 for x, y in zip(p, q, strict=True) if x > 0)


def sample_complexity(heads, failure):
    """f(p) of Definition 7 for two worlds that are a coin with this chance of heads and its opposite.

    Nobody chooses anything but the answer, which is best by the majority; the number of flips is fixed beforehand.
    """
    return next(n for n in itertools.count(1, 2) if bdtr(n // 2, n, heads) <= failure)


@pytest.mark.parametrize("failure", [0.2, 0.05, 0.001])
def test_the_program_stays_below_the_sample_complexity_and_is_not_it(failure):
    """Definition 7 asks for a number of steps that is fixed; the program allows one that depends on what was seen."""
    coin = np.array([[[0.7, 0.3]], [[0.7, 0.3]]])
    pair = ao.ModelSet([ao.MDP(coin, np.zeros((2, 1))), ao.MDP(coin[:, :, ::-1], np.zeros((2, 1)))])
    found = identification_lower_bound(pair, failure=failure)
    assert found == pytest.approx((1 - 2 * failure) * math.log((1 - failure) / failure) / kl([0.7, 0.3], [0.3, 0.7]))
    assert (2 * found < sample_complexity(0.7, failure)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0.1, 0.8))
def test_the_nearest_row_is_the_nearest(seed, size, gap):
    """Against random rows that are far enough away: none is nearer."""
    rng = np.random.default_rng(seed)
    row = rng.dirichlet(np.ones(size))
    found = nearest_divergence(row, gap, size)
    others = rng.dirichlet(np.full(size, 0.5), 4000)
    far = others[np.abs(others - row).sum(axis=1) >= 2 * gap]
    assert all(kl(row, other) >= found - 1e-9 for other in far)


def test_the_nearest_row_is_reached():
    """Closed form for two successors, and a row that reaches the value found."""
    row, gap = np.array([0.7, 0.3]), 0.25
    assert nearest_divergence(row, gap, 2) == pytest.approx(min(kl(row, [0.95, 0.05]), kl(row, [0.45, 0.55])))
    row = np.array([0.5, 0.3, 0.2])
    reached = []
    for chosen in itertools.product((False, True), repeat=3):
        inside = row[list(chosen)].sum()
        if 0 < inside <= 1 - gap:
            other = np.where(chosen, row * (inside + gap) / inside, row * (1 - inside - gap) / (1 - inside))
            assert np.abs(other - row).sum() == pytest.approx(2 * gap)
            reached.append(kl(row, other))
    assert nearest_divergence(row, gap, 3) == pytest.approx(min(reached))


def test_a_successor_that_was_never_there_may_be_the_nearest_way():
    row = np.array([0.5, 0.5])
    assert nearest_divergence(row, 0.25, 3) == pytest.approx(min(-math.log(0.75), kl(row, [0.75, 0.25])))


@pytest.mark.parametrize("seed", range(5))
def test_many_successors_never_seem_nearer_than_they_are(seed):
    """Groups of successors are events too, so the nearest found is at least as far as the nearest of all."""
    row = np.random.default_rng(seed).dirichlet(np.ones(14))
    masses = np.array([np.dot(choice, row) for choice in itertools.product((0, 1), repeat=14)])
    masses = masses[(masses > 0) & (masses <= 0.7)]
    exact = min(kl([x, 1 - x], [x + 0.3, 0.7 - x]) for x in masses)
    assert exact - 1e-12 <= nearest_divergence(row, 0.3, 14) <= 1.3 * exact


def test_a_bound_does_not_jump_with_one_more_successor():
    rows = [np.array([0.99, *np.full(n - 1, 0.01 / (n - 1))]) for n in (12, 13)]
    assert nearest_divergence(rows[0], 0.25, 99) == pytest.approx(nearest_divergence(rows[1], 0.25, 99), rel=0.05)


def test_the_grids_of_the_paper():
    """Golden values: 18 to 28 steps among known worlds; 48 to 56 with Gamma; about 766 with all pairs."""
    grid = ao.worlds.gridworld()
    told = {"failure": 0.03, "episodes": 200}
    assert identification_lower_bound(grid, **told) == pytest.approx([18.1, 18.4, 18.4, 27.5], abs=0.1)
    few = identification_lower_bound(grid, separation=1.3, distinguishing_set=GAMMA, **told)
    assert few == pytest.approx([56.4, 55.5, 50.4, 48.4], abs=0.1)
    every = identification_lower_bound(grid, separation=1.3, **told)
    assert every.mean() == pytest.approx(766, abs=1)
    assert (every >= few).all()


def test_one_state_is_a_bandit():
    """One state that always returns: the best pair alone, for each rival."""
    rows = np.array([[0.5, 0.5], [0.5, 0.5]])
    worlds = []
    for first, second in ((0.5, 0.5), (0.9, 0.5), (0.5, 0.8)):
        table = np.array([[[1 - first, first], [1 - second, second]]] * 2)
        worlds.append(ao.MDP(table, np.zeros((2, 2))))
    models = ao.ModelSet(worlds)
    q = 0.01
    needed = (1 - 2 * q) * math.log((1 - q) / q)
    first = needed / kl(rows[0], [0.1, 0.9])
    second = needed / kl(rows[0], [0.2, 0.8])
    assert identification_lower_bound(models, failure=q)[0] == pytest.approx(first + second)


def test_worlds_that_cannot_be_told_apart_or_reached_are_infinite():
    same = ao.ModelSet([ao.worlds.gridworld()[0]] * 2)
    assert np.isinf(identification_lower_bound(same, failure=0.1)).all()
    blocked = ao.worlds.two_jao_noncommunicating()
    assert np.isinf(identification_lower_bound(blocked, failure=0.1, separation=0.5)).all()


def test_nothing_to_tell_costs_nothing():
    assert identification_lower_bound(ao.worlds.gridworld()[:1], failure=0.1).tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"failure": 0.0}, "failure must be above 0"),
        ({"failure": 0.1, "separation": 3.0}, "separation must be at most 2"),
        ({"failure": 0.1, "episodes": 0}, "episodes must be at least 1"),
        ({"failure": 0.1, "separation": 1.0, "distinguishing_set": [(99, 0)]}, r"distinguishing_set\[0\] state"),
    ],
)
def test_bad_input_gets_a_sentence(options, told):
    with pytest.raises(ValueError, match=told):
        identification_lower_bound(ao.worlds.gridworld(), **options)


def reached(world):
    """The states that an episode can meet, terminal ones too."""
    met, todo = set(), [int(s) for s in np.flatnonzero(world.start_distribution)]
    while todo:
        s = todo.pop()
        if s not in met:
            met.add(s)
            todo += [s2 for a in range(world.n_actions) for s2, _ in outcomes(world, s, a)]
    return met


def slow_bound(world, rivals, needed):
    """The program with a column only for pairs that are acted at; ``rivals`` are functions of a pair, in nats.

    An infinite divergence tells at once, for less than any positive number of steps, wherever it can be met.
    """
    pairs = [(s, a) for s in sorted(reached(world)) if not world.terminal[s] for a in range(world.n_actions)]
    told = np.array([[rival(s, a) for s, a in pairs] for rival in rivals]).reshape(len(rivals), len(pairs))
    told = told[~np.isinf(told).any(axis=1)]
    states = [s for s in range(world.n_states) if not world.terminal[s]]
    kept = np.array([[(s == t) - outcomes(world, s, a).get((t, False), 0.0) for s, a in pairs] for t in states])
    found = linprog(  # no more leaves a state than comes to it
        np.ones(len(pairs)),
        A_ub=np.vstack([-told, kept]),
        b_ub=np.concatenate([np.full(len(told), -needed), world.start_distribution[states]]),
    )
    return found.fun if found.status == 0 else math.inf


def divergence(one, two):
    def at(s, a):
        p, q = outcomes(one, s, a), outcomes(two, s, a)
        return sum(x * math.log(x / q[o]) if o in q else math.inf for o, x in p.items())

    return at


def close(found, slow):
    """Equal, but for the few billionths of a step that an outcome takes that is never seen in a rival."""
    return math.isinf(slow) if math.isinf(found) else found == pytest.approx(slow, rel=1e-5, abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(ending_sets(), st.sampled_from([0.3, 0.1, 0.01]))
def test_where_episodes_end_the_bound_is_that_of_the_slow_program(models, q):
    needed = (1 - 2 * q) * math.log((1 - q) / q)
    found = identification_lower_bound(models, failure=q)
    for i, world in enumerate(models):
        if any(len(each.ends) for each in models):
            rivals = [divergence(world, other) for j, other in enumerate(models) if j != i]
            assert close(found[i], slow_bound(world, rivals, needed))


@settings(deadline=None, max_examples=40)
@given(ending_sets(), st.sampled_from([0.3, 0.1]), st.floats(0.2, 1.2))
def test_a_new_world_differs_where_somebody_acts(models, q, separation):
    def at_one(pair, row, size):
        nearest = nearest_divergence(row, separation / 2, size)
        return lambda s, a: nearest if (s, a) == pair else 0.0

    needed = (1 - 2 * q) * math.log((1 - q) / q)
    found = identification_lower_bound(models, failure=q, separation=separation)
    for i, world in enumerate(models):
        if any(len(each.ends) for each in models):
            acted = itertools.product(range(models.n_states), range(models.n_actions))
            rivals = [at_one(p, world.transitions[p], models.n_states) for p in acted if not world.terminal[p[0]]]
            assert close(found[i], slow_bound(world, rivals, needed))


def test_one_arrival_is_enough_where_only_one_world_ends():
    rows, rewards = np.array([[[0.5, 0.5]], [[0.5, 0.5]]]), np.zeros((2, 1))
    models = ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(rows, rewards, terminal=[1])])
    assert (identification_lower_bound(models, failure=0.05) < 1.0).all()


def test_an_end_that_no_walk_meets_tells_nothing():
    rows, rewards = np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.zeros((2, 1))
    models = ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(rows, rewards, terminal=[1])])
    assert np.isinf(identification_lower_bound(models, failure=0.05)).all()


def test_an_episode_may_be_over_too_soon():
    """It goes on with 0.9, or with 0.5: ten visits in the mean do to be wrong once in ten, not in a thousand."""
    rewards = np.zeros((2, 1))
    models = ao.ModelSet([ao.MDP([[[p, 1 - p]], [[0.0, 1.0]]], rewards, terminal=[1]) for p in (0.9, 0.5)])
    steps = 0.8 * math.log(9.0) / kl([0.9, 0.1], [0.5, 0.5])
    assert identification_lower_bound(models, failure=0.1).tolist() == [pytest.approx(steps), math.inf]
    assert np.isinf(identification_lower_bound(models, failure=0.001)).all()


def test_nobody_acts_in_a_terminal_state():
    """A pair of Gamma that is terminal everywhere is refused; one that is so in one world says nothing there."""
    rows, rewards = np.array([[[0.9, 0.1]], [[0.5, 0.5]]]), np.zeros((2, 1))
    ends, goes_on = ao.MDP(rows, rewards, terminal=[1]), ao.MDP(rows, rewards)
    told = {"failure": 0.1, "separation": 0.5, "distinguishing_set": [(1, 0)]}
    with pytest.raises(
        ValueError, match=r"^distinguishing_set has \(1, 0\), but state 1 is terminal in all worlds: nobody"
    ):
        identification_lower_bound(ao.ModelSet([ends, ends]), **told)
    alone = identification_lower_bound(ao.ModelSet([goes_on]), **told)
    assert identification_lower_bound(ao.ModelSet([ends, goes_on]), **told) == pytest.approx([0.0, alone[0]])

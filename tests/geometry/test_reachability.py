import time

import numpy as np
import pytest
from hypothesis import given, settings

import aomultirl as ao
from aomultirl.geometry import passage_times as passage_times_module
from strategies import deterministic_policies, worlds


def passage_times(chain, target):
    """Expected times to the target, infinite where it may never be reached."""
    n = len(chain)
    times = np.full(n, np.inf)
    reach = np.linalg.matrix_power(np.eye(n) + chain, n) > 0
    can = reach[:, target]
    moved = chain.copy()
    moved[target] = np.eye(n)[target]
    closed = np.linalg.matrix_power(np.eye(n) + moved, n) > 0
    sure = np.array([all(can[t] for t in range(n) if closed[s, t]) for s in range(n)])
    inside = [s for s in range(n) if sure[s] and s != target]
    if inside:
        times[inside] = np.linalg.solve(np.eye(len(inside)) - chain[np.ix_(inside, inside)], np.ones(len(inside)))
    times[target] = 0.0
    return times


def brute_force(world):
    """(diameter, hitting time) over all deterministic policies."""
    n = world.n_states
    transitions = world.transitions
    least = np.full((n, n), np.inf)
    most = np.zeros((n, n))
    for policy in deterministic_policies(n, world.n_actions):
        chain = transitions[np.arange(n), policy]
        for target in range(n):
            times = passage_times(chain, target)
            least[target] = np.minimum(least[target], times)
            most[target] = np.maximum(most[target], times)
    return least.max(), most.max()


def assert_equals_brute_force(world):
    diameter, hitting_time = brute_force(world)
    assert world.diameter() == pytest.approx(diameter, rel=1e-8)
    assert world.hitting_time() == pytest.approx(hitting_time, rel=1e-8)
    assert world.is_communicating() == np.isfinite(diameter)


@settings(deadline=None, max_examples=80)
@given(worlds(max_states=4, max_actions=3))
def test_diameter_and_hitting_time_equal_brute_force(world):
    assert_equals_brute_force(world)


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(worlds(max_states=4, max_actions=3))
def test_diameter_and_hitting_time_equal_brute_force_in_many_worlds(world):
    assert_equals_brute_force(world)


def test_tiny_probabilities():
    """Only one way leads back from state 1, with probability 1e-9."""
    rows = [[{1: 1.0}, {0: 0.5, 1: 0.5}], [{1: 1 - 1e-9, 0: 1e-9}, {1: 1.0}]]
    world = ao.MDP(rows, np.zeros((2, 2)))
    assert world.diameter() == pytest.approx(1e9, rel=1e-6)
    assert world.hitting_time() == float("inf")


@settings(deadline=None, max_examples=60)
@given(worlds(max_states=6, max_actions=3, min_states=2))
def test_sparse_and_dense_evaluation_agree(world):
    if not world.is_communicating():
        return
    dense = world.diameter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passage_times_module, "DENSE_STATES", 0)
        patch.setattr(passage_times_module, "DENSE_SHARE", 2.0)
        assert world.diameter() == pytest.approx(dense, rel=1e-9)


def cycle(n):
    return ao.MDP([[{(s + 1) % n: 1.0}] for s in range(n)], np.zeros((n, 1)))


def test_closed_forms():
    assert cycle(1).diameter() == cycle(1).hitting_time() == 0.0
    assert cycle(7).diameter() == pytest.approx(6.0)
    assert cycle(7).hitting_time() == pytest.approx(6.0)
    uniform = ao.MDP(np.full((5, 2, 5), 0.2), np.zeros((5, 2)))
    assert uniform.diameter() == pytest.approx(5.0)
    assert uniform.hitting_time() == pytest.approx(5.0)


def test_long_times_stay_accurate():
    """A birth-death chain that drifts down: the time to climb it is known in closed form, about 6e17."""
    n, up = 38, 0.25
    rows = [[{max(s - 1, 0): 1 - up, min(s + 1, n - 1): up}] for s in range(n)]
    climbs = [1 / up]
    for _ in range(n - 2):
        climbs.append((1 + (1 - up) * climbs[-1]) / up)
    world = ao.MDP(rows, np.zeros((n, 1)))
    assert sum(climbs) > 1e17
    assert world.hitting_time() == pytest.approx(sum(climbs), rel=1e-12)


def test_values_span_no_more_than_the_diameter():
    for world in ao.worlds.random_models(12, 3, 5, 3, 0.5, rng=4):
        values = world.optimal_values(60)
        assert (values.max(axis=1) - values.min(axis=1) <= world.diameter() + 1e-9).all()


@pytest.mark.long
@pytest.mark.parametrize(("edges", "diameter"), [("third", 75.64517840), ("stay", 80.29310214)])
def test_thirty_by_thirty_grids_in_time(edges, diameter):
    """The four grids are mirror images as far as travel goes, so their diameters agree."""
    cycle(3).diameter()
    for world in ao.worlds.gridworld(30, edges):
        begin = time.process_time()
        assert world.diameter() == pytest.approx(diameter, abs=1e-7)
        assert time.process_time() - begin < 20.0


@pytest.mark.parametrize("edges", ["third", "stay"])
def test_the_diameters_of_mirror_images_agree(edges):
    first, *others = (world.diameter() for world in ao.worlds.gridworld(8, edges))
    assert others == pytest.approx([first] * 3, abs=1e-7)


def test_diameter_is_the_hitting_time_where_there_is_no_choice():
    """Climbing with probability 0.1 and falling to the ground otherwise takes 10, 110, 1110, ... steps."""
    for n in (3, 7, 12, 18, 25):
        world = ao.MDP([[{min(s + 1, n - 1): 0.1, 0: 0.9}] for s in range(n)], np.zeros((n, 1)))
        exact = sum(10.0**k for k in range(1, n))
        assert world.hitting_time() == pytest.approx(exact, rel=1e-9)
        assert world.diameter() == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("n", "forward"), [(40, 0.3), (60, 0.3), (120, 0.2), (300, 0.3)])
def test_a_slow_way_forward_does_not_hide_the_fast_one(n, forward):
    """Action 0 falls back to the start, which takes for ever; action 1 drifts forward, 1.25 steps a state."""
    rows = []
    for s in range(n):
        ahead, behind = min(s + 1, n - 1), max(s - 1, 0)
        slow, fast = {ahead: forward}, {ahead: 0.9}
        slow[0] = slow.get(0, 0.0) + 1 - forward
        fast[behind] = fast.get(behind, 0.0) + 0.1
        rows.append([slow, fast])
    climbs = [1 / 0.9]
    for _ in range(n - 2):
        climbs.append((1 + 0.1 * climbs[-1]) / 0.9)
    assert ao.MDP(rows, np.zeros((n, 2))).diameter() == pytest.approx(sum(climbs), rel=1e-9)


def test_times_too_long_to_compare_come_with_a_warning():
    world = ao.worlds.gridworld(10)[0]
    with pytest.warns(UserWarning, match=r"the hitting time is at least 9\.\d+e\+16 steps: beyond 1e\+14"):
        world.hitting_time()

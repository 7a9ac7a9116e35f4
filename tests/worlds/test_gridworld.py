import numpy as np
import pytest

import aomultirl as ao

LEFT, RIGHT, UP, DOWN = range(4)
EDGES = pytest.mark.parametrize("edges", ["third", "stay"])


def row(world, cell, action, size=4):
    """{cell: probability}, cells as (row, column)."""
    chances = world.transitions[cell[0] * size + cell[1], action]
    return {divmod(int(t), size): pytest.approx(chances[t]) for t in np.flatnonzero(chances)}


def test_rows_of_the_paper():
    m1, m2, m3, m4 = ao.worlds.gridworld()
    assert row(m1, (1, 1), UP) == {(0, 1): 0.85, (1, 0): 0.05, (1, 2): 0.05, (2, 1): 0.05}
    assert row(m1, (0, 1), RIGHT) == {(0, 2): 0.85, (0, 0): 0.075, (1, 1): 0.075}
    assert row(m1, (0, 0), DOWN) == {(1, 0): 0.85, (0, 1): 0.15}
    assert row(m1, (0, 0), UP) == {(0, 0): 0.7, (1, 0): 0.3}
    assert row(m1, (0, 1), LEFT) == {(0, 0): 0.85, (0, 2): 0.075, (1, 1): 0.075}
    assert row(m1, (0, 2), RIGHT) == {(0, 3): 0.2, (0, 1): 0.4, (1, 2): 0.4}
    assert row(m1, (2, 3), DOWN) == {(3, 3): 0.3, (1, 3): 0.35, (2, 2): 0.35}
    assert row(m1, (0, 1), UP) == {(0, 0): 1 / 3, (0, 2): 1 / 3, (1, 1): 1 / 3}
    assert row(m2, (0, 2), RIGHT)[0, 3] == row(m3, (3, 1), LEFT)[3, 0] == row(m4, (3, 2), RIGHT)[3, 3] == 0.85
    stay = ao.worlds.gridworld(edges="stay")[0]
    assert row(stay, (0, 1), UP) == {(0, 1): 1.0}
    assert row(stay, (0, 0), UP) == {(0, 0): 0.7, (1, 0): 0.3}
    assert m1.start == 5
    assert np.flatnonzero(m1.rewards.all(axis=1)).tolist() == [0, 3, 12, 15]
    assert m1.rewards.sum() == 16.0


@EDGES
def test_separation_and_distinguishing_sets(edges):
    models = ao.worlds.gridworld(edges=edges)
    level = models.separation()
    assert level == pytest.approx(1.3, abs=1e-12)
    assert np.unique(models.distances().round(9)).tolist() == [0.0, 1.1, 1.3]
    assert len(models.distinguishing_set()) == 3
    assert models.is_distinguishing(models.distinguishing_set(), level - 1e-6)
    assert models.is_distinguishing([(1, 0), (8, 3), (2, 1)], level - 1e-6)
    assert models.is_distinguishing([(11, 3), (4, 2), (13, 0)], 0.65)
    assert not models.is_distinguishing([(11, 3), (4, 2), (13, 0)], level - 1e-6)
    assert not models.is_distinguishing([(1, 0), (8, 3)], 0.65)


def count_smallest(models, level):
    from itertools import combinations

    from aomultirl.geometry.distinguishing import told_apart

    table = told_apart([m.successors for m in models], level)
    return sum(table[:, list(c)].any(axis=1).all() for c in combinations(np.flatnonzero(table.any(axis=0)), 3))


@EDGES
def test_number_of_smallest_sets(edges):
    models = ao.worlds.gridworld(edges=edges)
    assert count_smallest(models, 1.3 - 1e-6) == 8
    assert count_smallest(models, 0.65) == 32


@pytest.mark.parametrize(
    ("edges", "optimal", "uniform", "diameter", "hitting_time"),
    [
        ("third", [139.687, 138.880, 138.880, 138.054], [32.24, 32.04, 32.04, 31.18], 11.508, 350_443),
        ("stay", [139.675, 138.862, 138.862, 138.014], [23.90, 23.64, 23.64, 22.62], 16.152, float("inf")),
    ],
)
def test_golden_values(edges, optimal, uniform, diameter, hitting_time):
    for world, best, blind in zip(ao.worlds.gridworld(edges=edges), optimal, uniform, strict=True):
        assert world.optimal_values(200)[0, 5] == pytest.approx(best, abs=5e-4)
        assert world.policy_values(np.full((16, 4), 0.25), 200)[0, 5] == pytest.approx(blind, abs=5e-3)
        assert world.diameter() == pytest.approx(diameter, abs=5e-4)
        assert world.hitting_time() == pytest.approx(hitting_time, abs=0.5)


@EDGES
@pytest.mark.parametrize("size", [3, 5, 9])
def test_other_sizes(size, edges):
    models = ao.worlds.gridworld(size, edges)
    assert models.n_states == size * size
    assert models.separation() == pytest.approx(1.3)
    assert all(world.is_communicating() for world in models)
    assert models[0].start == size + 1


@pytest.mark.parametrize(
    ("size", "edges", "message"),
    [
        (2, "third", "size must be at least 3, not 2"),
        (4.5, "third", "size must be a whole number, not 4.5"),
        (4, "thrid", "edges must be one of 'third', 'stay', not 'thrid'; did you mean 'third'?"),
    ],
)
def test_bad_input(size, edges, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        ao.worlds.gridworld(size, edges)

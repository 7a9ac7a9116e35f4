"""Steps until every target has its visits, of all explorers on the same worlds."""

import numpy as np
import pytest
from explorations import Run, chosen, corridor, cycle, every

import aomultirl as ao
from aomultirl.exploring import GOSPRL, CuriousWalk, ExploreID, FWModest, PACExplore

WALKERS = (ExploreID(), CuriousWalk(0.5, "least"))
"""Those that look one step ahead."""
PLANNERS = (GOSPRL(), PACExplore(), FWModest())
GRID = ao.worlds.gridworld()[0]
TREE = ao.worlds.two_jao_tree(states=12, actions=6, diameter=16)[0]


def median_steps(explorer, world, targets, needed):
    """Over five seeds; every run must finish with the visits that were asked for."""
    taken = []
    for seed in range(5):
        run = Run(explorer, world, targets, needed, state=world.start, seed=seed)
        assert run.outcome.finished
        assert run.visits[targets].min() == needed
        taken.append(run.outcome.steps)
    return np.median(taken)


@pytest.mark.parametrize(
    ("world", "targets", "needed"),
    [(GRID, chosen(GRID, [(1, 0), (8, 3), (2, 1)]), 200), (TREE, every(TREE), 20)],
    ids=["grid", "tree"],
)
def test_all_finish_where_no_order_is_known(world, targets, needed):
    least = needed * targets.sum()
    for explorer in (*WALKERS, *PLANNERS):
        assert least <= median_steps(explorer, world, targets, needed) < 100 * least


def test_planners_win_in_a_corridor():
    """Each visit of the far end leads back to the start: walking at random takes a hundred steps, planning twelve."""
    world = corridor(12)
    targets = chosen(world, [(11, 0)])
    steps = {explorer: median_steps(explorer, world, targets, 300) for explorer in (*WALKERS, *PLANNERS)}
    assert max(steps[explorer] for explorer in PLANNERS) < min(steps[explorer] for explorer in WALKERS)


def test_all_take_the_same_steps_round_a_cycle():
    world = cycle(6)
    assert {median_steps(explorer, world, every(world), 9) for explorer in (*WALKERS, *PLANNERS)} == {54}

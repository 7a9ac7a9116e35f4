import time

import pytest

from aomultirl.descriptions import words
from aomultirl.experiments.cell_differences import varying
from aomultirl.experiments.cells import Cell


def cell(world, agent, episodes=60, number=0, stream=None):
    named = [{"name": name, "parameters": parameters} for name, parameters in (world, stream or ("uniform", {}), agent)]
    return Cell(*named, episodes, 0, number, "a label")


GRID = ("gridworld", {"edges": "stay"})


def test_what_is_the_same_everywhere_does_not_vary():
    assert varying([cell(GRID, ("Random", {"horizon": 9}), number=number) for number in range(3)]) == [{}] * 3
    assert varying([]) == []


def test_names_parameters_and_episodes_vary():
    cells = [
        cell(GRID, ("Random", {"horizon": 9}), 60),
        cell(("gridworld", {"edges": "third"}), ("Random", {"horizon": 10}), 70, stream=("paper", {})),
    ]
    assert varying(cells) == [
        {"world.edges": "stay", "stream": "uniform", "episodes": 60},
        {"world.edges": "third", "stream": "paper", "episodes": 70},
    ]


def test_parameters_of_other_classes_do_not_vary():
    cells = [cell(GRID, ("Random", {"horizon": 9})), cell(GRID, ("Recall", {"horizon": 10, "failure": 0.03}))]
    assert varying(cells) == [{"agent": "Random"}, {"agent": "Recall"}]
    cells = [cell(GRID, ("Random", {"horizon": 9})), cell(("jao", {"separation": 0.2}), ("Random", {"horizon": 9}))]
    assert varying(cells) == [{"world": "gridworld"}, {"world": "jao"}]


def test_what_the_world_determines_does_not_vary_beside_it():
    cells = [
        cell(("jao", {"separation": value}), ("AOMultiRL", {"separation": value - 1e-6, "failure": failure}))
        for value in (0.2, 0.4)
        for failure in (0.1, 0.2)
    ]
    assert varying(cells) == [
        {"world.separation": value, "agent.failure": failure} for value in (0.2, 0.4) for failure in (0.1, 0.2)
    ]


def test_agents_that_differ_in_one_world_vary_in_what_they_were_given():
    cells = [cell(GRID, ("Recall", {"failure": 0.1})), cell(GRID, ("Recall", {"failure": 0.1, "proof": [1, [2]]}))]
    assert varying(cells) == [{}, {"agent.proof": [1, [2]]}]


def test_specifications_from_manifests_will_do():
    cells = [cell(GRID, ("Random", {"horizon": horizon})) for horizon in (9, 10)]
    assert (
        varying([each.specification() for each in cells])
        == varying(cells)
        == [
            {"agent.horizon": 9},
            {"agent.horizon": 10},
        ]
    )


@pytest.mark.long
def test_ten_thousand_cells_take_a_moment():
    cells = [cell(GRID, ("Random", {"horizon": horizon})) for horizon in range(10_000)]
    begin = time.process_time()
    assert varying(cells)[77] == {"agent.horizon": 77}
    assert time.process_time() - begin < 2.0


def test_words_are_short():
    assert words({"a": True, "b": 0.03, "c": "x", "d": [[1, 0]]}) == "a=true, b=0.03, c=x, d=[[1,0]]"

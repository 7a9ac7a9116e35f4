from aomultirl.experiments.specification import specification_of
from aomultirl.reports import configurations_table

SWEEP = {
    "episodes": 30,
    "runs": 3,
    "worlds": [{"name": "gridworld", "edges": ["stay", "third"]}, {"name": "doors"}],
    "streams": [{"name": "blocks", "length": [5, 10]}],
    "agents": [{"name": "Random", "horizon": [20, 30]}, {"name": "Optimal", "horizon": 9, "episodes": 1200}],
}


def table_of(document):
    told = specification_of(document)
    return configurations_table.configurations_table("a title", told.configurations(), told.varying(), told.runs)


def test_every_configuration_has_a_row_with_what_sets_it_apart():
    table = table_of(SWEEP)
    assert table.headings == ["world", "stream", "agent", "episodes"]
    assert len(table.rows) == 3 * 2 * 3
    assert ("gridworld, edges=third", "blocks, length=10", "Random, horizon=30", "30") in table.rows
    assert ("doors", "blocks, length=5", "Optimal", "1,200") in table.rows
    assert table.numbers == [3]
    assert table.caption == ["3 runs of each, seed 0."]


def test_what_is_the_same_everywhere_is_said_once(monkeypatch):
    alike = {**SWEEP, "runs": 1, "worlds": [{"name": "doors"}], "streams": [{"name": "uniform"}]}
    table = table_of({**alike, "agents": [{"name": "Random", "horizon": [20, 30]}]})
    assert (table.headings, len(table.rows)) == (["agent"], 2)
    assert table.caption == ["world doors, stream uniform, 30 episodes, 1 run of each, seed 0."]
    monkeypatch.setattr(configurations_table, "MOST", 1)
    table = table_of({**alike, "agents": [{"name": "Random", "horizon": [20, 30]}]})
    assert len(table.rows) == 1
    assert table.caption[0] == "And 1 more."

"""A cell whose files do not fit each other is never taken for done, whoever worked out the digests anew."""

import dataclasses
import hashlib
import io
import json

import pyarrow
import pyarrow.parquet
import pytest

import aomultirl as ao
from aomultirl import files
from aomultirl.analysis.leaderboard import leaderboard
from aomultirl.experiments import stored_cells
from aomultirl.experiments.completion import complete
from aomultirl.experiments.computation import lost
from aomultirl.experiments.executors import InProcess
from aomultirl.experiments.stored_cells import read_cell, read_cells
from aomultirl.experiments.verification import verify
from folders import cells, keep, part
from sweeps import results


@pytest.fixture
def given():
    return cells(runs=2)


@pytest.fixture
def store(tmp_path, given):
    return keep(tmp_path / "a", given)


def sign(store, cell):
    """Give the manifest the digest of the history that is there."""
    told = json.loads(store.manifest(cell).read_text())
    told["sha256"] = hashlib.sha256(store.history(cell).read_bytes()).hexdigest()
    store.manifest(cell).write_text(json.dumps(told))


def alter(store, cell, change):
    table = change(pyarrow.parquet.read_table(io.BytesIO(store.history(cell).read_bytes())))
    pyarrow.parquet.write_table(table, store.history(cell))
    sign(store, cell)


def set_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pyarrow.array(values, table[name].type))


def trace(belief, **more):
    """Findings with the evidence of one episode, looked at twice."""
    kept = {"episode": 0, "verdict": "abstained", "cluster": -1, "steps": [5, 9], "belief": belief, **more}
    return {"evidence": {"episodes": [kept]}}


def about(**changes):
    def change(table):
        told = json.loads(table.schema.metadata[b"aomultirl"])
        return table.replace_schema_metadata({"aomultirl": json.dumps({**told, **changes})})

    return change


def test_two_cells_whose_histories_are_swapped_are_computed_anew(store, given):
    """The attack: the digests fit, and nothing but the histories themselves says that they are swapped."""
    before = results(store.folder)
    one, other = (store.history(cell) for cell in given[:2])
    mine, theirs = one.read_bytes(), other.read_bytes()
    one.write_bytes(theirs)
    other.write_bytes(mine)
    for cell in given[:2]:
        sign(store, cell)
    assert len(verify(store.folder).findings) == 2
    with pytest.warns(UserWarning, match="2 cells are damaged or of something else and are left out"):
        assert set(ao.load(store.folder)["cell"]) == {cell.name for cell in given[2:]}
    assert "2 cells are damaged" in leaderboard(store.folder).notes[0]
    outcome = complete(store, InProcess())
    assert outcome.found == 2
    assert len(outcome.set_aside) == 4
    assert results(store.folder) == before
    assert not verify(store.folder).findings


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.slice(1), "has 3 rows, but the cell has 4 episodes"),
        (lambda table: pyarrow.concat_tables([table, table]), "has 8 rows"),
        (lambda table: table.take([1, 0, 2, 3]), "does not have every episode once"),
        (lambda table: table.drop_columns(["regret"]), "it has no regret"),
        (lambda table: table.append_column("more", table["regret"]), "other columns"),
        (lambda table: table.select([*table.column_names[1:], "cell"]), "other columns, or in another order"),
        (lambda table: set_column(table, "regret", [None, 0.0, 0.0, 0.0]), "a number is missing"),
        (lambda table: set_column(table, "agent", [None, *["Random"] * 3]), "a number is missing"),
        (lambda table: set_column(table, "run", [0, 0, 0, 1]), "its run is 1, not 0"),
        (lambda table: set_column(table, "agent", [*["Random"] * 3, "Best"]), "its agent is 'Best', not 'Random'"),
        (lambda table: set_column(table, "world", ["x"] * 4), "its world is 'x', not 'gridworld'"),
        (lambda table: set_column(table, "configuration", ["{}"] * 4), "its configuration is '{}'"),
        (lambda table: set_column(table, "task", [2**62, 0, 0, 0]), "in task, which cannot be"),
        (lambda table: set_column(table, "cluster", [-2, 0, 0, 0]), "in cluster, which cannot be"),
        (lambda table: table.set_column(6, "episode", pyarrow.array([0, 1, 2, 3], "int32")), "its episode is of int32"),
        (lambda table: table.replace_schema_metadata(None), "does not say how it was made"),
        (lambda table: table.replace_schema_metadata({"aomultirl": "{"}), "in a way that cannot be read"),
        (lambda table: table.replace_schema_metadata({"aomultirl": "[" * 100_000}), "in a way that cannot be read"),
        (lambda table: table.replace_schema_metadata({"aomultirl": "[]"}), "in a way that cannot be"),
        (about(seed=1), "made with seed 1, not "),
        (about(agent=part("Optimal")), "made with agent 'Optimal', not 'Random'"),
        (about(episodes=5), "made with episodes 5, not 4"),
        (about(recorded=[]), "made with recorded"),
        (about(agent={"name": "Random", "parameters": "none"}), "parameters is 'none'"),
        (about(world=None), "made in the world None, not 'gridworld'"),
        (about(world=part("jao")), "made in the world 'jao', not 'gridworld'"),
        (about(world=part("gridworld")), "made in a world whose edges is None, not 'stay'"),
        (about(world=part("gridworld", edges="third")), "made in a world whose edges is 'third', not 'stay'"),
        (about(stream=part("round_robin")), "made with stream 'round_robin', not 'uniform'"),
        (lambda table: set_column(table, "learning_reward", [float("nan"), 0.0, 0.0, 0.0]), "learning_reward nan"),
        (lambda table: set_column(table, "learning_reward", [0.0, 1e308, 0.0, 0.0]), "learning_reward 1e+308"),
        (lambda table: set_column(table, "learning_reward", [0.0, 0.0, 0.0, -1.0]), "10 steps in row 3"),
        (lambda table: set_column(table, "clustering_reward", [0.1, 0.0, 0.0, 0.0]), "reward 0.1 of 0 steps in row 0"),
        (about(clusters=[3]), "clusters.0"),
        (about(distances=[[0.0], []]), "the lists in distances are not equally long"),
        (about(findings=trace([[0.5, 0.5], [1.0]])), "does not have a row of numbers for each of its steps"),
        (about(findings=trace([[0.5, 0.5], [1.0, 0.0]], worlds=[4, 7])), "does not have a row of numbers for each of"),
        (about(findings=trace([[0.5, 0.5], [1.0, 0.0]], worlds=["w"])), "worlds.0"),
    ],
)  # fmt: skip
def test_a_history_that_is_not_of_its_cell_is_set_aside(store, given, change, words):
    before = results(store.folder)
    alter(store, given[0], change)
    with pytest.raises(files.UnfitFileError, match=r"^'.*parquet' ") as error:
        read_cell(store.manifest(given[0]))
    assert words in str(error.value)
    assert [finding.file for finding in verify(store.folder).findings] == [f"cells/{given[0].name}.parquet"]
    assert given[0] in store.missing()
    assert len(store.set_aside) == 2
    complete(store, InProcess())
    assert results(store.folder) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cell": "0" * 20}, "its cell gives '0000"),
        ({"run_seed": 1}, "its run_seed gives 1, not "),
        ({"run_seed": "1"}, "run_seed is '1'"),
        ({"cpu_seconds": [1.0]}, "cpu_seconds is [1.0]"),
        ({"cpu_seconds": float("nan")}, "cpu_seconds is nan"),
        ({"wall_seconds": 1e300}, "wall_seconds is 1e+300"),
        ({"state": "finished"}, "it is {"),
        ({"versions": 3}, "versions is 3"),
        ({"specification": {}}, "specification.world"),
        ({"sha256": "../../x"}, "sha256 is '../../x'"),
    ],
)
def test_a_manifest_that_cannot_be_is_set_aside(store, given, changes, words):
    told = json.loads(store.manifest(given[0]).read_text())
    store.manifest(given[0]).write_text(json.dumps({**told, **changes}))
    with pytest.raises(files.UnfitFileError, match=r"^'.*json' is not ") as error:
        read_cell(store.manifest(given[0]))
    assert words in str(error.value)
    assert len(str(error.value)) < 400
    assert given[0] in store.missing()
    assert len(store.set_aside) == 2


def test_a_label_that_is_a_number_is_no_label(store, given):
    told = json.loads(store.manifest(given[0]).read_text())
    told["specification"]["label"] = 7
    store.manifest(given[0]).write_text(json.dumps(told))
    with pytest.raises(files.UnfitFileError, match=r"done\.specification\.label is 7"):
        read_cell(store.manifest(given[0]))


def test_the_papers_episodes_before_the_others_count_as_rows(tmp_path):
    cell = cells([part("Random", horizon=10)], streams=(part("paper", each_first=True),), episodes=(8,), runs=1)
    store = keep(tmp_path / "a", cell)
    assert read_cell(store.manifest(cell[0])).rows.height == 8


def test_few_bytes_that_claim_to_be_many_rows_are_not_read(store, given):
    huge = dataclasses.replace(given[0], episodes=10**5)
    table = pyarrow.parquet.read_table(io.BytesIO(store.history(given[0]).read_bytes())).take([0] * 10**5)
    pyarrow.parquet.write_table(table, store.history(huge))
    told = json.loads(store.manifest(given[0]).read_text())
    told |= {"cell": huge.name, "specification": huge.specification(), "run_seed": huge.run_seed}
    store.manifest(huge).write_text(json.dumps(told))
    sign(store, huge)
    with pytest.raises(files.UnfitFileError, match=r"claims to hold 100,000 rows in [\d,]+ bytes"):
        read_cell(store.manifest(huge))


def test_worlds_that_would_import_a_module_are_refused(store, given):
    told = json.loads(store.manifest(given[0]).read_text())
    told["specification"]["world"] = part("from_gymnasium", envs=["stranger:Trap-v0"])
    store.manifest(given[0]).write_text(json.dumps(told))
    with pytest.raises(files.UnfitFileError, match=r"specification\.world is .* a file may not name a module"):
        read_cell(store.manifest(given[0]))


@pytest.mark.parametrize("most", [1, 2, 500])
@pytest.mark.parametrize("damaged", [False, True])
def test_each_gets_the_answer_that_it_would_get_alone(tmp_path, monkeypatch, most, damaged):
    given = cells(runs=4, episodes=(4, 6))
    store = keep(tmp_path / "a", given)
    store.keep(lost(given[1], "the process was killed"))
    if damaged:
        store.history(given[3]).write_bytes(b"PAR1")
        told = json.loads(store.manifest(given[5]).read_text())
        store.manifest(given[5]).write_text(json.dumps({**told, "run_seed": 0}))
        store.history(given[6]).unlink()
    monkeypatch.setattr(stored_cells, "MOST_CELLS", most)
    for cell, found in zip(given, read_cells(map(store.manifest, given)), strict=True):
        if isinstance(found, Exception):
            with pytest.raises(type(found)) as error:
                read_cell(store.manifest(cell))
            assert str(error.value) == str(found)
            continue
        alone = read_cell(store.manifest(cell))
        assert (found.manifest, found.about) == (alone.manifest, alone.about)
        if found.rows is None:
            assert cell is given[1]
        else:
            assert found.rows.equals(alone.rows)
            assert found.history == cell.run()


def test_no_cells_at_all():
    assert list(read_cells([])) == []

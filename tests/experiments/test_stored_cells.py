"""Many cells at once are judged as one by one."""

import json

import pytest

from aomultirl.experiments import stored_cells
from aomultirl.experiments.computation import lost
from aomultirl.experiments.stored_cell import read_cell
from aomultirl.experiments.stored_cells import read_cells
from folders import cells, keep


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

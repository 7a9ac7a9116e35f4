import pytest

from aomultirl.benchmarks import sweep
from aomultirl.cli import run


def test_the_command_measures_what_cells_cost(capfd):
    assert run(["bench", "--sweep", "--cells", "6", "--workers", "1"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert told.startswith("6 cells of ")
    assert "of perfect scaling" in told


@pytest.mark.long
def test_a_thousand_short_cells_cost_little_beside_their_work_and_no_memory():
    found = sweep.measure(1000, 2)
    assert 0.03 < found.cell_seconds < 0.1
    assert found.share >= 0.8
    assert found.last_megabytes < found.first_megabytes + 10

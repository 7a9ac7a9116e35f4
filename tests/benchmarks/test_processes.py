"""What is measured in a process of its own is that process and nothing else."""

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.benchmarks import cold, large, processes, recalling, starting

ROOT = Path(__file__).parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "speed.md"


def test_time_and_memory_are_of_the_process_alone():
    """Memory that this process has had is not counted, and time that the other spends is."""
    here = np.ones(50_000_000)  # 400 MB
    work = "import time\nwhile time.process_time() < 0.4: pass\nheld = b'x' * 60_000_000"
    apart = processes.run_code(work, "_answer['size'] = len(held)")
    assert len(here) > 0
    assert apart.answer["size"] == 60_000_000
    assert 0.35 < apart.cpu_seconds < 3.0
    if sys.platform.startswith("linux"):
        assert 60e6 < apart.peak_bytes < 200e6


def test_a_process_that_fails_is_no_measurement():
    with pytest.raises(RuntimeError, match=r"ended with status 1: ValueError: no luck"):
        processes.run_code("raise ValueError('no luck')")


def test_the_examples_are_those_of_the_readme():
    text = README.read_text(encoding="utf-8")
    again = cold.PAPER.removeprefix("import aomultirl as ao\n\n")  # which the page has imported further up
    for example in (again, cold.RECALL):
        assert f"```python\n{example}```" in text
    assert again != cold.PAPER


def test_an_empty_cache_is_compiled_for_once():
    """The first process compiles what the second one finds; the folder is gone afterwards."""
    code = "import aomultirl as ao\nprint(ao.worlds.gridworld(size=3)[0].optimal_policy(2))"
    wait = cold.measured("a plan", code, 10.0)
    assert int(wait.note.split()[0]) >= 1
    again = float(wait.note.split()[-2])
    assert 0.0 < again < wait.measured
    assert wait.target == 10.0


def test_an_empty_cache_is_removed_after_ctrl_c(tmp_path):
    """Also where the process under way is in the middle of its work."""
    code = "from aomultirl.benchmarks import cold\ncold.measured('waits', 'import time\\ntime.sleep(60)', 1.0)"
    child = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            if list(tmp_path.glob("aomultirl-cold-*/work")):
                break
            time.sleep(0.05)
        assert list(tmp_path.glob("aomultirl-cold-*"))
        child.send_signal(signal.SIGINT)
        assert child.wait(20) != 0
    finally:
        child.kill()
    assert list(tmp_path.iterdir()) == []


def test_importing_is_measured_beside_the_libraries():
    wait = starting.importing(turns=1)
    ours, theirs = (float(words.split()[-2]) for words in wait.note.split(";")[:2])
    assert wait.measured == pytest.approx(ours / theirs, rel=0.2)
    assert wait.target == 1.2
    assert "all that is public" in wait.note


def test_a_command_is_measured_from_its_start_to_its_end():
    wait = starting.commanding(["--version"], turns=1)
    assert (wait.name, wait.unit) == ("aomultirl --version", "s")
    assert 0.01 < wait.measured < 5.0


def test_steps_a_second_are_those_of_the_run_that_is_named():
    wait = recalling.on_the_grid(episodes=3, turns=1)
    took = recalling.seconds(ao.worlds.gridworld(), 500, 3, turns=2)
    assert wait.measured == pytest.approx(3 * 500 / took, rel=0.9)
    assert wait.at_least


def test_without_its_package_the_row_of_the_patients_says_so(monkeypatch):
    def missing(*_):
        raise ImportError("icu_sepsis needs the package icu-sepsis: pip install 'aomultirl[sepsis]'")

    monkeypatch.setattr(recalling, "icu_sepsis", missing)
    wait = recalling.with_patients()
    assert wait.missing == ("Not measured: icu_sepsis needs the package icu-sepsis: pip install 'aomultirl[sepsis]'.")
    assert wait.verdict is None


def test_the_first_patients_are_counted_for_all_but_prove_no_target_reached():
    part, whole = recalling.patients_row(1.5, 10), recalling.patients_row(15.0, 100)
    assert part.measured == whole.measured == 15.0
    assert part.verdict is None
    assert whole.verdict is True
    assert recalling.patients_row(2.5, 10).missed


def test_a_large_world_is_built_planned_and_acted_in():
    time_row, memory_row = large.measure(states=200, planned=5, acted=30)
    assert time_row.name == "S = 200, 5 successors: build, plan, Recall"
    assert "an episode of 30 steps" in time_row.note
    assert 0.0 < time_row.measured < 60.0
    if sys.platform.startswith("linux"):
        assert 0.05 < memory_row.measured < 1.0


def test_the_page_says_how_rows_are_measured():
    """The numbers of the page, one by one, are those of the rows."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    rows = recalling.on_the_grid, recalling.in_many_states
    assert [inspect.signature(row).parameters["episodes"].default for row in rows] == [200, 100]
    assert "the first 200 and 100 episodes of a run" in text
    assert (recalling.SEPSIS_PART, recalling.SEPSIS_EPISODES) == (10, 100)
    assert "the first 10 of 100 episodes, times 10." in text
    assert "runs all 100." in text
    assert starting.TURNS == 5
    assert "fresh processes, the best of five." in text


def test_where_the_largest_memory_is_not_told_the_row_says_so(monkeypatch):
    answer = {"planned": [5, 200], "steps": 30, "worlds": 1, "times": [0.1, 0.2, 0.3, 0.4]}
    monkeypatch.setattr(large, "run_code", lambda *_: processes.Apart(1.0, 1.0, float("nan"), answer))
    time_row, memory_row = large.measure(states=200, planned=5, acted=30)
    assert time_row.verdict is True
    assert memory_row.missing == "Not measured: this system does not tell the largest memory."
    monkeypatch.setitem(answer, "steps", 29)
    with pytest.raises(RuntimeError, match="was not planned and acted in as asked for"):
        large.measure(states=200, planned=5, acted=30)


@pytest.mark.long
def test_a_hundred_thousand_states_fit_into_a_minute_and_four_gibibytes():
    for wait in large.measure():
        assert wait.verdict is True, wait

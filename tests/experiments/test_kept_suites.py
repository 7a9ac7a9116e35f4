"""Runs of a suite that are kept in a file as they end."""

import json

import numpy as np
import pytest

from aomultirl.experiments import suites
from aomultirl.experiments.suites import keeping, running

CASES = suites.quick(suites.pick(suites.SUITES["short"](), "doors", "Random"))
CASES += suites.quick(suites.pick(suites.SUITES["short"](), "doors", "pooled learner"))


def shown(results):
    return [[(run.numbers, run.steps.tolist(), run.wrong, run.worlds, run.share) for run in row] for row in results]


@pytest.fixture(scope="module")
def expected():
    return shown(suites.run_suite(CASES, 2, 7))


def test_what_is_kept_is_not_run_again(tmp_path, monkeypatch, expected):
    path = tmp_path / "runs.jsonl"
    assert shown(suites.run_suite(CASES, 2, 7, kept=suites.KeptRuns(path))) == expected
    assert len(path.read_text().splitlines()) == 4
    monkeypatch.setattr(running, "_work", None)  # nobody works
    assert shown(suites.run_suite(CASES, 2, 7, kept=suites.KeptRuns(path))) == expected


def test_a_suite_goes_on_where_it_was_killed(tmp_path, expected):
    """After one run, and in the middle of the line of the second."""
    path, done = tmp_path / "runs.jsonl", []
    suites.run_suite(CASES, 2, 7, kept=suites.KeptRuns(path))
    first, second = path.read_bytes().splitlines(keepends=True)[:2]
    path.write_bytes(first + second[:40])
    kept = suites.KeptRuns(path)
    assert path.read_bytes() == first
    results = suites.run_suite(CASES, 2, 7, done=lambda *said: done.append(said), kept=kept)
    assert shown(results) == expected
    assert done == [(2, 4), (3, 4), (4, 4)]


def test_other_seeds_worlds_and_agents_are_other_runs(tmp_path):
    kept = suites.KeptRuns(tmp_path / "runs.jsonl")
    suites.run_suite(CASES[:1], 1, 7, kept=kept)
    assert kept.get(CASES[0], 7, 0) is not None
    assert [kept.get(CASES[0], 8, 0), kept.get(CASES[0], 7, 1), kept.get(CASES[1], 7, 0)] == [None] * 3
    assert kept.said([(CASES[0], 7, 0), (CASES[1], 7, 0)]).startswith("1 run is kept in")


def test_it_is_said_when_runs_are_of_different_sources(tmp_path, monkeypatch):
    path, wanted = tmp_path / "runs.jsonl", [(CASES[0], 7, 0), (CASES[0], 7, 1)]
    suites.run_suite(CASES[:1], 1, 7, kept=suites.KeptRuns(path))
    assert "sources" not in suites.KeptRuns(path).said(wanted)
    monkeypatch.setattr(keeping.package_state, "source", lambda: "other")
    suites.run_suite(CASES[:1], 2, 7, kept=suites.KeptRuns(path))
    assert "made by 2 states of its sources," in suites.KeptRuns(path).said(wanted)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[0]["source"]  # as files were before sources were noted
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "made by 1 state of its sources, 1 of sources unknown," in suites.KeptRuns(path).said(wanted)
    assert "sources" not in suites.KeptRuns(path).said(wanted[:1])


def test_what_is_no_number_survives(tmp_path):
    """Shares of worlds in their own units are nan, and steps of runs that recognise nothing are none."""
    case = suites.quick(suites.pick(suites.SUITES["short"](), "cliff", "Random"))[0]
    kept = suites.KeptRuns(tmp_path / "runs.jsonl")
    (run,) = suites.run_suite([case], 1, 3, kept=kept)[0]
    again = suites.KeptRuns(tmp_path / "runs.jsonl").get(case, 3, 0)
    assert np.isnan(again.share)
    assert np.isnan(again.bound)
    assert again.numbers == run.numbers
    assert again.steps.dtype == run.steps.dtype


@pytest.mark.parametrize(
    "line", ["{}", "[1]", "no", json.dumps({"run": "x", "version": "1", "shown": {"numbers": [], "steps": []}})]
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, line):
    path = tmp_path / "other.txt"
    path.write_text(line + "\nmore\n")
    with pytest.raises(ValueError, match=r"keep is .*, whose line 1 is no run of a suite"):
        suites.KeptRuns(path)
    assert path.read_text() == line + "\nmore\n"


def test_a_text_of_one_line_without_an_end_is_not_taken_for_a_run_that_was_being_written(tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("my notes")
    with pytest.raises(ValueError, match=r"keep is .*, whose line 1 is no run of a suite"):
        suites.KeptRuns(path)
    assert path.read_text() == "my notes"


def test_numbers_that_are_none_are_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    suites.run_suite(CASES[:1], 1, 7, kept=suites.KeptRuns(path))
    held = json.loads(path.read_text())
    held["shown"]["numbers"] = dict.fromkeys(held["shown"]["numbers"], float("nan"))
    path.write_text(json.dumps(held) + "\n")
    with pytest.raises(ValueError, match=r"keep is .*, whose line 1 is no run of a suite"):
        suites.KeptRuns(path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"keep is .*, in a folder that does not exist"):
        suites.KeptRuns(tmp_path / "nowhere" / "runs.jsonl")

"""Targets are judged as they are said, and what misses is said at the end."""

import io
import json
import math

import pytest
from rich.console import Console

from aomultirl.benchmarks import Record, processes, rows, waits
from aomultirl.benchmarks.waits import Wait
from aomultirl.cli import run

QUICK = Wait("an import", 1.1, "x", 1.2, note="beside numpy")
SLOW = Wait("Recall", 22_413.0, "steps/s", 150_000, at_least=True)
ABSENT = waits.not_measured("ICU-Sepsis", "s", 20.0, "Not measured: it needs a package.")


def test_a_target_is_reached_on_its_own_side():
    assert QUICK.verdict is True
    assert QUICK._replace(measured=1.21).missed
    assert SLOW.missed
    assert not SLOW._replace(measured=150_000.0).missed
    assert ABSENT.verdict is None
    assert not ABSENT.missed


def test_a_part_of_the_work_can_miss_a_target_and_not_reach_it():
    part = Wait("all of it", 19.0, "s", 20.0, part=True)
    assert part.verdict is None
    assert part._replace(measured=21.0).missed
    assert "Not certain, as a part of the work was measured: all of it." in waits.misses([], [part])


def test_what_misses_is_said_with_both_numbers():
    assert waits.misses([], [QUICK, SLOW, ABSENT]) == (
        "1 of 2 targets missed: Recall (22,400 steps/s, must be at least 150,000 steps/s)."
    )
    assert waits.misses([], [QUICK]) == "None of 1 targets is missed."
    record = Record("planning", 100, "steps", 2.0, 1.0, 9.0, 0.75, 4.0)
    assert waits.misses([record], [QUICK]) == ("1 of 3 targets missed: planning (0.50 of C, must be at least 0.75).")
    late = Record("a run", 100, "steps", 0.6, None, None, None, None, seconds_target=0.5)
    assert late.misses == ["0.60 s, must be at most 0.5 s"]
    assert late.targets == 1


def test_the_table_has_every_row_with_its_target():
    text = io.StringIO()
    waits.print_waits([QUICK, SLOW, ABSENT], Console(file=text, width=120))
    said = " ".join(text.getvalue().split())
    for words in ("1.1 x", "at most 1.2 x", "beside numpy", "22,400 steps/s", "at least 150,000 steps/s"):
        assert words in said
    assert "ICU-Sepsis - at most 20 s Not measured: it needs a package." in said


def test_json_has_no_number_where_nothing_was_measured():
    told = [wait.as_dict() for wait in (QUICK, SLOW, ABSENT)]
    again = json.loads(json.dumps(told, allow_nan=False))
    assert [one["measured"] for one in again] == [1.1, 22_413.0, None]
    assert [one["missed"] for one in again] == [False, True, False]


def test_words_choose_rows_by_their_names(capfd):
    chosen = [rows.Row("a first call", lambda: QUICK), rows.Row("Recall", lambda: SLOW)]
    assert rows.run(chosen) == [QUICK, SLOW]
    assert rows.run(chosen, ["RECALL"]) == [SLOW]
    assert run(["bench", "--only", "no such row"]) == 2
    assert capfd.readouterr().err == "aomultirl: only is 'no such row', which is in the name of no row\n"


def test_what_the_command_prints_names_rows_and_misses(monkeypatch, capfd):
    monkeypatch.setattr(rows, "rows", lambda whole: [rows.Row("Recall", lambda: SLOW)])
    assert run(["bench", "--only", "recall"]) == 0
    said = capfd.readouterr().out
    assert said.splitlines()[-1].startswith("1 of 1 targets missed: Recall (22,400 steps/s")
    assert run(["bench", "--only", "recall", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["records"] == []
    assert told["waits"][0]["name"] == "Recall"


def test_names_of_rows_are_those_of_what_they_measure(monkeypatch):
    """Whatever is measured costs nothing here."""
    monkeypatch.setattr(rows.recalling, "seconds", lambda *_, **__: 1.0)
    answer = {"seconds": 1.0, "compilations": 3}
    apart = processes.Apart(1.0, 1.0, 1e9, answer)
    for module in (rows.cold, rows.starting):
        monkeypatch.setattr(module, "run_code", lambda *_, **__: apart)
    monkeypatch.setattr(rows.starting, "run_command", lambda words: apart)
    found = {row.name: row.measure() for row in rows.rows()}
    assert list(found) == [wait.name for wait in found.values()]
    assert len(found) == 8
    assert {wait.target for wait in found.values()} == {10.0, 20.0, 1.2, 0.5, 400_000, 150_000}


def test_numbers_are_said_to_three_digits():
    assert SLOW.words(127_412.0) == "127,000 steps/s"
    assert SLOW.words(999.6) == "1e+03 steps/s"
    assert QUICK.words(math.nan) == "-"


@pytest.mark.parametrize("words", [["--cold", "--scale"], ["--sweep", "--endurance", "5"]])
def test_two_benchmarks_at_once_are_refused(words, capfd):
    assert run(["bench", *words]) == 2
    assert "is another benchmark than" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--whole", "--scale"], "whole is about a row that --scale does not measure"),
        (["--whole", "--cold"], "whole is about a row that --cold does not measure"),
        (["--only", "grid", "--sweep"], "only chooses rows, and --sweep has none"),
        (["--only", "grid", "--endurance", "5"], "only chooses rows, and --endurance has none"),
    ],
)
def test_what_another_benchmark_has_no_use_for_is_refused(words, said, capfd):
    assert run(["bench", *words]) == 2
    assert capfd.readouterr().err == f"aomultirl: {said}\n"


def test_a_figure_without_scale_is_refused(capfd):
    assert run(["bench", "--figure", "a.png"]) == 2
    assert capfd.readouterr().err == "aomultirl: figure is drawn with --scale only\n"

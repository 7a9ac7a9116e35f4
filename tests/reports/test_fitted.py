"""Tables in terminals of any width: no word of theirs is broken, and nothing is left out."""

import dataclasses
import io
import math

import numpy as np
import pytest
from rich.console import Console

from aomultirl.analysis.leaderboard import leaderboard
from aomultirl.experiments import suites
from aomultirl.experiments.suites import SuiteRun
from aomultirl.reports import claims_table, leaderboard_table, suites_table
from aomultirl.reports.fitted import column_widths
from aomultirl.reports.tables import Judged, TextTable, for_terminal, words_of
from folders import OPTIMAL, cells, keep, part

WIDTHS = (50, 60, 80, 100, 200)


def lines_of(thing, width):
    file = io.StringIO()
    Console(file=file, width=width).print(thing)
    return file.getvalue().splitlines()


def check_whole(lines, texts, width):
    """The lines fit, and every word of the texts is one of theirs."""
    assert max(map(len, lines)) <= width
    shown = {word.strip("():") for line in lines for word in line.split()}
    assert {word.strip("():") for text in texts for word in text.split()} <= shown


def runs_of(case):
    """Two runs of a case, with numbers as wide as they come."""
    numbers = dict.fromkeys((window.heading for window in case.windows), 97.25)
    runs = [SuiteRun(np.array([120, 140]), 240, 96.5, 0, 12_345, 50_000, 50.0, numbers=numbers, worlds=4, models=4)]
    return [*runs, dataclasses.replace(runs[0], numbers=dict.fromkeys(numbers, 96.5))]


@pytest.mark.parametrize("suite", list(suites.SUITES))
def test_the_tables_of_suites_are_whole(suite, monkeypatch):
    monkeypatch.setattr(suites_table, "over_runs", lambda _: (97.25, 96.5, 98.0))  # of thousands of cells
    cases = suites.SUITES[suite]()
    make = suites_table.identify_table if suite == "identify" else suites_table.reward_table
    table = make(cases, list(map(runs_of, cases)), ["10 runs in reporting worlds."])
    words = [words_of(cell) for row in table.rows for cell in row if words_of(cell) != "-"]
    lines = lines_of(for_terminal(table), 80)
    check_whole(lines, [table.title, *table.headings[2:], *words, *table.caption], 80)


@pytest.mark.parametrize("suite", ["paper", "hard", "drift"])
@pytest.mark.parametrize("optimum", [97.25, 100.25])
def test_names_are_in_one_line_in_a_terminal_of_80_columns(suite, optimum, monkeypatch):
    """Intervals take two lines; those of an optimum with five digits may take three."""
    measured = iter([(optimum, 100.0, 100.5)] * (optimum > 100.0))
    monkeypatch.setattr(suites_table, "over_runs", lambda _: next(measured, (97.25, 96.5, 98.0)))
    cases = suites.SUITES[suite]()
    runs = [[dataclasses.replace(run, episodes=10_000, abstained=1_234) for run in runs_of(case)] for case in cases]
    table = suites_table.reward_table(cases, runs)
    lines = [line.strip() for line in lines_of(for_terminal(table), 80)]
    labels = [case.told for case in cases]
    rows = [line for line in lines if line.split("  ")[0] in labels]
    assert [line.split("  ")[0] for line in rows] == labels
    assert sum("97.25 (96.50" in line for line in rows) >= len(labels) - 1
    assert len(lines) < 2 * len(labels) + 6 * len(table.rows[0]) + 12  # two lines a row, and what stands around them


ROWS = [
    ["a world with a name", "SequentialAOMultiRL", "97.25 (96.10 to 98.00)", Judged("0 of 5,000", True)],
    ["a world with a name", "Recall", "90.00 (89.00 to 91.00)", "-"],
    ["a world with a name", "Pooled", "80.00 (79.00 to 81.00)", "-"],
    ["another", "Recall", "1,234,567.8", Judged("17 of 5,000", False)],
]
TABLE = TextTable("What was earned", ("world", "agent", "reward", "wrong"), ROWS, (2, 3), True, ["A sentence below."])


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_broken_however_narrow_the_terminal(width):
    words = [words_of(cell) for row in ROWS for cell in row if words_of(cell) != "-"]
    check_whole(lines_of(for_terminal(TABLE), width), [TABLE.title, *TABLE.caption, *words], width)


def test_the_same_table_in_three_ways():
    wide, narrow, narrowest = (lines_of(for_terminal(TABLE), width) for width in (100, 68, 35))
    assert sum("a world with a name" in line for line in wide) == 3
    assert sum("a world with a name" in line for line in narrow) == 1  # a title
    assert sum(line.split()[:1] == ["agent"] for line in narrow) == 1  # the headings, once
    assert "    reward: 90.00 (89.00 to 91.00)" in [line.rstrip() for line in narrowest]
    assert not any("wrong: -" in line for line in narrowest)


def test_numbers_that_may_not_be_broken_are_not():
    table = TextTable("A title", ("bound", "steps"), [["of many words in a row", "about 3 million"]], (1,))
    for width in (30, 80):
        assert any("about 3 million" in line for line in lines_of(for_terminal(table), width))


def test_a_table_without_rows_has_its_headings():
    lines = lines_of(for_terminal(TextTable("Nothing", ("world", "agent"), [])), 40)
    assert any(line.split() == ["world", "agent"] for line in lines)


def test_columns_share_the_room_by_what_they_need():
    columns = [["a b c d e f g h i j"], ["k l m"]]
    assert column_widths(columns, 100) == [19, 5]
    assert column_widths(columns, 20) == [12, 3]
    assert column_widths(columns, 100, [8, 4]) == [8, 4]
    assert column_widths(columns, 6) is None
    assert column_widths([[""]], 10) == [1]


def test_names_are_whole_before_numbers_are_where_there_is_room():
    """Half of what is left beside the longest words is for names first, and all that they leave for the others."""
    columns = [["learner told the task"], ["-32.64 (-33.70 to -31.58); missed: at least the best of all others"]]
    assert column_widths(columns, 50) == [11, 34]
    assert column_widths(columns, 50, names=1) == [21, 24]
    assert column_widths(columns, 31, names=1) == [7 + 11 // 2, 8 + 11 - 11 // 2]  # 11 beside "learner" and "-31.58);"
    assert column_widths(columns, 500, names=1) == column_widths(columns, 500)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    place = tmp_path_factory.mktemp("table") / "long"
    one_word = part("Random", horizon=300)
    labels = {"Optimal": OPTIMAL, "DoublingAOMultiRL_with_a_name_of_one_word, at random": one_word}
    keep(place, cells(labels, episodes=(3,)))
    return leaderboard(place)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_names_in_leaderboards_are_whole(board, width):
    file = io.StringIO()
    leaderboard_table.show(board, Console(file=file, width=width))
    lines = file.getvalue().splitlines()
    (table,) = board.tables
    numbers = [
        word
        for line in table.lines
        for name in table.columns
        if (span := line.span(name)) is not None and not math.isnan(span.mean)
        for word in leaderboard_table._short(span.mean).split()
    ]
    check_whole(lines, [table.problem.title, *(line.label for line in table.lines), *table.headings, *numbers], width)


def test_claims_are_whole():
    claim = {
        "claim": "regret grows no faster than lambda^-2 in separations",
        "holds": True,
        "rule": "a rule",
        "reason": "the exponent, of incomprehensibilities",
        "predicted": "at most 1.9",
        "measured": 2.345678,
        "interval": "2.123456 to 2.567890",
        "place": "Corollary 12",
    }
    file = io.StringIO()
    claims_table.print_claims([claim] * 2, "What was found", Console(file=file, width=60), places=True)
    said = [claim["reason"], claim["predicted"], "2.345678", "Corollary", "separations"]
    check_whole(file.getvalue().splitlines(), said, 60)

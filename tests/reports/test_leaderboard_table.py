import json
import math
from dataclasses import replace

import pytest
from rich.console import Console

from aomultirl.analysis import phrases
from aomultirl.analysis.intervals import Span
from aomultirl.analysis.leaderboard import Leaderboard, leaderboard
from aomultirl.reports import leaderboard_table
from folders import OPTIMAL, RANDOM, cells, keep, part

CLUSTERS = {"identification_steps": 365.25, "misclustered": 12.5, "believed_only": 187.5, "in_doubt": 12.25}
"""What an agent that acts on beliefs may have."""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    place = tmp_path_factory.mktemp("table") / "small"
    long = part("Random", horizon=300)
    keep(
        place,
        cells({"Optimal": OPTIMAL, "at [random]": RANDOM, "at random for quite a long time": long}, episodes=(3, 5)),
    )
    return leaderboard(place)


def printed(board, width=100, **options):
    console = Console(width=width)
    with console.capture() as capture:
        leaderboard_table.show(board, console, **options)
    return capture.get()


def test_every_agent_is_printed_with_its_numbers(board):
    text = printed(board, 160)
    for table in board.tables:
        assert f"{table.problem.title}, 3 runs" in text
        assert table.columns[0] == "reward_per_step"
        for line in table.lines:
            assert all(phrases.number(line.spans[name].mean) in text for name in ("reward_per_step", "regret_per_step"))
    assert "at [random]" in text
    assert "not equally long" in " ".join(text.split())
    assert "p = 0.25" in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_nothing_is_cut_however_narrow_the_terminal(board, width):
    text = printed(board, width)
    words = text.split()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for table in board.tables:
        assert set(" ".join(table.headings).split()) <= set(words)
        for line in table.lines:
            for name in table.columns:
                span = line.span(name)
                if span is not None and not math.isnan(span.mean):
                    assert {phrases.number(end) for end in span} <= set(words)


def test_the_widest_table_fits_a_narrow_terminal(board):
    """Episodes that are not equally long, and agents with beliefs."""
    [table, *_] = board.tables
    clusters = {name: Span(count, count - 4.0, count + 4.0) for name, count in CLUSTERS.items()}
    lines = [replace(line, spans={**line.spans, **clusters}) for line in table.lines]
    text = printed(Leaderboard([replace(table, lines=lines)], []), 80)
    assert max(map(len, text.splitlines())) <= 80
    words = set(text.replace("(", " ").replace(")", " ").split())
    assert {"identify", "cluster", "proven", "doubt", "episode"} <= words
    for name in ("reward_per_step", "regret_per_step", *CLUSTERS):
        assert all(phrases.number(end) in words for line in lines for end in line.spans[name]), name


def test_only_some_tables_and_lines_are_printed(board, monkeypatch):
    text = printed(board, most=1)
    assert "Not shown here: 1 more problem; --json has all." in text
    assert board.tables[1].problem.title not in text
    monkeypatch.setattr(leaderboard_table, "MOST_LINES", 2)
    text = printed(board, most=None)
    assert text.count("1 more agent behind these.") == 2


def test_what_is_not_known_is_a_dash_and_null(tmp_path):
    keep(tmp_path / "a", cells(record=(), runs=1))
    board = leaderboard(tmp_path / "a")
    row = next(line for line in printed(board).splitlines() if "Random" in line)
    assert row.split()[-3:] == ["-", "0", "-"]
    told = json.loads(json.dumps(leaderboard_table.as_dict(board), allow_nan=False))
    [table] = told["problems"]
    assert [agent["regret"] for agent in table["agents"]] == [{"mean": None, "low": None, "high": None}] * 2
    assert table["agents"][0]["total_reward"]["low"] is None
    assert table["test"] is None


def test_the_whole_as_json(board):
    told = json.loads(json.dumps(leaderboard_table.as_dict(board), allow_nan=False))
    assert [table["episodes"] for table in told["problems"]] == [3, 5]
    table = told["problems"][0]
    assert table["world"] == {"name": "gridworld", "parameters": {"edges": "stay", "size": 4}}
    assert table["ranking"] == "reward_per_step"
    agent = table["agents"][0]
    assert agent["label"] == "Optimal"
    assert agent["agent"] == OPTIMAL
    assert agent["runs"] == [0, 1, 2]
    assert agent["total_reward"]["low"] <= agent["total_reward"]["mean"] <= agent["total_reward"]["high"]
    assert agent["behind"] is None
    assert table["test"]["pairs"] == 3
    assert table["test"]["words"].startswith("Optimal is ahead of ")
    assert told["notes"] == board.notes

"""The report of a sweep: its page and its figure."""

import html
import re

import numpy as np
import pytest

from aomultirl.analysis import intervals, phrases, sweep_views
from aomultirl.analysis.leaderboard import leaderboard
from aomultirl.reports import folder_report
from aomultirl.reports.page import make_page, sweep_section
from folders import GRID, OPTIMAL, RANDOM, cells, keep, part
from pages import Outline, chart_of, content, figures, without_scripts

GRIDS = [part("gridworld", edges="stay", size=size) for size in (3, 4)]


@pytest.fixture(scope="module")
def given():
    return cells(worlds=GRIDS, episodes=(4, 6), runs=3)


@pytest.fixture(scope="module")
def folder(given, tmp_path_factory):
    place = tmp_path_factory.mktemp("sweep") / "small"
    keep(place, given)
    return place


@pytest.fixture(scope="module")
def page(folder):
    return page_of(folder_report.collect(folder))


def page_of(found):
    return make_page(found.runs, title=found.title, command=found.command, sweep=found.sweep)


def layout_of(page, name, view):
    return next(figure["layout"] for chart, key, figure in figures(page) if (chart["id"], key) == (name, view))


def section(page, name):
    return html.unescape(re.search(rf'<section id="{name}".*?</section>', page, re.S)[0])


def test_every_view_is_a_figure_that_plotly_accepts(page):
    from plotly.graph_objects import Figure

    seen = set()
    for chart, _, figure in figures(page):
        Figure(figure)
        seen.add(chart["id"])
    assert {"sweep-regret", "sweep-total_reward", "rewards", "regret-total"} <= seen


def test_regret_at_the_end_against_the_parameter(page, given):
    chart = chart_of(page, "sweep-regret")
    options = re.findall(r'<option value="(\d)"[^>]*>(against [^<]*)<', page)
    assert [words for _, words in options] == [
        *(f"against size of the world, with episodes={episodes}" for episodes in (4, 6)),
        "against episodes K",
    ]
    view = chart["views"]["1"]
    assert layout_of(page, "sweep-regret", "1")["xaxis"]["title"]["text"] == "size of the world"
    assert layout_of(page, "sweep-regret", "2")["xaxis"]["title"]["text"] == "episodes K, size=3"
    trace = next(trace for trace in view["data"] if trace["name"] == "Random")
    assert trace["x"] == [3, 4]
    for size, mean, more in zip(trace["x"], trace["y"], trace["error_y"]["array"], strict=True):
        mine = [
            cell.run().regret()[-1]
            for cell in given
            if cell.label == "Random" and cell.episodes == 6 and cell.world["parameters"]["size"] == size
        ]
        wanted = intervals.over_runs(mine)
        assert mean == pytest.approx(wanted.mean, rel=1e-4)
        assert mean + more == pytest.approx(wanted.high, rel=1e-3)


def test_the_leaderboard_is_on_the_page(page, folder):
    text = section(page, "leaderboard")
    board = leaderboard(folder)
    assert text.count("<details") == len(board.tables) == 4
    for table in board.tables:
        assert table.problem.title in text
        assert table.verdict in text
        for line in table.lines:
            assert phrases.number(line.spans["total_reward"].mean) in text
    assert all(note in text for note in board.notes)


def test_runs_of_different_problems_are_not_mixed_up(page):
    labels = [agent["label"] for agent in content(page)["agents"]]
    assert len(labels) == len(set(labels)) == 8
    assert "Random (size=3, episodes=6)" in labels
    assert all(agent["runs"] == ["0", "1", "2"] for agent in content(page)["agents"])
    assert "2 agents on 4 problems · 3 runs each · 24 cells" in html.unescape(page)
    assert "What follows shows" not in page


def test_one_problem_makes_the_usual_page_and_a_leaderboard(tmp_path):
    keep(tmp_path / "a", cells())
    found = folder_report.collect(tmp_path / "a")
    assert [(run.agent, run.run) for run in found.runs] == [
        (agent, run) for agent in ("Optimal", "Random") for run in range(3)
    ]
    page = page_of(found)
    assert '<section id="leaderboard"' in page
    assert '<section id="sweep"' not in page
    assert "<details" not in section(page, "leaderboard")
    written = folder_report.write(found, tmp_path / "a" / "report.html")
    assert [path.name for path in written] == ["report.html", "sweep.png", "sweep.svg"]


def test_a_single_agent_on_one_problem_has_no_figure(tmp_path):
    keep(tmp_path / "a", cells((RANDOM,)))
    found = folder_report.collect(tmp_path / "a")
    assert folder_report.write(found, tmp_path / "a" / "report.html") == [tmp_path / "a" / "report.html"]


def test_what_differs_in_the_world_alone_stands_side_by_side(page):
    """Against the number of episodes there is a panel for each size of the grid."""
    for number, size in ((1, 3), (2, 4)):
        name = "sweep-total_reward" if number == 1 else f"sweep-total_reward-{number}"
        assert layout_of(page, name, "2")["xaxis"]["title"]["text"] == f"episodes K, size={size}"
        words = chart_of(page, name)["views"]["2"]["words"]
        assert words.startswith(f"Total reward against episodes K, with size={size} (3 runs):")
    second = chart_of(page, "sweep-total_reward-2")["views"]
    assert [len(view["data"]) for view in second.values()] == [0, 0, 2]  # one world at a time: one panel
    assert second["0"]["words"] == sweep_section.NO_PANEL


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A sweep in which names vary: of worlds, and of agents."""
    place = tmp_path_factory.mktemp("sweep") / "named"
    worlds = [GRID, part("jao")]
    keep(place, cells((RANDOM, OPTIMAL), worlds=worlds, runs=3))
    return place


def test_a_sweep_over_names_has_a_panel_a_world(named):
    page = page_of(folder_report.collect(named))
    charts = [chart["id"] for chart in content(page)["charts"] if chart["id"].startswith("sweep-")]
    assert charts == ["sweep-total_reward", "sweep-total_reward-2", "sweep-regret", "sweep-regret-2"]
    assert 'data-control="sweep' not in page
    assert "Every point is an agent" in section(page, "sweep")
    best = leaderboard(named).tables[1].lines
    traces = chart_of(page, "sweep-total_reward-2")["views"][""]["data"]
    assert [trace["name"] for trace in traces] == [line.label for line in best] == ["Optimal", "Random"]
    axis = layout_of(page, "sweep-total_reward-2", "")["xaxis"]
    assert (axis["title"]["text"], axis["ticktext"]) == ("world=jao", ["Optimal", "Random"])


def test_captions_have_the_numbers_of_the_tables(named, folder):
    for place in (named, folder):
        page = page_of(folder_report.collect(place))
        tables = section(page, "leaderboard")
        numbers = 0
        for chart in content(page)["charts"]:
            if chart["id"].startswith(("sweep-total_reward", "sweep-regret")):
                for view in chart["views"].values():
                    said = re.findall(r"(?:(?:Random|Optimal)|\d and) ([\d.,]*\d)", view["words"])
                    ends = re.findall(r"\(([\d.,]+ to [\d.,]+)\)", view["words"])
                    assert said or not view["data"]
                    assert all(f">{number}<" in tables.replace(" <", "<") for number in said), view["words"]
                    assert all(f">{interval}<" in tables for interval in ends), view["words"]
                    numbers += len(said) + len(ends)
        assert numbers > 12


def test_a_page_of_a_large_sweep_shows_some_and_says_so(folder, monkeypatch):
    monkeypatch.setattr(sweep_views, "MOST_CONFIGURATIONS", 5)
    monkeypatch.setattr(sweep_views, "MOST_RUNS", 2)
    found = folder_report.collect(folder)
    assert len(found.runs) == 2 * 2 * 2
    assert {run.agent for run in found.runs} == {
        f"{agent} ({where})"
        for agent in ("Optimal", "Random")
        for where in ("size=3, episodes=4", "size=4, episodes=6")
    }
    words = (
        "What follows shows 4 of 8 configurations, from 2 of 4 problems and the first 2 of 3 runs; the leaderboard "
        "and the sweep's charts are of all."
    )
    assert found.sweep.shown == words
    page = page_of(found)
    assert words in section(page, "leaderboard")
    assert len(chart_of(page, "sweep-regret")["views"]["0"]["data"][0]["x"]) == 2


def test_many_agents_on_one_problem_are_shown_best_first(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_views, "MOST_CONFIGURATIONS", 2)
    agents = {"Random": RANDOM, "Optimal": OPTIMAL, "other": part("OneEpisodeUCBVI", failure=0.1, horizon=10)}
    keep(tmp_path / "a", cells(agents))
    found = folder_report.collect(tmp_path / "a")
    [table] = leaderboard(tmp_path / "a").tables
    assert list(dict.fromkeys(run.agent for run in found.runs)) == [line.label for line in table.lines[:2]]
    assert found.sweep.shown.startswith("What follows shows 2 of 3 configurations, the best 2 of a problem;")


def test_long_leaderboards_are_cut_and_say_so(folder, monkeypatch):
    monkeypatch.setattr(sweep_section, "MOST_TABLES", 3)
    monkeypatch.setattr(sweep_section, "MOST_LINES", 1)
    text = section(page_of(folder_report.collect(folder)), "leaderboard")
    assert "Not shown here: 1 more problem; aomultirl compare --json has all." in text
    assert text.count("1 more agent is behind these.") == 3


def test_episodes_before_those_that_count(tmp_path):
    early = part("paper", each_first=True)
    keep(
        tmp_path / "a",
        [*cells((RANDOM,), streams=(part("paper"),)), *cells((OPTIMAL,), streams=(early,), episodes=(8,))],
    )
    found = folder_report.collect(tmp_path / "a")
    assert {(run.agent, run.before, len(run.history)) for run in found.runs} == {("Random", 0, 4), ("Optimal", 4, 8)}
    assert "The first 4 episodes of Optimal do not count" in page_of(found)


def test_what_a_sweep_is_called_cannot_break_out(tmp_path):
    evil = '</script><b>"bold"</b>'
    given = cells({evil: RANDOM, f"{evil}2": part("Random", horizon=12)}, worlds=GRIDS)
    keep(tmp_path / "a", given, identity={"kind": "sweep", "name": evil})
    outline = Outline(page_of(folder_report.collect(tmp_path / "a")))
    assert outline.all("b") == []
    assert len(outline.all("script")) == 3


def test_the_page_can_be_read_without_seeing_it(page):
    outline = Outline(page)
    names = [attrs["id"] for _, attrs in outline.found if "id" in attrs]
    assert len(names) == len(set(names))
    drawn = [attrs for _, attrs in outline.found if attrs.get("class") == "chart"]
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 40 for attrs in drawn)
    assert "http" not in without_scripts(page).replace("http-equiv", "")


def test_regret_that_was_not_recorded_has_no_chart(tmp_path):
    keep(tmp_path / "a", cells(worlds=GRIDS, record=(), runs=1))
    page = page_of(folder_report.collect(tmp_path / "a"))
    assert chart_of(page, "sweep-regret") is None
    assert "error_y" not in chart_of(page, "sweep-total_reward")["views"]["0"]["data"][0]


def test_only_finished_cells_are_on_the_page(folder, given, tmp_path):
    keep(tmp_path / "a", given, done=given[:13])
    found = folder_report.collect(tmp_path / "a")
    assert len(found.runs) == 13
    assert "11 cells are not done yet." in section(page_of(found), "leaderboard")


def test_the_report_and_the_figure_are_written_side_by_side(folder, tmp_path):
    found = folder_report.collect(folder)
    target = tmp_path / "page.html"
    assert [path.name for path in folder_report.write(found, target)] == ["page.html", "sweep.png", "sweep.svg"]
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "sweep.png", "sweep.svg"}
    (tmp_path / "sweep.png").write_bytes(b"mine")
    target.unlink()
    with pytest.raises(ValueError, match="did not make"):
        folder_report.write(found, target)
    assert not target.exists()


def test_a_wide_range_gets_logarithmic_axes(tmp_path):
    keep(tmp_path / "a", cells((RANDOM,), worlds=(GRID,), episodes=(2, 40), runs=2))
    page = page_of(folder_report.collect(tmp_path / "a"))
    view = chart_of(page, "sweep-regret")["views"]["0"]
    assert layout_of(page, "sweep-regret", "0")["xaxis"]["type"] == "log"
    assert re.search(r'data-control="sweep-log" checked', page)
    assert np.isfinite(view["data"][0]["y"]).all()

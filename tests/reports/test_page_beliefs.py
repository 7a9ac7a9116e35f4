"""What the page shows of the worlds that an agent believes in."""

import re

import numpy as np
import pytest

from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.analysis.believed_worlds import believed_worlds
from aomultirl.experiments.history import History
from aomultirl.reports.page import Run, belief_charts, believed_rows, make_page
from pages import chart_of, figures, without_scripts


def changed(history, about=None, **columns):
    return History({**history.columns, **columns}, {**history.about, **(about or {})})


def test_the_world_that_every_episode_was_taken_for(sure):
    from plotly.graph_objects import Figure

    page = make_page([Run(name, 0, history) for name, history in sure.items()])
    history = sure["Recall"]
    chart = chart_of(page, "beliefs")
    view = chart["views"]["1|0"]
    names = np.unique(history["taken_for"])
    assert view["yaxis"]["categoryarray"] == [f"w{name + 1}" for name in names]
    lines = {line["name"]: line for line in view["data"]}
    for task in range(4):
        here = np.flatnonzero(history["task"] == task)
        assert lines[f"m{task + 1}"]["x"] == (here + 1).tolist()
        assert lines[f"m{task + 1}"]["y"] == [f"w{name + 1}" for name in history["taken_for"][here]]
    unsure = np.flatnonzero(history["sure"] < 0.99)
    assert len(unsure)
    assert lines["less than 99 &#37; sure"]["x"] == (unsure + 1).tolist()
    found = believed_worlds(history)
    words = f"Recall, run 0: 12 episodes of 4 worlds taken for {len(names)} believed worlds; {found.together} with the"
    assert view["words"].startswith(words)
    assert f"; {len(unsure)} less than 99 % sure when they were over." in view["words"]
    assert f"In the end the agent believes in {found.worlds} worlds, and met 4" in view["words"]
    assert re.search(
        rf"; {found.unresolved} past episodes? unresolved; worlds share \d+ % of transitions", view["words"]
    )
    assert f"{100 * found.shared['ends']:.0f} % of ends." in view["words"]
    assert chart["views"]["0|0"]["data"] == []
    assert chart["views"]["0|0"]["words"] == f"Sequential, run 0: {belief_charts.NOTHING}"
    for one, _, figure in figures(page):
        if one["id"] in ("beliefs", "sure"):
            Figure(figure)


def test_the_page_says_in_words_below_which_probability_an_episode_is_unresolved():
    assert f"less than {100 * RESOLVED:.0f} % sure" == belief_charts.UNSURE


def test_how_sure_it_was(sure):
    history = sure["Recall"]
    view = chart_of(make_page(history), "sure")["views"]["0|0"]
    for line in view["data"]:
        here = np.flatnonzero(history["task"] == int(line["name"][1:]) - 1)
        assert line["y"] == pytest.approx(history["sure"][here].tolist(), rel=1e-4)
    assert f"{100 * history['sure'].mean():.1f} % sure in the mean" in view["words"]


def test_the_table_has_a_row_for_every_agent_that_has_beliefs(sure, runs):
    history = sure["Recall"]
    page = make_page([Run(name, 0, given) for name, given in sure.items()] + runs[:1])
    section = re.search(r'<section id="beliefs".*?</section>', page, re.S)[0]
    head = re.findall(r'<th scope="col">(.*?)</th>', section)
    (row,) = re.findall(r"<tr><th scope=\"row\">.*?</tr>", section, re.S)
    cells = dict(zip(head[1:], re.findall(r"<td>(.*?)</td>", row, re.S), strict=True))
    found = believed_worlds(history)
    assert cells["worlds believed in"] == f"{found.worlds}"
    assert cells["worlds met"] == "4"
    assert float(cells["with the majority"]) == pytest.approx(found.together / 12, rel=1e-3)
    assert float(cells["sure"]) == pytest.approx(found.sure, rel=1e-3)
    assert cells["below 99 %"] == f"{found.doubted}"
    assert cells["unresolved in the end"] == f"{found.unresolved}"
    assert float(cells["transitions shared"]) == pytest.approx(found.shared["transitions"], rel=1e-3)
    assert cells["rewards shared"] == "\u2013"
    assert "Clusters are what an agent has proven." in section


def test_no_beliefs_no_section(runs):
    page = make_page(runs)
    assert '<section id="beliefs"' not in page
    assert 'href="#beliefs"' not in without_scripts(page)


def test_many_believed_worlds_share_a_row(sure, monkeypatch):
    monkeypatch.setattr(believed_rows, "MOST_ROWS", 2)
    history = changed(sure["Recall"], taken_for=np.array([5, 5, 5, 9, 9, 1, 2, 3, 4, 10**12, 5, 9]))
    chart = chart_of(make_page(history), "beliefs")
    assert chart["layout"]["yaxis"]["categoryarray"] == ["w6", "w10", "others"]
    placed = {x: y for line in chart["views"]["0|0"]["data"] for x, y in zip(line["x"], line["y"], strict=True)}
    assert [placed[x] for x in range(1, 13)] == [*["w6"] * 3, *["w10"] * 2, *["others"] * 5, "w6", "w10"]


def test_episodes_that_do_not_count_are_drawn_and_not_counted(sure):
    page = make_page([Run("Recall", 0, sure["Recall"], 4)])
    view = chart_of(page, "beliefs")["views"]["0|0"]
    assert min(x for line in view["data"] for x in line["x"]) == -3
    assert "Recall, run 0: 8 episodes of 4 worlds" in view["words"]


def test_what_strangers_say_does_not_break_the_page(sure):
    nonsense = {"findings": {"worlds": "<b>", "shared": 3, "unresolved": None}}
    history = changed(sure["Recall"], nonsense, sure=np.full(12, np.nan))
    view = chart_of(make_page(history), "beliefs")["views"]["0|0"]
    assert "In the end" not in view["words"]


def test_agents_with_beliefs_are_shown_in_detail_first(runs, sure):
    history = changed(sure["Recall"], cluster=np.full(12, -1), new_cluster=np.zeros(12, bool))
    page = make_page([runs[0], Run("Recall", 0, history)])
    assert '<option value="1" selected>' in page

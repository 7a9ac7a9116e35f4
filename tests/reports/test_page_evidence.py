"""What the page shows of the evidence for each cluster."""

import re
from copy import deepcopy

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.analysis import phrases
from aomultirl.experiments.history import History
from aomultirl.reports.page import Run, evidence_charts, make_page
from aomultirl.reports.page.groups import group
from pages import chart_of, figures, without_scripts


def test_evidence_in_an_episode(sure, runs):
    from plotly.graph_objects import Figure

    sure = deepcopy(sure)
    last = sure["Recall"].about["findings"]["evidence"]["episodes"][-1]
    last["worlds"] = [3 * place + 5 for place in range(len(last["worlds"]))]  # names are no places
    page = make_page([Run(name, 0, history) for name, history in sure.items()] + runs[:1])
    assert '<section id="evidence"' in page
    chart = chart_of(page, "evidence")
    kept = [history.about["findings"]["evidence"]["episodes"] for history in sure.values()]
    assert [len(chart["choices"][f"{i}|0"]) for i in range(3)] == [len(kept[0]), len(kept[1]), 0]
    assert "no evidence" in chart["views"]["2|0|0"]["words"]
    assert chart["layout"]["xaxis"]["type"] == "log"
    for one, key, figure in figures(page):
        if one["id"] == "evidence":
            Figure(figure)
            assert len(chart["views"][key]["words"]) > 40
    trace, history = kept[0][-1], sure["Sequential"]
    assert trace["verdict"] == "accepted"
    view = chart["views"][f"0|0|{len(kept[0]) - 1}"]
    *lines, limit = view["data"]
    assert len(lines) == len(trace["against"][-1]) == 4
    for number, line in enumerate(lines):
        assert line["x"] == trace["steps"]
        assert line["y"] == pytest.approx([row[number] for row in trace["against"]], rel=1e-4)
        assert line["name"].startswith(f"c{number + 1} (m")
    value = history.about["findings"]["evidence"]["limit"]
    assert limit["y"] == pytest.approx([value] * 2, rel=1e-4)
    assert limit["line"]["dash"] != "solid"
    name = f"accepted as c{trace['cluster'] + 1} after {trace['steps'][-1]:,} steps, which is right"
    assert f"episode {trace['episode'] + 1} in m{history['task'][trace['episode']] + 1}: {name}" in view["words"]
    assert f"limit of {phrases.number(value)}" in view["words"]
    assert "No cluster was known yet" in chart["views"]["0|0|0"]["words"]
    assert chart["views"]["0|0|0"]["data"] == []
    trace, view = kept[1][-1], chart["views"][f"1|0|{len(kept[1]) - 1}"]
    assert [line["y"] for line in view["data"]] == [
        pytest.approx(column, abs=1e-5) for column in np.transpose(trace["belief"]).tolist()
    ]
    assert [line["name"] for line in view["data"]] == [*(f"w{name + 1}" for name in trace["worlds"]), "a new world"]
    assert f"a new world {100 * trace['belief'][-1][-1]:.1f} %" in view["words"]
    assert "found: evidence" not in page
    assert "found: episodes in no cluster" in page
    assert "abstention" not in page


def test_no_evidence_no_section(runs):
    page = make_page(runs)
    assert '<section id="evidence"' not in page
    assert 'data-control="kept"' not in without_scripts(page)


def test_many_clusters_are_not_all_drawn(sure):
    history = sure["Sequential"]
    trace = {"episode": 3, "verdict": "abstained", "cluster": -1, "steps": [25, 50], "certified": [0, 1]}
    trace["against"] = [list(range(30)), list(range(30))]
    about = {**history.about, "findings": {"evidence": {"limit": 20.0, "episodes": [trace]}}}
    chart = chart_of(make_page([Run("many", 0, History(history.columns, about))]), "evidence")
    view = chart["views"]["0|0|0"]
    assert len(view["data"]) == evidence_charts.MOST_LINES + 1
    assert "(and 20 more); 10 of 30 clusters at or above the limit of 20; 1 pair certified" in view["words"]
    assert chart["choices"]["0|0"] == ["4: not proven"]


def test_certified_episodes_and_those_in_doubt_are_marked_and_counted(sure):
    page = make_page([Run(name, 0, history) for name, history in sure.items()])
    glance = re.search(r'<section id="glance".*?</section>', page, re.S)[0]
    head = re.findall(r'<th scope="col">(.*?)</th>', glance)
    for number, (row, history) in enumerate(zip(glance.split("<tr>")[2:], sure.values(), strict=True)):
        cells = re.findall(r"<td>(.*?)</td>", row)
        doubt = history["abstained"] & ~(history["sure"] >= 0.99)
        assert cells[head.index("in doubt") - 1] == f"{doubt.sum()}"
        view = chart_of(page, "timeline")["views"][f"{number}|0"]
        marks = {trace["name"]: trace["x"] for trace in view["data"]}
        for name, happened in (("certified", history["certified"]), ("in doubt", doubt)):
            assert marks.get(name, []) == (np.flatnonzero(happened) + 1).tolist()
            assert f"{happened.sum()} {name}" in view["words"]
    assert sure["Sequential"]["certified"].any()
    assert sure["Recall"].in_doubt.any()


def test_an_episode_that_was_believed_and_not_proven_says_so(sure):
    page = make_page([Run(name, 0, history) for name, history in sure.items()])
    history = sure["Recall"]
    believed = np.flatnonzero(history["abstained"] & (history["sure"] >= 0.99))
    assert len(believed) > 3
    glance = re.search(r'<section id="glance".*?</section>', page, re.S)[0]
    head = re.findall(r'<th scope="col">(.*?)</th>', glance)
    told = {
        row: re.findall(r"<td>(.*?)</td>", cells) for row, cells in zip(sure, glance.split("<tr>")[2:], strict=True)
    }
    assert told["Recall"][head.index("sure, not proven") - 1] == f"{len(believed)}"
    assert told["Sequential"][head.index("sure, not proven") - 1] == "\u2013"
    assert "taken for a world that the agent believed in with 99 % or more" in glance
    view = chart_of(page, "timeline")["views"]["1|0"]
    assert f"; {len(believed)} taken for a world, not proven; " in view["words"]
    worlds = [trace for trace in view["data"] if trace["name"] in ("m1", "m2", "m3", "m4")]
    rows = {x: y for trace in worlds for x, y in zip(trace["x"], trace["y"], strict=True)}
    for k, (name, cluster) in enumerate(zip(history["taken_for"], history["cluster"], strict=True)):
        row = f"w{name + 1}, not proven" if k in believed else "none" if cluster < 0 else f"c{cluster + 1}"
        assert rows[k + 1] == row
    evidence = chart_of(page, "evidence")
    kept = history.about["findings"]["evidence"]["episodes"]
    last = max(i for i, trace in enumerate(kept) if trace["episode"] in believed)
    said = f"taken for w{history['taken_for'][kept[last]['episode']] + 1}, not proven"
    assert evidence["choices"]["1|0"][last] == f"{kept[last]['episode'] + 1}: {said}"
    assert said in evidence["views"][f"1|0|{last}"]["words"]
    assert "abstained" not in without_scripts(page)


def test_a_cluster_that_only_episodes_that_do_not_count_were_put_in_has_its_row(sure):
    columns = {**sure["Recall"].columns, "cluster": np.array([0, 1, 2, 3, *[0] * 8])}
    page = make_page([Run("Recall", 0, History(columns, sure["Recall"].about), 4)])
    assert chart_of(page, "timeline")["layout"]["yaxis"]["categoryarray"][:5] == ["none", "c1", "c2", "c3", "c4"]


def test_steps_beside_the_least_that_anyone_needs(sure, models, monkeypatch):
    history = sure["Sequential"]
    here = history["certified"]
    bound = ao.theory.identification_lower_bound(
        models, failure=0.03, episodes=12, separation=1.3 - 1e-6, distinguishing_set=[(1, 0), (8, 3), (2, 1)]
    )[history["task"][here]].mean()
    ratio = history["identification_steps"][here].mean() / bound
    both = group([Run("mine", 0, history), Run("other", 0, sure["Recall"])])
    [one] = evidence_charts.recognitions(both, [models, models])
    assert (one.label, one.episodes, one.least) == ("mine", here.sum(), pytest.approx(bound))
    said = f"({here.sum()} episodes). Whoever is told only that worlds differ by 1.3, at one of 3 pairs, needs"
    assert f"{said} at least {phrases.number(bound)}, so this is {ratio:.1f} times the bound." in make_page(history)

    def told(**given):
        agent = history.about["agent"]
        about = {**history.about, "agent": {**agent, "parameters": {**agent["parameters"], **given}}}
        groups = group([Run("mine", 0, History(history.columns, about))])
        return [one.told for one in evidence_charts.recognitions(groups, [models])]

    assert told(models={"name": "gridworld", "parameters": {}}) == told(separation=None) == ["all the worlds"]
    assert told(separation={"object": "np.float64(1.3)"}) == told(failure="?") == []
    assert evidence_charts.recognitions(both, [None, None]) == []
    monkeypatch.setattr(evidence_charts, "MOST_WORK", 63)
    assert evidence_charts.recognitions(both, [models, models]) == []

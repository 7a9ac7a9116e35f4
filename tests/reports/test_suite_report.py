"""A suite as a page, a figure and a list of claims, with runs that were made up."""

import json
import re

import numpy as np
import pytest

from aomultirl import cli
from aomultirl.experiments import suites
from aomultirl.experiments.suites import SuiteRun
from aomultirl.reports import suite_figure, suite_report

RING = "rings, lambda = 1, M = 4"


def result(*labels, heading="whole run", command="aomultirl compare --suite hard"):
    cases = [case for case in suites.SUITES["hard"]() if case.place == RING and case.told in labels]
    runs = [
        [SuiteRun(np.empty(0, np.int64), 0, 50.0, 0, 0, 10, np.nan, numbers={heading: 10.0 * i + x}) for x in range(3)]
        for i in range(len(cases))
    ]
    return suite_report.SuiteResult("hard", cases, runs, ["Three runs."], command)


def test_everything_is_written_and_written_again(tmp_path):
    shown, folder = result("Random", "PSRL, pooled", "PSRL, told", "Recall", "optimum"), tmp_path / "new"
    paths = suite_report.write(shown, folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(suite_report.NAMES) == sorted(p.name for p in paths)
    first = {path: path.read_bytes() for path in paths}
    suite_report.write(shown, folder)
    assert first == {path: path.read_bytes() for path in paths}
    claims = json.loads((folder / "claims.json").read_text())
    assert [claim["holds"] for claim in claims] == [claim.holds for claim in shown.claims]
    page = (folder / "report.html").read_text()
    assert "rings, λ = 1, M = 4" in page
    assert "aomultirl compare --suite hard" in page
    assert "data:image/png;base64," in page
    inches = suite_figure.draw(shown.rows, "whole run").get_figwidth()
    assert f'width="{round(96 * inches)}"' in page
    assert 'id="plotly"' not in page  # there is no chart that would need its 5 MB
    assert len(page) < 2**20
    assert page.index("optimum") < page.index("Random")


def test_the_best_of_those_that_are_not_told_is_named():
    shown = result("Random", "Recall", "PSRL, told", "optimum")
    assert suite_report._best(shown.rows, RING, "whole run") == "Recall"
    assert suite_report._best(result("optimum").rows, RING, "whole run") == ""


@pytest.mark.parametrize("name", ["mine.txt", "report.html"])
def test_folders_of_others_are_left_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(ValueError, match="out is "):
        suite_report.write(result("Random"), tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_a_quick_look_judges_nothing():
    shown = result("PSRL, pooled", "PSRL, told")
    assert len(shown.claims) == 1
    assert shown._replace(is_whole=False).claims == []


def test_every_agent_has_a_line_in_the_figure():
    shown = result("Random", "Recall", "optimum")
    figure = suite_figure.draw(shown.rows, "whole run", ("Recall",))
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["Random", "Recall", "optimum"]
    assert panel.get_title() == "rings, λ = 1, M = 4"
    points = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
    assert points == [1.0, 11.0, 21.0]


def test_a_figure_of_few_agents_says_the_means_and_who_is_told_is_grey():
    shown = result("PSRL, pooled", "PSRL, told", "Recall", "optimum")
    (panel,) = suite_figure.draw(shown.rows, "whole run", ("Recall",)).axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert [text.get_text() for text in panel.texts] == ["1", "11", "21", "31"]
    colours = {name: line.get_color() for name, line in zip(names, panel.lines[1::2], strict=True)}
    assert colours["PSRL, told"] == colours["optimum"] == suite_figure.FAINT
    assert len({colours["Recall"], colours["PSRL, pooled"], suite_figure.FAINT}) == 3
    assert panel.get_xlim() == (0.0, 105.0)
    assert panel.get_xlabel() == "% of the optimum, whole run"
    many = suite_figure.draw(
        {**shown.rows, **{(RING, str(i)): shown.rows[RING, "Recall"] for i in range(9)}}, "whole run"
    )
    assert not many.axes[0].texts


def test_every_place_has_its_unit_and_few_agents_have_three_places_side_by_side():
    cases = [case for case in suites.SUITES["short"]() if case.told == "Recall"]
    runs = [[SuiteRun(np.empty(0, np.int64), 0, 1.0, 0, 0, 9, np.nan, numbers={"K = 200": 7.0})] for _ in cases]
    shown = suite_report.SuiteResult("short", cases, runs, [], "")
    panels = suite_figure.draw(shown.rows, "K = 200").axes
    units = {panel.get_title(): panel.get_xlabel() for panel in panels}
    assert units["Taxi, reward a life"] == "reward a life, K = 200"
    assert units["FrozenLake 8x8, 3 maps"] == "% of the optimum, K = 200"
    assert len({round(panel.get_position().x0, 6) for panel in panels}) == suite_figure.FEW_PANELS


def test_the_figure_shows_the_column_that_was_asked_for(tmp_path, capsys):
    command = ["compare", "--suite", "drift", "--only", "drifts", "--agent", "random", "--agent", "PSRL, p", "--quick"]
    assert cli.run([*command, "--column", "last quarter", "--out", str(tmp_path / "a")]) == 0
    assert cli.run([*command, "--out", str(tmp_path / "b")]) == 0
    page = (tmp_path / "a" / "report.html").read_text()
    assert "--agent random --agent &#39;PSRL, p&#39; --quick" in page.replace(" --column &#39;last quarter&#39;", "")
    figures = [(tmp_path / name / "figure.svg").read_bytes() for name in "ab"]
    assert figures[0] != figures[1]
    capsys.readouterr()
    assert cli.run([*command, "--column", "last", "--out", str(tmp_path / "c")]) == 2
    assert "column must be one of 'whole run', 'last quarter', not 'last'" in " ".join(capsys.readouterr().err.split())
    assert cli.run([*command, "--column", "last quarter"]) == 2
    assert "it goes with --out" in " ".join(capsys.readouterr().err.split())


def test_the_column_that_was_asked_for_decides_who_is_best_and_the_page_names_it(tmp_path):
    """Whoever earns more in all earns less in the end here."""
    drift = suites.SUITES["drift"]()
    cases = [case for case in drift if case.place == drift[0].place and case.told in ("Recall", "Random")]
    runs = [
        [
            SuiteRun(
                np.empty(0, np.int64), 0, 1.0, 0, 0, 9, np.nan, numbers={"whole run": earned, "last quarter": -earned}
            )
        ]
        for earned in (1.0, 2.0)
    ]
    made = suite_report.SuiteResult("drift", cases, runs, [], "aomultirl compare --suite drift")
    later, earlier = [case.told for case in cases]
    for column, best, order in (
        (None, earlier, [earlier, later]),
        ("whole run", earlier, [earlier, later]),
        ("last quarter", later, [later, earlier]),
    ):
        suite_report.write(made, tmp_path, column)
        page = (tmp_path / "report.html").read_text()
        glance = re.search(r'<section id="glance".*?</section>', page, re.S)[0]
        assert f"Who earns most in the column “{column or 'whole run'}”, of those that are not told" in glance
        assert f": {best}</li>" in glance
        places = re.search(r'<section id="places".*?</section>', page, re.S)[0]
        rows = re.findall(r'<th scope="row"><span class="name"><span>(\w+)</span>', places)
        assert rows == order


def beds_result(numbers):
    """Runs of {place: {agent: number}}, in the suite of the beds."""
    cases = [case for case in suites.beds_suite() if case.told in numbers.get(case.place, {})]
    runs = [
        [SuiteRun(np.empty(0, np.int64), 0, np.nan, 0, 0, 8, np.nan, {"whole run": value})]
        for value in (numbers[case.place][case.told] for case in cases)
    ]
    return suite_report.SuiteResult("beds", cases, runs, [], "aomultirl compare --suite beds")


def test_units_that_differ_do_not_decide_the_order():
    """Recall is best in two of three places; a mean over the units would put Random, which lost thousands, in front."""
    shown = beds_result(
        {
            "FrozenLake, one life": {"Random": 0.01, "Recall": 0.2},
            "DynaMaze, one life": {"Random": 0.1, "Recall": 0.9},
            "CliffWalking, restarting": {"Random": -950.0, "Recall": -5000.0},
        }
    )
    figure = suite_figure.draw(shown.rows, "whole run", ("Recall",))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["Random", "Recall"]
    assert suite_report.unit_of(shown.cases) == "reward of an episode"


def test_many_places_stand_in_rows_that_each_name_the_agents(monkeypatch):
    monkeypatch.setattr(suite_figure, "FEW_AGENTS", 0)
    places = dict.fromkeys(case.place for case in suites.beds_suite())
    shown = beds_result({place: {"Random": -4000.0 * number, "Recall": 0.5} for number, place in enumerate(places)})
    figure = suite_figure.draw(shown.rows, "whole run")
    boxes = [panel.get_position() for panel in figure.axes]
    assert len(boxes) == 18
    assert len({round(box.y0, 6) for box in boxes}) == 3
    assert len({round(box.x0, 6) for box in boxes}) == suite_figure.MOST_PANELS
    assert all(0.0 < box.y0 < box.y1 < 1.0 and 0.0 < box.x0 < box.x1 < 1.0 for box in boxes)
    named = [[label.get_text() for label in panel.get_yticklabels()] for panel in figure.axes]
    assert [any(names) for names in named] == [number % 6 == 0 for number in range(18)]
    figure.canvas.draw()
    assert "\u22125,000" in {label.get_text() for label in figure.axes[2].get_xticklabels()}


def test_the_command_writes_a_page(tmp_path, capsys):
    out = tmp_path / "drift"
    command = ["compare", "--suite", "drift", "--only", "drifts", "--agent", "random", "--quick", "--out"]
    assert cli.run([*command, str(out)]) == 0
    assert str(out / "report.html") in capsys.readouterr().out.replace("\n", "")
    assert "--only drifts --agent random --quick" in (out / "report.html").read_text()


def test_a_folder_that_is_not_ours_is_refused_before_anything_is_run(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.run(["compare", "--suite", "drift", "--out", str(tmp_path)]) == 2
    assert "out is " in capsys.readouterr().err

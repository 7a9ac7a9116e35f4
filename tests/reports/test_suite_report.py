"""A suite as a page, a figure and a list of claims, with runs that were made up."""

import json

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


def test_every_agent_has_a_line_in_the_figure():
    shown = result("Random", "Recall", "optimum")
    figure = suite_figure.draw(shown.rows, "whole run", "% of the optimum", ("Recall",))
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["Random", "Recall", "optimum"]
    assert panel.get_title() == "rings, λ = 1, M = 4"
    points = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
    assert points == [1.0, 11.0, 21.0]


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

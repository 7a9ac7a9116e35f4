"""The figure of a sweep over names."""

import pytest

from aomultirl.analysis.intervals import UNKNOWN, Span
from aomultirl.analysis.leaderboard import AgentLine
from aomultirl.analysis.measures import MEASURES
from aomultirl.analysis.sweep_views import NamedAgents
from aomultirl.reports import named_figure


def line(label, reward, regret=None, width=1.0):
    spans = {name: Span(reward, reward - width, reward + width) for name in MEASURES}
    spans["regret"] = UNKNOWN if regret is None else Span(regret, 0.9 * regret, 1.1 * regret)
    return AgentLine(label, {"name": "Random", "parameters": {}}, [], {}, spans)


def problem(apart="world=gridworld", lines=None):
    return NamedAgents(apart, lines or [line("best", 50.0, 2.0), line("worst", 10.0, 900.0)], 60, False)


def texts(figure):
    return [text.get_text() for text in figure.texts]


def dots(panel):
    return [(list(one.get_xdata()), list(one.get_ydata())) for one in panel.lines if one.get_marker() == "o"]


def test_a_row_a_problem_and_a_panel_a_measure_with_the_best_on_top():
    figure = named_figure.draw([problem(), problem("world=jao", [line("worst", 7.0, 3.0), line("best", 6.0, 4.0)])])
    assert [panel.get_xlabel() for panel in figure.axes] == ["total reward", "cumulative regret"] * 2
    assert texts(figure)[:2] == ["world=gridworld", "world=jao"]
    first, regret, second, _ = figure.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["worst", "best"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["best", "worst"]
    assert dots(first) == [([10.0], [0]), ([50.0], [1])]
    assert regret.get_xscale() == "log"
    assert first.get_xscale() == "linear"
    colours = {one.get_color() for panel in (first, second) for one in panel.lines}
    assert len(colours) == 2  # an agent has the same in every problem


def test_what_was_not_recorded_has_no_panel_and_what_is_left_out_is_said():
    figure = named_figure.draw([problem(lines=[line("a", 5.0), line("b", 4.0)])])
    assert [panel.get_xlabel() for panel in figure.axes] == ["total reward"]
    many = [line(f"agent {number}", 100.0 - number, 0.0) for number in range(30)]
    figure = named_figure.draw([problem(lines=many)] * 11)
    assert len(figure.axes) == 2 * named_figure.MOST_PROBLEMS
    assert "3 more problems. 6 more agents." in texts(figure)[-1]
    assert len(figure.axes[0].get_yticklabels()) == named_figure.MOST_AGENTS


def test_names_that_are_long_fit_beside_the_panels():
    label = "an agent, with=many, parameters=that, make=it, very=long, horizon=500"
    figure = named_figure.draw([problem(lines=[line(label, 5.0, 1.0), line("b", 4.0, 2.0)])])
    figure.canvas.draw()
    shown = figure.axes[0].get_yticklabels()
    assert shown[1].get_text() == "an agent, with=many, pa …  horizon=500"
    assert all(text.get_window_extent().x0 >= 0.0 for text in shown)


@pytest.mark.parametrize(
    ("runs", "words"), [(1, "One run each."), (3, "Means over 3 runs, with 95 % bootstrap intervals.")]
)
def test_how_many_runs_there_were_is_said(monkeypatch, runs, words):
    monkeypatch.setattr(AgentLine, "runs", property(lambda self: list(range(runs))))
    assert texts(named_figure.draw([problem()]))[-1] == words

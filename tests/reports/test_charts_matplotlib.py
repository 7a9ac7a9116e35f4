"""Chart records in print."""

from aomultirl.analysis.charts import Chart, Series, Stretch, Subject, VerticalLine
from aomultirl.reports import charts_matplotlib
from aomultirl.reports.looks import AGENTS

X, Y = [1.0, 2.0, 3.0], [4.0, -5.0, 6.0]
CHART = Chart("name", "A title", "x", "y", [Series("a", X, Y)], log_x=False, log_y=False)


def test_a_panel_has_its_marks_phases_and_range():
    chart = CHART._replace(marks=[VerticalLine(2.0, "here")], phases=[Stretch(1.0, 2.0, "only m1")], x_range=(0.0, 4.0))
    panel = charts_matplotlib.draw(chart).axes[0]
    assert panel.get_xlim() == (0.0, 4.0)
    assert [line.get_xdata() for line in panel.lines if len(line.get_xdata()) == 2] == [[2.0, 2.0]]
    assert len(panel.patches) == 1
    assert "\u22124" in [label.get_text() for label in panel.get_yticklabels()]


def test_bars():
    chart = CHART._replace(series=[Series("a", X, [4.0, 5.0, 6.0], drawn="bars")])
    assert [bar.get_height() for bar in charts_matplotlib.draw(chart).axes[0].patches] == [4.0, 5.0, 6.0]


def test_panels_side_by_side_share_a_legend_and_colours():
    first, second = (Series(name, X, Y, subject=Subject(name, number=place)) for place, name in enumerate("ab"))
    rows = [
        [CHART._replace(series=[first, second]), CHART._replace(series=[second])],
        [CHART._replace(series=[second])],
    ]
    figure = charts_matplotlib.draw_rows(rows, ["A note."])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
    assert {panel.lines[-1].get_color() for panel in figure.axes} == {AGENTS[1].colour}
    assert "A note." in [text.get_text() for text in figure.texts]

"""Chart records as Plotly's dictionaries."""

from plotly.graph_objects import Figure

from aomultirl.analysis.charts import Chart, Matrix, Series, Stretch, Subject, VerticalLine
from aomultirl.reports.charts_plotly import page_chart, plain_text, traces
from aomultirl.reports.looks import AGENTS, agent_look, event

X, Y = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
PLAIN = Chart("name", "Title", "x", "y", [], log_x=False, log_y=False)


def drawn(*series, **more):
    chart = PLAIN._replace(series=series, **more)
    made = page_chart({"": chart}, height=300)
    Figure({"data": made["views"][""]["data"], "layout": made["layout"]})
    return made


def test_the_same_subject_looks_the_same_in_every_chart():
    subject = Subject("Recall", "horizon=5", number=3)
    curve = traces(PLAIN._replace(series=[Series("a", X, Y, subject=subject, drawn="curve")]))[-1]
    points = traces(PLAIN._replace(series=[Series("b", X, Y), Series("c", X, Y, subject=subject)]))[-1]
    bound = traces(PLAIN._replace(series=[Series("d", X, Y, kind="bound", subject=subject)]))[-1]
    assert {one["line"]["color"] for one in (curve, points, bound)} == {AGENTS[3].colour}
    assert curve["marker"]["symbol"] == points["marker"]["symbol"] == AGENTS[3].marker
    assert bound["meta"] == {"bound": True}


def test_looks_beyond_the_palette_are_of_their_own():
    looks = [agent_look(number) for number in range(3 * len(AGENTS))]
    assert len({(look.colour, look.dashes, look.marker) for look in looks}) == len(looks)


def test_bars_marks_phases_and_shares():
    made = drawn(
        Series("a", X, Y, [3.0, 4.0, 5.0], [5.0, 6.0, 7.0], drawn="bars"),
        marks=[VerticalLine(2.0, "here")],
        phases=[Stretch(1.0, 2.0, "only <m1>")],
        as_share=True,
        from_zero=True,
    )
    [bar] = made["views"][""]["data"]
    assert (bar["type"], bar["y"], bar["error_y"]["array"]) == ("bar", [4, 5, 6], [1, 1, 1])
    assert [shape["type"] for shape in made["layout"]["shapes"]] == ["rect", "line"]
    assert [words["text"] for words in made["layout"]["annotations"]] == ["only &lt;m1&gt;", "here"]
    assert (made["layout"]["yaxis"]["tickformat"], made["layout"]["yaxis"]["rangemode"]) == (".0%", "tozero")


def test_rows_have_names_and_events_their_own_markers():
    made = drawn(Series("new cluster", X, [0, 1, 0], subject=event("new cluster"), drawn="points"), rows=["none", "c1"])
    [points] = made["views"][""]["data"]
    assert points["y"] == ["none", "c1", "none"]
    assert (points["mode"], points["marker"]["symbol"]) == ("markers", "circle-open")
    assert made["layout"]["yaxis"]["categoryarray"] == ["none", "c1"]


def test_a_matrix():
    matrix = Matrix(["c1", "c2"], ["c1", "c2"], [[0.0, 1.5], [1.5, 0.0]], [["-", "1.5"], ["1.5", "-"]], high=2.0)
    [heat] = drawn(matrix=matrix)["views"][""]["data"]
    assert (heat["type"], heat["z"], heat["zmax"]) == ("heatmap", [[0, 1.5], [1.5, 0]], 2.0)


def test_views_share_what_is_the_same():
    curve = Series("a", X, Y, subject=Subject("a", number=0), drawn="curve")
    views = {"all": PLAIN._replace(series=[curve]), "0": PLAIN._replace(series=[curve._replace(y=[1.0, 2.0, 3.0])])}
    made = page_chart(views, height=300, same_series=True)
    assert [trace["x"] for trace in made["traces"]] == [[1, 2, 3]] * 3
    assert made["views"]["0"]["data"][-1] == {"y": [1, 2, 3]}
    other = page_chart({**views, "1": PLAIN._replace(series=[curve], y="other")}, height=300)
    assert other["views"]["1"]["yaxis"]["title"]["text"] == "other"
    assert "yaxis" not in other["views"]["0"]


def test_plotly_takes_nothing_for_markup_or_templates():
    assert plain_text("<b>%{x}") == "&lt;b&gt;&#37;{x}"

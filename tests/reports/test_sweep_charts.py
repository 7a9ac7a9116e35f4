import pytest

from aomultirl.analysis.intervals import Span
from aomultirl.analysis.leaderboard import AgentLine
from aomultirl.analysis.measures import MEASURES
from aomultirl.analysis.sweep_views import Curve, View
from aomultirl.reports import sweep_charts


def line(value, regret=None, width=0.1):
    spans = {name: Span(value, value - width, value + width) for name in MEASURES}
    if regret is not None:
        spans["regret"] = spans["regret_per_step"] = Span(regret, regret, regret)
    return AgentLine("x", {"name": "Random", "parameters": {}}, [], {}, spans)


def view(names=("a", "b"), parameter="world.separation", fixed="", values=(0.2, 0.5), unequal=False, **options):
    curves = [Curve(name, [(x, line(10.0 * x + i, **options)) for x in values]) for i, name in enumerate(names)]
    return View(parameter, fixed, curves, unequal)


def labels(figure):
    return [(panel.get_xlabel(), panel.get_ylabel()) for panel in figure.axes]


def test_reward_and_regret_against_the_parameter():
    figure = sweep_charts.draw([view()])
    assert labels(figure) == [
        ("separation of the world", "total reward"),
        ("separation of the world", "cumulative regret"),
    ]
    panel = figure.axes[0]
    assert [list(container[0].get_xdata()) for container in panel.containers] == [[0.2, 0.5]] * 2
    assert [list(container[0].get_ydata()) for container in panel.containers] == [[2.0, 5.0], [3.0, 6.0]]
    bars = panel.containers[0][2][0].get_segments()
    assert [tuple(bar[:, 1]) for bar in bars] == [pytest.approx((1.9, 2.1)), pytest.approx((4.9, 5.1))]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_axes_are_logarithmic_where_values_span_decades():
    figure = sweep_charts.draw([view(values=(10, 1000))])
    assert [panel.get_xscale() for panel in figure.axes] == ["log", "log"]
    assert [panel.get_yscale() for panel in figure.axes] == ["log", "log"]
    figure = sweep_charts.draw([view(values=(10, 20))])
    assert [panel.get_xscale() for panel in figure.axes] == ["linear", "linear"]


def test_agents_without_regret_are_said_to_be_missing_on_a_logarithmic_axis():
    curves = [Curve(name, [(x, line(1.0, regret)) for x in (1, 2)]) for name, regret in (("o", 0), ("a", 1), ("b", 99))]
    words = " ".join(text.get_text() for text in sweep_charts.draw([View("episodes", "", curves, False)]).texts)
    assert "does not show agents without regret" in words
    assert "does not show" not in " ".join(text.get_text() for text in sweep_charts.draw([view()]).texts)


def test_what_was_not_recorded_is_not_drawn_and_steps_count_where_they_differ():
    figure = sweep_charts.draw([view(regret=float("nan"), unequal=True)])
    assert labels(figure) == [("separation of the world", "reward a step")]
    figure = sweep_charts.draw([view(unequal=True)])
    assert [what for _, what in labels(figure)] == ["reward a step", "regret a step"]


def test_a_single_run_has_no_bars():
    figure = sweep_charts.draw([view(width=float("nan"))])
    assert all(container[2] == () for container in figure.axes[1].containers)


def test_the_first_views_of_each_parameter_are_drawn_and_the_rest_is_counted():
    many = [view(parameter="world.separation", fixed=f"episodes={i}") for i in range(5)]
    many += [view(parameter="episodes", fixed=f"separation={i}") for i in range(5)]
    figure = sweep_charts.draw(many)
    assert [x for x, _ in labels(figure)[::2]] == ["separation of the world"] * 2 + ["episodes K"] * 2
    words = [text.get_text() for text in figure.texts]
    assert "with episodes=1" in words
    assert "6 more combinations of fixed parameters are on the page." in words
    figure = sweep_charts.draw([view(names=[f"agent {i}" for i in range(11)])])
    assert "3 more agents are not drawn." in [text.get_text() for text in figure.texts]
    assert len(figure.axes[0].containers) == 8


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="nothing to draw"):
        sweep_charts.draw([])


def test_files_are_the_same_each_time_and_replace_only_our_own(tmp_path):
    figure = sweep_charts.draw([view()])
    paths = sweep_charts.save(figure, tmp_path)
    assert [path.name for path in paths] == ["sweep.png", "sweep.svg"]
    before = [path.read_bytes() for path in paths]
    sweep_charts.save(sweep_charts.draw([view()]), tmp_path)
    assert [path.read_bytes() for path in paths] == before
    paths[1].write_text("<svg>mine</svg>")
    with pytest.raises(ValueError, match=r"sweep\.svg' is a figure that aomultirl did not make"):
        sweep_charts.save(figure, tmp_path)
    assert paths[1].read_text() == "<svg>mine</svg>"
    paths[1].unlink()
    paths[1].mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        sweep_charts.check(tmp_path)
